"""Intervals and prediction sets in the exports, compiled and run for real: they equal ours to the last bit."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from export_cases import POLICIES, Case, learned_case, model_tree_case, random_case
from sql_engines import DuckDB, SQLite
from test_export_code import c_value, inputs_of, javascript_results, loaded, plain_rows, run, rust_value

import treewright as tw
from treewright.errors import ExportError
from treewright.export.program.tables import identifiers
from treewright.tree.calibration import Calibration

#: Two limits, or the truth values of the classes, for each row.
Ranges = list[list[Any]]


def calibrated(case: Case, seed: int) -> Case:
    """The tree with a made-up limit at every node, some of them exactly on a class's share."""
    draw = random.Random(seed)
    values = case.tree.arrays["value"].tolist()
    is_class = case.tree.schema.target.classes is not None
    score = [1.0 - draw.choice(value) if is_class and draw.random() < 0.7 else draw.random() for value in values]
    found = Calibration(0.9, 50, "split", tuple(range(len(score))), tuple(score))
    return Case(case.name, replace(case.tree, calibration=found), case.rows)


def cases() -> list[Case]:
    made = [random_case(seed, depth=3, n_rows=15) for seed in range(8)]
    made += [random_case(100 + seed, depth=3, n_rows=15, missing=-1) for seed in range(4)]  # several paths
    made += [learned_case(seed, policy) for seed, policy in enumerate(POLICIES)]
    made += [model_tree_case(recipe) for recipe in ("M5", "MODEL_TREE")]
    return [calibrated(case, seed) for seed, case in enumerate(made)]


def expected(case: Case) -> Ranges:
    function = tw.predict_interval if case.tree.schema.target.classes is None else tw.predict_set
    return function(case.tree, case.rows, n_threads=1).tolist()


def as_truth(case: Case, held: list[list[Any]]) -> Ranges:
    """Sets as lists of classes become truth values."""
    classes = case.tree.schema.target.classes
    return held if classes is None else [[level in row for level in classes] for row in held]


def python_ranges(some: list[Case], _folder: Path) -> list[Ranges]:
    found = []
    for case in some:
        module = loaded(tw.export.python(case.tree))
        range_of = module["predict_interval" if case.tree.schema.target.classes is None else "predict_set"]
        found.append(as_truth(case, [list(range_of(row)) for row in case.rows.to_pylist()]))
    return found


def javascript_ranges(some: list[Case], folder: Path) -> list[Ranges]:
    printed = javascript_results(some, folder, "rows.map(tree.predictInterval ?? tree.predictSet)")
    return [as_truth(case, ranges) for case, ranges in zip(some, printed, strict=True)]


def c_ranges(some: list[Case], folder: Path) -> list[Ranges]:
    source, body = "", ""
    for i, case in enumerate(some):
        prefix, used = f"t{i}", inputs_of(case.tree)
        source += tw.export.c(case.tree, prefix=prefix)
        names, classes = identifiers([spec.name for spec in used]), case.tree.schema.target.classes
        kind, what, n = ("double", "interval", 2) if classes is None else ("int", "set", len(classes))
        body += f"static void ask{i}(void)\n{{\n    double r[{max(1, len(used))}] = {{0}};\n    {kind} p[{n}];\n"
        for row in plain_rows(case):
            for k, (name, spec) in enumerate(zip(names, used, strict=True)):
                body += f"    r[{k}] = {c_value(row[spec.name], name, spec, prefix)};\n"
            body += f"    {prefix}_predict_{what}(r, p);\n"
            body += "".join(f'    printf("{"%.17g" if classes is None else "%d"} ", p[{j}]);\n' for j in range(n))
            body += '    printf("\\n");\n'
        body += "}\n"
    calls = "".join(f"    ask{i}();\n" for i in range(len(some)))
    path = folder / "trees.c"
    path.write_text(f"{source}\n#include <stdio.h>\n{body}int main(void)\n{{\n{calls}    return 0;\n}}\n")
    run("gcc", "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", path, "-o", folder / "trees")
    return read_lines(some, run(folder / "trees"))


def rust_ranges(some: list[Case], folder: Path) -> list[Ranges]:
    source, body = "#![deny(warnings)]\n#![allow(dead_code)]\n", ""
    for i, case in enumerate(some):
        source += f"mod t{i} {{\n{tw.export.rust(case.tree)}}}\n"
        used = inputs_of(case.tree)
        names = identifiers([spec.name for spec in used], lower=True)
        for row in plain_rows(case):
            fields = [f"{name}: {rust_value(row[spec.name], spec)}" for name, spec in zip(names, used, strict=True)]
            given = f"&t{i}::Row {{ {', '.join(fields)} }}"
            if case.tree.schema.target.classes is None:
                body += (
                    f'    let p = t{i}::predict_interval({given}).unwrap();\n    println!("{{:?}} {{:?}}", p.0, p.1);\n'
                )
            else:
                body += f"    for p in t{i}::predict_set({given}).unwrap() {{\n"
                body += '        print!("{} ", p as i32);\n    }\n    println!();\n'
    path = folder / "trees.rs"
    path.write_text(f"{source}fn main() {{\n{body}}}\n", encoding="utf-8")
    run("rustc", "--edition", "2021", "-C", "debuginfo=0", "-C", "opt-level=0", path, "-o", folder / "rusty")
    return read_lines(some, run(folder / "rusty"))


def read_lines(some: list[Case], printed: str) -> list[Ranges]:
    lines = iter(printed.splitlines())
    read: dict[bool, Callable[[str], Any]] = {True: float, False: lambda word: word == "1"}
    return [
        [[read[case.tree.schema.target.classes is None](word) for word in next(lines).split()] for _ in case.leaf]
        for case in some
    ]


@pytest.mark.parametrize(
    ("ranges_of", "program"),
    [(python_ranges, None), (javascript_ranges, "node"), (c_ranges, "gcc"), (rust_ranges, "rustc")],
)
def test_programs_give_the_same_ranges(
    ranges_of: Callable[[list[Case], Path], list[Ranges]], program: str | None, tmp_path: Path
) -> None:
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    some = cases()
    for case, found in zip(some, ranges_of(some, tmp_path), strict=True):
        assert found == expected(case), case.name


@pytest.mark.parametrize("engine", [DuckDB(), SQLite()], ids=lambda engine: engine.dialect)
def test_databases_give_the_same_ranges(engine: DuckDB | SQLite) -> None:
    some = cases()
    jobs = []
    for case in some:
        output: Any = "interval" if case.tree.schema.target.classes is None else "set"
        jobs.append((case.rows, tw.export.sql(case.tree, dialect=engine.dialect, output=output)))
    for case, rows in zip(some, engine.run(jobs), strict=True):
        read = float if case.tree.schema.target.classes is None else bool
        assert [[read(value) for value in row] for row in rows] == expected(case), case.name


def test_columns_of_ranges_in_sql() -> None:
    classes = next(case for case in cases() if case.tree.schema.target.classes == ("no", "yes"))
    statement = tw.export.sql(classes.tree, output=("prediction", "set"))
    assert 'AS "set_no"' in statement
    numbers = next(case for case in cases() if case.tree.schema.target.classes is None)
    assert "AS interval_high" in tw.export.sql(numbers.tree, output="interval")
    with pytest.raises(ExportError, match="is a number and has no set; choose 'interval'"):
        tw.export.sql(numbers.tree, output="set")
    with pytest.raises(ExportError, match="is a class and has no interval; choose 'set'"):
        tw.export.sql(classes.tree, output="interval")
    with pytest.raises(ExportError, match="is not calibrated"):
        tw.export.sql(replace(numbers.tree, calibration=None), output="interval")
    with pytest.raises(ExportError, match="keep has 'interval_low'"):
        tw.export.sql(numbers.tree, output="interval", keep=("interval_low",))
    assert "predict_interval" not in tw.export.python(replace(numbers.tree, calibration=None))
