"""Which columns matter to a tree.

Comes in: a tree; for permutation also a table with the answers. Goes out: an `Importance`, best column first.
Always holds: every column is there, those never asked with exactly zero. Three ways to ask, three meanings: how much
splits lower the impurity; the same with surrogates given their share; how much worse answers become without a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.errors import DataError
from treewright.inspection.permutation import Permutations, permuted
from treewright.prediction.encode_rows import encode_labelled
from treewright.pruning.losses import growing_weight
from treewright.render.node_text import many
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.ordinary_numbers import ordinary_numbers
from treewright.tree.shape import is_leaf
from treewright.tree.text import name_text
from treewright.tree.tree import Tree

FloatArray = NDArray[np.float64]
Kind = Literal["impurity", "surrogate", "permutation"]

_BAR = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, eq=False)
class Importance:
    """The columns of a tree by importance, best first.

    Impurity and surrogate: `raw` is weight times impurity taken away, summed over a column's splits, and `values` are
    shares that add up to 1. Permutation: `raw` and `values` are how much worse the `measure` becomes, on average;
    `low` and `high` are the 5 % and 95 % points of the repeats, `base` is the measure of the table as it is. `remarks`
    say what the tree cannot tell.
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
        """The importance of one column."""
        if column not in self.columns:
            raise KeyError(f"no column {column!r}; there are {list(self.columns)}")
        return self.values[self.columns.index(column)]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        fields = ("kind", "columns", "values", "raw", "low", "high", "measure", "base")
        found = {name: getattr(self, name) for name in fields}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def text(self, most: int = 30) -> str:
        """A table with bars; columns that do not matter are counted, not listed."""
        head = _HEADS[self.kind].format(measure=self.measure, base=self.base)
        return "\n".join([head, *_lines(self, most), *self.remarks])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Importance by {self.kind}: {', '.join(map(repr, self.columns[:3]))}{', …' * (len(self.columns) > 3)}>"


@ordinary_numbers()
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
    """How much each column matters.

    "impurity": what a column's splits take away from the impurity of the training rows. "surrogate": as rpart counts
    it; a surrogate gets its share (the adjusted agreement) of what the split it stands in for gains. "permutation":
    how much worse the answers for `data` become when a column's values are shuffled, `n_repeats` times; `measure` is
    "accuracy" ("cost" with costs), or "variance explained", "squared error" or "absolute error" for a number.

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
    """For each column the weight times impurity that its splits take away.

    Every child counts for its parent's column. A row that stays at a node keeps that node's impurity.
    """
    arrays, weight, impurity = tree.arrays, growing_weight(tree), tree.arrays["impurity"]
    parent = arrays["parent"][1:]
    column = arrays["column"][arrays["split_start"][parent]]
    decrease = weight[1:] * (impurity[parent] - impurity[1:])
    return np.bincount(column, decrease, minlength=len(tree.schema.columns)).astype(np.float64)


def shares(raw: FloatArray) -> FloatArray:
    """Shares that add up to 1; what is negative (a split may make things worse) counts as nothing."""
    kept = raw.clip(min=0)
    return kept / kept.sum() if kept.any() else kept


def _gain_taken(tree: Tree) -> FloatArray:
    """For each column the weight times gain of its splits, and of its surrogates as far as they agree."""
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

_HEADS = {
    "impurity": "importance: share of the impurity taken away",
    "surrogate": "importance: share of the gain, surrogates counted as far as they agree",
    "permutation": "importance: how much worse {measure} ({base:.4f}) gets when a column is shuffled, from 5 % to 95 %",
}


def _lines(found: Importance, most: int) -> list[str]:
    matter = [i for i, value in enumerate(found.values) if value != 0]
    shown = matter[:most]
    names = [name_text(found.columns[i]) for i in shown]
    width, largest = max(map(len, names), default=0), max((abs(found.values[i]) for i in shown), default=1.0)
    lines = []
    for i, name in zip(shown, names, strict=True):
        value = f"{found.values[i]:7.4f}"
        if found.low is not None and found.high is not None:
            value += f"  [{found.low[i]:.4f}, {found.high[i]:.4f}]"
        lines.append(f"{name:<{width}}  {value}  {_bar(found.values[i] / largest)}".rstrip())
    if len(matter) > most:
        lines.append(f"… {many(len(matter) - most, 'column')} more")
    idle = len(found.values) - len(matter)
    if idle:
        lines.append(f"{many(idle, 'column')} of {len(found.values)} {'is' if idle == 1 else 'are'} not used")
    return lines


def _bar(share: float) -> str:
    eighths = round(max(0.0, share) * _BAR * 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
