"""Recipes: an algorithm is a frozen list of choices.

Comes in: choices, or `with_` on a named recipe.
Goes out: a `Recipe`, checked once, when it is built; `as_dict` and `from_dict` are its one written form, used by the
saved file and by the core alike.
Always holds: a `Recipe` that exists is possible.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from treewright.errors import RecipeError
from treewright.recipes.branching import Binary, Branching, EachValue, Grouped, Merge, OneVsRest
from treewright.recipes.choice import require, require_count, require_one_of, require_within
from treewright.recipes.criterion import (
    AbsoluteError,
    ChiSquare,
    ClassificationCriterion,
    Custom,
    FTest,
    GainRatio,
    Gini,
    InformationGain,
    Misclassification,
    Poisson,
    RegressionCriterion,
    StandardDeviation,
    Twoing,
    Variance,
)
from treewright.recipes.missing import (
    Fractional,
    Ignore,
    LearnedDirection,
    MajorityChild,
    Missing,
    OwnCategory,
    RandomChild,
    RefuseMissing,
    Surrogates,
)
from treewright.recipes.numeric import Binned, CategoricalOnly, Numeric, Threshold
from treewright.recipes.pruners import PRUNERS, Pruner
from treewright.recipes.stopping import Collapse, Complexity, Leaves, Simplify, Stopping
from treewright.recipes.variants import CHOICE_NAMES, changed_fields, differences, named_choice
from treewright.recipes.written import written_name, written_setting


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything the engine needs to know. `criterion` serves class targets, `regression` numeric ones (None: refused).

    `tie_tolerance`: a later candidate wins only by more than this (J48's comparisons); `drop_blank_rows`: rows with
    every
    column missing are left out of growing (rpart, CHAID); `rivals`: how many beaten splits each node remembers;
    `seed`: for max_features and RandomChild. `pruning` cuts the grown tree back; the core does not know of it.
    """

    name: str = "custom"
    branching: Branching = field(default_factory=Binary)
    numeric: Numeric = field(default_factory=Threshold)
    criterion: ClassificationCriterion | None = field(default_factory=Gini)
    regression: RegressionCriterion | None = field(default_factory=Variance)
    missing: Missing = field(default_factory=Surrogates)
    unseen: Literal["missing", "majority", "error"] = "missing"
    stopping: Stopping = field(default_factory=Stopping)
    simplify: Simplify | None = None
    pruning: Pruner | None = None
    leaves: Leaves = field(default_factory=Leaves)
    tie_tolerance: float = 0.0
    drop_blank_rows: bool = False
    rivals: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        for name, names in CHOICE_NAMES.items():
            if isinstance(value := getattr(self, name), str):
                object.__setattr__(self, name, named_choice(f"Recipe.{name}", value, names))
        for name, (types, optional) in _FIELD_TYPES.items():
            value = getattr(self, name)
            if isinstance(value, types) or (optional and value is None):
                continue
            allowed = ", ".join(t.__name__ for t in types)
            raise RecipeError(f"Recipe.{name} must be one of {allowed}{' or None' if optional else ''}, not {value!r}")
        require(isinstance(self.name, str), f"Recipe.name must be a string, not {self.name!r}")
        require(
            isinstance(self.drop_blank_rows, bool),
            f"Recipe.drop_blank_rows must be True or False, not {self.drop_blank_rows!r}",
        )
        require_one_of("Recipe", "unseen", self.unseen, ("missing", "majority", "error"))
        require_within("Recipe", "tie_tolerance", self.tie_tolerance, 0, 1)
        require_count("Recipe", "rivals", self.rivals, 0)
        require_count("Recipe", "seed", self.seed, 0)
        self._refuse_impossible()

    def _refuse_impossible(self) -> None:
        for name, task in (("criterion", "classification"), ("regression", "regression")):
            chosen = getattr(self, name)
            require(
                chosen is None or chosen.task == task,
                f"Recipe.{name} must be a criterion for {task}, but {type(chosen).__name__} is for the other task; "
                f"set it on Recipe.{'regression' if name == 'criterion' else 'criterion'} instead",
            )
        require(
            self.criterion is not None or self.regression is not None,
            "Recipe.criterion and Recipe.regression cannot both be None: there would be nothing to learn",
        )
        if isinstance(self.criterion, Twoing):
            require(
                isinstance(self.branching, (Binary, OneVsRest))
                and isinstance(self.numeric, (Threshold, CategoricalOnly)),
                "Recipe.criterion=Twoing compares two children; use branching=Binary() or OneVsRest() and "
                "numeric=Threshold()",
            )
            require(
                not isinstance(self.missing, OwnCategory) or isinstance(self.branching, Binary),
                "Recipe.missing=OwnCategory can make a third child, which Twoing cannot rate; use branching=Binary()",
            )
        if isinstance(self.branching, Merge):
            require(
                isinstance(self.criterion, (ChiSquare, type(None)))
                and isinstance(self.regression, (FTest, type(None))),
                "Recipe.branching=Merge compares groups by a test; use criterion=ChiSquare() and regression=FTest()",
            )
            require(
                not isinstance(self.numeric, Threshold),
                "Recipe.branching=Merge merges ordered groups of numbers; use numeric=Binned(10)",
            )
            require(
                not isinstance(self.missing, LearnedDirection),
                "Recipe.missing=LearnedDirection does not go with Merge; OwnCategory() lets CHAID place missing values",
            )
        if isinstance(self.branching, Grouped):
            require(
                isinstance(self.criterion, (InformationGain, GainRatio)) and self.regression is None,
                "Recipe.branching=Grouped climbs by information gain or gain ratio; use one of these as criterion and "
                "regression=None",
            )
        if isinstance(self.numeric, Threshold) and (self.numeric.mdl_penalty or self.numeric.min_tenth_per_class):
            require(
                isinstance(self.criterion, (InformationGain, GainRatio)) and self.regression is None,
                "Threshold.mdl_penalty and Threshold.min_tenth_per_class are C4.5's rules in bits; use "
                "criterion=GainRatio() or "
                "InformationGain() with regression=None, or switch them off",
            )
        if isinstance(self.simplify, Collapse):
            require(self.regression is None, "Recipe.simplify=Collapse counts training errors; use regression=None")

    def with_(self, **changes: Any) -> Recipe:
        """Return a variant of this recipe: what is not given stays as it is.

        Parameters
        ----------
        **changes
            A field of the recipe (`criterion`, `missing`, `pruning`, `name`, `seed`, ...) with a choice or its name in
            lower case, or a setting of `stopping` or `leaves` by itself (`max_depth=5` keeps the other limits). The
            name of a choice that the recipe has already keeps its settings. A function as `criterion` or `regression`
            becomes a `Custom` criterion.

        Returns
        -------
        Recipe
            The variant, under the same name unless `name` is given.

        Raises
        ------
        RecipeError
            If a name is not known, or the choices do not go together.

        Examples
        --------
        >>> import treewright as tw
        >>> tw.CART.with_(criterion="entropy", pruning=None, max_depth=5)
        CART.with_(criterion=InformationGain(), max_depth=5, pruning=None)
        """
        return dataclasses.replace(self, **changed_fields(self, changes))

    def __repr__(self) -> str:
        """The named recipe of this name and what differs from it, as `with_` takes it."""
        from treewright.recipes.named import RECIPES  # the named recipes are made of this class

        named = {recipe.name: recipe for recipe in RECIPES.values()}
        text, base = (self.name, named[self.name]) if self.name in named else ("Recipe()", Recipe())
        changes = differences(self, base)
        return f"{text}.with_({changes})" if changes else text

    def as_dict(self) -> dict[str, Any]:
        """The written form: every choice as {"choice": class name, its settings}."""
        return dict(self._form)

    @cached_property
    def _form(self) -> dict[str, Any]:
        return {written_setting(Recipe, f.name): _written(getattr(self, f.name)) for f in dataclasses.fields(self)}

    @staticmethod
    def from_dict(written: Mapping[str, Any]) -> Recipe:
        """The recipe that `as_dict` wrote; unknown fields and choices are an error."""
        known = {written_setting(Recipe, f.name): f.name for f in dataclasses.fields(Recipe)}
        unknown = sorted(set(written) - set(known))
        require(not unknown, f"unknown recipe field {', '.join(map(repr, unknown))}")
        return Recipe(**{known[name]: _read(name, value) for name, value in written.items()})


def _written(value: Any) -> Any:
    if isinstance(value, Custom):
        name = getattr(value.function, "__name__", "function")
        return {"choice": "Custom", "function": name, "task": value.task}
    if dataclasses.is_dataclass(value):
        kind = type(value)
        settings = {written_setting(kind, f.name): _written(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"choice": written_name(kind), **settings}
    return list(value) if isinstance(value, tuple) else value


def _named_only(name: str) -> Callable[[Any, Any], Any]:
    """Stands for a user's criterion after loading: the tree predicts, but the function itself was never saved."""

    def score(*_: Any) -> Any:
        raise RecipeError(f"the criterion function {name!r} is not saved with a tree; build the recipe again with it")

    score.__name__ = name
    return score


def _read(name: str, value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    settings = dict(value)
    choice = settings.pop("choice", None)
    types = {written_name(t): t for t in _FIELD_TYPES.get(name, ((), False))[0]}
    require(choice in types, f"Recipe.{name} has the unknown choice {choice!r}; known: {', '.join(types)}")
    kind = types[choice]
    known = {written_setting(kind, f.name): f.name for f in dataclasses.fields(kind)}
    unknown = sorted(set(settings) - set(known))
    require(not unknown, f"{choice} has no setting {', '.join(map(repr, unknown))}")
    needed = {f.name for f in dataclasses.fields(kind) if f.default is f.default_factory is dataclasses.MISSING}
    lacking = [key for key, field_name in known.items() if field_name in needed and key not in settings]
    require(not lacking, f"{choice} needs the setting {', '.join(map(repr, lacking))}")
    if kind is Custom:
        function = settings.get("function")
        require(isinstance(function, str), "Custom.function is written as its name")
        settings["function"] = _named_only(str(function))
    return kind(**{known[key]: value for key, value in settings.items()})


_FIELD_TYPES: dict[str, tuple[tuple[type, ...], bool]] = {
    "branching": ((EachValue, Binary, Grouped, OneVsRest, Merge), False),
    "numeric": ((Threshold, Binned, CategoricalOnly), False),
    "criterion": ((InformationGain, GainRatio, Gini, Misclassification, Twoing, ChiSquare, Custom), True),
    "regression": ((Variance, StandardDeviation, AbsoluteError, Poisson, FTest, Custom), True),
    "missing": (
        (Fractional, Surrogates, OwnCategory, MajorityChild, RandomChild, LearnedDirection, Ignore, RefuseMissing),
        False,
    ),
    "stopping": ((Stopping,), False),
    "simplify": ((Collapse, Complexity), True),
    "pruning": (PRUNERS, True),
    "leaves": ((Leaves,), False),
}
