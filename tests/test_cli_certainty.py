"""`treewright learn --stability --intervals`: the tree, the sentence, the report, JSON, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import treewright as tw

pytest.importorskip("duckdb")

from test_cli import treewright


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x, twin = rng.normal(size=200), rng.normal(size=200)
    label = np.where(x + rng.normal(scale=0.5, size=200) > 0, "yes", "no")
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("x", "z", "y"), *zip(x, twin, label, strict=True)])
    return tmp_path / "rows.csv"


def test_the_sentence_the_table_and_the_report(table: Path) -> None:
    page, saved = table.with_suffix(".html"), table.with_suffix(".json")
    options = ("--max-depth", 2, "--stability", 20, "--intervals", 0.8, "--report", page, "--save", saved)
    result = treewright("learn", table, "--target", "y", *options)
    assert result.exit_code == 0, result.output
    tree = tw.load(saved)
    assert tree.calibration is not None
    assert (tree.calibration.coverage, tree.calibration.method) == (0.8, "cross")
    found = tw.stability(tree, str(table), resamples=20)
    assert found.summary in result.output
    assert found.grid().text() in result.output, "the command line reports what the library does"
    assert found.summary in page.read_text(encoding="utf-8")


def test_rows_held_out_calibrate(table: Path) -> None:
    result = treewright(
        "learn", table, "--target", "y", "--holdout", 0.5, "--intervals", 0.9, "--stability", 5, "--json"
    )
    found = json.loads(result.output)
    assert found["calibration"]["method"] == "split"
    assert found["calibration"]["rows"] == 100
    assert found["stability"]["refits"] == 5
    assert found["stability"]["splits"][0]["column"] == "x"
    assert 0 <= found["stability"]["splits"][0]["kept"] <= 1


def test_what_cannot_work_is_refused(table: Path) -> None:
    for options, says in (
        (("--intervals", 1.5), "1.5 is not in the range 0<x<1"),
        (("--stability", 1), "1 is not in the range x>=2"),
        (("--optimal", "--stability", 10), "the tree of --optimal has none"),
        (("--optimal", "--intervals", 0.9), "--holdout or --test"),
        (("--holdout", 0.02, "--intervals", 0.9), "needs at least 9 calibration rows, and there are 4"),
        (("--optimal", "--honest"), "--honest needs a recipe"),
        (("--optimal", "--soften", "bootstrap"), "the tree of --optimal has none"),
        (("--honest", "--folds", 3), "score the tree of --honest with --holdout or --test"),
        (("--soften", "error", "--folds", 3), "score the tree of --soften with --holdout or --test"),
        (("--soften", "error", "--intervals", 0.9), "soft thresholds need rows it has not seen: --holdout or --test"),
    ):
        result = treewright("learn", table, "--target", "y", *options)
        assert result.exit_code != 0
        assert says in " ".join(result.output.split()), result.output
    best = treewright("learn", table, "--target", "y", "--optimal", "--holdout", 0.5, "--intervals", 0.9, "--json")
    assert json.loads(best.output)["calibration"]["method"] == "split"


def test_honest_leaves_and_soft_thresholds(table: Path) -> None:
    saved = table.with_suffix(".json")
    for method in ("error", "bootstrap"):
        options = ("--max-depth", 2, "--honest", "--soften", method, "--seed", 3, "--save", saved)
        result = treewright("learn", table, "--target", "y", *options)
        assert result.exit_code == 0, result.output
        assert "honest: predictions come from 100 rows that chose no split" in result.output
        assert "about" in result.output
        data = tw.csv(str(table))
        recipe = tw.CART.with_(max_depth=2, seed=3)
        library = tw.soften(tw.learn(data, "y", recipe, honest=True), data, method=method, seed=3)
        assert tw.load(saved) == library, "the command line learns what the library does"
    result = treewright("learn", table, "--target", "y", "--honest", "--soften", "error", "--json")
    found = json.loads(result.output)
    assert found["honest"] == {"rows": 100}
    assert found["soft"]["method"] == "error"
    assert found["soft"]["thresholds"] >= 1
