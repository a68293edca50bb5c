"""The lesson "humidity": where to cut a numeric column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from treewright import criteria
from treewright.data.grid import Grid
from treewright.data.number_text import number_text
from treewright.errors import DataError
from treewright.inspection.derivation.blocks import Plot, Steps, blocks
from treewright.inspection.derivation.explain_node import explain_node
from treewright.lessons.content import Code, Heading, Lesson, Note, Part, Printed, Shown, Text
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
from treewright.tree.tree import Tree


@dataclass(frozen=True)
class TriedCut:
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


def cuts(data: Columns) -> list[TriedCut]:
    """Return every cut between two distinct values."""
    by_value = counts_of(data, "Play", "Humidity")
    values = sorted(by_value)
    found = []
    for i, (value, after) in enumerate(pairwise(values)):
        sides = [[sum(by_value[v][k] for v in side) for k in (0, 1)] for side in (values[: i + 1], values[i + 1 :])]
        beside = [sum(counts) for counts in zip(by_value[value], by_value[after], strict=True)]
        found.append(TriedCut(value, sides, all(beside)))
    return found


def humidity(data: Columns = HUMIDITY) -> Lesson:
    """Return a threshold by information gain; the thresholds that CART and C4.5 store."""
    checked(data, HUMIDITY, "Play", classes=("n", "y"))
    tried = cuts(data)
    if len(tried) < 2:
        raise DataError("the lesson compares cuts; it needs three or more different values of Humidity")
    best = max(tried, key=lambda cut: cut.gain)
    boundaries = [cut for cut in tried if cut.is_boundary]
    first = next(cut for cut in (*boundaries, *tried) if cut is not best)
    by_entropy = replace(CART, criterion=InformationGain(), pruning=None)
    tree = learn(data, "Play", by_entropy)
    ordered = ", in order of humidity" if data["Humidity"] == sorted(data["Humidity"]) else ""
    curve = [block for block in blocks(explain_node(tree, 0, data)) if isinstance(block, Plot)]
    return Lesson(
        "humidity",
        "Humidity: where to cut a number?",
        "A nominal column has a few levels. A numeric column can be cut anywhere: which threshold is best?",
        data,
        (
            rows_grid(data, f"Humidity and whether anyone played (y, n){ordered}"),
            Text(
                "Any threshold between two neighbouring values divides the days in the same way. So there are only "
                f"as many cuts as gaps between values: {len(tried)} for these {n_rows(data)} days."
            ),
            Heading(f"The cut after {first.value}"),
            _arithmetic(first),
            Heading(f"The cut after {best.value}"),
            _arithmetic(best),
            Text(
                f"The first leaves {four_digits(first.after)} bits and gains {four_digits(first.gain)}. The second "
                f"leaves {four_digits(best.after)} and gains {four_digits(best.gain)}. "
                + ("**The second is better.**" if best.gain > first.gain + 1e-12 else "**Neither is better.**")
            ),
            Heading("All cuts"),
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
            *_stored_thresholds(data, tree),
        ),
    )


def _stored_thresholds(data: Columns, tree: Tree) -> tuple[Part, ...]:
    quinlan = replace(C45, numeric=Threshold(at="observed"), stopping=Stopping(), simplify=None, pruning=None)
    observed = learn(data, "Play", quinlan)
    return (
        Heading("The stored threshold"),
        Text(
            f"CART stores the middle of the gap, {cut_text(tree)}. C4.5 stores the largest value observed below, "
            f"{cut_text(observed)}. {_alike(tree, observed, data)}"
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
    )


def _chances(boundaries: list[TriedCut], tried: list[TriedCut]) -> str:
    """Return how many cuts lie where the class changes, and which."""
    if len(boundaries) == len(tried):
        return "Every cut can be best: the class changes from every value to the next."
    after = joined([number_text(cut.value) for cut in boundaries])
    if len(boundaries) == 1:
        return f"Only one cut can be best: that after {after}, where the class changes from one value to the next."
    many = spelled(len(boundaries))
    return f"Only {many} cuts can be best: those after {after}, where the class changes from one value to the next."


def _others(tried: list[TriedCut]) -> str:
    rest = [cut.gain for cut in tried if not cut.is_boundary]
    return f" The best of the others gains {four_digits(max(rest))}." if rest else ""


def _alike(tree: Tree, observed: Tree, data: Columns) -> str:
    """Return whether the first cuts of two trees sort the days in the same way."""
    sides = [
        [None if one.root.split is None else value <= (one.root.split.threshold or 0.0) for value in data["Humidity"]]
        for one in (tree, observed)
    ]
    if sides[0] != sides[1]:
        return "It compares cuts by gain ratio, and chooses another cut here."
    return "Both divide these days alike; a new day between the two goes to different sides."


def _arithmetic(cut: TriedCut) -> Steps:
    value = number_text(cut.value)
    conditions = (f"Humidity <= {value}", f"Humidity > {value}")
    return split_arithmetic(f"The cut after {value}", InformationGain(), cut.children, conditions)
