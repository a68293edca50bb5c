"""The best tree of small depth beside other solvers, from the same float64 matrix.

The tables are those of shared/data/optimal (needs pyarrow), at depth 2 and 3; with `--deep` also depth 4 on three of
them; with `--large` the benchmark table of 1,000,000 x 28 numbers at depth 2, and how a time limit is kept on it; with
`--held-out` ten-fold scores beside greedy trees. Peers that are not installed are skipped. ConTree proves the optimum
as we do; STreeD searches binary columns, here 10 thresholds per column; scikit-learn is greedy.

Run: python bench/optimal.py [--depths 2 3] [--tables bank ...] [--ours-only] [--deep] [--large] [--held-out]
"""

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from tables import made

import treewright as tw

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
TABLES = ("bank", "bidding", "page", "raisin", "segment", "wilt", "fault", "magic")
DEEP = ("bank", "raisin", "wilt")
#: Tables for held-out scores: target, and columns that name rows.
HELD_OUT: dict[str, tuple[str, tuple[str, ...]]] = {
    "credit-g": ("class", ()),
    "heart-cleveland": ("num", ()),
    "iris": ("class", ()),
    "labor": ("class", ()),
    "penguins": ("species", ()),
    "pima-diabetes": ("diabetes", ()),
    "segment": ("class", ()),
    "tic-tac-toe": ("Class", ()),
    "titanic": ("survived", ("name", "ticket", "cabin", "boat", "body", "home.dest")),
    "vote": ("Class", ()),
}

HELD_OUT_SECONDS = 60

Errors = Callable[[], int]
Fit = Callable[[np.ndarray, np.ndarray, int], Errors]  # matrix, classes, depth -> training errors, counted afterwards


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of all processors together; the latter hardly depend on the load of the machine."""

    clock: float
    processor: float


def ours(matrix: np.ndarray, y: np.ndarray, depth: int) -> Errors:
    tree = tw.learn_optimal(matrix, y, max_depth=depth, task="classification")
    assert tree.certificate is not None
    assert tree.certificate.proven
    return lambda: int(np.count_nonzero(tw.predict(tree, matrix) != y))


def contree(matrix: np.ndarray, y: np.ndarray, depth: int) -> Errors:
    import pandas as pd
    from pycontree import ConTree

    model = ConTree(max_depth=depth, time_limit=1800.0)
    frame = pd.DataFrame(matrix)
    model.fit(frame, y)
    return lambda: int(np.count_nonzero(model.predict(frame) != y))


def streed(matrix: np.ndarray, y: np.ndarray, depth: int) -> Errors:
    from pystreed import STreeDClassifier

    model = STreeDClassifier(max_depth=depth, n_thresholds=10, time_limit=600)
    model.fit(matrix, y)
    return lambda: int(np.count_nonzero(model.predict(matrix) != y))


def greedy(matrix: np.ndarray, y: np.ndarray, depth: int) -> Errors:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(matrix, y)
    return lambda: int(np.count_nonzero(model.predict(matrix) != y))


SOLVERS: dict[str, Fit] = {"treewright": ours, "ConTree": contree, "STreeD": streed, "scikit-learn": greedy}


def timed(fit: Fit, matrix: np.ndarray, y: np.ndarray, depth: int) -> tuple[int, Spent] | None:
    """Errors and the better of two times; None where the solver is not installed."""
    errors, least = 0, Spent(float("inf"), float("inf"))
    for _ in range(2):
        clock, processor = time.perf_counter(), time.process_time()
        try:
            count = fit(matrix, y, depth)
        except ImportError:
            return None
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        errors, least = count(), Spent(min(least.clock, clock), min(least.processor, processor))
        if least.clock > 10:
            break
    return errors, least


def warm_up(solvers: dict[str, Fit]) -> None:
    """Load every package before it is timed."""
    for fit in solvers.values():
        with suppress(ImportError):
            fit(np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]), 1)


def compare(tables: Sequence[str], depth: int, solvers: dict[str, Fit]) -> None:
    print(f"\n| depth {depth} | " + " | ".join(f"{name}: errors, s, processor s" for name in solvers) + " |")
    print("|---|" + "---|" * len(solvers))
    spent: dict[str, list[Spent]] = {name: [] for name in solvers}
    for name in tables:
        table = pq.read_table(FOLDER / "optimal" / f"{name}.parquet").to_pandas()
        y = np.unique(table.pop("y"), return_inverse=True)[1]
        matrix = np.ascontiguousarray(table.to_numpy(dtype=np.float64))
        cells = []
        for solver, fit in solvers.items():
            found = timed(fit, matrix, y, depth)
            if found is not None:
                spent[solver].append(found[1])
            cells.append("not installed" if found is None else f"{found[0]}, {_text(found[1])}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    total = {name: Spent(sum(s.clock for s in all_), sum(s.processor for s in all_)) for name, all_ in spent.items()}
    print("| total | " + " | ".join(map(_text, total.values())) + " |")
    if spent.get("ConTree"):
        slower, faster = total["ConTree"], total["treewright"]
        print(
            f"\nConTree over treewright, depth {depth}: {slower.clock / faster.clock:.1f} x by the clock, "
            f"{slower.processor / faster.processor:.1f} x in processor time"
        )


def _text(spent: Spent) -> str:
    return f"{spent.clock:.3f}, {spent.processor:.3f}"


def large() -> None:
    table = made(1_000_000)
    for depth, limit in ((2, None), (2, 5.0), (3, 5.0), (4, 5.0)):
        clock, processor = time.perf_counter(), time.process_time()
        tree = tw.learn_optimal(table.x, table.y, max_depth=depth, task="classification", time_limit=limit)
        spent = f"{time.perf_counter() - clock:.2f} s, {time.process_time() - processor:.2f} s of processors"
        given = "no limit" if limit is None else f"limit {limit:g} s"
        print(f"\n1,000,000 x 28, depth {depth}, {given}: {spent}; {tree.certificate}", flush=True)


def _accuracy(tree: tw.Tree, table: Any, target: str) -> float:
    return float(np.mean(tw.predict(tree, table) == table[target].to_numpy()))


def held_out() -> None:
    print(
        "\n| ten folds, accuracy | rows | optimal, depth 3 | greedy, depth 3 | CART, as many leaves "
        f"| training: optimal | training: greedy | proven in {HELD_OUT_SECONDS} s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, (target, dropped) in HELD_OUT.items():
        table = pq.read_table(FOLDER / f"{name}.parquet").to_pandas().drop(columns=list(dropped))
        table = table[table[target].notna()].reset_index(drop=True)
        fold = np.random.default_rng(0).permutation(len(table)) % 10
        right: dict[str, list[float]] = {"optimal": [], "greedy": [], "cart": []}
        fitted: dict[str, list[float]] = {"optimal": [], "greedy": []}
        proven = 0
        for k in range(10):
            train, test = table[fold != k], table[fold == k]
            optimal = tw.learn_optimal(train, target, max_depth=3, task="classification", time_limit=HELD_OUT_SECONDS)
            proven += optimal.certificate is not None and optimal.certificate.proven
            shallow = tw.CART.with_(pruning=None, max_depth=3)
            greedy_tree = tw.learn(train, target, shallow, task="classification")
            validated = tw.CART.with_(pruning=tw.pruning.CostComplexityCV(rule="min"))
            cart = tw.learn(train, target, validated, task="classification")
            cart = tw.prune(cart, tw.pruning.MaxLeaves(max(1, optimal.n_leaves)))
            for key, tree in zip(right, (optimal, greedy_tree, cart), strict=True):
                right[key].append(_accuracy(tree, test, target))
            for key, tree in zip(fitted, (optimal, greedy_tree), strict=True):
                fitted[key].append(_accuracy(tree, train, target))
        means = [f"{np.mean(scores):.3f}" for scores in (*right.values(), *fitted.values())]
        cells = [name, f"{len(table):,}", *means, f"{proven} of 10"]
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    for option in ("deep", "large", "held-out", "ours-only"):
        parser.add_argument(f"--{option}", action="store_true")
    parser.add_argument("--depths", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=TABLES)
    asked = parser.parse_args()
    solvers: dict[str, Any] = {"treewright": ours} if asked.ours_only else SOLVERS
    warm_up(solvers)
    for depth in asked.depths:
        compare(asked.tables, depth, solvers)
    if asked.deep:
        compare(DEEP, 4, {"treewright": ours})
    if asked.large:
        large()
    if asked.held_out:
        held_out()


if __name__ == "__main__":
    main()
