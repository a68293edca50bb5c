"""What must hold for every case: a sound tree or a `TreewrightError`, whatever the table and the recipe.

`check_light` runs for every case and takes about a millisecond; `check_views` and `check_partitions` run for a sample.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_cases import Case
from fuzz_recipes import random_pruner
from partition_cases import LIMITS, check_parts

import treewright as tw
from treewright.training.learn import FitOptions, training_table

Outcome = tw.Tree | type[tw.TreewrightError]


class BrokenError(AssertionError):
    """A property that does not hold; `name` tells failures apart."""

    def __init__(self, name: str, detail: object = "") -> None:
        super().__init__(f"{name}: {str(detail)[:300]}")
        self.name = name


def require(condition: object, name: str, detail: object = "") -> None:
    """Raise `BrokenError` unless the condition holds."""
    if not condition:
        raise BrokenError(name, detail)


def outcome(case: Case, n_threads: int = 1) -> Outcome:
    """The tree, or the type of the refusal."""
    try:
        return case.learn(n_threads)
    except tw.TreewrightError as error:
        require(len(str(error)) < 5000, "message too long", len(str(error)))
        return type(error)


# --- every case -------------------------------------------------------------------------------------------------------


def check_light(case: Case) -> tw.Tree | None:
    """Learn, save, load, predict, print; learn again from other rows' order with other threads."""
    tree = outcome(case)
    text = tw.export.to_json(tree) if isinstance(tree, tw.Tree) else ""
    if case.order % 3 == 0:
        check_order(case, tree, text)
    if not isinstance(tree, tw.Tree):
        return None
    loaded = tw.export.from_json(text)
    require(tw.export.to_json(loaded) == text, "loaded tree is saved differently")
    check_predictions(case, tree, loaded)
    str(tree)
    return tree


def check_order(case: Case, expected: Outcome, text: str) -> None:
    """The order of rows and the number of threads do not show."""
    order = list(range(case.n_rows))
    random.Random(case.order).shuffle(order)
    found = outcome(case.take(order), n_threads=3)
    if isinstance(expected, tw.Tree) and isinstance(found, tw.Tree):
        require(tw.export.to_json(found) == text, "row order shows", f"{expected}\n{found}")
    else:
        require(expected is found, "row order decides whether a table is refused", (expected, found))


def check_predictions(case: Case, tree: tw.Tree, loaded: tw.Tree) -> None:
    """One finite prediction per row, from the classes or between the values of the target."""
    try:
        predicted = tw.predict(tree, case.table, n_threads=1)
    except tw.DataError:
        # Levels or missing values may be refused by the recipe, and rows without weight are not checked in training.
        return
    require(len(predicted) == case.n_rows, "a prediction for every row")
    if case.order % 4 == 0:
        leaves = tw.apply(tree, case.table, n_threads=2)
        require(((leaves >= 0) & (leaves < tree.n_nodes)).all(), "leaves are nodes")
        require(
            np.array_equal(predicted, tw.predict(loaded, case.table, n_threads=2)), "loaded tree predicts otherwise"
        )
    classes = tree.schema.target.classes
    if classes is None:
        values = np.array([float(value) for value in case.columns[case.target]])
        require(np.isfinite(predicted).all(), "finite predictions", predicted)
        slack = 1e-12 * float(np.abs(values).max())  # a missing value adds up fractions of several leaves
        low, high = values.min() - slack, values.max() + slack
        if tree.models:  # a linear leaf predicts within its range guard
            low = min(low, *(model.low for model in tree.models))
            high = max(high, *(model.high for model in tree.models))
        require(((predicted >= low) & (predicted <= high)).all(), "predictions within the target", predicted)
        return
    shares = tw.predict_proba(tree, case.table, n_threads=1)
    require(np.isfinite(shares).all() and (shares >= 0).all(), "probabilities", shares)
    require(np.allclose(shares.sum(axis=1), 1), "probabilities add up to one", shares)
    require(set(predicted.tolist()) <= set(classes), "predictions are classes", predicted)


# --- a sample ---------------------------------------------------------------------------------------------------------


def check_partitions(case: Case) -> None:
    """The tree of rows in partitions is that of the whole table."""
    rng = random.Random(case.order)
    options = {name: value for name, value in case.options.items() if name != "class_weight"}
    try:
        whole, schema = training_table(case.table, case.target, FitOptions(**options))
    except tw.TreewrightError:
        return
    places = [rng.random() for _ in range(rng.randint(0, 4))]
    try:
        check_parts(whole, schema, case.recipe.with_(pruning=None), places, rng.choice(LIMITS))
    except AssertionError as error:
        raise BrokenError("partitions show", error) from error


def check_views(case: Case, tree: tw.Tree) -> None:
    """Whatever shows or explains a tree copes with it."""
    rng = random.Random(case.order)
    data = case.table
    tw.render.text(tree, width=rng.choice((20, 80, 200)))
    tw.render.svg(tree).encode()
    str(tw.rules(tree))
    tw.importance(tree)
    tw.masking(tree)
    str(tw.explain_node(tree, rng.randrange(tree.n_nodes)))
    repr(tree)
    refusing(lambda: str(tw.rules(tree, data, kind="list")))
    refusing(lambda: tw.prune(tree, random_pruner(rng), data))
    row = {name: values[rng.randrange(case.n_rows)] for name, values in case.columns.items()}
    refusing(lambda: str(tw.explain_row(tree, row)))
    refusing(lambda: tw.counterfactuals(tree, row))
    refusing(lambda: check_shap(tree, data))


def check_shap(tree: tw.Tree, data: Any) -> None:
    """SHAP values and the base value add up to the prediction."""
    found = tw.shap_values(tree, data)
    expected = tw.predict(tree, data) if tree.schema.target.classes is None else tw.predict_proba(tree, data)
    total = np.asarray(found.values).sum(axis=1) + np.asarray(found.base)
    scale = float(np.abs(expected).max(initial=1.0))
    require(np.allclose(total / scale, expected / scale, atol=1e-6), "SHAP values add up", (total, expected))


def check_pages(case: Case, tree: tw.Tree) -> None:
    """The report and its page are made."""
    refusing(lambda: tw.report(tree, case.table))
    refusing(lambda: tw.render.html(tree, case.table).encode())


def refusing(action: Callable[[], object]) -> None:
    """Run the action, which may refuse."""
    try:
        action()
    except tw.TreewrightError:
        return
