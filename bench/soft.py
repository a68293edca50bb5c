"""Predictions that are less sure of themselves: shrunk leaves and soft thresholds against plain ones.

Means over ten folds of held-out rows.

    python bench/soft.py shrinkage    raw leaf shares of an unpruned tree against hierarchical shrinkage
    python bench/soft.py soft         crisp against soft thresholds of CART
    python bench/soft.py soft-shrunk  the same with shrunk leaves
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import treewright as tw
from treewright.uncertainty.soften import Method

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
CLASSES = [
    "adult", "credit-g", "electricity", "eucalyptus", "heart-cleveland",
    "letter", "pima-diabetes", "segment", "titanic", "vote",
]  # fmt: skip
WITH_NUMBERS = [
    "abalone", "adult", "auto-mpg", "boston-housing", "california-housing",
    "electricity", "heart-cleveland", "pima-diabetes", "segment", "titanic",
]  # fmt: skip
NUMBERS = ["abalone", "auto-mpg", "boston-housing", "california-housing", "ozone"]
MOST_ROWS = 5_000
FOLDS = 10

Fit = Callable[[pd.DataFrame, str], tw.Tree]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=sorted(COMPARISONS))
    tables, fits = COMPARISONS[parser.parse_args().what]
    print(f"| table | rows | measure | {' | '.join(fits)} |")
    print("|---|---|---|" + "---|" * len(fits))
    better = np.zeros(len(fits), dtype=int)
    for name in tables:
        data, target = table(name)
        losses = np.mean([fold_losses(data, target, fold, list(fits.values())) for fold in range(FOLDS)], axis=0)
        measure = "squared error" if name in NUMBERS else "log loss"
        print(f"| {name} | {len(data):,} | {measure} | {' | '.join(f'{loss:.4g}' for loss in losses)} |", flush=True)
        better += losses < losses[0]
    counts = [f"{count} of {len(tables)}" for count in better[1:]]
    print(f"\nlower than the first column: {', '.join(counts)}")


def table(name: str) -> tuple[pd.DataFrame, str]:
    """Return at most `MOST_ROWS` rows, without columns that name a row or give the target away, and the target."""
    listed = {one["name"]: one for one in json.loads((SHARED / "MANIFEST.json").read_text())["datasets"]}
    target = listed[name]["target"]
    data = pd.read_parquet(SHARED / f"{name}.parquet").dropna(subset=[target])
    data = data.drop(columns=listed[name].get("suggested_drop", []))
    text = [column for column, kind in listed[name]["column_kinds"].items() if kind == "text"]
    data = data.drop(columns=[column for column in text if column in data])
    return data.sample(min(len(data), MOST_ROWS), random_state=0).reset_index(drop=True), target


def fold_losses(data: pd.DataFrame, target: str, fold: int, fits: list[Fit]) -> list[float]:
    """Return the mean held-out loss of every way to learn, on the same rows."""
    is_test = np.random.default_rng(0).permutation(len(data)) % FOLDS == fold
    training, test = data[~is_test], data[is_test]
    return [loss(fit(training, target), test, target) for fit in fits]


def loss(tree: tw.Tree, rows: pd.DataFrame, target: str) -> float:
    classes = tree.schema.target.classes
    if classes is None:
        return float(np.mean((rows[target].to_numpy(float) - tw.predict(tree, rows)) ** 2))
    place = {level: i for i, level in enumerate(classes)}
    truth = np.array([place.get(level, -1) for level in rows[target].tolist()])
    found = tw.predict_proba(tree, rows)[np.arange(len(rows)), truth]
    return float(np.mean(-np.log(np.clip(np.where(truth < 0, 0.0, found), np.finfo(float).eps, 1.0))))


def learner(recipe: tw.Recipe) -> Fit:
    """Return how to learn a tree; the tree of the last table is kept for those that soften it."""
    last: dict[str, Any] = {}

    def fit(data: pd.DataFrame, target: str) -> tw.Tree:
        if last.get("data") is not data:
            task = "regression" if target in REGRESSION else None
            last.update(data=data, tree=tw.learn(data, target, recipe, task=task))
        return last["tree"]

    return fit


def crisp_and_soft(recipe: tw.Recipe) -> dict[str, Fit]:
    """Return the crisp tree and its soft forms, by bootstrap with fewer refits than the default."""
    crisp = learner(recipe)

    def softener(method: Method) -> Fit:
        return lambda data, target: tw.soften(crisp(data, target), data, target, method=method, resamples=50)

    return {"crisp": crisp, "soft, by errors": softener("error"), "soft, by bootstrap": softener("bootstrap")}


UNPRUNED = tw.CART.with_(pruning=None, min_samples_leaf=1)
REGRESSION = {table(name)[1] for name in NUMBERS}
SHRINKAGE: dict[str, Fit] = {
    "raw shares": learner(UNPRUNED),
    "Laplace": learner(UNPRUNED.with_(smoothing="laplace")),
    "m-estimate, m = 2": learner(UNPRUNED.with_(smoothing="m_estimate")),
    "shrinkage, m = 10": learner(UNPRUNED.with_(smoothing="shrinkage", m=10.0)),
    "shrinkage by cross-validation": learner(UNPRUNED.with_(smoothing="shrinkage_cv")),
}
COMPARISONS = {
    "shrinkage": (CLASSES, SHRINKAGE),
    "soft": (WITH_NUMBERS, crisp_and_soft(tw.CART)),
    "soft-shrunk": (WITH_NUMBERS, crisp_and_soft(tw.CART.with_(smoothing="shrinkage_cv"))),
}


if __name__ == "__main__":
    main()
