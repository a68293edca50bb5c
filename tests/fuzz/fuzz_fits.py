"""Other ways to fit and to judge: the optimal tree, near-optimal ones, resamples, calibration, rankings."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
from fuzz_cases import Case
from fuzz_checks import check_predictions, refusing, require

import treewright as tw

Outcome = tw.Tree | type[tw.TreewrightError]


def _outcome(case: Case, settings: dict[str, Any], n_threads: int) -> Outcome:
    """The optimal tree, or the type of the refusal."""
    try:
        return tw.learn_optimal(case.table, case.target, **case.options, **settings, n_threads=n_threads)
    except tw.TreewrightError as error:
        require(len(str(error)) < 5000, "message too long", len(str(error)))
        return type(error)


def check_optimal(case: Case) -> None:
    """The optimal tree is a sound tree, proven, and the same for any order of rows and number of threads."""
    rng = random.Random(case.order)
    case = case.take(list(range(min(case.n_rows, 60))))  # the search is exponential in the depth
    settings: dict[str, Any] = {
        "max_depth": rng.choice((0, 1, 2, 2, 3)),
        "min_samples_leaf": rng.choice((1, 1, 3, 2**40)),
        "leaf_penalty": rng.choice((0.0, 0.0, 0.01, 1e100)),
        "max_leaves": rng.choice((None, None, 1, 3, 2**40)),
        "missing": rng.choice(("learned", "own", "majority")),
        "max_levels": rng.choice((5, 1, 12)),
    }
    if settings["max_depth"] == 3:
        settings["max_levels"] = min(settings["max_levels"], 5)  # 12 levels have 2,047 splits, and these three in a row
    tree = _outcome(case, settings, 1)
    order = list(range(case.n_rows))
    rng.shuffle(order)
    found = _outcome(case.take(order), settings, 3)
    if not isinstance(tree, tw.Tree) or not isinstance(found, tw.Tree):
        require(tree is found, "row order decides whether the optimal tree is refused", (tree, found))
        return
    text = tw.export.to_json(tree)
    require(_timeless(found) == _timeless(tree), "row order shows in the optimal tree", f"{tree}\n{found}")
    loaded = tw.export.from_json(text)
    require(tw.export.to_json(loaded) == text, "loaded optimal tree is saved differently")
    check_predictions(case, tree, loaded)
    _check_certificate(case, tree, settings)


def _timeless(tree: tw.Tree) -> dict[str, Any]:
    """The tree as it is saved, without the time that the search took."""
    saved = json.loads(tw.export.to_json(tree))
    del saved["certificate"]["seconds"]
    return saved


def _check_certificate(case: Case, tree: tw.Tree, settings: dict[str, Any]) -> None:
    """The loss is proven, and no greater than that of the tree without splits."""
    certificate = tree.certificate
    assert certificate is not None
    require(certificate.proven, "an unlimited search is a proof", certificate)
    require(math.isfinite(certificate.loss) and certificate.loss >= 0, "the loss is a number", certificate)
    require(tree.depth <= settings["max_depth"], "the optimal tree is too deep", tree)
    if settings["leaf_penalty"] == 0:
        root = _outcome(case, {**settings, "max_depth": 0}, 1)
        assert isinstance(root, tw.Tree)
        assert root.certificate is not None
        bound = root.certificate.loss * (1 + 1e-9)
        require(certificate.loss <= bound, "the optimal tree is worse than its root", (certificate, root.certificate))


def check_judgements(case: Case, tree: tw.Tree) -> None:
    """What refits or calibrates a tree gives numbers in range, or refuses."""
    rng = random.Random(case.order)
    given = {name: case.options[name] for name in ("weight",) if name in case.options}
    task = {name: case.options[name] for name in ("kinds", "task") if name in case.options}
    refusing(lambda: _check_calibration(case, tree, rng.choice((0.5, 0.9, 0.999))))
    refusing(lambda: str(tw.stability(tree, case.table, resamples=2, n_threads=1, **given)))
    refusing(lambda: str(tw.rank_splits(case.table, case.target, recipe=case.recipe, **given, **task)))
    recipe = case.recipe.with_(pruning=None)
    validated = {**given, **task, "n_threads": 1}
    refusing(lambda: str(tw.cross_validate(case.table, case.target, recipe, folds=2, **validated)))
    refusing(lambda: str(tw.permutation_test(case.table, case.target, recipe, permutations=2, folds=2, **validated)))
    few = replace(case, recipe=recipe).take(list(range(min(case.n_rows, 25))))
    refusing(lambda: str(tw.alternatives(few.table, few.target, max_depth=1, **given, **task)))


def _check_calibration(case: Case, tree: tw.Tree, coverage: float) -> None:
    calibrated = tw.calibrate(tree, case.table, coverage=coverage, n_threads=1)
    text = tw.export.to_json(calibrated)
    require(tw.export.to_json(tw.export.from_json(text)) == text, "calibrated tree is saved differently")
    if tree.schema.target.classes is None:
        ends = tw.predict_interval(calibrated, case.table, n_threads=1)
        require(not np.isnan(ends).any() and (ends[:, 0] <= ends[:, 1]).all(), "intervals have two ends", ends)
    else:
        sets = tw.predict_set(calibrated, case.table, n_threads=1)
        require(sets.shape == (case.n_rows, len(tree.schema.target.classes)), "a set for every row", sets.shape)
