"""The exports as code, compiled and run for real: they predict as `predict` does, to the last bit."""

from __future__ import annotations

import builtins
import dataclasses
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

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
    soft_case,
    table_cases,
)
from handmade_trees import TENNIS, Plan, Question, fork, hours, leaf, tennis, tennis_plan, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sql_engines import plain_environment
from test_page_route import route

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import ExportError
from treewright.export.program.tables import identifiers
from treewright.tree.tree import Tree

#: What a program said about one case: predictions, probabilities and leaves.
Results = tuple[list[Any], list[list[float]] | None, list[int]]


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


def run(*command: str | Path) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=plain_environment())
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# --- Python -----------------------------------------------------------------------------------------------------------


def loaded(source: str) -> dict[str, Any]:
    """The source run where nothing can be imported."""
    names = {name: value for name, value in vars(builtins).items() if name != "__import__"}
    found: dict[str, Any] = {"__builtins__": names}
    exec(compile(source, "tree", "exec"), found)
    return found


def run_python(cases: list[Case], _folder: Path) -> list[Results]:
    results = []
    for case in cases:
        module, rows = loaded(tw.export.python(case.tree)), case.rows.to_pylist()
        shares = None if case.probabilities is None else [module["predict_proba"](row) for row in rows]
        results.append(([module["predict"](row) for row in rows], shares, [module["leaf"](row) for row in rows]))
        assert [module["leaf"](row) for row in plain_rows(case)] == results[-1][2]  # microseconds do as well
    return results


# --- JavaScript -------------------------------------------------------------------------------------------------------


def javascript_results(cases: list[Case], folder: Path, result: str) -> list[Any]:
    """What node prints of each case: `result`, an expression of the exported `tree` and of `rows`."""
    for i, case in enumerate(cases):
        (folder / f"tree{i}.mjs").write_text(tw.export.javascript(case.tree), encoding="ascii")
        rows = [{k: None if v != v else v for k, v in row.items()} for row in plain_rows(case)]
        (folder / f"rows{i}.json").write_text(json.dumps(rows))
    (folder / "run.mjs").write_text(
        f"""import {{ readFileSync }} from "node:fs";
for (let i = 0; i < Number(process.argv[2]); ++i) {{
  const tree = await import(`./tree${{i}}.mjs`);
  const rows = JSON.parse(readFileSync(new URL(`rows${{i}}.json`, import.meta.url)));
  console.log(JSON.stringify({result}));
}}
"""
    )
    return [json.loads(line) for line in run("node", folder / "run.mjs", str(len(cases))).splitlines()]


def ask_javascript(cases: list[Case], folder: Path) -> list[Results]:
    probabilities = "tree.classes ? rows.map(tree.predictProba) : null"
    printed = javascript_results(cases, folder, f"[rows.map(tree.predict), {probabilities}, rows.map(tree.leaf)]")
    results = []
    for case, (predicted, shares, leaves) in zip(cases, printed, strict=True):
        numbers = isinstance((case.prediction or [""])[0], float)
        results.append(([float(v) for v in predicted] if numbers else predicted, shares, leaves))  # 2.0 is written as 2
    return results


def ask_page(cases: list[Case], folder: Path) -> list[Results]:
    """The router as the report page uses it: the same text, on the lists of a report."""
    results: list[Results] = []
    for case, found in zip(cases, route([(case.tree, case.rows) for case in cases], folder), strict=True):
        classes, leaves = case.tree.schema.target.classes, [row["node"] for row in found]
        if classes is None:
            results.append(([float(row["values"][0]) for row in found], None, leaves))
        else:
            results.append(([classes[row["place"]] for row in found], [row["values"] for row in found], leaves))
    return results


# --- C ----------------------------------------------------------------------------------------------------------------


def c_text(text: str) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def c_value(value: Any, name: str, spec: ColumnSpec, prefix: str) -> str:
    if spec.levels is None:
        return "NAN" if value is None or value != value else repr(float(value))
    if isinstance(spec.levels[0], str):
        return f"{prefix}_code_{name}({'NULL' if value is None else c_text(value)})"
    return f"{prefix}_code_{name}({'NAN' if value is None or value != value else repr(float(value))})"


def ask_c(cases: list[Case], folder: Path, compiler: tuple[str, ...] = ("gcc", "-std=c99")) -> list[Results]:
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
        "static void show(int ask(const double[], double[]), const double row[], int n)\n"
        "{\n    double p[50];\n    int i;\n"
        '    ask(row, p);\n    for (i = 0; i < n; ++i) printf(" %.17g", p[i]);\n}\n'
    )
    shows = shows if any(case.probabilities is not None for case in cases) else ""
    calls = "".join(f"    ask{i}();\n" for i in range(len(cases)))
    path = folder / "trees.c"
    path.write_text(
        f"{source}\n#include <stdio.h>\n{shows}{body}int main(void)\n{{\n{calls}    return 0;\n}}\n", encoding="ascii"
    )
    run(*compiler, "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", path, "-o", folder / "trees")
    return places_read(cases, run(folder / "trees"))


def places_read(cases: list[Case], output: str) -> list[Results]:
    """Lines of leaf, place of the class or number, probabilities."""
    lines = iter(output.splitlines())
    results: list[Results] = []
    for case in cases:
        words = [next(lines).split() for _ in case.leaf]
        classes = case.tree.schema.target.classes
        leaves = [int(line[0]) for line in words]
        if classes is None:
            results.append(([float(line[1]) for line in words], None, leaves))
        else:
            shares = [[float(x) for x in line[2:]] for line in words]
            results.append(([classes[int(line[1])] for line in words], shares, leaves))
    return results


def inputs_of(t: Tree) -> list[ColumnSpec]:
    """The columns that the tree asks about, surrogates and models included: worked out from its nodes."""
    asked = {s.column_index for node in t for s in (*([node.split] if node.split else ()), *node.surrogates)}
    ends = [node for node in t if node.split is None or node.split.missing == "stop"]
    asked |= {term.column for node in ends if node.model for term in node.model.terms}
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


def ask_rust(cases: list[Case], folder: Path, fields_of: list[str] | None = None) -> list[Results]:
    source, body = "#![deny(warnings)]\n", ""
    for i, case in enumerate(cases):
        source += f"mod t{i} {{\n{tw.export.rust(case.tree)}}}\n"
        used = inputs_of(case.tree)
        names = fields_of or identifiers([spec.name for spec in used], lower=True)
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


# --- agreement --------------------------------------------------------------------------------------------------------

Ask = Callable[[list[Case], Path], list[Results]]
LANGUAGES: dict[str, tuple[Ask, str | None]] = {
    "python": (run_python, None),
    "javascript": (ask_javascript, "node"),
    "page": (ask_page, "node"),
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
    for case, results in zip(cases, ask(cases, folder), strict=True):
        case.expect(*results)


def test_made_up_trees(ask: Ask, tmp_path: Path) -> None:
    cases = [random_case(seed, depth=3, n_rows=15) for seed in range(12)]
    cases += [learned_case(seed, policy) for seed, policy in enumerate(POLICIES)]
    check(ask, cases, tmp_path)


def test_soft_thresholds(ask: Ask, tmp_path: Path) -> None:
    cases = [soft_case(seed, depth=3, n_rows=25) for seed in range(12)]
    assert sum(0 < max(p) < 1 for case in cases for p in case.probabilities or ()) > 100
    check(ask, cases, tmp_path)


LINEAR = tw.leaves.Linear(max_terms=4, select="aic", min_rows_per_term=2, margin=0.1)


def test_linear_models(ask: Ask, tmp_path: Path) -> None:
    """Every kind of column, every end, missing values and unseen levels; the guard holds back some predictions."""
    cases = [modelled_case(seed, missing=(None, -1, -2)[seed % 3]) for seed in range(15)]
    cases += [learned_case(seed, policy, LINEAR) for seed, policy in enumerate(POLICIES)]
    cases += [model_tree_case(recipe) for recipe in ("M5", "PILOT")]
    limits = [{limit for m in case.tree.models for limit in (m.low, m.high)} for case in cases]
    assert sum(y in held for case, held in zip(cases, limits, strict=True) for y in case.prediction) > 50
    check(ask, cases, tmp_path)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([None, -2, -1, 0, 1]))
def test_any_linear_models(seed: int, missing: int | None) -> None:
    check(run_python, [modelled_case(seed, n_rows=15, missing=missing)], Path())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([None, -2, -1, 0, 1]))
def test_any_tree(seed: int, missing: int | None) -> None:
    check(run_python, [random_case(seed, depth=3, n_rows=15, missing=missing)], Path())


@pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")
@pytest.mark.parametrize("language", ["python", "javascript", "page"])
def test_real_tables(language: str, tmp_path: Path) -> None:
    if language != "python" and shutil.which("node") is None:
        pytest.skip("node is not here")
    check(LANGUAGES[language][0], [shorter(case, 150) for case in table_cases()], tmp_path)


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


# --- names and refusals -----------------------------------------------------------------------------------------------


def test_names_that_no_language_takes(ask: Ask, tmp_path: Path) -> None:
    """Keywords, names that become the same, names that are nothing but signs."""
    names = ("if", "If", "a b", "a-b", "a_b", "...", "1", "row", "leaf", "größe", "grö\u00dfe ", "child")
    columns = tuple(ColumnSpec(name, "numeric") for name in names)
    plan = leaf(1, 0)
    for i in range(len(names)):
        plan = fork(Question(i, breaks=(0.5,), missing=0), leaf(i, 9 - i if i < 9 else 1), plan)
    rows = pa.table({name: [float(i == j) for j in range(len(names))] for i, name in enumerate(names)})
    check(
        ask_any_names if ask is ask_rust else ask,
        [Case("names", tree(plan, Schema(columns, TENNIS.target)), rows)],
        tmp_path,
    )


SIGNS = (
    "/*", "*/", "//", "/**/", "**/*", "??/", "??/\n", "a\\\nb", "\\", "--", '"""', "'''", "#{x}", "${x}", "]]>", "-->",
    "{}", "%s", "@", "\x1a", "\r", "\u2028", "`", "</script>", "#",
)  # fmt: skip


@pytest.mark.parametrize("target", ["/* */", "*/ //", "??/\n", 'a\\\n"""'])
def test_names_that_end_or_begin_a_comment(ask: Ask, tmp_path: Path, target: str) -> None:
    kinds = [ColumnSpec(name, "numeric") for name in SIGNS]
    kinds[0] = ColumnSpec(SIGNS[0], "nominal", SIGNS)  # C has a function of its own for levels, with a comment
    plan = leaf(1, 0)
    for i in range(1, len(SIGNS)):
        plan = fork(Question(i, breaks=(0.5,), missing=0), leaf(i, 30 - i), plan)
    plan = fork(Question(0, tuple(i % 2 for i in range(len(SIGNS))), missing=0), leaf(2, 1), plan)
    rows = pa.table({name: [float(i == j) for j in range(len(SIGNS))] for i, name in enumerate(SIGNS)})
    rows = rows.set_column(0, SIGNS[0], pa.array(SIGNS))
    schema = Schema(tuple(kinds), TargetSpec(target, "classification", SIGNS[:2]))
    check(ask_any_names if ask is ask_rust else ask, [Case("signs", tree(plan, schema), rows)], tmp_path)


def ask_any_names(cases: list[Case], folder: Path) -> list[Results]:
    """Rust's names are taken from its struct, where they stand in order."""
    source = tw.export.rust(cases[0].tree)
    names = re.findall(r"^    pub (\w+): ", source, re.MULTILINE)
    return ask_rust(cases, folder, names)


def test_identifiers_are_different_and_allowed() -> None:
    assert identifiers(["if", "If", "if_", "a b", "a-b", "", "1", "ü"], ["if"]) == [
        "if_", "If", "if_2", "a_b", "a_b_2", "n", "n_1", "n_2",
    ]  # fmt: skip


STRICT = tree(tennis_plan(), recipe=dataclasses.replace(tw.C45, unseen="error"))
NEEDY = tree(fork(Question(1, breaks=(77.5,)), leaf(2, 0), leaf(0, 2)), recipe=tw.ID3)
SNOW = {"outlook": "snow", "humidity": 70.0, "windy": True}


def test_rows_that_the_recipe_refuses_in_python() -> None:
    with pytest.raises(ValueError, match="'outlook' has a level the tree does not know"):
        loaded(tw.export.python(STRICT))["predict"](SNOW)
    nested = tree(fork(Question(0, (0, 1, 1), missing=0), leaf(2, 0), leaf(0, 2)), recipe=STRICT.recipe)
    assert "if outlook in" in tw.export.python(nested)
    with pytest.raises(ValueError, match="'outlook' has a level the tree does not know"):
        loaded(tw.export.python(nested))["predict"](SNOW)
    with pytest.raises(ValueError, match="'humidity' is missing, and the tree refuses"):
        loaded(tw.export.python(NEEDY))["predict"](SNOW | {"humidity": None})
    with pytest.raises(TypeError, match="expected a number, not '70'"):
        loaded(tw.export.python(NEEDY))["predict"](SNOW | {"humidity": "70"})
    with pytest.raises(KeyError, match="humidity"):
        loaded(tw.export.python(NEEDY))["predict"]({})


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_rows_that_the_recipe_refuses_in_javascript(tmp_path: Path) -> None:
    (tmp_path / "strict.mjs").write_text(tw.export.javascript(STRICT))
    (tmp_path / "needy.mjs").write_text(tw.export.javascript(NEEDY))
    (tmp_path / "run.mjs").write_text(
        "import * as strict from './strict.mjs'; import * as needy from './needy.mjs';\n"
        "const said = (tree, row) => { try { return tree.predict(row); } catch (error) { return error.message; } };\n"
        f"const snow = {json.dumps(SNOW)};\n"
        "console.log(JSON.stringify([said(strict, snow), said(needy, { humidity: null }), said(needy, {}),\n"
        "  said(needy, { humidity: '70' }), said(needy, { humidity: 70 }),\n"
        "  said(strict, { ...snow, outlook: undefined })]));"
    )
    assert json.loads(run("node", tmp_path / "run.mjs")) == [
        '"outlook" has an unknown level', '"humidity" is missing', 'the row has no column "humidity"',
        '"humidity" must be a number', "no", "yes",
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not here")
def test_rows_that_the_recipe_refuses_in_c_and_the_file_is_c_plus_plus_too(tmp_path: Path) -> None:
    path = tmp_path / "trees.cpp"
    path.write_text(
        tw.export.c(STRICT, prefix="strict") + tw.export.c(NEEDY, prefix="needy") + tw.export.c(hours())
        + "#include <cstdio>\nint main() {\n"
        '    double row[] = {(double)strict_code_outlook("snow"), 70.0, (double)strict_code_windy(1)};\n'
        "    double p[2], none[] = {NAN};\n"
        '    std::printf("%d %d %d ", strict_predict(row), strict_leaf(row), strict_predict_proba(row, p));\n'
        "    row[strict_input_outlook] = strict_code_outlook(NULL);\n"
        '    std::printf("%s %d %g\\n", strict_classes[strict_predict(row)], needy_predict(none),\n'
        '        tree_predict(none));\n'
        "}\n"
    )  # fmt: skip
    run("g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", path, "-o", tmp_path / "trees")
    assert run(tmp_path / "trees") == "-1 -1 -1 yes -1 44.25\n"


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not here")
def test_rows_that_the_recipe_refuses_in_rust_and_the_file_needs_no_std(tmp_path: Path) -> None:
    path = tmp_path / "trees.rs"
    path.write_text(f"#![no_std]\npub mod strict {{\n{tw.export.rust(STRICT)}}}\n")
    run("rustc", "--edition", "2021", "--crate-type", "lib", "--emit", "metadata", path, "-o", tmp_path / "trees.rmeta")
    path.write_text(
        f"mod strict {{\n{tw.export.rust(STRICT)}}}\nmod needy {{\n{tw.export.rust(NEEDY)}}}\nfn main() {{\n"
        '    let snow = strict::Row { outlook: Some("snow"), humidity: 70.0, windy: Some(true) };\n'
        "    let none = needy::Row { humidity: f64::NAN };\n"
        '    println!("{:?} {:?} {:?}", strict::predict(&snow), strict::leaf(&snow), needy::predict_proba(&none));\n'
        '    println!("{:?}", strict::predict(&strict::Row { outlook: None, ..snow }));\n}\n'
    )
    run("rustc", "--edition", "2021", "-A", "dead_code", path, "-o", tmp_path / "trees")
    assert run(tmp_path / "trees") == 'None None None\nSome("yes")\n'


def of_levels(*levels: Any, classes: tuple[Any, ...] = ("no", "yes")) -> Tree:
    schema = Schema((ColumnSpec("c", "nominal", levels),), TargetSpec("y", "classification", classes))
    return tree(fork(Question(0, (0, 1), missing=0), leaf(1, 0), leaf(0, 1)), schema)


@pytest.mark.parametrize(
    ("t", "languages", "message"),
    [
        (of_levels("a", 1), ("c", "rust"), "column 'c' has both text"),
        (of_levels("a", "b", classes=(1, "x")), ("c", "rust"), "the target 'y' has both text"),
        (of_levels("a\0", "b"), ("c",), "text in C cannot hold"),
        (of_levels("\ud800", "b"), ("c", "rust"), "cannot hold; rename it"),
        (of_levels(2**53 + 1, 3), ("c", "rust", "javascript"), "a whole number beyond"),
        (of_levels("a", "b", classes=(2**63, 0)), ("c", "rust", "javascript"), "beyond"),
    ],
)
def test_what_a_language_cannot_say(t: Tree, languages: tuple[str, ...], message: str) -> None:
    for language in ("c", "rust", "javascript", "python"):
        if language in languages:
            with pytest.raises(ExportError, match=message):
                getattr(tw.export, language)(t)
        else:
            assert getattr(tw.export, language)(t)


def test_chance_is_refused_everywhere() -> None:
    t = tree(fork(Question(1, breaks=(77.5,), missing=-3), leaf(2, 0), leaf(0, 2)))
    for language in ("c", "rust", "javascript", "python", "sql"):
        with pytest.raises(ExportError, match="where 'humidity' is missing this tree draws a child at random"):
            getattr(tw.export, language)(t)


def test_mixed_levels_where_the_language_tells_them_apart(tmp_path: Path) -> None:
    t = of_levels("1", 1, classes=("one", 1))
    case = Case("mixed", t, {"c": ["1", 1, None, True]})
    assert case.prediction == ["one", 1, "one", 1]
    module = loaded(tw.export.python(t))
    assert [module["predict"]({"c": value}) for value in ("1", 1, None, True)] == case.prediction
    if shutil.which("node") is not None:
        (tmp_path / "tree.mjs").write_text(tw.export.javascript(t))
        given_rows = "['1', 1, null, true].map(c => predict({ c }))"
        (tmp_path / "run.mjs").write_text(
            f"import {{ predict }} from './tree.mjs'; console.log(JSON.stringify({given_rows}))"
        )
        assert json.loads(run("node", tmp_path / "run.mjs")) == case.prediction


def test_a_prefix_that_c_does_not_take() -> None:
    with pytest.raises(ExportError, match="prefix='1st' cannot begin a name in C"):
        tw.export.c(tennis(), prefix="1st")


def test_a_page_may_hold_the_javascript() -> None:
    t = of_levels("</script><!--", "\u2028")
    assert "</script" not in tw.export.javascript(t)
    assert tw.export.javascript(t).isascii()


@pytest.mark.parametrize("depth", [11, 3000])
def test_nested_ifs_while_they_can_be_read(depth: int) -> None:
    plan: Plan = leaf(1, 0)
    for i in range(depth):
        plan = fork(Question(1, breaks=(float(i),), missing=0), plan, leaf(0, 1))
    t = tree(plan)
    source = tw.export.python(t)
    assert ("return 0" in source or "if humidity" in source) == (depth == 11)
    rows = [{"outlook": None, "humidity": x, "windy": None} for x in (-1.0, 3.5, 1e9, None)]
    assert [loaded(source)["leaf"](row) for row in rows] == tw.apply(t, rows).tolist()


@pytest.mark.slow
def test_a_very_large_tree_compiles(ask: Ask, tmp_path: Path) -> None:
    rng = random.Random(0)
    plans = [leaf(float(rng.randint(0, 9)), float(rng.randint(1, 9))) for _ in range(50_000)]
    while len(plans) > 1:
        question = Question(1, breaks=(rng.gauss(0, 100),), missing=rng.choice((-1, 0)))
        plans = [fork(question, *plans[i : i + 2]) if i + 1 < len(plans) else plans[i] for i in range(0, len(plans), 2)]
    t = tree(plans[0])
    rows = pa.table(
        {"outlook": ["rain"] * 20, "humidity": [None, *(rng.gauss(0, 100) for _ in range(19))], "windy": [True] * 20}
    )
    check(ask, [Case("large", t, rows)], tmp_path)
