"""The workbook, calculated by LibreOffice: its predictions are those of `predict`."""

from __future__ import annotations

import math
import shutil
import subprocess
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from export_cases import POLICIES, Case, learned_case, model_tree_case, modelled_case, random_case
from handmade_trees import Question, fork, leaf, tennis, tree
from sql_engines import plain_environment
from test_export_code import LINEAR, microseconds

import treewright as tw
from treewright.data.schema import TIME_KINDS, ColumnSpec, Schema, TargetSpec
from treewright.errors import ExportError

_OFFICE = shutil.which("soffice") or shutil.which("libreoffice")
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

Row = tuple[Any, list[float] | None, int | None]


def calculated(cases: list[Case], folder: Path) -> list[list[Row]]:
    """The prediction, probabilities and node of each row, as LibreOffice calculates them; None for #N/A."""
    for i, case in enumerate(cases):
        (folder / f"tree{i}.xlsx").write_bytes(tw.export.excel(case.tree, case.rows.to_pylist()))
    out = folder / "out"
    command = [str(_OFFICE), "--headless", f"-env:UserInstallation={(folder / 'profile').as_uri()}"]
    command += [
        "--convert-to",
        "xlsx",
        "--outdir",
        str(out),
        *(str(folder / f"tree{i}.xlsx") for i in range(len(cases))),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=300, env=plain_environment())
    return [read(out / f"tree{i}.xlsx", case) for i, case in enumerate(cases)]


def read(path: Path, case: Case) -> list[Row]:
    with zipfile.ZipFile(path) as archive:
        shared = ET.fromstring(archive.read("xl/sharedStrings.xml"))
        texts = ["".join(t.text or "" for t in item.iter(f"{_MAIN}t")) for item in shared.iter(f"{_MAIN}si")]
        rows = list(ET.fromstring(archive.read("xl/worksheets/sheet1.xml")).iter(f"{_MAIN}row"))
    width = len(case.tree.schema.target.classes or ())
    found = []
    for row in rows[1:]:
        cells = {str(cell.get("r")).rstrip("0123456789"): cell for cell in row.iter(f"{_MAIN}c")}
        columns = sorted(cells, key=lambda name: (len(name), name))[-(2 + width) :]
        prediction, *shares, node = (value(cells[name], texts) for name in columns)
        found.append((prediction, shares or None, None if node is None else int(node)))
    return found


def value(cell: ET.Element, texts: list[str]) -> Any:
    kind, text = cell.get("t"), cell.findtext(f"{_MAIN}v") or ""
    if kind == "e":
        assert text == "#N/A"
        return None
    if kind == "s":
        return texts[int(text)]
    return bool(int(text)) if kind == "b" else text if kind == "str" else float(text)


def same(found: Any, wanted: Any) -> bool:
    """Equal; LibreOffice writes numbers with 15 digits, though the workbook has all of them."""
    if isinstance(wanted, (list, tuple)):
        return isinstance(found, (list, tuple)) and len(found) == len(wanted) and all(map(same, found, wanted))
    return found == wanted or (isinstance(wanted, float) and found == pytest.approx(wanted, rel=1e-14, abs=0))


def several_paths(case: Case) -> list[bool]:
    return [len(tw.explain_row(case.tree, row).paths) > 1 for row in case.rows.to_pylist()]


def expected(case: Case) -> list[Row]:
    shares: list[Any] = case.probabilities or [None] * len(case.prediction)
    rows = zip(case.prediction, shares, case.leaf, several_paths(case), strict=True)
    width = len(case.tree.schema.target.classes or ())
    nothing: Row = (None, [None] * width if width else None, None)
    return [nothing if several else (prediction, share, node) for prediction, share, node, several in rows]


def without_neighbours(case: Case) -> Case:
    """Rows without values that differ from a breakpoint in the 16th digit, or times in microseconds.

    A spreadsheet cannot tell them apart.
    """
    breaks = case.tree.arrays["breaks"].tolist()

    def is_clear(given: Any) -> bool:
        number = microseconds(given)
        if isinstance(given, (str, bool)) or given is None or math.isnan(number):
            return True
        near = [x for x in breaks if x != number and abs(x - number) <= 1e-12 * abs(x)]
        return not near if number is given else not any(abs(x - number) < 1000 and x != number for x in breaks)

    keep = [all(map(is_clear, row.values())) for row in case.rows.to_pylist()]
    return Case(case.name, case.tree, case.rows.filter(keep))


def exportable(case: Case) -> bool:
    try:
        tw.export.excel(case.tree, 1)
    except ExportError:
        return False
    return True


@pytest.mark.skipif(_OFFICE is None, reason="LibreOffice is not installed")
def test_libreoffice_calculates_what_predict_returns(tmp_path: Path) -> None:
    """Made-up trees of every kind of split and policy, and learned ones."""
    made = [random_case(seed, n_rows=15) for seed in (0, 2, 5, 9, 11, 14, 17, 23)]
    made += [learned_case(seed, policy) for seed, policy in enumerate(POLICIES) if policy != "refuse"]
    cases = [case for case in map(without_neighbours, filter(exportable, made)) if case.rows.num_rows]
    assert len(cases) > 6
    for case, found in zip(cases, calculated(cases, tmp_path), strict=True):
        assert same(found, expected(case)), case.name


@pytest.mark.skipif(_OFFICE is None, reason="LibreOffice is not installed")
def test_libreoffice_calculates_linear_models(tmp_path: Path) -> None:
    """Sums are written with 15 digits and moments are days, so that the last digits differ."""
    made = [modelled_case(seed, n_rows=15) for seed in range(12)]
    made += [learned_case(seed, policy, LINEAR) for seed, policy in enumerate(POLICIES) if policy != "refuse"]
    made += [model_tree_case(recipe) for recipe in ("M5", "PILOT")]
    cases = [case for case in map(without_neighbours, filter(exportable, made)) if case.rows.num_rows]
    assert len(cases) > 6
    for case, found in zip(cases, calculated(cases, tmp_path), strict=True):
        timed = {spec.kind for spec in case.tree.schema.columns} & TIME_KINDS
        for (prediction, _, node), (wanted, _, end) in zip(found, expected(case), strict=True):
            assert node == end
            assert prediction == (
                None if wanted is None else pytest.approx(wanted, rel=1e-12, abs=1e-9 if timed else 1e-12)
            )


@pytest.mark.skipif(_OFFICE is None, reason="LibreOffice is not installed")
def test_rows_that_predict_refuses_have_no_prediction(tmp_path: Path) -> None:
    table = {"x": ["a", "b", "c", "a"], "z": [1, 2, 3, 4], "y": [1.5, 2.5, 3.5, 4.5]}
    recipe = tw.CART.with_(pruning=None, missing=tw.missing.RefuseMissing(), min_samples_split=2, min_samples_leaf=1)
    grown = tw.learn(table, "y", replace(recipe, unseen="error"))
    rows = [{"x": "a", "z": 1}, {"x": None, "z": 1}, {"x": "A", "z": 1}, {"x": "b", "z": None}]
    used = {node.split.column for node in grown if node.split is not None}
    import pyarrow as pa

    found = calculated([Case("refused", grown, pa.Table.from_pylist(rows))], tmp_path)[0]
    missing = {"x": 1, "z": 3}
    assert found[0][0] == tw.predict(grown, {"x": ["a"], "z": [1]}).tolist()[0]
    for column in used:
        assert found[missing[column]][0] is None
    assert found[2][0] is None or "x" not in used


def test_the_file_is_the_same_every_time_and_needs_no_rows() -> None:
    assert tw.export.excel(tennis()) == tw.export.excel(tennis())
    with zipfile.ZipFile(__import__("io").BytesIO(tw.export.excel(tennis(), 2))) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert sheet.count("COUNTA") == 2


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (("a", "b\x00"), "characters that no spreadsheet holds"),
        (("a", ""), "a spreadsheet takes for a missing value"),
        ((1, 10**15), "15 digits"),
        (("a", 1), "both text"),
    ],
)
def test_what_no_cell_can_hold_is_refused(levels: tuple[Any, ...], message: str) -> None:
    schema = Schema((ColumnSpec("x", "nominal", levels),), TargetSpec("y", "classification", ("n", "p")))
    with pytest.raises(ExportError, match=message):
        tw.export.excel(tree(fork(Question(0, (0, 1)), leaf(1, 0), leaf(0, 1)), schema))


@pytest.mark.parametrize("name", ["half\ud800", "\0", "x" * 40_000])
def test_names_that_no_cell_can_hold_are_refused(name: str) -> None:
    with pytest.raises(ExportError, match=r"the name of the column .* has characters that no spreadsheet holds"):
        tw.export.excel(tw.learn({name: [1, 2, 3, 4], "y": list("aabb")}, "y", "sklearn"))
    with pytest.raises(ExportError, match="the name of the target"):
        tw.export.excel(tw.learn({"x": [1, 2, 3, 4], name: list("aabb")}, name, "sklearn"))


def test_a_moment_with_an_offset_is_written_in_utc() -> None:
    moments = [datetime(2020, 1, 1, hour, tzinfo=UTC) for hour in range(4)]
    grown = tw.learn({"at": moments, "y": list("aabb")}, "y", "sklearn")
    there = [{"at": moment.astimezone(timezone(timedelta(hours=5)))} for moment in moments]
    assert tw.export.excel(grown, there) == tw.export.excel(grown, [{"at": moment} for moment in moments])


def test_a_tree_too_large_for_a_sheet_is_refused() -> None:
    x = list(range(17_000))
    grown = tw.learn({"x": x, "y": [float(i % 2) for i in x]}, "y", "sklearn", task="regression")
    with pytest.raises(ExportError, match="a spreadsheet has 16,384"):
        tw.export.excel(grown, 1)
