"""Linear leaves in the report and on the page: lines, residuals and predictions are those of `predict`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from export_cases import model_tree_case
from test_page import opened

import treewright as tw
from treewright.render import html
from treewright.reporting.html_page import packed


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    x, z = rng.uniform(0, 10, 400), rng.normal(size=400)
    y = np.where(x < 4, 3 * x, 20 - x) + 0.5 * z + 0.5 * rng.normal(size=400)
    return {"x": x, "z": z, "kind": ["a" if one > 0 else "b" for one in z], "y": y}


@pytest.fixture(scope="module")
def tree(rows: dict[str, Any]) -> tw.Tree:
    recipe = tw.CART.with_(leaves=tw.leaves.Linear(margin=0.1), max_depth=2, pruning=None, min_samples_leaf=10)
    return tw.learn(rows, "y", recipe)


def test_the_report_has_the_models_and_their_residuals(tree: tw.Tree, rows: dict[str, Any]) -> None:
    found = json.loads(json.dumps(tw.report(tree, rows), allow_nan=False))
    leaf, residual = tw.apply(tree, rows), rows["y"] - tw.predict(tree, rows)
    for node in tree:
        entry = found["models"][node.id]
        assert (entry["intercept"], len(entry["names"])) == (node.model.intercept, len(node.model.terms))
        if not node.is_leaf:
            assert "sample" not in entry
            continue
        here = leaf == node.id
        assert entry["residual"] == pytest.approx(np.sqrt(np.mean(residual[here] ** 2)))
        column = entry["sample"]["column"]
        assert column == next(term.column for term in node.model.terms if term.levels is None)
        own = rows[tree.schema.names[column]][here]
        assert entry["sample"]["range"] == [own.min(), own.max()]
        points = set(zip(own.tolist(), rows["y"][here].tolist(), strict=True))
        assert set(zip(entry["sample"]["x"], entry["sample"]["truth"], strict=True)) <= points
        assert len(entry["sample"]["x"]) == min(150, here.sum())
    assert found["pruning"] is None
    assert [rule["prediction"] for rule in found["rules"]] == [rule.model for rule in tw.rules(tree)]
    assert tw.report(tree)["models"][0]["text"] == found["models"][0]["text"]
    assert packed(tw.report(tree))["models"] is not None
    assert tw.report(tw.learn(rows, "y", tw.CART))["models"] is None


@pytest.mark.parametrize("recipe", ["M5", "PILOT"])
def test_the_recipes_of_model_trees_have_a_report(recipe: str) -> None:
    case = model_tree_case(recipe)
    found = tw.report(case.tree, case.rows.append_column("y", pa.array(case.prediction)))
    assert json.dumps(found, allow_nan=False)
    reached = set(case.leaf)
    assert {node for node, entry in enumerate(found["models"]) if "sample" in entry} == reached
    assert all(found["models"][node]["residual"] == 0 for node in reached)  # the truth is what was predicted
    assert all(tw.explain_node(case.tree, node.id).complete for node in case.tree)


def test_a_leaf_shows_its_line_and_the_case_is_computed_by_its_model(
    browser: Any, tree: tw.Tree, rows: dict[str, Any], tmp_path: Path
) -> None:
    with opened(browser, html(tree, rows), tmp_path) as page:
        assert page.get_by_role("tab", name="Pruning").count() == 0
        leaf = next(node for node in tree if node.is_leaf)
        page.locator(f'[data-node="{leaf.id}"]').click()
        inspector = page.locator(".tw-inspector")
        assert inspector.get_by_role("img").count() == 2
        assert "kept within" in inspector.inner_text()
        assert page.locator(".tw-model-line").count() == 2
        page.get_by_role("tab", name="Case").click()
        for values in ({"x": 1.0, "z": 0.5, "kind": "a"}, {"x": 6.5, "z": None, "kind": None}, {"x": 900.0, "z": 0.0}):
            row = {"x": None, "z": None, "kind": None} | values
            predicted = tw.predict(tree, {name: [value] for name, value in row.items()})[0]
            page.locator(".tw-form").get_by_label("x", exact=True).fill(str(row["x"]))
            page.locator(".tw-form").get_by_label("z", exact=True).fill("" if row["z"] is None else str(row["z"]))
            assert float(page.locator(".tw-prediction").inner_text()) == pytest.approx(predicted, rel=1e-3)
            text = page.locator(".tw-case").inner_text()
            assert "(mean)" in text or row["z"] is not None
            assert ("beyond the range guard" in text) == (row["x"] == 900.0)
            assert "SHAP" not in text


def test_a_page_without_rows_shows_the_terms(browser: Any, tree: tw.Tree, tmp_path: Path) -> None:
    with opened(browser, html(tree), tmp_path) as page:
        leaf = next(node for node in tree if node.is_leaf)
        page.locator(f'[data-node="{leaf.id}"]').click()
        assert "if missing" in page.locator(".tw-inspector").inner_text()
        assert page.locator(".tw-model-line").count() == 0


def test_a_long_model_is_named_and_its_terms_are_listed(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table: dict[str, Any] = {f"long name of column {c}": rng.normal(size=300) for c in range(8)}
    table["y"] = sum((c + 1) * table[f"long name of column {c}"] for c in range(8)) + (rng.random(300) > 0.5)
    recipe = tw.CART.with_(leaves=tw.leaves.Linear(max_terms=8), max_depth=1, pruning=None)
    with opened(browser, html(tw.learn(table, "y", recipe)), tmp_path) as page:
        for node in (0, 1):
            page.locator(f'[data-node="{node}"]').click()
            inspector = page.locator(".tw-inspector")
            assert "linear model of 8 terms" in inspector.locator("header").inner_text()
            terms = inspector.locator(".tw-terms")
            assert "intercept" in terms.inner_text()
            assert "long name of column 7" in terms.inner_text()
