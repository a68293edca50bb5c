"""How fast, and how good, beside scikit-learn: one made table, one depth, both held-out scores.

Comes in: nothing. Goes out: a table on the screen; every run is shown, not only the best.
Always holds: both learn the same rows to the same depth with gini, and each time covers the whole call, from the table
a user has in hand (a dictionary of columns here, a matrix there) to the finished tree.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import treewright as tw

ROWS, HELD_OUT, COLUMNS, DEPTH, RUNS = 200_000, 50_000, 28, 10, 3


def made_table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two noisy classes: a few columns matter, in sums, products and steps; the others are noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS + HELD_OUT, COLUMNS))
    signal = x[:, 0] + x[:, 1] * x[:, 2] + 1.5 * (x[:, 3] > 0.5) - np.abs(x[:, 4]) + 0.5 * np.sin(3 * x[:, 5])
    return x, (signal + rng.normal(size=len(x)) > 0).astype(np.int64)


def timed(learn: Callable[[], Any]) -> tuple[Any, list[float]]:
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        learned = learn()
        seconds.append(time.perf_counter() - start)
    return learned, seconds


def main() -> None:
    x, y = made_table()
    table = {f"x{i}": np.ascontiguousarray(x[:, i]) for i in range(COLUMNS)}
    seen = {name: values[:ROWS] for name, values in table.items()} | {"y": y[:ROWS]}
    unseen = {name: values[ROWS:] for name, values in table.items()}
    recipe = replace(tw.CART, missing=tw.LearnedDirection(), stopping=tw.Stopping(max_depth=DEPTH))

    ours, our_seconds = timed(lambda: tw.learn(seen, target="y", recipe=recipe, task="classification"))
    theirs, their_seconds = timed(
        lambda: DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(x[:ROWS], y[:ROWS])
    )
    our_score = np.mean(tw.predict(ours, unseen) == y[ROWS:])
    their_score = theirs.score(x[ROWS:], y[ROWS:])

    print(f"{ROWS:,} x {COLUMNS} numbers, two classes, depth {DEPTH}, {os.cpu_count()} cores, median of {RUNS} runs\n")
    print(f"{'':14}{'seconds':>9}{'ratio':>8}{'held-out':>10}{'leaves':>8}   all runs")
    for name, seconds, score, leaves in (
        ("treewright", our_seconds, our_score, ours.n_leaves),
        ("scikit-learn", their_seconds, their_score, theirs.get_n_leaves()),
    ):
        ratio = np.median(seconds) / np.median(their_seconds)
        runs = " ".join(f"{s:.2f}" for s in seconds)
        print(f"{name:14}{np.median(seconds):9.2f}{ratio:8.2f}{score:10.4f}{leaves:8d}   {runs}")


if __name__ == "__main__":
    main()
