"""The regions of a tree: each place is in exactly one box, and its node is the one that predicts there."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright.render.plots.regions import Region, microseconds, regions


def table(rng: random.Random, rows: int, missing: float) -> dict[str, list[Any]]:
    def maybe(value: object) -> object:
        return None if rng.random() < missing else value

    x = [maybe(float(rng.randrange(10))) for _ in range(rows)]
    level = [maybe(rng.choice("abcde")) for _ in range(rows)]
    z = [maybe(rng.choice([0.5, 1.5, 2.5])) for _ in range(rows)]
    y = [rng.choice(["no", "yes"]) if rng.random() < 0.3 else ("yes" if (a or 0) > 4 else "no") for a in x]
    return {"x": x, "level": level, "z": z, "y": y}


def holds(extent: object, value: float) -> bool:
    return value in extent


def the_one(found: list[Region], *values: float) -> int:
    inside = [one for one in found if all(map(holds, one.extents, values))]
    assert len(inside) == 1
    return inside[0].node


RECIPES = {
    "CART": replace(tw.CART, pruning=None),
    "SKLEARN": tw.SKLEARN,
    "CHAID": tw.CHAID,
    "majority": replace(tw.C45, name="majority", missing=tw.missing.MajorityChild(), pruning=None),
    "RPART": tw.RPART,
}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("seed", range(4))
def test_the_node_of_a_region_predicts_there(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    data = table(rng, 120, 0.0 if seed == 0 else 0.15)
    tree = tw.learn(data, "y", RECIPES[name])
    levels = tree.schema.columns[1].levels or ()
    for fixed in ({}, {"z": 1.5}):
        found = regions(tree, ("x", "level"), fixed)
        places = [(x / 2, code) for x in range(-3, 24) for code in range(len(levels))]
        rows = {
            "x": [x for x, _ in places],
            "level": [levels[code] for _, code in places],
            "z": np.full(len(places), fixed.get("z", np.nan)),
        }
        leaves = tw.apply(tree, rows)
        assert [the_one(found, *place) for place in places] == leaves.tolist()


def test_fixing_a_level_and_turning_the_axes_round() -> None:
    data = table(random.Random(1), 200, 0.1)
    tree = tw.learn(data, "y", RECIPES["CART"])
    for value in ("a", "d", "never seen", None):
        found = regions(tree, ("z", "x"), {"level": value})
        places = [(z / 2, float(x)) for z in range(6) for x in range(10)]
        rows = {"z": [z for z, _ in places], "x": [x for _, x in places], "level": [value] * len(places)}
        assert [the_one(found, *place) for place in places] == tw.apply(tree, rows).tolist()


def test_mistakes_are_named() -> None:
    tree = tw.learn(table(random.Random(1), 80, 0), "y", tw.CART)
    with pytest.raises(tw.DataError, match="did you mean 'level'"):
        regions(tree, ("x", "levle"))
    with pytest.raises(tw.DataError, match="different columns"):
        regions(tree, ("x", "x"))
    with pytest.raises(tw.DataError, match="'x' is an axis"):
        regions(tree, ("x", "z"), {"x": 1})
    with pytest.raises(tw.DataError, match="'z' is numeric and cannot be fixed at 'much'"):
        regions(tree, ("x", "level"), {"z": "much"})
    with pytest.raises(tw.DataError, match="NaN"):
        regions(tree, ("x", "level"), {"z": float("nan")})


def test_moments_are_microseconds() -> None:
    assert microseconds(date(1970, 1, 2)) == 86_400_000_000
    assert microseconds(datetime(1970, 1, 1, 1, tzinfo=UTC)) == microseconds(datetime(1970, 1, 1, 1)) == 3.6e9  # noqa: DTZ001
    assert microseconds(time(0, 0, 1, 5)) == 1_000_005
    assert microseconds(timedelta(milliseconds=-1)) == -1000
