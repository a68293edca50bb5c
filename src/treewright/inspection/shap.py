"""What each column contributes to a prediction: exact Shapley values of the tree (tree SHAP).

The definition. Columns are players. The value of a set of columns is the prediction when only these are known: it
walks down; where the column that decides for the row (the node's own, or that of the surrogate which spoke) is known,
the row goes its way; where it is not, every child is taken, each by its part of its siblings' training weight. With all
columns known this is the prediction, with none it is the base. A column's contribution is its Shapley value in this
game; where all nodes have two children and nothing is missing, it is what the package shap calls "tree_path_dependent".

Per row and class, base and contributions add up to the prediction (but for rounding, some 1e-15); a column that no node
splits on contributes exactly nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.grid import Bar, Grid, Results
from treewright.data.number_text import amount, many
from treewright.data.schema import Level
from treewright.data.value_text import listed
from treewright.errors import DataError, TreewrightError
from treewright.prediction.encode_rows import encoded
from treewright.prediction.predict import ALL_THREADS
from treewright.prediction.routing import shap_parts
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Tree, predicted_index

#: More columns than this are left out of the printed table, smallest first.
_MOST_LINES = 20


@dataclass(frozen=True, eq=False, repr=False)
class ShapValues(Results):
    """What each column adds to the base.

    `values`: [rows, columns, classes], or [rows, columns] for a numeric target; `base`: one number per class, or one.
    """

    tree: Tree
    base: float | FloatArray
    values: FloatArray
    rows: Encoded = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.tree.schema.names

    @property
    def classes(self) -> tuple[Level, ...] | None:
        return self.tree.schema.target.classes

    @property
    def predictions(self) -> FloatArray:
        """The base and all contributions, added up: each row's class probabilities, or its number."""
        total: FloatArray = self.base + self.values.sum(axis=1)
        return total

    @property
    def sizes(self) -> FloatArray:
        """Per column the mean of its contributions' absolute values, over rows and classes."""
        size: FloatArray = np.abs(self.values).mean(axis=0 if self.classes is None else (0, 2))
        return size

    def __len__(self) -> int:
        return len(self.values)

    def of(self, label: Level) -> FloatArray:
        """Return the contributions to one class, [rows, columns]."""
        part: FloatArray = self.values[:, :, self._place(label)]
        return part

    def as_dict(self) -> dict[str, list[Any]]:
        """Return a dict of columns, one line per row, column and class, as `pandas.DataFrame` takes it."""
        n_rows, n_columns = self.values.shape[:2]
        predictions = self.classes or ()
        each = max(1, len(predictions))
        table: dict[str, list[Any]] = {
            "row": np.repeat(np.arange(n_rows), n_columns * each).tolist(),
            "column": [name for name in self.columns for _ in range(each)] * n_rows,
            "contribution": self.values.ravel().tolist(),
        }
        return table | ({"class": list(predictions) * (n_rows * n_columns)} if predictions else {})

    def _columns(self) -> dict[str, list[Any]]:
        return self.as_dict()

    def as_shap(self) -> Any:
        """Return a `shap.Explanation`, for that package's plots."""
        try:
            import shap
        except ImportError:
            raise TreewrightError(
                "as_shap needs the package shap, which is not installed: pip install shap; as_dict and str need nothing"
            ) from None
        n_rows = len(self.values)
        return shap.Explanation(
            values=self.values,
            base_values=np.tile(self.base, (n_rows, 1)) if self.classes else np.full(n_rows, float(self.base)),
            data=self._data(),
            feature_names=list(self.columns),
            output_names=[level_text(predicted) for predicted in self.classes] if self.classes else None,
        )

    def lines(self, row: int = 0, label: Level | None = None) -> list[tuple[str, float]]:
        """Return columns and their contributions to one class of one row, largest first, without those of nothing."""
        values = self.values[row] if self.classes is None else self.of(self._label(row, label))[row]
        sizes = np.abs(values)
        found = sizes > 1e-12 * max(1e-300, float(sizes.max()))  # smaller ones are rounding
        return [(self.columns[i], float(values[i])) for i in np.argsort(-sizes, kind="stable") if found[i]]

    def text(self, row: int = 0, label: Level | None = None) -> str:
        """Return one row's contributions to one class (by default the predicted one), with bars."""
        return self.row_grid(row, label).text()

    def row_grid(self, row: int = 0, label: Level | None = None) -> Grid:
        if self.classes is None:
            what, base, reached = "", float(self.base), float(self.predictions[row])
        else:
            label = self._label(row, label)
            place = self._place(label)
            what, base = f" to {level_text(label)}", float(np.asarray(self.base)[place])
            reached = float(self.predictions[row, place])
        head = f"contributions{what}: {amount(base)} when nothing is known, {amount(reached)} here"
        lines = self.lines(row, label)
        return _grid(head, lines) if lines else Grid(f"{head}; no column contributes", (), ())

    def __str__(self) -> str:
        return self.grid().text()

    def grid(self) -> Grid:
        """Return the contributions to one row, or their mean sizes over several."""
        if len(self.values) == 1:
            return self.row_grid()
        order = np.argsort(-self.sizes, kind="stable")
        lines = [(self.columns[i], float(self.sizes[i])) for i in order if self.sizes[i] > 0]
        return _grid(f"mean size of contributions, {many(len(self.values), 'row')}", lines, signed=False)

    def __repr__(self) -> str:
        return f"<Contributions of {len(self.columns)} columns to {len(self.values)} rows>"

    def _place(self, label: Level) -> int:
        if self.classes is None:
            raise DataError(f"the target {self.tree.schema.target.name!r} is a number and has no classes; use values")
        if label not in self.classes:
            raise DataError(
                f"{label!r} is not a class of {self.tree.schema.target.name!r}; there are {listed(self.classes)}"
            )
        return self.classes.index(label)

    def _label(self, row: int, label: Level | None) -> Level:
        """Return the class requested, or the one predicted for the row."""
        if label is not None:
            return label
        assert self.classes is not None
        return self.classes[int(predicted_index(self.tree.schema.target, self.predictions[row : row + 1])[0])]

    def _data(self) -> Array:
        """Return the values that were explained: numbers where all are, else numbers and levels."""
        specs, columns = self.tree.schema.columns, _as_columns(self.rows)
        if not any(spec.has_levels for spec in specs):
            return np.column_stack(columns).astype(np.float64)
        data = np.empty(self.values.shape[:2], dtype=object)
        for i, (spec, column) in enumerate(zip(specs, columns, strict=True)):
            levels = spec.levels
            data[:, i] = column if levels is None else [levels[code] if code >= 0 else None for code in column]
        return data


def shap_values(tree: TreeLike, data: object, *, n_threads: int = ALL_THREADS) -> ShapValues:
    """Return what each column contributes to the prediction of each row (exact tree SHAP).

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table
        The rows.
    n_threads : int, default=0
        The number of threads; 0 uses all cores.

    Returns
    -------
    ShapValues
        The base value and one contribution per row, column and class.

    Notes
    -----
    Where a column counts as unknown, every child is taken, by its share of the training weight.

    Examples
    --------
    >>> from treewright import CART, learn
    >>> table = {"hours": [1, 2, 3, 4], "name": ["a", "b", "a", "b"], "pass": ["no", "no", "yes", "yes"]}
    >>> tree = learn(table, "pass", CART, kinds={"hours": "ordinal"})
    >>> shap_values(tree, {"hours": [4], "name": ["a"]}).of("yes").tolist()
    [[0.5, 0.0]]
    """
    tree = constant_tree(tree, "shap_values")
    return of_rows(tree, encoded(tree, data), n_threads)


def of_rows(tree: Tree, rows: Encoded, n_threads: int) -> ShapValues:
    """Return the same, for rows that have been read before."""
    base, values = shap_parts(tree, rows, n_threads)
    if tree.schema.target.classes is None:
        return ShapValues(tree, float(base[0]), values[:, :, 0], rows)
    return ShapValues(tree, base, values, rows)


def _as_columns(rows: Encoded) -> list[Array]:
    columns: Any = rows.columns
    return list(columns.T) if isinstance(columns, np.ndarray) else list(columns)


def _grid(caption: str, contributions: list[tuple[str, float]], signed: bool = True) -> Grid:
    """Return names, numbers and bars; only the largest where there are many."""
    shown = contributions[:_MOST_LINES]
    largest = max((abs(value) for _, value in shown), default=1.0)
    rows = tuple(
        (name_text(name), ("+" if signed and value > 0 else "") + amount(value), Bar(value / largest, signed))
        for name, value in shown
    )
    left_out = len(contributions) - len(shown)
    notes = (f"  … {left_out} smaller ones",) if left_out else ()
    return Grid(caption, ("", "", ""), rows, align="<><", notes=notes)
