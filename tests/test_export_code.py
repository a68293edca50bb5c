"""The exports as code, compiled and run for real: what they answer is what prediction answers, to the last bit."""

from __future__ import annotations

import builtins
import dataclasses
import json
import math
import shutil
import subprocess
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from export_cases import DATA, POLICIES, Case, learned_case, random_case, table_cases
from handmade import TENNIS, Plan, Question, fork, hours, leaf, tennis, tennis_plan, tree
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.errors import ExportError
from treewright.export.tables import identifiers
from treewright.schema import ColumnSpec, Schema, TargetSpec
from treewright.tree import Tree

#: What a program said about one case: predictions, probabilities and leaves.
Answers = tuple[list[Any], list[list[float]] | None, list[int]]


def microseconds(value: Any) -> Any:
    """Moments as programs without a calendar are given them."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(microseconds=1)  # noqa: DTZ001
    if isinstance(value, date):
        return (value - date(1970, 1, 1)) // timedelta(microseconds=1)
    if isinstance(value, time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else value


def plain_rows(case: Case) -> list[dict[str, Any]]:
    return [{name: microseconds(value) for name, value in row.items()} for row in case.rows.to_pylist()]


def run(*command: str | Path, **more: Any) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=300, **more)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# --- Python -----------------------------------------------------------------------------------------------------------


def loaded(source: str) -> dict[str, Any]:
    """The source run where nothing can be imported."""
    names = {name: value for name, value in vars(builtins).items() if name != "__import__"}
    found: dict[str, Any] = {"__builtins__": names}
    exec(compile(source, "tree", "exec"), found)
    return found


def ask_python(cases: list[Case], _folder: Path) -> list[Answers]:
    answers = []
    for case in cases:
        module, rows = loaded(tw.export.python(case.tree)), case.rows.to_pylist()
        shares = None if case.probabilities is None else [module["predict_proba"](row) for row in rows]
        answers.append(([module["predict"](row) for row in rows], shares, [module["leaf"](row) for row in rows]))
        assert [module["leaf"](row) for row in plain_rows(case)] == answers[-1][2]  # microseconds do as well
    return answers


# --- JavaScript -------------------------------------------------------------------------------------------------------


def ask_javascript(cases: list[Case], folder: Path) -> list[Answers]:
    for i, case in enumerate(cases):
        (folder / f"tree{i}.mjs").write_text(tw.export.javascript(case.tree), encoding="ascii")
        rows = [{k: None if v != v else v for k, v in row.items()} for row in plain_rows(case)]
        (folder / f"rows{i}.json").write_text(json.dumps(rows))
    (folder / "run.mjs").write_text(
        """import { readFileSync } from "node:fs";
for (let i = 0; i < Number(process.argv[2]); ++i) {
  const tree = await import(`./tree${i}.mjs`);
  const rows = JSON.parse(readFileSync(new URL(`rows${i}.json`, import.meta.url)));
  const shares = tree.classes ? rows.map(tree.predictProba) : null;
  console.log(JSON.stringify([rows.map(tree.predict), shares, rows.map(tree.leaf)]));
}
"""
    )
    lines = run("node", folder / "run.mjs", str(len(cases))).splitlines()
    answers = []
    for case, line in zip(cases, lines, strict=True):
        predicted, shares, leaves = json.loads(line)
        numbers = isinstance((case.prediction or [""])[0], float)
        answers.append(([float(v) for v in predicted] if numbers else predicted, shares, leaves))  # 2.0 is written as 2
    return answers


# --- C ----------------------------------------------------------------------------------------------------------------


def c_text(text: str) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def c_value(value: Any, name: str, spec: ColumnSpec, prefix: str) -> str:
    if spec.levels is None:
        return "NAN" if value is None or value != value else repr(float(value))
    if isinstance(spec.levels[0], str):
        return f"{prefix}_code_{name}({'NULL' if value is None else c_text(value)})"
    return f"{prefix}_code_{name}({'NAN' if value is None or value != value else repr(float(value))})"


def ask_c(cases: list[Case], folder: Path, compiler: tuple[str, ...] = ("gcc", "-std=c99")) -> list[Answers]:
    source, body = "", ""
    for i, case in enumerate(cases):
        prefix = f"t{i}"
        source += tw.export.c(case.tree, prefix=prefix)
        used = inputs_of(case.tree)
        names = identifiers([spec.name for spec in used])
        body += f"static void ask{i}(void)\n{{\n    double r[{max(1, len(used))}] = {{0}};\n"
        for row in plain_rows(case):
            for k, (name, spec) in enumerate(zip(names, used, strict=True)):
                body += f"    r[{k}] = {c_value(row[spec.name], name, spec, prefix)};\n"
            body += f'    printf("%d", {prefix}_leaf(r));\n'
            if case.probabilities is None:
                body += f'    printf(" %.17g", {prefix}_predict(r));\n'
            else:
                body += f'    printf(" %d", {prefix}_predict(r)); show({prefix}_predict_proba, r, {prefix}_n_values);\n'
            body += '    printf("\\n");\n'
        body += "}\n"
    shows = (
        "static void show(int ask(const double[], double[]), const double row[], int n)\n{\n    double p[50];\n    int i;\n"
        '    ask(row, p);\n    for (i = 0; i < n; ++i) printf(" %.17g", p[i]);\n}\n'
    )
    calls = "".join(f"    ask{i}();\n" for i in range(len(cases)))
    path = folder / "trees.c"
    path.write_text(f"{source}\n#include <stdio.h>\n{shows}{body}int main(void)\n{{\n{calls}    return 0;\n}}\n", encoding="ascii")
    run(*compiler, "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", path, "-o", folder / "trees")
    return places_read(cases, run(folder / "trees"))


def places_read(cases: list[Case], said: str) -> list[Answers]:
    """Lines of leaf, place of the class or number, probabilities."""
    lines = iter(said.splitlines())
    answers: list[Answers] = []
    for case in cases:
        words = [next(lines).split() for _ in case.leaf]
        classes = case.tree.schema.target.classes
        leaves = [int(line[0]) for line in words]
        if classes is None:
            answers.append(([float(line[1]) for line in words], None, leaves))
        else:
            shares = [[float(x) for x in line[2:]] for line in words]
            answers.append(([classes[int(line[1])] for line in words], shares, leaves))
    return answers


def inputs_of(t: Tree) -> list[ColumnSpec]:
    """The columns that the tree asks about, surrogates included: worked out from its nodes."""
    asked = {s.column_index for node in t for s in (*([node.split] if node.split else ()), *node.surrogates)}
    return [t.schema.columns[i] for i in sorted(asked)]


# --- Rust -------------------------------------------------------------------------------------------------------------


def rust_value(value: Any, spec: ColumnSpec) -> str:
    missing = value is None or value != value
    if spec.levels is None:
        return "f64::NAN" if missing else repr(float(value))
    if missing:
        return "None"
    if isinstance(spec.levels[0], str):
        return 'Some("' + "".join(f"\\u{{{ord(c):x}}}" for c in value) + '")'
    return f"Some({str(value).lower() if isinstance(value, bool) else repr(float(value))})"


def ask_rust(cases: list[Case], folder: Path) -> list[Answers]:
    source, body = "#![deny(warnings)]\n", ""
    for i, case in enumerate(cases):
        source += f"mod t{i} {{\n{tw.export.rust(case.tree)}}}\n"
        used = inputs_of(case.tree)
        names = identifiers([spec.name for spec in used], RUST_KEYWORDS, lower=True)
        rows = ""
        for row in plain_rows(case):
            fields = [f"{name}: {rust_value(row[spec.name], spec)}" for name, spec in zip(names, used, strict=True)]
            rows += f"        t{i}::Row {{ {', '.join(fields)} }},\n"
        show = f'println!("{{}} {{:?}}", t{i}::leaf(row).unwrap(), t{i}::predict(row).unwrap());'
        if case.probabilities is not None:
            show = (
                f"let answer = t{i}::predict(row).unwrap();\n"
                f"        let place = t{i}::CLASSES.iter().position(|c| *c == answer).unwrap();\n"
                f'        print!("{{}} {{}}", t{i}::leaf(row).unwrap(), place);\n'
                f'        for p in t{i}::predict_proba(row).unwrap() {{ print!(" {{:?}}", p); }}\n        println!();'
            )
        body += f"    let rows = [\n{rows}    ];\n    for row in &rows {{\n        {show}\n    }}\n"
    path = folder / "trees.rs"
    path.write_text(f"{source}fn main() {{\n{body}}}\n", encoding="utf-8")
    run("rustc", "--edition", "2021", "-C", "debuginfo=0", "-C", "opt-level=0", path, "-o", folder / "rusty")
    return places_read(cases, run(folder / "rusty"))


RUST_KEYWORDS = ("class", "select", "type", "match", "at")[2:4]


# --- agreement --------------------------------------------------------------------------------------------------------

Ask = Callable[[list[Case], Path], list[Answers]]
LANGUAGES: dict[str, tuple[Ask, str | None]] = {
    "python": (ask_python, None),
    "javascript": (ask_javascript, "node"),
    "c": (ask_c, "gcc"),
    "rust": (ask_rust, "rustc"),
}


@pytest.fixture(params=LANGUAGES)
def ask(request: pytest.FixtureRequest) -> Ask:
    found, program = LANGUAGES[request.param]
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    return found


def check(ask: Ask, cases: list[Case], folder: Path) -> None:
    for case, answers in zip(cases, ask(cases, folder), strict=True):
        case.expect(*answers)


def test_made_up_trees(ask: Ask, tmp_path: Path) -> None:
    cases = [random_case(seed, depth=3, n_rows=15) for seed in range(12)]
    cases += [learned_case(seed, policy) for seed, policy in enumerate(POLICIES)]
    check(ask, cases, tmp_path)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([None, -2, -1, 0, 1]))
def test_any_tree(seed: int, missing: int | None) -> None:
    check(ask_python, [random_case(seed, depth=3, n_rows=15, missing=missing)], Path())


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_real_tables(language: str, tmp_path: Path) -> None:
    if language == "javascript" and shutil.which("node") is None:
        pytest.skip("node is not here")
    check(LANGUAGES[language][0], table_cases(), tmp_path)


def shorter(case: Case, n: int) -> Case:
    return dataclasses.replace(case, rows=case.rows.slice(0, n))


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_real_tables_compiled(ask: Ask, tmp_path: Path) -> None:
    check(ask, [shorter(case, 25) for case in table_cases(("C45", "CART", "CHAID"))], tmp_path)


@pytest.mark.slow
def test_many_trees(ask: Ask, tmp_path: Path) -> None:
    check(ask, [random_case(seed, depth=5) for seed in range(1000, 1060)], tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
def test_every_row_of_real_tables(ask: Ask, tmp_path: Path) -> None:
    check(ask, table_cases(), tmp_path)
