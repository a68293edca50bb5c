"""`treewright explain`: the path of one row, its prediction, and what would change it.

Columns that are not given count as missing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

import click

from treewright.cli.console import echo, echo_json
from treewright.cli.help_sections import Command
from treewright.cli.reading import data_options, read_tree, reading_of, tree_argument
from treewright.data.atomic_write import write_atomic
from treewright.data.reader import read
from treewright.data.schema import ColumnSpec
from treewright.data.sources import MARKERS, open_source
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.inspection.explain_row import explain_row
from treewright.tree.tree import Tree

_FROM_TEXT: dict[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}


@click.command(cls=Command, short_help="Explain the prediction for one row.")
@tree_argument
@click.option("--row", metavar="ROW", help="""As age=31,sex=male or '{"age": 31, "sex": "male"}'.""")
@click.option("--data", metavar="DATA", help="Take the row from a table.")
@click.option("--index", type=click.IntRange(0), default=0, help="Index of the row, from 0.")
@click.option("--want", metavar="CLASS", help="Target prediction of counterfactuals; for a number, more or less.")
@click.option("--html", "page", metavar="FILE", help="Write an HTML page.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def explain(tree_file: str, **settings: Any) -> None:
    """Explain the prediction of the tree in TREE for one row, and what would change it."""
    tree = read_tree(tree_file)
    reading = reading_of(settings)
    if (settings["row"] is None) == (settings["data"] is None):
        raise click.UsageError("give a row: --row age=31,sex=male, or --data FILE --index N")
    row: Any
    if settings["row"] is not None:
        row = row_of(tree, settings["row"])
    else:
        row = _row_at(tree, settings["data"], settings["index"], reading)
    found = explain_row(tree, row, want=_wanted(tree, settings["want"]))
    if settings["page"]:
        head = "<!doctype html><meta charset='utf-8'><title>Explanation</title>"
        write_atomic(settings["page"], head + found.html())
    if settings["as_json"]:
        echo_json(_as_dict(tree, found))
    else:
        echo(str(found))


def row_of(tree: Tree, text: str) -> dict[str, Any]:
    """Parse a row: name=value, separated by commas, or JSON."""
    given: dict[str, Any] = {}
    if text.lstrip().startswith("{"):
        try:
            given = json.loads(text)
        except ValueError as error:
            raise click.UsageError(f"--row is not JSON: {error}") from None
    else:
        for part in filter(str.strip, text.split(",")):
            name, sign, value = part.partition("=")
            if not sign:
                raise click.UsageError(f"--row: {part.strip()!r} is not NAME=VALUE; values with commas need JSON")
            given[name.strip()] = value.strip()
    specs = {spec.name: spec for spec in tree.schema.columns}
    unknown = [name for name in given if name not in specs]
    if unknown:
        raise DataError(f"the tree has no column {unknown[0]!r}; its columns are {listed(tree.schema.names)}")
    if not given:
        raise click.UsageError("--row is empty; name at least one column, as in --row age=31")
    return {name: _value(specs[name], value) for name, value in given.items()}


def _value(spec: ColumnSpec, value: Any) -> Any:
    """Convert text to a value of the column."""
    if value is None or (isinstance(value, str) and value in MARKERS):
        return None
    try:
        if spec.kind == "numeric":
            return float(value)
        if spec.kind in _FROM_TEXT and isinstance(value, str):
            return _FROM_TEXT[spec.kind](value)
    except (TypeError, ValueError):
        raise DataError(f"column {spec.name!r} is {spec.kind}, and {value!r} is not") from None
    if spec.levels is not None and isinstance(value, str):
        return {str(level).lower() if isinstance(level, bool) else str(level): level for level in spec.levels}.get(
            value, value
        )
    return value


def _row_at(tree: Tree, data: str, index: int, reading: Any) -> Any:
    source = open_source(data, reading, tree.schema)
    batches = source.batches(tree.schema.names, index + 1)
    seen = 0
    for batch in itertools.islice(batches, index + 1):
        frame = read(batch)
        if seen + frame.n_rows > index:
            return {column.name: _cell(column, index - seen) for column in frame.columns}
        seen += frame.n_rows
    raise DataError(f"{source.name} has {seen} rows; --index counts them from 0 to {seen - 1}")


def _cell(column: Any, row: int) -> Any:
    value = column.values[row]
    if column.levels is not None:
        return column.levels[value] if value >= 0 else None
    if value != value:
        return None
    if column.kind == "numeric":
        return float(value)
    import numpy as np

    return np.timedelta64(int(value), "us") if column.kind == "duration" else np.datetime64(int(value), "us").item()


def _wanted(tree: Tree, want: str | None) -> Any:
    if want is None or tree.schema.target.classes is None:
        return want
    return {str(value): value for value in tree.schema.target.classes}.get(want, want)


def _as_dict(tree: Tree, found: Any) -> dict[str, Any]:
    classes = tree.schema.target.classes
    return {
        "prediction": found.prediction,
        "probabilities": None if classes is None else dict(zip(map(str, classes), found.probabilities, strict=True)),
        "steps": [
            {"node": step.node, "column": step.column, "value": step.value, "why": step.why} for step in found.steps
        ],
        "changes": [str(change) for change in found.counterfactuals],
    }
