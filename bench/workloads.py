"""The workloads: which tables, which depths, who takes part.

Within a case everybody gets the same stored table, the same depth and the same number of threads. A table or a
library that is not here is said so, and the rest goes on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import by_criterion
import exactness
import jobs
import tables
from jobs import CONTENDERS, EVERYBODY
from predictors import PREDICTORS
from tables import Table
from timing import Asked, Record, interleaved
from workers import Failure, Workers

THREADS = 2
LARGE = ("treewright", "SnapML", "oneDAL", "XGBoost", "LightGBM", "scikit-learn")
LEVELS = ("treewright", "LightGBM", "XGBoost", "CatBoost", "YDF")


@dataclass(frozen=True)
class Scale:
    """How large and how often. The limit is in seconds for one fit; who is over it is stopped."""

    rows: int = 200_000
    real_rows: int = 10**9
    repeats: int = 6
    limit: float = 20
    growth_rows: tuple[int, ...] = (10**4, 10**5, 10**6, 10**7)
    growth_columns: tuple[int, ...] = (10, 100, 1000)
    growth_classes: tuple[int, ...] = (2, 10, 100)
    growth_levels: tuple[int, ...] = (2, 100, 10_000)
    many_rows: int = 1_000_000
    fits: int = 200


FULL = Scale()
QUICK = Scale(
    rows=10_000,
    real_rows=10_000,
    repeats=1,
    limit=2,
    growth_rows=(10**3, 10**4, 10**5),
    growth_columns=(10, 100),
    growth_classes=(2, 20),
    growth_levels=(2, 1000),
    many_rows=20_000,
    fits=20,
)


@contextmanager
def stored(table: Table) -> Iterator[Path]:
    """The table in a folder that lives as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="treewright-bench-") as folder:
        yield tables.store(table, Path(folder) / "table")


def named(depth: int | None) -> str:
    return f"depth {depth}" if depth else "unlimited"


# --- fits -------------------------------------------------------------------------------------------------------------


def _places(
    job: Callable[..., dict[str, Any]], table: Table, folder: Path, depth: int | None, names: Any, *more: Any
) -> list[Asked]:
    places = []
    for name in names:
        contender = CONTENDERS[name]
        refusal = contender.refuses(table, depth) if contender.available else "not available"
        question = job, (name, folder, depth, THREADS, *more)
        places.append(Asked(name, (jobs.warm, (name, folder, THREADS)), question, contender.exact, refusal))
    return places


def _fits(
    section: str, table: Table | None, depths: tuple[int | None, ...], scale: Scale, workers: Workers
) -> Iterator[Record]:
    if table is None:
        yield Record(section, section, "everybody", failure="the table is not here")
        return
    with stored(table) as folder:
        for depth in depths:
            places = _places(jobs.fit, table, folder, depth, EVERYBODY)
            yield from interleaved(workers, section, named(depth), places, scale.repeats, scale.limit)


def two_class(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _fits("two-class", tables.made(scale.rows), (10, None), scale, workers)


def two_class_float64(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _fits("two-class-float64", tables.made(scale.rows).as_type("float64"), (10,), scale, workers)


def regression(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _fits("regression", tables.made(scale.rows, classes=0), (10, None), scale, workers)


def _real(name: str, depths: tuple[int | None, ...], scale: Scale, workers: Workers) -> Iterator[Record]:
    table = tables.real(name)
    return _fits(name, table and table.first(scale.real_rows), depths, scale, workers)


def covertype(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _real("covertype", (10, None), scale, workers)


def flights(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _real("flights", (10, None), scale, workers)


def adult(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _real("adult", (10, None), scale, workers)


def levels(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _fits("levels", tables.made_mixed_levels(scale.rows), (10, None), scale, workers)


def iris(scale: Scale, workers: Workers) -> Iterator[Record]:
    """The latency of a small fit; one thread is not asked for, because users do not ask for it."""
    table = tables.real("iris")
    if table is None:
        yield Record("iris", "iris", "everybody", failure="the table is not here")
        return
    with stored(table) as folder:
        places = _places(jobs.fit_latency, table, folder, 10, EVERYBODY, scale.fits)
        yield from interleaved(workers, "iris", "median of many fits", places, scale.repeats, scale.limit)


# --- CART against itself ----------------------------------------------------------------------------------------------

VALIDATED = ("adult", "diamonds", "covertype", "flights")


def cross_validation(scale: Scale, workers: Workers) -> Iterator[Record]:
    """Cross-validated CART, eleven trees, beside one unpruned tree that keeps rivals and surrogates."""
    for name in VALIDATED:
        table = tables.real(name)
        if table is None:
            yield Record("cross-validation", name, "everybody", failure="the table is not here")
            continue
        table = table.first(scale.real_rows)
        with stored(table) as folder:
            places = _places(jobs.fit, table, folder, None, ("CART, unpruned", "CART, cross-validated"))
            yield from interleaved(workers, "cross-validation", name, places, min(scale.repeats, 4), scale.limit * 6)


def rivals(scale: Scale, workers: Workers) -> Iterator[Record]:
    """CART with the rivals of every node it keeps, and without."""
    names = ("CART, cross-validated", "CART, cross-validated, no rivals", "CART, unpruned", "CART, unpruned, no rivals")
    for case, classes in (("two classes", 2), ("numbers", 0)):
        table = tables.made(scale.rows, classes=classes)
        with stored(table) as folder:
            places = _places(jobs.fit, table, folder, 10, names)
            yield from interleaved(workers, "rivals", case, places, min(scale.repeats, 4), scale.limit * 3)


def criteria(scale: Scale, workers: Workers) -> Iterator[Record]:
    """Every criterion by histograms, and value by value."""
    for case, (target, _) in by_criterion.CASES.items():
        with stored(by_criterion.table_of(target, scale.rows)) as folder:
            places = [
                Asked(
                    name,
                    (jobs.grow_by, (case, folder, False, THREADS)),
                    (jobs.grow_by, (case, folder, by, THREADS)),
                )
                for name, by in (("by histogram", False), ("value by value", True))
            ]
            yield from interleaved(workers, "criteria", case, places, min(scale.repeats, 2), scale.limit * 6)


# --- growth -----------------------------------------------------------------------------------------------------------


def _growth(
    section: str, cases: Any, names: tuple[str, ...], scale: Scale, workers: Workers, patience: float = 1
) -> Iterator[Record]:
    """Larger and larger: who would be over the limit at the next size, going by the last, takes no part."""
    last: dict[str, tuple[float, int]] = {}
    gone: dict[str, str] = {}
    for case, size, make in cases:
        table = make()
        with stored(table) as folder:
            del table
            known = tables.load(folder)
            for name, (seconds, before) in last.items():
                if name != "treewright" and seconds * size / before > scale.limit:
                    gone[name] = f"would take over {scale.limit:g} s"
            places = [p for p in _places(jobs.fit, known, folder, 10, names) if p.contender not in gone]
            limit = scale.limit * patience
            for record in interleaved(workers, section, case, places, min(scale.repeats, 3), limit):
                if record.best is None:
                    gone[record.contender] = record.failure
                else:
                    last[record.contender] = record.best, size
                yield record
            for name, reason in gone.items():
                if name not in {place.contender for place in places}:
                    yield Record(section, case, name, failure=reason)


def growth_rows(scale: Scale, workers: Workers) -> Iterator[Record]:
    cases = ((f"{n:,} rows x 28", n, lambda n=n: tables.made(n)) for n in scale.growth_rows)
    return _growth("growth-rows", cases, LARGE, scale, workers, patience=4)


def growth_columns(scale: Scale, workers: Workers) -> Iterator[Record]:
    rows = scale.rows // 10
    cases = ((f"{rows:,} rows x {n:,}", n, lambda n=n: tables.made(rows, n)) for n in scale.growth_columns)
    return _growth("growth-columns", cases, LARGE, scale, workers)


def growth_classes(scale: Scale, workers: Workers) -> Iterator[Record]:
    rows = scale.rows // 4
    cases = ((f"{n:,} classes", 1, lambda n=n: tables.made(rows, 28, n)) for n in scale.growth_classes)
    return _growth("growth-classes", cases, LARGE, scale, workers)


def growth_levels(scale: Scale, workers: Workers) -> Iterator[Record]:
    rows = scale.rows // 2
    cases = ((f"{n:,} levels", 1, lambda n=n: tables.made_levels(rows, 5, n)) for n in scale.growth_levels)
    return _growth("growth-levels", cases, LEVELS, scale, workers)


# --- memory, prediction, threads --------------------------------------------------------------------------------------


def memory(scale: Scale, _workers: Workers) -> Iterator[Record]:
    """Each in a fresh process, so that nobody inherits what an earlier fit has left."""
    table = tables.made(scale.many_rows)
    names = ("treewright", "treewright learn", *(name for name in LARGE if name != "treewright"))
    with stored(table) as folder:
        for place in _places(jobs.fit_memory, table, folder, 10, names):
            with Workers() as fresh:
                yield from interleaved(fresh, "memory", table.shape, [place], 1, scale.limit * 3, "tables")


def _predictions(
    section: str, depths: tuple[int | None, ...], rows: int, times: int, scale: Scale, workers: Workers
) -> Iterator[Record]:
    table = tables.made(scale.many_rows)
    with stored(table) as folder:
        for depth in depths:
            places = []
            for name, predictor in PREDICTORS.items():
                refusal = "" if predictor.available else "not available"
                if predictor.compiles and depth is None:
                    refusal = refusal or "takes minutes to compile"
                prepare = jobs.build, (name, folder, depth, THREADS)
                question = jobs.predict, (name, folder, depth, THREADS, rows, times)
                places.append(Asked(name, prepare, question, refusal=refusal))
            case = f"{rows:,} row{'s' if rows > 1 else ''}, {named(depth)}"
            yield from interleaved(workers, section, case, places, scale.repeats, scale.limit)


def predict_many(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _predictions("predict-many", (10, None), scale.many_rows, 3, scale, workers)


def predict_one(scale: Scale, workers: Workers) -> Iterator[Record]:
    return _predictions("predict-one", (10,), 1, 5 * scale.fits, scale, workers)


def threads(scale: Scale, workers: Workers) -> Iterator[Record]:
    """Our large fits by one thread, by two, and by more than there are cores, in turns."""
    for case, table, depth in (
        (f"{scale.many_rows:,} x 28, depth 10", tables.made(scale.many_rows), 10),
        (f"{scale.rows:,} x 28, depth 10", tables.made(scale.rows), 10),
        (f"{scale.rows // 10:,} x 28, depth 10", tables.made(scale.rows // 10), 10),
        (f"{scale.rows:,} x 28, unlimited", tables.made(scale.rows), None),
    ):
        with stored(table) as folder:
            places = [
                Asked(
                    f"{n} thread{'s' if n > 1 else ''}",
                    (jobs.warm, ("treewright", folder, n)),
                    (jobs.fit, ("treewright", folder, depth, n)),
                )
                for n in (1, 2, 16)
            ]
            yield from interleaved(workers, "threads", case, places, scale.repeats, scale.limit * 3)


# --- exactness and profile --------------------------------------------------------------------------------------------


def impurity(scale: Scale, workers: Workers) -> Iterator[Record]:
    """How far our weighted training impurity is from scikit-learn's, depth by depth, as a share of it, ties aside."""
    made = (tables.made(scale.rows), tables.made(scale.rows, classes=0), tables.real("covertype"))
    for table in (t.first(scale.real_rows) for t in made if t is not None):
        with stored(table) as folder:
            result = workers.ask("impurity", 120, exactness.impurities, folder, 10, THREADS)
            if isinstance(result, Failure):
                yield Record("impurity", table.name, "treewright", failure=result.reason)
                continue
            for depth, (ours, theirs) in enumerate(zip(result["ours"], result["theirs"], strict=True), 1):
                apart = abs(ours - theirs) / theirs
                aside = f"{result['ties']} ties aside"
                yield Record("impurity", f"{table.name}, depth {depth}", aside, (apart,), unit="apart")


def profile(scale: Scale, workers: Workers) -> Iterator[Record]:
    """Where our core spends its time, if this build keeps account."""
    cases = ((tables.made(scale.rows), (10, None)), (tables.made(scale.rows, classes=0), (10, None)))
    for table, depths in (*cases, (tables.made(10 * scale.rows, held_out=1000), (10,))):
        with stored(table) as folder:
            for depth in depths:
                result = workers.ask("profile", 60, jobs.profile, folder, depth, THREADS)
                case = f"{len(table.x):,} rows, {table.name}, {named(depth)}"
                if result is None or isinstance(result, Failure):
                    reason = result.reason if result else "the core keeps no account of its time"
                    yield Record("profile", case, "treewright", failure=reason)
                    continue
                for part, amount in result.items():
                    yield Record("profile", case, part, (float(amount),), unit="")


WORKLOADS: dict[str, Callable[[Scale, Workers], Iterator[Record]]] = {
    "two-class": two_class,
    "two-class-float64": two_class_float64,
    "regression": regression,
    "covertype": covertype,
    "flights": flights,
    "adult": adult,
    "levels": levels,
    "iris": iris,
    "cross-validation": cross_validation,
    "rivals": rivals,
    "criteria": criteria,
    "predict-many": predict_many,
    "predict-one": predict_one,
    "threads": threads,
    "impurity": impurity,
    "profile": profile,
    "memory": memory,
    "growth-columns": growth_columns,
    "growth-classes": growth_classes,
    "growth-levels": growth_levels,
    "growth-rows": growth_rows,
}
