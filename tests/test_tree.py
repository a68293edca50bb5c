"""The Tree value: reading it, comparing it, refusing what is no tree."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import random
import time

import numpy as np
import pytest
from handmade_trees import (
    HOURS,
    TENNIS,
    Question,
    arrays,
    fork,
    hours,
    leaf,
    random_tree,
    tennis,
    tennis_plan,
    tree,
)

from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import FileError
from treewright.recipes.named import C45, CART, CHAID
from treewright.recipes.recipe import Custom
from treewright.tree.split import Split
from treewright.tree.tree import Tree
from treewright.tree.validation import NODE_ARRAYS, SPLIT_ARRAYS, check

# --- reading ----------------------------------------------------------------------------------------------------------


def test_the_tree_tells_its_size() -> None:
    t = tennis()
    assert (t.n_nodes, len(t), t.n_leaves, t.depth) == (8, 8, 5, 2)
    assert t.schema is TENNIS
    assert t.recipe is C45


def test_walk_is_depth_first_and_ids_are_places() -> None:
    t = tennis()
    assert [node.id for node in t.walk()] == list(range(8))
    assert [node.id for node in t] == list(range(8))
    assert [node.depth for node in t.walk()] == [0, 1, 2, 2, 1, 1, 2, 2]
    assert [node.parent for node in t.walk()] == [None, 0, 1, 1, 0, 0, 5, 5]
    assert t.root.children == (1, 4, 5)
    assert t[np.int64(5)].children == (6, 7)
    for wrong in (-1, 8):
        with pytest.raises(IndexError, match="nodes 0 to 7"):
            t[wrong]


def test_a_class_node() -> None:
    node = tennis()[1]
    assert (node.rows, node.weight, node.counts, node.mean, node.deviation) == (5, 5.0, (3.0, 2.0), None, None)
    assert node.prediction == "no"
    assert node.probabilities == (0.6, 0.4)
    assert (node.is_leaf, node.stop) == (False, None)
    assert (tennis()[2].is_leaf, tennis()[2].stop, tennis()[2].split) == (True, "pure", None)
    assert (node.impurity, node.gain) == (0.5, 0.25)
    assert repr(node) == "<Node 1: splits on 'humidity', 5 rows, depth 1>"
    assert repr(tennis()[2]) == "<Node 2: predicts 'yes', 2 rows, depth 2>"


def test_the_first_of_equal_classes_is_predicted() -> None:
    assert tree(leaf(3, 3)).root.prediction == "no"


def test_a_number_node() -> None:
    node = hours()[1]
    assert (node.counts, node.probabilities, node.mean, node.prediction) == (None, None, 44.25, 44.25)
    assert node.deviation == pytest.approx((210.5 / 9) ** 0.5)


def test_own_split_surrogates_and_rivals_are_distinguished() -> None:
    surrogate = Question(0, (0, 1, -1), score=0.9, adjusted=0.4)
    rival = Question(2, share=(0.5, 0.5), score=0.1)
    t = tree(fork(Question(1, (0, 1), (77.5,)), leaf(1, 0), leaf(0, 1), surrogates=(surrogate,), rivals=(rival,)))
    root = t.root
    assert root.split is not None
    assert root.split.column == "humidity"
    assert (root.split.agreement, root.split.adjusted) == (None, None)
    assert [s.column for s in root.surrogates] == ["outlook"]
    assert (root.surrogates[0].agreement, root.surrogates[0].adjusted) == (0.9, 0.4)
    assert [s.column for s in root.rivals] == ["windy"]
    assert (t[1].surrogates, t[1].rivals) == ((), ())


def test_a_pruned_leaf_may_keep_rivals() -> None:
    plan = leaf(3, 2, stop=10)
    plan.rivals = (Question(2, share=(0.5, 0.5)),)
    root = tree(plan).root
    assert root.split is None
    assert [s.column for s in root.rivals] == ["windy"]


def question(*, column: int = 1, schema: Schema = TENNIS, **settings: object) -> Split:
    """The split of a tree whose root asks the question."""
    q = Question(column, **settings)
    fan = len(q.share) if q.share else max(2, max(q.child_of_bin) + 1, q.missing + 1)
    split = tree(fork(q, *[leaf(i, 1) for i in range(fan)]), schema).root.split
    assert split is not None
    return split


@pytest.mark.parametrize(
    ("settings", "conditions"),
    [
        ({"breaks": (2.45,)}, ("humidity <= 2.45", "humidity > 2.45")),
        ({"breaks": (2.45,), "closed": 0}, ("humidity < 2.45", "humidity >= 2.45")),
        ({"breaks": (2.45,), "missing": 1}, ("humidity <= 2.45", "humidity > 2.45 or missing")),
        (
            {"breaks": (2.0, 5.0), "child_of_bin": (0, 1, 2)},
            ("humidity <= 2", "2 < humidity <= 5", "humidity > 5"),
        ),
        (
            {"breaks": (2.0, 5.0), "child_of_bin": (0, 1, 2), "closed": 0},
            ("humidity < 2", "2 <= humidity < 5", "humidity >= 5"),
        ),
        ({"breaks": (2.0, 5.0), "child_of_bin": (0, 1, 0)}, ("humidity <= 2 or humidity > 5", "2 < humidity <= 5")),
        ({"child_of_bin": (0,), "missing": 1}, ("humidity is known", "humidity is missing")),
        ({"breaks": (0.1, 0.1 + 1e-16)}, ()),
        (
            {"breaks": (1 / 3, 1 / 3 + 1e-12), "child_of_bin": (0, 1, 0)},
            (
                "humidity <= 0.3333333333333333 or humidity > 0.3333333333343333",
                "0.3333333333333333 < humidity <= 0.3333333333343333",
            ),
        ),
        ({"column": 0, "child_of_bin": (0, 1, 2)}, ("outlook = sunny", "outlook = overcast", "outlook = rain")),
        ({"column": 0, "child_of_bin": (0, 1, 0)}, ("outlook in {sunny, rain}", "outlook = overcast")),
        (
            {"column": 0, "child_of_bin": (0, 1, 0), "missing": 1},
            ("outlook in {sunny, rain}", "outlook = overcast or missing"),
        ),
        (
            {"column": 0, "child_of_bin": (0, -1, 0), "share": (0.5, 0.5)},
            ("outlook in {sunny, rain}", "no value of outlook"),
        ),
        (
            {"column": 0, "child_of_bin": (0, 1, 1), "missing": 2},
            ("outlook = sunny", "outlook in {overcast, rain}", "outlook is missing"),
        ),
        ({"column": 2}, ("windy = False", "windy = True")),
    ],
)
def test_conditions_in_words(settings: dict[str, object], conditions: tuple[str, ...]) -> None:
    if not conditions:
        with pytest.raises(FileError):  # breaks that are no different numbers
            question(**settings)
    else:
        assert question(**settings).conditions == conditions


def test_threshold_and_groups() -> None:
    cut = question(breaks=(2.45,))
    assert (cut.threshold, cut.threshold_text, cut.groups, cut.test, cut.n_children) == (2.45, "2.45", None, "<=", 2)
    several = question(breaks=(2.0, 5.0), child_of_bin=(0, 1, 2))
    assert (several.threshold, several.threshold_text, several.breaks) == (None, None, (2.0, 5.0))
    grouped = question(column=0, child_of_bin=(1, 0, 1))
    assert (grouped.threshold, grouped.groups) == (None, (("overcast",), ("sunny", "rain")))


def test_where_missing_and_unseen_go() -> None:
    ways = {0: 0, 1: 1, -1: "spread", -2: "stop", -3: "random"}
    assert {m: question(breaks=(1.0,), missing=m).missing for m in ways} == ways
    assert [question(breaks=(1.0,), unseen=u).unseen for u in (0, 1, -4)] == [0, 1, "missing"]


def test_the_test_of_a_split() -> None:
    tested = question(breaks=(1.0,), statistic=6.5, degrees=1.0, log_p=-4.0, log_multiplier=1.5)
    assert (tested.statistic, tested.degrees) == (6.5, 1.0)
    assert tested.p == pytest.approx(np.exp(-4.0))
    assert tested.p_adjusted == pytest.approx(np.exp(-2.5))
    assert question(breaks=(1.0,), degrees=1.0, log_p=-1.0, log_multiplier=5.0).p_adjusted == 1.0
    plain = question(breaks=(1.0,))
    assert (plain.statistic, plain.degrees, plain.p, plain.p_adjusted) == (None, None, None, None)


@pytest.mark.parametrize(
    ("kind", "microseconds", "closed", "text"),
    [
        ("date", 1_709_294_400e6, 1, "when <= 2024-03-01"),  # noon: the day itself
        ("date", 1_709_294_400e6, 0, "when < 2024-03-02"),
        ("datetime", 1_709_294_400e6, 1, "when <= 2024-03-01 12:00"),
        ("time", 3_661e6, 1, "when <= 01:01:01"),
        ("duration", 90_000e6, 1, "when <= 1 day 01:00:00"),
        ("date", 1e300, 1, "when <= 1e+300 microseconds after 1970-01-01"),
    ],
)
def test_times_in_words(kind: str, microseconds: float, closed: int, text: str) -> None:
    schema = Schema((ColumnSpec("when", kind),), TENNIS.target)
    split = question(column=0, schema=schema, breaks=(microseconds,), closed=closed)
    assert split.conditions[0] == text
    assert split.threshold == microseconds


def test_hostile_names_stay_on_one_line() -> None:
    schema = Schema(
        (ColumnSpec("a\nb\x1b[31m", "nominal", ("x\r", "", "p, q", " pad", 'say "hi"', 1.5)),), TENNIS.target
    )
    split = question(column=0, schema=schema, child_of_bin=(0, 0, 0, 0, 0, 1))
    assert split.conditions == (r'a\nb\x1b[31m in {x\r, "", "p, q", " pad", "say \"hi\""}', r"a\nb\x1b[31m = 1.5")


# --- being a value ----------------------------------------------------------------------------------------------------


def test_trees_compare_by_value() -> None:
    assert tennis() == tennis()
    assert hash(tennis()) == hash(tennis())
    assert tennis() != hours()
    assert tennis() != tree(tennis_plan(), recipe=CART)
    assert tennis() != "tree"
    renamed = Schema(TENNIS.columns, TargetSpec("play", "classification", ("no", "maybe")))
    assert tennis() != tree(tennis_plan(), renamed)
    other = tennis_plan()
    other.children[1].stats = (0.0, 4.000000000000001)
    assert tennis() != tree(other)
    assert len({tennis(), tennis(), hours()}) == 2


def test_equality_sees_bits_and_types() -> None:
    assert tree(fork(Question(1, breaks=(0.0,)), leaf(1, 0), leaf(0, 1))) != tree(
        fork(Question(1, breaks=(-0.0,)), leaf(1, 0), leaf(0, 1))
    )
    one, true = (Schema((), TargetSpec("y", "classification", (0, second))) for second in (1, True))
    assert tree(leaf(1, 2), one) != tree(leaf(1, 2), true)


def test_a_users_criterion_compares_by_its_name() -> None:
    def purity(parent: object, children: object) -> object: ...

    first = dataclasses.replace(CART, criterion=Custom(purity))
    purity_again = eval("lambda parent, children: None")
    purity_again.__name__ = "purity"
    second = dataclasses.replace(CART, criterion=Custom(purity_again))
    assert first != second
    assert tree(leaf(1, 2), recipe=first) == tree(leaf(1, 2), recipe=second)
    assert hash(tree(leaf(1, 2), recipe=first)) == hash(tree(leaf(1, 2), recipe=second))


def test_a_tree_does_not_change() -> None:
    given = arrays(tennis_plan(), TENNIS)
    t = Tree(given, TENNIS, C45)
    given["parent"][3] = 7
    assert t == tennis()
    with pytest.raises(ValueError, match="read-only"):
        t.arrays["parent"][3] = 7
    with pytest.raises(TypeError):
        t.arrays["parent"] = given["parent"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        t.schema = HOURS
    with pytest.raises(dataclasses.FrozenInstanceError):
        t.root.id = 3


@pytest.mark.parametrize("seed", range(20))
def test_pickle_and_copy(seed: int) -> None:
    t = random_tree(seed)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(t, protocol)) == t
    assert copy.copy(t) is t
    assert copy.deepcopy([t])[0] is t
    assert Tree.from_dict(t.as_dict()) == t


def test_keep_makes_once() -> None:
    t = tennis()
    made: list[int] = []
    for _ in range(3):
        assert t.keep("thing", lambda: made.append(1) or "made") == "made"
    assert made == [1]
    assert t == tennis()


def test_repr_is_one_line() -> None:
    assert repr(tennis()) == "<Tree 'C45' for 'play': 14 rows, 8 nodes, 5 leaves, depth 2>"
    named = Schema(TENNIS.columns, TargetSpec("a\nb", "classification", ("no", "yes")))
    assert "\n" not in repr(tree(tennis_plan(), named))


# --- refusing ---------------------------------------------------------------------------------------------------------


def spoilt(name: str, place: object, value: object) -> dict[str, np.ndarray]:
    made = arrays(tennis_plan(), TENNIS)
    made[name][place] = value
    return made


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("parent", 0, 0, r"\$\.nodes\.parent\[0\]"),
        ("parent", 3, 3, r"\$\.nodes\.parent\[3\] must be the id of an earlier node"),
        ("parent", 3, 2**31 - 1, r"\$\.nodes\.parent\[3\]"),
        ("parent", 3, -1, r"\$\.nodes\.parent\[3\]"),
        ("parent", 6, 1, r"\$\.nodes\.parent\[6\] breaks the depth-first order"),
        ("depth", 0, 1, r"\$\.nodes\.depth\[0\]"),
        ("depth", 3, 1, r"\$\.nodes\.depth\[3\] must be one more"),
        ("depth", 1, 2**31 - 1, r"\$\.nodes\.depth\[1\]"),
        ("rows", 3, -1, r"\$\.nodes\.rows\[3\] must not be negative"),
        ("weight", 3, -1.0, r"\$\.nodes\.weight\[3\] must not be negative"),
        ("weight", 3, np.nan, r"\$\.nodes\.weight\[3\] must be a finite number"),
        ("weight", 3, 99.0, r"\$\.nodes\.weight\[3\] must be what the weights in the node's stats add up to"),
        ("stats", (3, 1), -1.0, r"\$\.nodes\.stats\[3\]\[1\] must not be negative"),
        ("value", (3, 1), np.inf, r"\$\.nodes\.value\[3\]\[1\] must be a finite"),
        ("value", (3, 1), 0.5, r"\$\.nodes\.value\[3\] must have probabilities that add up to 1"),
        ("value", (3, 1), -0.5, r"\$\.nodes\.value\[3\]\[1\] must be a probability"),
        ("impurity", 2, np.nan, r"\$\.nodes\.impurity\[2\]"),
        ("gain", 2, np.inf, r"\$\.nodes\.gain\[2\]"),
        ("stop", 2, 16, r"\$\.nodes\.stop\[2\] is not a known reason"),
        ("stop", 2, 0, r"\$\.nodes\.stop\[2\] must be 0 for a node with children"),
        ("stop", 1, 1, r"\$\.nodes\.stop\[1\]"),
        ("child_start", 1, 2, r"\$\.nodes\.child_start\[1\] disagrees"),
        ("child_start", 0, 1, r"\$\.nodes\.child_start\[0\] must be 0"),
        ("child_start", 2, -(2**31), r"\$\.nodes\.child_start\[2\] is less"),
        ("child_start", 8, 3, r"\$\.nodes\.child_start\[8\]"),
        ("children", 0, 4, r"\$\.nodes\.children\[0\]"),
        ("children", 0, 0, r"\$\.nodes\.children\[0\]"),
        ("split_start", 1, 5, r"\$\.nodes\.split_start\[2\]"),
        ("split_start", 1, 0, r"\$\.nodes\.n_surrogates\[0\] leaves no room"),
        ("n_surrogates", 0, 2, r"\$\.nodes\.n_surrogates\[0\] leaves no room"),
        ("n_surrogates", 0, -1, r"\$\.nodes\.n_surrogates\[0\] must not be negative"),
        ("n_surrogates", 2, 1, r"\$\.nodes\.n_surrogates\[2\] must be 0 for a leaf"),
        ("n_surrogates", 0, 1, r"\$\.splits\.share: the shares of split 1 must be one per child"),
        ("column", 0, 3, r"\$\.splits\.column\[0\] must be 0 to 2"),
        ("column", 0, -1, r"\$\.splits\.column\[0\]"),
        ("column", 2, 0, r"\$\.splits\.column\[2\] has levels"),
        ("column", 0, 2, r"\$\.splits\.column\[0\] needs a split with one bin per level"),
        ("column", 0, 1, r"\$\.splits\.column\[0\] needs a split with one more bin"),
        ("closed", 0, 2, r"\$\.splits\.closed\[0\]"),
        ("missing", 0, -4, r"\$\.splits\.missing\[0\]"),
        ("missing", 0, 3, r"\$\.splits\.missing\[0\]"),
        ("unseen", 0, -1, r"\$\.splits\.unseen\[0\]"),
        ("unseen", 0, 3, r"\$\.splits\.unseen\[0\]"),
        ("child_of_bin", 0, 3, r"\$\.splits\.child_of_bin\[0\]"),
        ("child_of_bin", 0, -2, r"\$\.splits\.child_of_bin\[0\]"),
        ("breaks", 0, np.nan, r"\$\.splits\.breaks\[0\] must be a finite"),
        ("share", 0, 1.5, r"\$\.splits\.share\[0\]"),
        ("share", 0, -0.5, r"\$\.splits\.share\[0\]"),
        ("share", 0, 0.25, r"\$\.splits\.share: the shares of split 0 must add up to 1"),
        ("share_start", 1, 2, r"\$\.splits\.share: the shares of split 0"),
        ("degrees", 0, -1.0, r"\$\.splits\.degrees\[0\]"),
        ("log_p", 0, -np.inf, r"\$\.splits\.log_p\[0\]"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(name: str, place: object, value: object, message: str) -> None:
    with pytest.raises(FileError, match=message):
        Tree(spoilt(name, place, value), TENNIS, C45)


def test_breaks_must_rise_within_a_split_only() -> None:
    first, second = Question(1, (0, 1, 1), (1.0, 1.0)), Question(1, (0, 1), (-5.0,))
    with pytest.raises(FileError, match=r"\$\.splits\.breaks\[1\] must be more"):
        tree(fork(first, leaf(1, 0), leaf(0, 1)))
    tree(fork(Question(1, (0, 1, 1), (1.0, 2.0)), fork(second, leaf(1, 0), leaf(0, 1)), leaf(0, 1)))


def test_an_only_child_is_refused() -> None:
    with pytest.raises(FileError, match="only child"):
        tree(fork(Question(1, (0, 0), (1.0,), share=(1.0,)), leaf(1, 0)))


@pytest.mark.parametrize("name", [*NODE_ARRAYS, *SPLIT_ARRAYS])
def test_every_array_needs_its_type_and_length(name: str) -> None:
    made = arrays(tennis_plan(), TENNIS)
    for wrong in (
        made[name].astype("float32" if made[name].dtype.kind == "f" else "int16"),
        made[name][..., None],
        np.concatenate([made[name], made[name][:1]]),
        made[name][:0],
        None,
        "text",
    ):
        with pytest.raises(FileError):
            Tree(made | {name: wrong}, TENNIS, C45)
    del made[name]
    with pytest.raises(FileError, match="is not there"):
        Tree(made, TENNIS, C45)
    with pytest.raises(FileError, match="no tree array called 'extra'"):
        Tree(arrays(tennis_plan(), TENNIS) | {"extra": np.zeros(1)}, TENNIS, C45)


def test_the_target_must_fit() -> None:
    with pytest.raises(FileError, match=r"\$\.nodes\.stats has 2 numbers per node"):
        Tree(arrays(tennis_plan(), TENNIS), HOURS, C45)


def test_spoilt_numbers_never_get_through_or_crash() -> None:
    """Any single wrong number is either refused or leaves a tree that can be read to the end."""
    rng = random.Random(0)
    for _ in range(1500):
        sound = random_tree(rng.randrange(50), 3)
        made = {name: a.copy() for name, a in sound.arrays.items()}
        name = rng.choice([name for name in made if made[name].size])
        flat = made[name].reshape(-1)
        whole = [0, 1, -1, -2, -5, 3, 7, 100, 2**31 - 1, 1 - 2**31]
        flat[rng.randrange(len(flat))] = rng.choice(
            whole if flat.dtype.kind == "i" else [0.0, -1.0, 2.0, 1e300, np.nan]
        )
        try:
            t = Tree(made, sound.schema, CHAID)
        except FileError:
            continue
        for node in t.walk():
            assert all(0 <= child < len(t) for child in node.children)
            for split in (*node.surrogates, *node.rivals, *([node.split] if node.split else [])):
                assert split.conditions
        assert str(t)


def big(n: int, chain: bool) -> dict[str, np.ndarray]:
    """A binary tree of n inner nodes: balanced as far as possible, or one long chain."""
    parent, depth, stack = [], [], [(-1, 0, n)]
    while stack:
        above, level, inner = stack.pop()
        parent.append(above)
        depth.append(level)
        if inner:
            here, left = len(parent) - 1, 0 if chain else (inner - 1) // 2
            stack += [(here, level + 1, inner - 1 - left), (here, level + 1, left)]
    parents = np.array(parent)
    nodes = len(parents)
    fan = np.bincount(parents[1:], minlength=nodes)
    inner_nodes = fan > 0
    s = int(inner_nodes.sum())
    made: dict[str, object] = {
        "parent": parents, "depth": depth, "rows": np.ones(nodes), "weight": np.full(nodes, 2.0),
        "stats": np.ones((nodes, 2)), "value": np.full((nodes, 2), 0.5), "impurity": np.zeros(nodes),
        "gain": np.zeros(nodes), "stop": ~inner_nodes, "child_start": np.append(0, np.cumsum(fan)),
        "children": np.argsort(parents[1:], kind="stable") + 1, "split_start": np.append(0, np.cumsum(inner_nodes)),
        "n_surrogates": np.zeros(nodes), "column": np.ones(s), "closed": np.ones(s), "break_start": np.arange(s + 1),
        "breaks": np.arange(s), "bin_start": 2 * np.arange(s + 1), "child_of_bin": np.tile([0, 1], s),
        "share_start": 2 * np.arange(s + 1), "share": np.full(2 * s, 0.5), "missing": np.zeros(s),
        "unseen": np.full(s, -4),
    }  # fmt: skip
    made |= {name: np.zeros(s) for name in SPLIT_ARRAYS if name not in made}
    types = NODE_ARRAYS | SPLIT_ARRAYS
    return {name: np.asarray(values).astype(types[name]) for name, values in made.items()}


@pytest.mark.parametrize("chain", [False, True])
def test_checking_is_quick_and_depth_is_no_danger(chain: bool) -> None:
    made = big(50_000, chain)
    start = time.perf_counter()
    check(made, TENNIS)
    assert time.perf_counter() - start < 0.5
    t = Tree(made, TENNIS, C45)
    assert len(t) == 100_001
    assert t.depth == (50_000 if chain else 16)
    assert len(str(t).splitlines()) <= 203
    assert pickle.loads(pickle.dumps(t)) == t
