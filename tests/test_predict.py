"""Prediction: the core's routing against a second one written here, and the errors users meet."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_trees import TENNIS, Question, fork, hours, leaf, random_tree, tennis, tennis_plan, tree

from treewright.data.schema import Schema, TargetSpec
from treewright.errors import DataError
from treewright.prediction.predict import apply, predict, predict_proba
from treewright.recipes.named import C45, ID3, SKLEARN
from treewright.recipes.stopping import Stopping
from treewright.training.learn import learn
from treewright.tree.split import Split
from treewright.tree.tree import Node, Tree

ROWS = {
    "outlook": ["sunny", "sunny", "overcast", "rain", None, "snow"],
    "humidity": [70.0, 77.6, None, 80.0, 77.5, 70.0],
    "windy": [True, False, None, False, True, None],
}


def test_tennis() -> None:
    t = tennis()
    assert predict(t, ROWS).tolist() == ["yes", "no", "yes", "yes", "yes", "yes"]
    assert apply(t, ROWS).tolist()[:4] == [2, 3, 4, 6]
    shares = predict_proba(t, ROWS)
    # No outlook: down every branch with its share; then humidity and wind are known, or spread once more.
    assert shares[4] == pytest.approx([5 / 14, 9 / 14])
    assert shares[5] == pytest.approx([5 / 14 * 2 / 5, 9 / 14 + 5 / 14 * 3 / 5])
    assert shares.sum(axis=1) == pytest.approx(1)


def test_numbers() -> None:
    assert predict(hours(), ROWS).tolist() == [44.25, 30.0, 44.25, 30.0, 44.25, 44.25]
    with pytest.raises(DataError, match="'hours' is a number and has no classes; use predict"):
        predict_proba(hours(), ROWS)


def test_more_columns_and_another_order_do_not_matter() -> None:
    shuffled = {"extra": range(6), **dict(reversed(ROWS.items()))}
    assert predict(tennis(), shuffled).tolist() == predict(tennis(), ROWS).tolist()


def test_the_router_is_made_once_and_is_no_part_of_the_value() -> None:
    t = tennis()
    predict(t, ROWS)
    router = t.keep("router", lambda: pytest.fail("it should be there"))
    apply(t, ROWS)
    assert t.keep("router", lambda: None) is router
    assert t == tennis()
    assert hash(t) == hash(tennis())


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        (("no", "yes"), np.dtype("<U3")),
        ((0, 1), np.dtype("int64")),
        ((False, True), np.dtype("bool")),
        ((0.5, 1.5), np.dtype("float64")),
        ((0, "yes"), np.dtype("object")),
        (("a", "a\0"), np.dtype("object")),  # numpy's own text drops trailing zeros
    ],
)
def test_classes_come_back_as_they_are(classes: tuple[Any, Any], dtype: np.dtype[Any]) -> None:
    schema = Schema(TENNIS.columns, TargetSpec("play", "classification", classes))
    found = predict(tree(tennis_plan(), schema), ROWS)
    assert found.dtype == dtype
    assert found.tolist() == [classes[i] for i in (1, 0, 1, 1, 1, 1)]


def test_the_first_of_equal_classes_wins() -> None:
    plan = fork(Question(2), leaf(2, 2), leaf(1, 2))
    assert predict(tree(plan), ROWS).tolist()[:2] == ["yes", "no"]


def test_a_recipe_that_refuses_missing_values() -> None:
    windy = fork(Question(2), leaf(2, 0), leaf(0, 2))
    t = tree(windy, recipe=ID3)
    with pytest.raises(DataError, match=r"column 'windy' is missing in 2 of 6 rows, and the recipe 'ID3' refuses"):
        predict(t, ROWS)
    only_asked = ROWS | {"windy": [True] * 6}
    assert predict(t, only_asked).tolist() == ["yes"] * 6  # what is not asked about may be missing


def test_a_recipe_that_refuses_unseen_levels() -> None:
    strict = tree(tennis_plan(), recipe=dataclasses.replace(C45, unseen="error"))
    with pytest.raises(DataError, match="'snow'"):
        predict(strict, ROWS)


# --- against a second routing -----------------------------------------------------------------------------------------


def child_of(split: Split, value: Any) -> int | None:
    """The child of a known value; None if no child holds it."""
    if value is None:
        return None
    if split.spec.levels is not None:
        found = split.child_of_bin[split.spec.levels.index(value)] if value in split.spec.levels else -1
    else:
        found = split.child_of_bin[sum(b < value if split.test == "<=" else b <= value for b in split.breaks)]
    return None if found < 0 else found


def paths(t: Tree, node: Node, row: dict[str, Any], weight: float = 1.0) -> list[tuple[Node, float]]:
    """Where a row ends, with its weight there."""
    split = node.split
    if split is None:
        return [(node, weight)]
    value = row[split.column]
    child: int | str | None = child_of(split, value)
    if child is None and value is not None and split.spec.levels is not None and split.unseen != "missing":
        child = split.unseen
    if child is None:
        answers = (child_of(surrogate, row[surrogate.column]) for surrogate in node.surrogates)
        child = next((answer for answer in answers if answer is not None), split.missing)
    if child == "stop":
        return [(node, weight)]
    if child == "spread":
        shared = zip(node.children, split.share, strict=True)
        return [end for i, share in shared if share > 0 for end in paths(t, t[i], row, weight * share)]
    assert isinstance(child, int), child
    return paths(t, t[node.children[child]], row, weight)


@pytest.mark.parametrize("seed", range(60))
def test_routing_agrees(seed: int) -> None:
    rng = random.Random(seed)
    t = without_chance(random_tree(seed, 5))
    rows = [{c.name: random_value(rng, c.levels) for c in t.schema.columns} for _ in range(200)]
    table = {c.name: [row[c.name] for row in rows] for c in t.schema.columns}
    ends = [paths(t, t.root, row) for row in rows]
    classes = t.schema.target.classes
    expected = [np.sum([w * t.arrays["value"][node.id] for node, w in end], axis=0) for end in ends]
    found = predict(t, table, n_threads=1)[:, None] if classes is None else predict_proba(t, table, n_threads=1)
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    for node, end in zip(apply(t, table), ends, strict=True):
        heaviest = max(weight for _, weight in end)
        assert any(n.id == node and weight >= heaviest * (1 - 1e-12) for n, weight in end)
    for threads in (2, 5):
        assert (apply(t, table, n_threads=threads) == apply(t, table, n_threads=1)).all()


def without_chance(t: Tree) -> Tree:
    """The same tree without random children, whose draw is the core's own business."""
    missing = t.arrays["missing"].copy()
    missing[missing == -3] = -1
    return Tree({**t.arrays, "missing": missing}, t.schema, t.recipe)


def random_value(rng: random.Random, levels: tuple[Any, ...] | None) -> Any:
    if rng.random() < 0.2:
        return None
    return rng.gauss(0, 100) if levels is None else rng.choice([*levels, "never seen"])


def test_values_on_a_break_go_where_the_test_says() -> None:
    for closed, expected in ((1, ["no", "no", "yes"]), (0, ["no", "yes", "yes"])):
        t = tree(fork(Question(1, breaks=(2.5,), closed=closed), leaf(1, 0), leaf(0, 1)))
        assert predict(t, rows_of([np.nextafter(2.5, 0), 2.5, np.nextafter(2.5, 3)])).tolist() == expected


def rows_of(humidity: list[float]) -> dict[str, list[Any]]:
    return {"outlook": ["sunny"] * len(humidity), "humidity": humidity, "windy": [True] * len(humidity)}


def test_chance_depends_on_the_row_and_the_seed_alone() -> None:
    plan = fork(Question(1, breaks=(2.5,), missing=-3, share=(0.5, 0.5)), leaf(1, 0), leaf(0, 1))
    rows = {"outlook": ["sunny"] * 400, "humidity": [None] * 400, "windy": [True, False] * 200}
    nodes = apply(tree(plan), rows)
    assert len(set(nodes[::2])) == len(set(nodes[1::2])) == 1  # equal rows, equal draws
    drawn = {int(apply(tree(plan, recipe=dataclasses.replace(C45, seed=seed)), rows)[0]) for seed in range(30)}
    assert drawn == {1, 2}


@pytest.mark.parametrize("missing", [0, -2, -3, -1])
def test_a_very_deep_tree_is_no_danger(missing: int) -> None:
    """In a process of its own: a routine that recurses per level would end it."""
    code = (
        "from test_tree import big, TENNIS, C45, Tree; from treewright.prediction.predict import apply;"
        f"a = big(300_000, True); a['missing'][:] = {missing};"
        "print(apply(Tree(a, TENNIS, C45), {'outlook': ['rain'], 'humidity': [None], 'windy': [True]}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent, timeout=120)


@pytest.mark.parametrize("max_depth", [3, None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_side_by_side_go_where_one_alone_would(dtype: type, max_depth: int | None) -> None:
    """The quick walk for numbers, in every layout of a table, with values on the breaks, missing and huge ones."""
    chance = np.random.default_rng(5)
    seen = chance.normal(size=(700, 5)).astype(dtype)
    answer = (seen[:, 0] * seen[:, 1] > 0.1) ^ (seen[:, 2] > 0.5)
    recipe = dataclasses.replace(SKLEARN, stopping=Stopping(max_depth=max_depth))
    t = learn(seen, answer, recipe)
    rows = chance.normal(size=(300, 5)).astype(dtype)
    breaks = t.arrays["breaks"]
    for i in range(150):  # half of the rows have a value on a break, or the next float beside it
        rows[i, i % 5] = np.nextafter(dtype(breaks[i % len(breaks)]), dtype(chance.choice([-9, 0, 9])), dtype=dtype)
    rows[5, 0], rows[6, 1] = np.finfo(dtype).max, np.finfo(dtype).min
    rows[200:][chance.random((100, 5)) < 0.1] = np.nan
    named = [{f"x{i}": None if x != x else float(x) for i, x in enumerate(row)} for row in rows]
    alone = [paths(t, t.root, row)[0][0].id for row in named]
    wide = np.zeros((300, 10), dtype)
    wide[:, ::2] = rows
    for table in (
        rows,
        np.asfortranarray(rows),
        wide[:, ::2],
        rows[::-1][::-1],
        {f"x{i}": rows[:, i] for i in range(5)},
    ):
        assert apply(t, table).tolist() == alone
    rows[250, 3] = np.inf
    with pytest.raises(DataError, match=r"infinity or a value too large.*x3.*row 250"):
        apply(t, rows)
