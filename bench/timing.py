"""Timing: contenders take turns, so that whatever else the machine does hits all alike; every run is kept.

The figure of a record is its best run; nothing is run twice that failed or has used up its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workers import WAITING, Failure, Workers

PREPARE_LIMIT = 90.0  # seconds


@dataclass(frozen=True)
class Record:
    """What one contender did in one case of a section; `unit` says what runs are, `load` how busy the machine was."""

    section: str
    case: str
    contender: str
    runs: tuple[float, ...] = ()
    score: float | None = None
    failure: str = ""
    unit: str = "s"
    exact: bool = True
    load: float | None = None

    @property
    def best(self) -> float | None:
        return min(self.runs) if self.runs else None

    def line(self) -> str:
        if self.best is None:
            return f"  {self.case:34} {self.contender:20} {self.failure}"
        score = "" if self.score is None else f"{self.score:8.4f}"
        runs = " ".join(_short(run) for run in self.runs)
        return f"  {self.case:34} {self.contender:20} {_short(self.best):>9} {self.unit}{score}   ({runs})"


def _short(number: float) -> str:
    return f"{number:.3g}" if number < 0.1 else f"{number:.3f}" if number < 100 else f"{number:.0f}"


Question = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Asked:
    """A contender's place in a case: what it does before it is timed, what is timed, and whether its tree is exact."""

    contender: str
    prepare: Question
    question: Question
    exact: bool = True
    refusal: str = ""


def interleaved(
    workers: Workers, section: str, case: str, asked: list[Asked], repeats: int, limit: float, unit: str = "s"
) -> Iterator[Record]:
    """Ask everybody once, then again, each time under the other way of waiting. Who is slow is asked less often."""
    runs: dict[str, list[float]] = {a.contender: [] for a in asked}
    scores: dict[str, float | None] = {}
    failures: dict[tuple[str, str], str] = {}
    for repeat in range(repeats):
        waiting = WAITING[repeat % len(WAITING)]
        for a in asked:
            name = a.contender
            if a.refusal or {(name, waiting), (name, WAITING[0])} & set(failures) or sum(runs[name]) > limit / 2:
                continue
            result = _answer(workers, a, limit, waiting)
            if isinstance(result, Failure):
                failures[name, waiting] = result.reason
                continue
            runs[name].append(result["seconds" if unit == "s" else "tables"])
            print(f"    {case}, {name}: {_short(runs[name][-1])} {unit}", flush=True)
            scores[name] = result["score"]
    for a in asked:
        name = a.contender
        failure = "" if runs[name] else a.refusal or failures.get((name, WAITING[0]), "")
        yield Record(section, case, name, tuple(runs[name]), scores.get(name), failure, unit, a.exact)


def _answer(workers: Workers, a: Asked, limit: float, waiting: str) -> Any:
    """Importing, reading the table and a first small fit, or building a predictor, come before the time."""
    ready = workers.ask(a.contender, PREPARE_LIMIT, a.prepare[0], *a.prepare[1], waiting=waiting)
    if isinstance(ready, Failure):
        return ready
    return workers.ask(a.contender, limit, a.question[0], *a.question[1], waiting=waiting)
