"""The lesson "boundaries": where trees fail.

Comes in: points beside a diagonal, points of a straight line. Goes out: a `Lesson`.
Always holds: every number is computed from the tables; pictures show the trees' own breaks.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from treewright.inspection.derivation.blocks import Grid
from treewright.lessons.charts import Series, line_chart, region_chart
from treewright.lessons.content import Code, Heading, Lesson, Note, Shown, Text
from treewright.lessons.phrases import accuracy, checked, data_source, n_rows, right
from treewright.lessons.tables import Columns, diagonal, straight
from treewright.prediction.predict import predict
from treewright.pruning.prune import prune
from treewright.recipes.named import CART
from treewright.recipes.pruners import MaxLeaves
from treewright.training.learn import learn
from treewright.tree.text import number_text
from treewright.tree.tree import Tree

_GROWN = replace(CART, pruning=None)


def boundaries(data: Columns | None = None) -> Lesson:
    """A diagonal border as stairs, and a line that goes flat."""
    points = diagonal(10) if data is None else checked(data, diagonal(10), "side", classes=("in", "out"))
    tree = learn(points, "side", _GROWN)
    others = diagonal(41)
    sizes = [prune(tree, MaxLeaves(n)) for n in (2, 4, 6) if n < tree.n_leaves] + [tree]
    shares = [accuracy(one, others) for one in sizes]
    better = _better(points)
    inside = zip(points["x"], points["y"], points["side"], strict=True)
    by_rule = all((x + y > 1) == (side == "in") for x, y, side in inside)
    line = straight(0.0, 10.0, 11)
    regression = learn(line, "y", _GROWN)
    low, high = min(line["x"]), max(line["x"])
    beyond = straight(low - 5.0, high + 5.0, 201)
    told = predict(regression, {"x": beyond["x"]}).tolist()
    asked = [high, high + 1, high + 2, high + 5]
    answers = predict(regression, {"x": asked}).tolist()
    truth = [_true(x) for x in asked]
    return Lesson(
        "boundaries",
        "Boundaries: where trees fail",
        "A tree asks about one column at a time. What can it not say well?",
        points,
        (
            Heading("A slope becomes stairs"),
            Text(
                ("Points above the diagonal are in, those below are out" if by_rule else "Most points follow one rule")
                + ", and the rule is one short sentence: x and y together exceed a limit. But a tree may only ask "
                "“x <= ?” or “y <= ?”. Each question cuts straight across or straight up, so every region is a box."
            ),
            region_chart(
                tree,
                "x",
                "y",
                points,
                f"The slanted line is the rule; the tree builds it from {tree.n_leaves} boxes.",
                border=lambda x: 1 - x,
            ),
            Text(
                f"On its {n_rows(points)} points the tree is right {right(tree, points)[0]} times. On other points "
                "of the rule:"
            ),
            Grid(
                f"Right answers on {n_rows(others):,} other points",
                ("leaves", "share right"),
                tuple((str(one.n_leaves), f"{share:.3f}") for one, share in zip(sizes, shares, strict=True)),
            ),
            Text(
                f"{_closer(shares)}Give the tree a better column, the sum of both"
                + (", and a single question is enough:" if better.n_leaves == 2 else ":")
            ),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('boundaries', points, diagonal(10))}\n"
                'better = {"x + y": [x + y for x, y in zip(data["x"], data["y"])], "side": data["side"]}\n'
                'print(tw.learn(better, "side", replace(tw.CART, pruning=None)))'
            ),
            Shown(better),
            Note(
                "Where borders are slanted or curved, a line or a smooth model may need less data. Where they are "
                "boxes, such as "
                "limits, laws and thresholds, nothing beats a tree."
            ),
            Heading("Beyond the data a tree goes flat"),
            Text(
                f"Now a number is to be predicted: a straight line, seen from {number_text(low)} to "
                f"{number_text(high)}. Inside, the "
                "tree follows it in small steps. Outside, every row falls into the first or the last leaf, however "
                "far away it is."
            ),
            line_chart(
                [
                    Series("the line", tuple(zip(beyond["x"], beyond["y"], strict=True))),
                    Series("the tree", tuple(zip(beyond["x"], told, strict=True)), "steps"),
                ],
                "x",
                "y",
                f"The tree was shown {number_text(low)} to {number_text(high)}. Beyond, it repeats the last thing it "
                "saw.",
            ),
            Grid(
                "Beyond the last point",
                ("x", "the line", "the tree"),
                tuple(
                    (number_text(x), number_text(y), number_text(float(answer)))
                    for x, y, answer in zip(asked, truth, answers, strict=True)
                ),
            ),
            Text(
                f"No answer can be larger than {number_text(max(told))}, the largest it was ever taught. That keeps "
                "a tree from "
                "wild guesses, and it keeps it from seeing a trend. **Trees interpolate; they do not extrapolate.**"
            ),
        ),
    )


def _closer(shares: list[float]) -> str:
    """Whether more leaves came closer to the rule, and how far."""
    rising = all(less < more for less, more in pairwise(shares))
    return "More steps come closer, and never arrive. " if rising and shares[-1] < 1 else ""


def _true(x: float) -> float:
    return float(straight(x, x + 1, 2)["y"][0])


def _better(points: Columns) -> Tree:
    table = {"x + y": [x + y for x, y in zip(points["x"], points["y"], strict=True)], "side": points["side"]}
    return learn(table, "side", _GROWN)
