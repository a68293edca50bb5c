"""Trees with linear leaves beside constant trees and other model trees: held-out error, leaves, and time.

Every contender learns from the same float64 matrix, levels as columns of 0 and 1, on the same five folds. Tables: the
regression tables of ../shared/data, if they are here, and made ones without jumps. Peers that are not installed are
left out. With `--speed`, fits of 50,000 x 28 and 1,000,000 x 28 at depth 10 with so many threads each, all in turn: the
least seconds by the clock and of processors, and leaves.

Run: python bench/model_trees.py [--tables boston-housing ...] [--speed [--threads 2]]
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tables import DATA, made

import treewright as tw

FOLDS = 5
MOST_ROWS, MOST_LEVELS = 5_000, 20
Predict = Callable[[np.ndarray], np.ndarray]
#: Matrix, target -> predictions of another matrix, and the number of leaves or rules.
Fit = Callable[[np.ndarray, np.ndarray], tuple[Predict, int]]
#: Matrix, target -> the number of leaves alone.
Size = Callable[[np.ndarray, np.ndarray], int]


# --- tables -----------------------------------------------------------------------------------------------------------


def smooth() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Made tables without jumps: a plane, Friedman's first, a tent, a wave."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(2000, 10))
    noise = rng.standard_normal(2000)
    yield "plane", x, x @ np.arange(10.0) + 0.5 * noise
    friedman = 10 * np.sin(math.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    yield "friedman 1", x, friedman + noise
    yield "tent", x, 10 * np.minimum(x[:, 0], 1 - x[:, 0]) + 3 * x[:, 1] + 0.3 * noise
    yield "wave", x, 5 * np.sin(6 * x[:, 0]) + 2 * x[:, 1] + 0.5 * noise


def all_tables() -> Iterator[tuple[str, np.ndarray, np.ndarray, bool]]:
    """Name, matrix, target, and whether it is smooth."""
    for name, x, y in smooth():
        yield name, x, y, True
    manifest = DATA / "MANIFEST.json"
    if manifest.is_file():
        for entry in json.loads(manifest.read_text(encoding="utf-8"))["datasets"]:
            if entry.get("task") == "regression":
                yield (entry["name"], *shared(entry), False)


def shared(entry: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """A table of ../shared/data as a matrix, some rows of it; moments and columns of many levels are left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = entry["target"]
    whole = pq.read_table(DATA / entry["file"]).drop_columns(entry.get("suggested_drop", []))
    whole = whole.filter(whole[target].is_valid())
    whole = whole.take(np.sort(np.random.default_rng(0).permutation(len(whole))[:MOST_ROWS]))
    parts = []
    for name in whole.column_names:
        column = whole[name].combine_chunks()
        if name == target or pa.types.is_temporal(column.type):
            continue
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            values = np.array([np.nan if value is None else value for value in column.to_pylist()], dtype=float)
            parts.append(np.where(np.isnan(values), np.nanmean(values), values))
            continue
        words = np.array([str(value) for value in column.to_pylist()])
        levels = np.unique(words)
        parts += [(words == level).astype(float) for level in levels] if len(levels) <= MOST_LEVELS else []
    return np.column_stack(parts), np.asarray(whole[target].to_pylist(), dtype=float)


# --- contenders -------------------------------------------------------------------------------------------------------


def ours(*recipes: tw.Recipe) -> Fit:
    """One recipe, or the one of several that cross-validation on the training rows chooses."""

    def fit(x: np.ndarray, y: np.ndarray) -> tuple[Predict, int]:
        tree = tw.learn(x, y, recipes, task="regression")
        return lambda rows: tw.predict(tree, rows), tree.n_leaves

    return fit


def cubist(x: np.ndarray, y: np.ndarray) -> tuple[Predict, int]:
    import pandas as pd
    from cubist import Cubist

    names = [f"x{i}" for i in range(x.shape[1])]
    model = Cubist().fit(pd.DataFrame(x, columns=names), y)
    return lambda rows: model.predict(pd.DataFrame(rows, columns=names)), len(model.coeffs_)


def lightgbm(x: np.ndarray, y: np.ndarray, depth: int = 6, threads: int = 0) -> tuple[Predict, int]:
    """One tree with linear leaves, of all columns on the path.

    The first tree of a booster has constant leaves even with `linear_tree`, so it is kept from splitting: it predicts
    the mean, and the second is the one that counts.
    """
    import lightgbm as lgb

    given = {"objective": "regression", "linear_tree": True, "learning_rate": 1.0, "num_leaves": 2**depth}
    given |= {"max_depth": depth, "verbose": -1, "num_threads": threads, "min_gain_to_split": 1e300}
    booster = lgb.Booster(given, lgb.Dataset(x, y, params={"linear_tree": True, "verbose": -1, "num_threads": threads}))
    booster.update()
    booster.reset_parameter({"min_gain_to_split": 0.0, "num_threads": threads})
    booster.update()
    return booster.predict, int(booster.dump_model()["tree_info"][-1]["num_leaves"])


def linear_tree(x: np.ndarray, y: np.ndarray, depth: int = 5) -> tuple[Predict, int]:
    from lineartree import LinearTreeRegressor
    from sklearn.linear_model import LinearRegression

    model = LinearTreeRegressor(LinearRegression(), max_depth=depth).fit(x, y)
    return model.predict, len(model.summary(only_leaves=True))


CONTENDERS: dict[str, Fit] = {
    "CART": ours(tw.CART),
    "M5": ours(tw.M5),
    "PILOT": ours(tw.PILOT),
    "MODEL_TREE": ours(tw.MODEL_TREE),
    "MODEL_TREES": ours(*tw.MODEL_TREES),
    "Cubist": cubist,
    "LightGBM linear_tree": lightgbm,
    "linear-tree": linear_tree,
}

#: Those that are compared with Cubist.
OURS = ("M5", "PILOT", "MODEL_TREE", "MODEL_TREES")


# --- runs -------------------------------------------------------------------------------------------------------------


def held_out(fit: Fit, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Root mean squared error over all folds together, and the mean number of leaves."""
    fold = np.random.default_rng(0).permutation(len(y)) % FOLDS
    squares, leaves = 0.0, []
    for k in range(FOLDS):
        predict, size = fit(x[fold != k], y[fold != k])
        squares += float(((predict(x[fold == k]) - y[fold == k]) ** 2).sum())
        leaves.append(size)
    return math.sqrt(squares / len(y)), float(np.mean(leaves))


def compare(chosen: list[str] | None) -> None:
    """Print one row per table: error and leaves of every contender; then how often ours are ahead."""
    ahead: dict[str, list[bool]] = {who: [] for who in OURS}
    fewer: dict[str, list[bool]] = {who: [] for who in ahead}
    absent: set[str] = set()
    for name, x, y, is_smooth in all_tables():
        if chosen and name not in chosen:
            continue
        found: dict[str, tuple[float, float]] = {}
        for contender, fit in CONTENDERS.items():
            if contender in absent:
                continue
            try:
                found[contender] = held_out(fit, x, y)
            except (ImportError, AttributeError) as error:  # not installed, or not for this scikit-learn
                absent.add(contender)
                print(f"{contender} does not run here: {error}")
        cells = " | ".join(f"{who} {error:.4g} ({leaves:.0f})" for who, (error, leaves) in found.items())
        print(f"{name} {x.shape[0]} x {x.shape[1]}: {cells}", flush=True)
        for who, won in ahead.items():
            if "Cubist" in found:
                won.append(found[who][0] <= found["Cubist"][0])
            if is_smooth:
                fewer[who].append(found[who][1] < found["CART"][1])
    for who, won in ahead.items():
        print(
            f"{who}: error at or below Cubist's on {sum(won)} of {len(won)} tables, fewer leaves than CART on "
            f"{sum(fewer[who])} of {len(fewer[who])} smooth ones"
        )


def speed(threads: int, times: int = 5) -> None:
    """Print the least time of some fits at depth 10; with one thread, none spins while it waits."""
    constant = tw.CART.with_(max_depth=10, pruning=None, min_samples_leaf=20, rivals=0)
    recipes = {
        "constant leaves": constant,
        "linear leaves, all columns of the path": constant.with_(
            leaves=tw.leaves.Linear(columns="path", max_terms=None, select="none")
        ),
        "linear leaves": constant.with_(leaves=tw.leaves.Linear()),
        "PILOT": tw.PILOT.with_(max_depth=10),
        "MODEL_TREE": tw.MODEL_TREE.with_(max_depth=10),
    }
    fits: dict[str, Size] = {
        name: lambda x, y, recipe=recipe: tw.learn(x, y, recipe, task="regression", n_threads=threads).n_leaves
        for name, recipe in recipes.items()
    }
    fits["LightGBM linear_tree"] = lambda x, y: lightgbm(x, y, 10, threads)[1]
    for rows in (50_000, 1_000_000):
        table = made(rows, classes=0)
        few = rows <= 50_000
        found = least_times(
            fits | ({"linear-tree, depth 2": lambda x, y: linear_tree(x, y, 2)[1]} if few else {}),
            table.x.astype(np.float64),
            table.y,
            times if few else 2,
        )
        print(f"{rows:,} x {table.x.shape[1]}")
        for name, (clock, processor, leaves) in found.items():
            print(f"  {name}: {clock:.3f} s, {processor:.3f} s of processors, {leaves} leaves")


def least_times(fits: dict[str, Size], x: np.ndarray, y: np.ndarray, times: int) -> dict[str, tuple[float, float, int]]:
    """Least seconds by the clock and of processors, and what each returns; fits that take long run once."""
    found: dict[str, tuple[float, float, int]] = {}
    absent = set()
    for _ in range(times):
        for name, fit in fits.items():
            if name in absent or found.get(name, (0.0, 0.0))[1] > 10:
                continue
            clock, processor = time.perf_counter(), time.process_time()
            try:
                leaves = fit(x, y)
            except (ImportError, AttributeError) as error:  # not installed, or not for this scikit-learn
                absent.add(name)
                print(f"{name} does not run here: {error}")
                continue
            took = time.perf_counter() - clock, time.process_time() - processor
            before = found.get(name, (*took, leaves))
            found[name] = min(took[0], before[0]), min(took[1], before[1]), leaves
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    speed(given.threads) if given.speed else compare(given.tables)
