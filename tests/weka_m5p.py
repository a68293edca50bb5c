"""Weka's M5P on the tables of the goldens: the ARFF file, the run, and what it prints as plain values.

Weka prints predictions with three digits after the point, so it is given the target times a power of ten; the trees do
not depend on the unit of the target.

Run: python tests/weka_m5p.py   writes tests/goldens_m5/m5p.json
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
GOLDENS = HERE / "goldens_m5" / "m5p.json"
JAR = Path("/usr/share/java/weka.jar")

#: Ten tables, numeric and mixed, with and without missing values, and the numeric column that is learned.
TABLES = {
    "boston-housing": "medv",
    "cu.summary-mileage": "Mileage",
    "cu.summary-reliability": "Price",
    "diabetes": "mass",
    "iris": "petalwidth",
    "kyphosis": "Age",
    "labor": "wage-increase-first-year",
    "pima-indians-diabetes2": "glucose",
    "segment-challenge": "hedge-mean",
    "weather.numeric": "humidity",
}
#: Ten tables of ../shared/data: the numeric column that is learned, and columns that name rows.
SHARED = {
    "shared/abalone": ("Class_Rings", ()),
    "shared/auto-mpg": ("mpg", ("name",)),
    "shared/boston-housing": ("medv", ()),
    "shared/california-housing": ("median_house_value", ()),
    "shared/car-test-frame": ("Mileage", ()),
    "shared/car90": ("Mileage", ()),
    "shared/diamonds": ("price", ()),
    "shared/ozone": ("V4", ()),
    "shared/servo": ("Class", ()),
    "shared/solder": ("skips", ()),
}
FOLDER = HERE.parents[1] / "shared" / "data"
_MOST_ROWS = 1500  # of a shared table, always the same ones
OPTIONS = {
    "default": (),
    "unsmoothed": ("-U",),
    "unpruned": ("-N",),
    "unpruned unsmoothed": ("-N", "-U"),
    "at least ten": ("-M", "10"),
}

#: The options whose leaf models are kept; unpruned trees have many small ones.
WITH_MODELS = ("default", "unsmoothed", "at least ten")

#: Of the predictions of a table, so many are kept.
_KEPT = 40


def target_of(name: str) -> str:
    """Return the column of a table that is learned."""
    return SHARED[name][0] if name in SHARED else TABLES[name]


def shared_table(name: str) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """Return a table of ../shared/data, as `table` does."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    target, dropped = SHARED[name]
    whole = pq.read_table(FOLDER / f"{name.removeprefix('shared/')}.parquet").drop_columns(list(dropped))
    whole = whole.filter(whole[target].is_valid())
    if len(whole) > _MOST_ROWS:
        whole = whole.take(np.sort(np.random.default_rng(0).permutation(len(whole))[:_MOST_ROWS]))
    columns: dict[str, list[Any]] = {}
    levels: dict[str, list[str]] = {}
    for column in [*(one for one in whole.column_names if one != target), target]:
        values = whole[column].combine_chunks()
        if pa.types.is_dictionary(values.type) or pa.types.is_string(values.type) or pa.types.is_boolean(values.type):
            columns[column] = [None if value is None else str(value) for value in values.to_pylist()]
            levels[column] = sorted({value for value in columns[column] if value is not None})
        else:
            columns[column] = [None if value is None else float(value) for value in values.to_pylist()]
    return columns, levels


def table(name: str) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """Return the columns of a table, rows without a target left out, and the levels of those that have some."""
    if name in SHARED:
        return shared_table(name)
    whole = json.loads((HERE / "goldens" / f"{name}.json").read_text(encoding="utf-8"))
    levels = {column["name"]: column["levels"] for column in whole["columns"] if "levels" in column}
    target, data = TABLES[name], whole["data"]
    rows = [row for row, value in enumerate(data[target]) if value is not None]

    def value(column: str, row: int) -> Any:
        code = data[column][row]
        return levels[column][code] if column in levels and code is not None else code

    columns = {column["name"]: [value(column["name"], row) for row in rows] for column in whole["columns"]}
    columns[target] = columns.pop(target)  # Weka learns the last
    return columns, levels


def unit(columns: dict[str, list[Any]], target: str) -> float:
    """Return the power of ten that gives the largest target ten digits before the point."""
    return 10.0 ** (9 - math.floor(math.log10(max(abs(value) for value in columns[target]))))


def arff(columns: dict[str, list[Any]], levels: dict[str, list[str]], target: str) -> str:
    """Return the table in Weka's format; columns and levels have numbers for names."""
    lines, times = ["@relation table"], unit(columns, target)
    for place, name in enumerate(columns):
        kind = "{" + ",".join(f"L{i}" for i in range(len(levels[name]))) + "}" if name in levels else "numeric"
        lines.append(f"@attribute C{place} {kind}")
    lines.append("@data")

    def text(name: str, value: Any) -> str:
        if value is None:
            return "?"
        return f"L{levels[name].index(value)}" if name in levels else repr(value * times if name == target else value)

    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    return "\n".join([*lines, *(",".join(map(text, names, row)) for row in rows)]) + "\n"


def run(path: Path, *options: str) -> str:
    """Return what Weka prints."""
    command = ["java", "-cp", str(JAR), "weka.classifiers.trees.M5P", "-t", str(path), "-no-cv", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def splits(text: str) -> list[list[Any]]:
    """Return the lines of a printed tree: depth, column, side, threshold or levels above it, rows of a leaf."""
    found = []
    for line in re.findall(r"^((?:\|   )*)C(\d+)(=\S+)? (<=|>) +(\S+) : ?(?:LM\d+ \((\d+)/)?", text, re.MULTILINE):
        bars, column, levels, side, cut, rows = line
        held = levels_in(levels)
        found.append([len(bars) // 4, int(column), side, held or float(cut), int(rows) if rows else None])
    return found


def models(text: str) -> list[list[Any]]:
    """Return the printed models of the leaves: the intercept, then coefficient, column and levels of each term."""
    found = []
    for block in re.findall(r"^LM num: \d+\nC\d+ = \n((?:\t.*\n)+)", text, re.MULTILINE):
        lines = [line.strip().replace("- ", "-").replace("+ ", "") for line in block.strip().splitlines()]
        terms = [re.fullmatch(r"(\S+) \* C(\d+)(?:=(\S+))?", line) for line in lines[:-1]]
        split = [term.groups() for term in terms if term is not None]
        assert len(split) == len(lines) - 1
        held = [[float(value), int(column), sorted(levels_in(levels or ""))] for value, column, levels in split]
        found.append([float(lines[-1]), *held])
    return found


def levels_in(text: str) -> list[int]:
    """Return the numbers of levels as Weka prints them: "L4,L3"."""
    return [int(one) for one in re.findall(r"L(\d+)", text)]


def predictions(text: str, times: float) -> list[float]:
    """Return the predictions that Weka prints with the option -p 0."""
    return [float(line.split()[2]) / times for line in text.splitlines() if re.match(r"\s+\d+\s", line)]


def weka(name: str) -> dict[str, Any]:
    """Return what M5P makes of a table, with every option."""
    columns, levels = table(name)
    target = target_of(name)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.arff"
        path.write_text(arff(columns, levels, target), encoding="utf-8")
        for option, given in OPTIONS.items():
            predicted = predictions(run(path, *given, "-p", "0"), unit(columns, target))
            step = max(1, len(predicted) // _KEPT)
            text = run(path, *given)
            found[option] = {"splits": splits(text), "predictions": predicted[::step], "step": step}
            found[option] |= {"models": models(text)} if option in WITH_MODELS else {}
    return found


def written(goldens: dict[str, Any]) -> str:
    """Return the goldens as text, one line per table and option."""

    def short(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    parts = [
        f'"{name}":{{\n' + ",\n".join(f'"{option}":{short(one)}' for option, one in found.items()) + "}"
        for name, found in goldens.items()
    ]
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    GOLDENS.write_text(written({name: weka(name) for name in TABLES}), encoding="utf-8")
    sys.exit(0)
