"""The SQL exports, run in real databases: they predict as `predict` does, to the last bit."""

from __future__ import annotations

import dataclasses
import math
import random
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from export_cases import (
    DATA,
    POLICIES,
    Case,
    learned_case,
    model_tree_case,
    modelled_case,
    random_case,
    random_rows,
    soft_case,
    table_cases,
)
from handmade_trees import HOURS, TENNIS, Plan, Question, fork, hours, leaf, tennis, tennis_plan, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sql_engines import DuckDB, PostgreSQL, SQLite, postgresql

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import ExportError
from treewright.export.dialects import DIALECTS, number_token
from treewright.tree.models import LinearModel, Term
from treewright.tree.tree import Tree

Engine = DuckDB | SQLite | PostgreSQL


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    """A short path: the name of a socket may have a hundred characters."""
    with (
        tempfile.TemporaryDirectory(prefix="tw", ignore_cleanup_errors=True) as folder,
        postgresql(Path(folder)) as found,
    ):
        if isinstance(found, str):
            pytest.skip(found)
        yield found


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "postgresql":
        return request.getfixturevalue("server")
    return DuckDB() if request.param == "duckdb" else SQLite()


def check(engine: Engine, cases: list[Case]) -> None:
    """All outputs at once, and the prediction alone, which is written in another way."""
    jobs = []
    for case in cases:
        outputs = ("prediction", "leaf", *(["probabilities"] if case.tree.schema.target.classes is not None else []))
        statements = (tw.export.sql(case.tree, dialect=engine.dialect, output=o) for o in (outputs, "prediction"))
        jobs += [(case.rows, statement) for statement in statements]
    found = engine.run(jobs)
    for case, rows, alone in zip(cases, found[::2], found[1::2], strict=True):
        rows, alone = (_typed(case, some, engine) for some in (rows, alone))  # noqa: PLW2901
        case.expect([row[0] for row in rows], [row[2:] for row in rows], [int(row[1]) for row in rows])
        assert [row[0] for row in alone] == case.prediction


def _typed(case: Case, rows: list[tuple[Any, ...]], engine: Engine) -> list[tuple[Any, ...]]:
    """psql gives text, and SQLite has no truth values."""
    kind_of_value = type(case.prediction[0]) if case.prediction else str
    if engine.dialect == "duckdb":
        return rows
    read = {bool: lambda text: text in ("t", 1)}.get(kind_of_value, kind_of_value)
    return [(read(first), *(float(number) for number in others)) for first, *others in rows]


# --- agreement --------------------------------------------------------------------------------------------------------


def test_made_up_trees(engine: Engine) -> None:
    check(engine, [random_case(seed) for seed in range(16)])


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([None, -2, -1, 0, 1]))
def test_any_tree(seed: int, missing: int | None) -> None:
    case = random_case(seed, depth=3, n_rows=15, missing=missing)
    check(DuckDB(), [case])
    check(SQLite(), [case])


def test_soft_thresholds(engine: Engine) -> None:
    check(engine, [soft_case(seed, depth=3, n_rows=25, times=False) for seed in range(12)])


def test_linear_models(engine: Engine) -> None:
    """All add the terms in the order of the core; PostgreSQL takes a product that underflows for an error."""
    cases = [modelled_case(seed, missing=(None, -1, -2)[seed % 3], times=False) for seed in range(15)]
    leaves = tw.leaves.Linear(only=("x", "c", "b"), max_terms=4, select="aic", min_rows_per_term=2, margin=0.1)
    cases += [learned_case(seed, policy, leaves) for seed, policy in enumerate(POLICIES)]
    cases += [model_tree_case(recipe) for recipe in ("M5", "PILOT")]
    check(engine, [without_tiny_numbers(case) for case in cases] if engine.dialect == "postgresql" else cases)


def without_tiny_numbers(case: Case) -> Case:
    keep = [not any(isinstance(x, float) and 0 < abs(x) < 1e-300 for x in r.values()) for r in case.rows.to_pylist()]
    return Case(case.name, case.tree, case.rows.filter(keep))


def test_linear_models_of_larger_trees(engine: Engine) -> None:
    """Deeper than the parsers of some databases allow, and with more ends than are added up in one step."""
    rng = random.Random(7)
    for n, missing, part in ((120, -1, (0.3, 0.6)), (60, -2, (0.0, 0.01))):
        case = sized(n, missing, part, schema=Schema(NUMBERS.columns, HOURS.target))
        models = tuple(LinearModel(rng.gauss(0, 1), (Term(1, rng.gauss(0, 1), 0.5),)) for _ in range(case.tree.n_nodes))
        tree_with_models = dataclasses.replace(case.tree, models=models)
        check(engine, [without_tiny_numbers(Case(case.name, tree_with_models, case.rows))])


def test_a_linear_model_is_one_sum_within_its_guard() -> None:
    model = LinearModel(1.5, (Term(1, 2.0, 70.0), Term(0, -1.0, 0.25, (0, 2))), 0.0, 9.0)
    plan = fork(Question(1, breaks=(77.5,)), leaf(2, 44.0, 1.0), leaf(2, 30.0, 1.0), stats=(4, 37.0, 9.0))
    t = dataclasses.replace(tree(plan, HOURS), models=(model,) * 3)
    total = """1.5e0 + 2.0e0 * COALESCE("humidity", 70.0e0) + CASE WHEN "outlook" IN ('sunny', 'rain') THEN (-1.0e0)"""
    total += """ WHEN "outlook" = 'overcast' THEN 0.0e0 ELSE (-0.25e0) END"""
    assert f"LEAST(GREATEST({total}, 0.0e0), 9.0e0)" in tw.export.sql(t)
    dated = Schema((ColumnSpec("day", "date"), *HOURS.columns[1:]), HOURS.target)
    t = dataclasses.replace(tree(plan, dated), models=(LinearModel(0.0, (Term(0, 1.0, 0.0),)),) * 3)
    with pytest.raises(ExportError, match="'day' is a term of a linear model, and databases differ"):
        tw.export.sql(t)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([None, -2, -1, 0, 1]))
def test_any_linear_models(seed: int, missing: int | None) -> None:
    case = modelled_case(seed, n_rows=15, missing=missing, times=False)
    check(DuckDB(), [case])
    check(SQLite(), [case])


@pytest.mark.parametrize("policy", POLICIES)
def test_every_missing_policy(policy: str) -> None:
    cases = [learned_case(seed, policy) for seed in range(3)]
    check(DuckDB(), cases)
    check(SQLite(), cases)


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_real_tables(engine: Engine) -> None:
    check(engine, table_cases(("C45", "CART", "CHAID", "ignore")))


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_standard_sql_is_understood(server: PostgreSQL) -> None:
    """PostgreSQL reads decimals where the standard has doubles, so the answers are compared, not the last bits."""
    cases = [case for case in table_cases(("C45", "CART")) if not case.name.startswith("flights")]  # no moments
    found = server.run([(case.rows, tw.export.sql(case.tree, dialect="standard")) for case in cases])
    for case, rows in zip(cases, found, strict=True):
        assert [row[0] for row in rows] == [str(value) for value in case.prediction], case.name


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_real_tables_by_every_recipe(engine: Engine) -> None:
    check(engine, table_cases())


@pytest.mark.slow
def test_many_made_up_trees(engine: Engine) -> None:
    check(engine, [random_case(seed) for seed in range(100, 220)])


# --- size -------------------------------------------------------------------------------------------------------------

NUMBERS = Schema((ColumnSpec("x", "numeric"), ColumnSpec("z", "numeric")), TENNIS.target)


def sized(n: int, missing: int, part: tuple[float, float], seed: int = 0, schema: Schema = NUMBERS) -> Case:
    """A tree of n leaves; at each node a share of them between the two parts lies on the left."""
    rng = random.Random(seed)
    sizes, waiting = [], [n]  # how many leaves lie below each node, parents first; no recursion: it may be very deep
    while waiting:
        size = waiting.pop()
        sizes.append(size)
        if size > 1:
            left = max(1, min(size - 1, int(size * rng.uniform(*part))))
            waiting += [size - left, left]
    built: list[Plan] = []
    for size in reversed(sizes):
        if size == 1:
            numbers = (float(rng.randint(0, 9)), float(rng.randint(1, 9)))
            built.append(leaf(*numbers) if schema.target.classes else leaf(*numbers, 1.0))
        else:
            question = Question(rng.randint(0, 1), (0, 1), (rng.gauss(0, 1),), missing=missing)
            built.append(fork(question, built.pop(), built.pop()))
    t = tree(built[0], schema)
    return Case(f"{n} leaves", t, random_rows(rng, t, {"x": "numeric", "z": "numeric"}, 30))


@pytest.mark.parametrize(
    ("n", "missing", "part"), [(120, -1, (0.3, 0.6)), (150, -2, (0.0, 0.01)), (600, 0, (0.3, 0.7))]
)
def test_larger_trees(engine: Engine, n: int, missing: int, part: tuple[float, float]) -> None:
    check(engine, [sized(n, missing, part)])


@pytest.mark.slow
@pytest.mark.parametrize("part", [(0.4, 0.6), (0.0, 0.01)])
@pytest.mark.parametrize("missing", [-1, -2, 0])
def test_a_thousand_leaves(engine: Engine, missing: int, part: tuple[float, float]) -> None:
    check(engine, [sized(1000, missing, part)])


def test_a_tree_too_wide_is_refused() -> None:
    with pytest.raises(ExportError, match=r"1500 are possible; prune the tree, or learn with another missing policy"):
        tw.export.sql(sized(2000, -1, (0.4, 0.6)).tree)


# --- what it says -----------------------------------------------------------------------------------------------------


def test_a_small_tree_is_one_case() -> None:
    assert tw.export.sql(hours(), table="my.rows", keep=("id",)) == (
        """WITH tree_step_0 AS (
  SELECT
    source."id" AS "keep_0",
    NULLIF(CAST(source."humidity" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS "humidity"
  FROM "my"."rows" AS source
)
SELECT
  "keep_0" AS "id",
  CASE
    WHEN "humidity" > 77.5e0 THEN 30.0e0
    ELSE 44.25e0
  END AS prediction
FROM tree_step_0
"""
    )


WHEN = Schema(
    (
        ColumnSpec("day's", "date"),
        ColumnSpec("at", "datetime"),
        ColumnSpec("clock", "time"),
        ColumnSpec("took", "duration"),
        ColumnSpec("c", "nominal", ("a'b\\c\n", "x")),
        ColumnSpec("x", "numeric"),
    ),
    TENNIS.target,
)


def chain(*questions: Question) -> Plan:
    plan = leaf(1, 0)
    for question in reversed(questions):
        plan = fork(question, leaf(0, 1), plan)
    return plan


@pytest.mark.parametrize(
    ("dialect", "tokens"),
    {
        "standard": [
            "DATE '1970-01-02'",
            "TIMESTAMP '1970-01-01 00:00:01.000001'",
            "INTERVAL '-0 00:00:00.000002' DAY",
        ],
        "duckdb": ["TIME '01:00:00'", "INTERVAL '-2 microseconds'", "= 'a''b\\c\n'", "<= 0.1e0"],
        "postgresql": ["INTERVAL '-2 microseconds'", "= E'a''b\\\\c\n'", "<= FLOAT8 '0.1e0'", "AS MATERIALIZED ("],
        "sqlite": ["\"day's\" <= '1970-01-02'", '"took" <= (-1.5e0)', "<= 0.1e0"],
        "mysql": ["`day's` <= DATE '1970-01-02'", "= 'a''b\\\\c\n'", "COLLATE utf8mb4_0900_bin"],
        "bigquery": [
            "`day's` <= DATE '1970-01-02'",
            "= 'a\\'b\\\\c\\n'",
            "IF(IS_NAN(",
            "DATETIME '1970-01-01 00:00:01.000001'",
        ],
        "snowflake": ["CAST('0.1e0' AS DOUBLE)", "CAST('1970-01-01 00:00:01.000001' AS TIMESTAMP_NTZ)"],
        "spark": ["<= 0.1e0D", "TIMESTAMP_NTZ '1970-01-01 00:00:01.000001'", "= 'a\\'b\\\\c\n'"],
    }.items(),
)
def test_every_dialect_in_its_own_words(dialect: Any, tokens: list[str]) -> None:
    """Moments lie between two of their kind: dates on noon, the others between microseconds."""
    questions = (
        Question(0, breaks=(1.5 * 86_400e6,), missing=1),
        Question(1, breaks=(1_000_001.5,), missing=1),
        Question(2, breaks=(3600e6,), missing=1),
        Question(3, breaks=(-1.5,), missing=1),
        Question(4, missing=1),
        Question(5, breaks=(0.1,), missing=1),
    )
    statement = tw.export.sql(tree(chain(*questions), WHEN), dialect=dialect)
    assert [token for token in tokens if token not in statement] == []


def test_numbers_read_back_to_the_last_bit(engine: Engine) -> None:
    rng = random.Random(1)
    bits = [struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0] for _ in range(300)]
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5, 1e22, 2.0**60, *(x for x in bits if abs(x) < math.inf)]
    numbers.append(0.809096710223908)  # rounded to a long double first, it is another float64
    numbers += [round(rng.gauss(0, 1e4), rng.randint(0, 9)) for _ in range(300)]
    tokens = [number_token(DIALECTS[engine.dialect], x) for x in numbers]
    statement = " UNION ALL ".join(f"SELECT {i} AS i, {token} AS x" for i, token in enumerate(tokens[:400]))
    rows = pa.table({"x": [1.0]})
    assert [float(x) for _, x in engine.run([(rows, f"{statement} ORDER BY i")])[0]] == numbers[:400]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=2, unique=True))
def test_any_text(levels: list[str]) -> None:
    """As levels, as classes and as the name of the column."""
    name = "".join(levels)[:40] or "x"
    schema = Schema((ColumnSpec(name, "nominal", tuple(levels)),), TargetSpec("y", "classification", tuple(levels)))
    n = len(levels)
    leaves = [leaf(*(float(i == j) for j in range(n))) for i in range(n)]
    case = Case(
        "text", tree(fork(Question(0, tuple(range(n)), missing=0), *leaves), schema), pa.table({name: [*levels, None]})
    )
    assert case.prediction == [*levels, levels[0]]
    for engine in (DuckDB(), SQLite()):
        (rows,) = engine.run([(case.rows, tw.export.sql(case.tree, dialect=engine.dialect))])
        assert [row[0] for row in rows] == case.prediction


def test_rows_of_a_large_table_keep_their_order_in_duckdb() -> None:
    """SQL promises no order, but nothing in the statement should give DuckDB a reason to change it."""
    levels = tuple(f"level {i}" for i in range(40))
    t = two_ways_of_many(levels)
    names = [levels[i * 7 % 40] for i in range(300_000)]
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.register("given", pa.table({"c": names}))
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
        found = connection.execute(tw.export.sql(t)).fetchall()
    assert [row[0] for row in found] == tw.predict(t, {"c": names}).tolist()


def two_ways_of_many(levels: tuple[str, ...]) -> Tree:
    schema = schema_of(levels)
    return tree(fork(Question(0, tuple(i % 2 for i in range(len(levels))), missing=0), leaf(1, 0), leaf(0, 1)), schema)


def test_text_is_compared_letter_by_letter_whatever_the_column_says(engine: Engine) -> None:
    """Columns that take A for a, or (PostgreSQL) fill up with blanks."""
    source = {"postgresql": "CAST(c AS CHAR(5))"}.get(engine.dialect, "c COLLATE NOCASE")
    rows = pa.table({"c": ["a", "A", "b", "B"]})
    t = tree(fork(Question(0, (0, 1), missing=-2), leaf(1, 0), leaf(0, 1)), schema_of())
    query = tw.export.sql(t, dialect=engine.dialect, table=f"(SELECT {source} AS c FROM rows)", output="leaf")
    assert [int(row[0]) for row in engine.run([(rows, query)])[0]] == [1, 0, 2, 0] == tw.apply(t, rows).tolist()


def test_kept_columns_and_other_sources() -> None:
    rows = pa.table({"humidity": [70.0, 90.0, None], "Id": [7, 8, 9], "keep_0": ["a", "b", "c"]})
    both = tw.export.sql(hours(), output=("leaf", "prediction"), keep=("Id", "keep_0"))
    assert DuckDB().run([(rows, both)]) == [[(7, "a", 1, 44.25), (8, "b", 2, 30.0), (9, "c", 1, 44.25)]]
    query = tw.export.sql(hours(), table="(SELECT humidity + 10 AS humidity FROM rows)")
    assert DuckDB().run([(rows, query)]) == [[(30.0,), (30.0,), (44.25,)]]
    assert 'FROM "a.b"."c" AS source' in tw.export.sql(hours(), table=("a.b", "c"))
    stepping = tw.export.sql(hours(), table="tree_step_0")  # a table that is called like a step
    assert "WITH tree_step__0 AS" in stepping


def test_what_the_recipe_refuses_is_null(engine: Engine) -> None:
    windy = tree(fork(Question(2), leaf(2, 0), leaf(0, 2)), recipe=tw.ID3)
    rows = pa.table({"outlook": ["rain", "snow", None], "humidity": [1.0, 1.0, 1.0], "windy": [True, None, False]})
    strict = tree(tennis_plan(), recipe=dataclasses.replace(tw.C45, unseen="error"))
    jobs = [(rows, tw.export.sql(t, dialect=engine.dialect)) for t in (windy, strict)]
    jobs.append((rows, tw.export.sql(strict, dialect=engine.dialect, output=("probabilities", "leaf"))))
    nothing = "\\N" if engine.dialect == "postgresql" else None
    refused, unseen, shares = engine.run(jobs)
    assert [row[0] for row in refused] == ["yes", nothing, "no"]
    assert [row[0] for row in unseen] == ["no", nothing, "yes"]
    assert shares[1] == (nothing,) * 3


def test_probabilities_are_named_after_the_classes() -> None:
    schema = Schema(TENNIS.columns, TargetSpec("y", "classification", ("Yes", "yes")))
    statement = tw.export.sql(tree(tennis_plan(), schema), output="probabilities")
    rows = pa.table({"outlook": ["rain"], "humidity": [1.0], "windy": [True]})
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        assert [d[0] for d in connection.execute(statement).description] == ["probability_Yes", "probability_yes_2"]


WORDS = (
    "true",
    "False",
    "TRUE ",
    "null",
    "rowid",
    "oid",
    "select",
    "source",
    "prediction",
    "tree_step_0",
    "current_date",
)


@pytest.mark.parametrize("name", WORDS)
def test_a_column_may_be_called_like_a_word_of_the_language(engine: Engine, name: str) -> None:
    """SQLite forgets that a step's column is called true, and takes the name for the value."""
    schema = Schema((ColumnSpec(name, "numeric"), ColumnSpec("input_0", "numeric")), TENNIS.target)
    plan = fork(
        Question(0, breaks=(2.5,), missing=-1), leaf(3, 1), fork(Question(1, breaks=(0.5,)), leaf(1, 2), leaf(0, 2))
    )
    rows = pa.table({name: [1.0, 2.0, 3.0, 4.0, None], "input_0": [0.0, 1.0, 0.0, 1.0, 0.0]})
    check(engine, [Case(name, tree(plan, schema), rows)])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns_that_differ_in_case_only(dialect: Any) -> None:
    """A table of SQLite cannot hold both, DuckDB gives the first for the second, a date for a number."""
    schema = Schema((ColumnSpec("Y", "date"), ColumnSpec("y", "numeric"), ColumnSpec("x", "numeric")), TENNIS.target)
    t = tree(fork(Question(1, breaks=(2.5,)), leaf(1, 0), leaf(0, 1)), schema)
    if DIALECTS[dialect].folds_case:
        with pytest.raises(ExportError, match=r"the columns 'Y', 'y' differ in case only"):
            tw.export.sql(t, dialect=dialect)
    else:
        assert "y" in tw.export.sql(t, dialect=dialect)
    tw.export.sql(tree(fork(Question(2, breaks=(2.5,)), leaf(1, 0), leaf(0, 1)), schema), dialect=dialect)


def test_columns_that_differ_in_case_only_in_postgresql(server: PostgreSQL) -> None:
    schema = Schema((ColumnSpec("Y", "numeric"), ColumnSpec("y", "numeric")), TENNIS.target)
    plan = fork(
        Question(0, breaks=(0.5,), missing=0), fork(Question(1, breaks=(2.5,)), leaf(1, 0), leaf(0, 1)), leaf(1, 0)
    )
    check(server, [Case("case", tree(plan, schema), pa.table({"Y": [0.0, 1.0, 0.0], "y": [1.0, 9.0, 9.0]}))])


# --- what it refuses --------------------------------------------------------------------------------------------------


def schema_of(
    levels: tuple[Any, ...] = ("a", "b"), classes: tuple[Any, ...] = ("no", "yes"), name: str = "c"
) -> Schema:
    return Schema((ColumnSpec(name, "nominal", levels),), TargetSpec("y", "classification", classes))


def two_ways(schema: Schema, missing: int = 0) -> Tree:
    return tree(fork(Question(0, (0, 1), missing=missing), leaf(1, 0), leaf(0, 1)), schema)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (schema_of(("a", 1)), r"column 'c' has both text \('a'\) and numbers \(1\), which SQL \(duckdb\) cannot hold"),
        (schema_of(classes=(True, "yes")), "the target 'y' has both text"),
        (schema_of(("a\0", "b")), r"the level 'a\\x00' has a character that SQL \(duckdb\) cannot hold"),
        (schema_of(("\ud800", "b")), "has a character that SQL"),
        (schema_of(name=""), "a column without a name"),
        (schema_of(name="a\0"), r"the name 'a\\x00'"),
    ],
)
def test_what_sql_cannot_say(schema: Schema, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        tw.export.sql(two_ways(schema))


def test_what_cannot_be_requested() -> None:
    with pytest.raises(ExportError, match="no SQL dialect 'oracle'; choose from 'standard', 'duckdb'"):
        tw.export.sql(tennis(), dialect="oracle")
    with pytest.raises(ExportError, match="output has 'odds'"):
        tw.export.sql(tennis(), output="odds")
    with pytest.raises(ExportError, match="keep has 'Prediction', which is the name of an output"):
        tw.export.sql(tennis(), keep=("Prediction",))
    with pytest.raises(ExportError, match="output is empty"):
        tw.export.sql(tennis(), output=())
    with pytest.raises(ExportError, match="the target 'hours' is a number and has no probabilities"):
        tw.export.sql(hours(), output="probabilities")
    with pytest.raises(ExportError, match=r"where 'c' is missing this tree draws a child at random"):
        tw.export.sql(two_ways(schema_of(), missing=-3))
    late = Schema((ColumnSpec("took", "time"),), HOURS.target)
    plan = fork(Question(0, breaks=(9e10,)), leaf(1.0, 1.0, 0.0), leaf(1.0, 2.0, 0.0), stats=(2.0, 1.5, 0.5), rows=2)
    with pytest.raises(ExportError, match=r"column 'took' .* no time that SQL \(duckdb\) can write"):
        tw.export.sql(tree(plan, late))
    with pytest.raises(TypeError, match="expected a Tree"):
        tw.export.sql(None)
