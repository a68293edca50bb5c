"""Trees near the best: counted as brute force counts them, and the columns they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import treewright as tw

Shape = tuple[Any, ...]


def every_tree(
    columns: dict[str, np.ndarray], y: np.ndarray, rows: np.ndarray, depth: int
) -> Iterator[tuple[int, Shape]]:
    """All trees of these rows: errors, and columns and cuts. Splits into two leaves must lower the errors."""
    leaf = len(rows) - max(Counter(y[rows].tolist()).values())
    yield leaf, ()
    for name, values in columns.items() if depth else ():
        for cut in np.unique(values[rows])[:-1]:
            low = values[rows] <= cut
            for one, below in every_tree(columns, y, rows[low], depth - 1):
                for other, above in every_tree(columns, y, rows[~low], depth - 1):
                    if below or above or one + other < leaf:
                        yield one + other, (name, float(cut), below, above)


def names_in(shape: Shape) -> set[str]:
    return {shape[0]} | names_in(shape[2]) | names_in(shape[3]) if shape else set()


@pytest.mark.parametrize(("depth", "n", "seed"), [(1, 30, 0), (2, 20, 1), (2, 25, 2), (3, 9, 3)])
def test_counts_are_those_of_all_trees(depth: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 5, n).astype(float) for name in "abc"}
    y = ((columns["a"] > 2) ^ (columns["b"] > 1) ^ (rng.random(n) < 0.2)).astype(int)
    trees = list(every_tree(columns, y, np.arange(n), depth))
    best = min(errors for errors, _ in trees)
    near = tw.alternatives(
        {**columns, "y": y},
        "y",
        epsilon=2 / n,
        max_depth=depth,
        task="classification",
        kinds=dict.fromkeys("abc", "numeric"),
        bins=16,
    )
    within = [shape for errors, shape in trees if errors <= best + 2]
    assert near.complete
    assert near.count == len(within)
    for role in near.columns:
        assert role.at_root == sum(shape[:1] == (role.column,) for shape in within)
        assert role.using == sum(role.column in names_in(shape) for shape in within)
        assert role.needed == (role.using == near.count)
        rooted = min(errors for errors, shape in trees if not shape or shape[0] == role.column)
        assert role.root_loss == pytest.approx(rooted / n)
        assert role.lost == pytest.approx((rooted - best) / n)
    assert all(np.mean(tw.predict(tree, columns) != y) <= (best + 2) / n + 1e-12 for tree in near.trees)


def test_missing_values_levels_and_numbers() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 4, 60).astype(float)
    x[::7] = np.nan
    table = {"x": x, "level": rng.choice(["p", "q", "r"], 60)}
    y = np.where(np.isnan(x), 3.0, x) + (table["level"] == "q") + rng.normal(size=60) * 0.01
    near = tw.alternatives({**table, "y": y}, "y", epsilon=0.5)
    assert near.needed == ("x",)
    assert near.count >= sum(role.at_root for role in near.columns) > 0
    majority = tw.alternatives({**table, "y": y}, "y", epsilon=0.5, missing="majority")
    assert majority.best.certificate.loss > near.best.certificate.loss
    assert 0 < majority.count < near.count


def test_a_tree_with_a_given_root_says_so() -> None:
    table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": ["no", "yes", "yes", "no"] * 5}
    near = tw.alternatives(table, "y")
    first, other = near.trees
    assert str(other.certificate) == "proven best of depth 2 with b at the root by error rate (0)"
    assert near.best.certificate.root is None
    assert tw.export.from_json(tw.export.to_json(other)).certificate == other.certificate != first.certificate
    text = tw.export.to_json(other).replace('"root": "b"', '"root": 5').replace('"root":"b"', '"root":5')
    with pytest.raises(tw.FileError, match="root"):
        tw.export.from_json(text)


def test_near_equal_cuts_count_once() -> None:
    rng = np.random.default_rng(6)
    x = np.sort(rng.random(2000))
    table = {"x": x, "y": np.where((x > 0.5) ^ (rng.random(2000) < 0.1), "high", "low")}
    few, more = (tw.alternatives(table, "y", max_depth=1, epsilon=0.02, bins=bins) for bins in (8, 64))
    assert few.count < more.count < 10
    assert few.best.certificate == more.best.certificate


def test_a_time_limit_leaves_a_lower_bound() -> None:
    rng = np.random.default_rng(7)
    table = {f"x{i}": rng.normal(size=400) for i in range(8)}
    near = tw.alternatives({**table, "y": rng.integers(0, 3, 400)}, "y", max_depth=3, epsilon=0.1, time_limit=0.3)
    assert not near.complete
    assert "at least" in str(near)
    assert any(role.needed is None or not role.proven for role in near.columns)


@pytest.mark.parametrize("settings", [{"epsilon": -1}, {"bins": 1}, {"max_depth": 99}], ids=str)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(tw.RecipeError, match=next(iter(settings))):
        tw.alternatives({"a": [0, 1, 0, 1], "y": ["p", "q", "p", "q"]}, "y", **settings)
