"""The command line, tried as a new user would: the session of the documentation, every command, every kind of error."""

from __future__ import annotations

import ast
import csv
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from handmade_trees import Question, fork, leaf, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript import blocks, run, write_files

import treewright as tw
from treewright.cli import COMMANDS, main
from treewright.cli.console import progress
from treewright.cli.error_text import OPTIONS
from treewright.cli.explain import row_of
from treewright.cli.export import formats
from treewright.cli.recipes import PRUNER_NAMES, pruner_of
from treewright.data.atomic_write import atomic_file
from treewright.data.encoding import Encoded
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.training.folds import random_folds, set_aside

pytest.importorskip("duckdb")

DOCUMENT = Path(__file__).parent.parent / "docs" / "command-line.md"
SHARED = Path(__file__).parent.parent.parent / "shared" / "data"

ROWS = [
    ("age", "city", "zip", "name", "score"),
    *(
        (20 + i % 37, "north" if i % 3 else "south", f"0{i % 4}", f"person {i}", "yes" if i % 37 > 18 else "no")
        for i in range(90)
    ),
]


def treewright(*arguments: object, folder: Path | None = None, given: bytes | None = None) -> Result:
    before = Path.cwd()
    os.chdir(folder or before)
    try:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=given)
    finally:
        os.chdir(before)


def json_of(*arguments: object, folder: Path | None = None) -> Any:
    result = treewright(*arguments, "--json", folder=folder)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows(ROWS)
    return tmp_path


@pytest.fixture
def saved(folder: Path) -> Path:
    assert treewright("learn", "people.csv", "-t", "score", "-s", "tree.json", folder=folder).exit_code == 0
    return folder


# --- the session of the documentation ---------------------------------------------------------------------------------


def test_the_session_of_the_documentation(tmp_path: Path) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    write_files(document, tmp_path)
    n_commands = 0
    for block in blocks(document):
        for step in block:
            assert run(step.command, tmp_path) == step.printed, step.command
            n_commands += 1
    assert n_commands > 15
    assert {word for block in blocks(document) for step in block for word in step.command.split()} >= set(COMMANDS) - {
        "lesson",
        "studio",
    }


def test_help_loads_nothing_heavy_and_every_command_has_help() -> None:
    code = (
        "import sys\nfrom treewright.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = 'numpy', 'sklearn', 'duckdb', 'rich', 'narwhals', 'pyarrow', 'starlette', 'uvicorn'\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for name in COMMANDS:
        if importlib.util.find_spec(f"treewright.cli.{name}"):
            assert name in done.stdout
            assert treewright(name, "--help").exit_code == 0


def test_every_argument_that_is_reworded_is_in_a_message_of_the_library() -> None:
    source = Path(tw.__file__).parent
    modules = [path for path in source.rglob("*.py") if path.name != "error_text.py"]
    nodes = [node for path in modules for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert [pattern for pattern, _ in OPTIONS if not any(re.search(pattern, text) for text in texts)] == []


def test_version_and_module() -> None:
    done = subprocess.run([sys.executable, "-m", "treewright", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"treewright {tw.__version__}\n"


# --- learn ------------------------------------------------------------------------------------------------------------


def test_learn_tells_what_it_guessed(folder: Path) -> None:
    result = json_of("learn", "people.csv", "-t", "score", folder=folder)
    assert {column["name"]: column["kind"] for column in result["columns"]} == {
        "age": "numeric", "city": "nominal", "zip": "nominal",
    }  # fmt: skip
    assert list(result["left_out"]) == ["name"]
    assert result["target"] == {"name": "score", "task": "classification", "classes": ["no", "yes"]}
    assert result["scores"]["training"]["value"] == 1.0


def test_learn_is_what_the_library_learns(saved: Path) -> None:
    columns = {name: [row[i] for row in ROWS[1:]] for i, name in enumerate(ROWS[0]) if name != "name"}
    assert tw.load(saved / "tree.json") == tw.learn(columns, "score")


def test_choices_reach_the_recipe(folder: Path) -> None:
    options = "--criterion entropy --branching one-vs-rest --missing-policy majority --max-depth 2 --min-leaf 0.05"
    options += " --pruning none"
    recipe = json_of("learn", "people.csv", "-t", "score", *options.split(), folder=folder)["recipe"]
    assert recipe["criterion"]["choice"] == "InformationGain"
    assert recipe["branching"]["choice"] == "OneVsRest"
    assert recipe["missing"]["choice"] == "MajorityChild"
    assert recipe["stopping"]["max_depth"] == 2
    assert recipe["stopping"]["min_samples_leaf"] == 5
    assert recipe["pruning"] is None


def test_kinds_and_costs_and_weights(folder: Path) -> None:
    result = treewright(
        "learn", "people.csv", "-t", "score", "--kind", "zip=00<01<02<03", "--kind", "name=nominal", "--drop", "city",
        "--costs", '{"yes": {"no": 5}}', "--weight", "age", "-a", "c4.5", "--pruning", "error-based:confidence=0.1",
        "-s", "t.json", folder=folder,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    tree = tw.load(folder / "t.json")
    assert [(column.name, column.kind) for column in tree.schema.columns] == [("zip", "ordinal"), ("name", "nominal")]
    assert tree.schema.target.costs == ((0.0, 1.0), (5.0, 0.0))
    assert tree.recipe.pruning == tw.pruning.ErrorBased(confidence=0.1)
    assert tree.root.weight == pytest.approx(sum(row[0] for row in ROWS[1:]))


def test_a_number_is_learned_and_scored(folder: Path) -> None:
    result = json_of("learn", "people.csv", "-t", "age", "--folds", 3, folder=folder)
    assert result["target"]["task"] == "regression"
    assert result["scores"]["folds"]["measure"] == "root mean squared error"
    assert result["scores"]["folds"]["value"] < result["scores"]["folds"]["baseline"]


def test_two_whole_numbers_are_classes_and_rows_without_target_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(40)) + "7,?\n")
    result = json_of("learn", "a.csv", "-t", "y", folder=tmp_path)
    assert result["target"]["classes"] == [0, 1]
    assert result["rows_without_target"] == 1
    assert (
        json_of("learn", "a.csv", "-t", "y", "--task", "regression", folder=tmp_path)["target"]["task"] == "regression"
    )


def test_test_rows_and_report(saved: Path) -> None:
    result = json_of("learn", "people.csv", "-t", "score", "--test", "people.csv", "--report", "r.html", folder=saved)
    assert result["scores"]["held_out"]["rows"] == 90
    assert "<html" in (saved / "r.html").read_text(encoding="utf-8")


def test_c45_files_need_no_target(tmp_path: Path) -> None:
    (tmp_path / "w.names").write_text("yes, no.\nsky: sun, rain.\n")
    (tmp_path / "w.data").write_text("sun, yes\nrain, no\n" * 5)
    assert json_of("learn", "w.names", folder=tmp_path)["target"]["name"] == "class"


# --- predict ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_predictions_in_every_form(saved: Path, form: str) -> None:
    result = json_of(
        "predict", "tree.json", "people.csv", "-o", f"out.{form}", "--keep", "name,age", "-p", "--leaf", folder=saved
    )
    assert result == {"rows": 90, "output": f"out.{form}", "format": form}
    tree = tw.load(saved / "tree.json")
    path = saved / f"out.{form}"
    if form == "parquet":
        import pyarrow.parquet

        rows = pyarrow.parquet.read_table(path).to_pylist()
    elif form == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        rows = list(csv.DictReader(path.read_text().splitlines(), delimiter="\t" if form == "tsv" else ","))
    assert [row["prediction"] for row in rows] == tw.predict(tree, saved / "people.csv").tolist()
    assert [int(row["leaf"]) for row in rows] == tw.apply(tree, saved / "people.csv").tolist()
    assert [float(row["probability_yes"]) for row in rows] == tw.predict_proba(tree, saved / "people.csv")[
        :, 1
    ].tolist()
    assert [(row["name"], str(row["age"]).removesuffix(".0")) for row in rows] == [
        (row[3], str(row[0])) for row in ROWS[1:]
    ]


def test_many_batches_predict_as_one(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = treewright("predict", "tree.json", "people.csv", folder=saved).stdout
    monkeypatch.setattr("treewright.data.sources.source.Source.batches.__defaults__", (None, 7))
    assert treewright("predict", "tree.json", "people.csv", folder=saved).stdout == whole
    assert len(whole.splitlines()) == 91


def test_standard_input_to_standard_output(saved: Path) -> None:
    content = (saved / "people.csv").read_bytes()
    result = treewright("predict", "tree.json", "-", "--json", folder=saved, given=content)
    assert [json.loads(line)["prediction"] for line in result.stdout.splitlines()] == [row[4] for row in ROWS[1:]]


def test_an_error_leaves_the_old_predictions_and_no_draft(saved: Path) -> None:
    (saved / "out.csv").write_text("before")
    content = (saved / "people.csv").read_text()
    (saved / "bad.csv").write_text(content * 1 + "old,north,00,x,no\n")
    result = treewright("predict", "tree.json", "bad.csv", "-o", "out.csv", folder=saved)
    assert result.exit_code == 1
    assert "line 92: column 'age' has 'old', which is not a number" in result.stderr
    assert (saved / "out.csv").read_text() == "before"
    assert not list(saved.glob(".out*"))


@given(st.booleans(), st.binary(max_size=50))
@settings(max_examples=20, deadline=None)
def test_files_are_written_whole_or_not_at_all(fails: bool, content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "file"
        path.write_bytes(b"before")
        try:
            with atomic_file(path) as draft:
                draft.write_bytes(content)
                if fails:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        assert path.read_bytes() == (b"before" if fails else content)
        assert list(Path(name).iterdir()) == [path]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    for mode in (0o600, 0o640, 0o444):
        path.write_text("before")
        path.chmod(mode)
        with atomic_file(path) as draft:
            assert draft.stat().st_mode & 0o077 == 0  # nobody else reads it while it is written
            draft.write_text("after")
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("after", mode)
        path.unlink()
    before = os.umask(0o027)
    try:
        with atomic_file(path) as draft:
            draft.write_text("new")
        assert path.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


@pytest.mark.parametrize("name", ["木" * 80, "🌲" * 60, "x" * 255, "ä" * 127, "a\udcff" * 100])
def test_any_name_that_the_file_system_takes(tmp_path: Path, name: str) -> None:
    with atomic_file(tmp_path / name) as draft:
        draft.write_text("written")
    assert [path.name for path in tmp_path.iterdir()] == [name]


HALF = Schema(
    (ColumnSpec("half\ud800", "nominal", ("a\ud801", "b")),),
    TargetSpec("y\ud802", "classification", ("n\udc00", "yes")),
)


def test_half_of_a_surrogate_pair_is_escaped_or_refused_in_one_line(tmp_path: Path) -> None:
    """Such names come from damaged text; JSON has an escape for them, other files have not."""
    t = tree(fork(Question(0, (0, 1), missing=0), leaf(2, 1), leaf(1, 2)), HALF)
    tw.save(t, tmp_path / "tree.json")
    assert tw.load(tmp_path / "tree.json") == t
    rules = json.dumps(json_of("rules", "tree.json", folder=tmp_path))
    assert "n\\udc00" in rules
    for command in ("show", "show --importance"):
        json_of(*command.split()[:1], "tree.json", *command.split()[1:], folder=tmp_path)
    for command in ("show", "rules", "show --html x.html", "show --svg x.svg"):
        assert treewright(*command.split()[:1], "tree.json", *command.split()[1:], folder=tmp_path).exit_code == 0
    for form in formats():
        result = treewright("export", "tree.json", "--to", form, "-o", "out", folder=tmp_path)
        assert result.exit_code == 0 or result.stderr.startswith("Error: "), form
    plain = tree(leaf(2, 1), Schema((ColumnSpec("x", "numeric"),), HALF.target))
    tw.save(plain, tmp_path / "plain.json")
    (tmp_path / "rows.csv").write_text("x\n1\n")
    for form in ("csv", "tsv", "parquet", "jsonl"):
        result = treewright("predict", "plain.json", "rows.csv", "-o", f"out.{form}", folder=tmp_path)
        if form == "jsonl":
            assert json.loads((tmp_path / "out.jsonl").read_text())["prediction"] == "n\udc00"
        else:
            assert result.exit_code == 1
            assert "has half of a surrogate pair" in result.stderr
            assert not (tmp_path / f"out.{form}").exists()


# --- the other commands -----------------------------------------------------------------------------------------------


def test_show(saved: Path) -> None:
    result = treewright("show", "tree.json", folder=saved)
    assert result.stdout == f"{tw.load(saved / 'tree.json')}\n"
    assert json_of("show", "tree.json", "--svg", "a.svg", "--html", "a.html", folder=saved) == {
        "written": ["a.svg", "a.html"]
    }
    assert (saved / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert json_of("show", "tree.json", "--growth", "growth.html", folder=saved) == {"written": ["growth.html"]}
    assert "Level 1" in (saved / "growth.html").read_text(encoding="utf-8")
    assert "age" in treewright("show", "tree.json", "--importance", folder=saved).stdout
    assert tw.Tree.from_dict(json_of("show", "tree.json", folder=saved)) == tw.load(saved / "tree.json")


def test_rules(saved: Path) -> None:
    every = json_of("rules", "tree.json", folder=saved)
    assert len(every["rules"]) == tw.load(saved / "tree.json").n_leaves
    only = treewright("rules", "tree.json", "--class", "yes", folder=saved).stdout
    assert "score = yes" in only
    assert "score = no" not in only
    assert treewright("rules", "tree.json", "--list", folder=saved).exit_code == 2
    assert treewright("rules", "tree.json", "--list", "--data", "people.csv", folder=saved).exit_code == 0


def test_explain_by_row_and_by_place(saved: Path) -> None:
    first = json_of("explain", "tree.json", "--row", "age=24,city=north,zip=00", folder=saved)
    same = json_of("explain", "tree.json", "--row", '{"age": 24, "city": "north", "zip": "00"}', folder=saved)
    assert first == same
    assert first["prediction"] == "no"
    by_place = json_of("explain", "tree.json", "--data", "people.csv", "--index", "4", folder=saved)
    assert by_place["prediction"] == "no"
    assert by_place["steps"][0]["value"] == "24"
    assert "there is no" in treewright("explain", "none.json", "--row", "a=1", folder=saved).stderr
    assert "--index counts them from 0 to 89" in treewright(
        "explain", "tree.json", "--data", "people.csv", "--index", 90, folder=saved
    ).stderr  # fmt: skip


def test_a_typed_row_has_the_kinds_of_the_tree() -> None:
    days = [date(2024, 1, day) for day in range(1, 21)]
    table = {"day": days, "ok": [True, False] * 10, "n": [*range(19), None], "code": [1, 2] * 10, "y": ["a", "b"] * 10}
    tree = tw.learn(table, "y", kinds={"code": "nominal"})
    assert row_of(tree, "day=2024-01-05, ok=true, n=3, code=2") == {
        "day": date(2024, 1, 5), "ok": True, "n": 3.0, "code": 2,
    }  # fmt: skip
    assert row_of(tree, "n=?,ok=") == {"n": None, "ok": None}
    with pytest.raises(tw.DataError, match="column 'n' is numeric, and 'many' is not"):
        row_of(tree, "n=many")


def test_prune(saved: Path) -> None:
    result = json_of("prune", "tree.json", "-m", "max-leaves", "--leaves", 2, "-s", "small.json", folder=saved)
    assert result["leaves"]["after"] == tw.load(saved / "small.json").n_leaves == 2
    assert json_of("prune", "tree.json", "-m", "collapse-nodes:nodes=0", folder=saved)["leaves"]["after"] == 1
    assert (
        json_of("prune", "tree.json", "-m", "reduced-error", "--data", "people.csv", folder=saved)["leaves"]["after"]
        >= 2
    )


def test_every_pruner_has_a_name_and_its_settings() -> None:
    needed = {"alpha": "0.5", "value": "1", "nodes": "1+2", "depth": "3", "leaves": "4"}
    for name, pruner in PRUNER_NAMES.items():
        missing = [key for key in needed if key in pruner.__dataclass_fields__ and not hasattr(pruner, key)]
        made = pruner_of(f"{name}:{','.join(f'{key}={needed[key]}' for key in missing)}")
        assert type(made) is pruner
    assert pruner_of("cost_complexity_cv:rule=min,folds=5,stratified=no") == tw.pruning.CostComplexityCV(
        rule="min", folds=5, stratified=False
    )
    assert pruner_of("none") is None


def test_every_exporter_is_a_format(saved: Path) -> None:
    assert {"json", "sql", "c", "python", "javascript", "rust"} <= set(formats())
    for form in formats():
        result = treewright("export", "tree.json", "--to", form, "-o", f"out.{form}", folder=saved)
        assert result.exit_code == 0, result.output
        assert (saved / f"out.{form}").stat().st_size > 0
    assert tw.load(saved / "out.json") == tw.load(saved / "tree.json")
    for dialect in ("postgres", "postgresql", "sqlite"):
        assert treewright("export", "tree.json", "--to", "sql", "--dialect", dialect, folder=saved).exit_code == 0
    sql = treewright("export", "tree.json", "--to", "sql", "--table", "'people.csv'", folder=saved)
    assert sql.stdout.rstrip("\n") == tw.export.sql(tw.load(saved / "tree.json"), table="'people.csv'").rstrip("\n")
    assert (
        "has no setting 'colour'"
        in treewright("export", "tree.json", "--to", "c", "--set", "colour=red", folder=saved).stderr
    )


def test_compare_has_one_line_for_each(folder: Path) -> None:
    result = json_of(
        "compare", "people.csv", "-t", "score", "--folds", 3, "--prunings", "none,pessimistic", folder=folder
    )
    found = {(row["algorithm"], row["pruning"]) for row in result["results"]}
    assert found == {(a, p) for a in ("id3", "c4.5", "cart", "chaid") for p in ("none", "pessimistic")}
    values = [row["value"] for row in result["results"] if "value" in row]
    assert values == sorted(values, reverse=True)
    numbers = json_of(
        "compare", "people.csv", "-t", "age", "--folds", 3, "--prunings", "none,pessimistic", folder=folder
    )
    refused = {(row["algorithm"], row["pruning"]) for row in numbers["results"] if "refused" in row}
    assert ("c4.5", "none") in refused
    assert ("cart", "pessimistic") in refused
    assert ("cart", "none") not in refused
    assert "not possible" in treewright("compare", "people.csv", "-t", "age", "--folds", 2, folder=folder).stdout


# --- folds ------------------------------------------------------------------------------------------------------------


@given(st.integers(10, 60), st.integers(2, 5), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_rows_are_set_aside_by_value_and_by_class(n: int, folds: int, seed: int) -> None:
    numbers, classes = np.arange(n, dtype=float), (np.arange(n) % 2).astype(np.int32)
    rows = Encoded((numbers,), (0,), (0,), n, classes, 2)
    masks = np.array([fold.test for fold in random_folds(rows, folds, seed)])
    assert (masks.sum(axis=0) == 1).all(), "every row is tested once"
    for code in (0, 1):
        sizes = masks[:, classes == code].sum(axis=1)
        assert sizes.max() - sizes.min() <= 1
    shuffled = np.random.default_rng(seed).permutation(n)
    other = Encoded((numbers[shuffled],), (0,), (0,), n, classes[shuffled], 2)
    assert (set_aside(other, 0.3, seed) == set_aside(rows, 0.3, seed)[shuffled]).all(), "the order of rows is nothing"
    assert abs(set_aside(rows, 0.3, seed).sum() - 0.3 * n) <= 1


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("lern people.csv", 2, "there is no command 'lern'; did you mean 'learn'?"),
        ("learn people.csv", 2, "give the column to predict with --target; people.csv has 'age'"),
        ("learn people.csv -t scor", 1, "did you mean 'score'?"),
        ("learn peple.csv -t score", 1, "there is no file 'peple.csv'; did you mean 'people.csv'?"),
        ("learn people.csv -t score --kind age=big", 2, "there is no kind 'big'"),
        ("learn people.csv -t score --kind age", 2, "write NAME=KIND"),
        ("learn people.csv -t score --kind city=numeric", 1, "'north' is not a number"),
        ("learn people.csv -t score --criterion gin", 2, "'gin' is not known; choose from information-gain"),
        ("learn people.csv -t score --pruning cost-complexity", 2, "cost-complexity needs alpha"),
        ("learn people.csv -t score --pruning error-based:confidenc=1", 2, "its settings are confidence"),
        ("learn people.csv -t score --branching merge", 2, "--algorithm chaid"),
        ("learn people.csv -t age -a c4.5 --task regression", 1, "use --algorithm cart or chaid"),
        ("learn people.csv -t score --folds 3 --holdout 0.5", 2, "give one of --test, --holdout and --folds"),
        ("learn people.csv -t score --costs {yes", 2, "is not JSON"),
        ("show people.csv", 1, "Trees are saved with: treewright learn"),
        ("predict tree.json people.csv --drop age", 1, "people.csv lacks 'age', which the tree was learned from"),
        ("predict tree.json people.csv -o out.xyz", 2, "name it .csv, .tsv, .jsonl or .parquet"),
        ("predict tree.json people.csv --keep nobody", 1, "there is no column 'nobody' to keep"),
        ("predict tree.json people.csv -o nowhere/out.csv", 1, "no such file or directory"),
        ("explain tree.json --row agee=3", 1, "the tree has no column 'agee'"),
        ("explain tree.json", 2, "give a row"),
        ("export tree.json --to cobol", 2, "there is no format 'cobol'; choose from"),
        ("prune tree.json", 1, "give them with --data FILE"),
        ("prune tree.json -m reduced-error", 1, "give them with --data FILE"),
        ("prune tree.json -m error-based", 1, "give them with --data FILE, or use error-based:raising=no"),
        ("export tree.json --to sql --dialect oracle", 1, "choose from 'standard', 'duckdb', 'postgresql'"),
        ("compare people.csv -t score --algorithms c5", 2, "there is no algorithm 'c5'"),
    ],
)
def test_errors_are_one_line_with_a_remedy(saved: Path, arguments: str, code: int, message: str) -> None:
    result = treewright(*arguments.split(), folder=saved)
    assert (result.exit_code, message in result.stderr) == (code, True), result.output
    assert "Traceback" not in result.output
    assert result.stderr.rstrip().splitlines()[-1].startswith("Error: ")


def test_colour_only_where_it_is_wanted(saved: Path) -> None:
    def shown(**environment: str) -> str:
        clean = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR"}}
        command = [sys.executable, "-m", "treewright", "show", "tree.json"]
        return subprocess.run(
            command, cwd=saved, env={**clean, **environment}, capture_output=True, text=True, check=True
        ).stdout

    assert "\x1b[" not in shown()
    assert "\x1b[" in shown(FORCE_COLOR="1")
    assert "\x1b[" not in shown(FORCE_COLOR="1", NO_COLOR="1")


def test_debug_shows_where_an_error_came_from(saved: Path) -> None:
    command = [sys.executable, "-m", "treewright", "--debug", "show", "people.csv"]
    done = subprocess.run(command, cwd=saved, capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr


def test_whoever_has_seen_enough_may_go(saved: Path) -> None:
    rows = (saved / "people.csv").read_text()
    (saved / "long.csv").write_text(rows + rows.partition("\n")[2] * 400)
    command = f"{sys.executable} -m treewright predict tree.json long.csv | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=saved, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("prediction\n", "")


def test_ctrl_c_ends_silently_and_leaves_nothing(saved: Path) -> None:
    (saved / "pipe.py").write_text("import time\nprint('age,city,zip', flush=True)\ntime.sleep(300)\n")
    reader = subprocess.Popen([sys.executable, "pipe.py"], cwd=saved, stdout=subprocess.PIPE)
    command = [sys.executable, "-m", "treewright", "predict", "tree.json", "-", "-o", "out.csv"]
    (saved / "spool").mkdir()
    process = subprocess.Popen(
        command,
        cwd=saved,
        env={**os.environ, "TMPDIR": str(saved / "spool")},
        stdin=reader.stdout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        for _ in range(1200):
            if list((saved / "spool").glob("*/*")):  # it waits for its input
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=90)
    finally:
        process.kill()
        reader.kill()
        reader.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not list(saved.glob("*out.csv*"))
    assert not list((saved / "spool").iterdir())


def test_progress_is_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("work", 10) as tell:
        tell(5)
    assert capsys.readouterr() == ("", "")


# --- real tables ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not SHARED.exists(), reason="the shared tables are not here")
@pytest.mark.parametrize(
    ("name", "target", "options"),
    [
        ("titanic", "survived", "--drop boat,body -a c4.5"),
        ("iris", "class", ""),
        ("penguins", "species", "-a chaid"),
        ("abalone", "Class_Rings", "-a chaid"),
        ("vote", "Class", "-a c4.5 --holdout 0.3"),
        ("weather-nominal", "play", "-a id3"),
        ("taxis", "payment", "--max-depth 4 --pruning none"),
    ],
)
def test_real_tables(tmp_path: Path, name: str, target: str, options: str) -> None:
    import pyarrow.parquet

    path = SHARED / f"{name}.parquet"
    columns = pyarrow.parquet.read_schema(path).names
    target = next((column for column in columns if column.lower() == target.lower()), columns[-1])
    result = treewright("learn", path, "-t", target, *options.split(), "-s", tmp_path / "tree.json")
    assert result.exit_code == 0, result.output
    answered = treewright("predict", tmp_path / "tree.json", path, "-o", tmp_path / "out.csv")
    assert answered.exit_code == 0, answered.output


def test_a_page_of_a_holdout_names_rows_as_the_file_does(tmp_path: Path) -> None:
    lines = ["x,y", *(f"{i},{'' if i % 10 == 3 else 'ab'[i > 60]}" for i in range(120))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    page = tmp_path / "r.html"
    json_of("learn", "rows.csv", "-t", "y", "--holdout", "0.3", "--report", "r.html", folder=tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "<title>y, rows.csv</title>" in text
    rows = json.loads(re.search(r'id="treewright-report">(.*?)</script>', text, re.DOTALL)[1])["rows"]
    # x is the number of the row in the file.
    assert rows["row"] == rows["values"][0]
    json_of("learn", "rows.csv", "-t", "y", "--report", "r.html", "--title", "Who <pays>?", folder=tmp_path)
    assert "<title>Who &lt;pays&gt;?</title>" in page.read_text(encoding="utf-8")


def test_a_query_is_run_only_with_its_option(folder: Path) -> None:
    query = "SELECT * FROM 'people.csv'"
    assert "--sql" in treewright("learn", query, "-t", "score", folder=folder).stderr
    assert treewright("learn", "--sql", query, "-t", "score", "-s", "a.json", folder=folder).exit_code == 0
    assert treewright("learn", "people.csv", "-t", "score", "-s", "b.json", folder=folder).exit_code == 0
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()
    by_query = treewright("predict", "a.json", "--sql", query, folder=folder).stdout
    assert by_query == treewright("predict", "a.json", "people.csv", folder=folder).stdout


def test_decimal_commas_and_the_order_of_days_are_options(tmp_path: Path) -> None:
    rows = "".join(f"{day:02}/03/2020;{day},5;{'ab'[day > 6]}\n" for day in range(1, 13))
    (tmp_path / "rows.csv").write_text("day;size;y\n" + rows)
    learn = ("learn", "rows.csv", "-t", "y", "-s", "tree.json", "--kind", "y=nominal")
    assert "--day-first" in treewright(*learn, folder=tmp_path).stderr
    assert "--decimal ','" in treewright(*learn, "--month-first", folder=tmp_path).stderr
    json_of = treewright(*learn, "--day-first", "--decimal", ",", folder=tmp_path).stdout
    assert "2020-03-01 to 2020-03-12" in json_of
    assert "1.5 to 12.5" in json_of
    predict = ("predict", "tree.json", "rows.csv")
    assert treewright(*predict, folder=tmp_path).stdout.split() == ["prediction", *"aaaaaabbbbbb"]
    assert treewright(*predict, "--decimal", ".", folder=tmp_path).exit_code == 1


def test_unseen_levels_are_one_line_beside_the_predictions(saved: Path) -> None:
    lines = (saved / "people.csv").read_text().splitlines()
    place = lines[0].split(",").index("city")
    row = lines[1].split(",")
    row[place] = "Atlantis"
    (saved / "new.csv").write_text("\n".join([lines[0], ",".join(row), ",".join(row)]) + "\n")
    result = treewright("predict", "tree.json", "new.csv", folder=saved)
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr.count("\n") == 1
    assert "column 'city' in 2 rows (for example 'Atlantis')" in result.stderr
