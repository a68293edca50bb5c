"""What is saved can be loaded, and what was loaded can be looked at, however strange its numbers."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import typing
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from handmade_trees import TENNIS, hours, leaf, random_tree, tennis, tree
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_saved import CHOICES, KNOWN, mutated

import treewright as tw
from treewright import recipes as r
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import FileError, TreewrightError
from treewright.export import from_json, to_json
from treewright.tree.tree import Tree

# --- save writes nothing that load refuses ----------------------------------------------------------------------------

LEVEL = (
    st.text(max_size=3)
    | st.integers()
    | st.integers(-(2**66), 2**66)
    | st.floats()
    | st.booleans()
    | st.sampled_from(
        [10**20, 10**5000, -(2**63) - 1, 2**64, math.nan, math.inf, np.int64(3), np.float64(0.5), np.str_("s"), None]
    )
)


@settings(deadline=None)
@given(
    st.lists(LEVEL, max_size=5),
    st.lists(LEVEL, min_size=1, max_size=4),
    st.text(max_size=4),
    st.sampled_from(["nominal", "ordinal", "boolean", "numeric"]),
)
@example([10**20], ["a"], "x", "nominal")
@example([math.nan], ["a"], "x", "ordinal")
@example([1, True], ["a"], "x", "nominal")
@example(["a"], [math.inf, 1], "x", "nominal")
def test_what_is_saved_can_be_loaded(levels: list[Any], classes: list[Any], name: str, kind: Any) -> None:
    """Whatever the schema holds: it comes back, or saving says why it cannot."""
    schema = Schema((ColumnSpec(name, kind, tuple(levels)),), TargetSpec("y", "classification", tuple(classes)))
    _back_or_refused(tree(leaf(*[1.0] * len(classes)), schema))


@settings(deadline=None)
@given(
    st.lists(st.lists(st.floats(), min_size=2, max_size=2), min_size=2, max_size=2),
    st.lists(st.floats(), min_size=2, max_size=2),
)
def test_costs_and_priors_can_be_loaded(costs: list[list[float]], priors: list[float]) -> None:
    target = TargetSpec("y", "classification", ("a", "b"), tuple(map(tuple, costs)), tuple(priors))
    _back_or_refused(tree(leaf(1.0, 2.0), Schema(TENNIS.columns, target)))


def _back_or_refused(t: Tree) -> None:
    try:
        text = to_json(t)
    except FileError:
        return
    assert from_json(text) == t


SETTING = st.sampled_from(
    [
        *(None, True, False, 0, 1, 2, 5, -1, 10**20, 2**63, 2**63 - 1, 10**400, 0.5, 1e-300, 1e308, math.inf, math.nan),
        *("none", "x", "1se", (1, 2), (0.5,), [3], np.float64(0.25), np.int64(2)),
    ]
)
FIELDS = dict(
    zip(("branching", "numeric", "criterion", "regression", "missing", "simplify", "pruning"), CHOICES, strict=True)
)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_every_setting_that_a_recipe_takes_can_be_loaded(data: st.DataObject) -> None:
    field = data.draw(st.sampled_from([*FIELDS, "stopping", "leaves"]))
    kinds = typing.get_args(FIELDS[field]) if field in FIELDS else (KNOWN[field.capitalize()],)
    kind = data.draw(st.sampled_from(kinds))
    names = [f.name for f in dataclasses.fields(kind) if f.name != "function"]
    chosen = data.draw(st.dictionaries(st.sampled_from(names), SETTING, max_size=2)) if names else {}
    if kind is r.Custom:
        chosen["function"] = len
    elif any(f.default is dataclasses.MISSING and f.name not in chosen for f in dataclasses.fields(kind)):
        return
    try:
        recipe = r.Recipe(**{field: kind(**chosen)}, rivals=data.draw(st.sampled_from([0, 4, 2**62])))
    except r.RecipeError:
        return
    t = tree(leaf(1, 2), recipe=recipe)
    assert from_json(to_json(t)) == t


@pytest.mark.parametrize("choice", [r.Stopping(max_depth=5), tw.pruning.CostComplexity(0.1), tw.pruning.MaxLeaves(3)])
def test_numbers_that_no_setting_takes(choice: Any) -> None:
    for field in dataclasses.fields(choice):
        for value in (10**400, math.nan, math.inf, "x"):
            with pytest.raises(r.RecipeError):
                dataclasses.replace(choice, **{field.name: value})


@pytest.mark.parametrize("levels", [[10**5000, 1], [math.inf, 1], [math.nan, 1]])
def test_levels_that_cannot_be_saved_are_refused_before_learning(levels: list[Any]) -> None:
    table = pa.table({"c": [1, 2, 1, 2], "y": ["a", "b", "a", "b"]})
    with pytest.raises(tw.DataError, match=r"column 'c' has a level .*; give the column as text"):
        tw.learn(table, "y", tw.CART, kinds={"c": [1, 2, *levels[:1]]})


# --- trees that are sound but make little sense -----------------------------------------------------------------------


def looks(t: Tree) -> dict[str, Any]:
    """Everything that can be made of a tree alone."""
    pruners = [
        tw.pruning.CostComplexity(0.01),
        tw.pruning.ErrorBased(raising=False),
        tw.pruning.Pessimistic(),
        tw.pruning.MinimumError(),
    ]
    pruners += [
        tw.pruning.CriticalValue(0.1),
        tw.pruning.MinimumDescription(),
        tw.pruning.MergeEqualLeaves(),
        tw.pruning.MaxDepth(1),
        tw.pruning.MaxLeaves(2),
    ]
    return {
        "text": lambda: str(t),
        "svg": lambda: tw.render.svg(t),
        "html": lambda: tw.render.html(t),
        "rules": lambda: str(tw.rules(t)),
        "report": lambda: str(tw.report(t)),
        "importance": lambda: str(tw.importance(t)),
        "dot": lambda: tw.export.dot(t),
        "nodes": lambda: tw.export.nodes(t),
        "path": lambda: str(tw.pruning_path(t)),
        **{f"prune {type(p).__name__}": lambda p=p: tw.prune(t, p) for p in pruners},
    }


def look_at(t: Tree) -> list[str]:
    """What ended in anything but an answer or a TreewrightError."""
    wrong = []
    for name, look in looks(t).items():
        try:
            look()
        except TreewrightError:
            continue
        except Exception as error:  # noqa: BLE001 (that is what is looked for)
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
    return wrong


NUMBERS = [0, 0, 0.0, 1, 2, 3, 0.5, 1e-300, 5e-324, 1e300, 1.7e308, 2**31 - 1, 2**53]
#: What may hold almost any number in a file that loads.
FREE = (
    "rows", "weight", "stats", "impurity", "gain", "score", "adjusted", "split_gain", "statistic", "degrees", "log_p",
    "log_multiplier", "breaks", "share", "value",
)  # fmt: skip


def estranged(rng: random.Random, text: str) -> str:
    """The text with numbers that load but make little sense."""
    written = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 4, 12])):
        name = rng.choice(FREE)
        array = written["nodes" if name in written["nodes"] else "splits"][name]
        if not array:
            continue
        at = rng.randrange(len(array))
        if isinstance(array[at], list):
            if name == "value" and len(array[at]) > 1:
                array[at] = rng.choice([[1.0] + [0.0] * (len(array[at]) - 1), [0.0] * (len(array[at]) - 1) + [1.0]])
            elif rng.random() < 0.4:
                array[at] = [0.0] * len(array[at])
            else:
                array[at][rng.randrange(len(array[at]))] = rng.choice(NUMBERS)
        elif rng.random() < 0.2:
            written["nodes" if name in written["nodes"] else "splits"][name] = [0] * len(array)
        else:
            array[at] = (
                rng.choice([*NUMBERS, -1.0, -1e300])
                if name in ("impurity", "gain", "score", "log_p", "breaks")
                else rng.choice(NUMBERS)
            )
    if rng.random() < 0.15:
        written["nodes"]["stats"] = [[0.0] * len(row) for row in written["nodes"]["stats"]]
    if rng.random() < 0.8:  # the weight is what the loader compares with them
        numbers = "classes" not in written["schema"]["target"]
        written["nodes"]["weight"] = [row[0] if numbers else sum(row) for row in written["nodes"]["stats"]]
    return json.dumps(written).replace("Infinity", "1.5e308")


def learned_trees() -> list[Tree]:
    rng = random.Random(3)
    table = {
        "x": [rng.gauss(0, 1) for _ in range(80)],
        "c": [rng.choice("abc") for _ in range(80)],
        "d": [rng.choice(["u", "v", None]) for _ in range(80)],
    }
    y = ["abc"[(x > 0) + (c == "a")] for x, c in zip(table["x"], table["c"], strict=True)]
    z = [x + (c == "b") for x, c in zip(table["x"], table["c"], strict=True)]
    grown = [
        tw.learn(table, y, dataclasses.replace(recipe, pruning=None))
        for recipe in (tw.C45, tw.CART, tw.CHAID, tw.RPART)
    ]
    chaid = dataclasses.replace(
        tw.CHAID, branching=tw.branching.Merge(min_child=2), stopping=tw.stopping.Stopping(max_depth=3)
    )
    costs = tw.learn(table, y, dataclasses.replace(tw.CART, pruning=None), costs={"a": {"b": 3.0}})
    return [
        *grown,
        tw.learn(table, y, chaid),
        tw.learn(table, z, dataclasses.replace(tw.CART, pruning=None)),
        tw.learn(table, z, chaid),
        costs,
    ]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [to_json(t) for t in (tennis(), hours(), *(random_tree(seed, 3) for seed in range(6)), *learned_trees())]


@pytest.mark.parametrize("seed", range(12))
def test_whatever_loads_can_be_looked_at(texts: list[str], seed: int) -> None:
    """Zero weights, classes without rows, sums that overflow: an answer, or an error made for people."""
    rng = random.Random(seed)
    for _ in range(25):
        text = (estranged if rng.random() < 0.8 else mutated)(rng, rng.choice(texts))
        try:
            t = from_json(text)
        except FileError:
            continue
        wrong = look_at(t)
        assert not wrong, "\n".join(wrong)
