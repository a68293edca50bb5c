"""The record of long runs: the seeds and the number of distinct failures. The figures in the docs add it up."""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from pathlib import Path

RECORD = Path(__file__).parent / "runs.csv"


@dataclass(frozen=True)
class Run:
    """Seeds `first_seed` to `first_seed + cases - 1` of one kind. All `distinct_failures` are fixed since."""

    date: str
    kind: str
    first_seed: int
    cases: int
    distinct_failures: int


def read_runs(path: Path = RECORD) -> list[Run]:
    """The runs in the record."""
    with path.open(newline="") as file:
        return [
            Run(row["date"], row["kind"], *(int(row[name]) for name in ("first_seed", "cases", "distinct_failures")))
            for row in csv.DictReader(file)
        ]


def add_run(kind: str, first_seed: int, cases: int, distinct_failures: int, path: Path = RECORD) -> None:
    """Append a run of today."""
    is_new = not path.exists()
    run = Run(dt.datetime.now(dt.UTC).date().isoformat(), kind, first_seed, cases, distinct_failures)
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow([field.name for field in fields(Run)])
        writer.writerow(astuple(run))


def total(runs: list[Run], kind: str) -> tuple[int, int]:
    """How many cases of a kind were run, and how many distinct failures they had."""
    own = [run for run in runs if run.kind == kind]
    return sum(run.cases for run in own), sum(run.distinct_failures for run in own)


def overlapping(runs: list[Run]) -> list[tuple[Run, Run]]:
    """Runs that share seeds, which would be counted twice."""
    ordered = sorted(runs, key=lambda run: (run.kind, run.first_seed))
    return [(a, b) for a, b in pairwise(ordered) if a.kind == b.kind and a.first_seed + a.cases > b.first_seed]
