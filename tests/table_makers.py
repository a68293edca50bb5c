"""The same columns in every kind of table.

Every maker keeps names, order and values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Columns = dict[str, list[Any]]


def pandas_frame(columns: Columns) -> Any:
    return pd.DataFrame(columns)


def pandas_arrow(columns: Columns) -> Any:
    return pd.DataFrame({name: pd.Series(v, dtype=pd.ArrowDtype(pa.array(v).type)) for name, v in columns.items()})


def polars_frame(columns: Columns) -> Any:
    return pl.DataFrame(columns, strict=False)


def polars_lazy(columns: Columns) -> Any:
    return pl.LazyFrame(columns, strict=False)


def arrow_table(columns: Columns) -> Any:
    return pa.table(columns)


def arrow_chunks(columns: Columns) -> Any:
    table = pa.table(columns)
    return pa.concat_tables([table.slice(0, 1), table.slice(1)])


def duckdb_relation(columns: Columns) -> Any:
    return duckdb.from_arrow(pa.table(columns))


def plain_dict(columns: Columns) -> Any:
    return columns


def dict_rows(columns: Columns) -> Any:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def objects_dict(columns: Columns) -> Any:
    arrays = {name: np.empty(len(values), dtype=object) for name, values in columns.items()}
    for name, values in columns.items():
        arrays[name][:] = values
    return arrays


MAKERS: dict[str, Callable[[Columns], Any]] = {
    maker.__name__: maker
    for maker in (
        pandas_frame,
        pandas_arrow,
        polars_frame,
        polars_lazy,
        arrow_table,
        arrow_chunks,
        duckdb_relation,
        plain_dict,
        dict_rows,
        objects_dict,
    )
}
