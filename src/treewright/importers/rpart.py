"""What R prints of an rpart tree, made into a `Tree`.

Thresholds and shares are as exact as they were printed (more digits: `print(fit, digits = 15)`). What rpart does not
print: surrogates (a missing value goes to the child with more cases, as rpart sends it when none helps), the target's
name, and the names of classes that no node predicts, which become "class 4" and the like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import FileError
from treewright.importers.build import Draft, DraftSplit, assembled, probabilities_for
from treewright.importers.numbers import DECIMAL, count, finite, mean, squares
from treewright.recipes.named import RPART
from treewright.tree.tree import Tree
from treewright.tree.validation import STOP_HERE

_HEAD = re.compile(r"\s*(?P<id>\d+)\) ")
_NUMBER = re.compile(DECIMAL)
_WORD = re.compile(r"[^ ]+")
_SPLIT = re.compile(rf"^(?P<column>.+?)(?:(?P<sign>>=|< ?|<=|>) *(?P<at>{DECIMAL})|=(?P<levels>.*))$")

#: Digits of a node's number: rpart grows 31 levels, which is ten digits.
_LONGEST_ID = 18


@dataclass(frozen=True)
class _Row:
    """One printed line."""

    id: int
    split: str
    n: float
    loss: float
    prediction: str
    shares: tuple[float, ...]
    line: int


def from_rpart(text: str, *, target: str = "y", classes: Sequence[str] | None = None) -> Tree:
    """Return the tree that R's rpart printed.

    Parameters
    ----------
    text : str
        The output of `print(fit)`.
    target : str, default="y"
        The name of the target.
    classes : sequence of str, optional
        The levels of the target in R's order, where the text does not have them all.

    Returns
    -------
    Tree
        The tree, with the nodes and statistics that rpart printed.

    Raises
    ------
    FileError
        If the text is not of this form; the message names the line or element.
    """
    rows = _rows(text)
    by_id = {row.id: row for row in rows}
    labels = _labels(rows, classes)
    columns = _columns(rows)
    schema = Schema(tuple(columns.values()), TargetSpec(target, "classification" if labels else "regression", labels))
    place = {name: i for i, name in enumerate(columns)}
    number = {row.id: i for i, row in enumerate(rows)}
    drafts = []
    for row in rows:
        below = [by_id[child] for child in (2 * row.id, 2 * row.id + 1) if child in by_id]
        if len(below) == 1:
            raise FileError(f"line {row.line}: node {row.id} has one child; the text is not whole")
        used = _split_of(below, columns, place) if below else None
        drafts.append(_draft(row, labels, used, tuple(number[child.id] for child in below)))
    return assembled(drafts, schema, RPART)


def _rows(text: str) -> list[_Row]:
    rows = []
    for i, line in enumerate(text.splitlines(), 1):
        head = _HEAD.match(line)
        if head is None:
            continue
        row = _row(line, head, i) if len(head["id"]) <= _LONGEST_ID else None
        if row is None:
            raise FileError(f"line {i} is no node as rpart prints it: {line.strip()[:60]!r}")
        rows.append(row)
    ids = {row.id for row in rows}
    if not rows or rows[0].id != 1 or len(ids) < len(rows) or any(i != 1 and i // 2 not in ids for i in ids):
        raise FileError("this is no tree as rpart prints it: give the text of print(fit), from its root on")
    if len({len(row.shares) for row in rows}) > 1:
        raise FileError("some nodes have shares of classes and others have not; give the text as rpart printed it")
    return rows


def _row(line: str, head: re.Match[str], i: int) -> _Row | None:
    """Return the parts of a line, found from its end: a split and a prediction may have blanks in them."""
    rest = line.rstrip(" ").removesuffix("*").rstrip(" ")
    shares: list[str] = []
    if rest.endswith(")"):
        rest, _, listed = rest[:-1].rpartition("(")
        shares = listed.split()
        if not shares or not rest.endswith(" ") or not all(map(_NUMBER.fullmatch, shares)):
            return None
        rest = rest.rstrip(" ")
    words = list(_WORD.finditer(rest, head.end()))
    numbers = [_NUMBER.fullmatch(word[0]) is not None for word in words]
    if not shares and not (numbers and numbers[-1]):
        return None
    for k in range(len(words) - 3, 0, -1):
        at = words[k].start()
        if numbers[k] and numbers[k + 1] and rest[at - 2] not in "<>":
            break
        if not shares:
            return None
    else:
        return None
    place = f"line {i}"
    loss = squares(words[k + 1][0], place)
    prediction = rest[words[k + 2].start() :]
    parts = tuple(count(share, place) for share in shares)
    return _Row(int(head["id"]), rest[head.end() : at - 1], count(words[k][0], place), loss, prediction, parts, i)


def _labels(rows: Sequence[_Row], classes: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the classes in the order of the shares: a node predicts the class with its largest share."""
    n = len(rows[0].shares)
    if n == 0:
        return None
    if classes is not None:
        if len(classes) != n or len(set(classes)) < n:
            raise FileError(f"the nodes have {n} shares, so classes= must name {n} different classes, in R's order")
        return tuple(classes)
    votes: dict[int, dict[str, float]] = {}
    for row in rows:
        if row.shares.count(max(row.shares)) == 1:
            at = votes.setdefault(row.shares.index(max(row.shares)), {})
            at[row.prediction] = at.get(row.prediction, 0.0) + row.n
    predicted = list(dict.fromkeys(row.prediction for row in rows))
    known: dict[int, str] = {}
    for i, found in votes.items():
        label = max(found, key=lambda each: found[each])
        if label not in known.values():
            known[i] = label
    rest = [label for label in predicted if label not in known.values()]
    names = [known.get(i) or (rest.pop(0) if rest else f"class {i + 1}") for i in range(n)]
    if rest or len(set(names)) < n:
        raise FileError("which share belongs to which class is not in the text; give classes=")
    return tuple(names)


def _columns(rows: Sequence[_Row]) -> dict[str, ColumnSpec]:
    levels: dict[str, dict[str, None] | None] = {}
    for row in rows[1:]:
        name, _, at, held = _parsed(row)
        if at is not None:
            if levels.setdefault(name, None) is not None:
                raise FileError(f"line {row.line}: {name!r} has levels elsewhere, but is compared with a number here")
        else:
            known = levels.setdefault(name, {})
            if known is None:
                raise FileError(f"line {row.line}: {name!r} is compared with a number elsewhere, but has levels here")
            known.update(dict.fromkeys(held))
    specs = {
        name: ColumnSpec(name, "numeric") if known is None else ColumnSpec(name, "nominal", tuple(sorted(known)))
        for name, known in levels.items()
    }
    return specs or {"x0": ColumnSpec("x0", "numeric")}  # a lone root names no column


def _parsed(row: _Row) -> tuple[str, str, float | None, list[str]]:
    """Column, sign and number, or column and levels."""
    found = _SPLIT.match(row.split)
    if found is None:
        raise FileError(f"line {row.line}: {row.split[:60]!r} is no split as rpart prints it")
    if found["at"] is not None:
        return found["column"], found["sign"].strip(), finite(found["at"], f"line {row.line}"), []
    return found["column"], "=", None, found["levels"].split(",")


def _split_of(below: Sequence[_Row], columns: dict[str, ColumnSpec], place: dict[str, int]) -> DraftSplit:
    (name, sign, at, first), (other, _, _, second) = (_parsed(row) for row in below)
    if name != other:
        raise FileError(f"line {below[1].line}: one child tests {name!r} and the other {other!r}")
    larger = below[0].n - below[1].n
    missing = STOP_HERE if larger == 0 else 0 if larger > 0 else 1  # as rpart does: equal counts stop
    if at is not None:
        bins = (0, 1) if sign in ("<", "<=") else (1, 0)
        return DraftSplit(place[name], bins, (at,), closed=sign in ("<=", ">"), missing=missing)
    held = {**dict.fromkeys(first, 0), **dict.fromkeys(second, 1)}
    return DraftSplit(
        place[name], tuple(held.get(str(level), -1) for level in columns[name].levels or ()), missing=missing
    )


def _draft(row: _Row, labels: tuple[str, ...] | None, split: DraftSplit | None, children: tuple[int, ...]) -> Draft:
    if labels is None:
        prediction = mean(row.prediction, f"line {row.line}")
        return Draft((row.n, prediction, row.loss), (prediction,), round(row.n), split, children)
    if row.prediction not in labels:
        raise FileError(f"line {row.line}: the class {row.prediction[:40]!r} is not among {', '.join(labels)[:100]}")
    stats = [share * row.n for share in row.shares]
    whole = [float(round(each)) for each in stats]
    if sum(whole) == row.n and all(abs(a - b) < 0.01 * max(1.0, row.n) for a, b in zip(stats, whole, strict=True)):
        stats = whole  # shares of cases, printed with few digits
    return Draft(tuple(stats), probabilities_for(stats, labels.index(row.prediction)), round(row.n), split, children)
