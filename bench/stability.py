"""Speed of `stability`: refits of a depth-6 tree on 10,000 rows of 20 numbers, beside the same refits by scikit-learn.

Prints seconds, the ratio to scikit-learn, whether the report depends on threads, and memory beside that of one fit.
Both sides take turns, and each figure is the median of the rounds. scikit-learn fits some of the samples, and its time
is scaled to all; it neither predicts nor compares. A fit of scikit-learn has one thread, the refits have several, so
the ratio is that of seconds by the clock; on a machine that does other work, that of processor time, which counts the
work of all threads, says more: times the number of threads, it is the first but for the time that a thread waits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import treewright as tw

RECIPE = tw.CART.with_(max_depth=6, pruning=None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refits", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sklearn", type=int, default=20, help="samples that scikit-learn fits in each round")
    parser.add_argument("--memory", choices=("fit", "stability"), help="print the memory of one of them, and end")
    options = parser.parse_args()
    x, y = made(options.rows, options.columns)
    if options.memory:
        print(memory(options.memory, x, y, options.threads))
        return
    table = as_table(x, y)
    tree = tw.learn(table, "y", RECIPE)
    fits = sklearn_fits(x, y)
    own, others = [], {name: [] for name in fits}
    for _ in range(options.rounds):
        own.append(timed(lambda: tw.stability(tree, table, resamples=options.refits, n_threads=options.threads)))
        for name, fit in fits.items():
            one = timed(lambda fit=fit: [fit(i) for i in range(options.sklearn)])
            others[name].append(Seconds(*(kind * options.refits / options.sklearn for kind in one)))
    print_speed(medians(own), {name: medians(rounds) for name, rounds in others.items()}, options)
    reports = [tw.stability(tree, table, resamples=20, n_threads=n) for n in (1, 2, 3)]
    print("the same report for 1, 2 and 3 threads:", all(same(reports[0], other) for other in reports[1:]))
    print_memory()


def made(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(rows, columns))
    return x, x[:, 0] + x[:, 1] * x[:, 2] + draw.normal(size=rows) > 0


def as_table(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    return {f"x{i}": column for i, column in enumerate(x.T.copy())} | {"y": np.where(y, "yes", "no")}


class Seconds(NamedTuple):
    """By the clock, and of all processors together; the second hardly depends on what else the machine does."""

    wall: float
    processor: float


def timed(work: Callable[[], object]) -> Seconds:
    begun = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - begun[0], time.process_time() - begun[1])


def medians(rounds: list[Seconds]) -> Seconds:
    return Seconds(*(float(np.median(kind)) for kind in zip(*rounds, strict=True)))


def print_speed(own: Seconds, others: dict[str, Seconds], options: argparse.Namespace) -> None:
    print(
        f"{options.refits:,} refits on {options.threads} threads: {own.wall:.2f} s, {own.processor:.2f} s of processors"
    )
    for name, other in others.items():
        by_clock, per_thread = other.wall / own.wall, other.processor / own.processor
        ratios = f"{by_clock:.1f} x by the clock, {per_thread:.1f} x by processor time per thread"
        seconds = f"{other.wall:.1f} s, {other.processor:.1f} s of processors"
        print(f"scikit-learn, {name}: {seconds}; {ratios}, {per_thread * options.threads:.1f} x on all threads")


def sklearn_fits(x: np.ndarray, y: np.ndarray) -> dict[str, Callable[[int], object]]:
    from sklearn.tree import DecisionTreeClassifier

    x = x.astype(np.float32)  # its own type, so that it need not convert

    def rows(i: int) -> np.ndarray:
        return np.random.default_rng(i).integers(0, len(y), len(y))

    def drawn(i: int) -> object:
        chosen = rows(i)
        return DecisionTreeClassifier(max_depth=6).fit(x[chosen], y[chosen])

    def weighted(i: int) -> object:
        weight = np.bincount(rows(i), minlength=len(y))
        return DecisionTreeClassifier(max_depth=6).fit(x, y, sample_weight=weight)

    return {"rows drawn": drawn, "as weights": weighted}


def same(first: object, second: object) -> bool:
    """Return whether two reports are equal to the last bit."""
    assert isinstance(first, type(second))
    names = ("splits", "columns", "rand", "n_leaves", "depth")
    equal = all(getattr(first, name) == getattr(second, name) for name in names)
    return equal and np.array_equal(first.rows, second.rows) and str(first) == str(second)


def memory(what: str, x: np.ndarray, y: np.ndarray, threads: int) -> int:
    """Return how many bytes the process needs beyond what it has before, at most (Linux only)."""
    table = as_table(x, y)
    small = {name: values[:200] for name, values in table.items()}
    tw.stability(tw.learn(small, "y", RECIPE), small, resamples=3)  # so that everything is loaded
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = status("VmRSS")
    tree = tw.learn(table, "y", RECIPE, n_threads=threads)
    if what == "stability":
        tw.stability(tree, table, resamples=20, n_threads=threads)
    return status("VmHWM") - before


def status(name: str) -> int:
    """Return a memory figure of this process in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def print_memory() -> None:
    """Print the memory of a fit and of refits, each of a larger table and in a process of its own."""
    found = {}
    for what in ("fit", "stability"):
        command = [sys.executable, __file__, "--memory", what, "--rows", "200000"]
        found[what] = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    ratio = found["stability"] / found["fit"]
    fit, refits = (found[what] / 1e6 for what in ("fit", "stability"))
    print(f"memory, 200,000 rows: one fit {fit:.0f} MB, refits {refits:.0f} MB ({ratio:.2f} x)")


if __name__ == "__main__":
    main()
