"""What happens where nobody says otherwise: classes or numbers, columns left out, scores, one leaf, memory limits.

Python, files read some rows at a time and the shell choose the same.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn import metrics

import treewright as tw
from treewright.cli import main
from treewright.data.dropped_columns import useless_columns
from treewright.data.encoding import describe_target
from treewright.data.reader import read, read_column
from treewright.out_of_core import memory_limit
from treewright.out_of_core.column_summary import described, merge, summarize
from treewright.prediction.class_scores import average_precisions, balanced_accuracy, per_class, roc_aucs
from treewright.prediction.evaluation import score_of_leaves, score_on

RNG = np.random.default_rng(5)


def shell(*arguments: str) -> str:
    done = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def passengers(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    fare = rng.gamma(2.0, 15.0, n).round(2)
    return pd.DataFrame(
        {
            "name": [f"passenger {i}" for i in range(n)],
            "fare": fare,
            "deck": rng.choice(["A", "B", "C"], n),
            "survived": ((fare > 25) ^ (rng.random(n) < 0.15)).astype(int),
        }
    )


# --- classes or numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([0, 1, 1], "classification"),
        ([0.0, 1.0, 1.0], "classification"),
        ([7, 7, 7], "classification"),
        ([*range(10)] * 5, "classification"),
        (([*range(10)] * 5)[1:], "regression"),
        ([*range(11)] * 50, "regression"),
        ([1, 2, 3], "regression"),
        ([0.0, 0.5, 1.0] * 50, "regression"),
        ([*range(2000)] * 40, "regression"),
        ([True, False, True], "classification"),
    ],
)
def test_few_whole_numbers_are_classes(values: list[Any], task: str) -> None:
    assert describe_target(read_column(values, "y")).task == task
    assert describe_target(read_column(values[::-1], "y")).task == task
    for cut in (1, len(values) // 2):
        frames = [read({"x": np.arange(len(part)) + 0.5, "y": part}) for part in (values[:cut], values[cut:])]
        whole = merge(*(summarize(frame, "y", None, None) for frame in frames))
        assert described(whole).target.task == task
    assert describe_target(read_column(values, "y"), task="regression").task == "regression"


def test_python_files_and_the_shell_choose_the_same_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALLEST", "LIBRARIES", "PIECEWISE"):
        monkeypatch.setattr(memory_limit, name, 0)
    table = passengers().drop(columns="name")
    file, saved = str(tmp_path / "rows.csv"), str(tmp_path / "tree.json")
    table.to_csv(file, index=False)
    tree = tw.learn(table, "survived")
    assert tree.schema.target.classes == (0, 1)
    assert tw.learn(file, "survived") == tree
    assert tw.learn(file, "survived", memory_limit="100kB") == tree
    shown = shell("learn", file, "-t", "survived", "--save", saved)
    assert tw.load(saved) == tree
    assert tw.learn(table, "survived", task="regression").schema.target.task == "regression"
    assert "--task regression learns a number" in shown


def test_an_inferred_task_is_printed_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    table = passengers().drop(columns="name")
    with caplog.at_level(logging.INFO, "treewright.learn"):
        tree = tw.learn(table, "survived")
    assert "'survived' is learned as classification" in caplog.text
    assert "survived was taken as classes, for it has only 2 whole numbers; task='regression'" in str(tree)
    assert "was taken" not in str(tw.learn(table, "survived", task="classification"))
    assert "was taken" not in str(tw.learn(table, "fare"))
    hours = {"x": [*range(14)], "hours": [*range(30, 44)]}
    assert "was taken" not in str(tw.learn(hours, "hours"))
    rings = {"x": [*range(36)], "rings": [*range(12)] * 3}
    assert "taken as a number, for it has many whole numbers; task='classification'" in str(tw.learn(rings, "rings"))


def test_c45_refuses_numbers_alike_in_python_and_in_the_shell(tmp_path: Path) -> None:
    table = {"x": [*range(36)], "rings": [*range(12)] * 3}
    with pytest.raises(tw.DataError, match=r"no criterion for regression.*use CART or CHAID, or task='classification'"):
        tw.learn(table, "rings", tw.C45)
    pd.DataFrame(table).to_csv(tmp_path / "rows.csv", index=False)
    done = CliRunner().invoke(main, ["learn", str(tmp_path / "rows.csv"), "-t", "rings", "-a", "c4.5"])
    assert done.exit_code == 1
    assert "--algorithm cart or chaid, or --task classification" in done.output


def test_class_weight_of_numbers_names_the_task() -> None:
    with pytest.raises(tw.DataError, match=r"class_weight is about classes.*task='classification'"):
        tw.learn({"x": [1, 2, 3], "y": [0, 1, 0]}, "y", class_weight="balanced", task="regression")


# --- columns left out -------------------------------------------------------------------------------------------------


def test_identifiers_are_left_out_alike_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALLEST", "LIBRARIES", "PIECEWISE"):
        monkeypatch.setattr(memory_limit, name, 0)
    table = passengers().assign(empty=np.nan)
    file, saved = str(tmp_path / "rows.csv"), str(tmp_path / "tree.json")
    table.to_csv(file, index=False)
    trees = []
    for data, limit in ((table, None), (file, None), (file, "100kB")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trees.append(tw.learn(data, "survived", memory_limit=limit))
        assert {str(warning.message).partition(":")[0] for warning in caught} == {
            "column 'name' is left out", "column 'empty' is left out",
        }  # fmt: skip
        assert {warning.filename for warning in caught} == {__file__}
    shell("learn", file, "-t", "survived", "--save", saved)
    assert trees[0].schema.names == ("fare", "deck")
    assert trees[0] == trees[1] == trees[2] == tw.load(saved)
    kept = tw.learn(table.drop(columns="empty"), "survived", kinds={"name": "nominal"})
    assert "name" in kept.schema.names


def test_a_column_that_numbers_the_rows_is_kept_and_pointed_out(tmp_path: Path) -> None:
    table = passengers()
    order = np.random.default_rng(2).permutation(len(table))
    table = table.drop(columns="name").assign(passenger=1000 + order, half=order / 2, twice=order // 2)
    file = str(tmp_path / "rows.csv")
    table.to_csv(file, index=False)
    for data in (table, file):
        with pytest.warns(UserWarning, match=r"column 'passenger' seems to number the rows \(1000 to .*, each once"):
            assert "passenger" in tw.learn(data, "survived").schema.names
    tw.learn(table, "survived", kinds={"passenger": "numeric"})
    tw.learn(table.head(199), "survived")  # too few to tell
    tw.learn(table[["passenger", "survived"]], "survived")
    shown = shell("learn", file, "-t", "survived")
    assert "passenger seems to number the rows" in shown
    assert "--drop passenger leaves it out" in shown
    assert "seems to number" not in shell("learn", file, "-t", "survived", "--drop", "passenger")


def test_declared_levels_are_no_identifier() -> None:
    names = pd.Categorical([f"n{i}" for i in range(60)])
    assert useless_columns(read({"a": [f"n{i}" for i in range(60)], "b": [1.0] * 60})) == {
        "a": "text, 60 different in 60 rows"
    }
    assert useless_columns(read(pd.DataFrame({"a": names}))) == {}


# --- scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_of_classes_are_scikit_learns(n_classes: int) -> None:
    truth = RNG.choice(n_classes, 400, p=[0.85, *[0.15 / (n_classes - 1)] * (n_classes - 1)])
    shares = RNG.dirichlet(np.ones(n_classes), 400).round(1) + 0.01  # many ties
    shares /= shares.sum(axis=1, keepdims=True)
    given = shares.argmax(axis=1)
    weight = RNG.integers(1, 4, 400).astype(float)
    matrix = metrics.confusion_matrix(truth, given).astype(float)
    assert balanced_accuracy(matrix) == pytest.approx(metrics.balanced_accuracy_score(truth, given))
    recall = metrics.recall_score(truth, given, average=None)
    precision = metrics.precision_score(truth, given, average=None)
    assert [c["recall"] for c in per_class(matrix)] == pytest.approx(recall)
    assert [c["precision"] for c in per_class(matrix)] == pytest.approx(precision)
    for place, (auc, average) in enumerate(
        zip(roc_aucs(truth, shares, weight), average_precisions(truth, shares, weight), strict=True)
    ):
        one = truth == place
        assert auc == pytest.approx(metrics.roc_auc_score(one, shares[:, place], sample_weight=weight))
        assert average == pytest.approx(metrics.average_precision_score(one, shares[:, place], sample_weight=weight))


def test_a_score_has_every_measure() -> None:
    from treewright.training.learn import training_table

    table = passengers().drop(columns="name")
    rows, _ = training_table(table, "survived")
    tree = tw.learn(table, "survived")
    score = score_on(tree, rows)
    shares = tw.predict_proba(tree, table)
    measures = {measure["name"]: measure["value"] for measure in score["measures"]}
    predictions = tw.predict(tree, table)
    assert measures == pytest.approx(
        {
            "accuracy": metrics.accuracy_score(table.survived, predictions),
            "balanced accuracy": metrics.balanced_accuracy_score(table.survived, predictions),
            "ROC AUC": metrics.roc_auc_score(table.survived, shares[:, 1]),
        }
    )
    reported = {measure["name"]: measure["value"] for measure in score_of_leaves(tree)["measures"]}
    assert reported == pytest.approx(measures)
    rows, _ = training_table(table, "fare")
    tree = tw.learn(table, "fare", tw.SKLEARN)
    found = {measure["name"]: measure["value"] for measure in score_on(tree, rows)["measures"]}
    given = tw.predict(tree, table)
    assert found == pytest.approx(
        {
            "root mean squared error": metrics.root_mean_squared_error(table.fare, given),
            "mean absolute error": metrics.mean_absolute_error(table.fare, given),
            "R²": metrics.r2_score(table.fare, given),
        }
    )


def rare(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "z": rng.normal(size=n), "fraud": np.where(rng.random(n) < 0.08 * (x > 0), 1, 0)})


def test_the_shell_shows_how_rare_classes_fare(tmp_path: Path) -> None:
    file = str(tmp_path / "rows.csv")
    rare().to_csv(file, index=False)
    shown = shell("learn", file, "-t", "fraud", "--holdout", "0.25")
    for words in ("balanced accuracy", "ROC AUC", "recall", "precision", "average precision", "--class-weight"):
        assert words in shown
    result = json.loads(shell("learn", file, "-t", "fraud", "--folds", "3", "--json"))["scores"]
    assert {"accuracy", "balanced accuracy", "ROC AUC"} == set(result["folds"]["measures"])
    assert set(result["training"]["classes"][0]) >= {"class", "recall", "precision", "average_precision"}
    compared = shell("compare", file, "-t", "fraud", "--folds", "3", "--algorithms", "cart", "--prunings", "none")
    for words in ("balanced accuracy", "recall", "precision", "average precision", "--class-weight"):
        assert words in compared
    assert "R²" in shell("compare", file, "-t", "x", "--folds", "3", "--algorithms", "cart", "--prunings", "none")


def test_compare_scores_each_class_on_the_held_out_rows_of_all_folds(tmp_path: Path) -> None:
    file = str(tmp_path / "rows.csv")
    rare().to_csv(file, index=False)
    options = ("compare", file, "-t", "fraud", "--folds", "3", "--algorithms", "cart", "--prunings", "none")
    plain, weighted = (json.loads(shell(*options, *more, "--json")) for more in ((), ("--class-weight", "balanced")))
    classes = plain["results"][0]["classes"]
    assert [entry["class"] for entry in classes] == [0, 1]
    assert [entry["rows"] for entry in classes] == rare().fraud.value_counts().sort_index().tolist()
    right = sum(entry["recall"] * entry["rows"] for entry in classes)
    assert right / 600 == pytest.approx(plain["results"][0]["value"])  # folds of one size
    assert weighted["results"][0]["classes"] != classes
    assert "give it weight" not in shell(*options, "--class-weight", "balanced")


def test_the_majority_class_is_that_of_the_rows_whatever_classes_weigh() -> None:
    """With other weights the root predicts the rare class, which is no majority."""
    table = rare()
    tree = tw.learn(table, "fraud", tw.CART, class_weight={0: 1, 1: 1000})
    assert tree.root.prediction == 1
    from treewright.training.learn import training_table

    rows, _ = training_table(table, "fraud")
    assert score_on(tree, rows)["headline"]["baseline"] == pytest.approx((table.fraud == 0).mean())


# --- one leaf ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        (tw.CART, "one leaf: pruning cut all splits"),
        (tw.RPART, "one leaf: no split improves the fit by as much as cp"),
        (
            replace(tw.CART, stopping=tw.stopping.Stopping(min_samples_split=10_000)),
            "one leaf: the table has fewer rows",
        ),
        (tw.CHAID, "one leaf: no split is significant"),
    ],
    ids=["CART", "RPART", "few rows", "CHAID"],
)
def test_a_tree_of_one_leaf_says_why(recipe: tw.Recipe, why: str) -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.integers(0, 3, 400), "y": np.where(rng.random(400) < 0.04, "rare", "usual")}
    tree = tw.learn(table, "y", recipe)
    assert tree.n_leaves == 1
    assert why in str(tree)
    assert "class_weight='balanced', costs= or priors=" in str(tree)


def test_the_shell_names_options_for_a_tree_of_one_leaf(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.integers(0, 3, 400), "y": np.where(rng.random(400) < 0.04, "rare", "usual")})
    table.to_csv(tmp_path / "rows.csv", index=False)
    shown = shell("learn", str(tmp_path / "rows.csv"), "-t", "y")
    assert "remedies: --pruning none, --class-weight balanced, --costs or --priors where a class is rare" in shown


# --- memory -----------------------------------------------------------------------------------------------------------


def test_a_limit_below_the_floor_is_refused_before_reading(tmp_path: Path) -> None:
    def tables() -> Any:
        raise AssertionError("nothing may be read")
        yield

    with pytest.raises(tw.DataError, match=r"memory_limit='100MB' is too little.*the smallest limit.* is 600 MB"):
        tw.learn(tables, "y", memory_limit="100MB")
    passengers().to_csv(tmp_path / "rows.csv")
    with pytest.raises(tw.DataError, match=r"smallest limit for this table is 250 MB"):
        tw.learn(str(tmp_path / "rows.csv"), "survived", memory_limit="100MB")


MEASURED = """
import re, sys
import duckdb, pyarrow.dataset, pyarrow.parquet
import treewright as tw
tw.learn({"x": [1.0, 2.0], "y": ["a", "b"]}, "y")
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's account of memory")
def test_the_libraries_take_no_more_than_the_floor_says() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 <= memory_limit.LIBRARIES
