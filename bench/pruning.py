"""Every way to prune on real tables: leaves, held-out score and the processor time of learning, growing included.

Every third row is held out; all methods prune the tree of one recipe, CART's, but for the critical value, whose
splits are chosen by their p; C4.5's own pruning is shown on C4.5's tree too. Scores are accuracy or, for a number,
the share of variance explained.

Run: python bench/pruning.py [FOLDER]
"""

import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import treewright as tw

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
TABLES = {"adult": "income", "diamonds": "price", "letter": "class"}

GROWN = replace(tw.CART, pruning=None)
C45 = replace(tw.C45, pruning=None)
TESTED = replace(GROWN, criterion=tw.criterion.ChiSquare(), regression=tw.criterion.FTest())


def stopped(**limits: Any) -> tw.Recipe:
    return replace(GROWN, stopping=replace(GROWN.stopping, **limits))


def pruned(pruner: Any, recipe: tw.Recipe = GROWN) -> tw.Recipe:
    return replace(recipe, pruning=pruner)


METHODS: dict[str, tw.Recipe] = {
    "none": GROWN,
    "depth at most 8": stopped(max_depth=8),
    "20 rows per leaf": stopped(min_samples_leaf=20),
    "gain of a ten-thousandth": stopped(min_impurity_decrease=1e-4),
    "chi-square or F, p <= 0.001": stopped(significance=0.001),
    "impurity threshold, cross-validated": pruned(tw.pruning.ImpurityThresholdCV()),
    "cost-complexity, cross-validated, min": pruned(tw.pruning.CostComplexityCV(rule="min")),
    "cost-complexity, cross-validated, 1se": pruned(tw.pruning.CostComplexityCV()),
    "reduced error, a quarter set aside": pruned(tw.pruning.ReducedError()),
    "error-based": pruned(tw.pruning.ErrorBased()),
    "error-based without raising": pruned(tw.pruning.ErrorBased(raising=False)),
    "pessimistic": pruned(tw.pruning.Pessimistic()),
    "minimum error, m = 2": pruned(tw.pruning.MinimumError()),
    "critical value, p < 0.0001": pruned(tw.pruning.CriticalValue(-math.log(0.0001)), TESTED),
    "description length": pruned(tw.pruning.MinimumDescription()),
    "equal leaves merged": pruned(tw.pruning.MergeEqualLeaves()),
    "cut to depth 8": pruned(tw.pruning.MaxDepth(8)),
    "best 100 leaves": pruned(tw.pruning.MaxLeaves(100)),
    "C4.5, none": C45,
    "C4.5, error-based": tw.C45,
}


def main(folder: Path) -> None:
    for name, target in TABLES.items():
        data = pq.read_table(folder / f"{name}.parquet")
        held_out = np.arange(len(data)) % 3 == 2
        train, test = data.filter(~held_out), data.filter(held_out)
        regression = data.schema.field(target).type in ("int32", "double")
        print(f"\n{name}: {len(train)} rows to learn from, {len(test)} held out, {len(data.schema) - 1} columns\n")
        measured = "variance explained" if regression else "accuracy"
        print(f"| method | leaves | {measured} | processor seconds |\n|---|---:|---:|---:|")
        for method, recipe in METHODS.items():
            if regression and (recipe.regression is None or getattr(recipe.pruning, "classes_only", False)):
                continue
            tree, seconds = timed(train, target, recipe)
            score = scored(tree, test, target, regression)
            print(f"| {method} | {tree.n_leaves} | {score:.4f} | {seconds:.2f} |", flush=True)


def timed(train: Any, target: str, recipe: tw.Recipe) -> tuple[tw.Tree, float]:
    """The tree, and the seconds that all processors together worked on it."""
    start = time.process_time()
    tree = tw.learn(train, target, recipe)
    return tree, time.process_time() - start


def scored(tree: tw.Tree, test: Any, target: str, regression: bool) -> float:
    truth = np.array(test[target].to_pylist())
    predicted = tw.predict(tree, test.drop_columns([target]))
    if not regression:
        return float(np.mean(predicted == truth))
    return float(1 - np.sum((predicted - truth) ** 2) / np.sum((truth - truth.mean()) ** 2))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
