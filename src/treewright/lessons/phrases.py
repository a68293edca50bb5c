"""Text and tables shared by the lessons. Every number is counted from a table or computed by the core."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.data.grid import Grid
from treewright.data.number_text import MISSING
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.inspection.derivation.blocks import Block, Steps, blocks
from treewright.inspection.derivation.criterion_names import measure_of
from treewright.inspection.derivation.explain_node import NodeExplanation
from treewright.inspection.derivation.impurity_steps import impurity_step
from treewright.inspection.derivation.score_steps import derive
from treewright.inspection.derivation.split_counts import Division
from treewright.lessons.tables import Columns
from treewright.prediction.predict import predict
from treewright.recipes.criterion import Criterion
from treewright.tree.text import level_text
from treewright.tree.tree import Node, Tree


def four_digits(x: float) -> str:
    """Return a number with four decimals."""
    return f"{x:.4f}"


def joined(words: Sequence[object], last: str = "and") -> str:
    """Join words by commas and a final "and".

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    texts = [str(word) for word in words] or ["none"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def spelled(n: int) -> str:
    """Return a small whole number as a word."""
    names = [
        "no",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
    ]
    return names[n] if 0 <= n < len(names) else f"{n:,}"


def n_rows(data: Columns) -> int:
    return len(next(iter(data.values())))


def rows_grid(data: Columns, caption: str, numbered: str = "", most: int = 30) -> Grid:
    """Return the rows of the table; `numbered` puts D1, D2, ... before them."""
    rows = list(zip(*data.values(), strict=True))[:most]
    left_out = n_rows(data) - len(rows)
    lead = [(f"{numbered[:1]}{i}",) for i in range(1, len(rows) + 1)] if numbered else [()] * len(rows)
    cells = [
        (*first, *(MISSING if value is None else _cell(value) for value in row))
        for first, row in zip(lead, rows, strict=True)
    ]
    if left_out > 0:
        caption += f" (the first {len(rows)} of {n_rows(data):,})"
    header = (*([numbered] if numbered else []), *data)
    return Grid(caption, header, tuple(cells), words=len(header))


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else level_text(value)


def counts_of(data: Columns, target: str, column: str | None = None) -> dict[Any, list[int]]:
    """Count each class, per level of a column or over all rows."""
    classes = sorted(set(data[target]))
    groups = data[column] if column is not None else ["all"] * n_rows(data)
    pairs = list(zip(groups, data[target], strict=True))
    return {level: [pairs.count((level, one)) for one in classes] for level in dict.fromkeys(groups)}


def shares_grid(caption: str, data: Columns, target: str, header: Sequence[str]) -> Grid:
    """Return rows, rows of the second class and their share, per level of every column; `header` names the three."""
    rows = [
        (f"{column} = {level}", str(sum(counts)), str(counts[1]), f"{counts[1] / sum(counts):.2f}")
        for column in data
        if column != target
        for level, counts in sorted(counts_of(data, target, column).items())
    ]
    return Grid(caption, ("", *header), tuple(rows))


def checked(data: Columns, own: Columns, target: str, *, classes: Sequence[str] = ()) -> Columns:
    """Return the table if the lesson applies to it: the same columns, and a target with more than one value."""
    absent = [name for name in own if name not in data]
    if absent:
        raise DataError(f"the lesson needs the columns {listed(list(own))}; this table has no {absent[0]!r}")
    found = set(data[target])
    if len(found) < 2:
        raise DataError(
            f"every row has the {target} {next(iter(found), None)!r}; the lesson needs at least two target values"
        )
    for name in classes:
        if name not in found or len(found) > len(classes):
            known = listed(sorted(map(str, found)))
            raise DataError(f"the lesson is about {target} {listed(classes)}; this table has {known}")
    return data


#: Longer tables are not written into the code of a lesson.
_MOST_WRITTEN = 200
_CODE_WIDTH = 88


def data_source(name: str, data: Columns, own: Columns) -> str:
    """Return code that makes the table of a lesson: its own, or the columns that differ from it."""
    taken = f'data = tw.lessons["{name}"].data'
    if data == own:
        return taken
    if n_rows(data) > _MOST_WRITTEN:
        return "# data is the table that this lesson was given"
    same = list(data) == list(own) and n_rows(data) == n_rows(own)
    written = {column: values for column, values in data.items() if not same or values != own[column]}
    lines = [
        line
        for column, values in written.items()
        for line in textwrap.wrap(
            f"{json.dumps(column)}: {values!r},",
            _CODE_WIDTH,
            initial_indent="    ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]
    return "\n".join([f"{taken} | {{" if same else "data = {", *lines, "}"])


# --- arithmetic -------------------------------------------------------------------------------------------------------


def impurity(label: str, criterion: Criterion, counts: Sequence[float], caption: str = "By the formula") -> Steps:
    """Return the impurity of some counts, with its arithmetic."""
    return Steps(caption, (impurity_step(label, measure_of(criterion), np.array(counts, dtype=np.float64)),))


def split_arithmetic(
    caption: str, criterion: Criterion, children: Sequence[Sequence[int]], conditions: Sequence[str]
) -> Steps:
    """Return the arithmetic of a split from the class counts of its children."""
    table = np.array(children, dtype=np.float64)
    rows = tuple(int(n) for n in table.sum(axis=1))
    division = Division(table.sum(axis=0), table, table, float(table.sum()), 0.0, rows)
    return Steps(caption, derive(criterion, division, conditions).steps)


def derivation(explained: NodeExplanation) -> list[Block]:
    """Return the children and the steps of a derivation, without the rivals."""
    return [b for b in blocks(explained) if isinstance(b, Steps) or (isinstance(b, Grid) and b.header[0] == "")]


# --- trees ------------------------------------------------------------------------------------------------------------


def branch_of(tree: Tree, level: object) -> Node | None:
    """Return the root's child for a level if it is split, else the first child that is, else None."""
    split = tree.root.split
    children = [tree[i] for i in tree.root.children]
    groups = (split.groups if split is not None else None) or ()
    wanted = [child for child, group in zip(children, groups, strict=False) if level in group]
    return next((child for child in (*wanted, *children) if not child.is_leaf), None)


def branch_words(node: Node) -> str:
    """Return the condition that leads from its parent to a node."""
    above = None if node.parent is None else node.tree[node.parent]
    if above is None or above.split is None:
        return "all rows"
    return above.split.words(with_missing=False)[above.children.index(node.id)]


def split_column(tree: Tree) -> str:
    """Return the column that the root splits on."""
    return "nothing" if tree.root.split is None else tree.root.split.column


def cut_text(tree: Tree) -> str:
    """Return the threshold of the root as text."""
    return "nowhere" if tree.root.split is None else tree.root.split.threshold_text or "nowhere"


def is_close(first: float, second: float) -> bool:
    """Return whether the second of two scores is within five percent of the first."""
    return second >= 0.95 * first > 0


def gains(node: Node) -> dict[str, float]:
    """Return the gain of every column at a node, best first."""
    return {split.column: split.gain for split in (node.split, *node.rivals) if split is not None}


def right(tree: Tree, data: Columns) -> tuple[int, int]:
    """Return the number of correct predictions, and of rows."""
    truth = data[tree.schema.target.name]
    predicted = predict(tree, data).tolist()
    return sum(a == b for a, b in zip(predicted, truth, strict=True)), len(truth)


def accuracy(tree: Tree, data: Columns) -> float:
    good, whole = right(tree, data)
    return good / whole
