"""The lesson "boundaries": where trees fail."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from treewright.data.grid import Grid
from treewright.data.number_text import number_text
from treewright.lessons.charts import Series, line_chart, region_chart
from treewright.lessons.content import Code, Heading, Lesson, Note, Part, Shown, Text
from treewright.lessons.phrases import accuracy, checked, data_source, n_rows, right
from treewright.lessons.tables import Columns, diagonal, straight
from treewright.prediction.predict import predict
from treewright.pruning.prune import prune
from treewright.recipes.named import CART, PILOT
from treewright.recipes.pruners import MaxLeaves
from treewright.training.learn import learn
from treewright.tree.tree import Tree

_GROWN = replace(CART, pruning=None)


def boundaries(data: Columns | None = None) -> Lesson:
    """Return a diagonal boundary as a staircase, and a line beyond the data."""
    points = diagonal(10) if data is None else checked(data, diagonal(10), "side", classes=("in", "out"))
    return Lesson(
        "boundaries",
        "Boundaries: where trees fail",
        "A tree tests one column at a time. What can it not represent well?",
        points,
        (*_staircase(points), *_beyond_the_data()),
    )


def _staircase(points: Columns) -> tuple[Part, ...]:
    tree = learn(points, "side", _GROWN)
    others = diagonal(41)
    sizes = [prune(tree, MaxLeaves(n)) for n in (2, 4, 6) if n < tree.n_leaves] + [tree]
    shares = [accuracy(one, others) for one in sizes]
    better = _better(points)
    inside = zip(points["x"], points["y"], points["side"], strict=True)
    by_rule = all((x + y > 1) == (side == "in") for x, y, side in inside)
    return (
        Heading("A diagonal boundary becomes a staircase"),
        Text(
            ("Points above the diagonal are in, those below are out" if by_rule else "Most points follow one rule")
            + ", and the rule is short: the sum of x and y exceeds a limit. But each split of a tree compares "
            "one column with a threshold, so its boundary is parallel to an axis and every region is a box."
        ),
        region_chart(
            tree,
            "x",
            "y",
            points,
            f"The slanted line is the rule; the tree approximates it by {tree.n_leaves} boxes.",
            border=lambda x: 1 - x,
        ),
        Text(
            f"On its {n_rows(points)} points the tree is right {right(tree, points)[0]} times. On other points "
            "of the rule:"
        ),
        Grid(
            f"Accuracy on {n_rows(others):,} other points",
            ("leaves", "accuracy"),
            tuple((str(one.n_leaves), f"{share:.3f}") for one, share in zip(sizes, shares, strict=True)),
        ),
        Text(
            f"{_closer(shares)}Give the tree a better column, the sum of both"
            + (", and a single split is enough:" if better.n_leaves == 2 else ":")
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
            "boxes, such as limits and thresholds, a tree needs less."
        ),
    )


def _beyond_the_data() -> tuple[Part, ...]:
    line = straight(0.0, 10.0, 11)
    tree = learn(line, "y", _GROWN)
    low, high = min(line["x"]), max(line["x"])
    beyond = straight(low - 5.0, high + 5.0, 201)
    steps = predict(tree, {"x": beyond["x"]}).tolist()
    beyond_last = [high, high + 1, high + 2, high + 5]
    predicted = predict(tree, {"x": beyond_last}).tolist()
    truth = [_true(x) for x in beyond_last]
    return (
        Heading("Outside the data a tree is constant"),
        Text(
            f"Now the target is numeric: a straight line, observed from {number_text(low)} to "
            f"{number_text(high)}. Inside, the tree follows it in small steps. Outside, every row reaches the "
            "first or the last leaf, however far away it is."
        ),
        line_chart(
            [
                Series("the line", tuple(zip(beyond["x"], beyond["y"], strict=True))),
                Series("the tree", tuple(zip(beyond["x"], steps, strict=True)), "steps"),
            ],
            "x",
            "y",
            f"The training rows lie between {number_text(low)} and {number_text(high)}. Outside, the prediction "
            "is constant.",
        ),
        Grid(
            "Beyond the last point",
            ("x", "the line", "the tree"),
            tuple(
                (number_text(x), number_text(y), number_text(float(value)))
                for x, y, value in zip(beyond_last, truth, predicted, strict=True)
            ),
        ),
        Text(
            f"No prediction exceeds {number_text(max(steps))}, the largest value of a leaf. That keeps a tree "
            "from extreme predictions, and from following a trend. **Trees interpolate; they do not "
            "extrapolate.**"
        ),
        *_sloped_leaves(line, high),
    )


def _sloped_leaves(line: Columns, high: float) -> tuple[Part, ...]:
    flat, sloped, free = (learn(line, "y", recipe) for recipe in (_GROWN, PILOT, PILOT.with_(margin=None)))
    xs = [high, high + 2, high + 20]
    values = [predict(tree, {"x": xs}).tolist() for tree in (flat, sloped, free)]
    return (
        Heading("Leaves that slope"),
        Text(
            "A leaf can predict by a linear model of its rows instead of their mean. The tree then goes on beyond the "
            "data: within its range guard, which keeps every prediction near the targets of the leaf, or freely, "
            "however far that leads."
        ),
        Code(
            'line = {"x": list(range(11)), "y": [2 * x + 1 for x in range(11)]}\nprint(tw.learn(line, "y", tw.PILOT))'
        ),
        Shown(sloped),
        Grid(
            "Beyond the last point, by leaf",
            ("x", "the line", "flat", "sloped", "free"),
            tuple(
                (number_text(x), number_text(_true(x)), *(number_text(float(one)) for one in predicted))
                for x, *predicted in zip(xs, *values, strict=True)
            ),
        ),
        Note(
            "A trend that is not a law ends somewhere, and nothing in the table says where. The guard limits the "
            "damage; only knowledge of the subject justifies a free model."
        ),
    )


def _closer(shares: list[float]) -> str:
    """State whether more leaves come closer to the rule."""
    rising = all(less < more for less, more in pairwise(shares))
    return "More leaves come closer and never reach it. " if rising and shares[-1] < 1 else ""


def _true(x: float) -> float:
    return float(straight(x, x + 1, 2)["y"][0])


def _better(points: Columns) -> Tree:
    table = {"x + y": [x + y for x, y in zip(points["x"], points["y"], strict=True)], "side": points["side"]}
    return learn(table, "side", _GROWN)
