"""Every export that runs in this process, against `predict`: Python, SQLite, DuckDB, PMML, scikit-learn."""

from __future__ import annotations

import builtins
import datetime as dt
import json
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
from fuzz_cases import Case
from fuzz_checks import refusing, require
from sql_engines import DuckDB, SQLite

import treewright as tw

_TEXT_ONLY = ("c", "rust", "javascript", "dot", "mermaid")


def check_exports(case: Case, tree: tw.Tree) -> None:
    """Exports run and give the predictions of the library, or refuse the tree."""
    for name in _TEXT_ONLY:
        refusing(lambda name=name: getattr(tw.export, name)(tree).encode("utf-8"))
    refusing(lambda: json.dumps(tw.export.nodes(tree), allow_nan=False))
    refusing(lambda: tw.export.onnx(tree))
    refusing(lambda: tw.export.excel(tree, 3))
    rows = arrow_rows(case, tree)
    if rows is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            leaves = tw.apply(tree, rows, n_threads=1).tolist()
            expected = tw.predict(tree, rows, n_threads=1).tolist()
    except tw.DataError:
        return
    refusing(lambda: check_python(tree, rows, expected, leaves))
    for engine in (SQLite(), DuckDB()):
        refusing(lambda engine=engine: check_sql(tree, rows, engine, expected, leaves))
    refusing(lambda: check_pmml(tree, rows, expected))
    refusing(lambda: check_sklearn(tree, rows, expected))


def arrow_rows(case: Case, tree: tw.Tree) -> pa.Table | None:
    """The columns of the tree as plain Arrow types, those of the export tests; None where there is no such type."""
    found = {}
    for spec in tree.schema.columns:
        values = case.columns[spec.name]
        kinds = {type(value) for value in values if value is not None}
        if len(kinds) != 1 or not kinds <= {float, int, str, bool, dt.date, dt.datetime, dt.time, dt.timedelta}:
            return None
        if kinds == {str} and any("\0" in value or not value.isprintable() for value in values if value):
            return None  # texts that databases cannot hold
        try:
            found[spec.name] = pa.array(values)
            found[spec.name].to_pylist()
            spec.name.encode()
        except (pa.ArrowInvalid, UnicodeError, OverflowError, ValueError):
            return None
        if (spec.levels is not None and not kinds <= {str, int, bool}) or "\0" in spec.name:
            return None  # levels that are the text of a moment: exported code gets the text
    return pa.table(found)


def check_python(tree: tw.Tree, rows: pa.Table, expected: list[Any], leaves: list[int]) -> None:
    """Python source, run where nothing can be imported."""
    names = {name: value for name, value in vars(builtins).items() if name != "__import__"}
    module: dict[str, Any] = {"__builtins__": names}
    exec(compile(tw.export.python(tree), "tree", "exec"), module)
    plain = rows.to_pylist()
    require([module["leaf"](row) for row in plain] == leaves, "Python export: leaves")
    require([module["predict"](row) for row in plain] == expected, "Python export: predictions")


def check_sql(tree: tw.Tree, rows: pa.Table, engine: Any, expected: list[Any], leaves: list[int]) -> None:
    """A SELECT, run in the database."""
    if len({name.lower() for name in rows.column_names}) < rows.num_columns:
        return  # no database has columns that differ in case only
    if engine.dialect == "sqlite" and any(getattr(field.type, "tz", None) for field in rows.schema):
        return  # SQLite compares text, and text with an offset is another text
    statement = tw.export.sql(tree, dialect=engine.dialect, output=("prediction", "leaf"))
    found = engine.run([(rows, statement)])[0]
    require([int(row[1]) for row in found] == leaves, f"{engine.dialect} export: leaves", statement)
    predictions = [type(expected[0])(row[0]) for row in found] if expected else []
    require(predictions == expected, f"{engine.dialect} export: predictions", statement)


def check_pmml(tree: tw.Tree, rows: pa.Table, expected: list[Any]) -> None:
    """PMML, read again."""
    text = tw.export.pmml(tree)
    loaded = tw.from_pmml(text)
    if set(loaded.schema.names) <= set(rows.column_names):
        require(tw.predict(loaded, rows, n_threads=1).tolist() == expected, "PMML export: predictions")


def check_sklearn(tree: tw.Tree, rows: pa.Table, expected: list[Any]) -> None:
    """A tree of scikit-learn, which knows numbers in single precision only."""
    model = tw.export.sklearn(tree)
    if any(spec.kind != "numeric" for spec in tree.schema.columns):
        return
    table = np.array([rows.column(name).to_pylist() for name in tree.schema.names], dtype=np.float64).T
    with np.errstate(over="ignore"):
        single = table.astype(np.float32).astype(np.float64)
    if not np.array_equal(single, table):
        return
    require(model.predict(table).tolist() == expected, "scikit-learn export: predictions")
