"""Brute force for the best tree of small depth: every tree, by recursion over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Problem:
    """Ordered columns as codes; labels of classes or numbers; `cost` is [actual][predicted]."""

    codes: list[np.ndarray]
    weight: np.ndarray
    label: np.ndarray | None = None
    target: np.ndarray | None = None
    cost: np.ndarray | None = None
    min_samples_leaf: int = 1
    leaf_penalty: float = 0.0
    max_leaves: int | None = None

    def leaf(self, rows: np.ndarray) -> float:
        weight = self.weight[rows]
        if self.label is not None:
            assert self.cost is not None
            found = np.bincount(self.label[rows], weights=weight, minlength=len(self.cost))
            return float((found @ self.cost).min()) + self.leaf_penalty
        assert self.target is not None
        y = self.target[rows]
        mean = (weight * y).sum() / weight.sum()
        return float((weight * (y - mean) ** 2).sum()) + self.leaf_penalty

    def best(self, rows: np.ndarray, depth: int) -> float:
        """The least loss of any tree on these rows."""
        return self.least(rows, depth)[min(self.max_leaves or 2**depth, 2**depth) - 1]

    def least(self, rows: np.ndarray, depth: int) -> np.ndarray:
        """The least loss of a tree of at most 1, 2, ... leaves."""
        found = np.full(2**depth, self.leaf(rows))
        for codes in self.codes if depth else []:
            here = codes[rows]
            for cut in np.unique(here)[:-1]:
                low, high = rows[here <= cut], rows[here > cut]
                if min(len(low), len(high)) >= self.min_samples_leaf:
                    sides = self.least(low, depth - 1)[:, None] + self.least(high, depth - 1)[None, :]
                    for i, j in np.ndindex(*sides.shape):
                        found[i + j + 1] = min(found[i + j + 1], sides[i, j])
        return np.minimum.accumulate(found)

    def loss_of(self, found: dict[str, Any]) -> tuple[float, list[int]]:
        """The loss of a tree that the core found, and the rows of its leaves."""
        leaves: list[int] = []

        def walk(node: int, rows: np.ndarray) -> float:
            if found["column"][node] < 0:
                leaves.append(len(rows))
                return self.leaf(rows)
            low = self.codes[found["column"][node]][rows] <= found["cut"][node]
            return walk(found["low"][node], rows[low]) + walk(found["high"][node], rows[~low])

        return walk(0, np.arange(len(self.weight))), leaves


def random_problem(rng: np.random.Generator, depth: int) -> Problem:
    """A small table with ties, constant columns, weights, costs, a penalty or a least size of leaves at random."""
    n, width, n_classes = (int(rng.integers(low, high)) for low, high in ((2, (0, 60, 28, 13)[depth]), (1, 4), (2, 5)))
    codes = [_dense(rng.integers(0, rng.integers(1, n + 1), n)) for _ in range(width)]
    weight = rng.integers(1, 6, n).astype(float) if rng.random() < 0.4 else np.ones(n)
    least, penalty = int(rng.choice([1, 1, 2, 3])), float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    leaves = int(rng.integers(1, 8)) if rng.random() < 0.3 else None
    if rng.random() < 0.35:
        target = rng.normal(size=n).round(int(rng.integers(0, 3)))
        return Problem(codes, weight, None, target, None, least, penalty, leaves)
    label = rng.integers(0, n_classes, n).astype(np.int32)
    cost = 1.0 - np.eye(n_classes)
    if rng.random() < 0.3:
        cost = cost * rng.integers(0, 5, (n_classes, n_classes))
    return Problem(codes, weight, label, None, cost, least, penalty, leaves)


def _dense(values: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1].astype(np.int32)
