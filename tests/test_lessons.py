"""The worked examples, to the digit: the library computes each number that the lessons print.

An expected number is either the one printed in the lesson or is worked out beside the assertion by plain arithmetic,
without the library.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import log2, sqrt
from typing import Any

import pytest
from unpruned import C45, CART

import treewright as tw
from treewright import criteria
from treewright.lessons.tables import BUYS, CRICKET, GOLF, HUMIDITY, TENNIS, TRADING, Columns, noisy

#: The textbook's greedy tree with nothing in its way, whatever the criterion.
PLAIN = replace(tw.ID3, name="PLAIN", numeric=tw.numeric.Threshold(), regression=tw.criterion.Variance())


def gains(node: Any) -> dict[str, float]:
    """The gain of every column at a node, best first, as the lessons print them."""
    return {split.column: round(split.gain, 4) for split in (node.split, *node.rivals)}


def scores(node: Any) -> dict[str, float]:
    return {split.column: round(split.score, 4) for split in (node.split, *node.rivals)}


def child(tree: tw.Tree, level: str) -> Any:
    """The root's child for a level."""
    (place,) = [i for i, group in enumerate(tree.root.split.groups) if level in group]
    return tree[tree.root.children[place]]


def entropy(*counts: float) -> float:
    """In bits, by the formula alone."""
    return -sum(count / sum(counts) * log2(count / sum(counts)) for count in counts if count)


# --- tennis -----------------------------------------------------------------------------------------------------------


def test_tennis_first_question() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    assert tree.root.counts == (5.0, 9.0)
    assert tree.schema.target.classes == ("No", "Yes")
    assert round(tree.root.impurity, 4) == round(criteria.entropy([9, 5]), 4) == 0.9403
    assert gains(tree.root) == {"Outlook": 0.2467, "Humidity": 0.1518, "Wind": 0.0481, "Temperature": 0.0292}
    assert tree.root.split.column == "Outlook"
    assert round(tree.root.gain, 4) == 0.2467


def test_tennis_gain_ratio() -> None:
    ratio = replace(
        C45, criterion=tw.criterion.GainRatio(average_rule=False), stopping=tw.stopping.Stopping(), simplify=None
    )
    root = tw.learn(TENNIS, "Play", ratio).root
    assert scores(root) == {"Outlook": 0.1564, "Humidity": 0.1518, "Wind": 0.0488, "Temperature": 0.0188}
    assert gains(root) == {"Outlook": 0.2467, "Humidity": 0.1518, "Wind": 0.0481, "Temperature": 0.0292}


def test_tennis_under_sunny_and_overcast() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    sunny, overcast = child(tree, "Sunny"), child(tree, "Overcast")
    assert sunny.counts == (3.0, 2.0)
    assert round(sunny.impurity, 4) == 0.9710
    # Outlook itself is among the columns, but under Sunny it has one value left and cannot be asked again.
    assert gains(sunny) == {"Humidity": 0.9710, "Temperature": 0.5710, "Wind": 0.0200}
    assert (overcast.stop, overcast.prediction, overcast.counts) == ("pure", "Yes", (0.0, 4.0))


def test_tennis_every_row_is_classified_correctly() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    assert tw.predict(tree, TENNIS).tolist() == TENNIS["Play"]
    assert {leaf.stop for leaf in tree.walk() if leaf.is_leaf} == {"pure", "empty"}


def test_tennis_with_the_documents_slip() -> None:
    """The document prints Cold for D9, but then Temperature would gain 0.0642 and not the 0.029 it prints."""
    cold = [("Cold" if day == 9 else value) for day, value in enumerate(TENNIS["Temperature"], 1)]
    assert gains(tw.learn({**TENNIS, "Temperature": cold}, "Play", tw.ID3).root)["Temperature"] == 0.0642


def test_tennis_in_mitchells_book_has_the_same_gains() -> None:
    tree = tw.learn({**TENNIS, "Wind": GOLF["Wind"]}, "Play", tw.ID3)
    assert gains(tree.root) == {"Outlook": 0.2467, "Humidity": 0.1518, "Wind": 0.0481, "Temperature": 0.0292}
    assert (tree.n_leaves, tree.depth) == (5, 2)


# --- humidity ---------------------------------------------------------------------------------------------------------


def cuts() -> dict[int, list[list[int]]]:
    """[yes, no] below and above each possible cut; the key is the value the cut comes after."""
    pairs = list(zip(HUMIDITY["Humidity"], HUMIDITY["Play"], strict=True))

    def count(keep: Callable[[int], bool]) -> list[int]:
        return [sum(keep(value) and play == label for value, play in pairs) for label in "yn"]

    return {
        value: [count(lambda v, cut=value: v <= cut), count(lambda v, cut=value: v > cut)]
        for value in sorted(set(HUMIDITY["Humidity"]))[:-1]
    }


def test_humidity_gains() -> None:
    after = {value: criteria.information_gain(children) for value, children in cuts().items()}
    assert round(after[62], 4) == 0.3949
    assert round(after[89], 4) == 0.6053
    assert max(after, key=after.__getitem__) == 89
    whole = criteria.entropy([9, 5])
    assert (round(whole - after[62], 4), round(whole - after[89], 4)) == (0.5454, 0.3350)


def test_humidity_the_tree_agrees_with_the_formula() -> None:
    """The cut after 62 as a question of its own, so that it stands among the rivals."""
    extended = {**HUMIDITY, "up to 62": [value <= 62 for value in HUMIDITY["Humidity"]]}
    root = tw.learn(extended, "Play", PLAIN).root
    assert gains(root) == {"Humidity": 0.6053, "up to 62": 0.3949}


def test_humidity_cart_stores_the_midpoint() -> None:
    tree = tw.learn(HUMIDITY, "Play", CART)
    assert (tree.root.split.threshold, tree.root.split.test) == (89.5, "<=")
    by_entropy = tw.learn(HUMIDITY, "Play", replace(CART, criterion=tw.criterion.InformationGain()))
    assert (by_entropy.root.split.threshold, round(by_entropy.root.gain, 4)) == (89.5, 0.6053)


def test_humidity_c45_stores_an_observed_value() -> None:
    # C4.5's minimum sizes allow this cut; its own gain has log2(8 cuts allowed) / 14 taken off (Release 8).
    quinlan = tw.learn(HUMIDITY, "Play", C45).root
    assert quinlan.split.threshold == 89
    allowed = sum(all(sum(side) >= 2 for side in children) for children in cuts().values())
    assert allowed == 8
    assert quinlan.gain == pytest.approx(criteria.information_gain(cuts()[89]) - log2(allowed) / 14)
    # Without penalty and minimum the gain is the lesson's.
    bare = replace(C45, numeric=tw.numeric.Threshold(at="observed"), stopping=tw.stopping.Stopping(), simplify=None)
    root = tw.learn(HUMIDITY, "Play", bare).root
    assert (root.split.threshold, round(root.gain, 4)) == (89, 0.6053)


def test_humidity_only_class_boundaries_can_win() -> None:
    """A cut between two values that hold one and the same class always has a better one beside it."""
    classes = {
        value: {play for v, play in zip(HUMIDITY["Humidity"], HUMIDITY["Play"], strict=True) if v == value}
        for value in HUMIDITY["Humidity"]
    }
    values = sorted(classes)
    boundaries = {low for low, high in pairwise(values) if len(classes[low] | classes[high]) > 1}
    assert boundaries == {62, 63, 89}
    after = {value: criteria.information_gain(children) for value, children in cuts().items()}
    for value in after.keys() - boundaries:
        assert after[value] < max(after[boundary] for boundary in boundaries)


@pytest.mark.parametrize("seed", range(5))
def test_fayyad_and_irani_on_shuffled_classes(seed: int) -> None:
    play = random.Random(seed).sample(HUMIDITY["Play"], 14)
    threshold = tw.learn({**HUMIDITY, "Play": play}, "Play", PLAIN).root.split.threshold
    low = max(value for value in HUMIDITY["Humidity"] if value < threshold)
    high = min(value for value in HUMIDITY["Humidity"] if value > threshold)
    beside = {label for value, label in zip(HUMIDITY["Humidity"], play, strict=True) if value in (low, high)}
    assert threshold == (low + high) / 2
    assert beside == {"y", "n"}


# --- trading, buys, codes ---------------------------------------------------------------------------------------------


def test_trading_weighted_gini() -> None:
    root = tw.learn(TRADING, "Return", CART).root
    after = {split.column: round(root.impurity - split.gain, 4) for split in (root.split, *root.rivals)}
    assert after == {"Past Trend": 0.2667, "Trading Volume": 0.3429, "Open Interest": 0.4667}
    assert root.split.column == "Past Trend"


def test_buys() -> None:
    root = tw.learn(BUYS, "Buys", tw.ID3).root
    assert round(root.impurity, 4) == 0.9183
    assert gains(root) == {"Age": 0.5577, "Income": 0.1678}
    # By ratio, C4.5's own comparison, Age wins all the more: its two groups are cheaper to tell than three.
    ratio = replace(C45, stopping=tw.stopping.Stopping(), simplify=None)
    assert tw.learn(BUYS, "Buys", ratio).root.split.column == "Age"


def test_codes() -> None:
    assert criteria.entropy([1 / 4] * 4) == 2
    assert criteria.entropy([1 / 2, 1 / 4, 1 / 8, 1 / 8]) == 1.75
    assert criteria.entropy([0.5, 0.5]) == 1
    assert round(criteria.entropy([0.2, 0.8]), 4) == 0.7219
    assert round(criteria.gini([0.4, 0.3, 0.2, 0.1]), 12) == 0.7


# --- cricket ----------------------------------------------------------------------------------------------------------

CRICKET_NUMBERS = {
    "entropy": (tw.criterion.InformationGain(), 1.0000, 0.8634, 0.9871),
    "gini": (tw.criterion.Gini(), 0.5000, 0.4100, 0.4911),
    "misclassification": (tw.criterion.Misclassification(), 0.5000, 0.3000, 0.4333),
    "variance": (tw.criterion.Variance(), 0.2500, 0.2050, 0.2455),
}


@pytest.mark.parametrize("name", CRICKET_NUMBERS)
def test_cricket(name: str) -> None:
    criterion, before, after_gender, after_class = CRICKET_NUMBERS[name]
    numeric = criterion.task == "regression"
    table = {**CRICKET, "Plays": [int(plays == "yes") for plays in CRICKET["Plays"]]} if numeric else CRICKET
    recipe = replace(PLAIN, **{"regression" if numeric else "criterion": criterion})
    root = tw.learn(table, "Plays", recipe, task=criterion.task).root
    after = {split.column: round(root.impurity - split.gain, 4) for split in (root.split, *root.rivals)}
    assert round(root.impurity, 4) == before
    assert after == {"Gender": after_gender, "Class": after_class}
    assert root.split.column == "Gender"


def test_cricket_the_slides_gini_is_the_sum_of_squares() -> None:
    after_gender = criteria.gini([15, 15]) - criteria.gini_gain([[2, 8], [13, 7]])
    after_class = criteria.gini([15, 15]) - criteria.gini_gain([[6, 8], [9, 7]])
    assert (round(1 - after_gender, 2), round(1 - after_class, 2)) == (0.59, 0.51)


# --- golf-hours -------------------------------------------------------------------------------------------------------


def hours_by(column: str) -> list[list[int]]:
    """The hours of each level."""
    pairs = list(zip(GOLF[column], GOLF["Hours"], strict=True))
    return [[hours for level, hours in pairs if level == wanted] for wanted in sorted(set(GOLF[column]))]


def reduction(spread: Callable[[Sequence[int]], Any], column: str) -> float:
    """The spread of all hours minus the weighted spread of the groups."""
    groups = hours_by(column)
    return float(spread(GOLF["Hours"]) - sum(Fraction(len(group), 14) * spread(group) for group in groups))


def variance(values: Sequence[int]) -> Fraction:
    mean = Fraction(sum(values), len(values))
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


def absolute_error(values: Sequence[int]) -> Fraction:
    median = statistics.median_low(values)
    return Fraction(sum(abs(value - median) for value in values), len(values))


def golf(criterion: Any) -> Any:
    return tw.learn(GOLF, "Hours", replace(PLAIN, regression=criterion)).root


def test_golf_by_standard_deviation() -> None:
    root = golf(tw.criterion.StandardDeviation())
    assert round(root.impurity, 4) == round(root.deviation, 4) == 9.3211
    assert gains(root) == {"Outlook": 1.6622, "Temperature": 0.4797, "Wind": 0.2821, "Humidity": 0.2723}
    assert root.impurity == pytest.approx(sqrt(variance(GOLF["Hours"])))


def test_golf_by_variance() -> None:
    root = golf(tw.criterion.Variance())
    assert root.impurity == pytest.approx(float(variance(GOLF["Hours"])))
    for split in (root.split, *root.rivals):
        assert split.gain == pytest.approx(reduction(variance, split.column))
        assert criteria.variance_reduction(hours_by(split.column)) == pytest.approx(split.gain)
    assert root.split.column == "Outlook"
    assert len(root.rivals) == 3


def test_golf_by_absolute_error() -> None:
    root = golf(tw.criterion.AbsoluteError())
    assert root.impurity == pytest.approx(float(absolute_error(GOLF["Hours"])))
    for split in (root.split, *root.rivals):
        assert split.gain == pytest.approx(reduction(absolute_error, split.column))
        assert criteria.absolute_error_reduction(hours_by(split.column)) == pytest.approx(split.gain)
    assert root.split.column == max(GOLF.keys() - {"Hours"}, key=lambda name: reduction(absolute_error, name))
    assert root.prediction == statistics.median_low(GOLF["Hours"])  # leaves, and this node too, answer the median


# --- missing ----------------------------------------------------------------------------------------------------------

#: D5 (Rain Cool Normal Weak Yes) with its Outlook unknown. Known are 13 rows: Sunny [2+, 3-], Overcast [4+, 0-], Rain
#: [2+, 2-], so the shares are 5/13, 4/13, 4/13.
UNKNOWN: Columns = {**TENNIS, "Outlook": [None if day == 5 else o for day, o in enumerate(TENNIS["Outlook"], 1)]}
#: The question: two days without Outlook, D5 itself and one as dreary as can be.
ASKED: Columns = {
    "Outlook": [None, None],
    "Temperature": ["Cool", "Mild"],
    "Humidity": ["Normal", "High"],
    "Wind": ["Weak", "Strong"],
}


def chances(missing: Any, max_depth: int | None = None, seed: int = 0) -> list[float]:
    """The chance of Yes for each day asked about."""
    recipe = replace(tw.ID3, missing=missing, stopping=tw.stopping.Stopping(max_depth=max_depth), seed=seed)
    tree = tw.learn(UNKNOWN, "Play", recipe)
    assert tree.root.split.column == "Outlook"
    assert tree.root.counts == (5.0, 9.0)  # D5 is a row of the root, whatever happens to it below
    return tw.predict_proba(tree, ASKED)[:, 1].tolist()


@pytest.mark.parametrize("missing", ["ignore", "majority", "fractional", "random"])
def test_missing_known_rows_alone_are_scored(missing: str) -> None:
    # The gain on the 13 known rows, discounted because the question has an answer for 13 of 14 only.
    root = tw.learn(UNKNOWN, "Play", replace(tw.ID3, missing=missing)).root
    known = entropy(8, 5) - 5 / 13 * entropy(2, 3) - 4 / 13 * entropy(4, 0) - 4 / 13 * entropy(2, 2)
    assert root.gain == pytest.approx(13 / 14 * known)
    assert root.split.share == pytest.approx((4 / 13, 4 / 13, 5 / 13))  # Overcast, Rain, Sunny


def test_missing_ignored() -> None:
    # D5 stays behind at the root, and so does a later row: the root's own 9 of 14 is the answer.
    assert chances(tw.missing.Ignore()) == pytest.approx([9 / 14] * 2)


def test_missing_as_a_category_of_its_own() -> None:
    # "?" is a fourth level, and its one training row is D5, a Yes.
    assert chances(tw.missing.OwnCategory()) == [1, 1]
    root = tw.learn(UNKNOWN, "Play", replace(tw.ID3, missing=tw.missing.OwnCategory())).root
    after = 5 / 14 * entropy(2, 3) + 4 / 14 * entropy(4, 0) + 4 / 14 * entropy(2, 2) + 1 / 14 * entropy(1, 0)
    assert root.gain == pytest.approx(entropy(9, 5) - after)
    assert root.split.n_children == 4


def test_missing_to_the_majority_child() -> None:
    # Sunny holds most known rows, 5 of 13. With D5 it is [3+, 3-].
    assert chances(tw.missing.MajorityChild(), max_depth=1) == pytest.approx([3 / 6] * 2)
    # Below, Sunny asks for Humidity: Normal is then always Yes, High always No.
    assert chances(tw.missing.MajorityChild()) == [1, 0]


def test_missing_to_all_children_with_shares() -> None:
    # D5 counts 5/13 in Sunny, 4/13 in Overcast and in Rain, always as a Yes. A row without Outlook goes down all three
    # with the same shares, and its chances are added up.
    sunny, other = Fraction(5, 13), Fraction(4, 13)
    by_child = [
        sunny * (2 + sunny) / (5 + sunny),
        other * (4 + other) / (4 + other),
        other * (2 + other) / (4 + other),
    ]
    assert sum(by_child) == Fraction(9, 14)  # nothing was asked, so nothing was learned: it is the root's own answer
    assert chances(tw.missing.Fractional(), max_depth=1) == pytest.approx([9 / 14] * 2)
    # Below, the first day is a Yes on every path: Sunny by its Normal humidity, Rain by its Weak wind. The other is a
    # Yes in Overcast alone: Sunny and High is No, Rain and Strong and Mild and High is No.
    assert chances(tw.missing.Fractional()) == pytest.approx([1, float(other)])


def test_missing_to_a_random_child() -> None:
    # The answer of one child, with D5 in one of them. D5 itself is drawn as in training, so it finds itself there:
    # Sunny [3+, 3-], Overcast [5+, 0-] or Rain [3+, 2-].
    drawn = [chances(tw.missing.RandomChild(), max_depth=1, seed=seed) for seed in range(300)]
    own = [round(first, 9) for first, _ in drawn]
    assert {0.5: "Sunny", 1.0: "Overcast", 0.6: "Rain"}.keys() == set(own)
    # Over many seeds the children are drawn by their shares; three standard deviations of 300 draws are 0.085.
    for label, share in ((0.5, 5 / 13), (1.0, 4 / 13), (0.6, 4 / 13)):
        assert own.count(label) / 300 == pytest.approx(share, abs=0.085)
    # The other day is another draw: Sunny [2+, 3-] or [3+, 3-], Rain [2+, 2-] or [3+, 2-], Overcast.
    assert {round(second, 9) for _, second in drawn} == {0.4, 0.5, 0.6, 1.0}
    assert chances(tw.missing.RandomChild(), seed=7) == chances(tw.missing.RandomChild(), seed=7)


# --- overfitting ------------------------------------------------------------------------------------------------------

SEEN, UNSEEN = noisy(600, seed=1), noisy(5000, seed=2)
GROWN = replace(tw.CART, pruning=None)


def right(tree: tw.Tree, table: Columns) -> float:
    """The share of rows answered rightly; 0.85 is the best anyone could do on rows not seen."""
    answers = tw.predict(tree, table).tolist()
    return round(sum(a == b for a, b in zip(answers, table["side"], strict=True)) / len(answers), 3)


def test_overfitting_the_larger_tree_knows_its_rows_better_and_others_worse() -> None:
    whole = tw.learn(SEEN, "side", GROWN)
    trees = [tw.prune(whole, tw.pruning.MaxLeaves(leaves)) for leaves in (1, 2, 4, 8, 24, 48, 64, 96, 127)]
    assert [tree.n_leaves for tree in trees] == [1, 2, 4, 8, 24, 48, 64, 96, whole.n_leaves]
    assert [right(tree, SEEN) for tree in trees] == [0.5, 0.71, 0.755, 0.822, 0.862, 0.905, 0.93, 0.973, 1.0]
    assert [right(tree, UNSEEN) for tree in trees] == [0.494, 0.682, 0.748, 0.791, 0.794, 0.778, 0.745, 0.719, 0.709]


@pytest.mark.parametrize(
    ("method", "leaves", "seen", "unseen"),
    [
        ({"max_depth": 4}, 15, 0.828, 0.786),
        ({"min_samples_leaf": 20}, 22, 0.81, 0.785),
        ({"min_impurity_decrease": 0.005}, 10, 0.827, 0.788),
        ({"significance": 0.001}, 10, 0.827, 0.788),
        (tw.pruning.ImpurityThresholdCV(), 16, 0.845, 0.801),
        (tw.pruning.ReducedError(), 16, 0.843, 0.805),
        (tw.pruning.CostComplexityCV(rule="1se"), 7, 0.81, 0.785),
        (tw.pruning.CostComplexityCV(rule="min"), 27, 0.873, 0.796),
        (tw.pruning.ErrorBased(), 45, 0.905, 0.783),
        (tw.pruning.Pessimistic(), 54, 0.915, 0.756),
        (tw.pruning.MinimumError(m=20.0), 22, 0.86, 0.789),
        (tw.pruning.MinimumDescription(), 5, 0.773, 0.762),
    ],
    ids=str,
)
def test_overfitting_every_method_gives_up_seen_rows_for_unseen_ones(
    method: Any, leaves: int, seen: float, unseen: float
) -> None:
    """Unpruned: 127 leaves, every row seen is right, of the others 0.709."""
    if isinstance(method, dict):
        recipe = replace(GROWN, stopping=replace(GROWN.stopping, **method))
    else:
        recipe = replace(GROWN, pruning=method)
    tree = tw.learn(SEEN, "side", recipe)
    assert (tree.n_leaves, right(tree, SEEN), right(tree, UNSEEN)) == (leaves, seen, unseen)
