"""Our side: the recipe of scikit-learn by each of its two doors, and CART with everything it keeps.

The estimator gets the very matrix that the peers get; the number of rivals is 0 where peers keep none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from contenders import Contender, Fitted
from tables import Table

import treewright as tw


@cache
def recipe(depth: int | None, base: tw.Recipe = tw.SKLEARN) -> tw.Recipe:
    """The recipe cut at a depth; what scikit-learn does not keep is not kept. A value, made before the fits."""
    rivals = {"rivals": 0} if base is tw.SKLEARN else {}
    return replace(base, stopping=replace(base.stopping, max_depth=depth), **rivals)


def _estimator(chosen: tw.Recipe, table: Table, threads: int) -> Fitted:
    kind: Any = tw.TreeClassifier if table.classes else tw.TreeRegressor
    levels = {"categorical_features": list(table.nominal)} if table.nominal else {}
    estimator = kind(recipe=chosen, n_jobs=threads, **levels).fit(table.x, table.y)
    return Fitted(estimator.predict, estimator)


def fit(table: Table, depth: int | None, threads: int) -> Fitted:
    return _estimator(recipe(depth), table, threads)


def _fit_cart(table: Table, depth: int | None, threads: int) -> Fitted:
    return _estimator(recipe(depth, tw.CART), table, threads)


def _variant(**changes: Any) -> Callable[[Table, int | None, int], Fitted]:
    def fit_variant(table: Table, depth: int | None, threads: int) -> Fitted:
        return _estimator(recipe(depth, tw.CART.with_(**changes)), table, threads)

    return fit_variant


def _learn(table: Table, depth: int | None, threads: int) -> Fitted:
    kinds = {f"x{j}": "nominal" for j in table.nominal} or None
    tree = tw.learn(table.x, table.y, recipe(depth), kinds=kinds, task=table.task, n_threads=threads)
    return Fitted(lambda x: tw.predict(tree, x, n_threads=threads), tree)


OURS = Contender("treewright", "treewright", "treewright", True, fit, note="estimator, recipe SKLEARN")
OURS_LEARN = Contender("treewright learn", "treewright", "treewright", True, _learn, note="learn, recipe SKLEARN")
OURS_CART = Contender("treewright CART", "treewright", "treewright", True, _fit_cart, note="surrogates and rivals kept")

# CART against itself: what cross-validation and rivals cost. These take part where they are asked for by name.
UNPRUNED = Contender("CART, unpruned", "treewright", "treewright", True, _variant(pruning=None))
CROSS_VALIDATED = Contender("CART, cross-validated", "treewright", "treewright", True, _fit_cart)
NO_RIVALS = Contender("CART, cross-validated, no rivals", "treewright", "treewright", True, _variant(rivals=0))
UNPRUNED_NO_RIVALS = Contender(
    "CART, unpruned, no rivals", "treewright", "treewright", True, _variant(pruning=None, rivals=0)
)
VARIANTS = (UNPRUNED, CROSS_VALIDATED, NO_RIVALS, UNPRUNED_NO_RIVALS)
