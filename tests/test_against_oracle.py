"""The core against the brute force of `oracle.py`, and against promises that need no oracle.

Exact ties may be broken by rounding, so a split must be *one of* the best; where nothing was close the whole tree
must be the same.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import oracle_walk as walk
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from oracle_follow import check_case, check_tree, close, signature
from oracle_large import all_cuts
from oracle_recipes import cases, possible_recipes, recipe_of
from oracle_table import NOMINAL, NUMBER, ORDINAL
from oracle_tables import NUMBERS, Table, tables
from unpruned import C45, CART

import treewright as tw
from treewright import _core
from treewright import recipes as r

PER_RECIPE = 10
PER_PROMISE = 60

# Without shrinking: a failure is reported at once; shrinking an expensive comparison can take longer than the suite.
settled = settings(
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
promised = settings(settled, max_examples=PER_PROMISE)

#: Numbers that stay exact when they are doubled or halved forty times.
PLAIN = NUMBERS[:2]

POSSIBLE = possible_recipes()
TRIPLES = [parameter.values for parameter in POSSIBLE]

Arrays = dict[str, np.ndarray]


# --- the core against the oracle --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("criterion", "branching", "missing"), POSSIBLE)
def test_tree_is_the_oracles(criterion: Any, branching: Any, missing: Any) -> None:
    @settings(settled, max_examples=PER_RECIPE)
    @given(cases(criterion, branching, missing))
    def compare(case: tuple[Table, r.Recipe]) -> None:
        check_case(*case)

    compare()


@pytest.mark.parametrize("recipe", [r.ID3, r.C45, r.J48, r.CART, r.RPART, r.SKLEARN], ids=lambda recipe: recipe.name)
def test_named_recipes(recipe: r.Recipe) -> None:
    raw = replace(recipe, simplify=None)
    strict = isinstance(recipe.missing, r.RefuseMissing)

    @settings(settled, max_examples=2 * PER_RECIPE)
    @given(tables(missing=not strict, numbers=not strict, whole=True, pools=PLAIN))
    def compare(table: Table) -> None:
        check_case(table, raw)

    compare()


# --- more distinct values than any histogram has bins -----------------------------------------------------------------


def many_values(seed: int, n: int, classes: int) -> Table:
    """Numbers of several kinds: spread evenly, heaped up, rounded, and one far from zero; a tenth is missing."""
    chance = np.random.default_rng(seed)
    even, heap = chance.random(n), chance.normal(size=n) ** 3
    columns = [even, heap, np.round(heap, 1), 1e9 + np.round(1000 * even)]
    signal = (even > 0.371) + 2.0 * (heap > 0.0123) + chance.normal(size=n) * 0.4
    for column in columns[1:3]:
        column[chance.random(n) < 0.1] = np.nan
    edges = np.linspace(signal.min(), signal.max(), classes + 1)[1:-1] if classes else []
    target = np.searchsorted(edges, signal).astype(np.int32) if classes else np.round(signal, 3)
    weight = chance.integers(1, 9, n) / 4 if seed % 2 else None
    return Table(columns, [NUMBER] * 4, [0] * 4, target, classes, weight)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("missing", [r.Ignore(), r.LearnedDirection()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    ("criterion", "classes"),
    [
        (r.Gini(), 2), (r.Gini(), 4), (r.InformationGain(), 2), (r.InformationGain(), 5), (r.Misclassification(), 3),
        (r.Twoing(), 3), (r.Hellinger(), 2), (r.Variance(), 0), (r.StandardDeviation(), 0),
    ],
    ids=lambda x: str(x) if isinstance(x, int) else type(x).__name__,
)  # fmt: skip
def test_every_cut_of_many_values_is_weighed(criterion: Any, classes: int, missing: Any, seed: int) -> None:
    table = many_values(seed, 3000, classes)
    learned = isinstance(missing, r.LearnedDirection)
    recipe = recipe_of(criterion, r.Binary(), missing, stopping=r.Stopping(max_depth=4))
    tree = walk.decode(table.grow(recipe))
    w = np.ones(table.n_rows) if table.weight is None else table.weight
    y = table.target if classes else table.target - table.target.mean()
    stats = w[:, None] * (np.eye(classes)[y] if classes else np.stack([np.ones_like(y), y, y * y], axis=1))
    here = {0: np.arange(table.n_rows)}
    # Roots of small differences of large sums are less exact, here as there.
    close_to = functools.partial(pytest.approx, rel=1e-6 if isinstance(criterion, r.StandardDeviation) else 1e-9)
    for node in walk.nodes_of(tree):
        rows = here[node["id"]]
        assert node["rows"] == len(rows)
        if node["stop"] in (oracle.PURE, oracle.DEPTH):
            continue
        cuts = [all_cuts(column[rows], stats[rows], criterion, learned) for column in table.columns]
        best = max(c.best for c in cuts)
        if not node["children"]:
            assert best < 1e-9
            continue
        assert node["gain"] == close_to(best, abs=1e-12)
        split = node["split"]
        at = split.breaks[0] if split.breaks else np.inf
        place = np.flatnonzero(cuts[split.column].at == at)
        assert len(place) == 1
        gain = cuts[split.column].low if node["missing"] == 0 else cuts[split.column].high
        assert node["gain"] == close_to(gain[place[0]], abs=1e-12)
        x = table.columns[split.column][rows]
        went = np.where(np.isnan(x), node["missing"], x > at)
        for i, child in enumerate(node["children"]):
            here[child["id"]] = rows[went == i]


# --- what any tree of a random recipe keeps ---------------------------------------------------------------------------


@st.composite
def any_case(draw: st.DrawFn, forbid: tuple[type, ...] = ()) -> tuple[Table, r.Recipe]:
    """A case of any of the triples but those with a forbidden choice."""
    triples = [t for t in TRIPLES if not any(isinstance(part, forbid) for part in t)]
    return draw(cases(*draw(st.sampled_from(triples))))


def assert_identical(a: Arrays, b: Arrays, but: Sequence[str] = ()) -> None:
    """Bit for bit, nan and -0.0 included."""
    assert a.keys() == b.keys()
    for name in a.keys() - set(but):
        assert a[name].dtype == b[name].dtype
        assert a[name].shape == b[name].shape, name
        assert a[name].tobytes() == b[name].tobytes(), name


@promised
@given(any_case(), st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(case: tuple[Table, r.Recipe], chance: Any) -> None:
    table, recipe = case
    assume(table.problem(recipe).root)
    order = list(range(table.n_rows))
    chance.shuffle(order)
    assert_identical(table.grow(recipe), table.take(order).grow(recipe))


@promised
@given(any_case())
def test_number_of_threads_changes_nothing(case: tuple[Table, r.Recipe]) -> None:
    table, recipe = case
    assume(table.problem(recipe).root)
    assert_identical(table.grow(recipe, n_threads=1), table.grow(recipe, n_threads=2))


@pytest.mark.parametrize("recipe", [r.C45, r.CART, r.RPART, r.CHAID, r.SKLEARN], ids=lambda recipe: recipe.name)
def test_number_of_threads_changes_nothing_in_a_larger_table(recipe: r.Recipe) -> None:
    table = large_table(5000)
    arrays = table.grow(recipe)
    assert len(arrays["parent"]) > 3
    assert_identical(arrays, table.grow(recipe, n_threads=2))
    router = _core.Predictor(arrays, recipe.seed)
    one, two = (router.predict(table.columns, table.kinds, table.n_rows, n)[0] for n in (1, 2))
    assert one.tobytes() == two.tobytes()


def large_table(n: int) -> Table:
    chance = np.random.default_rng(1)
    number = np.round(chance.normal(size=n), 2)
    level = chance.integers(0, 6, n).astype(np.int32)
    ordinal = chance.integers(0, 4, n).astype(np.int32)
    target = ((number > 0.3).astype(int) + (level % 3 == 1) + (chance.random(n) < 0.1)).astype(np.int32)
    number[chance.random(n) < 0.1] = np.nan
    level[chance.random(n) < 0.1] = -1
    weight = chance.integers(1, 9, n) / 4
    return Table([number, level, ordinal], [NUMBER, NOMINAL, ORDINAL], [0, 6, 4], target, 4, weight)


@promised
@given(any_case(forbid=(r.Surrogates,)))
def test_a_row_given_twice_is_a_row_of_weight_two(case: tuple[Table, r.Recipe]) -> None:
    """Surrogates and sizes named samples count rows, so they are left out."""
    table, recipe = case
    stopping = replace(recipe.stopping, min_samples_split=2, min_samples_leaf=1)
    branching = replace(recipe.branching, min_child=1) if isinstance(recipe.branching, r.Merge) else recipe.branching
    recipe = replace(recipe, stopping=stopping, branching=branching)
    assume(table.problem(recipe).root and few_levels(table))
    # Rounded parts of spread rows may reach half the weight at either of two medians.
    assume(not (isinstance(recipe.missing, r.Fractional) and isinstance(recipe.regression, r.AbsoluteError)))
    once = replace(table, weight=np.full(table.n_rows, 2.0) if table.weight is None else 2 * table.weight)
    twice = table.take([i for i in range(table.n_rows) for _ in range(2)])
    a, b = once.grow(recipe), twice.grow(recipe)
    assert (2 * a["rows"]).tolist() == b["rows"].tolist()
    if not isinstance(recipe.missing, r.Fractional):
        assert_identical(a, b, but=["rows"])
        return
    for name in a.keys() - {"rows"}:  # the parts of a spread row are rounded row by row
        assert a[name].shape == b[name].shape, name
        assert np.allclose(a[name], b[name], rtol=1e-9, atol=1e-9), name


def few_levels(table: Table) -> bool:
    """No column has so many levels for its rows that the average rule of the gain ratio takes notice."""
    return all(count < 0.3 * table.n_rows for count in table.levels)


@promised
@given(any_case(forbid=(r.RandomChild,)), st.randoms(use_true_random=False))
def test_order_of_columns_only_renames(case: tuple[Table, r.Recipe], chance: Any) -> None:
    table, recipe = case
    p = table.problem(recipe)
    assume(p.root and oracle.all_clear(oracle.grow_problem(p)))
    order = list(range(len(table.columns)))
    chance.shuffle(order)
    moved = walk.decode(table.pick(order).grow(recipe))
    for node in walk.nodes_of(moved):
        if node["split"]:
            node["split"] = replace(node["split"], column=order[node["split"].column])
    assert signature(moved) == signature(walk.decode(table.grow(recipe)))


@promised
@given(any_case(forbid=(r.RandomChild, r.Surrogates)))
def test_ties_go_to_the_first_column(case: tuple[Table, r.Recipe]) -> None:
    """Every column once more, behind the others: the copies must never win, and the tree must stay as it was."""
    table, recipe = case
    assume(table.problem(recipe).root and not isinstance(recipe.criterion, r.GainRatio))
    n = len(table.columns)
    doubled = walk.decode(table.pick([*range(n), *range(n)]).grow(recipe))
    assert all(node["split"] is None or node["split"].column < n for node in walk.nodes_of(doubled))
    assert signature(doubled) == signature(walk.decode(table.grow(recipe)))


def test_ties_go_to_the_lowest_cut_and_level() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0])
    target = np.array([0, 1, 1, 0], dtype=np.int32)
    tree = walk.decode(Table([values], [NUMBER], [0], target, 2).grow(r.CART))
    assert tree["split"].breaks == (0.5,)
    codes = np.array([0, 1, 2, 3], dtype=np.int32)
    recipe = recipe_of(r.Gini(), r.OneVsRest(), r.Ignore())
    tree = walk.decode(Table([codes], [NOMINAL], [4], target, 2).grow(recipe))
    assert tree["split"].child_of_bin == (0, 1, 1, 1)


@promised
@given(any_case(forbid=(r.RandomChild,)), st.integers(-40, 40))
def test_scale_of_a_number_moves_only_thresholds(case: tuple[Table, r.Recipe], power: int) -> None:
    table, recipe = case
    if isinstance(recipe.numeric, r.Threshold):
        recipe = replace(recipe, numeric=replace(recipe.numeric, min_gap=0.0))
    numbers = [j for j, kind in enumerate(table.kinds) if kind == NUMBER]
    exact = all(abs(x) < 1e12 and 4 * x == round(4 * x) for j in numbers for x in table.columns[j] if x == x)
    assume(numbers and exact and table.problem(recipe).root)
    factor = math.ldexp(1.0, power)
    scaled = replace(table, columns=[c * factor if j in numbers else c for j, c in enumerate(table.columns)])
    a, b = table.grow(recipe), scaled.grow(recipe)
    assert_identical(a, b, but=["breaks"])
    assert (a["breaks"] * factor).tolist() == b["breaks"].tolist()


@promised
@given(tables(n_classes=0), st.sampled_from((r.Variance, r.StandardDeviation, r.AbsoluteError)), st.integers(-40, 40))
def test_scale_of_the_target_moves_only_predictions(table: Table, criterion: Any, power: int) -> None:
    recipe = recipe_of(criterion(), r.Binary(), r.LearnedDirection())
    factor = math.ldexp(1.0, power)
    a, b = table.grow(recipe), replace(table, target=table.target * factor).grow(recipe)
    assert_identical(a, b, but=["value", "stats", "impurity", "gain", "score", "split_gain"])
    assert np.allclose(a["value"] * factor, b["value"], rtol=1e-9, atol=0)


@promised
@given(any_case())
def test_max_features_beyond_the_columns_is_no_limit(case: tuple[Table, r.Recipe]) -> None:
    table, recipe = case
    assume(table.problem(recipe).root)
    limited = replace(recipe, stopping=replace(recipe.stopping, max_features=len(table.columns)))
    assert_identical(table.grow(recipe), table.grow(limited))


@promised
@given(tables(missing=False, pools=PLAIN), st.integers(0, 5))
def test_max_features_looks_at_one_column(table: Table, seed: int) -> None:
    """Whatever column is drawn, its split is the best that column has; and a node with any split to offer is split."""
    recipe = replace(r.SKLEARN, stopping=r.Stopping(max_features=1, zero_gain=True), seed=seed)
    p = table.problem(recipe)
    tree = walk.decode(table.grow(recipe))
    entries = {0: p.root}
    for node in walk.nodes_of(tree):
        here = entries[node["id"]]
        outcomes = [oracle.column_outcomes(p, here, j) for j in range(len(table.columns))]
        if node["split"] is None:
            assert node["stop"] == oracle.PURE or not any(outcomes)
            continue
        best = outcomes[node["split"].column]
        assert node["own"]["score"] == close(best[0].score)
        for child, part in zip(node["children"], oracle.divide(p, node["split"], [], here), strict=True):
            entries[child["id"]] = part


@promised
@given(any_case(), st.sampled_from((r.Collapse(), r.Collapse(top_down=True), r.Complexity(0.0), r.Complexity(0.1))))
def test_simplified_trees_are_the_top_of_the_raw_ones(case: tuple[Table, r.Recipe], simplify: Any) -> None:
    table, recipe = case
    assume(table.problem(recipe).root and not (table.n_classes == 0 and isinstance(simplify, r.Collapse)))
    raw, simple = (walk.decode(table.grow(replace(recipe, simplify=s))) for s in (None, simplify))

    def compare(whole: Any, top: Any) -> None:
        assert [whole[k] for k in ("rows", "weight", "stats", "value")] == [
            top[k] for k in ("rows", "weight", "stats", "value")
        ]
        if not top["children"] and whole["children"]:
            assert top["stop"] == (11 if isinstance(simplify, r.Complexity) else 10)
            return
        assert whole["split"] == top["split"]
        for a, b in zip(whole["children"], top["children"], strict=True):
            compare(a, b)

    compare(raw, simple)


# --- small cases that went wrong once ---------------------------------------------------------------------------------


def test_significance_is_the_criterions_own_test() -> None:
    column = np.array([0, 0, 0, 1, 1, 1, 1, 1], dtype=np.int32)
    table = Table([column], [NOMINAL], [2], np.array([0, 0, 1, 1, 1, 1, 0, 1], dtype=np.int32), 2)
    recipe = recipe_of(r.ChiSquare(True), r.Binary(), r.Ignore(), stopping=r.Stopping(significance=1.0))
    own = walk.decode(table.grow(recipe))["own"]
    assert own["score"] == close(-own["log_p"])


def test_merge_keeps_to_the_least_leaf() -> None:
    column = np.array([0] * 9 + [1], dtype=np.int32)
    table = Table([column], [NOMINAL], [2], column, 2)
    recipe = recipe_of(r.ChiSquare(), r.Merge(), r.OwnCategory(), stopping=r.Stopping(min_samples_leaf=3))
    assert min(node["rows"] for node in walk.nodes_of(walk.decode(table.grow(recipe)))) >= 3


def test_merge_keeps_to_the_lightest_leaf() -> None:
    column = np.array([0, 0, 0, 1, 1, 1, 1], dtype=np.int32)
    table = Table([column], [NOMINAL], [2], column, 2, np.array([9.0, 9.0, 9.0, 0.25, 0.25, 0.25, 0.25]))
    recipe = recipe_of(
        r.ChiSquare(), r.Merge(alpha_split=1.0), r.OwnCategory(), stopping=r.Stopping(min_weight_leaf=2.0)
    )
    assert min(node["weight"] for node in walk.nodes_of(walk.decode(table.grow(recipe)))) >= 2


def test_tenth_is_of_the_known_weight() -> None:
    """16 known rows and 2 classes: a side needs 0.8, so one row is enough."""
    number = np.array([np.nan] * 5 + [0.0] + [1.0] * 15)
    target = np.array([0] * 5 + [1] + [0] * 15, dtype=np.int32)
    recipe = recipe_of(
        r.InformationGain(), r.Binary(), r.LearnedDirection(), numeric=r.Threshold(min_tenth_per_class=True)
    )
    tree = walk.decode(Table([number], [NUMBER], [0], target, 2).grow(recipe))
    assert [child["rows"] for child in tree["children"]] == [1, 20]


def test_known_numbers_are_never_missing() -> None:
    """Known against missing: a number from a bin that is not at the node is still known."""
    level = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1], dtype=np.int32)
    number = np.array([0.0, 0.0, 2.0, 2.0, np.nan, np.nan, 1.0, 1.0, 1.0])
    target = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2], dtype=np.int32)
    recipe = recipe_of(r.GainRatio(), r.EachValue(), r.LearnedDirection(), numeric=r.Binned(9))
    arrays = Table([level, number], [NOMINAL, NUMBER], [2, 0], target, 3).grow(recipe)
    row = [np.array([0], dtype=np.int32), np.array([1.0])]
    assert _core.Predictor(arrays, 0).predict(row, [NOMINAL, NUMBER], 1, 1)[0].argmax() == 0


# --- a user's criterion -----------------------------------------------------------------------------------------------


def gini_gain(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    def impurity(counts: np.ndarray) -> np.ndarray:
        total = counts.sum(-1)
        safe = np.where(total > 0, total, 1.0)
        return 1 - ((counts / safe[..., None]) ** 2).sum(-1)

    weight = children.sum(-1)
    return impurity(parent[None])[0] - (weight * impurity(children)).sum(-1) / parent.sum()


def variance_gain(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    def variance(stats: np.ndarray) -> np.ndarray:
        weight = np.where(stats[..., 0] > 0, stats[..., 0], 1.0)
        return stats[..., 2] / weight - (stats[..., 1] / weight) ** 2

    return variance(parent) - (children[..., 0] * variance(children)).sum(-1) / parent[0]


@pytest.mark.parametrize("branching", [r.EachValue(), r.Binary(), r.OneVsRest()], ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("built_in", [r.Gini(), r.Variance()], ids=lambda c: type(c).__name__)
def test_custom_criterion_is_run_once_per_node_and_column(built_in: Any, branching: Any) -> None:
    task = built_in.task
    function = gini_gain if task == "classification" else variance_gain

    @settings(settled, max_examples=20)
    @given(tables(n_classes=None if task == "classification" else 0, missing=False))
    def compare(table: Table) -> None:
        calls = []

        def counted(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
            width = table.n_classes or 3
            assert parent.shape == (width,)
            assert children.ndim == 3
            assert children.shape[2] == width
            assert np.allclose(children.sum(1), parent)
            calls.append(len(children))
            return function(parent, children)

        recipe = recipe_of(built_in, branching, r.Ignore())
        p = table.problem(recipe)
        expected = oracle.grow_problem(p)
        assume(oracle.all_clear(expected))
        own = recipe_of(r.Custom(counted, task), branching, r.Ignore())
        tree = walk.decode(table.grow(own))
        row = sum(bool(found) for d in check_tree(p, walk.decode(table.grow(recipe))) for found in d.outcomes)
        assert signature(tree) == signature(expected)
        assert len(calls) == row

    compare()


def test_custom_criterion_errors_reach_the_caller() -> None:
    def broken(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        large_table(50).grow(recipe_of(r.Custom(broken), r.Binary(), r.Ignore()))


# --- chance -----------------------------------------------------------------------------------------------------------


def test_random_children_are_drawn_by_their_shares() -> None:
    """One column decides, a second one only makes rows different; a quarter of the known rows lie above the cut."""
    n = 4000
    number = np.tile([0.0, 0.0, 0.0, 1.0], n // 4)
    other = np.arange(n, dtype=float)
    target = number.astype(np.int32)
    recipe = recipe_of(r.Gini(), r.Binary(), r.RandomChild(), stopping=r.Stopping(max_depth=1))
    arrays = Table([number, other], [NUMBER, NUMBER], [0, 0], target, 2).grow(recipe)
    blank = [np.full(n, np.nan), other]
    for seed in range(3):
        went = _core.Predictor(arrays, seed).apply(blank, [NUMBER, NUMBER], n, 1)[0]
        assert abs((went == 2).mean() - 0.25) < 4 * math.sqrt(0.25 * 0.75 / n)


# --- through the front door -------------------------------------------------------------------------------------------


@settings(settled, max_examples=30)
@given(tables(pools=PLAIN), st.sampled_from((C45, CART, r.SKLEARN, r.RPART)))
def test_learn_and_predict_are_the_core(table: Table, recipe: r.Recipe) -> None:
    """The same table as a dictionary of names, levels and None gives the same tree and the same answers."""
    if isinstance(recipe.missing, r.Surrogates):  # the core seeks them whenever it is asked to
        recipe = replace(recipe, missing=replace(recipe.missing, search="always"))
    names = [f"c{j}" for j in range(len(table.columns))]
    levels = {name: [f"v{k}" for k in range(count)] for name, count in zip(names, table.levels, strict=True) if count}
    kinds: dict[str, Any] = {}
    data: dict[str, list[Any]] = {}
    for name, kind, column in zip(names, table.kinds, zip(*table.rows, strict=True), strict=True):
        data[name] = [x if x is None or kind == NUMBER else levels[name][int(x)] for x in column]
        kinds[name] = "numeric" if kind == NUMBER else levels[name]
    present = sorted(set(table.target.tolist()))
    assume(table.n_rows > 1 and all(any(x is not None for x in column) for column in data.values()))
    # A list declares an ordinal column; nominal ones are left to be found, so every level must occur, in sorted order.
    nominal = [name for name, kind in zip(names, table.kinds, strict=True) if kind == NOMINAL]
    assume(all(set(levels[name]) <= set(data[name]) for name in nominal) and len(present) > 1)
    for name in nominal:
        kinds[name] = "nominal"
    data["y"] = [f"k{y}" for y in table.target]
    tree = tw.learn(data, "y", recipe, weight=table.weight, kinds=kinds)
    codes = np.array([present.index(y) for y in table.target.tolist()], dtype=np.int32)
    direct = replace(table, target=codes, n_classes=len(present))
    arrays = direct.grow(recipe)
    assert_identical(dict(tree.arrays), arrays)
    expected = _core.Predictor(arrays, recipe.seed).predict(table.columns, table.kinds, table.n_rows, 1)[0]
    assert tw.predict_proba(tree, data).tobytes() == expected.tobytes()
    assert tw.predict(tree, data).tolist() == [f"k{present[i]}" for i in expected.argmax(1)]
