"""The estimators' parameters: what each means, and the recipe they give. scikit-learn itself is not needed here."""

from __future__ import annotations

import difflib
import inspect
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from treewright.data.schema import Task
from treewright.data.value_text import listed
from treewright.errors import RecipeError
from treewright.recipes.branching import BRANCHING_NAMES, Merge
from treewright.recipes.choice import name_of
from treewright.recipes.criterion import CRITERION_NAMES
from treewright.recipes.leaves import Constant
from treewright.recipes.missing import MISSING_NAMES
from treewright.recipes.named import RECIPES
from treewright.recipes.numeric import NUMERIC_NAMES
from treewright.recipes.pruners import PRUNING_NAMES, CostComplexity
from treewright.recipes.recipe import Recipe
from treewright.recipes.stopping import Stopping
from treewright.recipes.variants import changed_fields, field_choice

Class = TypeVar("Class", bound=type)


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def described(text: str) -> dict[str, tuple[str, str]]:
    """Return type and meaning of each parameter of a text in numpydoc's form."""
    heads = [entry.partition("\n") for entry in re.split(r"\n(?=\w)", text.strip())]
    return {head.split(" : ")[0]: (head.split(" : ")[1], " ".join(meaning.split())) for head, _, meaning in heads}


#: Type and meaning of every parameter, whichever estimators have it.
DESCRIPTIONS = described(f"""
recipe : Recipe, str, sequence of them or None
    The choices to start from, such as treewright.C45 or its name 'c45'; treewright.CART by default. Of several,
    cross-validation on the rows given chooses one.
criterion : str, Criterion or callable
    How a split is scored: {_names(CRITERION_NAMES)}. Or a value such as treewright.criterion.GainRatio(), or a
    function score(parent, children) as treewright.criterion.Custom takes it.
branching : str or Branching
    How levels become children: {_names(BRANCHING_NAMES)}, or a value such as treewright.branching.Merge().
numeric : str or Numeric
    How numeric columns are split: {_names(NUMERIC_NAMES)}, or a value such as treewright.numeric.Binned(5).
missing : str or Missing
    Where a row with a missing value goes: {_names(MISSING_NAMES)}, or a value such as
    treewright.missing.Surrogates(maximum=2).
unseen : {{'missing', 'majority', 'error'}}
    Where a level that `fit` did not see goes: as a missing value, to the child with most rows, or nowhere.
max_depth : int or None
    Maximum depth of the tree; None is no limit.
min_samples_split : int or float
    Minimum number of rows needed to split a node; a float is a fraction of all rows.
min_samples_leaf : int or float
    Minimum number of rows of a leaf; a float is a fraction of all rows.
min_weight_fraction_leaf : float
    Minimum weight of a leaf, as a fraction of the total weight.
max_leaf_nodes : int or None
    Maximum number of leaves; the split that improves most is made first.
max_features : int, float, {{'sqrt', 'log2'}} or None
    Number of columns drawn at random for each node; a float is a fraction, None means all.
min_impurity_decrease : float
    Minimum gain of a split, times the node's share of the total weight.
max_impurity : float or None
    A node with at most this impurity is not split.
significance : float or None
    Maximum p-value of the chi-square or F test for a split to be accepted.
pruning : str, Pruner or None
    How the grown tree is pruned: None (not at all), {_names(PRUNING_NAMES)}, or a value such as
    treewright.pruning.CostComplexityCV(rule='min').
ccp_alpha : float or None
    scikit-learn's parameter: cost-complexity pruning by impurity at this alpha, instead of `pruning`; 0 does not
    prune.
smoothing : {{'none', 'laplace', 'm_estimate', 'shrinkage', 'shrinkage_cv'}}
    How class counts become probabilities: unchanged, with one more row of each class, with `m` rows, or drawn to
    those of the ancestors with strength `m`, or with one chosen by cross-validation (means too).
m : float
    For 'm_estimate': number of rows, in the proportions of the whole table, that are added; for 'shrinkage': its
    strength.
honest : bool
    Choose the splits by one half of the rows and take the predictions from the other half.
categorical_features : 'from_dtype', array-like or None
    Which columns hold levels: text, categoricals and booleans; or names, indices or a mask.
kinds : dict or None
    The kind of single columns by name (x0, x1, ... in an array): 'numeric', 'nominal', 'ordinal', 'boolean',
    'date', 'datetime', 'time', 'duration', or a list of levels from low to high.
random_state : int, RandomState or None
    Seed for max_features and missing='random'; None is the recipe's, so fitting twice gives the same tree.
n_jobs : int or None
    Number of threads; -1 for all processors. The tree is the same for any number.
class_weight : dict, 'balanced' or None
    The weight of each class, multiplied with sample_weight; 'balanced' gives all classes the same total weight.
costs : dict, array-like or None
    Misclassification costs {{truth: {{prediction: cost}}}}, 1 where left out; or an array with the truth in rows
    and the prediction in columns, in the order of `classes_`. They weight classes while growing; predictions
    minimise the expected cost.
priors : dict, array-like or None
    Class probabilities outside the table, as a dict or in the order of `classes_`; None is as in y.
alpha_merge : float
    Groups of levels are merged while the p-value of their difference exceeds this.
alpha_split : float
    Maximum adjusted p-value of a split.
bonferroni : bool
    Multiply p-values by the number of ways in which the levels can be merged.
exhaustive : bool
    Merge down to two groups and keep the best of all groupings on the way.
min_child : int
    Minimum number of rows of a child; a smaller one is merged with the most similar.
""")

_MERGE = ("alpha_merge", "alpha_split", "bonferroni", "exhaustive", "min_child")
_STOPPING = ("max_depth", "max_leaf_nodes", "min_impurity_decrease", "max_impurity", "significance")


#: Parameters for which None is a value: no limit.
_LIMITS = ("max_depth", "max_leaf_nodes", "max_features", "max_impurity", "significance")


def defaults_of(recipe: Recipe, task: Task) -> dict[str, Any]:
    """Return the parameters that give a recipe: what an estimator of this recipe has as defaults."""
    criterion = recipe.criterion if task == "classification" else recipe.regression
    choices = {"criterion": criterion, "branching": recipe.branching, "numeric": recipe.numeric}
    named = {**choices, "missing": recipe.missing, "pruning": recipe.pruning}
    plain = {name: getattr(recipe.stopping, name) for name in ("min_samples_split", "min_samples_leaf", *_STOPPING)}
    merge = {name: getattr(recipe.branching, name) for name in _MERGE} if isinstance(recipe.branching, Merge) else {}
    leaves = recipe.leaves
    return {
        **{name: None if choice is None else name_of(choice) for name, choice in named.items()},
        "unseen": recipe.unseen,
        **plain,
        "min_weight_fraction_leaf": 0.0,
        "max_features": recipe.stopping.max_features,
        "smoothing": leaves.smoothing if isinstance(leaves, Constant) else None,
        "m": leaves.m if isinstance(leaves, Constant) else None,
        **merge,
    }


def recipe_with(
    recipe: Recipe,
    task: Task,
    parameters: Mapping[str, Any],
    *,
    n_rows: int | None,
    n_columns: int | None,
    total_weight: float | None,
) -> Recipe:
    """Return the recipe with the parameters that were given.

    Parameters
    ----------
    recipe : Recipe
        The recipe to start from.
    task : {"classification", "regression"}
        Which criterion the parameter `criterion` replaces.
    parameters : mapping
        Parameters by scikit-learn's names. One that is "recipe", or None where None is no value, changes nothing.
    n_rows, n_columns, total_weight : optional
        What fractions refer to. Where they are None, because the table is not in memory, a fraction is refused.

    Returns
    -------
    Recipe
        The variant.
    """
    given = {
        name: _plain(value)
        for name, value in parameters.items()
        if (value is not None or name in _LIMITS) and not (isinstance(value, str) and value == "recipe")
    }
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
        # Perhaps only the other task's criterion does not go with these choices, and it is not used here.
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
    """Return what the value is a share of."""
    if whole is None:
        raise RecipeError(
            f"{parameter}={value!r} is a share, and a table that is read some rows at a time is not counted first; "
            "give a whole number, or leave it None"
        )
    return whole


def _rows(parameter: str, value: Any, n_rows: int | None, least: int) -> Any:
    """Return a number of rows, given as such or as a share; as a share it is `least` rows or more."""
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
    """Return a number of numpy, as grid searches make them, as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


# --- the help of a class ----------------------------------------------------------------------------------------------

_SHARED_HELP = """\
After `fit` the tree is `tree_`: `print(estimator.tree_)` shows it, `estimator.tree_.walk()` iterates over its nodes.
Every function of treewright that takes a tree takes the estimator too. The columns of a later table must be named and
ordered as in `fit`, as everywhere in scikit-learn; `treewright.predict(estimator, X)` goes by name alone."""

_ATTRIBUTES = {
    "tree_": ("Tree", "The fitted tree, a plain value."),
    "n_features_in_": ("int", "Number of columns."),
    "feature_names_in_": ("ndarray of str", "Their names, if X is a table whose names are all strings."),
    "n_outputs_": ("int", "Always 1."),
    "max_features_": ("int", "Number of columns examined at each node."),
    "feature_importances_": ("ndarray", "Total impurity decrease of each column's splits, normalised to sum to 1."),
}
_CLASS_ATTRIBUTES = {
    "classes_": ("ndarray", "The classes, sorted; for a categorical y its levels in their order, unused ones too."),
    "n_classes_": ("int", "Number of classes."),
}


def documented(estimator: Class, own: Mapping[str, tuple[str, str]] | None = None) -> Class:
    """Add the parameters and attributes of a class to its docstring; `own` describes parameters anew."""
    parameters = {}
    known = {**DESCRIPTIONS, **(own or {})}
    for one in fields(estimator):
        kind, text = known[one.name]
        parameters[one.name] = (f"{kind}, default={one.default!r}", text)
    attributes = {**_ATTRIBUTES, **(_CLASS_ATTRIBUTES if getattr(estimator, "_task", None) == "classification" else {})}
    text, _, examples = str(inspect.getdoc(estimator)).partition("\n\nExamples\n")
    sections = [text, _SHARED_HELP, _section("Parameters", parameters), _section("Attributes", attributes)]
    estimator.__doc__ = "\n\n".join([*sections, *([f"Examples\n{examples}"] if examples else [])])
    return estimator


def _section(title: str, entries: Mapping[str, tuple[str, str]]) -> str:
    lines = [title, "-" * len(title)]
    for name, (kind, text) in entries.items():
        lines += [f"{name} : {kind}", textwrap.fill(text, 112, initial_indent="    ", subsequent_indent="    ")]
    return "\n".join(lines)


def unknown_argument(given: Mapping[str, object], known: Sequence[str], recipe: object) -> str:
    """Explain why `learn` has no such argument, and where the setting belongs."""
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
