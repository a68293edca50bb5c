"""The tab "How sure" in a browser: every number is the library's, and bands stand where cuts do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_page import opened

import treewright as tw
from treewright.data.number_text import percent

FULL = tw.CART.with_(pruning=None, max_depth=2)


def table(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.normal(size=n)
    return {"x": x, "<z>": z, "y": np.where(x + 0.6 * z + rng.normal(scale=0.7, size=n) > 0, "yes", "no")}


def plain(element: Any) -> str:
    """The page keeps a number and its unit on one line."""
    text: str = element.inner_text()
    return text.replace("\xa0", " ")


def test_splits_ranges_and_probabilities(browser: Any, tmp_path: Path) -> None:
    rows, others, unseen = (table(300, seed) for seed in range(3))
    tree = tw.calibrate(tw.learn(rows, "y", FULL), others)
    found = tw.stability(tree, rows, resamples=30)
    limits = tw.leaf_limits(tree, unseen)
    with opened(browser, tw.render.html(tree, rows, held_out=unseen, stability=found), tmp_path) as page:
        page.click('role=tab[name="How sure"]')
        tab = page.locator('[role=tabpanel]:has(h2:text-is("How sure"))')
        assert found.summary[1:] in tab.inner_text()
        lines = tab.locator("section", has_text="Splits in 30 refits").locator("tbody tr")
        assert lines.count() == len(found.splits)
        for i, split in enumerate(found.splits):
            text = plain(lines.nth(i))
            assert split.condition in text
            assert percent(split.kept) in text
            band = lines.nth(i).locator("svg")
            assert band.get_attribute("aria-label") == split._cut_text, "as the table of the library has it"
            at, outer = (band.locator(part).bounding_box() for part in (".tw-band-at", ".tw-band-outer"))
            low, high = split.cut_range or (0, 0)
            inside = low <= (split.split.threshold or 0) <= high
            assert (outer["x"] - 2 <= at["x"] + at["width"] / 2 <= outer["x"] + outer["width"] + 2) == inside
        ranges = tab.locator("section", has_text="Ranges for new rows").inner_text()
        assert "90 %: {" in ranges
        probabilities = tab.locator("section", has_text="Probabilities in the leaves").locator("tbody tr")
        assert probabilities.count() == tree.n_leaves
        heaviest = int(np.argmax(limits.rows))
        k = (tree.schema.target.classes or ()).index(tree[int(limits.leaves[heaviest])].prediction)
        bounds = f"{percent(limits.low[heaviest, k])} to {percent(limits.high[heaviest, k])}"
        assert bounds in plain(probabilities.first)
        page.click('role=tab[name="Rules"]')
        assert page.locator(".tw-rules th", has_text="new rows").count() == 1
        page.click('role=tab[name="How sure"]')
        tab.locator("section", has_text="Splits in 30 refits").locator("tbody button").first.click()
        assert "Node 0" in page.locator(".tw-inspector").inner_text()


def test_honest_estimates_and_the_reliability_curve(browser: Any, tmp_path: Path) -> None:
    rows, unseen = table(300, 0), table(200, 1)
    tree = tw.learn(rows, "y", FULL, honest=True)
    found = tw.reliability(tree, unseen)
    assert tree.honest is not None
    with opened(browser, tw.render.html(tree, rows, held_out=unseen), tmp_path) as page:
        page.click('role=tab[name="How sure"]')
        tab = page.locator('[role=tabpanel]:has(h2:text-is("How sure"))')
        lines = tab.locator("section", has_text="Honest estimates").locator("tbody tr")
        leaf = max((node for node in tree if node.is_leaf), key=lambda node: node.rows)
        place = (tree.schema.target.classes or ()).index(leaf.prediction)
        cells = [plain(cell) for cell in lines.first.locator("td").all()]
        other = tree.honest.stats[leaf.id]
        assert lines.count() == tree.n_leaves
        assert cells == [
            str(leaf.prediction),
            str(leaf.rows),
            percent(leaf.counts[place] / sum(leaf.counts), 1),
            f"{sum(other):g}",
            percent(other[place] / sum(other), 1),
        ]
        section = tab.locator("section", has_text="Reliability of the probabilities")
        points = section.locator("circle")
        assert points.count() == len(found.bins)
        frame = section.locator(".tw-diagonal").bounding_box()
        for i, one in enumerate(found.bins):
            box = points.nth(i).bounding_box()
            assert (box["x"] + box["width"] / 2 - frame["x"]) / frame["width"] == pytest.approx(one.predicted, abs=0.01)
            up = 1 - (box["y"] + box["height"] / 2 - frame["y"]) / frame["height"]
            assert up == pytest.approx(one.observed, abs=0.01)
        assert f"Brier score\t{found.brier_score:.4f}\t{found.baseline_brier_score:.4f}" in section.inner_text()
        lines.first.locator("button").click()
        assert "honest estimate: " in page.locator(".tw-inspector").inner_text()


def test_a_tree_alone_says_what_is_missing(browser: Any, tmp_path: Path) -> None:
    tree = tw.learn({"x": [1, 2, 3, 4], "y": [1.0, 1.5, 7.5, 8.0]}, "y")
    with opened(browser, tw.render.html(tree), tmp_path) as page:
        page.click('role=tab[name="How sure"]')
        assert "treewright learn --stability 200" in page.locator(".tw-note").last.inner_text()


def test_the_report_has_what_it_is_given() -> None:
    rows = table(200, 0)
    tree = tw.learn(rows, "y", FULL)
    found = tw.stability(tree, rows, resamples=10)
    sure = tw.report(tree, rows, stability=found)["sure"]
    assert sure["calibration"] is None
    assert sure["honest"] is None
    assert sure["reliability"] is None, "training rows say nothing of it"
    assert not sure["limits"]["held_out"]
    assert [one["kept"] for one in sure["stability"]["splits"]] == [one.kept for one in found.splits]
    assert sure["stability"]["splits"][0]["cut"]["bands"] == sorted(sure["stability"]["splits"][0]["cut"]["bands"])
    with pytest.raises(TypeError, match="a report holds all there is to show"):
        tw.render.html(tw.report(tree), stability=found)


def test_the_report_of_honest_numbers() -> None:
    rows = table(200, 0)
    rows["y"] = rows["x"] * 2.0
    tree = tw.learn(rows, "y", FULL, honest=True)
    sure = tw.report(tree, rows, held_out=rows)["sure"]
    assert sure["reliability"] is None
    for leaf in sure["honest"]["leaves"]:
        node = tree[leaf["node"]]
        assert leaf["other"] == pytest.approx(node.prediction), "predictions are the means of the other rows"
        assert leaf["chosen"] == pytest.approx(tree.arrays["stats"][node.id][1])
