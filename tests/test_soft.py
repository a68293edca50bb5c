"""Soft thresholds: weights and bands by brute force, explanations, saving, and what refuses them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_cases import soft_case
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.tree.soft import Soft

FULL = tw.CART.with_(pruning=None, max_depth=3)


def table(n: int, seed: int, *, numeric: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n).round(1), rng.normal(size=n).round(1)
    x[rng.random(n) < 0.1] = np.nan
    y = np.nan_to_num(x) * 2 + z + rng.normal(size=n)
    level = rng.choice(["a", "b"], n)
    return {"x": x, "z": z, "c": level, "y": y if numeric else np.array(["no", "yes"])[(y > 0).astype(int)]}


def soft_tree(n: int, seed: int, *, numeric: bool = False, missing: str = "fractional") -> tw.Tree:
    data = table(n, seed, numeric=numeric)
    return tw.soften(tw.learn(data, "y", FULL.with_(missing=missing)), data)


def weight_above(x: float, lower: float, middle: float, upper: float) -> float:
    """Return the definition: 0, a half and 1 at three points, and straight lines between them."""
    return float(np.interp(x, [lower, middle, upper], [0.0, 0.5, 1.0]))


def predicted(tree: tw.Tree, row: dict[str, Any], node: int = 0) -> Any:
    """Return the prediction of one row, from the three points of each threshold and the shares of missing values."""
    split, children = tree[node].split, tree[node].children
    if split is None:
        return tree.arrays["value"][node]
    value = row[split.column]
    if split.spec.levels is not None:
        parts = {split.child_of_bin[split.spec.levels.index(value)]: 1.0}
    elif math.isnan(value):
        parts = dict(enumerate(split.share))
    elif split.band is not None and split.band[0] < value < split.band[1]:
        above = weight_above(value, split.band[0], split.breaks[0], split.band[1])
        parts = {split.child_of_bin[0]: 1 - above, split.child_of_bin[1]: above}
    else:
        parts = {split.child_of_bin[int(value > split.breaks[0])]: 1.0}
    return sum(part * predicted(tree, row, children[child]) for child, part in parts.items())


@pytest.mark.parametrize("numeric", [False, True])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_predictions_follow_the_three_points(numeric: bool, seed: int) -> None:
    tree, rows = soft_tree(60, seed, numeric=numeric), table(40, seed + 1, numeric=numeric)
    found = tw.predict(tree, rows)[:, np.newaxis] if numeric else tw.predict_proba(tree, rows)
    for i in range(40):
        row = {name: values[i] for name, values in rows.items()}
        assert found[i] == pytest.approx(predicted(tree, row), abs=1e-12)


def errors_of(tree: tw.Tree, node: int, data: dict[str, Any], cut: float) -> float:
    """Return the wrong rows of a node if its threshold were `cut`, by asking a tree with that threshold."""
    arrays = {name: np.array(values) for name, values in tree.arrays.items()}
    arrays["breaks"][arrays["break_start"][arrays["split_start"][node]]] = cut
    moved = replace(tree, arrays=arrays)
    return float((tw.predict(moved, data) != data["y"]).sum())


def test_the_ends_of_a_band_are_where_errors_are_one_standard_error_more() -> None:
    data = table(150, 0)
    data["x"] = np.nan_to_num(data["x"])
    crisp = tw.learn(data, "y", FULL.with_(max_depth=1))
    tree = tw.soften(crisp, data)
    split = tree.root.split
    assert split is not None
    assert split.band is not None
    base = errors_of(crisp, 0, data, split.breaks[0])
    limit = base + math.sqrt((base + 0.5) * (150 - base + 0.5) / 151)
    cuts = np.unique(data[split.column])
    for end, side in (
        (split.band[0], cuts[cuts < split.breaks[0]][::-1]),
        (split.band[1], cuts[cuts > split.breaks[0]]),
    ):
        points = [(split.breaks[0], base), *((cut, errors_of(crisp, 0, data, cut)) for cut in side)]
        expected = points[-1][0]
        for (a, e), (b, f) in itertools.pairwise(points):
            if f >= limit:
                expected = a + (b - a) * (limit - e) / (f - e)
                break
        assert end == pytest.approx(expected)


def test_a_band_of_numbers_loses_one_standard_error_of_squares() -> None:
    data = table(150, 1, numeric=True)
    crisp = tw.learn(data, "y", FULL.with_(max_depth=1))
    split = tw.soften(crisp, data).root.split
    assert split is not None
    assert split.band is not None
    known = ~np.isnan(data[split.column])
    x, y = data[split.column][known], data["y"][known]
    low, high = (float(crisp.arrays["value"][child, 0]) for child in crisp.root.children)

    def squares(cut: float) -> Any:
        return np.where(x <= cut, y - low, y - high) ** 2

    losses = squares(split.breaks[0])
    limit = losses.sum() + math.sqrt(((losses - losses.mean()) ** 2).sum())
    for end in split.band:
        cuts = np.unique(x)
        near = cuts[np.searchsorted(cuts, end) - 1], cuts[min(np.searchsorted(cuts, end), len(cuts) - 1)]
        around = sorted(squares(cut).sum() for cut in (*near, split.breaks[0]))
        assert around[0] <= limit
        assert around[-1] >= limit or end in (cuts[0], cuts[-1])


def test_the_bootstrap_gives_the_range_of_the_cuts() -> None:
    data = table(120, 2)
    crisp = tw.learn(data, "y", FULL)
    tree = tw.soften(crisp, data, method="bootstrap", resamples=20, seed=3, n_threads=1)
    assert tree == tw.soften(crisp, data, method="bootstrap", resamples=20, seed=3, n_threads=2)
    assert tree.soft is not None
    found = tw.stability(crisp, data, resamples=20, seed=3)
    for one in found.splits:
        band = tree.soft.band(one.node)
        if band is not None:
            low, high = one.cut_range or (math.nan, math.nan)
            threshold = one.split.threshold or 0.0
            assert band == (min(low, threshold), max(high, threshold))


# --- everything follows -----------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_shap_values_are_those_of_the_definition(seed: int) -> None:
    tree, rows = soft_tree(60, seed), table(5, seed + 1)
    found = tw.shap_values(tree, rows)
    columns = [i for i, name in enumerate(tree.schema.names) if name != "y"]

    def game(row: dict[str, Any], known: frozenset[str], node: int = 0) -> Any:
        split, children = tree[node].split, tree[node].children
        if split is None:
            return tree.arrays["value"][node]
        if split.column in known:
            alone = {name: row[name] for name in row}
            parts = _parts(tree, node, alone)
        else:
            total = sum(tree[child].weight for child in children)
            parts = {i: tree[child].weight / total for i, child in enumerate(children)}
        return sum(part * game(row, known, children[child]) for child, part in parts.items())

    names = [tree.schema.names[i] for i in columns]
    for r in range(5):
        row = {name: values[r] for name, values in rows.items()}
        for name in names:
            others = [other for other in names if other != name]
            value: Any = 0.0
            for size in range(len(others) + 1):
                factor = math.factorial(size) * math.factorial(len(others) - size) / math.factorial(len(names))
                for some in itertools.combinations(others, size):
                    value = value + factor * (game(row, frozenset({*some, name})) - game(row, frozenset(some)))
            assert found.values[r, tree.schema.names.index(name)] == pytest.approx(value, abs=1e-9)


def _parts(tree: tw.Tree, node: int, row: dict[str, Any]) -> dict[int, float]:
    split = tree[node].split
    assert split is not None
    value = row[split.column]
    if split.spec.levels is not None:
        return {split.child_of_bin[split.spec.levels.index(value)]: 1.0}
    if math.isnan(value):
        return dict(enumerate(split.share))
    if split.band is not None and split.band[0] < value < split.band[1]:
        above = weight_above(value, split.band[0], split.breaks[0], split.band[1])
        return {split.child_of_bin[0]: 1 - above, split.child_of_bin[1]: above}
    return {split.child_of_bin[int(value > split.breaks[0])]: 1.0}


def test_a_row_is_explained_by_both_paths() -> None:
    data = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": list("aaabaabb")}
    tree = tw.soften(tw.learn(data, "y", tw.CART.with_(max_depth=1, pruning=None)), data)
    found = tw.explain_row(tree, {"x": 6})
    assert [path.weight for path in found.paths] == pytest.approx([0.6545, 0.3455], abs=1e-4)
    assert sum(branch.share for branch in found.steps[0].branches) == pytest.approx(1.0)
    assert "x is 6, between 4.88197 and 7.11803: both branches" in found.text()
    assert tw.apply(tree, {"x": [6, 6.6]}).tolist() == [1, 2]
    changed = tw.counterfactuals(tree, {"x": 6})
    assert [one.prediction for one in changed] == ["b"]


def test_text_rules_and_page_say_about() -> None:
    tree = soft_tree(100, 3)
    assert tree.soft is not None
    assert " about " in str(tree)
    assert f"{len(tree.soft.node)} soft thresholds" in str(tree)
    assert " about " in str(tw.rules(tree))
    assert any(" about " in text for text in tw.report(tree)["nodes"]["condition"])
    assert " about " in tw.export.dot(tree)


def test_soft_trees_are_saved_and_others_as_before(tmp_path: Path) -> None:
    tree, rows = soft_tree(100, 4), table(50, 5)
    tw.save(tree, tmp_path / "tree.json")
    again = tw.load(tmp_path / "tree.json")
    assert again == tree
    assert (tw.predict_proba(again, rows) == tw.predict_proba(tree, rows)).all()
    crisp = replace(tree, soft=None)
    assert crisp != tree
    assert "soft" not in crisp.as_dict()


def test_any_made_up_tree_can_be_soft() -> None:
    for seed in range(20):
        case = soft_case(seed, depth=3)
        whole = tw.predict(case.tree, case.rows)
        assert [tw.predict(case.tree, case.rows.slice(i, 1))[0] for i in range(5)] == whole[:5].tolist()


def test_bad_input_is_refused() -> None:
    data = table(80, 6)
    crisp = tw.learn(data, "y", FULL)
    tree = tw.soften(crisp, data)
    assert tw.soften(tree, data) == tree
    with pytest.raises(tw.DataError, match="method must be 'error' or 'bootstrap', not 'wide'"):
        tw.soften(crisp, data, method="wide")
    with pytest.raises(tw.DataError, match="give them as data"):
        tw.soften(crisp, None)
    with pytest.raises(tw.DataError, match="soften it first and calibrate it then"):
        tw.soften(tw.calibrate(crisp, data), data)
    with pytest.raises(tw.DataError, match="prune the tree first"):
        tw.prune(tree, tw.pruning.MaxDepth(1))
    for export in (tw.export.pmml, tw.export.onnx, tw.export.excel, tw.export.sklearn):
        with pytest.raises(tw.ExportError, match=r"soft thresholds \(on '.'.*cannot express"):
            export(tree)
    levels = tw.learn({"c": data["c"], "y": data["y"]}, "y", FULL)
    assert tw.soften(levels, data) == levels


def test_dates_have_bands_but_no_sql() -> None:
    days = np.datetime64("2024-01-01") + np.arange(60)
    data = {"day": days, "y": np.where((np.arange(60) + np.arange(60) % 7 * 3) > 36, "late", "early")}
    tree = tw.soften(tw.learn(data, "y", FULL.with_(max_depth=1)), data)
    assert tree.soft is not None
    assert "def predict" in tw.export.python(tree)
    with pytest.raises(tw.ExportError, match="'day' has a soft threshold"):
        tw.export.sql(tree)


@pytest.mark.parametrize(
    ("name", "value"),
    [("node", [99]), ("lower", [math.inf]), ("upper", [-1e9]), ("method", "guess"), ("node", [0, 0]), ("lower", [])],
)
def test_a_file_with_impossible_bands_is_refused(name: str, value: Any) -> None:
    data = table(80, 7)
    tree = tw.soften(tw.learn(data, "y", FULL.with_(max_depth=1)), data)
    written = tree.as_dict()
    with pytest.raises(tw.FileError, match=r"\$\.soft\."):
        tw.Tree.from_dict(written | {"soft": written["soft"] | {name: value}})


def test_bands_are_looked_up_by_node() -> None:
    soft = Soft("error", (1, 4), (0.0, 2.0), (1.0, 3.0))
    assert (soft.band(0), soft.band(4), soft.band(5)) == (None, (2.0, 3.0), None)
