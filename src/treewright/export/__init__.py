"""Trees in other forms. Comes in: a `Tree`. Goes out: text in somebody's format, or a file.

Always holds: nothing here needs the compiled core; a saved tree is exported where it cannot be learned.
"""

from treewright.export.c import c
from treewright.export.diagrams import dot, mermaid
from treewright.export.javascript import javascript
from treewright.export.nodes import frame, nodes
from treewright.export.onnx import onnx
from treewright.export.pmml import pmml
from treewright.export.python import python
from treewright.export.rust import rust
from treewright.export.saved import from_json, load, save, to_json
from treewright.export.sklearn import sklearn
from treewright.export.sql import sql

__all__ = [
    "c",
    "dot",
    "frame",
    "from_json",
    "javascript",
    "load",
    "mermaid",
    "nodes",
    "onnx",
    "pmml",
    "python",
    "rust",
    "save",
    "sklearn",
    "sql",
    "to_json",
]
