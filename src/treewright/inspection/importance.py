"""Which columns matter to a tree.

Every column is there, those never split on with exactly zero. Three kinds, three meanings: how much splits lower the
impurity; the same with surrogates given their share; how much worse predictions become without a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.finite_arithmetic import finite_arithmetic
from treewright.data.grid import Bar, Grid, Results
from treewright.data.number_text import many
from treewright.errors import DataError
from treewright.inspection.permutation import Permutations, permuted
from treewright.prediction.encode_rows import encode_labelled
from treewright.pruning.losses import growing_weight
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.shape import is_leaf
from treewright.tree.text import name_text
from treewright.tree.tree import Tree

Kind = Literal["impurity", "surrogate", "permutation"]


@dataclass(frozen=True, eq=False)
class Importance(Results):
    """The columns of a tree by importance, best first.

    Impurity and surrogate: `raw` is weight times impurity taken away, summed over a column's splits, and `values` are
    shares that add up to 1. Permutation: `raw` and `values` are how much worse the `measure` becomes, on average;
    `low` and `high` are the 5 % and 95 % points of the repeats, `base` is the measure of the table as it is. `remarks`
    name what the tree alone does not show.
    """

    kind: Kind
    columns: tuple[str, ...]
    values: tuple[float, ...]
    raw: tuple[float, ...]
    weight: float
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    measure: str | None = None
    base: float | None = None
    remarks: tuple[str, ...] = ()

    @property
    def per_row(self) -> tuple[float, ...]:
        """Raw importances by the weight of the training rows: how much of the root's impurity each column explains."""
        return self.raw if self.kind == "permutation" else tuple(x / self.weight for x in self.raw)

    def __getitem__(self, column: str) -> float:
        """Return the importance of one column."""
        if column not in self.columns:
            raise KeyError(f"no column {column!r}; there are {list(self.columns)}")
        return self.values[self.columns.index(column)]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON."""
        fields = ("kind", "columns", "values", "raw", "low", "high", "measure", "base")
        found = {name: getattr(self, name) for name in fields}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def text(self, most: int = 30) -> str:
        """Return a table with bars; columns that do not matter are counted, not listed."""
        return _grid(self, most).text(indent="")

    def grid(self) -> Grid:
        """Return the table as it is read."""
        return _grid(self, 30)

    def _columns(self) -> dict[str, Sequence[Any]]:
        spread = {} if self.low is None or self.high is None else {"low": self.low, "high": self.high}
        return {"column": self.columns, "importance": self.values, "raw": self.raw, "per_row": self.per_row, **spread}

    def __repr__(self) -> str:
        return f"<Importance by {self.kind}: {', '.join(map(repr, self.columns[:3]))}{', …' * (len(self.columns) > 3)}>"


@finite_arithmetic()
def importance(
    tree: TreeLike,
    data: object = None,
    *,
    kind: Kind = "impurity",
    target: object = None,
    weight: object = None,
    measure: str | None = None,
    n_repeats: int = 30,
    seed: int = 0,
    n_threads: int = 0,
) -> Importance:
    """Return how much each column matters to a tree.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table, optional
        Rows with their target, for permutation importance; held-out rows at best.
    kind : {"impurity", "surrogate", "permutation"}, default="impurity"
        "impurity": the impurity that the splits of a column take away. "surrogate": as rpart; a surrogate gets its
        share (the adjusted agreement) of the gain of its split. "permutation": the drop of `measure` when the column
        is shuffled.
    target : str or array, optional
        The target of the rows, where it is not the column of `data` with the name it had in training.
    weight : str or array, optional
        The weights of the rows.
    measure : str, optional
        For permutation: "accuracy" or "cost" (the default with costs) for classes; "variance explained" (the default),
        "squared error" or "absolute error" for numbers.
    n_repeats : int, default=30
        The number of shuffles of each column.
    seed : int, default=0
        The seed of the shuffles.
    n_threads : int, default=0
        The number of threads; 0 uses all cores.

    Returns
    -------
    Importance
        The columns with their importance, largest first.

    Raises
    ------
    DataError
        If permutation importance has no rows.

    Examples
    --------
    >>> import treewright as tw
    >>> sky, wind = ["sun", "sun", "rain", "rain"], ["no", "yes", "no", "yes"]
    >>> tree = tw.learn({"sky": sky, "wind": wind, "play": ["yes", "yes", "yes", "no"]}, "play", tw.ID3)
    >>> found = tw.importance(tree)
    >>> found.columns, [round(x, 3) for x in found.raw], [round(x, 3) for x in found.values]
    (('wind', 'sky'), [2.0, 1.245], [0.616, 0.384])
    """
    tree = as_tree(tree)
    if kind not in ("impurity", "surrogate", "permutation"):
        raise DataError(f"kind must be 'impurity', 'surrogate' or 'permutation', not {kind!r}")
    if kind != "permutation":
        return _of_tree(tree, kind)
    rows = encode_labelled(tree, data, target, weight)
    if rows is None:
        raise DataError(
            "permutation importance shuffles the columns of a table; give it as data=, held-out rows at best"
        )
    return _of_rows(tree, permuted(tree, rows, measure, n_repeats, seed, n_threads))


def impurity_taken(tree: Tree) -> FloatArray:
    """Return for each column the weight times impurity that its splits take away.

    Every child counts for its parent's column. A row that stays at a node keeps that node's impurity.
    """
    arrays, weight, impurity = tree.arrays, growing_weight(tree), tree.arrays["impurity"]
    parent = arrays["parent"][1:]
    column = arrays["column"][arrays["split_start"][parent]]
    decrease = weight[1:] * (impurity[parent] - impurity[1:])
    return np.bincount(column, decrease, minlength=len(tree.schema.columns)).astype(np.float64)


def shares(raw: FloatArray) -> FloatArray:
    """Return shares that add up to 1; what is negative (a split may make things worse) counts as nothing."""
    kept = raw.clip(min=0)
    return kept / kept.sum() if kept.any() else kept


def _gain_taken(tree: Tree) -> FloatArray:
    """Return for each column the weight times gain of its splits, and of its surrogates as far as they agree."""
    arrays, weight = tree.arrays, growing_weight(tree)
    taken = np.zeros(len(tree.schema.columns))
    for node in np.flatnonzero(~is_leaf(tree)):
        own = arrays["split_start"][node]
        gain = weight[node] * arrays["split_gain"][own]
        taken[arrays["column"][own]] += gain
        stand_ins = slice(own + 1, own + 1 + arrays["n_surrogates"][node])
        np.add.at(taken, arrays["column"][stand_ins], gain * arrays["adjusted"][stand_ins])
    return taken


def _of_tree(tree: Tree, kind: Kind) -> Importance:
    raw = impurity_taken(tree) if kind == "impurity" else _gain_taken(tree)
    order = np.argsort(-raw, kind="stable")
    alone = kind == "surrogate" and not tree.arrays["n_surrogates"].any()
    return Importance(
        kind=kind,
        columns=tuple(tree.schema.names[i] for i in order),
        values=tuple(shares(raw)[order].tolist()),
        raw=tuple(raw[order].tolist()),
        weight=float(growing_weight(tree)[0]),
        remarks=(_NO_SURROGATES,) if alone else (),
    )


def _of_rows(tree: Tree, found: Permutations) -> Importance:
    mean = found.worse.mean(axis=1)
    low, high = np.quantile(found.worse, (0.05, 0.95), axis=1)
    order = np.argsort(-mean, kind="stable")
    values = tuple(mean[order].tolist())
    return Importance(
        kind="permutation",
        columns=tuple(tree.schema.names[i] for i in order),
        values=values,
        raw=values,
        weight=found.weight,
        low=tuple(low[order].tolist()),
        high=tuple(high[order].tolist()),
        measure=found.measure,
        base=found.base,
    )


_NO_SURROGATES = "the tree has no surrogates; learn with missing=Surrogates(search='always') to have some"

# --- being shown ------------------------------------------------------------------------------------------------------

_CAPTIONS = {
    "impurity": "importance: share of the impurity taken away",
    "surrogate": "importance: share of the gain, surrogates counted as far as they agree",
    "permutation": "importance: how much worse {measure} ({base:.4f}) gets when a column is shuffled, from 5 % to 95 %",
}


def _grid(found: Importance, most: int) -> Grid:
    """Return one row per column that matters, with bars."""
    matter = [i for i, value in enumerate(found.values) if value != 0]
    largest = max((abs(found.values[i]) for i in matter), default=1.0)
    rows = []
    for i in matter[:most]:
        spread = () if found.low is None or found.high is None else (f"[{found.low[i]:.4f}, {found.high[i]:.4f}]",)
        bar = Bar(found.values[i] / largest)
        rows.append((name_text(found.columns[i]), f"{found.values[i]:.4f}", *spread, bar))
    more, idle = len(matter) - most, len(found.values) - len(matter)
    notes = [f"… {many(more, 'column')} more"] if more > 0 else []
    if idle:
        notes.append(f"{many(idle, 'column')} of {len(found.values)} {'is' if idle == 1 else 'are'} not used")
    n = len(rows[0]) if rows else 3
    caption = _CAPTIONS[found.kind].format(measure=found.measure, base=found.base)
    return Grid(caption, ("",) * n, tuple(rows), align="<" + ">" * (n - 2) + "<", notes=(*notes, *found.remarks))
