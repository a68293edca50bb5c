"""A graph of ONNX operators, written down one after the other.

Names are numbered in the order of writing, so the same tree is the same bytes; onnx is imported only when a graph is
begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.errors import ExportError

#: The operators' versions: the first in which a tree may split on sets, and what goes with it.
OPERATORS, LEARNING_OPERATORS, FILE_FORM = 18, 5, 10


class Graph:
    """Operators in order; `child` begins the body of a loop, which sees the names of its parent."""

    def __init__(self, parent: Graph | None = None) -> None:
        self.onnx: Any = _onnx() if parent is None else parent.onnx
        self.nodes: list[Any] = []
        self.parent = parent
        self.tables: list[Any] = [] if parent is None else parent.tables
        self._count: list[int] = [0] if parent is None else parent._count

    def child(self) -> Graph:
        return Graph(self)

    def name(self, what: str) -> str:
        self._count[0] += 1
        return f"{what}_{self._count[0]}"

    def table(self, values: Any, kind: Any = None) -> str:
        """Return a constant."""
        array = np.array(values, dtype=kind)
        name = self.name("table")
        self.tables.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def put(self, operator: str, *inputs: str, outputs: int | Sequence[str] = 1, **settings: Any) -> Any:
        """Add an operator and return the name of its output, or a list. Settings that are arrays become tensors."""
        names = [self.name(operator.lower()) for _ in range(outputs)] if isinstance(outputs, int) else list(outputs)
        domain = "ai.onnx.ml" if operator in ("TreeEnsemble", "LabelEncoder") else ""
        tensors = {
            key: self.onnx.numpy_helper.from_array(value, key) if isinstance(value, np.ndarray) else value
            for key, value in settings.items()
        }
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, names, domain=domain, **tensors))
        return names[0] if len(names) == 1 else names

    def cast(self, value: str, kind: str) -> str:
        """Return the value as "INT64", "DOUBLE" or "BOOL"."""
        return str(self.put("Cast", value, to=getattr(self.onnx.TensorProto, kind)))

    def described(self, name: str, kind: str, shape: Sequence[int | str | None] | None) -> Any:
        """Return what goes in or out under a name."""
        return self.onnx.helper.make_tensor_value_info(name, getattr(self.onnx.TensorProto, kind), shape)

    def body(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return the operators as the body of a loop."""
        return self.onnx.helper.make_graph(self.nodes, "body", inputs, outputs)

    def model(self, inputs: Sequence[Any], outputs: Sequence[Any], about: str) -> bytes:
        """Return the whole, as the bytes of a file."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "tree", inputs, outputs, initializer=self.tables, doc_string=about)
        versions = [helper.make_opsetid("", OPERATORS), helper.make_opsetid("ai.onnx.ml", LEARNING_OPERATORS)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=FILE_FORM, producer_name="treewright")
        return bytes(model.SerializeToString(deterministic=True))


def _onnx() -> Any:
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ExportError("export.onnx needs the package onnx: pip install treewright[onnx]") from error
    return onnx
