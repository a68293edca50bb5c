"""The permutation test on pure noise: its p-values must be uniform (Kolmogorov-Smirnov).

Every table is made of noise; a p-value takes one of few values, so it is moved by chance within its step first.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import kstest

import treewright as tw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--permutations", type=int, default=39)
    options = parser.parse_args()
    recipe = tw.CART.with_(pruning=None, max_depth=2, min_samples_leaf=5)
    found = [
        _p_values(seed, options.rows, options.columns, options.permutations, recipe) for seed in range(options.tables)
    ]
    print(f"{options.tables} tables of {options.rows} rows, {options.permutations} shuffled targets each")
    steps = 1 + options.permutations
    for name, values in zip(("held-out score", "first split"), np.array(found).T, strict=True):
        moved = values - np.random.default_rng(0).random(len(values)) / steps
        test = kstest(moved, "uniform")
        below = np.mean(values <= 0.05)
        print(f"{name:15} p <= 0.05 in {below:.1%}   KS distance {test.statistic:.3f}, p = {test.pvalue:.3f}")


def _p_values(seed: int, rows: int, columns: int, permutations: int, recipe: tw.Recipe) -> tuple[float, float]:
    draw = np.random.default_rng(seed)
    table = {f"x{i}": draw.normal(size=rows) for i in range(columns)} | {"y": draw.normal(size=rows)}
    found = tw.permutation_test(table, "y", recipe, permutations=permutations, folds=3, seed=seed)
    return found.p_value, found.root_p_value


if __name__ == "__main__":
    main()
