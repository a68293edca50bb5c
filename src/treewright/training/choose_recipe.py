"""The recipe, of several, that predicts held-out rows best."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treewright.data.encoding import Encoded
from treewright.data.rows import take, weights_of
from treewright.errors import DataError
from treewright.growing.exact_sums import total
from treewright.growing.partitions import Partitions
from treewright.prediction.probability_scores import row_losses
from treewright.prediction.routing import predict_values
from treewright.recipes.recipe import Recipe
from treewright.training.folds import random_folds
from treewright.tree.tree import Tree, cost_array, predicted_index

#: Folds that all recipes are compared on.
FOLDS = 10

NOT_IN_MEMORY = (
    "several recipes are compared by trees on folds of the rows, which must be in memory; give one recipe, or a "
    "smaller table"
)


def chosen_recipe(
    rows: Encoded | Partitions, recipes: Sequence[Recipe], fit: Callable[[Encoded, Recipe, int], Tree]
) -> Recipe:
    """Return the recipe with the least held-out loss, the first of equals.

    The loss is the cost of the predicted class, or the squared error. `fit(rows, recipe, step)` learns a tree by the
    whole recipe; steps count from 0 to recipes x `FOLDS` - 1.
    """
    if not isinstance(rows, Encoded):
        raise DataError(NOT_IN_MEMORY)
    losses = [0.0] * len(recipes)
    for i, fold in enumerate(random_folds(rows, FOLDS, recipes[0].seed)):
        if not fold.training.any():
            continue
        training, test = take(rows, fold.training), take(rows, fold.test)
        for place, recipe in enumerate(recipes):
            losses[place] += _held_out_loss(fit(training, recipe, i * len(recipes) + place), test)
    return recipes[losses.index(min(losses))]


def _held_out_loss(tree: Tree, rows: Encoded) -> float:
    target, values = tree.schema.target, predict_values(tree, rows, 1)
    if target.classes is None:
        loss = row_losses(target, rows, values)
    else:
        assert rows.target is not None
        loss = cost_array(target)[rows.target, predicted_index(target, values)]
    return total(loss * weights_of(rows))
