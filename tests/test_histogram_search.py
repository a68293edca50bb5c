"""Histograms with zoom against the exhaustive search: the same tree, whatever the table.

Structure, thresholds, statistics and gains are identical, bit for bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright import _core

SAME = [
    "parent",
    "depth",
    "stop",
    "rows",
    "weight",
    "stats",
    "value",
    "child_start",
    "children",
    "missing",
    "unseen",
    "break_start",
    "breaks",
    "bin_start",
    "child_of_bin",
    "share_start",
    "share",
    "column",
    "impurity",
    "gain",
    "score",
]


def grow(columns: list[Any], kinds: list[int], levels: list[int], target: Any, recipe: tw.Recipe, **how: Any) -> Any:
    classes = 0 if target.dtype == np.float64 else int(target.max()) + 1
    weight = how.pop("weight", None)
    how["has_missing"] = _core.check_values(columns, kinds, len(target), 1, weight)[0]
    return _core.grow(columns, kinds, levels, target, classes, weight, recipe.as_dict(), 2, None, **how)


def assert_same(
    columns: list[Any], kinds: list[int], levels: list[int], target: Any, recipe: tw.Recipe, weight: Any = None
) -> None:
    fast = grow(columns, kinds, levels, target, recipe, weight=weight)
    slow = grow(columns, kinds, levels, target, recipe, weight=weight, exhaustive=True)
    for name in SAME:
        np.testing.assert_array_equal(fast[name], slow[name], err_msg=name)


def numbers(rng: np.random.Generator, rows: int, shape: str) -> Any:
    if shape == "many":
        return rng.normal(size=rows)
    if shape == "few":
        return rng.integers(0, 7, size=rows).astype(np.float64)
    if shape == "lumps":  # most rows share one value, the rest are spread
        return np.where(rng.random(rows) < 0.6, 0.0, rng.normal(size=rows))
    return np.round(rng.normal(size=rows), 2)  # some hundred distinct values


def target_of(rng: np.random.Generator, columns: list[Any], kind: str) -> Any:
    signal = columns[0] + 0.5 * columns[1] * columns[2] + rng.normal(size=len(columns[0]))
    if kind == "number":
        return signal
    if kind == "dyadic":
        return np.round(signal * 4) / 4
    if kind == "count":
        return np.maximum(0.0, np.round(2 * signal + 1))
    cuts = [0.0] if kind == "two" else np.quantile(signal, [0.2, 0.5, 0.6, 0.9])
    return np.searchsorted(cuts, signal).astype(np.int32)


LIKELIHOOD_RATIO = tw.criterion.ChiSquare(likelihood_ratio=True)
CRITERIA: dict[str, list[Any]] = {
    "two": ["gini", "information_gain", "gain_ratio", "misclassification"],
    "five": ["gini", "information_gain", "gain_ratio", "misclassification"],
    "number": ["variance"],
    "dyadic": ["variance"],
}
# Those whose cuts are scored by both sides together.
PAIRED: dict[str, list[Any]] = {
    "two": ["twoing", "hellinger", "chi_square", LIKELIHOOD_RATIO],
    "five": ["twoing", "chi_square", LIKELIHOOD_RATIO],
    "number": ["standard_deviation", "f"],
    "dyadic": ["standard_deviation", "f"],
    "count": ["poisson", "f"],
}
# Those that need rows to score a cut.
BY_ROWS: dict[str, list[Any]] = {target: ["absolute_error"] for target in ("number", "dyadic", "count")}
ALL = (CRITERIA, PAIRED, BY_ROWS)
CASES = [(target, criterion) for names in ALL for target in names for criterion in names[target]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [40, 900, 5000])
@pytest.mark.parametrize(("target", "criterion"), CASES, ids=str)
def test_the_tree_is_that_of_the_exhaustive_search(target: str, criterion: Any, rows: int, seed: int) -> None:
    rng = np.random.default_rng([seed, rows])
    columns = [numbers(rng, rows, shape) for shape in ("many", "few", "lumps", "rounded")]
    labels = target_of(rng, columns, target)
    field = "regression" if labels.dtype == np.float64 else "criterion"
    recipe = replace(
        tw.SKLEARN,
        **{field: criterion},
        rivals=0,
        stopping=tw.stopping.Stopping(max_depth=8, min_samples_leaf=1 + 3 * seed),
    )
    assert_same(columns, [0] * 4, [0] * 4, labels, recipe)


@pytest.mark.parametrize("shape", ["even", "crowded", "rounded", "two ends"])
@pytest.mark.parametrize(
    ("target", "criterion"),
    [
        ("two", "gini"),
        ("two", "misclassification"),
        ("five", "information_gain"),
        ("number", "variance"),
        ("two", "hellinger"),
        ("five", "twoing"),
        ("number", "standard_deviation"),
        ("count", "poisson"),
        ("number", "f"),
        ("number", "absolute_error"),
        ("count", "absolute_error"),
    ],
)
def test_a_bin_of_thousands_of_values(target: str, criterion: str, shape: str) -> None:
    """Bins go by every fifth row, which are spread; all other rows lie close together and fall into one bin."""
    rng = np.random.default_rng(11)
    rows = 20_000
    close = rng.random(rows) - 0.5
    if shape == "crowded":
        close = close**15 * 2**14
    if shape == "rounded":
        close = np.round(close, 3)
    if shape == "two ends":
        close = np.sign(close) * (0.4 + 1e-9 * close)
    x = np.where(np.arange(rows) % 5 == 0, rng.choice([-1, 1], rows) * (1 + rng.random(rows)), close)
    gappy = np.where(np.arange(rows) % 50 == 7, np.nan, x)
    other = rng.normal(size=rows)
    signal = np.sin(9 * x) + 0.3 * other + rng.normal(size=rows)
    labels = target_of(rng, [signal, other * 0, other * 0], target)
    field = "regression" if labels.dtype == np.float64 else "criterion"
    recipe = replace(
        tw.SKLEARN, **{field: criterion}, rivals=0, stopping=tw.stopping.Stopping(max_depth=3, min_samples_leaf=3)
    )
    assert_same([x, other], [0] * 2, [0] * 2, labels, recipe)
    assert_same([gappy, other], [0] * 2, [0] * 2, labels, recipe)
    if criterion in ("gini", "variance", "absolute_error"):
        assert_same([x, other], [0] * 2, [0] * 2, labels, recipe, weight=rng.integers(0, 4, rows).astype(np.float64))


@pytest.mark.parametrize("target", ["two", "number"])
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("least", [1, 40])
def test_few_levels_with_gains_that_are_estimated(target: str, depth: int, least: int) -> None:
    """Without rivals only cuts near the best are scored, and with few levels to come small nodes are counted too."""
    rng = np.random.default_rng(depth)
    rows = 3000
    noise = [rng.normal(size=rows).round(places) for places in (1, 2, 8)]
    skewed = np.where(rng.random(rows) < 0.9, 0.0, rng.exponential(size=rows))
    columns: list[Any] = [*noise, skewed, rng.permutation(rows).astype(float), np.repeat(1.0, rows)]
    signal = columns[4] > rows - 9  # a corner that only the last bin has
    if target == "two":
        truth: Any = (signal | (rng.random(rows) < 0.02)).astype(np.int32)
    else:
        truth = signal * 7.0 + rng.normal(size=rows).round(2)
    recipe = replace(tw.CART, rivals=0, stopping=tw.stopping.Stopping(max_depth=depth, min_samples_leaf=least))
    assert_same(columns, [0] * 6, [0] * 6, truth, recipe)
    columns[0][::7] = np.nan
    assert_same(columns, [0] * 6, [0] * 6, truth, replace(recipe, missing="majority"))


@pytest.mark.parametrize("rivals", [0, 3])
def test_levels_and_missing_values_beside_coded_columns(rivals: int) -> None:
    rng = np.random.default_rng(5)
    rows = 4000
    columns = [numbers(rng, rows, shape) for shape in ("many", "rounded", "lumps")]
    labels = target_of(rng, columns, "two")
    gappy = np.where(rng.random(rows) < 0.2, np.nan, columns[0])
    levels = rng.integers(0, 6, size=rows).astype(np.int32)
    recipe = replace(tw.CART, missing="majority", rivals=rivals, stopping=tw.stopping.Stopping(max_depth=6))
    assert_same([*columns, gappy, levels], [0, 0, 0, 0, 2], [0, 0, 0, 0, 6], labels, recipe)


@pytest.mark.parametrize("missing", ["majority", "learned"])
@pytest.mark.parametrize("rivals", [1, 3, 20])
@pytest.mark.parametrize("target", ["two", "five", "number"])
def test_rivals_among_columns_that_are_nearly_alike(target: str, rivals: int, missing: str) -> None:
    """Which columns are among the best shows only inside their bins, so that each raises what the others must beat."""
    rng = np.random.default_rng(rivals)
    rows = 6000
    noise = [rng.normal(size=rows) for _ in range(5)]
    twins = [noise[0] + 0.01 * rng.normal(size=rows) for _ in range(3)]
    copies = [noise[1].copy(), numbers(rng, rows, "few"), np.round(noise[2], 2)]
    columns: list[Any] = [*noise, *twins, *copies]
    labels = target_of(rng, columns, target)
    columns[2][::9] = np.nan
    columns.append(rng.integers(0, 9, size=rows).astype(np.int32))
    kinds, levels = [0] * 11 + [2], [0] * 11 + [9]
    recipe = replace(tw.CART, missing=missing, rivals=rivals, stopping=tw.stopping.Stopping(max_depth=4))
    assert_same(columns, kinds, levels, labels, recipe)
    assert_same(columns, kinds, levels, labels, recipe, weight=rng.integers(0, 3, rows).astype(np.float64))


@pytest.mark.parametrize("missing", ["fractional", "surrogate", "own", "majority", "random", "learned", "ignore"])
@pytest.mark.parametrize("target", ["two", "five", "number"])
def test_missing_values_under_every_policy(target: str, missing: str) -> None:
    rng = np.random.default_rng(7)
    rows = 3000
    columns = [numbers(rng, rows, shape) for shape in ("many", "rounded", "lumps", "few")]
    labels = target_of(rng, columns, target)
    gappy = [np.where(rng.random(rows) < 0.15, np.nan, column) for column in columns]
    gappy[1][labels > labels.mean()] = np.nan  # missing for a reason: known against missing is a good question
    recipe = replace(tw.CART, missing=missing, rivals=0, stopping=tw.stopping.Stopping(max_depth=7, min_samples_leaf=3))
    assert_same(gappy, [0] * 4, [0] * 4, labels, recipe)


@pytest.mark.parametrize("missing", ["learned", "majority"])
@pytest.mark.parametrize("weights", ["whole", "fractions", "mask"])
@pytest.mark.parametrize(("target", "criterion"), CASES, ids=str)
def test_weights(target: str, criterion: Any, weights: str, missing: str) -> None:
    rng = np.random.default_rng(8)
    rows = 2500
    columns = [numbers(rng, rows, shape) for shape in ("many", "rounded", "lumps")]
    labels = target_of(rng, columns, target)
    columns[0] = np.where(rng.random(rows) < 0.1, np.nan, columns[0])
    weight = {
        "whole": rng.integers(0, 4, size=rows).astype(np.float64),
        "fractions": rng.random(rows),
        "mask": (rng.random(rows) < 0.7).astype(np.float64),
    }[weights]
    field = "regression" if labels.dtype == np.float64 else "criterion"
    stopping = tw.stopping.Stopping(max_depth=7, min_weight_leaf=2.5)
    recipe = replace(tw.CART, **{field: criterion}, missing=missing, rivals=0, stopping=stopping)
    assert_same(columns, [0] * 3, [0] * 3, labels, recipe, weight)


@pytest.mark.parametrize("missing", ["surrogate", "own", "majority", "learned"])
@pytest.mark.parametrize(
    ("target", "criterion"),
    [("two", "chi_square"), ("five", "twoing"), ("number", "f"), ("count", "poisson"), ("number", "absolute_error")],
)
def test_other_scores_beside_missing_values(target: str, criterion: str, missing: str) -> None:
    """A p depends on how many rows have a value: columns compare by p, cuts of a column by the statistic."""
    rng = np.random.default_rng(17)
    columns, kinds, levels, whole = gappy_table(rng, 3000, 0.2)
    field = "criterion" if target in ("two", "five") else "regression"
    stopping = tw.stopping.Stopping(max_depth=6, min_samples_leaf=2)
    recipe = replace(tw.CART, **{field: criterion}, missing=missing, rivals=3, stopping=stopping)
    assert_same(columns, kinds, levels, target_of(rng, whole, target), recipe)


@pytest.mark.parametrize("rivals", [0, 2])
@pytest.mark.parametrize("base", [tw.SKLEARN, tw.CART, tw.C45, tw.J48], ids=lambda recipe: recipe.name)
def test_columns_are_drawn(base: tw.Recipe, rivals: int) -> None:
    """Constant columns are not drawn: one here is constant everywhere, some are in small nodes."""
    rng = np.random.default_rng(18)
    columns, kinds, levels, whole = gappy_table(rng, 4000, 0.0 if base is tw.SKLEARN else 0.1)
    columns.append(np.full(4000, 0.1))
    for drawn in (1, 3, 6):
        recipe = replace(base, rivals=rivals, stopping=replace(base.stopping, max_depth=9, max_features=drawn))
        assert_same(columns, [*kinds, 0], [*levels, 0], target_of(rng, whole, "two"), recipe)


@pytest.mark.parametrize("rivals", [0, 2])
@pytest.mark.parametrize("base", [tw.SKLEARN, tw.CART], ids=lambda recipe: recipe.name)
def test_columns_are_drawn_where_rows_score_a_cut(base: tw.Recipe, rivals: int) -> None:
    rng = np.random.default_rng(18)
    columns, kinds, levels, whole = gappy_table(rng, 3000, 0.0 if base is tw.SKLEARN else 0.1)
    recipe = base.with_(regression="absolute_error", max_depth=7, max_features=2, rivals=rivals)
    assert_same(columns, kinds, levels, target_of(rng, whole, "number"), recipe)


def test_medians_that_jump_over_rows_to_come() -> None:
    """Along the column the targets are far out on both sides in turn, and all others lie between them."""
    rows = 6000
    x = np.arange(rows, dtype=np.float64)
    target = (rows - x) * np.where(x % 2 == 0, 1.0, -1.0)
    recipe = tw.SKLEARN.with_(regression="absolute_error", max_depth=4, rivals=0)
    for columns in ([x], [-x], [x, np.where(x % 3 == 0, np.nan, x)]):
        chosen = recipe if len(columns) == 1 else recipe.with_(missing="majority")
        assert_same(columns, [0] * len(columns), [0] * len(columns), target, chosen)


def test_observed_thresholds_and_significant_divisions_by_medians() -> None:
    rng = np.random.default_rng(21)
    columns, kinds, levels, whole = gappy_table(rng, 3000, 0.1)
    base = tw.CART.with_(regression="absolute_error", missing="majority", max_depth=6, pruning=None)
    observed = replace(base, numeric=tw.numeric.Threshold(at="observed"))
    significant = replace(base, stopping=tw.stopping.Stopping(max_depth=6, significance=0.001))
    for recipe in (observed, significant):
        assert_same(columns, kinds, levels, target_of(rng, whole, "number"), recipe)


def test_a_wide_bin_of_one_value_is_constant_when_columns_are_drawn() -> None:
    rng = np.random.default_rng(19)
    lone = np.full(5000, 0.25)
    lone[:300] = rng.normal(size=300)  # spread where the other column is low, one value where it is high
    other = np.where(np.arange(5000) < 300, -1.0, rng.random(5000))
    answers = ((other > 0.5) ^ (rng.random(5000) < 0.1)).astype(np.int32)
    for seed in range(5):
        recipe = replace(tw.SKLEARN, seed=seed, stopping=tw.stopping.Stopping(max_depth=8, max_features=1))
        assert_same([lone, other], [0] * 2, [0] * 2, answers, recipe)


def gappy_table(rng: np.random.Generator, rows: int, share: float) -> tuple[list[Any], list[int], list[int], list[Any]]:
    """Columns with missing values (four of numbers, two of levels), their kinds and levels; and the numbers whole."""
    whole = [numbers(rng, rows, shape) for shape in ("many", "rounded", "lumps", "few")]
    columns = [np.where(rng.random(rows) < share, np.nan, column) for column in whole]
    named = [rng.integers(0, levels, rows).astype(np.int32) for levels in (3, 6)]
    columns += [np.where(rng.random(rows) < share, np.int32(-1), codes) for codes in named]
    return columns, [0, 0, 0, 0, 2, 2], [0, 0, 0, 0, 3, 6], whole


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
@pytest.mark.parametrize(
    ("target", "criterion", "branching"),
    [(*case, b) for case in CASES for b in ("each_value", "binary") if "twoing" not in case or b == "binary"],
    ids=str,
)
def test_rows_are_spread(target: str, criterion: Any, share: float, branching: str) -> None:
    rng = np.random.default_rng(12)
    columns, kinds, levels, whole = gappy_table(rng, 2500, share)
    labels = target_of(rng, whole, target)
    weight = rng.integers(0, 3, 2500) / 2 if target in ("five", "dyadic") else None
    field = "regression" if labels.dtype == np.float64 else "criterion"
    recipe = replace(tw.CART, **{field: criterion}, missing="fractional", branching=branching)
    recipe = replace(recipe, rivals=0, stopping=tw.stopping.Stopping(max_depth=6, min_weight_leaf=2))
    assert_same(columns, kinds, levels, labels, recipe, weight)


THRESHOLDS = {
    "observed": tw.numeric.Threshold(at="observed"),
    "tenth": tw.numeric.Threshold(min_tenth_per_class=True),
    "penalised": tw.numeric.Threshold(mdl_penalty=True),
    "gap": tw.numeric.Threshold(min_gap=0.002),
    "wide gap": tw.numeric.Threshold(min_gap=0.3),
    "C4.5's": tw.C45.numeric,
}


@pytest.mark.parametrize("slack", [0.0, 1e-6, 0.01 + 1e-7])  # no shares of few rows differ by just this
@pytest.mark.parametrize("missing", ["fractional", "majority", "learned", "surrogate"])
@pytest.mark.parametrize(
    ("rules", "criterion"),
    [(rules, c) for rules in THRESHOLDS for c in ("gain_ratio", "information_gain")]
    + [(rules, "gini") for rules in ("observed", "gap", "wide gap")],  # the others are in bits
)
def test_thresholds_with_rules_of_their_own(rules: str, criterion: str, missing: str, slack: float) -> None:
    rng = np.random.default_rng(13)
    rows = 3000
    columns, kinds, levels, whole = gappy_table(rng, rows, 0.1)
    stopping = tw.stopping.Stopping(max_depth=9, min_weight_split=4.0, min_weight_two=2.0, min_samples_leaf=2)
    numeric = THRESHOLDS[rules]
    recipe = replace(
        tw.C45, numeric=numeric, criterion=criterion, missing=missing, tie_tolerance=slack, stopping=stopping
    )
    for target in ("two", "five"):
        assert_same(columns, kinds, levels, target_of(rng, whole, target), recipe)


@pytest.mark.parametrize("recipe", [tw.C45, tw.J48], ids=lambda recipe: recipe.name)
@pytest.mark.parametrize("rows", [60, 1000, 20_000])
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_the_recipes_of_c45(recipe: tw.Recipe, rows: int, share: float) -> None:
    rng = np.random.default_rng([14, rows])
    columns, kinds, levels, whole = gappy_table(rng, rows, share)
    for target in ("two", "five"):
        assert_same(columns, kinds, levels, target_of(rng, whole, target), recipe)


@pytest.mark.parametrize("recipe", [tw.C45, tw.J48], ids=lambda recipe: recipe.name)
@pytest.mark.parametrize("gap", [1e-4, 1e-3, 0.02])
@pytest.mark.parametrize("weighted", [False, True])
def test_cuts_between_close_values_are_not_counted(recipe: tw.Recipe, gap: float, weighted: bool) -> None:
    """Thousands of values, from next to each other to alone among gaps; a wrong number of cuts is another gain."""
    rng = np.random.default_rng(15)
    rows = 12_000
    crowded, apart = rng.normal(size=rows), rng.normal(size=rows)
    whole = [
        crowded,
        np.round(apart, 3),
        np.exp(3 * rng.normal(size=rows)),
        np.where(rng.random(rows) < 0.7, np.round(crowded), crowded + rng.normal(size=rows) / 100),
    ]
    recipe = replace(recipe, numeric=replace(recipe.numeric, min_gap=gap), pruning=None)
    weight = rng.integers(1, 4, rows) / 2 if weighted else None
    for target in ("two", "five"):
        assert_same(whole, [0] * 4, [0] * 4, target_of(rng, whole, target), recipe, weight)


def test_numbers_of_all_sizes_with_a_significant_division_only() -> None:
    rng = np.random.default_rng(15)
    columns, kinds, levels, whole = gappy_table(rng, 3000, 0.1)
    stopping = tw.stopping.Stopping(significance=0.001)
    for target in ("two", "number"):
        recipe = replace(tw.CART, missing="majority", stopping=stopping, pruning=None)
        assert_same(columns, kinds, levels, target_of(rng, whole, target), recipe)


def test_spread_rows_where_leaves_are_limited() -> None:
    rng = np.random.default_rng(16)
    columns, kinds, levels, whole = gappy_table(rng, 4000, 0.1)
    recipe = replace(
        tw.CART, missing="fractional", rivals=2, stopping=tw.stopping.Stopping(max_leaf_nodes=30), pruning=None
    )
    for target in ("two", "number"):
        assert_same(columns, kinds, levels, target_of(rng, whole, target), recipe)


def test_a_mask_of_weights_is_the_table_without_these_rows() -> None:
    rng = np.random.default_rng(9)
    columns = [numbers(rng, 4000, shape) for shape in ("many", "rounded", "lumps")]
    kept = rng.random(4000) < 0.6
    coded = _core.BinnedTable(columns, [0] * 3, 4000, 2)
    recipe = replace(tw.SKLEARN, rivals=0, stopping=tw.stopping.Stopping(max_depth=8))
    for kind in ("two", "five", "number"):
        labels = target_of(rng, columns, kind)
        masked = grow(columns, [0] * 3, [0] * 3, labels, recipe, weight=kept.astype(np.float64), binned=coded)
        alone = grow([column[kept] for column in columns], [0] * 3, [0] * 3, labels[kept], recipe)
        for name in SAME:
            np.testing.assert_array_equal(masked[name], alone[name], err_msg=name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_is_read_where_it_lies(dtype: Any) -> None:
    rng = np.random.default_rng(10)
    matrix = rng.normal(size=(3000, 4)).astype(dtype)
    labels = target_of(rng, list(matrix.T.astype(np.float64)), "two")
    recipe = replace(tw.SKLEARN, rivals=0, stopping=tw.stopping.Stopping(max_depth=8))
    views = [matrix[:, i] for i in range(4)]
    assert not views[0].flags.c_contiguous
    in_place = grow(views, [0] * 4, [0] * 4, labels, recipe)
    copied = grow([np.ascontiguousarray(view, np.float64) for view in views], [0] * 4, [0] * 4, labels, recipe)
    for name in SAME:
        np.testing.assert_array_equal(in_place[name], copied[name], err_msg=name)


def test_leaf_limit_and_smoothing() -> None:
    rng = np.random.default_rng(6)
    columns = [numbers(rng, 6000, shape) for shape in ("many", "rounded", "lumps")]
    for labels in (target_of(rng, columns, "two"), target_of(rng, columns, "number")):
        recipe = replace(tw.SKLEARN, rivals=0, stopping=tw.stopping.Stopping(max_leaf_nodes=40))
        assert_same(columns, [0] * 3, [0] * 3, labels, recipe)
    smooth = replace(
        tw.SKLEARN,
        rivals=0,
        leaves=tw.stopping.Leaves(smoothing="m_estimate"),
        stopping=tw.stopping.Stopping(max_depth=9),
    )
    assert_same(columns, [0] * 3, [0] * 3, target_of(rng, columns, "five"), smooth)


@pytest.mark.parametrize("recipe", [tw.C45, tw.J48, tw.CART, tw.CHAID], ids=lambda recipe: recipe.name)
def test_minus_zero_is_zero_in_any_order_of_rows(recipe: tw.Recipe) -> None:
    x = np.array([-0.0, 0.0, -0.0, 0.0, 1.0, 1.0, 2.0, 2.0] * 20)
    y = np.array(["a", "a", "a", "a", "b", "b", "b", "a"] * 20)
    turned = slice(None, None, -1)
    assert tw.learn({"x": x, "y": y}, "y", recipe) == tw.learn({"x": x[turned], "y": y[turned]}, "y", recipe)


def level_table(rng: np.random.Generator, rows: int, share: float) -> tuple[list[Any], list[int], list[int], Any]:
    """Columns of 2 to 5,000 levels, two of them ordinal, with missing values; and a signal of all of them."""
    levels = [2, 7, 40, 300, 5000, 12, 90]
    columns = [rng.integers(0, count, rows).astype(np.int32) for count in levels]
    signal = sum(rng.normal(size=count)[codes] for count, codes in zip(levels, columns, strict=True))
    gappy = [np.where(rng.random(rows) < share, np.int32(-1), codes) for codes in columns]
    return gappy, [2, 2, 2, 2, 2, 1, 1], levels, signal + rng.normal(size=rows)


BRANCHINGS = {
    "CART": (tw.CART, {}),
    "CART, learned": (tw.CART, {"missing": "learned"}),
    "CART, own": (tw.CART, {"missing": "own"}),
    "one level": (tw.CART, {"branching": "one_vs_rest", "missing": "learned"}),
    "C4.5": (tw.C45, {}),
    "C4.5, grouped": (tw.C45, {"branching": "grouped"}),
    "J48": (tw.J48, {}),
    "ID3": (tw.ID3, {}),
    "CHAID": (tw.CHAID, {}),
}


@pytest.mark.parametrize("beside", ["alone", "numbers", "few"])
@pytest.mark.parametrize("name", BRANCHINGS)
@pytest.mark.parametrize("target", ["two", "five", "number"])
def test_levels_are_counted_in_large_nodes(target: str, name: str, beside: str) -> None:
    base, changes = BRANCHINGS[name]
    if target == "number" and base not in (tw.CART, tw.CHAID):
        target = "two"
    rng = np.random.default_rng([20, len(name)])
    rows = 3000
    columns, kinds, levels, signal = level_table(rng, rows, 0.0 if base is tw.ID3 else 0.05)
    if beside == "few" or name in ("C4.5, grouped", "CHAID"):  # each is counted, and gains are known before
        columns, kinds, levels = columns[:3] + columns[5:], kinds[:3] + kinds[5:], levels[:3] + levels[5:]
    if beside == "numbers" and base is not tw.ID3:
        columns, kinds, levels = [signal + rng.normal(size=rows), *columns], [0, *kinds], [0, *levels]
    answers = target_of(rng, [signal, signal * 0, signal * 0], target)
    recipe = replace(base, **changes, stopping=replace(base.stopping, max_depth=5))
    weight = rng.integers(0, 3, rows).astype(np.float64) if beside == "numbers" else None
    assert_same(columns, kinds, levels, answers, recipe, weight)
