"""The report: records kept in a file, the table of ratios as Markdown, and its place in docs/benchmarks.md.

A section that runs again replaces the whole section, so that a ratio never mixes two runs.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from must_show import OWN, Shown, shown
from timing import Record

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


# --- kept -------------------------------------------------------------------------------------------------------------


def path_of(quick: bool) -> Path:
    return RESULTS / ("quick.json" if quick else "full.json")


def kept(path: Path) -> list[Record]:
    if not path.is_file():
        return []
    return [
        Record(**{**written, "runs": tuple(written["runs"])}) for written in json.loads(path.read_text())["records"]
    ]


def keep(path: Path, section: str, records: Sequence[Record]) -> None:
    """The section's records in place of its earlier ones, with the load of the last minute: ours alone is about 2."""
    load = round(os.getloadavg()[0], 1)
    together = [r for r in kept(path) if r.section != section] + [replace(r, load=load) for r in records]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "records": [asdict(r) for r in together]}, indent=1) + "\n")


def machine() -> str:
    """One neutral line: what the figures depend on and nothing else."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB of memory, {platform.machine()}, Python {platform.python_version()}"
    )


# --- Markdown ---------------------------------------------------------------------------------------------------------


def markdown(records: Sequence[Record], versions: dict[str, str]) -> str:
    """Everything the page shows of a run."""
    parts = [f"Measured on {machine()}; {', '.join(f'{name} {v}' for name, v in versions.items())}."]
    parts.append(_promises(shown(records)))
    for section in dict.fromkeys(r.section for r in records):
        rows = [r for r in records if r.section == section]
        if section == "impurity":
            continue
        load = "unknown" if rows[0].load is None else f"{rows[0].load:g}"
        parts.append(f"### {section}\n\nLoad of the machine: {load}.\n\n{_section(rows)}")
    return "\n\n".join(parts)


def _promises(promises: Sequence[Shown]) -> str:
    lines = ["| what | wanted | reached | | measured |", "|---|---|---|---|---|"]
    for p in promises:
        met = "" if p.met is None else "met" if p.met else "not met"
        figure = "not measured" if p.figure is None else f"{p.figure:.3g}"
        lines.append(f"| {p.promise} | {p.wanted} | {figure} | {met} | {p.against} |")
    return "\n".join(lines)


def _section(records: Sequence[Record]) -> str:
    """Contenders as rows, cases as columns: the figure, the score, and how many times ours it takes."""
    cases = list(dict.fromkeys(r.case for r in records))
    contenders = list(dict.fromkeys(r.contender for r in records))
    by_place = {(r.contender, r.case): r for r in records}
    unit = next((r.unit for r in records if r.runs), "")
    lines = [f"| {unit} | {' | '.join(cases)} |", "|---" * (len(cases) + 1) + "|"]
    for contender in contenders:
        cells = [_cell(by_place.get((contender, case)), by_place.get(("treewright", case))) for case in cases]
        lines.append(f"| {contender} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(record: Record | None, ours: Record | None) -> str:
    if record is None:
        return ""
    if record.best is None:
        return record.failure
    cell = f"{record.best:.3g}"
    if record.contender not in OWN and ours is not None and ours.best and record.unit == "s":
        cell += f" ({record.best / ours.best:.2g} x)"
    if record.score is not None:
        cell += f", {record.score:.4f}"
    return cell


# --- the page ---------------------------------------------------------------------------------------------------------


def write_page(text: str) -> None:
    """Replace the marked block of the page; everything else is written by hand."""
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
