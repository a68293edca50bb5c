"""Trees learned under every policy for missing values, and tables for them.

The same seed gives the same table and tree.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace
from typing import Any

import treewright as tw

LEVELS = ("red", "green", "blue", "grey")

KINDS = {"size": ["small", "medium", "large"]}

POLICIES: dict[str, tw.Recipe] = {
    "spread": replace(tw.C45, pruning=None),
    "surrogates": replace(tw.RPART, pruning=None),
    "own category": replace(tw.CART, pruning=None, missing=tw.missing.OwnCategory()),
    "majority": replace(tw.CART, pruning=None, missing=tw.missing.MajorityChild(), unseen="majority"),
    "random": replace(tw.CART, pruning=None, missing=tw.missing.RandomChild(), seed=5),
    "learned": replace(tw.CART, pruning=None, missing=tw.missing.LearnedDirection()),
    "ignore": replace(tw.CART, pruning=None, missing=tw.missing.Ignore()),
    "chaid": tw.CHAID,
}


def mixed_table(seed: int, n_rows: int, *, missing: float = 0.15, unseen: bool = False) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    levels = (*LEVELS, "never seen") if unseen else LEVELS

    def column(make: Any) -> list[Any]:
        return [make() if rng.random() >= missing else None for _ in range(n_rows)]

    return {
        "x": column(lambda: round(rng.gauss(0, 10), 1)),
        "z": column(rng.random),
        "colour": column(lambda: rng.choice(levels)),
        "size": column(lambda: rng.choice(KINDS["size"])),
        "flag": column(lambda: rng.random() < 0.5),
        "day": column(lambda: dt.date(2024, 1, 1) + dt.timedelta(days=rng.randrange(300))),
    }


def learned(seed: int, policy: str, regression: bool, n_rows: int = 60, missing: float = 0.15) -> tw.Tree:
    table = mixed_table(seed, n_rows, missing=missing)
    rng = random.Random(seed)
    recipe = POLICIES[policy]
    if regression and recipe.regression is None:
        recipe = replace(POLICIES["majority"], missing=tw.missing.Fractional())
    pairs = zip(table["x"], table["colour"], strict=True)
    if regression:
        target: list[Any] = [(x or 3) + (colour == "red") * 5 + rng.gauss(0, 3) for x, colour in pairs]
    else:
        target = [rng.choice("abc") if rng.random() < 0.3 else "a" if (x or 1) > 0 else str(c) for x, c in pairs]
    return tw.learn(table, target, recipe, kinds=KINDS, task="regression" if regression else "classification")
