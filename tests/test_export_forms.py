"""Diagrams, plain nodes, frames, and a tree as a scikit-learn estimator."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from handmade_trees import TENNIS, Question, fork, hours, leaf, random_tree, tennis, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import export_text

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import ExportError
from treewright.tree.tree import Tree

ODD = ('"', "\\", "a\nb", "<b>&amp;", "`x`", "1. x", "- y", "#35;", "]--> n9", "größe", "\ud800", "end", "|", "", "_a_")


def odd_tree() -> Tree:
    schema = Schema((ColumnSpec('c "]', "nominal", ODD),), TargetSpec("y", "classification", ODD[:2]))
    return tree(fork(Question(0, tuple(i % 2 for i in range(len(ODD))), missing=0), leaf(1, 0), leaf(0, 1)), schema)


# --- diagrams ---------------------------------------------------------------------------------------------------------

DOT_LINE = re.compile(
    r'(digraph tree \{|\}|  (node|edge) \[.*\];|  n\d+( -> n\d+)? \[label="([^"\\]|\\.)*"(, \w+="[^"]*")*\];)'
)
MERMAID_LINE = re.compile(
    r'flowchart TD|  n\d+(\(\["[^"]*"\]\)|\["[^"]*"\])|  n\d+ -->\|"[^"|]*"\| n\d+'
)  # fmt: skip


@pytest.mark.parametrize("t", [tennis(), hours(), odd_tree(), *(random_tree(seed) for seed in range(8))])
def test_diagrams_have_every_node_and_obey_nothing(t: Tree) -> None:
    for text, line in ((tw.export.dot(t), DOT_LINE), (tw.export.mermaid(t), MERMAID_LINE)):
        lines = text.splitlines()
        assert all(line.fullmatch(each) for each in lines), [each for each in lines if not line.fullmatch(each)]
        assert len([each for each in lines if re.match(r"  n\d+ (-->|->)", each)]) == t.n_nodes - 1
        assert len([each for each in lines if re.match(r"  n\d+( ?\[|\()", each)]) == t.n_nodes
        text.encode()


def test_diagrams_say_what_the_tree_says() -> None:
    assert '  n0 -> n1 [label="sunny"];' in tw.export.dot(tennis())
    assert '  n3 [label="no\\n100 % of 3 rows"' in tw.export.dot(tennis())
    assert '  n1 -->|"#62; 77.5"| n3' in tw.export.mermaid(tennis())
    assert "&amp;amp;" in tw.export.dot(odd_tree())
    assert "#35;35#59;" in tw.export.mermaid(odd_tree())
    assert "\\\\n" in tw.export.dot(odd_tree())


def test_a_diagram_may_be_cut() -> None:
    text = tw.export.dot(tennis(), max_depth=1)
    assert "n2" not in text
    assert "…" in text
    assert tw.export.mermaid(tennis(), max_depth=0).count("\n") == 2


# --- plain values -----------------------------------------------------------------------------------------------------


def test_nodes_are_plain() -> None:
    rows = tw.export.nodes(tennis())
    assert json.loads(json.dumps(rows)) == rows
    assert [row["node"] for row in rows] == list(range(8))
    assert rows[2]["condition"] == "humidity <= 77.5"
    assert (rows[0]["condition"], rows[0]["parent"], rows[0]["column"]) == (None, None, "outlook")
    assert rows[0]["groups"] == [["sunny"], ["overcast"], ["rain"]]
    assert (rows[2]["prediction"], rows[2]["counts"], rows[2]["leaf"]) == ("yes", [0, 2], True)
    assert tw.export.nodes(hours())[1]["mean"] == 44.25


@pytest.mark.parametrize("t", [tennis(), hours(), odd_tree(), random_tree(3)])
def test_frames(t: Tree) -> None:
    columns = tw.export.frame(t, "dict")
    found = tw.export.frame(t)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == list(columns)
    assert found["node"].tolist() == list(range(t.n_nodes))
    if t.schema.names != ('c "]',):  # polars takes no text that is no Unicode
        polars = tw.export.frame(t, "polars")
        assert isinstance(polars, pl.DataFrame)
        assert polars["rows"].to_list() == t.arrays["rows"].tolist()
        assert tw.export.frame(t, "arrow").num_rows == t.n_nodes
    with pytest.raises(ExportError, match="kind must be"):
        tw.export.frame(t, "excel")


# --- scikit-learn -----------------------------------------------------------------------------------------------------

DIRECTED = dataclasses.replace(
    tw.CART, missing=tw.missing.MajorityChild(), pruning=None, numeric=tw.numeric.Threshold(test="<")
)


@pytest.mark.parametrize("recipe", [tw.SKLEARN, DIRECTED], ids=["<=", "<"])
@pytest.mark.parametrize("load", [load_iris, load_diabetes])
def test_the_same_predictions(recipe: tw.Recipe, load: Any) -> None:
    X, y = load(return_X_y=True)
    X = X.astype(np.float32)
    classes = load is load_iris
    t = tw.learn(X, y.astype(int).astype(str) if classes else y, recipe, task="classification" if classes else None)
    estimator = tw.export.sklearn(t)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    rows = pd.DataFrame(X, columns=list(t.schema.names))
    for each in (estimator, pickle.loads(pickle.dumps(estimator))):
        assert (each.predict(rows) == tw.predict(t, X)).all()
        assert (each.apply(rows) == tw.apply(t, X)).all()
    if classes:
        assert (estimator.predict_proba(rows) == tw.predict_proba(t, X)).all()
        assert estimator.score(rows, tw.predict(t, X)) == 1.0
    assert estimator.decision_path(rows).shape == (len(X), t.n_nodes)
    assert estimator.get_depth() == t.depth
    assert estimator.get_n_leaves() == t.n_leaves
    assert estimator.feature_importances_.sum() == pytest.approx(1)
    assert t.schema.names[t.arrays["column"][0]] in export_text(estimator, feature_names=list(t.schema.names))
    clone(estimator)


def test_shap_reads_it() -> None:
    shap = pytest.importorskip("shap")
    X, y = load_diabetes(return_X_y=True)
    t = tw.learn(X.astype(np.float32), y, DIRECTED)
    rows = pd.DataFrame(X.astype(np.float32), columns=list(t.schema.names))[:5]
    found = shap.TreeExplainer(tw.export.sklearn(t))(rows)
    assert found.values.sum(axis=1) + found.base_values.ravel() == pytest.approx(tw.predict(t, rows))


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=2, max_size=40, unique=True), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_every_single_goes_the_same_way(values: list[float], seed: int) -> None:
    X = np.array(values)[:, None]
    y = np.random.default_rng(seed).integers(0, 2, len(values)).astype(str)
    y[:2] = ["0", "1"]
    t = tw.learn(X, y, dataclasses.replace(DIRECTED, stopping=tw.stopping.Stopping(zero_gain=True)))
    near = t.arrays["breaks"].astype(np.float32)
    asked = np.concatenate([X[:, 0].astype(np.float32), near, np.nextafter(near, np.float32(np.inf))])[:, None]
    rows = pd.DataFrame(asked, columns=list(t.schema.names))
    assert (tw.export.sklearn(t).predict(rows) == tw.predict(t, asked)).all()


def numbers(*plan: Any, **more: Any) -> Tree:
    schema = Schema((ColumnSpec("x", "numeric"), ColumnSpec("z", "numeric")), TENNIS.target)
    return tree(fork(*plan, **more), schema, tw.SKLEARN)


def test_what_scikit_learn_cannot_say() -> None:
    at = Question(0, breaks=(1.0,), missing=0)
    assert tw.export.sklearn(numbers(at, leaf(1, 0), leaf(0, 1)))
    with pytest.raises(ExportError, match="column 'outlook' is nominal"):
        tw.export.sklearn(tennis())
    wide = Question(0, (0, 1, 2), (1.0, 2.0), missing=0)
    with pytest.raises(ExportError, match="divides 'x' into 3 intervals for 3 children"):
        tw.export.sklearn(numbers(wide, leaf(1, 0), leaf(0, 1), leaf(1, 0)))
    with pytest.raises(ExportError, match="uses 'z' where 'x' is missing"):
        tw.export.sklearn(numbers(at, leaf(1, 0), leaf(0, 1), surrogates=(Question(1, breaks=(2.0,)),)))
    with pytest.raises(ExportError, match="sends a row to no single child"):
        tw.export.sklearn(numbers(dataclasses.replace(at, missing=-1), leaf(1, 0), leaf(0, 1)))
    costly = dataclasses.replace(TENNIS.target, costs=((0.0, 1.0), (5.0, 0.0)))
    t = numbers(at, leaf(1, 0), leaf(0, 1))
    with pytest.raises(ExportError, match="has costs"):
        tw.export.sklearn(dataclasses.replace(t, schema=Schema(t.schema.columns, costly)))
    with pytest.raises(ExportError, match="refuses missing values"):
        tw.export.sklearn(
            dataclasses.replace(t, recipe=dataclasses.replace(tw.SKLEARN, missing=tw.missing.RefuseMissing()))
        )
