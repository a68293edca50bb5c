"""Rule lists against the trees they are made from: accuracy on rows held out, and how much there is to read.

Ten folds with the same share of every class, dealt anew in each repeat; tree and list of a fold are made from the
same rows, by the recipe C45 as it is, and score the same others. Conditions are counted as they are printed,
one per column and rule.

Run: python bench/rules.py [FOLDER]
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import treewright as tw

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDS, REPEATS = 10, 10
#: The target of each table, and columns that would give it away or name a row.
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "vote": ("Class", ()),
    "labor": ("class", ()),
    "soybean": ("class", ()),
    "credit-g": ("class", ()),
    "breast-cancer": ("Class", ()),
    "heart-cleveland": ("num", ()),
    "iris": ("class", ()),
    "pima-diabetes": ("diabetes", ()),
    "segment": ("class", ()),
    "tic-tac-toe": ("Class", ()),
}


def main(folder: Path) -> None:
    print(
        "| table | rows | tree right | list right | difference | tree: leaves, conditions | list: rules, conditions |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, (target, drop) in TABLES.items():
        data = pq.read_table(folder / f"{name}.parquet").drop_columns(list(drop))
        data = data.filter(data[target].is_valid())
        figures = np.array([folded(data, target, np.random.default_rng(repeat)) for repeat in range(REPEATS)])
        tree, listed, leaves, tree_conditions, rules, conditions = figures.mean(axis=0)
        spread = (figures[:, 1] - figures[:, 0]).std()
        print(
            f"| {name} | {len(data)} | {100 * tree:.1f} % | {100 * listed:.1f} % | "
            f"{100 * (listed - tree):+.1f} ± {100 * spread:.1f} | {leaves:.0f}, {tree_conditions:.0f} | "
            f"{rules:.0f}, {conditions:.0f} |",
            flush=True,
        )
    print("\nThe processor time a list takes, from the tree on:")
    for name, target in (("soybean", "class"), ("adult", "income")):
        data = pq.read_table(folder / f"{name}.parquet")
        tree = tw.learn(data, target, tw.C45)
        start = time.process_time()
        found = tw.rules(tree, data, kind="list")
        print(f"{name}: {len(data)} rows, {tree.n_leaves} leaves, {time.process_time() - start:.2f} s, {found!r}")


def folded(data: Any, target: str, rng: np.random.Generator) -> list[float]:
    """Accuracy of tree and list, and their sizes, over all folds of one deal."""
    classes = np.array(data[target].cast("string").to_pylist())
    fold = np.empty(len(data), dtype=np.int64)
    fold[np.lexsort([rng.random(len(data)), classes])] = np.arange(len(data)) % FOLDS
    right, sizes = np.zeros(2), []
    for held_out in range(FOLDS):
        train, test = data.filter(fold != held_out), data.filter(fold == held_out)
        tree = tw.learn(train, target, tw.C45, task="classification")
        leaves, listed = tw.rules(tree), tw.rules(tree, train, kind="list")
        scores = listed.evaluate(test)
        right += len(test) * np.array([scores.tree, scores.rules])
        sizes.append([len(leaves), leaves.n_conditions, len(listed), listed.n_conditions])
    return [*(right / len(data)), *np.mean(sizes, axis=0)]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
