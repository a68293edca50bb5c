"""`route.js`, run by node as the page reads it, against the core on trees of every kind."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_trees import hours, random_tree, tennis, tree
from test_predict import ROWS, without_chance

import treewright as tw
from treewright.data.encoding import encode
from treewright.data.reader import read
from treewright.export.javascript_source import router_source, split_lists
from treewright.reporting.leaf_models import leaf_models
from treewright.reporting.structure import nodes, schema

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node, which runs the page's JavaScript")

SCRIPT = """
import { readFileSync } from "node:fs";
const { router, follow, valueAt, classAt, heaviestEnd } = await import(process.argv[2]);
const cases = JSON.parse(readFileSync(0, "utf8"));
const found = cases.map(({ report, rows }) => {
  const tree = router(report);
  return rows.map((row) => {
    const { ends } = follow(tree, row);
    const values = valueAt(tree, ends, row);
    return { values, node: heaviestEnd(ends), paths: ends.length, place: tree.classes ? classAt(tree, values) : -1 };
  });
});
console.log(JSON.stringify(found));
"""


def route(cases: list[tuple[tw.Tree, Any]], folder: Path) -> list[list[dict[str, Any]]]:
    """What route.js makes of the rows of each tree, all in one run of node."""
    script = folder / "run.mjs"
    script.write_text(SCRIPT)
    written = [{"report": routed(t), "rows": coded(t, table)} for t, table in cases]
    # A copy with the ending .mjs: node takes .js for an older kind of module where no package says otherwise.
    copy = folder / "route.mjs"
    copy.write_text(router_source())
    assert NODE is not None
    done = subprocess.run(
        [NODE, script, copy.as_uri()],
        input=json.dumps(written),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def routed(t: tw.Tree) -> dict[str, Any]:
    """The parts of a report that routing reads."""
    return {"nodes": nodes(t), "splits": split_lists(t), "schema": schema(t), "models": leaf_models(t, None)}


def coded(t: tw.Tree, table: Any) -> list[list[Any]]:
    """The rows as the page codes them: None for missing, -2 for a level the tree does not know."""
    rows = encode(read(table, only=t.schema.names), t.schema, training=False)
    columns = [[None if x != x or (c.dtype.kind == "i" and x == -1) else x for x in c.tolist()] for c in rows.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def check(cases: list[tuple[tw.Tree, Any]], folder: Path) -> None:
    for (t, table), found in zip(cases, route(cases, folder), strict=True):
        classes = t.schema.target.classes
        expected = tw.predict(t, table)[:, None] if classes is None else tw.predict_proba(t, table)
        values = np.array([row["values"] for row in found])
        assert np.abs(values - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max()), t
        single = np.array([row["paths"] == 1 for row in found])
        nodes = np.array([row["node"] for row in found])
        assert (nodes == tw.apply(t, table))[single].all(), t
        if classes is not None:
            # Where two classes are equal but for the last digit, either may come first.
            clear = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2:-1].max(axis=1) > 1e-9
            answered = np.array([classes[row["place"]] for row in found], dtype=object)
            clear |= t.schema.target.costs is not None
            assert (answered == np.array(tw.predict(t, table).tolist(), dtype=object))[clear].all(), t


def test_handmade(tmp_path: Path) -> None:
    check([(tennis(), ROWS), (hours(), ROWS)], tmp_path)


def test_random_trees(tmp_path: Path) -> None:
    cases = []
    for seed in range(60):
        rng = random.Random(seed)
        t = without_chance(random_tree(seed, 5))
        cases.append((t, {c.name: [value(rng, c.levels) for _ in range(60)] for c in t.schema.columns}))
    check(cases, tmp_path)


def value(rng: random.Random, levels: tuple[Any, ...] | None) -> Any:
    if rng.random() < 0.25:
        return None
    return rng.gauss(0, 100) if levels is None else rng.choice([*levels, "never seen"])


def table(seed: int, n: int, gaps: float = 0.0, strange: bool = False) -> dict[str, list[Any]]:
    """Numbers with ties, few and many levels, an ordered column, dates; `strange`: with a level nobody knows."""
    rng = random.Random(seed)
    gap = lambda x: None if rng.random() < gaps else x  # noqa: E731
    colours = [*"abcdefg", *(["zz"] if strange else [])]
    rows: dict[str, list[Any]] = {
        "width": [gap(rng.randint(0, 30) / 4) for _ in range(n)],
        "height": [gap(rng.gauss(0, 1)) for _ in range(n)],
        "colour": [gap(rng.choice(colours)) for _ in range(n)],
        "flag": [gap(rng.random() < 0.4) for _ in range(n)],
        "size": [gap(rng.choice(["small", "middle", "large"])) for _ in range(n)],
        "day": [gap(np.datetime64("2020-01-01") + rng.randint(0, 900)) for _ in range(n)],
    }
    rows["day"] = [None if x is None else x.astype(object) for x in rows["day"]]
    return rows


def target(rows: dict[str, list[Any]], task: str) -> list[Any]:
    rng = random.Random(7)
    score = [
        (w or 0) + 2 * (h or 0) + (c in ("a", "c", None)) * 3 - 2 * bool(f) + (s == "large") + rng.random()
        for w, h, c, f, s in zip(*(rows[k] for k in ("width", "height", "colour", "flag", "size")), strict=True)
    ]
    return score if task == "number" else [f"class {min(3, max(0, int(x / 2)))}" for x in score]


KINDS = {"size": ("small", "middle", "large")}

RECIPES = {
    "CART": tw.CART,
    "RPART": tw.RPART,
    "C45": tw.C45,
    "J48": tw.J48,
    "CHAID": tw.CHAID,
    "SKLEARN": dataclasses.replace(tw.SKLEARN, branching=tw.branching.Binary()),
    "spread": dataclasses.replace(tw.CART, missing=tw.missing.Fractional()),
    "own": dataclasses.replace(tw.CART, missing=tw.missing.OwnCategory()),
    "majority": dataclasses.replace(tw.CART, missing=tw.missing.MajorityChild(), unseen="majority"),
    "learned": dataclasses.replace(tw.CART, missing=tw.missing.LearnedDirection()),
    "surrogates": dataclasses.replace(tw.CART, missing=tw.missing.Surrogates()),
}


@pytest.mark.parametrize("task", ["class", "number"])
def test_learned_trees(task: str, tmp_path: Path) -> None:
    rows = table(1, 300, gaps=0.15)
    rows["y"] = target(rows, task)
    new = table(2, 120, gaps=0.3, strange=True)
    able = [r for r in RECIPES.values() if (r.regression if task == "number" else r.criterion) is not None]
    cases = [(tw.learn(rows, "y", recipe, kinds=KINDS), new) for recipe in able]
    assert len(cases) >= 7
    check(cases, tmp_path)


def test_costs_decide_the_prediction(tmp_path: Path) -> None:
    rows = table(3, 200)
    rows["y"] = ["yes" if x.endswith(("2", "3")) else "no" for x in target(rows, "class")]
    t = tw.learn(
        rows,
        "y",
        dataclasses.replace(tw.CART, stopping=tw.stopping.Stopping(max_depth=2)),
        kinds=KINDS,
        costs=[[0, 1], [7, 0]],
    )
    check([(t, table(4, 80))], tmp_path)


def test_a_random_branch_gives_what_is_expected_of_the_draw(tmp_path: Path) -> None:
    rows = table(5, 300, gaps=0.2)
    rows["y"] = target(rows, "class")
    t = tw.learn(rows, "y", dataclasses.replace(tw.CART, missing=tw.missing.RandomChild()), kinds=KINDS)
    assert (t.arrays["missing"] == -3).any()
    drawn = t.arrays["missing"].copy()
    drawn[drawn == -3] = -1
    spread = tw.Tree({**t.arrays, "missing": drawn}, t.schema, t.recipe)
    new = table(6, 60, gaps=0.3)
    found = route([(t, new)], tmp_path)[0]
    assert np.abs(np.array([row["values"] for row in found]) - tw.predict_proba(spread, new)).max() < 1e-12


def test_a_very_deep_tree_is_no_danger(tmp_path: Path) -> None:
    from handmade_trees import Question, fork, leaf

    plan = leaf(1, 2)
    for depth in range(3000):
        plan = fork(Question(1, breaks=(float(-depth),), missing=-1), plan, leaf(2, 1))
    t = tree(plan)
    check([(t, {"outlook": ["rain"], "humidity": [-1e9], "windy": [True]})], tmp_path)
