"""What workers do: fit and time, fit and measure memory, predict and time.

A time covers the whole fit or the whole prediction and nothing else; the table is in memory before.
"""

from __future__ import annotations

import gc
import time
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import by_criterion
from contenders import Contender, Predict
from ours import OURS, OURS_CART, OURS_LEARN, VARIANTS, recipe
from peers import PEERS
from predictors import PREDICTORS
from tables import Table, load

CONTENDERS: dict[str, Contender] = {c.name: c for c in (OURS, OURS_LEARN, OURS_CART, *PEERS, *VARIANTS)}
EVERYBODY = tuple(name for name in CONTENDERS if name not in {c.name for c in VARIANTS})

_loaded = lru_cache(maxsize=1)(load)


@lru_cache(maxsize=1)
def _warm_fit(name: str, folder: Path, threads: int) -> Table:
    """The table, after a fit of a few of its rows: imports, thread pools and caches of code are in place then."""
    table = _loaded(folder)
    CONTENDERS[name].fit(table.first(2000), 4, threads)
    return table


def warm(name: str, folder: Path, threads: int) -> None:
    _warm_fit(name, folder, threads)


def fit(name: str, folder: Path, depth: int | None, threads: int) -> dict[str, Any]:
    """One fit: its seconds and its held-out score."""
    table = _warm_fit(name, folder, threads)
    gc.collect()
    start = time.perf_counter()
    fitted = CONTENDERS[name].fit(table, depth, threads)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "score": table.score(fitted.predict)}


def fit_latency(name: str, folder: Path, depth: int | None, threads: int, times: int) -> dict[str, Any]:
    """The median of many fits of a small table."""
    table = _warm_fit(name, folder, threads)
    learner, runs = CONTENDERS[name].fit, []
    for _ in range(times):
        start = time.perf_counter()
        fitted = learner(table, depth, threads)
        runs.append(time.perf_counter() - start)
    return {"seconds": median(runs), "score": table.score(fitted.predict)}


def grow_by(criterion: str, folder: Path, exhaustive: bool, threads: int) -> dict[str, Any]:
    """One tree of a criterion, by histograms or value by value."""
    table = _loaded(folder)
    start = time.perf_counter()
    by_criterion.grown(table, by_criterion.CASES[criterion][1], exhaustive, threads)
    return {"seconds": time.perf_counter() - start, "score": None}


# --- memory -----------------------------------------------------------------------------------------------------------


def _status(field: str) -> int:
    """A field of the kernel's account of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def fit_memory(name: str, folder: Path, depth: int | None, threads: int) -> dict[str, Any]:
    """The highest memory during a fit less the memory before it, with the table resident, in tables."""
    stored = _warm_fit(name, folder, threads)
    table = Table(**{**vars(stored), "x": stored.x.copy(), "y": stored.y.copy()})
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the highest so far is now
    before = _status("VmRSS")
    fitted = CONTENDERS[name].fit(table, depth, threads)
    beyond = _status("VmHWM") - before
    return {"tables": beyond / table.x.nbytes, "score": table.score(fitted.predict)}


# --- prediction -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _predictor(name: str, folder: Path, depth: int | None, threads: int) -> tuple[Table, Predict]:
    table = _loaded(folder)
    return table, PREDICTORS[name].build(table, depth, threads)


def build(name: str, folder: Path, depth: int | None, threads: int) -> None:
    _predictor(name, folder, depth, threads)


def predict(name: str, folder: Path, depth: int | None, threads: int, rows: int, times: int) -> dict[str, Any]:
    """The median of some predictions of the same number of rows; each begins at another row."""
    table, predictor = _predictor(name, folder, depth, threads)
    predictor(table.x[:rows])
    runs = []
    for k in range(times):
        start_row = k % (len(table.x) - rows + 1)
        some = table.x[start_row : start_row + rows]
        start = time.perf_counter()
        predictor(some)
        runs.append(time.perf_counter() - start)
    return {"seconds": median(runs), "score": table.score(predictor)}


# --- profile ----------------------------------------------------------------------------------------------------------


def profile(folder: Path, depth: int | None, threads: int) -> dict[str, float]:
    """Where our core spends a fit: seconds of all threads together for each part (coding: of the clock), and rows."""
    from treewright import _core

    table = _loaded(folder)
    width = table.x.shape[1]
    target = table.y.astype("int32" if table.classes else "float64")
    account: dict[str, float] = {}
    form = recipe(depth).as_dict()
    columns = [0] * width
    start = time.process_time()
    _core.grow(table.x, columns, columns, target, table.classes, None, form, threads, None, profile=account)
    return {**account, "unshared, of all": account["unshared"] / (time.process_time() - start)}
