"""Limits of the trees that a search compares, and of the search itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.errors import RecipeError
from treewright.recipes.missing import MISSING_NAMES, LearnedDirection, MajorityChild, Missing, OwnCategory
from treewright.recipes.variants import named_choice

MAX_DEPTH = 8  # a search beyond it would not end
MAX_LEVELS = 12
MAX_PENALTY = 1e100  # its product with the sum of squares of any target that is learned is finite

Objective = Literal["misclassification", "balanced_accuracy", "squared_error"]
OBJECTIVES: tuple[Objective, ...] = ("misclassification", "balanced_accuracy", "squared_error")


@dataclass(frozen=True)
class SearchSettings:
    """The trees that are compared, and when the search ends. `memory_limit` is a number of bytes."""

    max_depth: int = 3
    min_samples_leaf: int = 1
    leaf_penalty: float = 0.0
    max_leaves: int | None = None
    max_levels: int = 5
    missing: Missing | str = "learned"
    time_limit: float | None = None
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        self._check_count("max_depth", 0, MAX_DEPTH)
        self._check_count("min_samples_leaf", 1)
        self._check_count("max_levels", 1, MAX_LEVELS)
        if self.max_leaves is not None:
            self._check_count("max_leaves", 1)
        for name in ("leaf_penalty", "time_limit"):
            value: Any = getattr(self, name)
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if value is not None and not (number and 0 <= value < float("inf")):
                raise RecipeError(f"{name} must be a finite number that is not negative, not {value!r}")
        if self.leaf_penalty > MAX_PENALTY:
            raise RecipeError(f"leaf_penalty must be at most {MAX_PENALTY:g}, not {self.leaf_penalty!r}")
        missing = named_choice("missing", self.missing, _POLICIES)
        if not isinstance(missing, (LearnedDirection, OwnCategory, MajorityChild)):
            raise RecipeError(
                f"missing={self.missing!r} is not known here; choose from {', '.join(map(repr, _POLICIES))}"
            )
        object.__setattr__(self, "missing", missing)

    def _check_count(self, name: str, least: int, most: int | None = None) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise RecipeError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if most is not None and value > most:
            raise RecipeError(f"{name} must be at most {most}, not {value!r}: the search would not end")

    @property
    def to_majority(self) -> bool:
        """Whether missing values go to the child of more known weight, not to the better one."""
        return isinstance(self.missing, MajorityChild)


#: Policies of the recipes under which a missing value goes to one child, known from the rows of the node.
_POLICIES = {name: MISSING_NAMES[name] for name in ("learned", "own", "majority")}
