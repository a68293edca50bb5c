"""The SQL exports, run in real databases: what they answer is what prediction answers, to the last bit."""

from __future__ import annotations

import dataclasses
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from export_cases import DATA, POLICIES, Case, learned_case, random_case, table_cases
from handmade import HOURS, TENNIS, Plan, Question, fork, hours, leaf, tennis, tennis_plan, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sql_engines import DuckDB, PostgreSQL, SQLite, postgresql

import treewright as tw
from treewright.errors import ExportError
from treewright.export.dialects import DIALECTS, number_token
from treewright.schema import ColumnSpec, Schema, TargetSpec
from treewright.tree import Tree

Engine = DuckDB | SQLite | PostgreSQL


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    """A short path: the name of a socket may have a hundred characters."""
    with tempfile.TemporaryDirectory(prefix="tw", ignore_cleanup_errors=True) as folder, postgresql(Path(folder)) as found:
        if isinstance(found, str):
            pytest.skip(found)
        yield found


@pytest.fixture(scope="module", params=["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "postgresql":
        return request.getfixturevalue("server")
    return DuckDB() if request.param == "duckdb" else SQLite()


def check(engine: Engine, cases: list[Case]) -> None:
    """All outputs at once, and the prediction alone, which is written in another way."""
    jobs = []
    for case in cases:
        outputs = ("prediction", "leaf", *(["probabilities"] if case.tree.schema.target.classes is not None else []))
        for output in (outputs, "prediction"):
            jobs.append((case.rows, tw.export.sql(case.tree, dialect=engine.dialect, output=output)))
    found = engine.run(jobs)
    for case, rows, alone in zip(cases, found[::2], found[1::2], strict=True):
        rows, alone = (_typed(case, some, engine) for some in (rows, alone))  # noqa: PLW2901
        case.expect([row[0] for row in rows], [row[2:] for row in rows], [int(row[1]) for row in rows])
        assert [row[0] for row in alone] == case.prediction


def _typed(case: Case, rows: list[tuple[Any, ...]], engine: Engine) -> list[tuple[Any, ...]]:
    """psql gives text, and SQLite has no truth values."""
    answer = type(case.prediction[0]) if case.prediction else str
    if engine.dialect == "duckdb":
        return rows
    read = {bool: lambda text: text in ("t", 1)}.get(answer, answer)
    return [(read(first), *(float(number) for number in others)) for first, *others in rows]


# --- agreement --------------------------------------------------------------------------------------------------------


def test_made_up_trees(engine: Engine) -> None:
    check(engine, [random_case(seed) for seed in range(25)])


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([None, -2, -1, 0, 1]))
def test_any_tree(seed: int, missing: int | None) -> None:
    case = random_case(seed, depth=3, n_rows=15, missing=missing)
    check(DuckDB(), [case])
    check(SQLite(), [case])


@pytest.mark.parametrize("policy", POLICIES)
def test_every_missing_policy(policy: str) -> None:
    cases = [learned_case(seed, policy) for seed in range(3)]
    check(DuckDB(), cases)
    check(SQLite(), cases)


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_real_tables(engine: Engine) -> None:
    check(engine, table_cases(("C45", "CART", "RPART", "CHAID", "ignore")))


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_real_tables_by_every_recipe(engine: Engine) -> None:
    check(engine, table_cases())


@pytest.mark.slow
def test_many_made_up_trees(engine: Engine) -> None:
    for first in range(100, 400, 50):
        check(engine, [random_case(seed, depth=5) for seed in range(first, first + 50)])
