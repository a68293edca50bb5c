"""The recipe M5 against Weka's M5P: the same splits, and predictions to 1e-6."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import oracle_criteria
import pytest
import weka_m5p as m5p
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_cases import LIMITS, cut_up

import treewright as tw
from treewright.data.rows import take
from treewright.export import to_json
from treewright.training.learn import FitOptions, grow_and_prune, training_table

pd = pytest.importorskip("pandas")

GOLDENS = json.loads(m5p.GOLDENS.read_text(encoding="utf-8"))
RECIPES = {
    "default": tw.M5,
    "unsmoothed": tw.M5.with_(smoothing_rows=0.0),
    "unpruned": tw.M5.with_(pruning=None),
    "unpruned unsmoothed": tw.M5.with_(pruning=None, smoothing_rows=0.0),
    "at least ten": tw.M5.with_(min_samples_split=10),
}


def learned(name: str, option: str) -> tuple[tw.Tree, dict[str, Any]]:
    columns, levels = m5p.table(name)
    typed = {
        column: pd.Categorical(values, categories=levels[column]) if column in levels else values
        for column, values in columns.items()
    }
    return tw.learn(pd.DataFrame(typed), m5p.target_of(name), RECIPES[option], task="regression"), columns


def splits(tree: tw.Tree, columns: dict[str, Any], levels: dict[str, list[str]]) -> list[list[Any]]:
    """The lines of our tree, as `weka_m5p.splits` gives Weka's."""
    names, found = list(columns), []
    for node in tree.walk():
        if node.parent is None:
            continue
        above = tree[node.parent]
        split = above.split
        side = ("<=", ">")[above.children.index(node.id)]
        cut = split.threshold
        held = cut if cut is not None else sorted(levels[split.column].index(one) for one in split.groups[1])
        found.append([node.depth - 1, names.index(split.column), side, held, node.rows if node.is_leaf else None])
    return found


def filled(values: list[Any], levels: list[str] | None) -> np.ndarray:
    """A column with its mean, or its most frequent level, for missing values; levels by their places."""
    if levels is None:
        known = np.array([np.nan if value is None else value for value in values], dtype=float)
        return np.where(np.isnan(known), np.nanmean(known), known)
    codes = np.array([-1 if value is None else levels.index(value) for value in values])
    return np.where(codes < 0, np.bincount(codes[codes >= 0]).argmax(), codes)


def gain(y: np.ndarray, above: np.ndarray) -> float:
    parts = [y[above], y[~above]]
    return float(np.var(y) ** 0.2 - sum(len(part) / len(y) * np.var(part) ** 0.2 for part in parts))


def is_above(x: np.ndarray, cut: Any) -> np.ndarray:
    """Whether each row is on the upper side of a cut that Weka has rounded to three digits."""
    if isinstance(cut, list):
        return np.isin(x, cut)
    values = np.unique(x)
    middles = (values[1:] + values[:-1]) / 2
    return x > middles[np.argmin(np.abs(middles - cut))]


class Comparison:
    """Walks two trees side by side.

    `ties` has the nodes where they take different splits of the same gain, `cut` those that pruning makes a leaf in one
    of them only, `same` the rows that pass none of these.
    """

    def __init__(self, name: str, option: str, golden: dict[str, Any]) -> None:
        self.tree, self.columns = learned(name, option)
        self.levels = m5p.table(name)[1]
        self.x = [filled(values, self.levels.get(column)) for column, values in self.columns.items()]
        self.y = np.array(self.columns[m5p.target_of(name)], dtype=float)
        self.theirs = golden["splits"]
        self.ties: list[int] = []
        self.cut: list[int] = []
        self.same = np.ones(len(self.y), dtype=bool)
        self.place = 0
        self.walk(0, np.ones(len(self.y), dtype=bool))
        assert self.place == len(self.theirs)

    def skip(self, depth: int) -> None:
        """Pass the lines of a subtree whose root has this depth."""
        while self.place < len(self.theirs) and self.theirs[self.place][0] >= depth:
            self.place += 1

    def walk(self, node: int, rows: np.ndarray) -> None:
        view = self.tree[node]
        if view.is_leaf:
            return
        depth, column, _, cut, _ = self.theirs[self.place]
        above = is_above(self.x[column][rows], cut)
        split = view.split
        mine = self.x[list(self.columns).index(split.column)][rows]
        held = split.groups and [self.levels[split.column].index(one) for one in split.groups[1]]
        ours = np.isin(mine, held) if held else mine > split.threshold
        rounded = split.threshold is not None and not isinstance(cut, list) and abs(split.threshold - cut) <= 5.1e-4
        if split.column != list(self.columns)[column] or not (rounded or (above == ours).all()):
            assert gain(self.y[rows], above) == pytest.approx(gain(self.y[rows], ours), abs=1e-9)
            self.ties.append(node)
            self.same[rows] = False
            self.skip(depth)
            return
        for child, side in zip(view.children, (~ours, ours), strict=True):
            below = rows.copy()
            below[rows] = side
            counted = self.theirs[self.place][4]
            self.place += 1
            if (counted is None) == self.tree[child].is_leaf:
                self.cut.append(child)
                self.same[below] = False
                self.skip(depth + 1)
                continue
            assert counted in (None, self.tree[child].rows)
            self.walk(child, below)


#: Where the trees differ, and why. `ties`: nodes where two splits have the same gain; `cut`: nodes that pruning makes a
#: leaf in one tree only; `models`: rows that pass none of these are predicted differently.
EXCEPTIONS = json.loads((m5p.HERE / "goldens_m5" / "exceptions.json").read_text(encoding="utf-8"))


def differences(name: str, option: str, golden: dict[str, Any]) -> dict[str, Any]:
    found = Comparison(name, option, golden)
    predicted = tw.predict(found.tree, found.columns)[:: golden["step"]]
    near = np.abs(predicted - golden["predictions"]) <= 1e-6 * np.abs(found.y).max()
    whole = {"ties": found.ties, "cut": found.cut, "models": not near[found.same[:: golden["step"]]].all()}
    return {kind: where for kind, where in whole.items() if where}


def coefficient_faults(name: str, option: str, golden: dict[str, Any]) -> list[Any]:
    """Where the printed models of leaves differ from ours, beyond the four digits after the point that Weka prints."""
    tree, columns = learned(name, option)
    names, levels = list(columns), m5p.table(name)[1]
    times = m5p.unit(columns, m5p.target_of(name))
    faults = []
    for node, theirs in zip((node for node in tree.walk() if node.is_leaf), golden["models"], strict=True):
        ours: dict[tuple[int, tuple[int, ...]], float] = {}
        for term in node.model.terms:
            spec = tree.schema.columns[term.column]
            held = sorted(levels[spec.name].index(spec.levels[place]) for place in term.levels or ())
            ours[names.index(spec.name), tuple(held)] = term.coefficient * times
        printed = {(column, tuple(held)): value for value, column, held in theirs[1:]}
        pairs = [(node.model.intercept * times, theirs[0])]
        pairs += [(ours.get(term, 0.0), printed.get(term, 0.0)) for term in ours.keys() | printed.keys()]
        faults += [(node.id, *pair) for pair in pairs if abs(pair[0] - pair[1]) > 1e-4 + 1e-6 * abs(pair[1])]
    return faults


def expected(name: str, option: str) -> dict[str, Any]:
    return {key: value for key, value in EXCEPTIONS.get(f"{name}, {option}", {}).items() if key != "why"}


@pytest.mark.parametrize("option", m5p.OPTIONS)
@pytest.mark.parametrize("name", m5p.TABLES)
def test_splits_and_predictions_are_those_of_m5p(name: str, option: str) -> None:
    assert differences(name, option, GOLDENS[name][option]) == expected(name, option)


@pytest.mark.parametrize("option", m5p.WITH_MODELS)
@pytest.mark.parametrize("name", m5p.TABLES)
def test_coefficients_of_leaves_are_those_of_m5p(name: str, option: str) -> None:
    if not expected(name, option):
        assert not coefficient_faults(name, option, GOLDENS[name][option])


def test_every_exception_is_explained() -> None:
    assert all(found["why"] for found in EXCEPTIONS.values())


@pytest.mark.slow
@pytest.mark.skipif(not m5p.JAR.is_file(), reason="Weka is not installed")
@pytest.mark.skipif(not m5p.FOLDER.is_dir(), reason="the tables are not here")
@pytest.mark.parametrize("name", m5p.SHARED)
def test_shared_tables_give_the_trees_of_m5p(name: str) -> None:
    pytest.importorskip("pyarrow")
    for option, golden in m5p.weka(name).items():
        assert differences(name, option, golden) == expected(name, option), option
        if option in m5p.WITH_MODELS and not expected(name, option):
            assert not coefficient_faults(name, option, golden), option


@pytest.mark.slow
@pytest.mark.skipif(not m5p.JAR.is_file(), reason="Weka is not installed")
def test_the_goldens_are_what_weka_says() -> None:
    assert {name: m5p.weka(name) for name in m5p.TABLES} == GOLDENS


@given(st.lists(st.integers(-50, 50), min_size=10, max_size=40), st.integers(0, 1000))
@settings(max_examples=40)
def test_the_first_split_is_the_best_that_leaves_a_fifth_on_each_side(y: list[int], seed: int) -> None:
    x = np.random.default_rng(seed).permutation(len(y)).astype(float)
    table = {"x": x, "y": np.array(y, dtype=float)}
    tree = tw.learn(table, "y", tw.M5.with_(max_depth=1, pruning=None, min_deviation=0.0), task="regression")
    target, least = table["y"], len(y) // 5 + 1
    if np.ptp(target) == 0:
        assert tree.n_leaves == 1
        return
    cuts = [at for at in np.arange(len(y) - 1) + 0.5 if least <= (x < at).sum() <= len(y) - least]
    assert tree.root.split.gain == pytest.approx(max(gain(target, x > at) for at in cuts), rel=1e-6, abs=1e-9)
    whole = oracle_criteria.impurity(tw.criterion.FifthRoot(), [(value, 1.0) for value in target], 0)
    assert tree.root.impurity == pytest.approx(whole)


@pytest.mark.parametrize("option", ["default", "unpruned"])
def test_partitions_and_order_give_the_same_tree(option: str) -> None:
    columns, _ = m5p.table("labor")
    rows, schema = training_table(columns, m5p.TABLES["labor"], FitOptions(task="regression"))
    whole = to_json(grow_and_prune(rows, schema, RECIPES[option], 1))
    order = np.random.default_rng(0).permutation(rows.n_rows)
    assert to_json(grow_and_prune(take(rows, order), schema, RECIPES[option], 2)) == whole
    for limit in LIMITS:
        assert to_json(grow_and_prune(cut_up(rows, [0.2, 0.2, 0.7], limit), schema, RECIPES[option])) == whole


def test_the_mean_that_stands_for_missing_values_may_be_that_of_the_largest_numbers() -> None:
    x = [1e308, 1e308, 1e308, -1e308, None] * 4
    tree = tw.learn({"x": x, "y": [1.0, 1.0, 2.0, 3.0, 5.5] * 4}, "y", tw.M5)
    at_mean, missing = tw.apply(tree, {"x": [5e307, None]})
    assert missing == at_mean


def test_the_mean_of_the_largest_numbers_is_the_largest_number() -> None:
    """Rounded, it is more: a warning, and so an error here."""
    largest, weight = np.finfo(np.float64).max, [1 / 3, 1.0, 0.3, 0.7, 0.1, 1.0, 1.0]
    data = {"x": [largest] * 5 + [None] * 2, "z": range(7), "y": [0.0, 1.0] * 3 + [0.0], "w": weight}
    recipe = tw.CART.with_(missing=tw.missing.Imputed(), pruning=None)
    assert tw.learn(data, "y", recipe, weight="w").n_leaves > 1


@pytest.mark.parametrize("pruner", [tw.pruning.ReducedError(), tw.pruning.ErrorBased()])
def test_a_tree_of_imputed_values_is_pruned_by_its_rows(pruner: Any) -> None:
    data = {"x": [1.0, 2, 3, 4, None] * 8, "y": ["u", "v", "u", "w", "w"] * 8}
    tree = tw.learn(data, "y", tw.CART.with_(missing=tw.missing.Imputed(), pruning=None))
    assert tw.predict(tw.prune(tree, pruner, data), data).tolist() == data["y"]
