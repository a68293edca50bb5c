"""Columns that could have stood in for one another: of two that tell the same, a tree shows only one.

Comes in: a tree with its rivals and surrogates. Goes out: `Masking`: for every split the columns almost as good.
Always holds: only what the tree remembers is looked at; a tree that kept no rivals says so. Nodes come in their order,
and at a node the closest column first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from treewright.errors import DataError
from treewright.render.node_text import many
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.text import name_text, number_text
from treewright.tree.tree import Node, Split


@dataclass(frozen=True)
class StandIn:
    """At `node` the tree asks `asked`; `other` would have done almost as well.

    `score` and `other_score` are what columns were compared by (`other_score` is None if the other was no rival);
    `agreement` is the share of rows that the other would have sent the same way, if it is a surrogate, and `adjusted`
    the same beyond what the larger child gives for free.
    """

    node: int
    rows: int
    asked: str
    other: str
    score: float
    other_score: float | None = None
    agreement: float | None = None
    adjusted: float | None = None

    def __str__(self) -> str:
        parts = []
        if self.other_score is not None:
            other, own = (number_text(float(f"{score:.3g}")) for score in (self.other_score, self.score))
            as_good = other == own or self.other_score > self.score
            parts.append(f"is {'' if as_good else 'almost '}as good ({other} against {own})")
        if self.agreement is not None:
            parts.append(f"sends {100 * self.agreement:.0f} % of the rows the same way")
        return f"node {self.node} asks {name_text(self.asked)}; {name_text(self.other)} {' and '.join(parts)}"


@dataclass(frozen=True, eq=False)
class Masking:
    """All stand-ins of a tree; `remarks` say what the tree cannot tell."""

    found: tuple[StandIn, ...]
    margin: float
    remarks: tuple[str, ...] = ()

    @property
    def pairs(self) -> dict[tuple[str, str], tuple[StandIn, ...]]:
        """The stand-ins by the two columns, whichever is asked; the pair that concerns the most rows first."""
        ordered = sorted(self.found, key=_columns)
        groups = [(pair, tuple(group)) for pair, group in groupby(ordered, key=_columns)]
        groups.sort(key=lambda group: -sum(one.rows for one in group[1]))
        return dict(groups)

    def text(self, max_lines: int = 40) -> str:
        """One line per split and stand-in, gathered by pairs of columns."""
        share = f"{100 * self.margin:.3g} %"
        if not self.found:
            return "\n".join([f"no column comes within {share} of one that is asked", *self.remarks])
        lines: list[str] = []
        for (first, second), group in self.pairs.items():
            lines += [f"{name_text(first)} and {name_text(second)}: {many(len(group), 'split')}"]
            lines += [f"  {one}" for one in group]
        if len(lines) > max_lines:
            lines = [*lines[:max_lines], f"… {many(len(lines) - max_lines, 'line')} more"]
        return "\n".join([f"columns within {share} of the one that is asked", *lines, *self.remarks])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Correlated: {len(self.found)} stand-ins, {len(self.pairs)} pairs of columns>"


def masking(tree: TreeLike, margin: float = 0.1) -> Masking:
    """For every split the columns that were beaten by `margin` of its score at most, or imitate it that closely.

    Of two columns that tell the same only one may appear in a tree: that the other does not is no sign that it does not
    matter. Rivals are compared by the score that chose the split and by their gain; a surrogate counts if its adjusted
    agreement is at least 1 - `margin`.
    """
    tree = as_tree(tree)
    if not 0 <= margin <= 1:
        raise DataError(f"margin must lie between 0 and 1, not {margin!r}")
    found = [one for node in tree.walk() if not node.is_leaf for one in _stand_ins(node, margin)]
    remarks: tuple[str, ...] = ()
    if not tree.recipe.rivals and not tree.root.is_leaf:
        name = tree.recipe.name
        remarks = (f"the recipe {name!r} keeps no rivals (rivals=0), so the tree cannot tell which columns came close",)
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
                asked=split.column,
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
    """The best split of each column; they come best first."""
    best: dict[str, Split] = {}
    for one in splits:
        best.setdefault(one.column, one)
    return best


def _columns(one: StandIn) -> tuple[str, str]:
    first, second = sorted((one.asked, one.other))
    return first, second
