"""The parts of the page, in a browser: histograms, scores, one row, what opens, and how it looks small and on paper."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_trees import Question, fork, leaf, tennis, tree
from test_page import TENNIS_ROWS, many_leaves, opened
from test_page_route import KINDS, table, target

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.render import html
from treewright.reporting.report import report

#: The smallest text in view, in pixels as they are seen.
SMALLEST_TEXT = """[...document.querySelectorAll('.tw-viewport *')].filter((e) => {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  return own && e.checkVisibility() && e.getBoundingClientRect().width > 0;
}).map((e) => parseFloat(getComputedStyle(e).fontSize) * (e.closest('.tw-stage')
  ? new DOMMatrix(getComputedStyle(e.closest('.tw-stage')).transform).a : 1))
  .reduce((a, b) => Math.min(a, b), 100)"""


@pytest.fixture(scope="module")
def grown() -> tuple[tw.Tree, dict[str, list[Any]], dict[str, list[Any]]]:
    rows, unseen = table(1, 300, gaps=0.1), table(2, 150, gaps=0.1)
    rows["y"], unseen["y"] = target(rows, "class"), target(unseen, "class")
    recipe = dataclasses.replace(tw.CART, pruning=None, missing=tw.missing.Fractional())
    return tw.learn(rows, "y", recipe, kinds=KINDS), rows, unseen


@pytest.fixture(scope="module")
def two_classes() -> tuple[tw.Tree, dict[str, list[Any]], dict[str, list[Any]]]:
    rows, unseen = table(1, 300), table(2, 150)
    for part in (rows, unseen):
        part["y"] = ["yes" if name in ("class 2", "class 3") else "no" for name in target(part, "class")]
    return tw.learn(rows, "y", dataclasses.replace(tw.CART, pruning=None).with_(max_depth=4), kinds=KINDS), rows, unseen


# --- the tree ---------------------------------------------------------------------------------------------------------


def test_nodes_have_histograms(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(tennis(), TENNIS_ROWS), tmp_path) as page:
        assert page.locator(".tw-card .tw-histogram").count() == 8  # a small tree has room for them
        assert page.locator('.tw-card[data-node="1"] .tw-cut').count() == 1  # humidity, with its threshold
        page.click('.tw-card[data-node="1"]')
        assert "split at 77.5" in page.wait_for_selector(".tw-node-histogram").inner_text()
        page.click("text=Histograms")
        assert page.locator(".tw-card .tw-histogram").count() == 0
    with opened(browser, html(tennis()), tmp_path) as page:  # without rows there are none
        assert page.locator("text=Histograms").count() == 0


def test_bars_count_the_rows_of_the_node(two_classes: Any) -> None:
    t, rows, _ = two_classes
    found = report(t, rows)["histograms"]
    root = found[0]
    assert np.array(root["counts"]).sum() == 300
    assert np.array(root["counts"]).sum(axis=0).tolist() == [rows["y"].count("no"), rows["y"].count("yes")]
    assert root["of"] == t.root.split.column
    assert report(t)["histograms"] is None


@pytest.mark.parametrize("leaves", [13, 200])
def test_a_small_tree_is_fully_open_and_text_is_readable(browser: Any, tmp_path: Path, leaves: int) -> None:
    with opened(browser, html(many_leaves(leaves)), tmp_path) as page:
        assert page.locator(".tw-badge").is_hidden() == (leaves == 13)
        assert page.evaluate(SMALLEST_TEXT) >= 10
        page.click("text=Expand all")
        for _ in range(12):
            page.keyboard.press("-")
            page.wait_for_timeout(20)
            assert page.evaluate(SMALLEST_TEXT) >= 10
        for _ in range(4):
            page.keyboard.press("+")
            page.wait_for_timeout(20)
            assert page.evaluate(SMALLEST_TEXT) >= 10


def test_surrogate_splits_are_listed(browser: Any, tmp_path: Path) -> None:
    rows: dict[str, Any] = {"x": list(range(60)), "twin": [(i * 7) % 60 if i % 9 == 0 else i for i in range(60)]}
    rows["y"] = ["a"] * 30 + ["b"] * 30
    t = tw.learn(rows, "y", tw.RPART)
    surrogates = t.root.surrogates
    assert [surrogate.column for surrogate in surrogates] == ["twin"]
    with opened(browser, html(t, rows), tmp_path) as page:
        listed = page.wait_for_selector(".tw-section:has(h3:text-is('Surrogate splits'))").inner_text()
        assert surrogates[0].column in listed
        assert f"{surrogates[0].agreement:.4f}" in listed
        assert "1 surrogate split, then" in page.inner_text(".tw-inspector")


def test_a_split_by_date_has_its_date_below_the_histogram(browser: Any, tmp_path: Path) -> None:
    days = [np.datetime64("2020-01-01") + i for i in range(40)]
    rows = {"day": [day.astype(object) for day in days], "y": ["a"] * 20 + ["b"] * 20}
    with opened(browser, html(tw.learn(rows, "y"), rows), tmp_path) as page:
        assert "split at 2020-01-20" in page.wait_for_selector(".tw-node-histogram").inner_text()
        page.click("text=Expand all")
        assert "<= 2020-01-20" in page.inner_text('.tw-card[data-node="1"]')


def test_more_opens(browser: Any, tmp_path: Path) -> None:
    levels = tuple(f"level {i:02d}" for i in range(60))
    classes = tuple(f"class {i:02d}" for i in range(20))
    schema = Schema((ColumnSpec("place", "nominal", levels),), TargetSpec("y", "classification", classes))
    two = [tuple(float(k % 2 == side) * (k + 1) for k in range(20)) for side in range(2)]
    t = tree(fork(Question(0, tuple(int(i > 29) for i in range(60))), leaf(*two[0]), leaf(*two[1])), schema)
    with opened(browser, html(t), tmp_path) as page:
        assert page.locator(".tw-main .tw-legend li").count() == 13
        page.click(".tw-main .tw-legend >> text=8 more")
        assert page.locator(".tw-main .tw-legend li").count() == 20
        page.click('.tw-card[data-node="1"]')
        assert "level 25" not in page.inner_text(".tw-inspector .tw-path")
        page.click(".tw-inspector .tw-path .tw-more-link")
        page.wait_for_function("document.querySelector('.tw-inspector .tw-path').innerText.includes('level 25')")
        page.click('role=tab[name="Rules"]')
        page.locator(".tw-rules >> text=24 more").first.click()
        assert "level 59" in page.inner_text(".tw-rules")  # the heavier rule is the first


# --- scores -----------------------------------------------------------------------------------------------------------


def cells(page: Any, part: int = 0) -> list[list[int]]:
    """The confusion matrix that is shown."""
    rows = page.locator(".tw-confusion").nth(part).locator("tbody tr").all()
    return [
        [int(x.replace(",", "").replace("·", "0")) for x in row.locator("td:not(.tw-rate)").all_inner_texts()]
        for row in rows
    ]


def test_the_threshold_slider_moves_the_confusion_matrix(browser: Any, tmp_path: Path, two_classes: Any) -> None:
    t, rows, unseen = two_classes
    share, truth = tw.predict_proba(t, unseen)[:, 1], np.array(unseen["y"]) == "yes"
    predicted = tw.predict(t, unseen) == "yes"
    with opened(browser, html(t, rows, held_out=unseen), tmp_path) as page:
        page.click('role=tab[name="Score"]')
        assert page.locator(".tw-roc").count() == 2
        assert cells(page) == counted(truth, predicted)
        thresholds = np.unique(share)[::-1]
        for step in (0, len(thresholds) // 2, len(thresholds) - 1):
            page.fill("#tw0-threshold-0", str(step))
            assert cells(page) == counted(truth, share >= thresholds[step])
        page.locator("text=Threshold of the tree").first.click()
        assert cells(page) == counted(truth, predicted)


def counted(truth: Any, predicted: Any) -> list[list[int]]:
    return [[int((~truth & ~predicted).sum()), int((~truth & predicted).sum())],
            [int((truth & ~predicted).sum()), int((truth & predicted).sum())]]  # fmt: skip


def test_the_curve_is_that_of_scikit_learn(two_classes: Any) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    t, _, unseen = two_classes
    curve = report(t, unseen)["scores"]["training"]["curve"]
    truth = np.array(unseen["y"]) == "yes"
    false_rate, true_rate, _ = metrics.roc_curve(truth, tw.predict_proba(t, unseen)[:, 1], drop_intermediate=False)
    assert np.allclose(np.array(curve["hits"]) / truth.sum(), true_rate[1:])
    assert np.allclose(np.array(curve["alarms"]) / (~truth).sum(), false_rate[1:])


def test_a_rare_class_has_balanced_accuracy_in_the_header_and_scores_of_its_own(browser: Any, tmp_path: Path) -> None:
    x = [i % 40 for i in range(200)]
    rows = {"x": x, "y": ["rare" if value == 39 and i % 3 else "usual" for i, value in enumerate(x)]}
    rare = tw.learn(rows, "y", class_weight="balanced")
    with opened(browser, html(rare, rows), tmp_path) as page:
        line = page.inner_text(".tw-header .tw-line")
        assert "training accuracy" in line
        assert "balanced accuracy" in line
        page.click("text=Score")
        assert page.locator(".tw-rare tbody tr").count() == 1
        assert re.search(r"ROC AUC\s*[01]\.\d{3} \(baseline 0\.500\)", page.inner_text("body"))
        page.get_by_role("tab", name="Tree").click()
        page.get_by_role("tab", name="Case").click()
        assert page.evaluate(
            "[...document.querySelectorAll('.tw-chance-value')].every((e) => e.scrollWidth <= e.clientWidth)"
        )
    with opened(browser, html(tennis(), TENNIS_ROWS), tmp_path) as page:
        assert "balanced accuracy" not in page.inner_text(".tw-header .tw-line")


def test_numbers_are_shown_predicted_against_actual(browser: Any, tmp_path: Path) -> None:
    rows = table(5, 200)
    rows["y"] = target(rows, "number")
    t = tw.learn(rows, "y", dataclasses.replace(tw.CART, pruning=None).with_(max_depth=3), kinds=KINDS)
    points = report(t, rows)["scores"]["training"]["points"]
    assert points == {"predicted": tw.predict(t, rows).tolist(), "actual": rows["y"]}
    with opened(browser, html(t, rows), tmp_path) as page:
        page.click('role=tab[name="Score"]')
        assert page.get_attribute(".tw-predicted .tw-dots", "d").count("M") == 200


def test_settings_are_sentences(browser: Any, tmp_path: Path) -> None:
    rows = {"x": [1, 2, 3, 4] * 10, "y": ["a", "a", "b", "b"] * 10}
    t = tw.learn(rows, "y", tw.C45.with_(max_depth=5))
    with opened(browser, html(t), tmp_path) as page:
        page.click('role=tab[name="Score"]')
        page.click("text=How it was grown")
        lines = page.locator(".tw-sentences li").all_inner_texts()
        assert "Splits are compared by gain ratio." in lines
        assert "The depth is at most 5." in lines
        assert "A row with a missing value goes to all children, in fractions." in lines
        assert "The tree is pruned by error-based pruning with confidence 0.25." in lines
        assert lines[-1] == "In Python, the recipe is tw.C45.with_(max_depth=5)."
        assert all(line.endswith(".") for line in lines)


def test_the_certificate_of_a_search_is_shown(browser: Any, tmp_path: Path) -> None:
    rows = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": ["no", "yes", "yes", "no"] * 5}
    with opened(browser, html(tw.learn_optimal(rows, "y", max_depth=2), rows), tmp_path) as page:
        assert "proven best of depth 2 by error rate (0)" in page.inner_text(".tw-header .tw-line")
        page.click('role=tab[name="Score"]')
        page.click("text=How it was found")
        lines = page.locator(".tw-sentences li").all_inner_texts()
        assert "The tree has the least error rate among all trees of a depth of at most 2." in lines
        assert "It reaches 0; none has less than 0." in lines


@pytest.mark.parametrize("recipe", [tw.ID3, tw.C45, tw.J48, tw.CART, tw.RPART, tw.SKLEARN, tw.CHAID])
def test_every_recipe_has_sentences(recipe: tw.Recipe) -> None:
    rows = {"x": ["a", "b", "c", "d"] * 10, "y": ["a", "a", "b", "b"] * 10}
    for line in report(tw.learn(rows, "y", recipe))["facts"]["settings"]:
        assert re.fullmatch(r"[A-Z].*\.", line)
        assert "{" not in line


# --- one row ----------------------------------------------------------------------------------------------------------


def test_a_case_shows_truth_contributions_and_changes(browser: Any, tmp_path: Path, two_classes: Any) -> None:
    t, rows, _ = two_classes
    with opened(browser, html(t, rows), tmp_path) as page:
        page.click('role=tab[name="Case"]')
        shown = re.search(r"Row (\d+) of the table", page.inner_text(".tw-picked"))
        assert shown is not None
        row = {name: rows[name][int(shown[1])] for name in t.schema.names}
        assert f"true value: {rows['y'][int(shown[1])]}" in page.inner_text(".tw-true")
        one = {name: [value] for name, value in row.items()}
        predicted = tw.predict(t, one)[0]
        expected = tw.shap_values(t, one).lines(label=predicted)
        names = page.locator(".tw-shap th > span > bdi").all_inner_texts()
        assert names == [name for name, _ in expected[: len(names)]]
        first = page.locator(".tw-shap .tw-contribution").first.inner_text()
        sign, size = "+" if expected[0][1] > 0 else "-", 100 * abs(expected[0][1])
        assert first == f"{sign}{size:.1f}\u00a0%"
        nearest = tw.counterfactuals(t, row)[0]
        change = page.locator(".tw-changes li").first
        assert set(nearest.values) <= set(change.locator("bdi").all_inner_texts())
        change.locator("text=try").click()
        assert page.inner_text(".tw-prediction") == nearest.prediction
        assert page.locator(".tw-true").count() == 0  # no row of the table any more
        assert "changed" in page.inner_text(".tw-picked")


def test_the_arithmetic_is_there_where_values_are_missing(browser: Any, tmp_path: Path) -> None:
    rows = table(1, 200, gaps=0.2)
    rows["y"] = target(rows, "class")
    t = tw.learn(rows, "y", tw.C45, kinds=KINDS)
    assert not tw.explain_node(t, 0).complete  # from the tree alone
    assert "gain ratio" not in report(t)["details"][0]["derivation"].lower()
    with opened(browser, html(t, rows), tmp_path) as page:
        text = page.wait_for_selector(".tw-derivation").inner_text()
        assert "Gain ratio" in text
        assert "not scored" in text or "No value of" in text


def test_the_page_gives_the_command_for_the_pruned_tree(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, _ = grown
    path = report(t)["pruning"]
    step = next(i for i, leaves in enumerate(path["leaves"]) if leaves <= 5)
    with opened(browser, html(t, rows), tmp_path) as page:
        page.click('role=tab[name="Pruning"]')
        assert page.locator(".tw-command-line").count() == 0  # the whole tree is there already
        page.fill("#tw0-alpha", str(step))
        shell, python = page.locator(".tw-command-line code").all_inner_texts()
        found = re.fullmatch(
            r"treewright prune tree.json --method cost-complexity --alpha (\S+) --save pruned.json", shell
        )
        assert found is not None
        assert tw.prune(t, tw.pruning.CostComplexity(float(found[1]))).n_leaves == path["leaves"][step]
        assert eval(python.removeprefix("pruned = "), {"tw": tw, "tree": t}).n_leaves == path["leaves"][step]
        page.locator(".tw-command-line button").first.click()
        page.wait_for_selector("text=Copied")


def test_the_title_is_target_and_file(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "weather.csv"
    names = list(TENNIS_ROWS)
    lines = [",".join(map(str, row)) for row in zip(*TENNIS_ROWS.values(), strict=True)]
    file.write_text("\n".join([",".join(names), *lines]))
    t = tw.learn(str(file), "play")
    with opened(browser, html(t, str(file)), tmp_path) as page:
        assert page.inner_text("h1") == page.title() == "play, weather.csv"
    assert "<title>Mine</title>" in html(t, file, title="Mine")
    assert "<title>Decision tree for play</title>" in html(t)


# --- narrow, wide and on paper ----------------------------------------------------------------------------------------


def test_a_split_into_very_many_children_keeps_its_bars_and_is_a_list_on_paper(browser: Any, tmp_path: Path) -> None:
    rows = {"town": [f"town {i // 2}" for i in range(240)], "y": ["no", "no", "yes", "yes"] * 60}
    tree = tw.learn(rows, "y", tw.ID3, kinds={"town": "nominal"})
    with opened(browser, html(tree, rows), tmp_path) as page:
        assert page.locator(".tw-node-histogram rect").count() == 120
        assert page.locator(".tw-node-histogram .tw-cut").count() == 0  # 119 lines would leave nothing to see
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".tw-paper .tw-printed-list li").count() == 121
        assert page.locator(".tw-paper .tw-card").count() == 0


def test_classes_have_a_legend_on_screen_and_on_paper(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, _ = grown
    with opened(browser, html(t, rows), tmp_path) as page:
        assert page.locator(".tw-main .tw-legend li").all_inner_texts() == list(t.schema.target.classes)
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".tw-paper .tw-legend li").all_inner_texts() == list(t.schema.target.classes)


def test_a_wide_tree_is_a_list_on_paper(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(many_leaves(60)), tmp_path) as page:
        page.click("text=Expand all")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".tw-printed-list li").count() == 119
        assert page.locator(".tw-printed-tree").count() == 0


def test_rules_are_readable_on_a_phone(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, _ = grown
    with opened(browser, html(t, rows), tmp_path) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        page.click('role=tab[name="Rules"]')
        page.wait_for_selector(".tw-rules tbody tr")
        assert page.locator(".tw-rules tbody td").first.bounding_box()["width"] > 300
        for name in ("Rules", "Importance", "Score", "Tree", "Case", "Pruning", "Node"):
            page.click(f'role=tab[name="{name}"]')
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name


#: The least room between two lines of a formula, in pixels.
BETWEEN_LINES = """Math.min(...[...document.querySelectorAll('.tw-equation')].flatMap((e) => {
  const boxes = [...e.querySelectorAll('math')].map((m) => m.getBoundingClientRect());
  return boxes.slice(1).flatMap((box, i) => box.left < boxes[i].left ? [box.top - boxes[i].bottom] : []);
}))"""


@pytest.mark.parametrize("name", ["tennis", "golf-hours", "cricket", "titanic"])
def test_no_formula_of_a_lesson_is_cut_off(browser: Any, tmp_path: Path, name: str) -> None:
    place = tmp_path / "lesson.html"
    place.write_text(tw.lessons[name].page(), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    try:
        page.goto(place.as_uri())
        cut_off = (
            "[...document.querySelectorAll('.tw-equation')].filter((e) => e.scrollWidth > e.clientWidth + 1).length"
        )
        assert page.locator(".tw-equation").count() > 0
        assert page.evaluate(cut_off) == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate(BETWEEN_LINES) > 3
        page.set_viewport_size({"width": 1440, "height": 900})
        printed = "[...document.querySelectorAll('pre')].filter((e) => e.scrollWidth > e.clientWidth + 1).length"
        assert page.evaluate(printed) == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440
        for figure in page.locator("figure.tree").all():
            box = figure.bounding_box()
            assert box["width"] > 1200
            assert box["x"] >= 0
    finally:
        page.close()
