"""Levels in order of their means, however these lie; and the codes of many columns of numbers at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_histogram_search import assert_same

import treewright as tw
from treewright.data.kinds import levels_of, work_out_levels
from treewright.data.reader import read


def means_of_levels(rng: np.random.Generator, levels: int, shape: str) -> Any:
    if shape == "even":
        return rng.random(levels)
    if shape == "equal":
        return np.full(levels, 0.4)
    if shape == "far":  # all but two lie together
        return np.where(np.arange(levels) < 2, np.arange(levels), 0.5 + 0.01 * rng.random(levels))
    return np.round(rng.random(levels) ** 4, 2)  # most near 0, many the same


@pytest.mark.parametrize("shape", ["even", "equal", "far", "crowded"])
@pytest.mark.parametrize("target", ["classes", "numbers"])
@pytest.mark.parametrize("kind", [1, 2])
def test_many_levels_give_the_tree_of_the_exhaustive_search(kind: int, target: str, shape: str) -> None:
    rng, rows, counts = np.random.default_rng(5), 6000, (3, 60, 900)
    columns = [rng.integers(0, count, rows).astype(np.int32) for count in counts]
    chance = sum(means_of_levels(rng, count, shape)[codes] for count, codes in zip(counts, columns, strict=True))
    columns[1] = np.where(rng.random(rows) < 0.05, -1, columns[1]).astype(np.int32)
    noise = rng.random(rows)
    labels = (chance / 3 > noise).astype(np.int32) if target == "classes" else np.round(chance + 0.1 * noise, 3)
    recipe = replace(tw.SKLEARN, rivals=0, stopping=tw.stopping.Stopping(max_depth=6))
    assert_same(columns, [kind] * 3, list(counts), labels, recipe)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_coded_together_as_they_are_one_by_one(dtype: Any) -> None:
    rng, rows = np.random.default_rng(6), 5000
    x = rng.integers(-40, 40, (rows, 6)).astype(dtype)
    x[:, 1] += 2.0**31  # beyond what is counted, and in one precision rounded
    x[:, 2] /= 8
    x[rng.random(rows) < 0.2, 3] = np.nan
    x[:, 4] *= 1000  # far apart
    x[:, 5] = np.nan
    together = read(x).columns
    work_out_levels(together)
    for column, alone in zip(together, x.T.copy(), strict=True):
        known = np.unique(alone[~np.isnan(alone)])
        codes, levels = levels_of(column)
        assert list(levels) == known.tolist()
        expected = np.where(np.isnan(alone), -1, np.searchsorted(known, np.nan_to_num(alone)))
        np.testing.assert_array_equal(codes, expected)
