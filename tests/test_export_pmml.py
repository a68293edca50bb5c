"""The export to PMML, read back by our own reader and, where it is installed, run by an evaluator of PMML."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from export_cases import DATA, POLICIES, Case, learned_case, model_tree_case, modelled_case, random_case, table_cases
from handmade_trees import Question, fork, leaf, tennis, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from test_export_code import LINEAR, microseconds, of_levels

import treewright as tw
from treewright.data.schema import ColumnSpec
from treewright.errors import ExportError, FileError
from treewright.tree.tree import Tree


def exported(case: Case) -> str | None:
    """The document; None where rows take several paths."""
    try:
        return tw.export.pmml(case.tree)
    except ExportError as error:
        if "goes down every branch" not in str(error):
            raise
        return None


def rows_for(t: Tree, case: Case) -> Any:
    return {"x0": [0.0] * len(case.rows)} if t.schema.names == ("x0",) else case.rows


def came_back(case: Case) -> bool:
    """Whether our own reader understood the document; if so it answers the same."""
    text = exported(case)
    if text is None:
        return True
    ET.fromstring(text)
    try:
        t = tw.from_pmml(text)
    except FileError as error:
        # A split that sends every row to one child asks nothing, and two columns may be mixed beyond surrogates.
        if not re.search("together, which a split and its surrogates cannot express|test no column", str(error)):
            raise
        return False
    assert tw.predict(t, rows_for(t, case)).tolist() == case.prediction, case.name
    if case.probabilities is not None and case.tree.schema.target.costs is None:
        assert tw.predict_proba(t, rows_for(t, case)).tolist() == case.probabilities
    return True


@given(st.integers(0, 2**32), st.sampled_from([None, -2, 0, 1]))
@settings(max_examples=60, deadline=None)
def test_random_trees_come_back(seed: int, missing: int | None) -> None:
    came_back(random_case(seed, depth=3, missing=missing))


@pytest.mark.parametrize("policy", POLICIES)
def test_learned_trees_come_back(policy: str) -> None:
    cases = [learned_case(seed, policy) for seed in range(6)]
    assert all(came_back(case) for case in cases if policy != "refuse")


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_trees_of_real_tables_come_back() -> None:
    assert all(came_back(case) for case in table_cases())


# --- an evaluator -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def backend() -> Any:
    evaluator = pytest.importorskip("jpmml_evaluator")
    jpype = pytest.importorskip("jpype")
    if not jpype.isJVMStarted():
        # Java would otherwise take Ctrl-C for itself, and end the tests that send it.
        jpype.startJVM("-Xrs", classpath=evaluator._classpath(user_classpath=[]), interrupt=False)
    return evaluator.make_backend("jpype")


def plain(value: Any, spec: ColumnSpec) -> Any:
    if value is None or value != value:
        return None
    return float(microseconds(value)) if spec.levels is None else value


def evaluated(backend: Any, case: Case, path: Path, **more: Any) -> list[dict[str, Any]]:
    from jpmml_evaluator import make_evaluator

    path.write_text(tw.export.pmml(case.tree, **more), encoding="utf-8", newline="")
    model = make_evaluator(str(path), backend=backend).verify()
    specs = {spec.name: spec for spec in case.tree.schema.columns}
    names = [field.name for field in model.getInputFields()]
    return [model.evaluate({n: plain(row[n], specs[n]) for n in names}) for row in case.rows.to_pylist()]


def evaluates(backend: Any, case: Case, path: Path) -> None:
    if exported(case) is None:
        return
    target = case.tree.schema.target
    results = evaluated(backend, case, path)
    labels = [result[target.name] for result in results]
    assert labels == case.prediction, case.first(labels, case.prediction)
    for i, result in enumerate(results):
        for place, label in enumerate(target.classes or ()):
            name = str(label).lower() if isinstance(label, bool) else str(label)
            # The evaluator divides shares by their sum, which may change the last bit.
            assert result[f"probability({name})"] == pytest.approx(case.probabilities[i][place], rel=1e-12, abs=0)


def test_random_trees_evaluated(backend: Any, tmp_path: Path) -> None:
    for seed in range(24):
        evaluates(backend, random_case(seed, n_rows=15, missing=(None, -2, 0, 1)[seed % 4]), tmp_path / "tree.pmml")


@pytest.mark.parametrize("policy", POLICIES)
def test_learned_trees_evaluated(backend: Any, policy: str, tmp_path: Path) -> None:
    for seed in range(4):
        evaluates(backend, learned_case(seed, policy), tmp_path / "tree.pmml")


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_trees_of_real_tables_evaluated(backend: Any, tmp_path: Path) -> None:
    for case in table_cases():
        evaluates(backend, dataclasses.replace(case, rows=case.rows.slice(0, 30)), tmp_path / "tree.pmml")


def test_linear_models_evaluated(backend: Any, tmp_path: Path) -> None:
    """An evaluator may add the terms in another order, so that the last digits may differ."""
    cases = [modelled_case(seed, n_rows=15, missing=(None, -2, 0, 1)[seed % 4]) for seed in range(16)]
    cases += [learned_case(seed, policy, LINEAR) for seed, policy in enumerate(POLICIES)]
    cases += [model_tree_case(recipe) for recipe in ("M5", "PILOT")]
    cases = [case for case in cases if exported(case) is not None]
    assert len(cases) > 12
    with pytest.raises(FileError, match="chains the TreeModel with other models"):
        tw.from_pmml(tw.export.pmml(cases[0].tree))
    for case in cases:
        said = [answer[case.tree.schema.target.name] for answer in evaluated(backend, case, tmp_path / "tree.pmml")]
        assert said == pytest.approx(case.prediction, rel=1e-12, abs=1e-12), case.first(said, case.prediction)


def test_rows_with_several_paths_have_no_prediction(backend: Any, tmp_path: Path) -> None:
    rows = pa.table({"outlook": ["rain", None, "sunny"], "humidity": [1.0, 2.0, None], "windy": [True, False, False]})
    results = evaluated(backend, Case("tennis", tennis(), rows), tmp_path / "tree.pmml", several_paths="null")
    assert [result["play"] for result in results] == ["no", None, None]


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_what_pmml_cannot_say() -> None:
    with pytest.raises(ExportError, match="where 'outlook' is missing this tree goes down every branch"):
        tw.export.pmml(tennis())
    with pytest.raises(ExportError, match="character that XML cannot hold"):
        tw.export.pmml(of_levels("a\x01", "b"))
    with pytest.raises(ExportError, match="column 'c' has both text"):
        tw.export.pmml(of_levels("a", 1))
    both = fork(
        Question(0, (0, 1, 1), missing=-1), leaf(1, 0), fork(Question(1, breaks=(1.0,)), leaf(1, 0), leaf(0, 1))
    )
    with pytest.raises(ExportError, match="cannot be in one PMML model"):
        tw.export.pmml(tree(both), several_paths="null")
