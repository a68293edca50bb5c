"""Random recipes: any choice of every field with random settings; impossible ones are drawn again."""

from __future__ import annotations

import dataclasses
import random
import typing
from typing import Any

import treewright as tw
from treewright.recipes.named import RECIPES

#: The classes of each field that holds a choice, and whether it may be None.
CHOICES: dict[str, tuple[tuple[type, ...], bool]] = {}
for _name, _hint in typing.get_type_hints(tw.Recipe).items():
    _kinds = typing.get_args(_hint) or (_hint,)
    _classes = tuple(kind for kind in _kinds if dataclasses.is_dataclass(kind) and kind.__name__ != "Custom")
    if _classes:
        CHOICES[_name] = _classes, type(None) in _kinds

#: Values for settings, by the name of the setting; those not listed keep their default.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "max_depth": (None, 0, 1, 2, 5, 2**31, 2**63),
    "min_samples_split": (2, 3, 10, 2**40),
    "min_samples_leaf": (1, 2, 5, 2**40),
    "min_weight_split": (0.0, 2.0, 4.0, 1e300),
    "min_weight_leaf": (0.0, 0.5, 3.0, 1e300),
    "min_weight_two": (0.0, 2.0, 1e-300),
    "max_leaf_nodes": (None, 2, 3, 7, 2**40),
    "max_features": (None, 1, 2, 2**40),
    "min_impurity_decrease": (0.0, 0.01, 1e-300, 1e300),
    "max_impurity": (None, 0.0, 0.3, 1e300),
    "significance": (None, 0.0, 0.05, 0.5, 1.0),
    "zero_gain": (False, True),
    "at": ("midpoint", "observed"),
    "test": ("<=", "<"),
    "min_gap": (0.0, 1e-5, 0.5, 1e300),
    "min_tenth_per_class": (False, True),
    "mdl_penalty": (False, True),
    "groups": (2, 3, 10, 2**40),
    "average_rule": (True, False),
    "likelihood_ratio": (False, True),
    "maximum": (0, 1, 5, 2**40),
    "then": ("majority", "stop"),
    "majority": ("known", "all"),
    "imperfect_levels": (False, True),
    "search": ("always", "needed"),
    "alpha_merge": (0.05, 0.5, 1.0, 0.0),
    "alpha_resplit": (None, 0.04),
    "alpha_split": (0.05, 0.5, 1.0),
    "bonferroni": (True, False),
    "exhaustive": (False, True),
    "multiplier": ("spss", "biggs"),
    "min_child": (1, 2, 50),
    "top_down": (False, True),
    "cp": (0.01, 0.0, -1, 1),
    "smoothing": ("none", "laplace", "m_estimate", "shrinkage"),
    "m": (2.0, 0.0, 1e100),
    "empty": ("majority", "distribution"),
    "alpha": (0.0, 0.01, 1.0, 1e300),
    "risk": ("error", "impurity", "deviance"),
    "weakest_link": ("exact", "rpart"),
    "unit": ("weight", "root"),
    "folds": (2, 3),
    "rule": ("1se", "min"),
    "stratified": (True, False),
    "share": (0.25, 0.01, 0.99),
    "seed": (0, 1, 2**62),
    "confidence": (0.25, 1e-6, 1.0),
    "raising": (True, False),
    "deviate": ("table", "exact"),
    "correction": (0.5, 0.0, 1e300),
    "standard_errors": (1.0, 0.0, 1e300),
    "value": (0.0, 0.1, -1e300, 1e300),
    "nodes": ((0,), (1, 2), (4,), (10**6,)),
    "depth": (0, 1, 3),
    "leaves": (1, 2, 5),
}
#: Settings that end most trees at the root, and so are rare.
_RARE = (2**40, 2**31, 2**63, 1e300, -1e300, 1e100, 10**6, 0)
#: How often a field differs from the named recipe's.
_CHANGED = {"pruning": 0.12, "stopping": 0.4, "simplify": 0.1}
_SPLITTING: dict[str, dict[str, Any]] = {
    "ID3": {"numeric": tw.numeric.Threshold(), "missing": tw.missing.Fractional()},
    "C45": {"pruning": None},
    "J48": {"pruning": None},
    "CART": {"pruning": None},
    "RPART": {"stopping": tw.stopping.Stopping(), "simplify": None},
    "CHAID": {"stopping": tw.stopping.Stopping(), "branching": tw.branching.Merge(min_child=1, alpha_split=0.5)},
    "EXHAUSTIVE_CHAID": {"stopping": tw.stopping.Stopping(), "branching": tw.branching.Merge(exhaustive=True)},
}
_SLOW = ("CostComplexityCV", "ImpurityThresholdCV")


def random_choice(rng: random.Random, kind: type, changed: float = 0.25) -> Any:
    """A choice of this class, each setting changed with this probability or where it has no default."""
    drawn = {}
    for field in dataclasses.fields(kind):
        needed = field.default is field.default_factory is dataclasses.MISSING
        if field.name in SETTINGS and (needed or rng.random() < changed):
            value = rng.choice(SETTINGS[field.name])
            drawn[field.name] = rng.choice(SETTINGS[field.name]) if value in _RARE and rng.random() < 0.8 else value
    try:
        return kind(**drawn)
    except tw.RecipeError:
        return random_choice(rng, kind, changed / 2)


def random_pruner(rng: random.Random) -> Any:
    """A pruner; those that cross-validate are rare, because they grow many trees."""
    kinds = CHOICES["pruning"][0]
    kind = rng.choice(kinds)
    return random_choice(rng, rng.choice(kinds) if kind.__name__ in _SLOW and rng.random() < 0.8 else kind)


def random_recipe(rng: random.Random, task: str | None) -> tw.Recipe:
    """A named recipe changed in some fields; one that cannot learn the task is drawn again, but not always."""
    for _ in range(12):
        base = rng.choice(list(RECIPES.values()))
        changes: dict[str, Any] = {}
        if rng.random() < 0.9:  # small tables are split, numbers too, and most trees are not cross-validated
            changes = {name: value for name, value in _SPLITTING.get(base.name, {}).items() if rng.random() < 0.9}
        for name, (kinds, optional) in CHOICES.items():
            if rng.random() < _CHANGED.get(name, 0.4):
                kind = rng.choice([each for each in kinds if each.__name__ != "CategoricalOnly"])
                changes[name] = random_pruner(rng) if name == "pruning" else random_choice(rng, kind)
                if optional and rng.random() < 0.1:
                    changes[name] = None
        changes["unseen"] = rng.choice(("missing", "majority", "error"))
        changes["drop_blank_rows"] = rng.random() < 0.3
        changes["rivals"] = rng.choice((0, 0, 4, 2**40))
        changes["seed"] = rng.choice((0, 0, 1, 2**62))
        changes["tie_tolerance"] = rng.choice((0.0, 0.0, 0.0, 1e-6, 1.0))
        try:
            recipe = dataclasses.replace(base, **changes)
        except tw.RecipeError:
            continue
        wanted = recipe.regression if task == "regression" else recipe.criterion
        if wanted is not None or rng.random() < 0.02:
            return recipe
    return tw.CART.with_(pruning=None)
