"""Trees in other forms. Comes in: a `Tree`. Goes out: text in somebody's format, or a file.

Always holds: nothing here needs the compiled core; a saved tree is exported where it cannot be learned.
"""

from treewright.export.c import c
from treewright.export.javascript import javascript
from treewright.export.onnx import onnx
from treewright.export.python import python
from treewright.export.rust import rust
from treewright.export.saved import from_json, load, save, to_json
from treewright.export.sql import sql

__all__ = ["c", "from_json", "javascript", "load", "onnx", "python", "rust", "save", "sql", "to_json"]
