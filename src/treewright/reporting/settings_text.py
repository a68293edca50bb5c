"""The settings of a recipe as sentences, for the page. A choice without a sentence here is named with its settings."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from treewright.data.number_text import many, number_text
from treewright.inspection.derivation.criterion_names import criterion_of
from treewright.recipes.leaves import Constant, LeafChoice
from treewright.tree.certificate import Certificate
from treewright.tree.text import printable
from treewright.tree.tree import Tree

_SENTENCES = {
    "EachValue": "A nominal column is split into one child per level.",
    "Binary": "A nominal column is split into two groups of levels.",
    "Grouped": "The levels of a nominal column are merged pair by pair while the criterion improves.",
    "OneVsRest": "A nominal column is split into one level and the rest.",
    "Merge": "Levels whose target distributions do not differ significantly (p above {alpha_merge}) are merged; "
    "a split needs p of at most {alpha_split}.",
    "Threshold": "A numeric column is split by one threshold.",
    "Binned": "A numeric column is divided once into {groups} quantile groups, which are then merged like levels.",
    "CategoricalOnly": "Numeric columns are not accepted.",
    "Fractional": "A row with a missing value goes to all children, in fractions.",
    "Surrogates": "A row with a missing value follows up to {maximum} surrogate splits; without any it {then}.",
    "OwnCategory": "Missing is a category of its own.",
    "MajorityChild": "A row with a missing value goes to the child with the largest known weight.",
    "RandomChild": "A row with a missing value goes to a child drawn by share.",
    "LearnedDirection": "Rows with a missing value go to the child where the criterion is best.",
    "Ignore": "Rows with a missing value are dropped below the split; the node's own value is predicted for them.",
    "RefuseMissing": "Missing values raise an error.",
    "Collapse": "After growing, a subtree that makes no fewer training errors than a leaf is collapsed.",
    "Complexity": "A split must reduce the relative error by at least {cp} (cp).",
    "CostComplexity": "The tree is pruned by cost-complexity with alpha {alpha}.",
    "CostComplexityCV": "The tree is pruned by cost-complexity with an alpha chosen by {folds}-fold cross-validation "
    "({rule}).",
    "ErrorBased": "The tree is pruned by error-based pruning with confidence {confidence}.",
    "ReducedError": "The tree is pruned by reduced-error pruning on rows set aside.",
    "Pessimistic": "The tree is pruned by pessimistic pruning.",
    "MaxDepth": "The tree is pruned to depth {depth}.",
    "MaxLeaves": "The tree is pruned to {leaves} leaves.",
}

_LIMITS = {
    "max_depth": "The depth is at most {}.",
    "min_samples_split": "A node is split if it has at least {} rows.",
    "min_samples_leaf": "Each child has at least {} rows.",
    "min_weight_split": "A node is split if its weight is at least {}.",
    "min_weight_leaf": "Each child has a weight of at least {}.",
    "min_weight_two": "At least two children have a weight of at least {}.",
    "max_leaf_nodes": "The tree has at most {} leaves.",
    "max_features": "Each node considers {} columns, drawn at random.",
    "min_impurity_decrease": "A split decreases the impurity by at least {}.",
    "max_impurity": "A node with an impurity of at most {} stays a leaf.",
    "significance": "A split needs p of at most {} in the chi-square or F test.",
    "zero_gain": "A split without gain is allowed.",
}

_UNSEEN = {
    "missing": "An unseen level is treated as missing.",
    "majority": "An unseen level goes to the child with the largest weight.",
    "error": "An unseen level raises an error.",
}


def settings_text(tree: Tree) -> list[str]:
    """Return the settings of the tree's recipe as sentences, or what was searched; idle limits are left out."""
    if tree.certificate is not None:
        return [printable(text) for text in _search_text(tree.certificate, tree)]
    recipe = tree.recipe
    criterion = criterion_of(recipe, tree.schema.target)
    sentences = [f"Splits are compared by {_words(type(criterion).__name__)}{_settings(criterion)}."]
    sentences += [_sentence(choice) for choice in (recipe.branching, recipe.numeric, recipe.missing)]
    sentences.append(_UNSEEN[recipe.unseen])
    inactive = {f.name: f.default for f in dataclasses.fields(recipe.stopping)}
    for name, value in ((f.name, getattr(recipe.stopping, f.name)) for f in dataclasses.fields(recipe.stopping)):
        if value != inactive[name]:
            sentences.append(_LIMITS.get(name, f"{_words(name)}: {{}}.").format(_value(value)))
    sentences += [_sentence(choice) for choice in (recipe.simplify, recipe.pruning) if choice is not None]
    sentences += _leaf_sentences(recipe.leaves)
    return [printable(text) for text in (*sentences, f"In Python, the recipe is tw.{recipe!r}.")]


def _leaf_sentences(leaves: LeafChoice) -> list[str]:
    if not isinstance(leaves, Constant):
        return [_sentence(leaves)]
    if leaves.smoothing == "none":
        return []
    what = "Predictions" if leaves.smoothing == "shrinkage" else "Class probabilities"
    strength = "" if leaves.smoothing == "laplace" else f" (m {_value(leaves.m)})"
    return [f"{what} are smoothed: {_words(leaves.smoothing)}{strength}."]


def _search_text(certificate: Certificate, tree: Tree) -> list[str]:
    ended = (
        "The search ended by itself" if certificate.ended == "proven" else f"The search ended by {certificate.ended}"
    )
    return [
        f"The tree has the least {certificate.objective} among all trees of a depth of at most "
        f"{certificate.limits_text}."
        if certificate.proven
        else f"The tree is the best found among all trees of a depth of at most {certificate.limits_text}, by "
        f"{certificate.objective}.",
        f"It reaches {number_text(certificate.loss)}; none has less than {number_text(certificate.lower_bound)}.",
        f"Searched: {certificate.searched}.",
        f"{ended}, after {certificate.seconds:.1f} s and {many(certificate.subproblems, 'subproblem')}.",
        _UNSEEN[tree.recipe.unseen],
    ]


def _sentence(choice: Any) -> str:
    """Return the sentence of a choice, with its settings filled in."""
    name = type(choice).__name__
    settings = {f.name: _value(getattr(choice, f.name)) for f in dataclasses.fields(choice)}
    return _SENTENCES.get(name, f"{_words(name).capitalize()}{_settings(choice)}.").format(**settings)


def _settings(choice: Any) -> str:
    """Return the settings that are not at their defaults, in brackets."""
    changed = [
        f"{_words(f.name)} {_value(getattr(choice, f.name))}"
        for f in dataclasses.fields(choice)
        if getattr(choice, f.name) != f.default
    ]
    return f" ({', '.join(changed)})" if changed else ""


def _value(value: Any) -> str:
    if isinstance(value, float):
        return number_text(value)
    words = {
        "True": "yes",
        "False": "no",
        "None": "none",
        "majority": "goes to the larger child",
        "stop": "stops there",
    }
    text = str(getattr(value, "__name__", value))
    return words.get(text, text)


def _words(name: str) -> str:
    """Return `GainRatio` or `gain_ratio` as `gain ratio`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()
