"""The lesson "humidity": where to cut a number?

Comes in: humidities and whether anyone played. Goes out: a `Lesson`.
Always holds: every number is computed from the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from treewright import criteria
from treewright.errors import DataError
from treewright.inspection.derivation.blocks import Grid, Plot, Steps, blocks
from treewright.inspection.derivation.explain_node import explain_node
from treewright.lessons.content import Code, Heading, Lesson, Note, Printed, Shown, Text
from treewright.lessons.phrases import (
    checked,
    counts_of,
    cut_text,
    data_source,
    four_digits,
    joined,
    n_rows,
    rows_grid,
    spelled,
    split_arithmetic,
)
from treewright.lessons.tables import HUMIDITY, Columns
from treewright.recipes.criterion import InformationGain
from treewright.recipes.named import C45, CART
from treewright.recipes.numeric import Threshold
from treewright.recipes.stopping import Stopping
from treewright.training.learn import learn
from treewright.tree.text import number_text
from treewright.tree.tree import Tree


@dataclass(frozen=True)
class Cut:
    """A cut after a value: the class counts below and above; whether the classes change there."""

    value: float
    children: list[list[int]]
    is_boundary: bool

    @property
    def gain(self) -> float:
        return criteria.information_gain(self.children)

    @property
    def after(self) -> float:
        return criteria.entropy([sum(column) for column in zip(*self.children, strict=True)]) - self.gain


def cuts(data: Columns) -> list[Cut]:
    """Every place between two different values."""
    by_value = counts_of(data, "Play", "Humidity")
    values = sorted(by_value)
    found = []
    for i, (value, after) in enumerate(pairwise(values)):
        sides = [[sum(by_value[v][k] for v in part) for k in (0, 1)] for part in (values[: i + 1], values[i + 1 :])]
        beside = [sum(counts) for counts in zip(by_value[value], by_value[after], strict=True)]
        found.append(Cut(value, sides, all(beside)))
    return found


def humidity(data: Columns = HUMIDITY) -> Lesson:
    """A threshold by information gain; what CART and C4.5 write down."""
    checked(data, HUMIDITY, "Play", classes=("n", "y"))
    tried = cuts(data)
    if len(tried) < 2:
        raise DataError("the lesson compares cuts; it needs three or more different values of Humidity")
    best = max(tried, key=lambda cut: cut.gain)
    boundaries = [cut for cut in tried if cut.is_boundary]
    first = next(cut for cut in (*boundaries, *tried) if cut is not best)
    by_entropy = replace(CART, criterion=InformationGain(), pruning=None)
    tree = learn(data, "Play", by_entropy)
    quinlan = replace(C45, numeric=Threshold(at="observed"), stopping=Stopping(), simplify=None, pruning=None)
    observed = learn(data, "Play", quinlan)
    ordered = ", in order of humidity" if data["Humidity"] == sorted(data["Humidity"]) else ""
    curve = [block for block in blocks(explain_node(tree, 0, data)) if isinstance(block, Plot)]
    return Lesson(
        "humidity",
        "Humidity: where to cut a number?",
        "Levels can be piled up one by one. A number has endless values: which limit should we ask about?",
        data,
        (
            rows_grid(data, f"Humidity and whether anyone played (y, n){ordered}"),
            Text(
                "Any limit between two neighbours sorts the days in the same way. So there are only as many different "
                f"questions as gaps: {len(tried)} for these {n_rows(data)} days."
            ),
            Heading(f"One way: after {first.value}"),
            _arithmetic(first),
            Heading(f"Another way: after {best.value}"),
            _arithmetic(best),
            Text(
                f"The first leaves {four_digits(first.after)} bits and gains {four_digits(first.gain)}. The second "
                f"leaves "
                f"{four_digits(best.after)} and gains {four_digits(best.gain)}. "
                + ("**The second is better.**" if best.gain > first.gain + 1e-12 else "**Neither is better.**")
            ),
            Heading("All of them"),
            Grid(
                "Each possible cut",
                ("cut after", "below n/y", "above n/y", "entropy after", "gain", ""),
                tuple(
                    (
                        number_text(cut.value),
                        *("/".join(map(str, side)) for side in cut.children),
                        four_digits(cut.after),
                        four_digits(cut.gain),
                        "best" if cut is best else "classes change" if cut.is_boundary else "",
                    )
                    for cut in tried
                ),
            ),
            *curve,
            Note(
                f"**{_chances(boundaries, tried)}** Fayyad and Irani proved that no cut inside a run of one class is "
                f"better than both ends of the run.{_others(tried)}"
            ),
            Heading("What is written down"),
            Text(
                f"CART stores the middle of the gap, {cut_text(tree)}. C4.5 stores the largest value that it saw "
                f"below, {cut_text(observed)}. {_alike(tree, observed, data)}"
            ),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('humidity', data, HUMIDITY)}\n"
                "by_entropy = replace(tw.CART, criterion=tw.criterion.InformationGain(), pruning=None)\n"
                'tree = tw.learn(data, "Play", by_entropy)\n'
                "print(tree)"
            ),
            Shown(tree),
            Code(
                'observed = replace(tw.C45, numeric=tw.numeric.Threshold(at="observed"), '
                "stopping=tw.stopping.Stopping(),\n"
                "                   simplify=None, pruning=None)\n"
                'print(tw.learn(data, "Play", observed))'
            ),
            Printed(str(observed), "the tree of C4.5"),
        ),
    )


def _chances(boundaries: list[Cut], tried: list[Cut]) -> str:
    """How many cuts lie where the class changes, and which."""
    if len(boundaries) == len(tried):
        return "All cuts had a chance: the class changes from every value to the next."
    after = joined([number_text(cut.value) for cut in boundaries])
    if len(boundaries) == 1:
        return f"Only one cut had a chance: that after {after}, where the class changes from one value to the next."
    many = spelled(len(boundaries))
    return f"Only {many} cuts had a chance: those after {after}, where the class changes from one value to the next."


def _others(tried: list[Cut]) -> str:
    rest = [cut.gain for cut in tried if not cut.is_boundary]
    return f" The best of the others gains {four_digits(max(rest))}." if rest else ""


def _alike(tree: Tree, observed: Tree, data: Columns) -> str:
    """Whether the first cuts of two trees sort the days in the same way."""
    sides = [
        [None if one.root.split is None else value <= (one.root.split.threshold or 0.0) for value in data["Humidity"]]
        for one in (tree, observed)
    ]
    if sides[0] != sides[1]:
        return "It compares cuts by gain ratio, and so it cuts elsewhere here."
    return "Both sort these days alike; a new day between the two is sorted differently."


def _arithmetic(cut: Cut) -> Steps:
    value = number_text(cut.value)
    conditions = (f"Humidity <= {value}", f"Humidity > {value}")
    return split_arithmetic(f"The cut after {value}", InformationGain(), cut.children, conditions)
