"""Coverage of calibrated intervals: tables of numbers, random splits, nominal 90 %.

Each split learns from half of the rows, calibrates on a quarter and tests the rest.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import betabinom

import treewright as tw
from treewright.tree.shape import ends

SHARED = Path(__file__).parents[2] / "shared" / "data"
TABLES = [
    "abalone", "auto-mpg", "boston-housing", "california-housing", "car90",
    "diamonds", "ozone", "servo", "solder", "taxis",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    options = parser.parse_args()
    targets = {
        one["name"]: one["target"] for one in json.loads((SHARED / "MANIFEST.json").read_text())["datasets"][:44]
    }
    print(f"{'table':20} {'rows':>7} {'coverage':>9} {'leaves tested':>14} {'below 0.85':>11} {'by chance':>10}")
    for name in options.tables:
        print(row(name, targets[name], options.splits, options.coverage), flush=True)


def row(name: str, target: str, splits: int, coverage: float) -> str:
    data = pd.read_parquet(SHARED / f"{name}.parquet").dropna(subset=[target])
    data = data.drop(
        columns=[column for column in data if data[column].nunique() > len(data) / 2 and data[column].dtype == object]
    )
    data = data.sample(min(len(data), 10_000), random_state=0)
    covered, leaves, low, chance = [], 0, 0, 0.0
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(data))
        half, rest = len(data) // 2, len(data) * 3 // 4
        training, calibration, test = (data.iloc[some] for some in np.split(order, [half, rest]))
        tree = tw.learn(training, target, task="regression", n_threads=1)  # many small fits
        tree = tw.calibrate(tree, calibration, target, coverage, n_threads=1)
        limits, truth = tw.predict_interval(tree, test), test[target].to_numpy(float)
        hit = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
        covered.append(hit.mean())
        leaf = tw.apply(tree, test)
        for node in np.unique(leaf):
            inside = hit[leaf == node]
            if len(inside) >= 100:
                leaves += 1
                low += inside.mean() < 0.85
                chance += _chance(tree, int(node), calibration, len(inside), coverage)
    return f"{name:20} {len(data):7,} {np.mean(covered):9.3f} {leaves:14,} {low:11,} {chance:10.1f}"


def _chance(tree: tw.Tree, node: int, calibration: pd.DataFrame, n: int, coverage: float) -> float:
    """Return the probability that fewer than 0.85 of n rows are covered: the limit comes from few rows itself."""
    assert tree.calibration is not None
    source = tree.calibration.source[node]
    m = int(np.isin(tw.apply(tree, calibration), np.arange(source, ends(tree)[source])).sum())
    k = math.ceil((m + 1) * coverage - 1e-9)
    return float(betabinom.cdf(math.ceil(0.85 * n) - 1, n, k, m + 1 - k))


if __name__ == "__main__":
    main()
