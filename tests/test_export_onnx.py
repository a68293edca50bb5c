"""The export to ONNX, run by onnxruntime: it predicts as `predict` does, to the last bit."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from export_cases import DATA, POLICIES, Case, learned_case, model_tree_case, modelled_case, random_case, table_cases
from handmade_trees import TENNIS, Question, fork, hours, leaf, tennis, tennis_plan, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from test_export_code import LINEAR, microseconds, of_levels

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema
from treewright.errors import ExportError
from treewright.export.program.plan import plan_of
from treewright.export.program.state_machine import machine_of
from treewright.tree.tree import Tree

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

NONE = "(none)"


def ran(t: Tree, rows: pa.Table) -> dict[str, Any]:
    """What the model says about rows."""
    model = tw.export.onnx(t, missing=NONE)
    onnx.checker.check_model(onnx.load_from_string(model), full_check=True)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    given = {}
    for each in session.get_inputs():
        values = rows.column(each.name).to_pylist()
        if each.type == "tensor(string)":
            column = np.array([NONE if value is None else value for value in values], dtype=object)
        else:
            column = np.array([np.nan if value is None else float(microseconds(value)) for value in values])
        given[each.name] = column.reshape(-1, 1)
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, given), strict=True))


def check(case: Case) -> None:
    outputs = ran(case.tree, case.rows)
    if case.probabilities is None:
        assert outputs["prediction"][:, 0].tolist() == case.prediction, case.name
    else:
        assert outputs["probabilities"].tolist() == case.probabilities, case.name
        assert outputs["label"].tolist() == case.prediction, case.first(outputs["label"].tolist(), case.prediction)


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_random_trees(seed: int) -> None:
    check(random_case(seed))


@given(st.integers(0, 2**32), st.sampled_from([-2, -1, 0, 1]))
@settings(max_examples=40, deadline=None)
def test_every_way_with_missing_values(seed: int, missing: int) -> None:
    check(random_case(seed, depth=5, missing=missing))


@given(st.integers(0, 2**32), st.sampled_from([None, -2, -1, 0, 1]))
@settings(max_examples=40, deadline=None)
def test_linear_models(seed: int, missing: int | None) -> None:
    check(modelled_case(seed, missing=missing))


def test_learned_linear_models_and_no_rows() -> None:
    cases = [learned_case(seed, policy, LINEAR) for seed, policy in enumerate(POLICIES)]
    for case in (*cases, model_tree_case("M5"), model_tree_case("PILOT")):
        check(case)
        assert len(ran(case.tree, case.rows.slice(0, 0))["prediction"]) == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_learned_trees(policy: str) -> None:
    for seed in range(5):
        check(learned_case(seed, policy))


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_real_tables() -> None:
    for case in table_cases():
        check(case)


@pytest.mark.parametrize("t", [tennis(), hours(), tree(leaf(3, 4))])
def test_small_trees_and_no_rows(t: Tree) -> None:
    rows = pa.table(
        {
            "outlook": ["sunny", "rain", None, "snow", "overcast"],
            "humidity": [77.5, 80.0, None, 1.0, 2.0],
            "windy": [True, False, None, True, True],
        }
    )
    check(Case("five", t, rows))
    assert all(len(part) == 0 for part in ran(t, rows.slice(0, 0)).values())


def kinds_of(t: Tree) -> set[str]:
    return {node.op_type for node in onnx.load_from_string(tw.export.onnx(t, missing=NONE)).graph.node}


def test_a_tree_ensemble_tests_sets_where_it_can() -> None:
    question = Question(0, (0, 1, 0), missing=1)
    plain = tree(fork(question, leaf(2, 0), fork(Question(1, breaks=(0.1,), missing=-2), leaf(0, 2), leaf(1, 2))))
    assert machine_of(plan_of(plain)).is_tree
    assert "TreeEnsemble" in kinds_of(plain)
    assert "Loop" not in kinds_of(plain)
    surrogate = tree(fork(question, leaf(2, 0), tennis_plan(), surrogates=(Question(2, (0, 1)),)))
    assert not machine_of(plan_of(surrogate)).is_tree
    assert "TreeEnsemble" not in kinds_of(surrogate)


def test_the_same_tree_is_the_same_bytes() -> None:
    assert tw.export.onnx(tennis()) == tw.export.onnx(tw.export.from_json(tw.export.to_json(tennis())))


def test_rows_that_predict_refuses_have_no_prediction() -> None:
    strict = tree(tennis_plan(), recipe=dataclasses.replace(tw.C45, unseen="error"))
    rows = pa.table({"outlook": ["snow", "rain"], "humidity": [70.0, 70.0], "windy": [True, True]})
    outputs = ran(strict, rows)
    assert outputs["label"].tolist() == ["", "no"]
    assert np.isnan(outputs["probabilities"]).all(axis=1).tolist() == [True, False]
    needy = tree(fork(Question(1, breaks=(77.5,)), leaf(2, 0), leaf(0, 2)), recipe=tw.ID3)
    outputs = ran(needy, rows.set_column(1, "humidity", pa.array([None, 99.0])))
    assert outputs["label"].tolist() == ["", "yes"]


def test_what_onnx_cannot_say() -> None:
    with pytest.raises(ExportError, match="'c' has the level '', which would mean a missing value"):
        tw.export.onnx(of_levels("", "b"))
    assert tw.export.onnx(of_levels("", "b"), missing="?")
    with pytest.raises(ExportError, match="column 'c' has both text"):
        tw.export.onnx(of_levels("a", 1))
    with pytest.raises(ExportError, match="a whole number beyond"):
        tw.export.onnx(of_levels(2**53 + 1, 3))
    named = Schema((ColumnSpec("label", "numeric"),), TENNIS.target)
    with pytest.raises(ExportError, match="cannot have the name 'label'"):
        tw.export.onnx(tree(fork(Question(0, breaks=(1.0,)), leaf(1, 0), leaf(0, 1)), named))
    strict = dataclasses.replace(
        of_levels("a", "b", classes=(0, 1)), recipe=dataclasses.replace(tw.C45, unseen="error")
    )
    with pytest.raises(ExportError, match="refuses some rows"):
        tw.export.onnx(strict)


@pytest.mark.slow
def test_a_large_tree_that_spreads() -> None:
    """Many rows at once: the order in which shares are added up must not depend on their number."""
    rng = random.Random(1)
    plans = [leaf(float(rng.randint(0, 9)), float(rng.randint(1, 9))) for _ in range(2_000)]
    while len(plans) > 1:
        question = Question(1, breaks=(rng.gauss(0, 100),), missing=rng.choice((-1, 0, 1)))
        plans = [fork(question, *plans[i : i + 2]) if i + 1 < len(plans) else plans[i] for i in range(0, len(plans), 2)]
    numbers = [None if rng.random() < 0.02 else rng.gauss(0, 100) for _ in range(50_000)]
    rows = pa.table({"outlook": ["rain"] * 50_000, "humidity": numbers, "windy": [True] * 50_000})
    check(Case("large", tree(plans[0]), rows))
