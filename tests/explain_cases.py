"""Small random tables with every kind of column, and recipes of every kind, for what explains trees.

The same seed gives the same case; columns are named after their kind; every class occurs.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import treewright as tw

_GROWN = replace(tw.CART, pruning=None)
SIZES = ["small", "medium", "large", "huge"]

CLASS_RECIPES = (
    replace(tw.C45, pruning=None),
    tw.C45,
    tw.J48,
    tw.SKLEARN,
    replace(tw.RPART, stopping=tw.stopping.Stopping(min_samples_split=4, min_samples_leaf=2)),
    replace(_GROWN, branching=tw.branching.OneVsRest()),
    replace(tw.C45, branching=tw.branching.Grouped(), pruning=None),
    replace(
        tw.CHAID,
        branching=tw.branching.Merge(alpha_split=0.5, alpha_merge=0.5, min_child=2),
        stopping=tw.stopping.Stopping(),
    ),
)
NUMBER_RECIPES = (_GROWN, tw.SKLEARN, replace(_GROWN, regression=tw.criterion.AbsoluteError()))
POLICIES = (
    tw.missing.Fractional(),
    tw.missing.Surrogates(),
    tw.missing.OwnCategory(),
    tw.missing.MajorityChild(),
    tw.missing.RandomChild(),
    tw.missing.LearnedDirection(),
    tw.missing.Ignore(),
)


class Case(NamedTuple):
    table: pd.DataFrame
    target: str
    recipe: tw.Recipe


def case(seed: int, *, classes: bool | None = None, missing: bool | None = None) -> Case:
    """A table of 20 to 80 rows whose target depends on its columns, with noise."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    classes = rng.random() < 0.7 if classes is None else classes
    missing = rng.random() < 0.5 if missing is None else missing
    n = rng.randint(20, 80)
    number, size = numbers.integers(0, 12, n) / 2, numbers.integers(0, 4, n)
    colour, flag = numbers.choice(["red", "green", "blue", "black, white"], n), numbers.random(n) < 0.5
    signal = number + 2 * size + 3 * (colour == "red") + 2 * flag + numbers.normal(0, 1.5, n)
    table = pd.DataFrame(
        {
            "number": number,
            "size": pd.Categorical.from_codes(size, SIZES, ordered=True),
            "colour": colour,
            "flag": flag,
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(numbers.integers(0, 40, n), unit="D"),
            "idle": numbers.random(n),
        }
    )
    if missing:
        table["flag"] = table["flag"].astype("boolean")
        for column in rng.sample(list(table.columns), 3):
            table.loc[numbers.random(n) < 0.2, column] = None
    target = pd.Series(signal)
    if classes:
        target = pd.Series(np.array(["low", "middle", "high"])[np.digitize(signal, np.quantile(signal, [0.4, 0.8]))])
    table["target"] = target
    recipe = rng.choice(CLASS_RECIPES if classes else NUMBER_RECIPES)
    if missing and recipe.name in ("CART", "SKLEARN"):
        recipe = replace(recipe, missing=rng.choice(POLICIES))
    return Case(table, "target", recipe)


def grown(one: Case, **more: Any) -> tw.Tree:
    return tw.learn(one.table, one.target, one.recipe, **more)
