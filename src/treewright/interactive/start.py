"""What a session starts from: the target, the columns, the recipe and the rows held out, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from treewright.data.kinds import KindChoice
from treewright.data.schema import KINDS, Task
from treewright.editing.edits import Prune
from treewright.errors import DataError, RecipeError
from treewright.recipes.choice import snake_case
from treewright.recipes.criterion import CRITERION_NAMES, GainRatio, InformationGain
from treewright.recipes.missing import MISSING_NAMES
from treewright.recipes.named import CART, RECIPES, named_recipe
from treewright.recipes.numeric import Threshold
from treewright.recipes.pruners import (
    PRUNING_NAMES,
    AdjustedError,
    CostComplexityCV,
    CriticalValue,
    ErrorBased,
    MaxDepth,
    MaxLeaves,
    MinimumDescription,
    MinimumError,
    Pessimistic,
    Pruner,
    ReducedError,
)
from treewright.recipes.recipe import Recipe, written_choice
from treewright.recipes.saved_names import saved_setting

#: Pruners that need no further setting.
_PRUNERS: dict[str, Any] = {
    snake_case(one): one
    for one in (
        CostComplexityCV,
        ErrorBased,
        Pessimistic,
        ReducedError,
        MinimumError,
        CriticalValue,
        MinimumDescription,
    )
}


@dataclass(frozen=True)
class Start:
    """The settings of a session; another `Start` begins anew, and can be undone like an edit.

    `recipe` grows and ranks; its pruning is used only for the tree to compare with. `holdout` is the share of the rows
    that score the tree and that no split sees; None where a table of its own does, or nothing.
    """

    target: str
    recipe: Recipe = CART
    weight: str | None = None
    kinds: Mapping[str, KindChoice] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    task: Task | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    holdout: float | None = 0.25

    def encodes_as(self, other: Start) -> bool:
        """Return whether the rows are encoded alike: all but the recipe is the same."""
        return replace(self, recipe=other.recipe) == other

    def as_dict(self) -> dict[str, Any]:
        """Return the written form; what has its default is left out."""
        parts: dict[str, Any] = {"target": self.target, "recipe": written_recipe(self.recipe), "holdout": self.holdout}
        parts |= {name: getattr(self, name) for name in ("weight", "task") if getattr(self, name) is not None}
        parts |= {"left_out": list(self.left_out)} if self.left_out else {}
        parts |= {"costs": [list(row) for row in self.costs]} if self.costs is not None else {}
        kinds = {name: kind if isinstance(kind, str) else list(kind) for name, kind in self.kinds.items()}
        return parts | ({"kinds": kinds} if kinds else {})

    @staticmethod
    def from_dict(written: object) -> Start:
        """Return the start that `as_dict` wrote; anything else raises `DataError` or `RecipeError`."""
        if not isinstance(written, Mapping):
            raise DataError(f"a start is an object with the key 'target', not {type(written).__name__}")
        known = [one.name for one in fields(Start)]
        unknown = [key for key in written if key not in known]
        if unknown:
            raise DataError(f"a start has no {unknown[0]!r}; it has {', '.join(known)}")
        for name in ("target", "weight", "task"):
            if not isinstance(written.get(name), (str, type(None))):
                raise DataError(f"{name} must be a name, not {written[name]!r}")
        if not isinstance(written.get("target"), str):
            raise DataError("a start needs the name of its target")
        return Start(
            target=written["target"],
            recipe=read_recipe(written.get("recipe", "cart")),
            weight=written.get("weight"),
            kinds=_kinds(written.get("kinds", {})),
            left_out=_names(written.get("left_out", [])),
            task=written.get("task"),
            costs=_costs(written.get("costs")),
            holdout=_share(written.get("holdout", 0.25)),
        )


def written_recipe(recipe: Recipe) -> Any:
    """Return a recipe's name where it has one, else its written form."""
    return next((name for name, known in RECIPES.items() if known == recipe), None) or recipe.as_dict()


def recipe_choices(task: Task | None = None) -> dict[str, list[str]]:
    """Return the algorithms (those for a task), and the choices that may take the place of their own."""
    by_task: dict[str, list[str]] = {"classification": [], "regression": []}
    for name, criterion in CRITERION_NAMES.items():
        if name == snake_case(type(criterion)) or name == "f":
            by_task[criterion.task].append(name)
    return {
        "algorithm": [name for name, recipe in RECIPES.items() if _suits(recipe, task)],
        "criterion": by_task["classification"],
        "regression": by_task["regression"],
        "missing": list(MISSING_NAMES),
        "pruning": ["none", *_PRUNERS],
    }


def _suits(recipe: Recipe, task: Task | None) -> bool:
    return task is None or (recipe.criterion if task == "classification" else recipe.regression) is not None


def pruner_choices() -> list[dict[str, Any]]:
    """Return the pruners of an edit: name, written form, and the name of a setting that is to be given, if one is.

    `whole`: it prunes whole trees only, `classes_only`: it has no meaning for numbers.
    """
    plain: list[Pruner] = [one for one in PRUNING_NAMES.values() if not isinstance(one, (ReducedError, AdjustedError))]
    given: dict[str, Pruner] = {"leaves": MaxLeaves(8), "depth": MaxDepth(3), "value": CriticalValue(0.0)}
    pruners = [*plain, ErrorBased(raising=False), *given.values()]
    settings = [None] * (len(plain) + 1) + list(given)
    return [
        {
            "name": _shown_name(one),
            "pruner": written_choice(one),
            "whole": Prune(0, one).needs_rows,
            "classes_only": one.classes_only,
            "setting": None if setting is None else saved_setting(type(one), setting),
        }
        for one, setting in zip(pruners, settings, strict=True)
    ]


def _shown_name(pruner: Pruner) -> str:
    name = snake_case(type(pruner)).replace("_", " ").replace(" cv", ", cross-validated")
    return f"{name}, without raising" if isinstance(pruner, ErrorBased) and not pruner.raising else name


def read_recipe(written: object) -> Recipe:
    """Return a recipe from its name, its written form, or an algorithm with other choices."""
    if isinstance(written, Mapping) and "algorithm" in written:
        return _composed(dict(written))
    if isinstance(written, Mapping):
        return Recipe.from_dict(dict(written))
    if not isinstance(written, str):
        raise RecipeError(f"recipe must be a name or an object, not {written!r}")
    return named_recipe(written)


def _composed(written: dict[str, Any]) -> Recipe:
    """Return an algorithm with some choices replaced, each given by its name."""
    known = recipe_choices()
    for name, value in written.items():
        if name not in known:
            raise RecipeError(f"a recipe has no {name!r} here; it has {', '.join(known)}")
        if value not in known[name]:
            raise RecipeError(f"{name}={value!r} is not known; choose from {', '.join(known[name])}")
    changes: dict[str, Any] = {}
    for role in ("criterion", "regression"):
        if role in written:
            changes[role] = CRITERION_NAMES[written[role]]
    if "missing" in written:
        changes["missing"] = MISSING_NAMES[written["missing"]]
    if "pruning" in written:
        changes["pruning"] = None if written["pruning"] == "none" else _PRUNERS[written["pruning"]]()
    recipe = RECIPES[written["algorithm"]]
    numeric = recipe.numeric
    if isinstance(numeric, Threshold) and not isinstance(
        changes.get("criterion"), (GainRatio, InformationGain, type(None))
    ):
        changes["numeric"] = replace(numeric, mdl_penalty=False, min_tenth_per_class=False)  # rules in bits
    return recipe.with_(**changes) if changes else recipe


def _names(written: object) -> tuple[str, ...]:
    if not isinstance(written, list) or not all(isinstance(one, str) for one in written):
        raise DataError(f"left_out must be a list of names, not {written!r}")
    return tuple(written)


def _kinds(written: object) -> dict[str, KindChoice]:
    if not isinstance(written, Mapping):
        raise DataError(f"kinds must be an object of names and kinds, not {written!r}")
    for name, kind in written.items():
        if kind not in KINDS and not (isinstance(kind, list) and kind):
            raise DataError(f"{name!r} cannot be {kind!r}; kinds are {', '.join(KINDS)}")
    return {name: kind if isinstance(kind, str) else tuple(kind) for name, kind in written.items()}


def _costs(written: object) -> tuple[tuple[float, ...], ...] | None:
    if written is None:
        return None
    if not isinstance(written, list) or not all(isinstance(row, list) for row in written):
        raise DataError("costs must be a table: one row for each true class, one column for each prediction")
    return tuple(tuple(_cost(cell) for cell in row) for row in written)


def _cost(cell: object) -> float:
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        raise DataError(f"a cost must be a number, not {cell!r}")
    return float(cell)


def _share(written: object) -> float | None:
    if written is None:
        return None
    if isinstance(written, bool) or not isinstance(written, (int, float)) or not 0 < written < 1:
        raise DataError(f"holdout must be a share of the rows, between 0 and 1, or null, not {written!r}")
    return float(written)
