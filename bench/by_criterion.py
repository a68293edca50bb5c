"""Every criterion by histograms and value by value: the same core, the same arrays, two threads, the same tree.

`python bench/by_criterion.py [name ...]` prints processor seconds too, for a machine that others use.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
import tables
from tables import Table

import treewright as tw
from treewright import _core

DEPTH = 10
PLAIN = replace(tw.SKLEARN, rivals=0, stopping=tw.stopping.Stopping(max_depth=DEPTH))
CASES: dict[str, tuple[str, tw.Recipe]] = {
    "twoing": ("classes", replace(PLAIN, criterion="twoing")),
    "chi-square": ("classes", replace(PLAIN, criterion="chi_square")),
    "Hellinger": ("classes", replace(PLAIN, criterion="hellinger")),
    "five of 28 columns": ("classes", PLAIN.with_(max_features=5)),
    "C4.5": ("classes", tw.C45.with_(max_depth=DEPTH)),
    "C4.5, own category": ("classes", tw.C45.with_(max_depth=DEPTH, missing="own")),
    "F": ("numbers", replace(PLAIN, regression="f")),
    "standard deviation": ("numbers", replace(PLAIN, regression="standard_deviation")),
    "Poisson": ("counts", replace(PLAIN, regression="poisson")),
    "absolute error": ("numbers", replace(PLAIN, regression="absolute_error")),
}


def table_of(target: str, rows: int) -> Table:
    """The made table; counts are its numbers, moved and rounded."""
    table = tables.made(rows, classes=2 if target == "classes" else 0)
    return table if target != "counts" else replace(table, y=np.maximum(0.0, np.round(3 + 2 * table.y / table.y.std())))


def grown(table: Table, recipe: tw.Recipe, exhaustive: bool, threads: int) -> dict[str, Any]:
    columns = [table.x[:, j] for j in range(table.x.shape[1])]
    numbers = [0] * len(columns)
    target = table.y.astype(np.int32 if table.classes else np.float64)
    return _core.grow(
        columns,
        numbers,
        numbers,
        target,
        table.classes,
        None,
        recipe.as_dict(),
        threads,
        None,
        exhaustive,
        has_missing=False,
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("name", nargs="*", help=f"of {', '.join(CASES)}; all if none is named")
    arguments.add_argument("--rows", type=int, default=200_000)
    options = arguments.parse_args()
    for name in options.name or CASES:
        target, recipe = CASES[name]
        table, seconds, found = table_of(target, options.rows), [], []
        for exhaustive in (False, True):
            begun = time.process_time()
            found.append(grown(table, recipe, exhaustive, 2))
            seconds.append(time.process_time() - begun)
        same = all(np.array_equal(found[0][part], found[1][part], equal_nan=True) for part in found[0])
        print(
            f"{name}: {len(found[0]['parent']):,} nodes, {seconds[0]:.2f} and {seconds[1]:.2f} processor s"
            f" ({seconds[1] / seconds[0]:.1f} x), {'the same tree' if same else 'ANOTHER TREE'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
