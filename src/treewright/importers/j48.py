"""What Weka prints of a J48 tree (Id3, REPTree and RandomTree look alike), made into a `Tree`.

Comes in: the text. Goes out: a `Tree`.
Always holds: every leaf answers what the text says. What the text does not say: of which classes a leaf's errors are
(with more than two classes they are shared out evenly among the others), what inner nodes held (the sum of their
leaves), the order of classes and levels (as they are met; where the text names but one level, the rest is "other"), the
target's name. A missing value goes down every branch by its weight, as in J48.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import FileError
from treewright.importers.build import Draft, DraftSplit, answering, assembled
from treewright.importers.numbers import AMOUNT, count, finite, mean, squares
from treewright.recipes.named import J48, RPART
from treewright.tree.tree import Tree
from treewright.tree.validation import AS_MISSING, FRACTIONAL

_BARS = re.compile(r"(?:\|\s+)*")
_COUNTS = re.compile(rf" \((?P<n>{AMOUNT})(?:/(?P<wrong>{AMOUNT}))?\)")
_TEST = re.compile(r"^(?P<column>.+?) (?P<sign><=|>=|!=|<|>|=) (?P<value>.*)$")
_SIGNS = {"<=": (True, 0), ">": (True, 1), "<": (False, 0), ">=": (False, 1)}  # closed, side


@dataclass
class _Line:
    """A printed line: the test that leads to a node, and what the node answers if it is a leaf."""

    depth: int
    column: str
    sign: str
    value: str
    answer: str | None
    n: float
    wrong: float
    line: int
    children: list[int] = field(default_factory=list)


def from_j48(text: str, *, target: str = "class", classes: Sequence[str] | None = None) -> Tree:
    """The tree that Weka printed. `classes`: all classes in order, where it matters; otherwise those that are met."""
    lines = _lines(text)
    _link(lines)
    answers = list(dict.fromkeys(line.answer for line in lines if line.answer not in (None, "null")))
    numeric = "REPTree" in text[:200] and classes is None and all(_is_number(str(answer)) for answer in answers)
    labels = None if numeric else tuple(classes or (str(answer) for answer in answers))
    known = set(labels or ())
    foreign = [answer for answer in answers if labels is not None and answer not in known]
    if foreign:
        raise FileError(f"the tree answers {str(foreign[0])[:40]!r}, which is not among classes=")
    columns = _columns(lines)
    task = TargetSpec(target, "regression" if labels is None else "classification", labels)
    return assembled(_drafts(lines, columns, labels), Schema(tuple(columns.values()), task), J48 if labels else RPART)


def _is_number(text: str) -> bool:
    return re.fullmatch(rf"-?{AMOUNT}", text) is not None


@dataclass(frozen=True)
class _Leaf:
    """What a line says of a leaf, and the test before it."""

    test: str
    answer: str
    n: float = 0.0
    wrong: float = 0.0


def _leaf_of(said: str, line: int) -> _Leaf | None:
    """The parts of a line about a leaf: "test: answer (n/wrong) [n/wrong]", counts and brackets where there are some.

    The last colon before counts divides test and answer; without counts it is the first one.
    """
    closed = said.endswith("]")
    counts = [
        found
        for found in _COUNTS.finditer(said)
        if found.end() == len(said) or (closed and said.startswith(" [", found.end()))
    ]
    colon = said.rfind(": ", 0, counts[-1].start()) if counts else -1
    if colon >= 0:
        found = next(each for each in counts if each.start() >= colon + 2)
        place = f"line {line}"
        n, wrong = count(found["n"], place), squares(found["wrong"] or "0", place)  # REPTree: squares
        return _Leaf(said[:colon].rstrip(), said[colon + 2 : found.start()], n, wrong)
    colon = said.find(": ")
    if colon < 0 or _TEST.match(said) is None:
        return None
    end = said.find(" [", colon + 2) if closed else -1
    return _Leaf(said[:colon].rstrip(), said[colon + 2 : end if end >= 0 else None])


def _lines(text: str) -> list[_Line]:
    """The root, and the printed lines below it."""
    rows = [_Line(-1, "", "", "", None, 0.0, 0.0, 0)]
    for i, raw in enumerate(text.splitlines(), 1):
        bars = _BARS.match(raw)
        assert bars is not None
        depth, said = bars[0].count("|"), raw[bars.end() :].rstrip()
        leaf = _leaf_of(said, i)
        if leaf is not None and not leaf.test and len(rows) == 1:  # ": yes (14.0/5.0)": a lone leaf
            rows[0].answer, rows[0].n, rows[0].wrong = leaf.answer, leaf.n, leaf.wrong
            break
        test = _TEST.match(leaf.test if leaf is not None else said)
        if test is None:
            if depth > 0:
                raise FileError(f"line {i} is no line of a tree as Weka prints it: {raw.strip()[:60]!r}")
            if len(rows) > 1:
                break  # behind the tree come its size and other words
            continue
        answer, n, wrong = (None, 0.0, 0.0) if leaf is None else (leaf.answer, leaf.n, leaf.wrong)
        rows.append(_Line(depth, test["column"], test["sign"], test["value"], answer, n, wrong, i))
    if len(rows) == 1 and rows[0].answer is None:
        raise FileError(
            "this is no tree as Weka prints it: give the lines of the tree, such as 'outlook = sunny: no (3.0)'"
        )
    return rows


def _link(rows: list[_Line]) -> None:
    above = [0]  # the last line of each depth, the root first
    for i, row in enumerate(rows[1:], 1):
        if row.depth + 1 > len(above) or (row.depth + 1 == len(above) and rows[above[-1]].answer is not None and i > 1):
            raise FileError(f"line {row.line} is deeper than the line before it allows; the text is not whole")
        del above[row.depth + 1 :]
        rows[above[-1]].children.append(i)
        above.append(i)
    for row in rows:
        if row.answer is None and len(row.children) < 2:
            raise FileError(f"line {row.line} leads to {len(row.children)} branches; the text is not whole")
        first = rows[row.children[0]] if row.children else row
        for child in row.children:
            if rows[child].column != first.column:
                raise FileError(
                    f"line {rows[child].line} asks about {rows[child].column!r}, its sister about {first.column!r}"
                )


def _columns(rows: Sequence[_Line]) -> dict[str, ColumnSpec]:
    levels: dict[str, dict[str, None] | None] = {}
    for row in rows[1:]:
        if row.sign in _SIGNS:
            known = levels.setdefault(row.column, None)
            if known is not None or not _is_number(row.value):
                raise FileError(f"line {row.line}: {row.column!r} is not compared with a number everywhere")
        else:
            known = levels.setdefault(row.column, {})
            if known is None:
                raise FileError(f"line {row.line}: {row.column!r} is compared with a number elsewhere")
            known[row.value] = None
    for row in rows[1:]:
        known = levels[row.column]
        if row.sign == "!=" and known == {row.value: None}:
            known["other"] = None  # what is not this level must have a name to be shown by
    specs = {
        name: ColumnSpec(name, "numeric") if known is None else ColumnSpec(name, "nominal", tuple(known))
        for name, known in levels.items()
    }
    return specs or {"x0": ColumnSpec("x0", "numeric")}  # a lone leaf names no column


def _asked(rows: Sequence[_Line], row: _Line, columns: dict[str, ColumnSpec], places: dict[str, int]) -> DraftSplit:
    below = [rows[child] for child in row.children]
    spec = columns[below[0].column]
    place = places[spec.name]
    if spec.levels is None:
        forms = {_SIGNS[child.sign][0] for child in below}
        sides = [_SIGNS[child.sign][1] for child in below]
        if len(below) != 2 or len(forms) > 1 or sorted(sides) != [0, 1] or below[0].value != below[1].value:
            raise FileError(f"line {below[0].line}: {spec.name!r} is not divided in two at one number")
        at = finite(below[0].value, f"line {below[0].line}")
        return DraftSplit(place, (sides.index(0), sides.index(1)), (at,), forms.pop(), FRACTIONAL)
    held = {child.value: i for i, child in enumerate(below) if child.sign == "="}
    others = [i for i, child in enumerate(below) if child.sign == "!="]
    if len(others) > 1 or len(held) + len(others) < len(below):
        raise FileError(f"line {below[0].line}: two branches of {spec.name!r} overlap")
    rest = others[0] if others else -1
    bins = tuple(held.get(str(level), rest) for level in spec.levels)
    return DraftSplit(place, bins, missing=FRACTIONAL, unseen=rest if others else AS_MISSING)


def _drafts(rows: Sequence[_Line], columns: dict[str, ColumnSpec], labels: tuple[str, ...] | None) -> list[Draft]:
    drafts: list[Draft | None] = [None] * len(rows)
    places = {name: i for i, name in enumerate(columns)}
    for i in reversed(range(len(rows))):  # children stand below their parents
        row = rows[i]
        if row.answer is not None:
            drafts[i] = _leaf(row, labels)
            continue
        below = [drafts[child] for child in row.children]
        stats = _summed([child.stats for child in below if child is not None], labels is None)
        best = stats[1] if labels is None else max(range(len(stats)), key=lambda k: stats[k])
        value = (stats[1],) if labels is None else answering(stats, int(best))
        weight = stats[0] if labels is None else sum(stats)
        drafts[i] = Draft(stats, value, round(weight), _asked(rows, row, columns, places), tuple(row.children))
    return [draft for draft in drafts if draft is not None]


def _summed(stats: Sequence[tuple[float, ...]], numeric: bool) -> tuple[float, ...]:
    if not numeric:
        return tuple(map(sum, zip(*stats, strict=True)))
    weight = sum(each[0] for each in stats)
    mean = sum(each[0] * each[1] for each in stats) / weight if weight > 0 else stats[0][1]
    return (weight, mean, sum(each[2] + each[0] * (each[1] - mean) ** 2 for each in stats))


def _leaf(row: _Line, labels: tuple[str, ...] | None) -> Draft:
    if labels is None:
        number = mean(row.answer or "0", f"line {row.line}")
        # REPTree prints the mean squared error
        return Draft((row.n, number, row.wrong * row.n), (number,), round(row.n))
    if row.answer == "null":  # Id3: no row came here
        return Draft((0.0,) * len(labels), answering((1.0,) * len(labels), 0), 0)
    at, n = labels.index(str(row.answer)), len(labels)
    wrong = min(row.wrong, row.n)
    stats = [wrong / (n - 1) if n > 1 else 0.0] * n
    stats[at] = row.n - wrong
    return Draft(tuple(stats), answering(stats, at), round(row.n))
