"""CHAID merging of many levels against the plain way: test all pairs before every merge, the first of equals wins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import treewright as tw
from treewright import _core

ROUNDING = 1e-12
Group = tuple[int, ...]


def merged(cells: np.ndarray, log_p_of: Callable[[np.ndarray], float], branching: tw.branching.Merge, ordered: bool):
    """Return the groups of levels, each sorted, in the order of their first levels."""
    cache: dict[tuple[Group, ...], float] = {}

    def log_p(*groups: Group) -> float:
        if groups not in cache:
            cache[groups] = log_p_of(np.array([cells[list(group)].sum(axis=0) for group in groups]))
        return cache[groups]

    groups: list[Group] = [(level,) for level in range(len(cells))]
    best, best_log_p = list(groups), log_p(*groups)
    while len(groups) > 2:
        pairs = itertools.pairwise(groups) if ordered else itertools.combinations(groups, 2)
        chosen, largest = None, -math.inf
        for pair in pairs:
            if log_p(*pair) > largest + ROUNDING:
                chosen, largest = pair, log_p(*pair)
        assert chosen is not None
        if not branching.exhaustive and not largest > math.log(branching.alpha_merge):
            return groups
        together = tuple(sorted(chosen[0] + chosen[1]))
        groups = sorted([*(group for group in groups if group not in chosen), together])
        if log_p(*groups) < best_log_p - ROUNDING * abs(best_log_p):
            best, best_log_p = list(groups), log_p(*groups)
    return best if branching.exhaustive else groups


def made(seed: int, task: str, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Levels of very different sizes, many of them alike or pure; numbers lie evenly around zero."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, rng.choice([3, 12, 60]), levels)
    level = np.concatenate([np.arange(levels), np.repeat(np.arange(levels), sizes)])
    effect = rng.integers(0, 4, levels)[level]
    if task == "numbers":
        y = rng.integers(-3, 4, len(level)) + effect.astype(float)
        return level, np.append(y[:-2], [8.0, -8.0])
    classes = 2 if task == "two" else 4
    return level, np.where(rng.random(len(level)) < 0.6, effect % classes, rng.integers(0, classes, len(level)))


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("task", ["two", "four", "likelihood ratio", "numbers"])
def test_only_changed_pairs_are_tested_again_and_the_merges_are_the_same(
    task: str, ordered: bool, exhaustive: bool
) -> None:
    for seed in range(6):
        level, y = made(seed, task, levels=30)
        ratio = task == "likelihood ratio"
        branching = tw.branching.Merge(exhaustive=exhaustive, alpha_split=1.0)
        recipe = tw.CHAID.with_(
            branching=branching, max_depth=1, min_samples_split=2, criterion=tw.criterion.ChiSquare(ratio)
        )
        names = [f"{i:02}" for i in range(30)]
        column = np.array(names)[level]
        kinds = {"x": names if ordered else "nominal"}
        tree = tw.learn({"x": column, "y": y if task == "numbers" else y.astype(str)}, "y", recipe, kinds=kinds)
        if task == "numbers":
            moments = np.stack([np.ones(len(y)), y, y * y], axis=1)
            cells = np.array([moments[level == i].sum(axis=0) for i in range(30)])
            wanted = merged(cells, lambda children: _core.f_test(children)[3], branching, ordered)
        else:
            cells = np.array([np.bincount(y[level == i], minlength=y.max() + 1) for i in range(30)], dtype=float)
            wanted = merged(cells, lambda children: _core.chi_square(children, ratio)[2], branching, ordered)  # noqa: B023
        assert tree.root.split is not None
        found = sorted(tuple(int(name) for name in group) for group in tree.root.split.groups)
        assert found == sorted(wanted), (seed, found, wanted)
