"""The recipe: an algorithm as a frozen list of choices, checked when it is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, get_type_hints

from treewright.errors import RecipeError
from treewright.recipes.branching import Binary, Branching, Grouped, Merge, OneVsRest, Ordered
from treewright.recipes.choice import Choice, Count, Share, check_settings, require, split_optional
from treewright.recipes.criterion import (
    ChiSquare,
    ClassificationCriterion,
    Custom,
    FTest,
    GainRatio,
    Gini,
    InformationGain,
    PiecewiseLinear,
    RegressionCriterion,
    Twoing,
    Variance,
)
from treewright.recipes.leaves import Constant, LeafChoice, Linear, Pieces
from treewright.recipes.missing import Imputed, LearnedDirection, Missing, OwnCategory, Surrogates
from treewright.recipes.numeric import CategoricalOnly, Numeric, Threshold
from treewright.recipes.pruners import AdjustedError, Pruner
from treewright.recipes.saved_names import saved_name, saved_setting
from treewright.recipes.stopping import Collapse, Simplify, Stopping
from treewright.recipes.variants import CHOICE_NAMES, changed_fields, differences, named_choice


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """An algorithm: every choice the engine makes while it grows and prunes a tree.

    Choices may be given as values or by name. Invalid combinations raise `RecipeError` with an explanation.

    Parameters
    ----------
    name : str, default="custom"
        The name that messages and printed trees use.
    branching : Branching, default=Binary()
        How the levels of a nominal column become children.
    numeric : Numeric, default=Threshold()
        How numeric columns are split.
    criterion : Criterion, default=Gini()
        The criterion for classes; None if the recipe cannot learn classes.
    regression : Criterion, default=Variance()
        The criterion for a numeric target; None if the recipe cannot learn numbers.
    missing : Missing, default=Surrogates()
        Where rows with a missing value go.
    unseen : {"missing", "majority", "error"}, default="missing"
        Where a level that was not seen in training goes: as a missing value, or to the child with most rows.
    stopping : Stopping, default=Stopping()
        When a node stays a leaf.
    simplify : Simplify, optional
        What is collapsed right after growing.
    pruning : Pruner, optional
        How the grown tree is pruned.
    leaves : LeafChoice, default=Constant()
        What leaves predict: a constant, or a line in the columns.
    tie_tolerance : float, default=0.0
        A later candidate wins only if it is better by more than this (J48).
    drop_blank_rows : bool, default=False
        Leave rows with every column missing out of growing (rpart, CHAID).
    rivals : int, default=4
        Number of competing splits that each node stores.
    seed : int, default=0
        Seed for `max_features` and `RandomChild`.
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
    leaves: LeafChoice = field(default_factory=Constant)
    tie_tolerance: Share = 0.0
    drop_blank_rows: bool = False
    rivals: Count = 4
    seed: Count = 0

    def __post_init__(self) -> None:
        for name, names in CHOICE_NAMES.items():
            if isinstance(value := getattr(self, name), str):
                object.__setattr__(self, name, named_choice(f"Recipe.{name}", value, names))
        check_settings(self)
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
        require(
            not isinstance(self.branching, Ordered) or self.criterion is None,
            "Recipe.branching=Ordered orders levels by a numeric target; use criterion=None, or branching=Binary()",
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
        require(
            not isinstance(self.pruning, AdjustedError) or isinstance(self.leaves, Linear),
            "Recipe.pruning=AdjustedError compares linear models; use leaves=Linear(), or another pruner",
        )
        self._refuse_half_of_pilot()
        if isinstance(self.simplify, Collapse):
            require(self.regression is None, "Recipe.simplify=Collapse counts training errors; use regression=None")

    def _refuse_half_of_pilot(self) -> None:
        by_pieces = isinstance(self.regression, PiecewiseLinear)
        require(
            by_pieces or not isinstance(self.leaves, Pieces),
            "Recipe.leaves=Pieces are what PiecewiseLinear finds; use regression=PiecewiseLinear(), or leaves=Linear()",
        )
        require(
            not by_pieces or isinstance(self.leaves, (Pieces, Linear)),
            "Recipe.regression=PiecewiseLinear finds slopes; use leaves=Pieces() or leaves=Linear()",
        )
        require(
            not by_pieces or (isinstance(self.branching, Ordered) and isinstance(self.missing, Imputed)),
            "Recipe.regression=PiecewiseLinear takes numbers without gaps; use branching=Ordered(), missing=Imputed()",
        )
        limits = dataclasses.replace(self.stopping, max_depth=None, min_samples_split=2, min_samples_leaf=1)
        require(
            not by_pieces or limits == Stopping(),
            "Recipe.regression=PiecewiseLinear knows max_depth, min_samples_split and min_samples_leaf only",
        )

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
        """Return the named recipe and what differs from it, as `with_` takes it."""
        from treewright.recipes.named import RECIPES  # the named recipes are made of this class

        named = {recipe.name: recipe for recipe in RECIPES.values()}
        text, base = (self.name, named[self.name]) if self.name in named else ("Recipe()", Recipe())
        changes = differences(self, base)
        return f"{text}.with_({changes})" if changes else text

    def as_dict(self) -> dict[str, Any]:
        """Return the written form.

        Returns
        -------
        dict
            Every field; a choice is {"choice": class name, its settings}.
        """
        return dict(self._form)

    @cached_property
    def without_surrogates(self) -> Recipe:
        """The recipe with no search for surrogates; kept, because many trees of one recipe need it."""
        if not isinstance(self.missing, Surrogates):
            return self
        return dataclasses.replace(self, missing=dataclasses.replace(self.missing, maximum=0))

    @cached_property
    def _form(self) -> dict[str, Any]:
        return {saved_setting(Recipe, f.name): written_choice(getattr(self, f.name)) for f in dataclasses.fields(self)}

    @staticmethod
    def from_dict(written: Mapping[str, Any]) -> Recipe:
        """Return the recipe that `as_dict` wrote.

        Parameters
        ----------
        written : mapping
            The written form; unknown fields and choices raise `RecipeError`.

        Returns
        -------
        Recipe
            The recipe.
        """
        known = {saved_setting(Recipe, f.name): f.name for f in dataclasses.fields(Recipe)}
        unknown = sorted(set(written) - set(known))
        require(not unknown, f"unknown recipe field {', '.join(map(repr, unknown))}")
        return Recipe(**{known[name]: read_choice(known[name], value) for name, value in written.items()})


def written_choice(value: Any) -> Any:
    """Return the written form of a field of a recipe."""
    if isinstance(value, Custom):
        name = getattr(value.function, "__name__", "function")
        return {"choice": "Custom", "function": name, "task": value.task}
    if dataclasses.is_dataclass(value):
        kind = type(value)
        given = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        settings = {saved_setting(kind, name): written_choice(one) for name, one in given.items()}
        return {"choice": saved_name(kind), **settings}
    return list(value) if isinstance(value, tuple) else value


def _named_only(name: str) -> Callable[[Any, Any], Any]:
    """Return a stand-in for a user's criterion in a loaded tree: the function itself was never saved."""

    def score(*_: Any) -> Any:
        raise RecipeError(f"the criterion function {name!r} is not saved with a tree; build the recipe again with it")

    score.__name__ = name
    return score


def read_choice(name: str, value: Any) -> Any:
    """Return the value of a field of a recipe that `written_choice` wrote; anything else raises `RecipeError`."""
    if not isinstance(value, Mapping):
        return value
    settings = dict(value)
    choice = settings.pop("choice", None)
    types = {saved_name(kind): kind for kind in _choices(name)}
    require(choice in types, f"Recipe.{name} has the unknown choice {choice!r}; known: {', '.join(types)}")
    kind: Any = types[choice]
    known = {saved_setting(kind, f.name): f.name for f in dataclasses.fields(kind)}
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


@cache
def _choices(name: str) -> tuple[type[Choice], ...]:
    """Return the classes that a field of a recipe can have; none for plain settings."""
    kinds, _ = split_optional(get_type_hints(Recipe)[name])
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Choice))
