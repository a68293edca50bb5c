"""Columns that could have replaced one another: of two with the same information, a tree shows only one.

Only what the tree stores is examined; a tree without rivals gets a remark. Nodes come in their order, and at a node
the closest column first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from treewright.data.grid import Grid, Results
from treewright.data.number_text import amount, many, percent
from treewright.errors import DataError
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.split import Split
from treewright.tree.text import name_text
from treewright.tree.tree import Node


@dataclass(frozen=True)
class StandIn:
    """At `node` the tree splits on `column`; `other` would have done almost as well.

    `score` and `other_score` are what columns were compared by (`other_score` is None if the other was no rival);
    `agreement` is the share of rows that the other would have sent the same way, if it is a surrogate, and `adjusted`
    the same beyond what the larger child gives for free.
    """

    node: int
    rows: int
    column: str
    other: str
    score: float
    other_score: float | None = None
    agreement: float | None = None
    adjusted: float | None = None

    def __str__(self) -> str:
        parts = []
        if self.other_score is not None:
            other, own = (amount(score) for score in (self.other_score, self.score))
            as_good = other == own or self.other_score > self.score
            parts.append(f"is {'' if as_good else 'almost '}as good ({other} against {own})")
        if self.agreement is not None:
            parts.append(f"sends {percent(self.agreement)} of the rows the same way")
        return f"node {self.node} splits on {name_text(self.column)}; {name_text(self.other)} {' and '.join(parts)}"


@dataclass(frozen=True, eq=False)
class Masking(Results):
    """All stand-ins of a tree; `remarks` name what the tree alone does not show."""

    found: tuple[StandIn, ...]
    margin: float
    remarks: tuple[str, ...] = ()

    @property
    def pairs(self) -> dict[tuple[str, str], tuple[StandIn, ...]]:
        """The stand-ins by the two columns, whichever is column; the pair that concerns the most rows first."""
        ordered = sorted(self.found, key=_columns)
        groups = [(pair, tuple(group)) for pair, group in groupby(ordered, key=_columns)]
        groups.sort(key=lambda group: -sum(one.rows for one in group[1]))
        return dict(groups)

    def grid(self) -> Grid:
        """Return the table as it is read: one row per split and column almost as good."""
        rows = tuple(
            (
                str(one.node), name_text(one.column), name_text(one.other), amount(one.score),
                "" if one.other_score is None else amount(one.other_score),
                "" if one.agreement is None else percent(one.agreement), f"{one.rows:,}",
            )
            for one in self.found
        )  # fmt: skip
        header = ("node", "split on", "almost as good", "score", "its score", "agreement", "rows")
        return Grid(self._caption, header if rows else (), rows, align="><<>>>>", notes=self.remarks)

    @property
    def _caption(self) -> str:
        share = f"{amount(100 * self.margin)} %"
        return (
            f"columns within {share} of the chosen one"
            if self.found
            else f"no column comes within {share} of a chosen one"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {field.name: [getattr(one, field.name) for one in self.found] for field in fields(StandIn)}

    def text(self, max_lines: int = 40) -> str:
        """Return one line per split and stand-in, grouped by pairs of columns."""
        lines: list[str] = []
        for (first, second), group in self.pairs.items():
            lines += [f"{name_text(first)} and {name_text(second)}: {many(len(group), 'split')}"]
            lines += [f"  {one}" for one in group]
        if len(lines) > max_lines:
            lines = [*lines[:max_lines], f"… {many(len(lines) - max_lines, 'line')} more"]
        return "\n".join([self._caption, *lines, *self.remarks])

    def __repr__(self) -> str:
        return f"<Masking: {len(self.found)} stand-ins, {len(self.pairs)} pairs of columns>"


def masking(tree: TreeLike, margin: float = 0.1) -> Masking:
    """Return, for every split, the columns that came close to it or imitate it.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    margin : float, default=0.1
        How far below the split's score and gain a rival may lie, as a share; a surrogate counts if its adjusted
        agreement is at least 1 - `margin`.

    Returns
    -------
    Masking
        The columns almost as good, split by split.

    Notes
    -----
    Of two columns that carry the same information only one may appear in a tree: that the other does not is no sign
    that it does not matter.
    """
    tree = as_tree(tree)
    if not 0 <= margin <= 1:
        raise DataError(f"margin must lie between 0 and 1, not {margin!r}")
    found = [one for node in tree.walk() if not node.is_leaf for one in _stand_ins(node, margin)]
    remarks: tuple[str, ...] = ()
    if not tree.recipe.rivals and not tree.root.is_leaf:
        name = tree.recipe.name
        remarks = (
            f"the recipe {name!r} keeps no rivals (rivals=0), so the tree does not know which columns came close",
        )
    return Masking(tuple(found), margin, remarks)


def _stand_ins(node: Node, margin: float) -> list[StandIn]:
    split = node.split
    assert split is not None  # only nodes with children come here
    rivals = _by_column([one for one in node.rivals if _is_close(one, split, margin)])
    imitators = _by_column([one for one in node.surrogates if (one.adjusted or 0.0) >= 1 - margin])
    found = []
    for column in dict.fromkeys([*rivals, *imitators]):
        rival, imitator = rivals.get(column), imitators.get(column)
        if column == split.column:
            continue
        found.append(
            StandIn(
                node=node.id,
                rows=node.rows,
                column=split.column,
                other=column,
                score=split.score,
                other_score=None if rival is None else rival.score,
                agreement=None if imitator is None else imitator.agreement,
                adjusted=None if imitator is None else imitator.adjusted,
            )
        )
    return found


def _is_close(rival: Split, split: Split, margin: float) -> bool:
    """By the score that decides and by the gain: C4.5 passes over columns of good ratio and little gain."""
    pairs = ((rival.score, split.score), (rival.gain, split.gain))
    return all(other >= own - margin * abs(own) for other, own in pairs)


def _by_column(splits: Sequence[Split]) -> dict[str, Split]:
    """Return the best split of each column; they come best first."""
    best: dict[str, Split] = {}
    for one in splits:
        best.setdefault(one.column, one)
    return best


def _columns(one: StandIn) -> tuple[str, str]:
    first, second = sorted((one.column, one.other))
    return first, second
