"""Small nodes stop at the first column that none can beat: the tree is the one of the exhaustive search.

Few values make many columns divide a node equally well, so nearly every node stops early, and ties decide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright import _core

RECIPES = {
    "gini, variance": tw.CART,
    "entropy": tw.CART.with_(criterion=tw.criterion.InformationGain()),
    "wrong classes": tw.CART.with_(criterion=tw.criterion.Misclassification()),
    "learned direction": tw.CART.with_(missing=tw.missing.LearnedDirection()),
    "own category": tw.CART.with_(missing=tw.missing.OwnCategory()),
    "drawn columns": tw.CART.with_(max_features=3),
}


def columns_of(rng: np.random.Generator, rows: int, gaps: float) -> tuple[list[Any], list[int], list[int]]:
    """Numbers of few and of many values between levels, nominal and ordinal; some missing."""
    numbers = [rng.normal(size=rows), rng.integers(0, 3, rows).astype(float), rng.normal(size=rows).round(1)]
    codes = [rng.integers(0, n, rows).astype(np.int32) for n in (2, 7, 4)]
    for values, missing in [(each, np.nan) for each in numbers[1:]] + [(each, -1) for each in codes[1:]]:
        values[rng.random(rows) < gaps] = missing
    columns = [codes[0], numbers[0], codes[1], numbers[1], numbers[2], codes[2]]
    return columns, [2, 0, 2, 0, 0, 1], [2, 0, 7, 0, 0, 4]


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("target", ["two classes", "three classes", "numbers", "few numbers", "large numbers"])
@pytest.mark.parametrize("name", RECIPES)
def test_the_tree_is_that_of_the_exhaustive_search(name: str, target: str, gaps: float) -> None:
    classes = {"two classes": 2, "three classes": 3}.get(target, 0)
    for seed in range(8):
        rng = np.random.default_rng([seed, len(name), len(target), int(gaps * 10)])
        rows = int(rng.integers(3, 60))
        columns, kinds, levels = columns_of(rng, rows, gaps)
        if classes:
            y: Any = rng.integers(0, classes, rows).astype(np.int32)
        elif target == "few numbers":
            y = rng.integers(0, 3, rows).astype(float)
        else:
            y = rng.normal(size=rows) + (1e9 if target == "large numbers" else 0.0)
        for smallest in (1, 2, 4):
            recipe = replace(RECIPES[name].with_(min_samples_leaf=smallest), rivals=0).as_dict()
            fast, slow = (
                _core.grow(columns, kinds, levels, y, classes, None, recipe, 1, None, way) for way in (False, True)
            )
            for array in fast:
                np.testing.assert_array_equal(fast[array], slow[array], err_msg=array)


def targets_of(rng: np.random.Generator, rows: int) -> list[tuple[int, Any]]:
    """Two classes, even and rare, and numbers: noise, few values, long tails, a few units apart, far from zero."""
    noise = rng.normal(size=rows)
    return [
        (2, rng.integers(0, 2, rows).astype(np.int32)),
        (2, (rng.random(rows) < 0.08).astype(np.int32)),
        (0, noise),
        (0, rng.integers(0, 4, rows).astype(float)),
        (0, np.exp(3 * noise)),
        (0, np.concatenate([[1e6], rng.integers(0, 9, rows - 1) * 2.0**-38])),
        (0, 1e9 + noise),
    ]


@pytest.mark.parametrize("seed", range(8))
def test_columns_that_fall_short_of_their_bound_are_not_the_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 240))
    numbers = [rng.normal(size=rows) for _ in range(7)] + [rng.normal(size=rows).round(1) for _ in range(4)]
    numbers.append(np.where(rng.random(rows) < 0.1, np.nan, numbers[0]))
    for classes, y in targets_of(rng, rows):
        for smallest in (1, 3):
            recipe = replace(tw.SKLEARN.with_(min_samples_leaf=smallest), rivals=0).as_dict()
            fast, slow = (
                _core.grow(numbers, [0] * 12, [0] * 12, y, classes, None, recipe, 1, None, way) for way in (False, True)
            )
            for array in fast:
                np.testing.assert_array_equal(fast[array], slow[array], err_msg=array)
