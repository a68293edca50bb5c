"""`python bench/value_by_value.py [table ...]`: the search by codes beside that value by value, in the same core.

Both ways get the same arrays and two threads; a table that is not here is said so.
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

THREADS = 2
MISSING = 0.02


def grown(table: Table, recipe: tw.Recipe, exhaustive: bool) -> tuple[float, dict[str, Any]]:
    columns = [table.x[:, j] for j in range(table.x.shape[1])]
    numbers = [0] * len(columns)
    has_missing = bool(np.isnan(table.x).any())
    begun = time.perf_counter()
    tree = _core.grow(
        columns,
        numbers,
        numbers,
        table.y.astype(np.int32),
        table.classes,
        None,
        recipe.as_dict(),
        THREADS,
        None,
        exhaustive,
        has_missing=has_missing,
    )
    return time.perf_counter() - begun, tree


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("table", nargs="*", default=["covertype"])
    for name in arguments.parse_args().table:
        table = tables.real(name)
        if table is None or table.nominal or not table.classes:
            print(f"{name}: not here, or not a table of numbers with classes")
            continue
        gone = np.random.default_rng(0).random(table.x.shape) < MISSING
        gappy = replace(table, x=np.where(gone, np.float32(np.nan), table.x))
        for words, given in ((f"{len(table.x):,} rows", table), (f"{MISSING:.0%} of the values missing", gappy)):
            for recipe in (tw.C45, tw.J48):
                by_codes, ours = grown(given, recipe, exhaustive=False)
                by_value, theirs = grown(given, recipe, exhaustive=True)
                same = all(np.array_equal(ours[part], theirs[part], equal_nan=True) for part in theirs)
                print(
                    f"{name}, {words}, {recipe.name}: {len(ours['parent']):,} nodes, by codes {by_codes:.2f} s,"
                    f" value by value {by_value:.2f} s ({by_value / by_codes:.1f} x),"
                    f" {'the same tree' if same else 'ANOTHER TREE'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
