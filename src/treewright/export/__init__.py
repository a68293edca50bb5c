"""Trees in other forms.

Nothing here needs the compiled core; a saved tree is exported where it cannot be learned.
"""

from treewright.export.c_source import c
from treewright.export.diagrams import dot, mermaid
from treewright.export.excel_workbook import excel
from treewright.export.javascript_source import javascript
from treewright.export.node_table import frame, nodes
from treewright.export.onnx_model import onnx
from treewright.export.pmml_xml import pmml
from treewright.export.python_source import python
from treewright.export.rust_source import rust
from treewright.export.sklearn_estimator import sklearn
from treewright.export.sql_select import sql
from treewright.tree.saved import from_json, load, save, to_json

__all__ = [
    "c", "dot", "excel", "frame", "from_json", "javascript", "load", "mermaid", "nodes", "onnx", "pmml", "python",
    "rust", "save", "sklearn", "sql", "to_json",
]  # fmt: skip
