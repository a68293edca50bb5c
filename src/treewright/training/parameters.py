"""The estimators' parameters: what each means, and the recipe they make.

Comes in: a recipe to start from and the parameters that were given, under scikit-learn's names. Goes out: a `Recipe`;
for a class, its help.
Always holds: a parameter that is not given leaves the recipe as it is; a name or number that cannot be is an error that
names the parameter. scikit-learn itself is not needed here.
"""

from __future__ import annotations

import difflib
import inspect
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from treewright.data.schema import Task
from treewright.data.value_text import listed
from treewright.errors import RecipeError
from treewright.recipes.branching import Merge
from treewright.recipes.named import RECIPES
from treewright.recipes.pruners import CostComplexity
from treewright.recipes.recipe import Recipe
from treewright.recipes.stopping import Stopping
from treewright.recipes.variants import changed_fields, field_choice

Class = TypeVar("Class", bound=type)

#: The one description of every parameter, whichever estimators have it.
DESCRIPTIONS = {
    "recipe": "The choices to start from, such as treewright.C45 or its name 'c45'; None is treewright.CART.",
    "criterion": "What makes a split good. For classes 'gini', 'entropy' (also 'information_gain', 'log_loss'), "
    "'gain_ratio', 'misclassification', 'twoing' or 'chi_square'; for numbers 'squared_error' (also 'variance'), "
    "'standard_deviation', 'absolute_error', 'poisson' or 'f'. Or a value such as treewright.criterion.GainRatio(), "
    "or a "
    "function score(parent, children) as treewright.criterion.Custom has it.",
    "branching": "How levels become children: 'each_value', 'binary', 'grouped', 'one_vs_rest', 'merge', or a value "
    "such as treewright.branching.Merge(alpha_merge=0.1).",
    "numeric": "How numbers are asked about: 'threshold', 'binned' (in ten quantile groups), 'categorical_only', or "
    "a value "
    "such as treewright.numeric.Binned(5).",
    "missing": "Where a missing value goes: 'fractional', 'surrogate', 'own', 'majority', 'random', 'learned', "
    "'ignore', 'error', or a value such as treewright.missing.Surrogates(maximum=2).",
    "unseen": "Where a level that `fit` did not see goes: 'missing' (as a missing value), 'majority' or 'error'.",
    "max_depth": "The longest path from the root to a leaf.",
    "min_samples_split": "Fewest rows of a node that is split; a float is a share of all rows.",
    "min_samples_leaf": "Fewest rows of a leaf; a float is a share of all rows.",
    "min_weight_fraction_leaf": "Least weight of a leaf, as a share of the whole weight.",
    "max_leaf_nodes": "Most leaves; the split that improves most is made first.",
    "max_features": "How many columns each node looks at, drawn at random: an int, a share as float, 'sqrt' or 'log2'.",
    "min_impurity_decrease": "Least improvement by a split, times the node's share of the whole weight.",
    "max_impurity": "A node whose impurity is at or below this stays a leaf.",
    "significance": "Largest p of a split, by a chi-square or F test of its children.",
    "pruning": "How the grown tree is cut back: 'recipe' (as the recipe has it), None (not at all), "
    "'cost_complexity_cv', 'impurity_threshold_cv', 'reduced_error', 'error_based', 'pessimistic', 'minimum_error', "
    "'minimum_description', 'merge_equal_leaves', or a value such as treewright.pruning.CostComplexityCV(rule='min').",
    "ccp_alpha": "scikit-learn's: cost-complexity pruning at this alpha, by impurity; 0 does not prune. Instead of "
    "`pruning`.",
    "smoothing": "How a leaf's class shares become probabilities: 'none', 'laplace' (one more row of each class) or "
    "'m_estimate'.",
    "m": "For 'm_estimate': how many rows, mixed as the whole table is, are added.",
    "categorical_features": "Which columns hold levels: 'from_dtype' (text, categoricals, truth values), None, or a "
    "list of names, places or truth values.",
    "kinds": "What single columns are, by name (x0, x1, ... in an array): 'numeric', 'nominal', 'ordinal', 'boolean', "
    "'date', 'datetime', 'time', 'duration', or a list of levels from low to high.",
    "random_state": "The seed for max_features and missing='random'. None is the recipe's, so fitting twice gives one "
    "tree.",
    "n_jobs": "How many threads; -1 for all processors. The tree is the same for any number.",
    "class_weight": "The weight of each class, as a dict; 'balanced' gives all classes the same whole weight. "
    "Multiplies sample_weight.",
    "costs": "What wrong answers cost: {truth: {answer: cost}}, one where left out; or an array, the truth in rows and "
    "the answer in columns, in the order of `classes_`. Weighs classes in growing, and the cheapest answer is given.",
    "priors": "How frequent each class really is, as a dict or in the order of `classes_`; None is as in y.",
    "alpha_merge": "Levels, or groups of levels, whose difference has a larger p than this are merged.",
    "alpha_split": "Largest adjusted p of a split.",
    "bonferroni": "Whether p is adjusted for the number of ways in which levels can be merged.",
    "exhaustive": "Whether merging goes on down to two groups, to keep the best of all groupings on the way.",
    "min_child": "Fewest rows of a child; a smaller one is merged with the most similar.",
}

_MERGE = ("alpha_merge", "alpha_split", "bonferroni", "exhaustive", "min_child")
_STOPPING = ("max_depth", "max_leaf_nodes", "min_impurity_decrease", "max_impurity", "significance")


def recipe_with(
    recipe: Recipe,
    task: Task,
    parameters: Mapping[str, Any],
    *,
    n_rows: int | None,
    n_columns: int | None,
    total_weight: float | None,
) -> Recipe:
    """The recipe with every parameter that is not None. Shares are of the given rows, columns and weight.

    Where these are None, because the table is too large to be counted first, a share is refused.
    """
    given = {name: _plain(value) for name, value in parameters.items() if value is not None}
    own, other = ("criterion", "regression") if task == "classification" else ("regression", "criterion")
    changes: dict[str, Any] = _picked(given, ("branching", "numeric", "missing", "unseen", "seed", "smoothing", "m"))
    changes |= _stopping(given, n_rows, n_columns, total_weight)
    if "criterion" in given:
        changes[own] = field_choice(own, given["criterion"], getattr(recipe, own), "criterion")
    pruning = parameters.get("pruning", "recipe")
    if "ccp_alpha" in given:
        changes["pruning"] = _ccp(given["ccp_alpha"], pruning)
    elif not (isinstance(pruning, str) and pruning == "recipe"):
        changes["pruning"] = pruning
    choices = changed_fields(recipe, changes)
    merge = _picked(given, _MERGE)
    if merge:
        choices["branching"] = _merge(choices.get("branching", recipe.branching), merge)
    try:
        return replace(recipe, **choices) if choices else recipe
    except RecipeError:
        # Perhaps it is only the other task's criterion that these choices do not go with, and nobody asks for that one.
        choices[other] = None
        return replace(recipe, **choices)


def _ccp(alpha: Any, pruning: Any) -> CostComplexity | None:
    """scikit-learn's ccp_alpha; its 0 leaves even splits that gain nothing."""
    if not (isinstance(pruning, str) and pruning == "recipe"):
        raise RecipeError(f"give ccp_alpha or pruning, not both: ccp_alpha={alpha!r}, pruning={pruning!r}")
    chosen = CostComplexity(alpha, risk="impurity")
    return chosen if alpha > 0 else None


def _merge(branching: Any, settings: dict[str, Any]) -> Merge:
    if not isinstance(branching, Merge):
        raise RecipeError(
            f"{listed(tuple(settings))} can be set with branching='merge' only, not with {branching!r}; leave it None"
        )
    return replace(branching, **settings)


def _stopping(
    given: Mapping[str, Any], n_rows: int | None, n_columns: int | None, total_weight: float | None
) -> dict[str, Any]:
    settings = _picked(given, _STOPPING)
    for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1)):
        if name in given:
            settings[name] = _rows(name, given[name], n_rows, least)
    if "max_features" in given:
        settings["max_features"] = _columns(given["max_features"], n_columns)
    if "min_weight_fraction_leaf" in given:
        share = given["min_weight_fraction_leaf"]
        if not (isinstance(share, (int, float)) and 0 <= share <= 0.5):
            raise RecipeError(f"min_weight_fraction_leaf must be a share from 0 to 0.5, not {share!r}")
        settings["min_weight_leaf"] = (
            share * _counted("min_weight_fraction_leaf", share, total_weight) if share else 0.0
        )
    return settings


def _counted(parameter: str, value: Any, whole: float | None) -> float:
    """What the value is a share of."""
    if whole is None:
        raise RecipeError(
            f"{parameter}={value!r} is a share, and a table that is read some rows at a time is not counted first; "
            "give a whole number, or leave it None"
        )
    return whole


def _rows(parameter: str, value: Any, n_rows: int | None, least: int) -> Any:
    """A number of rows, given as such or as a share; as a share it is `least` rows or more."""
    if not isinstance(value, float):
        return value
    if not 0 < value <= 1:
        raise RecipeError(f"{parameter}={value!r} must be a whole number of rows, or a share above 0 and up to 1")
    return max(least, math.ceil(value * _counted(parameter, value, n_rows)))


def _columns(value: Any, n_columns: int | None) -> Any:
    """max_features as a number of columns, rounded as scikit-learn does."""
    if value in ("sqrt", "log2"):
        of = _counted("max_features", value, n_columns)
        return max(1, int(math.sqrt(of) if value == "sqrt" else math.log2(of)))
    if isinstance(value, str) or (isinstance(value, float) and not 0 < value <= 1):
        raise RecipeError(f"max_features={value!r} must be an int, a share above 0 and up to 1, 'sqrt' or 'log2'")
    return max(1, int(value * _counted("max_features", value, n_columns))) if isinstance(value, float) else value


def _picked(given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _plain(value: Any) -> Any:
    """A number of numpy, as grid searches make them, as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


# --- the help of a class ----------------------------------------------------------------------------------------------

_SHARED_HELP = """\
After `fit` the tree itself is `tree_`: `print(estimator.tree_)` shows it, `estimator.tree_.walk()` goes through its
nodes, and every function of treewright that takes a tree takes it. A parameter that is None is as the recipe has it.
The columns of a later table must be named and ordered as in `fit`, as everywhere in scikit-learn;
`treewright.predict(estimator.tree_, X)` goes by name alone."""

_ATTRIBUTES = {
    "tree_": "What was learned, a plain value.",
    "n_features_in_": "The number of columns.",
    "feature_names_in_": "Their names, if X was a table whose names are all text.",
    "n_outputs_": "Always 1.",
    "max_features_": "How many columns each node looked at.",
    "feature_importances_": "How much the splits on each column lower the impurity, weighted by rows, as shares that "
    "add up to 1; all 0 if there is no split.",
}
_CLASS_ATTRIBUTES = {
    "classes_": "The classes, sorted; if y is a categorical, in its order and with its unused levels.",
    "n_classes_": "How many classes there are.",
}


def documented(estimator: Class) -> Class:
    """The class with its parameters and attributes added to its docstring."""
    parameters = {f"{f.name} : default={f.default!r}": DESCRIPTIONS[f.name] for f in fields(estimator)}
    classes = getattr(estimator, "_task", None) == "classification"
    attributes = {**_ATTRIBUTES, **(_CLASS_ATTRIBUTES if classes else {})}
    sections = _section("Parameters", parameters), _section("Attributes", attributes)
    estimator.__doc__ = "\n\n".join([str(inspect.getdoc(estimator)), _SHARED_HELP, *sections])
    return estimator


def _section(title: str, entries: Mapping[str, str]) -> str:
    lines = [title, "-" * len(title)]
    for name, text in entries.items():
        lines += [name, textwrap.fill(text, 112, initial_indent="    ", subsequent_indent="    ")]
    return "\n".join(lines)


def unknown_argument(given: Mapping[str, object], known: Sequence[str], recipe: object) -> str:
    """Say why `learn` has no such argument, and where the setting belongs."""
    name, value = next(iter(given.items()))
    if name in {one.name for owner in (Stopping, Recipe) for one in fields(owner)}:
        named = [one.name for one in RECIPES.values() if one == recipe]
        base = f"treewright.{named[0]}" if named else "recipe"
        return (
            f"learn has no argument {name!r}: it is a setting of the recipe; write "
            f"learn(data, target, {base}.with_({name}={value!r}))"
        )
    if name in DESCRIPTIONS:
        return f"learn has no argument {name!r}: it is a parameter of estimators such as treewright.CARTClassifier"
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"its arguments are {listed(list(known))}"
    return f"learn has no argument {name!r}; {hint}"
