"""The comparator itself: it finds every seeded difference, and none where there is none.

Nothing in this file needs the compiled core.
"""

from __future__ import annotations

import copy
import json
import math
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import golden_compare
import pytest
from golden_predictions import class_of, shares_of

GOLDENS = Path(__file__).parent / "goldens"
MAKE = runpy.run_path(str(GOLDENS / "make.py"))
EXAMPLES = {
    "Id3": ("tic-tac-toe", "weka.id3"),
    "C4.5": ("labor", "c45.default.unpruned"),
    "C4.5 subset": ("soybean", "c45.subset.unpruned"),
    "J48": ("labor", "weka.j48.unpruned"),
    "J48 binary": ("vote", "weka.j48.binary-unpruned"),
    "rpart class": ("pima-indians-diabetes2", "rpart.gini.full.us2"),
    "rpart information": ("soybean", "rpart.information.full.us2"),
    "rpart stop": ("vote", "rpart.gini.full.us1"),
    "rpart anova": ("cu.summary-mileage", "rpart.anova.full.us2"),
    "chaid class": ("pima-indians-diabetes2", "chaidr.small"),
    "chaid nominal": ("soybean", "chaidr.small"),
    "chaid F": ("cu.summary-mileage", "chaidr.small"),
}


def load(data_set: str, name: str) -> dict[str, Any]:
    goldens = json.loads((GOLDENS / f"{data_set}.json").read_text(encoding="utf-8"))["goldens"]
    golden = goldens[name]
    return goldens[golden["same_as"]] | golden if "same_as" in golden else golden


# --- a golden as if it were our tree ----------------------------------------------------------------------------------


def stand_in_split(theirs: dict[str, Any], golden: dict[str, Any], node: Any) -> SimpleNamespace:
    """Our names, children in the opposite order."""
    split = SimpleNamespace(column=theirs["column"], threshold=None, groups=None, breaks=(), test="<=", missing=-2)
    if "cut" in theirs:
        split.threshold, split.breaks = theirs["cut"], (theirs["cut"],)
        split.test = "<=" if theirs["closed"] else "<"
        split.child_of_bin = (1, 0) if theirs["low"] == 0 else (0, 1)
        last = 1
    elif "bins" in theirs:
        last = len(theirs["bins"]) - 1
        child_of = {place: last - child for child, bins in enumerate(theirs["bins"]) for place in bins}
        ends = golden["bins"][theirs["column"]]
        split.breaks = tuple(ends[:-1])
        split.child_of_bin = tuple(child_of.get(place + 1, 0) for place in range(len(ends)))
    else:
        last = len(theirs["groups"]) - 1
        split.groups = tuple(tuple(levels) for levels in reversed(theirs["groups"]))
    if theirs.get("missing") is not None:
        split.missing = last - theirs["missing"]
    if golden["program"] == "J48":
        split.gain, split.score = theirs["gain"], theirs["gain_ratio"]
        split.share = tuple(reversed(theirs.get("shares", [])))
    if "improve" in theirs:
        anova = golden["options"]["method"] == "anova"
        unit = math.log(2) if golden["options"].get("split") == "information" else 1.0
        split.gain = theirs["improve"] * node.impurity if anova else theirs["improve"] / node.weight / unit
    if "agree" in theirs:
        split.score, split.adjusted = theirs["agree"], theirs["adj"]
    if "statistic" in theirs:
        split.statistic, split.log_p = theirs["statistic"], theirs["log_p"] if theirs["log_p"] is not None else -800.0
        split.degrees = theirs["dof"][0] if isinstance(theirs["dof"], list) else theirs["dof"]
        split.log_multiplier = math.log(theirs["multiplier"])
    return split


def stand_in_node(theirs: dict[str, Any], above: dict[str, Any] | None, golden: dict[str, Any]) -> SimpleNamespace:
    node = SimpleNamespace(
        is_leaf="split" not in theirs, children=(), rivals=(), surrogates=(), stop="split", mean=None
    )
    if "dist" in theirs:
        node.counts, node.weight = tuple(theirs["dist"]), sum(theirs["dist"])
        node.prediction = class_of(theirs, above)
        node.probabilities = tuple(shares_of(theirs, above, golden["program"]))
        node.rows, node.impurity = 0 if theirs.get("empty") else math.ceil(node.weight), 0.5
    else:
        squares = theirs["dev"] if "dev" in theirs else theirs["sd"] ** 2 * (theirs["n"] - 1)
        node.rows = node.weight = theirs["n"]
        node.mean, node.impurity = theirs["mean"], squares / theirs["n"]
    if "stop" in theirs:
        node.stop = golden_compare.CHAID_STOPS[theirs["stop"]]
    if not node.is_leaf:
        split = theirs["split"]
        node.split = stand_in_split(split, golden, node)
        used = golden["options"]["control"]["usesurrogate"] if golden["program"] == "rpart" else 0
        if used:
            node.surrogates = tuple(stand_in_split(other, golden, node) for other in split.get("surrogates", []))
        first, *others = (sum(child["dist"]) if "dist" in child else child["n"] for child in theirs["children"])
        if used == 2 and first != others[0]:
            node.split.missing = 1 if first > others[0] else 0
    return node


def stand_in(golden: dict[str, Any]) -> SimpleNamespace:
    """The whole tree; nodes are looked up by number."""
    nodes: list[SimpleNamespace] = []

    def add(theirs: dict[str, Any], above: dict[str, Any] | None) -> int:
        place = len(nodes)
        nodes.append(stand_in_node(theirs, above, golden))
        nodes[place].children = tuple(reversed([add(child, theirs) for child in theirs.get("children", [])]))
        return place

    add(golden["tree"], None)
    root = nodes[0]
    if golden["program"] == "rpart" and not root.is_leaf:
        root.rivals = tuple(stand_in_split(other, golden, root) for other in golden["root"]["competitors"])
        root.surrogates = tuple(stand_in_split(other, golden, root) for other in golden["root"]["surrogates"])
    if golden["program"] == "chaidr":
        beaten = [other for other in golden["candidates"] if root.is_leaf or other["column"] != root.split.column]
        root.rivals = tuple(stand_in_split(other, golden, root) for other in beaten)

    class Nodes(SimpleNamespace):
        def __getitem__(self, place: int) -> SimpleNamespace:
            return nodes[place]

    target = SimpleNamespace(classes=range(len(golden["tree"].get("dist", ()))))  # classes are called by their places
    return Nodes(root=root, n_nodes=len(nodes), nodes=nodes, schema=SimpleNamespace(target=target))


# --- seeded differences -----------------------------------------------------------------------------------------------


def inner(tree: Any, having: str = "column", last: bool = False) -> SimpleNamespace:
    """A node with a split that has a certain property: the first, or the one furthest from the root."""
    found = [node for node in tree.nodes if not node.is_leaf and getattr(node.split, having)]
    return found[-1] if last else found[0]


def other_column(tree: Any) -> None:
    inner(tree, last=True).split.column = "another"


def moved_cut(tree: Any) -> None:
    split = inner(tree, "threshold").split
    split.threshold = math.nextafter(math.nextafter(split.threshold * (1 + 2e-12), math.inf), math.inf)


def other_test(tree: Any) -> None:
    split = inner(tree, "threshold").split
    split.test = "<" if split.test == "<=" else "<="


def turned_cut(tree: Any) -> None:
    node = next(n for n in tree.nodes if not n.is_leaf and n.split.threshold and n.children)
    node.children = tuple(reversed(node.children))


def moved_level(tree: Any) -> None:
    split = inner(tree, "groups", last=True).split
    from_place = next(place for place, levels in enumerate(split.groups) if levels)
    groups = [list(levels) for levels in split.groups]
    groups[from_place - 1].append(groups[from_place].pop())
    split.groups = tuple(tuple(levels) for levels in groups)


def moved_bin(tree: Any) -> None:
    split = next(n.split for n in tree.nodes if not n.is_leaf and len(n.split.breaks) > 1)
    split.child_of_bin = (1 - min(1, split.child_of_bin[0]), *split.child_of_bin[1:])


def moved_end(tree: Any) -> None:
    split = next(n.split for n in tree.nodes if not n.is_leaf and len(n.split.breaks) > 1)
    split.breaks = (split.breaks[0] - 0.001, *split.breaks[1:])


def other_count(tree: Any) -> None:
    node = tree.nodes[-1]
    node.counts = (node.counts[0] + 0.001, *node.counts[1:])


def other_rows(tree: Any) -> None:
    tree.nodes[-1].rows += 1


def other_mean(tree: Any) -> None:
    tree.nodes[-1].mean += 1e-6


def other_answer(tree: Any) -> None:
    node = next(node for node in reversed(tree.nodes) if node.is_leaf and node.rows)
    node.prediction = 1 - min(1, node.prediction)


def other_inner_answer(tree: Any) -> None:
    node = inner(tree, last=True)
    node.prediction = 1 - min(1, node.prediction)


def other_probabilities(tree: Any) -> None:
    node = inner(tree, last=True)
    node.probabilities = (node.probabilities[0] + 1e-4, *node.probabilities[1:])


def other_empty_answer(tree: Any) -> None:
    node = next(node for node in tree.nodes if node.rows == 0)
    node.prediction = 1 - min(1, node.prediction)


def other_empty_probabilities(tree: Any) -> None:
    node = next(node for node in tree.nodes if node.rows == 0)
    node.probabilities = tuple(reversed(node.probabilities))


def filled_empty(tree: Any) -> None:
    next(node for node in tree.nodes if node.rows == 0).rows = 1


def made_leaf(tree: Any) -> None:
    inner(tree, last=True).is_leaf = True


def made_split(tree: Any) -> None:
    leaf = next(node for node in tree.nodes if node.is_leaf)
    leaf.is_leaf, leaf.split, leaf.children = False, inner(tree).split, inner(tree).children


def one_child_more(tree: Any) -> None:
    node = inner(tree)
    node.children = (*node.children, node.children[0])


def other_missing(tree: Any) -> None:
    split = next(n.split for n in tree.nodes if not n.is_leaf and n.split.missing >= 0)
    split.missing = 1 if split.missing == 0 else 0


def stopped_missing(tree: Any) -> None:
    inner(tree).split.missing = -2 if inner(tree).split.missing >= 0 else 0


def other_gain(tree: Any) -> None:
    inner(tree, last=True).split.gain *= 1 + 1e-6


def other_ratio(tree: Any) -> None:
    inner(tree, last=True).split.score *= 1 + 1e-6


def other_shares(tree: Any) -> None:
    split = inner(tree).split
    split.share = (split.share[0] + 1e-6, *split.share[1:])


def with_surrogates(tree: Any, least: int) -> SimpleNamespace:
    return next(node for node in reversed(tree.nodes) if len(node.surrogates) >= least)


def swapped_surrogates(tree: Any) -> None:
    node = with_surrogates(tree, 2)
    node.surrogates = (node.surrogates[1], node.surrogates[0], *node.surrogates[2:])


def lost_surrogate(tree: Any) -> None:
    node = with_surrogates(tree, 1)
    node.surrogates = node.surrogates[:-1]


def turned_surrogate(tree: Any) -> None:
    surrogate = with_surrogates(tree, 1).surrogates[0]
    if surrogate.groups:
        surrogate.groups = tuple(reversed(surrogate.groups))
    else:
        surrogate.child_of_bin = tuple(reversed(surrogate.child_of_bin))


def other_agreement(tree: Any) -> None:
    with_surrogates(tree, 1).surrogates[0].score += 1e-6


def other_adjusted(tree: Any) -> None:
    with_surrogates(tree, 1).surrogates[0].adjusted += 1e-6


def lost_rival(tree: Any) -> None:
    tree.root.rivals = tree.root.rivals[:-1]


def other_rival(tree: Any) -> None:
    tree.root.rivals[0].column = "another"


def other_statistic(tree: Any) -> None:
    inner(tree, last=True).split.statistic *= 1 + 1e-6


def other_degrees(tree: Any) -> None:
    inner(tree, last=True).split.degrees += 1


def other_p(tree: Any) -> None:
    inner(tree, last=True).split.log_p *= 1 + 1e-6


def other_multiplier(tree: Any) -> None:
    inner(tree, last=True).split.log_multiplier += 1e-6


def other_candidate_p(tree: Any) -> None:
    tree.root.rivals[-1].log_p -= 1e-6


def other_stop(tree: Any) -> None:
    next(node for node in tree.nodes if node.is_leaf).stop = "leaf limit"


TREE = (other_column, made_leaf, made_split, one_child_more)
CUTS = (moved_cut, other_test, turned_cut)
RPART = (other_gain, stopped_missing, swapped_surrogates, lost_surrogate, turned_surrogate, other_agreement)
RPART += (other_adjusted, lost_rival, other_rival)
TESTS = (other_statistic, other_degrees, other_p, other_multiplier, other_candidate_p, other_stop, other_missing)
CLASSES = (other_count, other_answer, other_inner_answer, other_probabilities)
EMPTY = (filled_empty, other_empty_answer, other_empty_probabilities)
SEEDS = {
    "Id3": (*TREE, *CLASSES, *EMPTY, moved_level),
    "C4.5": (*TREE, *CLASSES, *EMPTY, *CUTS, moved_level),
    "C4.5 subset": (*TREE, *CLASSES, moved_level),
    "J48": (*TREE, *CLASSES, *EMPTY, *CUTS, moved_level, other_gain, other_ratio, other_shares),
    "J48 binary": (*TREE, *CLASSES, moved_level, other_gain, other_ratio, other_shares),
    "rpart class": (*TREE, *CLASSES, *CUTS, *RPART),
    "rpart information": (*TREE, *CLASSES, *RPART, moved_level),
    "rpart stop": (*TREE, *CLASSES, *RPART, moved_level),
    "rpart anova": (*TREE, *CUTS, *RPART, moved_level, other_rows, other_mean),
    "chaid class": (*TREE, *CLASSES, *TESTS, moved_bin, moved_end),
    "chaid nominal": (*TREE, *CLASSES, *TESTS, moved_level),
    "chaid F": (*TREE, *TESTS, moved_level, moved_bin, moved_end, other_rows, other_mean),
}


def every_golden() -> list[tuple[str, str]]:
    found = []
    for path in sorted(GOLDENS.glob("*.json")):
        whole = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(whole, dict):
            found += [(path.stem, name) for name in whole["goldens"] if not name.startswith("sklearn.")]
    return found


@pytest.mark.parametrize(("data_set", "name"), every_golden())
def test_a_golden_equals_itself(data_set: str, name: str) -> None:
    golden = load(data_set, name)
    weights = [1.0] * len(golden["tree"]["dist"]) if "dist" in golden["tree"] else None
    tree = stand_in(golden)
    found = golden_compare.tree_differences(tree, golden, weights)
    priors = "-prior" in name or "-loss" in name  # there `dev` is in other units than the counts of the stand-in
    assert [str(difference) for difference in found if not (priors and difference.what == "dev")] == []


@pytest.mark.parametrize(
    ("example", "seed"),
    [(example, seed) for example, seeds in SEEDS.items() for seed in seeds],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_a_seeded_difference_is_found(example: str, seed: Any) -> None:
    golden = load(*EXAMPLES[example])
    tree = stand_in(golden)
    assert golden_compare.tree_differences(tree, golden) == []
    seed(tree)
    assert golden_compare.tree_differences(tree, golden) != []


@pytest.mark.parametrize("numeric", [False, True])
def test_known_values_on_one_side_and_missing_ones_on_the_other(numeric: bool) -> None:
    """CHAID may find nothing but that a value is missing; a split of numbers has no break then."""
    ends = [1.0, 2.0, 3.0]
    parts = {"bins": [[1, 2, 3], []]} if numeric else {"groups": [["a", "b"], []]}
    theirs = {"column": "x", "missing": 1, "missing_how": "trained", **parts}
    split = SimpleNamespace(column="x", threshold=None, groups=None, breaks=(), child_of_bin=(1,), test="<=", missing=0)
    if not numeric:
        split.groups, split.child_of_bin = ((), ("a", "b")), (1, 1)
    close = golden_compare.Closeness()
    assert golden_compare.match(split, theirs, close, {"x": ends}) == ([1, 0], [])
    split.missing = 1  # missing values with the known ones
    found, wrong = golden_compare.match(split, theirs, close, {"x": ends})
    assert found is None
    assert wrong


def test_levels_absent_from_the_golden_may_lie_anywhere() -> None:
    golden = load("soybean", "rpart.gini.full.us2")
    tree = stand_in(golden)
    for node in tree.nodes:
        if not node.is_leaf and node.split.groups:
            node.split.groups = (("never seen", *node.split.groups[0]), *node.split.groups[1:])
    assert golden_compare.tree_differences(tree, golden) == []


def test_another_prediction_is_found() -> None:
    golden = load("iris", "c45.default.unpruned")
    classes = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
    predictions = [classes[place] for place in golden["predictions"]]
    assert golden_compare.prediction_differences(predictions, golden, classes) == []
    predictions[7] = classes[2]
    (found,) = golden_compare.prediction_differences(predictions, golden, classes)
    assert found.theirs == [(7, classes[2], classes[0])]
    assert found.place == "predictions: rows 7"  # an exception names every row
    numbers = load("boston-housing", "rpart.anova.default.us2")
    predictions = copy.copy(numbers["predictions"])
    assert golden_compare.prediction_differences(predictions, numbers, None) == []
    predictions[0] *= 1 + 1e-8
    assert len(golden_compare.prediction_differences(predictions, numbers, None)) == 1


@pytest.mark.skipif(not MAKE["ORACLES"].exists(), reason="the oracles lie beside the repository only where it is built")
def test_the_committed_goldens_are_what_make_makes() -> None:
    made = MAKE["made"]()
    committed = {path.name for path in GOLDENS.glob("*.json")} - {"exceptions.json"}
    assert committed == set(made)
    assert [name for name, text in made.items() if (GOLDENS / name).read_text(encoding="utf-8") != text] == []
