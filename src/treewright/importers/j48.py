"""What Weka prints of a J48 tree (Id3, REPTree and RandomTree look alike), made into a `Tree`.

Every leaf predicts its class in the text. What the text does not contain: of which classes a leaf's errors are (with
more than two classes they are shared out evenly among the others), what inner nodes held (the sum of their leaves), the
order of classes and levels (as they are met; where the text names but one level, the rest is "other"), the target's
name. A missing value goes down every branch by its weight, as in J48.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import FileError
from treewright.importers.build import Draft, DraftSplit, assembled, probabilities_for
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
    """A printed line: the test that leads to a node, and what the node predicts if it is a leaf."""

    depth: int
    column: str
    sign: str
    value: str
    prediction: str | None
    n: float
    wrong: float
    line: int
    children: list[int] = field(default_factory=list)


def from_j48(text: str, *, target: str = "class", classes: Sequence[str] | None = None) -> Tree:
    """Return the tree that Weka printed.

    Parameters
    ----------
    text : str
        The output of J48, Id3, REPTree or RandomTree.
    target : str, default="class"
        The name of the target.
    classes : sequence of str, optional
        All classes in order; by default those in the text.

    Returns
    -------
    Tree
        The tree, with the nodes and class counts that Weka printed.

    Raises
    ------
    FileError
        If the text is not of this form; the message names the line or element.
    """
    lines = _lines(text)
    _link(lines)
    predicted = list(dict.fromkeys(line.prediction for line in lines if line.prediction not in (None, "null")))
    numeric = "REPTree" in text[:200] and classes is None and all(_is_number(str(one)) for one in predicted)
    labels = None if numeric else tuple(classes or (str(prediction) for prediction in predicted))
    known = set(labels or ())
    foreign = [prediction for prediction in predicted if labels is not None and prediction not in known]
    if foreign:
        raise FileError(f"the tree predicts {str(foreign[0])[:40]!r}, which is not among classes=")
    columns = _columns(lines)
    task = TargetSpec(target, "regression" if labels is None else "classification", labels)
    return assembled(_drafts(lines, columns, labels), Schema(tuple(columns.values()), task), J48 if labels else RPART)


def _is_number(text: str) -> bool:
    return re.fullmatch(rf"-?{AMOUNT}", text) is not None


@dataclass(frozen=True)
class _Leaf:
    """A leaf as one line prints it, and the test before it."""

    test: str
    prediction: str
    n: float = 0.0
    wrong: float = 0.0


def _leaf_of(words: str, line: int) -> _Leaf | None:
    """Parse the line of a leaf: "test: prediction (n/wrong) [n/wrong]"; counts and brackets are optional.

    The last colon before counts divides test and prediction; without counts it is the first one.
    """
    closed = words.endswith("]")
    counts = [
        found
        for found in _COUNTS.finditer(words)
        if found.end() == len(words) or (closed and words.startswith(" [", found.end()))
    ]
    colon = words.rfind(": ", 0, counts[-1].start()) if counts else -1
    if colon >= 0:
        found = next(each for each in counts if each.start() >= colon + 2)
        place = f"line {line}"
        n, wrong = count(found["n"], place), squares(found["wrong"] or "0", place)  # REPTree: squares
        return _Leaf(words[:colon].rstrip(), words[colon + 2 : found.start()], n, wrong)
    colon = words.find(": ")
    if colon < 0 or _TEST.match(words) is None:
        return None
    end = words.find(" [", colon + 2) if closed else -1
    return _Leaf(words[:colon].rstrip(), words[colon + 2 : end if end >= 0 else None])


def _lines(text: str) -> list[_Line]:
    """Return the root, and the printed lines below it."""
    rows = [_Line(-1, "", "", "", None, 0.0, 0.0, 0)]
    for i, raw in enumerate(text.splitlines(), 1):
        bars = _BARS.match(raw)
        assert bars is not None
        depth, shown = bars[0].count("|"), raw[bars.end() :].rstrip()
        leaf = _leaf_of(shown, i)
        if leaf is not None and not leaf.test and len(rows) == 1:  # ": yes (14.0/5.0)": a lone leaf
            rows[0].prediction, rows[0].n, rows[0].wrong = leaf.prediction, leaf.n, leaf.wrong
            break
        test = _TEST.match(leaf.test if leaf is not None else shown)
        if test is None:
            if depth > 0:
                raise FileError(f"line {i} is no line of a tree as Weka prints it: {raw.strip()[:60]!r}")
            if len(rows) > 1:
                break  # behind the tree come its size and other words
            continue
        prediction, n, wrong = (None, 0.0, 0.0) if leaf is None else (leaf.prediction, leaf.n, leaf.wrong)
        rows.append(_Line(depth, test["column"], test["sign"], test["value"], prediction, n, wrong, i))
    if len(rows) == 1 and rows[0].prediction is None:
        raise FileError(
            "this is no tree as Weka prints it: give the lines of the tree, such as 'outlook = sunny: no (3.0)'"
        )
    return rows


def _link(rows: list[_Line]) -> None:
    above = [0]  # the last line of each depth, the root first
    for i, row in enumerate(rows[1:], 1):
        below_leaf = i > 1 and rows[above[-1]].prediction is not None
        if row.depth + 1 > len(above) or (row.depth + 1 == len(above) and below_leaf):
            raise FileError(f"line {row.line} is deeper than the line before it allows; the text is not whole")
        del above[row.depth + 1 :]
        rows[above[-1]].children.append(i)
        above.append(i)
    for row in rows:
        if row.prediction is None and len(row.children) < 2:
            raise FileError(f"line {row.line} leads to {len(row.children)} branches; the text is not whole")
        first = rows[row.children[0]] if row.children else row
        for each in map(rows.__getitem__, row.children):
            if each.column != first.column:
                names = f"{each.column[:60]!r}, its sibling on {first.column[:60]!r}"
                raise FileError(f"line {each.line} splits on {names}")


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


def _split_of(rows: Sequence[_Line], row: _Line, columns: dict[str, ColumnSpec], places: dict[str, int]) -> DraftSplit:
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
        if row.prediction is not None:
            drafts[i] = _leaf(row, labels)
            continue
        below = [drafts[child] for child in row.children]
        stats = _summed([child.stats for child in below if child is not None], labels is None)
        best = stats[1] if labels is None else max(range(len(stats)), key=lambda k: stats[k])
        value = (stats[1],) if labels is None else probabilities_for(stats, int(best))
        weight = stats[0] if labels is None else sum(stats)
        drafts[i] = Draft(stats, value, round(weight), _split_of(rows, row, columns, places), tuple(row.children))
    return [draft for draft in drafts if draft is not None]


def _summed(stats: Sequence[tuple[float, ...]], numeric: bool) -> tuple[float, ...]:
    if not numeric:
        return tuple(map(sum, zip(*stats, strict=True)))
    weight = sum(each[0] for each in stats)
    mean = sum(each[0] * each[1] for each in stats) / weight if weight > 0 else stats[0][1]
    return (weight, mean, sum(each[2] + each[0] * (each[1] - mean) ** 2 for each in stats))


def _leaf(row: _Line, labels: tuple[str, ...] | None) -> Draft:
    if labels is None:
        number = mean(row.prediction or "0", f"line {row.line}")
        # REPTree prints the mean squared error
        return Draft((row.n, number, row.wrong * row.n), (number,), round(row.n))
    if row.prediction == "null":  # Id3: no row came here
        return Draft((0.0,) * len(labels), probabilities_for((1.0,) * len(labels), 0), 0)
    at, n = labels.index(str(row.prediction)), len(labels)
    wrong = min(row.wrong, row.n)
    stats = [wrong / (n - 1) if n > 1 else 0.0] * n
    stats[at] = row.n - wrong
    return Draft(tuple(stats), probabilities_for(stats, at), round(row.n))
