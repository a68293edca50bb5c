"""What the fields of edits may be: each function returns the value in its one form, or raises `DataError`."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from treewright.data.schema import Level
from treewright.errors import DataError
from treewright.recipes.pruners import (
    PRUNERS,
    PRUNING_NAMES,
    AdjustedError,
    CollapseNodes,
    Pruner,
    ReducedError,
)


def whole(value: Any, name: str, low: int, more: str = "") -> int:
    """Return a whole number, or raise `DataError`; `more` says what else it may be."""
    value = _unboxed(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise DataError(f"{name} must be a whole number of at least {low}{more and ', '}{more}, not {value!r}")
    return value


def check_name(value: object, name: str) -> None:
    """Raise `DataError` unless this is the name of a column."""
    if not isinstance(value, str):
        raise DataError(f"{name} must be the name of a column, not {value!r}")


def names(value: Any, name: str, *, needed: bool) -> tuple[str, ...]:
    """Return names of columns, each once."""
    found = (value,) if isinstance(value, str) else tuple(value)
    for one in found:
        check_name(one, name)
    if needed and not found:
        raise DataError(f"{name} must name at least one column")
    return tuple(dict.fromkeys(found))


def pruner_of(value: object) -> Pruner:
    """Return a pruner that an edit can have, also by its name."""
    if isinstance(value, str) and value not in PRUNING_NAMES:
        raise DataError(f"pruner={value!r} is not known; choose from {', '.join(PRUNING_NAMES)}, or give a Pruner")
    pruner = PRUNING_NAMES[value] if isinstance(value, str) else value
    if isinstance(pruner, ReducedError):
        raise DataError(
            "ReducedError needs rows that the tree has not seen, and an edit has the training rows; use "
            "tw.prune(tree, ReducedError(), rows), or another pruner"
        )
    if isinstance(pruner, AdjustedError):
        raise DataError("AdjustedError compares linear models, and trees that are edited have none")
    if isinstance(pruner, CollapseNodes):
        raise DataError("CollapseNodes names nodes; make an edit Collapse(node) for each")
    if not isinstance(pruner, PRUNERS):
        raise DataError(f"pruner must be a pruner, such as tw.pruning.CostComplexity(0.01), not {value!r}")
    return pruner


def thresholds(value: Any) -> float | tuple[float, ...]:
    """Return one threshold, or several that rise."""
    several = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    numbers = tuple(_number(one) for one in several)
    if not numbers or any(a >= b for a, b in pairwise(numbers)):
        raise DataError(f"thresholds must rise, and there must be one, not {value!r}")
    return numbers if len(numbers) > 1 else numbers[0]


def _number(value: Any) -> float:
    value = _unboxed(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise DataError(f"a threshold must be a finite number, not {value!r}")
    return float(value) + 0.0  # zero without a sign


def groups_of(value: Any) -> tuple[tuple[Level, ...], ...]:
    """Return groups of levels, none named twice."""
    if isinstance(value, str) or any(isinstance(group, str) for group in value):
        raise DataError(f"groups must be a list of lists of levels, not {value!r}")
    groups = tuple(tuple(level_of(one) for one in group) for group in value)
    if not groups or not all(groups):
        raise DataError("every group needs a level; give one group (the others form the second), or several")
    seen: set[Level] = set()
    for level in (one for group in groups for one in group):
        if level in seen:
            raise DataError(f"the level {level!r} is named twice; each belongs to one group")
        seen.add(level)
    return groups


def level_of(value: Any) -> Level:
    """Return a level: a string, a finite number or a boolean."""
    value = _unboxed(value)
    if not isinstance(value, (str, int, float, bool)) or (isinstance(value, float) and not math.isfinite(value)):
        raise DataError(f"a level is a string, a finite number or a boolean, not {value!r}")
    return value


def _unboxed(value: Any) -> Any:
    """Return a numpy scalar as Python's own."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value
