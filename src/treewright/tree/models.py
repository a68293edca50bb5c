"""Linear models of nodes: what a leaf predicts instead of a constant.

A model is its intercept plus its terms in order, kept within `low` and `high`. The core, the explanations and every
export read models through `LinearModel`, and nothing else knows how they are stored.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from treewright.data.arrays import Array, starts_of
from treewright.data.schema import Schema, require_keys
from treewright.errors import FileError

#: The guard of a model without one: every number that there is.
FREE = sys.float_info.max


class Term(NamedTuple):  # a tree has thousands, and a frozen dataclass takes four times as long to make
    """One term of a linear model: its coefficient times a number, or times 1 or 0 for a level.

    Attributes
    ----------
    column : int
        The place of the column in the schema.
    coefficient : float
        What the value is multiplied with.
    fill : float
        The value that counts where it is missing or a level is unseen: its mean over the rows of the node.
    levels : tuple of int, optional
        Levels, by their place in the schema, for which the value is 1; for all others it is 0. None for numbers.
    """

    column: int
    coefficient: float
    fill: float
    levels: tuple[int, ...] | None = None

    def value(self, x: float | None) -> float:
        """Return the value that is multiplied, for a number, the place of a level, or None (missing or unseen)."""
        if x is None:
            return self.fill
        return x if self.levels is None else float(x in self.levels)


@dataclass(frozen=True)
class LinearModel:
    """The linear model of a node.

    Attributes
    ----------
    intercept : float
        The prediction where every term is 0.
    terms : tuple of Term
        The terms, in the order in which they are added.
    low, high : float
        The range guard: a prediction beyond is set to the nearer of them.
    residual : float
        Weighted sum of squared residuals of the training rows of the node; NaN once the model is smoothed or saved.
    """

    intercept: float
    terms: tuple[Term, ...] = ()
    low: float = -FREE
    high: float = FREE
    residual: float = field(default=math.nan, compare=False)

    @property
    def is_free(self) -> bool:
        """Whether the model has no range guard."""
        return self.low == -FREE and self.high == FREE

    def predict(self, row: Sequence[float | None]) -> float:
        """Return the prediction for a row: per column a number, the place of a level, or None (missing, unseen)."""
        total = self.intercept
        for term in self.terms:
            total += term.coefficient * term.value(row[term.column])
        return self.guarded(total)

    def guarded(self, total: float) -> float:
        """Return a sum of terms within the range guard."""
        return min(total, self.high) if total >= self.low else self.low

    def as_dict(self) -> dict[str, Any]:
        """Return the written form; a model without guard has no limits."""
        written: dict[str, Any] = {"intercept": self.intercept, "terms": [_written(term) for term in self.terms]}
        return written if self.is_free else written | {"low": self.low, "high": self.high}


def model_arrays(models: Sequence[LinearModel], schema: Schema) -> dict[str, Array]:
    """Return the models of all nodes as the core reads them (docs/boundary.md)."""
    terms = [term for model in models for term in model.terms]
    members = [members_of(term.column, term.levels, schema) for term in terms]
    return {
        "model_start": starts_of([len(model.terms) for model in models]),
        "model_column": np.array([term.column for term in terms], dtype=np.int32),
        "model_coefficient": np.array([term.coefficient for term in terms], dtype=np.float64),
        "model_fill": np.array([term.fill for term in terms], dtype=np.float64),
        "model_member_start": starts_of([len(member) for member in members]),
        "model_member": np.array([one for member in members for one in member], dtype=np.int32),
        "model_intercept": np.array([model.intercept for model in models], dtype=np.float64),
        "model_low": np.array([model.low for model in models], dtype=np.float64),
        "model_high": np.array([model.high for model in models], dtype=np.float64),
    }


def members_of(column: int, levels: tuple[int, ...] | None, schema: Schema) -> list[int]:
    """Return per level of a column whether it is one of `levels`; nothing for a number."""
    if levels is None:
        return []
    return [int(place in levels) for place in range(len(schema.columns[column].levels or ()))]


# --- the written form -------------------------------------------------------------------------------------------------


def _written(term: Term) -> dict[str, Any]:
    parts = term._asdict()
    levels = parts.pop("levels")
    return parts if levels is None else parts | {"levels": list(levels)}


def write_models(models: Sequence[LinearModel]) -> list[dict[str, Any]]:
    """Return the written form of the models of all nodes."""
    return [model.as_dict() for model in models]


def read_models(written: object, n_nodes: int, schema: Schema) -> tuple[LinearModel, ...]:
    """Return the models that `write_models` wrote; anything else is a `FileError` that names the place."""
    if type(written) is not list or len(written) != n_nodes:
        raise FileError("$.models must be a list with one model per node")
    if schema.target.classes is not None:
        raise FileError("$.models: linear models predict numbers, but the target has classes")
    return tuple(_read_model(one, schema, f"$.models[{i}]") for i, one in enumerate(written))


def _read_model(written: object, schema: Schema, place: str) -> LinearModel:
    parts = require_keys(written, place, ("intercept", "terms"), ("low", "high"))
    if ("low" in parts) != ("high" in parts):
        raise FileError(f"{place} must have both low and high, or neither")
    low, high = (_number(parts[name], f"{place}.{name}") if name in parts else FREE for name in ("low", "high"))
    if "low" not in parts:
        low = -FREE
    if low > high:
        raise FileError(f"{place}.low must not be above high")
    if type(parts["terms"]) is not list:
        raise FileError(f"{place}.terms must be a list")
    terms = tuple(_read_term(term, schema, f"{place}.terms[{i}]") for i, term in enumerate(parts["terms"]))
    return LinearModel(_number(parts["intercept"], f"{place}.intercept"), terms, low, high)


def _read_term(written: object, schema: Schema, place: str) -> Term:
    parts = require_keys(written, place, ("column", "coefficient", "fill"), ("levels",))
    column = parts["column"]
    if type(column) is not int or not 0 <= column < len(schema.columns):
        raise FileError(f"{place}.column must be 0 to {len(schema.columns) - 1}")
    coefficient, fill = (_number(parts[name], f"{place}.{name}") for name in ("coefficient", "fill"))
    return Term(column, coefficient, fill, _read_levels(parts, schema.columns[column].levels, place))


def _read_levels(parts: Mapping[str, Any], known: Sequence[object] | None, place: str) -> tuple[int, ...] | None:
    if known is None:
        if "levels" in parts:
            raise FileError(f"{place}.levels: the column has no levels")
        return None
    levels = parts.get("levels")
    fine = type(levels) is list and all(type(one) is int and 0 <= one < len(known) for one in levels)
    if not fine or levels != sorted(set(levels or ())):
        raise FileError(f"{place}.levels must rise within 0 to {len(known) - 1}, the places of the column's levels")
    return tuple(levels or ())


def _number(value: object, place: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise FileError(f"{place} must be a number")
    return float(value)
