"""The named recipes: each algorithm with all its conventions, and the one table of their names."""

from __future__ import annotations

import dataclasses

from treewright.errors import RecipeError
from treewright.recipes.branching import EachValue, Merge, Ordered
from treewright.recipes.criterion import (
    ChiSquare,
    FifthRoot,
    FTest,
    GainRatio,
    InformationGain,
    PiecewiseLinear,
)
from treewright.recipes.leaves import Constant, Linear, Pieces
from treewright.recipes.missing import (
    Fractional,
    Imputed,
    LearnedDirection,
    OwnCategory,
    RefuseMissing,
    Surrogates,
)
from treewright.recipes.numeric import Binned, CategoricalOnly, Threshold
from treewright.recipes.pruners import AdjustedError, CostComplexityCV, ErrorBased
from treewright.recipes.recipe import Recipe
from treewright.recipes.stopping import Collapse, Complexity, Stopping

__all__ = [
    "C45",
    "CART",
    "CHAID",
    "EXHAUSTIVE_CHAID",
    "ID3",
    "J48",
    "M5",
    "MODEL_TREE",
    "MODEL_TREES",
    "PILOT",
    "RPART",
    "SKLEARN",
]

# --- the ancestors, every convention at once --------------------------------------------------------------------------

ID3 = Recipe(
    name="ID3",
    branching=EachValue(),
    numeric=CategoricalOnly(),
    criterion=InformationGain(),
    regression=None,
    missing=RefuseMissing(),
    leaves=Constant(empty="majority"),
)

C45 = Recipe(
    name="C45",
    branching=EachValue(),
    numeric=Threshold(at="observed", min_gap=1e-5, min_tenth_per_class=True, mdl_penalty=True),
    criterion=GainRatio(),
    regression=None,
    missing=Fractional(),
    stopping=Stopping(min_weight_split=4.0, min_weight_two=2.0, zero_gain=True),
    simplify=Collapse(),
    pruning=ErrorBased(),
    leaves=Constant(empty="majority"),
)

J48 = dataclasses.replace(
    C45,
    name="J48",
    stopping=Stopping(min_weight_split=4.0, min_weight_two=2.0),
    simplify=Collapse(top_down=True),
    pruning=ErrorBased(deviate="exact"),
    leaves=Constant(empty="distribution"),
    tie_tolerance=1e-6,
)

CART = Recipe(name="CART", missing=Surrogates(search="needed"), pruning=CostComplexityCV(folds=10, rule="1se"))

RPART = Recipe(
    name="RPART",
    numeric=Threshold(test="<"),
    missing=Surrogates(majority="all", imperfect_levels=True),
    stopping=Stopping(max_depth=30, min_samples_split=20, min_samples_leaf=7),
    simplify=Complexity(0.01),
    drop_blank_rows=True,
)

SKLEARN = Recipe(
    name="SKLEARN",
    missing=LearnedDirection(),
    stopping=Stopping(zero_gain=True),
    rivals=0,
)

CHAID = Recipe(
    name="CHAID",
    branching=Merge(min_child=50),
    numeric=Binned(10),
    criterion=ChiSquare(),
    regression=FTest(),
    missing=OwnCategory(),
    stopping=Stopping(max_depth=3, min_samples_split=100),
    drop_blank_rows=True,
)

EXHAUSTIVE_CHAID = dataclasses.replace(CHAID, name="EXHAUSTIVE_CHAID", branching=Merge(min_child=50, exhaustive=True))

M5 = Recipe(
    name="M5",
    branching=Ordered(),
    criterion=None,
    regression=FifthRoot(),
    missing=Imputed(),
    stopping=Stopping(min_samples_split=4, min_samples_leaf=2, min_deviation=0.05, zero_gain=True),
    leaves=Linear(columns="subtree", max_terms=None, select="cp", ridge_rows=1e-8, smoothing_rows=15.0, margin=None),
    pruning=AdjustedError(),
)

PILOT = Recipe(
    name="PILOT",
    branching=Ordered(),
    criterion=None,
    regression=PiecewiseLinear(),
    missing=Imputed(),
    stopping=Stopping(max_depth=12, min_samples_split=10, min_samples_leaf=5),
    leaves=Pieces(),
)

MODEL_TREE = Recipe(
    name="MODEL_TREE",
    branching=Ordered(),
    criterion=None,
    regression=PiecewiseLinear(price="coefficients"),
    missing=Imputed(),
    stopping=Stopping(max_depth=12, min_samples_split=20, min_samples_leaf=10),
    leaves=Linear(max_terms=None, smoothing_rows=15.0, margin=0.05),
    pruning=AdjustedError(factor=1.0),
)

#: Model trees for `learn` to choose from; no prediction is further than a twentieth beyond the targets of its leaf.
MODEL_TREES = (MODEL_TREE, PILOT.with_(margin=0.05), M5.with_(margin=0.05))

# --- by name ----------------------------------------------------------------------------------------------------------

RECIPES: dict[str, Recipe] = {
    "cart": CART,
    "c45": C45,
    "id3": ID3,
    "chaid": CHAID,
    "exhaustive_chaid": EXHAUSTIVE_CHAID,
    "j48": J48,
    "rpart": RPART,
    "sklearn": SKLEARN,
    "m5": M5,
    "pilot": PILOT,
    "model_tree": MODEL_TREE,
}


def recipe_key(text: str) -> str:
    """Return a recipe's name as the table has it: C4.5 is c45, and Exhaustive-CHAID is exhaustive_chaid."""
    return text.lower().replace(".", "").replace("-", "_")


def named_recipes(recipe: object) -> tuple[Recipe, ...]:
    """Return the recipe, or each of a sequence of recipes and names; see `named_recipe`."""
    if not isinstance(recipe, (list, tuple)):
        return (named_recipe(recipe),)
    if not recipe:
        raise RecipeError("recipe is an empty sequence; give at least one recipe")
    return tuple(map(named_recipe, recipe))


def named_recipe(recipe: object) -> Recipe:
    """Return the recipe itself, or the one of that name.

    Parameters
    ----------
    recipe
        A recipe, or a name in the table, in upper or lower case.

    Returns
    -------
    Recipe
        The recipe.

    Raises
    ------
    RecipeError
        If there is no recipe of that name, or it is neither a recipe nor a name.
    """
    if isinstance(recipe, Recipe):
        return recipe
    names = ", ".join(map(repr, RECIPES))
    if not isinstance(recipe, str):
        raise RecipeError(f"recipe must be a Recipe such as treewright.C45, or one of {names}, not {recipe!r}")
    if (key := recipe_key(recipe)) not in RECIPES:
        raise RecipeError(f"recipe={recipe!r} is not known; choose from {names}, or give a Recipe")
    return RECIPES[key]
