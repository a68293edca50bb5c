"""Numbers, SHAP values and counterfactuals as the page makes them, run by node, against those of the library."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_trees import tennis
from test_page_route import KINDS, NODE, RECIPES, coded, routed, table, target

import treewright as tw
from treewright.data.number_text import amount, figure, number_text, percent
from treewright.reporting.html_page import module

pytestmark = pytest.mark.skipif(NODE is None, reason="needs node, which runs the page's JavaScript")

SCRIPT = """
import { readFileSync } from "node:fs";
import { router, follow, valueAt } from "./route.mjs";
import { shapValues } from "./shap.mjs";
import { counterfactuals } from "./counterfactuals.mjs";
const found = JSON.parse(readFileSync(0, "utf8")).map(({ report, rows, far, leaves }) => {
  const tree = router(report);
  const isLeaf = leaves ? (node) => leaves[node] : (node) => tree.firstChild[node] === tree.firstChild[node + 1];
  return rows.map((row) => {
    const { base, values } = shapValues(tree, row, isLeaf);
    const changes = counterfactuals(tree, report.schema, row, isLeaf, far);
    return { base, values: [...values], changes, now: valueAt(tree, follow(tree, row, isLeaf).ends) };
  });
});
console.log(JSON.stringify(found));
"""


def explained(cases: list[dict[str, Any]], folder: Path) -> list[list[dict[str, Any]]]:
    """What the page's modules make of the rows of each case, in one run of node."""
    (folder / "run.mjs").write_text(SCRIPT)
    for path in ("../../export/route.js", "explain/shap.js", "explain/counterfactuals.js"):
        (folder / Path(path).with_suffix(".mjs").name).write_text(module(path))
    assert NODE is not None
    done = subprocess.run(
        [NODE, folder / "run.mjs"], input=json.dumps(cases), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def case(t: tw.Tree, rows: Any, **more: Any) -> dict[str, Any]:
    far = 0.0 if t.schema.target.classes else float(t.root.deviation or 0) / 2
    return {"report": routed(t), "rows": coded(t, rows), "far": far, **more}


def trees(task: str) -> tuple[list[tw.Tree], dict[str, list[Any]]]:
    rows = table(1, 250, gaps=0.12)
    rows["y"] = target(rows, task)
    able = [r for r in RECIPES.values() if (r.regression if task == "number" else r.criterion) is not None]
    new = table(2, 25, gaps=0.2, strange=True)
    found = [tw.learn(rows, "y", dataclasses.replace(r, pruning=None, simplify=None), kinds=KINDS) for r in able]
    soft = [tw.soften(t, rows) for t in found if t.recipe.name in (tw.C45.name, tw.CART.name)]
    assert any(t.soft is not None for t in soft)
    return found + soft, new


@pytest.mark.parametrize("task", ["class", "number"])
def test_shap_values_are_those_of_the_library(task: str, tmp_path: Path) -> None:
    made, new = trees(task)
    for t, rows in zip(made, explained([case(t, new) for t in made], tmp_path), strict=True):
        expected = tw.shap_values(t, new)
        size = max(1.0, float(np.abs(expected.values).max()))
        for i, row in enumerate(rows):
            values = np.zeros((len(t.schema.columns), len(row["base"])))
            for column, numbers in row["values"]:
                values[column] = numbers
            wanted = expected.values[i].reshape(values.shape)
            assert np.abs(values - wanted).max() <= 1e-9 * size, t
            assert np.allclose(row["base"], np.atleast_1d(expected.base), rtol=1e-9, atol=1e-12)


def test_shap_values_of_a_pruned_tree(tmp_path: Path) -> None:
    (t, *_), new = trees("class")
    kept = tw.prune(t, tw.pruning.MaxDepth(2))
    leaves = [node.depth >= 2 or node.is_leaf for node in t]
    expected = tw.shap_values(kept, new)
    for i, row in enumerate(explained([case(t, new, leaves=leaves)], tmp_path)[0]):
        values = np.zeros(expected.values.shape[1:])
        for column, numbers in row["values"]:
            values[column] = numbers
        assert np.abs(values - expected.values[i]).max() <= 1e-9


@pytest.mark.parametrize("task", ["class", "number"])
def test_counterfactuals_are_the_nearest(task: str, tmp_path: Path) -> None:
    """The first one changes as many columns as the library's first one, as little, and predicts what it claims."""
    made, new = trees(task)
    names = made[0].schema.names
    tried = 0
    for t, rows in zip(made, explained([case(t, new) for t in made], tmp_path), strict=True):
        if (t.arrays["missing"] == -1).any():
            continue  # with fractional rows the library also changes part of a row
        for i, row in enumerate(rows):
            one = {name: [new[name][i], *new[name]] for name in names}  # further rows, so that no column is empty
            wanted = tw.counterfactuals(t, {name: values[0] for name, values in one.items()})
            assert bool(wanted) == bool(row["changes"]), (t, i)
            if not wanted:
                continue
            tried += 1
            changes = row["changes"][0]["changes"]
            assert len(changes) == len(wanted[0].values)
            distance = sum(change["distance"] for change in changes)
            assert distance == pytest.approx(wanted[0].distance, rel=1e-9, abs=1e-12)
            for found in row["changes"]:
                if t.schema.target.classes is None:
                    assert abs(found["values"][0] - row["now"][0]) >= float(t.root.deviation or 0) / 2
                else:
                    assert np.argmax(found["values"]) != np.argmax(row["now"])
    assert tried > 50


def test_a_tree_of_one_leaf_has_neither(tmp_path: Path) -> None:
    t = tw.prune(tennis(), tw.pruning.MaxDepth(0))
    row = {"outlook": ["sunny"], "humidity": [70.0], "windy": [True]}
    assert explained([case(t, row)], tmp_path)[0][0]["changes"] == []
    assert explained([case(t, row)], tmp_path)[0][0]["values"] == []


def test_numbers_are_written_as_in_python(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = [sign * x for sign in (1, -1) for x in (10.0 ** rng.uniform(-9, 8, 400)).tolist()]
    values += [i / 64 for i in range(-300, 300)] + [k + 0.25 for k in range(1000, 1010)]  # among them many ties
    values += [0.0, 1e-5, 0.99996, 999.96, 1e14, 12345678.0, 1e300]
    (tmp_path / "numbers.mjs").write_text(module("base/numbers.js"))
    (tmp_path / "run.mjs").write_text(
        'import { number, figure, percent, thresholdText } from "./numbers.mjs";\n'
        'import { readFileSync } from "node:fs";\n'
        'const values = JSON.parse(readFileSync(0, "utf8"));\n'
        "const texts = (x) => [number(x), figure(x), percent(Math.abs(x) % 1), thresholdText(x)];\n"
        "console.log(JSON.stringify(values.map(texts)));"
    )
    assert NODE is not None
    done = subprocess.run(
        [NODE, tmp_path / "run.mjs"], input=json.dumps(values), capture_output=True, text=True, check=True, timeout=60
    )
    for x, found in zip(values, json.loads(done.stdout), strict=True):
        plain = [text.replace(",", "").replace("\u00a0", " ") for text in found]
        assert plain == [amount(x), figure(x), percent(abs(x) % 1), number_text(x)], x
