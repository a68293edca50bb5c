"""A case: a table, a recipe and options as plain values, with a JSON form for the corpus."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import treewright as tw

PLAIN = tw.CART.with_(pruning=None)


@dataclass(frozen=True)
class Case:
    """A call of `learn`. `form` is the kind of table (`FORMS`), `order` seeds the order of rows of the second fit."""

    columns: dict[str, list[Any]]
    target: str
    recipe: tw.Recipe = PLAIN
    options: dict[str, Any] = field(default_factory=dict)
    form: str = "dict"
    order: int = 0

    @property
    def n_rows(self) -> int:
        return len(self.columns[self.target])

    def take(self, rows: list[int]) -> Case:
        """The same case with these rows."""
        return replace(self, columns={name: [values[i] for i in rows] for name, values in self.columns.items()})

    def without(self, column: str) -> Case:
        """The same case without a column."""
        options = {**self.options, "kinds": {k: v for k, v in self.options.get("kinds", {}).items() if k != column}}
        return replace(self, columns={k: v for k, v in self.columns.items() if k != column}, options=options)

    @cached_property
    def table(self) -> Any:
        """The columns as the case's kind of table; a dict where that kind cannot hold them."""
        try:
            return FORMS[self.form](self.columns)
        except Exception:  # noqa: BLE001  # other libraries refuse mixed columns in their own ways
            return self.columns

    def learn(self, n_threads: int = 1) -> tw.Tree:
        """The tree."""
        return tw.learn(self.table, self.target, self.recipe, n_threads=n_threads, **self.options)

    def to_json(self) -> str:
        """The case as text that `from_json` reads."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)} | {"recipe": self.recipe.as_dict()}
        return json.dumps(_plain(parts), indent=None, ensure_ascii=True)

    @staticmethod
    def from_json(text: str) -> Case:
        """The case that `to_json` wrote."""
        parts = _value(json.loads(text))
        return Case(**{**parts, "recipe": tw.Recipe.from_dict(parts["recipe"])})


_READ: dict[str, Callable[[Any], Any]] = {
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$duration": lambda seconds: timedelta(seconds=seconds),
    "$decimal": Decimal,
}


def _plain(value: Any) -> Any:
    """JSON has NaN and integers of any size here; moments and decimals become tagged objects."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    for tag, kind in (("$datetime", datetime), ("$date", date), ("$time", time)):
        if isinstance(value, kind):
            return {tag: value.isoformat()}
    if isinstance(value, timedelta):
        return {"$duration": value.total_seconds()}
    return {"$decimal": str(value)} if isinstance(value, Decimal) else value


def _value(written: Any) -> Any:
    if isinstance(written, list):
        return [_value(each) for each in written]
    if isinstance(written, dict):
        tag = next(iter(written), "")
        if len(written) == 1 and tag in _READ:
            return _READ[tag](written[tag])
        return {key: _value(each) for key, each in written.items()}
    return written


def _rows(columns: dict[str, list[Any]]) -> Any:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _objects(columns: dict[str, list[Any]]) -> Any:
    arrays = {name: np.empty(len(values), dtype=object) for name, values in columns.items()}
    for name, values in columns.items():
        arrays[name][:] = values
    return arrays


def _categories(columns: dict[str, list[Any]]) -> Any:
    """To pandas 1 and True are one category, and the first row decides which; such columns stay as they are."""
    plain = [
        name for name, values in columns.items() if len({type(value) for value in values if value is not None}) < 2
    ]
    return pd.DataFrame(columns).astype(dict.fromkeys(plain, "category"))


#: The kinds of tables, made of a dict of lists.
FORMS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dict": lambda columns: columns,
    "rows": _rows,
    "objects": _objects,
    "pandas": pd.DataFrame,
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "category": _categories,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "arrow": pa.table,
    "chunks": lambda columns: pa.concat_tables([pa.table(columns).slice(0, 1), pa.table(columns).slice(1)]),
}
