"""`python bench/interrupt.py [--rows N]`: how long Ctrl-C takes to end a fit.

A fit that ends before the signal comes is not counted.
"""

from __future__ import annotations

import argparse
import signal
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import tables

import treewright as tw

MOMENTS = np.linspace(0.05, 4, 14)


def wait(x: np.ndarray, y: np.ndarray, recipe: tw.Recipe, task: Any, after: float) -> float | None:
    """Seconds from the signal to the end of the fit; None: it ended by itself."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        tw.learn(x, y, recipe, task=task)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
    return None


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=1_000_000)
    rows = arguments.parse_args().rows
    classes, numbers = (tables.made(rows, classes=c, held_out=1) for c in (2, 0))
    cases = {
        "two classes": (classes, tw.SKLEARN),
        "CART": (classes, replace(tw.CART, pruning=None)),
        "C45": (classes, replace(tw.C45, pruning=None)),
        "J48": (classes, replace(tw.J48, pruning=None)),
        "CHAID": (classes, tw.CHAID),
        "regression": (numbers, tw.SKLEARN),
        "absolute error": (numbers, replace(tw.SKLEARN, regression=tw.criterion.AbsoluteError())),
    }
    for name, (table, recipe) in cases.items():
        waits = [wait(table.x, table.y, recipe, table.task, after) for after in MOMENTS]
        counted = [seconds for seconds in waits if seconds is not None]
        longest = f"{max(counted):.3f} s" if counted else "always done before"
        print(f"{name}: {longest} ({len(counted)} interrupts)", flush=True)


if __name__ == "__main__":
    main()
