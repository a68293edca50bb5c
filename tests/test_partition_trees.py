"""Trees of tables in parts are those of the whole table, to the last bit, wherever it is cut up.

What is compared is the saved form of the tree, character by character.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from oracle_recipes import cases, possible_recipes
from oracle_table import NOMINAL, NUMBER, ORDINAL
from oracle_tables import Table, tables
from partition_cases import LIMITS, check_parts, cut_up, cuts, limits, same_tree
from pruning_cases import encoded, schema_of

import treewright as tw
from treewright import recipes as r
from treewright.data.schema import Schema
from treewright.growing.grow import grow
from treewright.growing.partitions import Limits
from treewright.training.learn import grow_and_prune
from treewright.tree.saved import to_json

# Without shrinking: a failure is reported at once.
settled = settings(
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)

POSSIBLE = possible_recipes()
NO_COLUMN = 4  # why a leaf stopped
CUTS = (0.0, 0.1, 0.1, 0.4, 0.9)
NAMED = (r.ID3, r.C45, r.J48, r.CART, r.RPART, r.SKLEARN, r.CHAID, r.EXHAUSTIVE_CHAID)


# --- every recipe -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("criterion", "branching", "missing"), POSSIBLE)
def test_every_recipe(criterion: Any, branching: Any, missing: Any) -> None:
    @settings(settled, max_examples=4)
    @given(cases(criterion, branching, missing), cuts(), limits())
    def compare(case: tuple[Table, r.Recipe], places: list[float], limit: Limits) -> None:
        table, recipe = case
        check_parts(encoded(table), schema_of(table), recipe, places, limit)

    compare()


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "branching", "missing"), POSSIBLE)
def test_every_recipe_at_length(criterion: Any, branching: Any, missing: Any) -> None:
    @settings(settled, max_examples=60)
    @given(cases(criterion, branching, missing), cuts(), limits())
    def compare(case: tuple[Table, r.Recipe], places: list[float], limit: Limits) -> None:
        table, recipe = case
        check_parts(encoded(table), schema_of(table), recipe, places, limit)

    compare()


@pytest.mark.parametrize("recipe", NAMED, ids=lambda recipe: recipe.name)
def test_named_recipes(recipe: r.Recipe) -> None:
    strict = isinstance(recipe.missing, r.RefuseMissing)

    @settings(settled, max_examples=20)
    @given(tables(missing=not strict, numbers=recipe is not r.ID3), cuts(), limits())
    def compare(table: Table, places: list[float], limit: Limits) -> None:
        check_parts(encoded(table), schema_of(table), recipe, places, limit)

    compare()


def least_wrong(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    """A criterion of the user's own: how many fewer are wrong."""
    wrong = children.sum(axis=-1) - children.max(axis=-1)
    return parent.sum() - parent.max() - wrong.sum(axis=1)


@settings(settled, max_examples=40)
@given(tables(), cuts(), limits(), st.sampled_from((r.Binary(), r.EachValue(), r.OneVsRest())))
def test_a_criterion_of_the_users_own(table: Table, places: list[float], limit: Limits, branching: Any) -> None:
    recipe = replace(r.CART, criterion=r.Custom(least_wrong), branching=branching, missing=r.Fractional(), pruning=None)
    check_parts(encoded(table), schema_of(table), recipe, places, limit)


@settings(settled, max_examples=40)
@given(tables(), cuts(), limits(), st.data())
def test_costs_and_priors(table: Table, places: list[float], limit: Limits, data: st.DataObject) -> None:
    schema, classes = schema_of(table), table.n_classes
    prices = st.lists(st.sampled_from((0.0, 1.0, 2.5)), min_size=classes, max_size=classes)
    costs = [data.draw(prices) for _ in range(classes)]
    for one in range(classes):
        costs[one][one], costs[one][one - 1] = 0.0, 1.5
    present = np.bincount(table.target, table.weight, classes) > 0
    priors = tuple(present / present.sum()) if data.draw(st.booleans()) else None
    target = replace(schema.target, costs=tuple(map(tuple, costs)), priors=priors)
    recipe = replace(data.draw(st.sampled_from((r.CART, r.RPART, r.C45))), pruning=None)
    check_parts(encoded(table), Schema(schema.columns, target), recipe, places, limit)


@settings(settled, max_examples=60)
@given(tables(most_rows=60), cuts(), limits(), st.data())
def test_weights_of_any_kind(table: Table, places: list[float], limit: Limits, data: st.DataObject) -> None:
    pool = data.draw(st.sampled_from(((0.0, 1.0), (0.0, 0.1, 0.7, 1 / 3), (1e-9, 1.0, 1e9), (0.0, 5e-324, 1e300))))
    weight = np.array(data.draw(st.lists(st.sampled_from(pool), min_size=table.n_rows, max_size=table.n_rows)))
    weight[data.draw(st.integers(0, table.n_rows - 1))] = 1.0
    recipe = replace(data.draw(st.sampled_from((r.CART, r.RPART, r.C45, r.CHAID))), pruning=None)
    known = [column == column if column.dtype.kind == "f" else column >= 0 for column in table.columns]
    assume((np.any(known, axis=0) & (weight == weight.max())).any())  # or no row takes part
    check_parts(replace(encoded(table), weight=weight), schema_of(table), recipe, places, limit)


# --- many values ------------------------------------------------------------------------------------------------------


def many_values(seed: int, n: int, classes: int, *, missing: float = 0.0, single: bool = False) -> Table:
    """Numbers spread evenly, heaped up, in lumps, rounded and far from zero, beside levels."""
    chance = np.random.default_rng(seed)
    even, heap = chance.random(n), chance.normal(size=n) ** 3
    lumps = np.where(chance.random(n) < 0.6, 0.0, chance.normal(size=n))
    columns: list[Any] = [even, heap, lumps, np.round(heap, 1), 1e9 + np.round(1000 * even, 1)]
    signal = (even > 0.371) + 2.0 * (heap > 0.0123) * lumps + chance.normal(size=n) * 0.4
    if single:
        columns = [column.astype(np.float32) for column in columns]
    for column in columns[1:4]:
        column[chance.random(n) < missing] = np.nan
    kinds, levels = [NUMBER] * len(columns), [0] * len(columns)
    for kind, count in ((NOMINAL, 5), (ORDINAL, 4)):
        codes = chance.integers(0, count, n).astype(np.int32)
        codes[chance.random(n) < missing] = -1
        signal += 0.3 * (codes == 1)
        columns, kinds, levels = [*columns, codes], [*kinds, kind], [*levels, count]
    edges = np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1]) if classes else []
    target = np.searchsorted(edges, signal).astype(np.int32) if classes else signal
    weight = (None, chance.integers(0, 3, n) / 2, chance.random(n))[seed % 3]
    return Table(columns, kinds, levels, target, classes, weight)


LARGE = {
    "gini": (r.CART, 2),
    "gini, many classes": (r.CART, 6),
    "gini, all": (replace(r.CART, rivals=4, stopping=r.Stopping(zero_gain=True)), 3),
    "entropy": (replace(r.CART, criterion=r.InformationGain()), 3),
    "gain ratio": (r.C45, 2),
    "gain ratio, many classes": (r.J48, 5),
    "misclassification": (replace(r.CART, criterion=r.Misclassification()), 3),
    "twoing": (replace(r.CART, criterion=r.Twoing()), 3),
    "rpart": (r.RPART, 2),
    "chaid": (r.CHAID, 3),
    "exhaustive chaid": (r.EXHAUSTIVE_CHAID, 2),
    "scikit-learn": (replace(r.SKLEARN, rivals=3), 3),
    "a few columns": (replace(r.SKLEARN, stopping=r.Stopping(max_depth=8, max_features=2), seed=5), 3),
    "leaves": (replace(r.CART, stopping=r.Stopping(max_leaf_nodes=20)), 2),
    "random": (replace(r.CART, missing=r.RandomChild(), seed=3), 2),
    "learned": (replace(r.CART, missing=r.LearnedDirection()), 4),
    "spread": (replace(r.CART, missing=r.Fractional(), stopping=r.Stopping(max_depth=5)), 2),
    "own category": (replace(r.CART, missing=r.OwnCategory()), 2),
    "ignore": (replace(r.CART, missing=r.Ignore()), 2),
    "majority": (replace(r.CART, missing=r.MajorityChild(), unseen="majority"), 3),
    "variance": (r.CART, 0),
    "rpart, numbers": (r.RPART, 0),
    "scikit-learn, numbers": (r.SKLEARN, 0),
    "standard deviation": (replace(r.CART, regression=r.StandardDeviation()), 0),
    "absolute error": (replace(r.CART, regression=r.AbsoluteError(), stopping=r.Stopping(max_depth=6)), 0),
    "poisson": (replace(r.CART, regression=r.Poisson()), 0),
    "chaid, numbers": (r.CHAID, 0),
}


def large(name: str, seed: int, n: int, single: bool = False) -> tuple[Table, r.Recipe]:
    recipe, classes = LARGE[name]
    table = many_values(
        seed, n, classes, missing=0.0 if isinstance(recipe.missing, r.RefuseMissing) else 0.1, single=single
    )
    if recipe.regression == r.Poisson():
        table = replace(table, target=np.abs(table.target))
    return table, replace(recipe, pruning=None)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize(("seed", "single"), [(0, False), (1, True), (2, False)])
def test_bins_are_opened(name: str, seed: int, single: bool) -> None:
    table, recipe = large(name, seed, 2500, single)
    if seed == 0:  # many questions about every node, so fewer nodes
        recipe = replace(recipe, stopping=replace(recipe.stopping, min_samples_split=150))
    limit = (Limits(apart=0), Limits(apart=300, at_once=700), Limits(apart=200))[seed]
    assert check_parts(encoded(table), schema_of(table), recipe, CUTS, limit) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("seed", range(3, 9))
def test_bins_are_opened_at_length(name: str, seed: int) -> None:
    table, recipe = large(name, seed, 6000, seed % 2 == 0)
    check_parts(encoded(table), schema_of(table), recipe, CUTS[: 1 + seed % 5], Limits(apart=(0, 40, 1000)[seed % 3]))


@settings(settled, max_examples=12)
@given(st.integers(0, 2**30), st.sampled_from(sorted(LARGE)), st.integers(256, 2000), cuts(), st.integers(0, 400))
def test_many_values_cut_up_anywhere(seed: int, name: str, n: int, places: list[float], apart: int) -> None:
    table, recipe = large(name, seed, n)
    check_parts(encoded(table), schema_of(table), recipe, places, Limits(apart=apart, at_once=2 * apart + 1))


@pytest.mark.slow
@pytest.mark.parametrize("classes", [0, 2, 4])
def test_bins_of_very_many_rows_are_looked_into_cell_by_cell(classes: int) -> None:
    chance = np.random.default_rng(classes)
    n = 600_000
    columns = [chance.random(n), chance.normal(size=n) ** 3, chance.lognormal(size=n)]
    target = chance.integers(0, classes, n).astype(np.int32) if classes else chance.normal(size=n)
    table = Table(columns, [NUMBER] * 3, [0] * 3, target, classes)
    recipe = replace(r.SKLEARN, rivals=4, pruning=None, stopping=r.Stopping(max_depth=2))
    assert check_parts(encoded(table), schema_of(table), recipe, (0.2, 0.2, 0.7), Limits(apart=0)) == 7


# --- ties -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rivals", [0, 4])
@pytest.mark.parametrize("seed", range(8))
def test_nearly_equal_cuts_have_one_winner(rivals: int, seed: int) -> None:
    """Rows of negligible weight change gains by about as much as rounding: many cuts tie, each with its neighbour.

    Which of them wins must not depend on what is searched first: rows in memory, in parts and in another order agree.
    """
    chance = np.random.default_rng(seed)
    n = (700, 1500)[seed % 2]
    column = chance.random(n)
    target = ((column < 0.5) ^ (chance.random(n) < 0.3)).astype(float)
    weight = 10.0 ** chance.uniform(-14, -11, n)
    heavy = chance.choice(np.flatnonzero(np.abs(column - 0.5) > 0.2), 30, replace=False)
    weight[heavy], target[heavy] = 1.0, (column[heavy] > 0.5) + chance.normal(size=30) / 3
    columns = [column, np.round(column, 2) + (chance.random(n) < 0.02), 1 - column]
    if seed % 4 > 1:
        columns[1][chance.random(n) < 0.1] = np.nan
    table = Table(columns, [NUMBER] * 3, [0] * 3, target, 0, weight)
    missing = (r.MajorityChild(), r.LearnedDirection(), r.OwnCategory())[seed % 3]
    recipe = replace(r.CART, missing=missing, rivals=rivals, pruning=None, stopping=r.Stopping(max_depth=3))
    schema = schema_of(table)
    check_parts(encoded(table), schema, recipe, (0.4,), Limits(apart=0))
    check_parts(encoded(table), schema, recipe, (0.2, 0.7), Limits(apart=200, at_once=500))
    order = chance.permutation(n)
    mixed = Table([column[order] for column in columns], [NUMBER] * 3, [0] * 3, target[order], 0, weight[order])
    same_tree(grow(encoded(mixed), schema, recipe, 2), grow(encoded(table), schema, recipe, 1))


# --- numbers at the edge ----------------------------------------------------------------------------------------------

EDGES: dict[str, Sequence[float]] = {
    "zeros": (-0.0, 0.0, -5e-324, 5e-324),
    "denormal": tuple(k * 5e-324 for k in range(-3, 700)),
    "huge": (-1.7e308, -1e300, -1.0, 0.0, 1.0, 1e300, 1.7e308),
    "neighbours": tuple(1.0 + k * math.ulp(1.0) for k in range(600)),
    "every size": tuple(s * 2.0**e for s in (-1, 1) for e in range(-1070, 1020, 4)),
}


@pytest.mark.parametrize("classes", [0, 3])
@pytest.mark.parametrize("edge", EDGES)
@settings(settled, max_examples=2)
@given(st.integers(0, 2**30), cuts(), st.sampled_from((0, 100)))
def test_numbers_at_the_edge(edge: str, classes: int, seed: int, places: list[float], apart: int) -> None:
    chance = np.random.default_rng(seed)
    n = 1200
    columns = [chance.choice(EDGES[edge], n) for _ in range(2)]
    rank = [np.unique(column, return_inverse=True)[1] for column in columns]
    signal = np.sin(rank[0] / 40) + np.cos(rank[1] / 25) + chance.normal(size=n) / 3
    target = np.digitize(signal, (-0.5, 0.5)).astype(np.int32) if classes else signal
    table = Table(columns, [NUMBER] * 2, [0] * 2, target, classes)
    for recipe in (replace(r.SKLEARN, rivals=1), replace(r.CART, pruning=None, stopping=r.Stopping(max_depth=4))):
        check_parts(encoded(table), schema_of(table), recipe, places, Limits(apart=apart))


@pytest.mark.parametrize(
    ("offset", "scale"), [(1e12, 1e-3), (-1e12, 1.0), (1e-300, 1e-301), (0.0, 1e150), (1e100, 1e90), (0.1, 0.0)]
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_targets_of_any_size(offset: float, scale: float, seed: int) -> None:
    table = many_values(seed, 1500, 0, missing=0.05)
    table = replace(table, target=offset + scale * table.target)
    for recipe in (replace(r.CART, pruning=None), replace(r.RPART, pruning=None)):
        check_parts(encoded(table), schema_of(table), recipe, CUTS, Limits(apart=150 * (1 + seed)))


# --- parts that are not like the whole --------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [0, 3])
@pytest.mark.parametrize("apart", [50, 300])
@pytest.mark.parametrize("recipe", [r.CART, r.C45, r.RPART, r.CHAID], ids=lambda recipe: recipe.name)
def test_partitions_differ(classes: int, apart: int, recipe: r.Recipe) -> None:
    """A column is the same all over one part, missing all over another, and sorted over all of them."""
    if not classes and recipe.regression is None:
        recipe = replace(r.CART, missing=r.Fractional())
    table = many_values(5, 2000, classes, missing=0.05)
    table.columns[0].sort()
    table.columns[1][:800] = 0.25
    table.columns[2][200:800] = np.nan
    table.columns[5][800:1800] = -1
    order = np.argsort(table.target[:800], kind="stable")
    table.target[:800] = table.target[:800][order]
    check_parts(encoded(table), schema_of(table), replace(recipe, pruning=None), CUTS, Limits(apart=apart))


def test_a_part_in_which_no_row_has_weight() -> None:
    table = many_values(1, 1000, 3)
    assert table.weight is not None
    table.weight[:400] = 0.0
    check_parts(encoded(table), schema_of(table), replace(r.CART, pruning=None), CUTS, Limits(apart=20))


def test_as_many_partitions_as_rows() -> None:
    table = many_values(0, 64, 2, missing=0.1)
    places = [place / 64 for place in range(1, 64)]
    for limit in LIMITS:
        check_parts(encoded(table), schema_of(table), replace(r.CART, pruning=None), places, limit)


@pytest.mark.parametrize("recipe", [r.CART, r.C45, r.RPART], ids=lambda recipe: recipe.name)
def test_threads_make_no_difference(recipe: r.Recipe) -> None:
    table = many_values(2, 3000, 3, missing=0.1)
    parts = cut_up(encoded(table), CUTS, Limits(apart=100))
    grown = replace(recipe, pruning=None)
    one, two = (to_json(grow(parts, schema_of(table), grown, threads)) for threads in (1, 2))
    assert one == two


# --- questions about the smallest nodes -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gini", "gini, all", "majority"])
def test_of_rivals_without_gain_the_lowest_cut_is_kept(name: str) -> None:
    """Where all that is known of a column is of one class, every cut is as good as any."""
    table, recipe = large(name, 0, 2500)
    check_parts(encoded(table), schema_of(table), recipe, (0.5,), Limits(apart=0))


def test_why_a_node_of_equal_rows_is_a_leaf() -> None:
    """A column of many values has only one here: nothing can be cut, however the values were coded."""
    chance = np.random.default_rng(0)
    column, target = chance.random(3000), np.zeros(3000, np.int32)
    for equal in (30, 700):
        column[:equal], target[: equal // 2], target[equal // 2 :] = 2.0, 1, 0
        table = Table([column], [NUMBER], [0], target, 2)
        for limit in (Limits(apart=0), Limits(apart=5000)):
            check_parts(encoded(table), schema_of(table), r.SKLEARN, (0.5,), limit)
        tree = grow(encoded(table), schema_of(table), r.SKLEARN, 1)
        assert tree.arrays["stop"].tolist() == [0, 1, NO_COLUMN]


def test_a_quantile_group_may_weigh_next_to_nothing() -> None:
    tree = tw.learn({"x": [1.0, 0.0]}, ["p", "q"], tw.CHAID, weight=[1e9, 1.0])
    assert tree.n_nodes == 1


# --- pruning ----------------------------------------------------------------------------------------------------------

PRUNERS: dict[str, Any] = {
    "CostComplexity": tw.pruning.CostComplexity(0.01),
    "CostComplexityCV": tw.pruning.CostComplexityCV(),
    "ImpurityThresholdCV": tw.pruning.ImpurityThresholdCV(),
    "ReducedError": tw.pruning.ReducedError(),
    "ErrorBased": tw.pruning.ErrorBased(),
    "ErrorBased, cut only": tw.pruning.ErrorBased(raising=False),
    "Pessimistic": tw.pruning.Pessimistic(),
    "MinimumError": tw.pruning.MinimumError(),
    "CriticalValue": tw.pruning.CriticalValue(0.02),
    "MinimumDescription": tw.pruning.MinimumDescription(),
    "CollapseNodes": tw.pruning.CollapseNodes((1,)),
    "MergeEqualLeaves": tw.pruning.MergeEqualLeaves(),
    "MaxDepth": tw.pruning.MaxDepth(2),
    "MaxLeaves": tw.pruning.MaxLeaves(4),
}


@pytest.mark.parametrize(("seed", "apart"), [(0, 30), (2, 150), pytest.param(1, 0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("classes", [0, 3])
@pytest.mark.parametrize("name", PRUNERS)
def test_pruned_trees(name: str, classes: int, seed: int, apart: int) -> None:
    pruner = PRUNERS[name]
    if pruner.classes_only and not classes:
        pytest.skip("of classes only")
    table = many_values(seed, 400, classes, missing=0.1)
    whole, schema = encoded(table), schema_of(table)
    for plain in (r.CART, r.C45 if classes else r.RPART):
        recipe = replace(plain, pruning=pruner)
        grown = grow_and_prune(whole, schema, recipe, 1)
        same_tree(grow_and_prune(cut_up(whole, CUTS, Limits(apart=apart)), schema, recipe, 1), grown)
        assert grown.n_leaves > 1


@pytest.mark.parametrize("name", ["CostComplexityCV", "ReducedError", "ErrorBased"])
def test_pruned_trees_with_costs_and_priors(name: str) -> None:
    table = many_values(1, 700, 3, missing=0.1)
    schema = schema_of(table)
    costs = ((0.0, 3.0, 1.0), (1.0, 0.0, 1.0), (2.0, 1.0, 0.0))
    schema = Schema(schema.columns, replace(schema.target, costs=costs, priors=(0.2, 0.3, 0.5)))
    recipe = replace(r.CART, pruning=PRUNERS[name])
    whole = encoded(table)
    grown = grow_and_prune(whole, schema, recipe, 1)
    same_tree(grow_and_prune(cut_up(whole, CUTS, Limits(apart=50)), schema, recipe, 1), grown)
