"""The tables of the benchmark: made ones of any size, and real ones from ../shared/data beside the repository.

The same name and size give the same table on every machine; a level is a whole number in its column, a missing value
is NaN, and `nominal` names the columns that hold levels. A real table that is not here is None.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
BLOCK = 250_000  # rows made at a time: a large table then never needs twice its memory


@dataclass(frozen=True, eq=False)
class Table:
    """Training rows and rows to predict; `classes` is 0 for a numeric target."""

    name: str
    x: np.ndarray
    y: np.ndarray
    x_held_out: np.ndarray
    y_held_out: np.ndarray
    classes: int
    nominal: tuple[int, ...] = ()
    missing: bool = False

    @property
    def task(self) -> str:
        return "classification" if self.classes else "regression"

    @property
    def shape(self) -> str:
        return f"{self.x.shape[0]:,} x {self.x.shape[1]:,} {self.x.dtype}"

    def first(self, rows: int) -> Table:
        return replace(self, x=self.x[:rows], y=self.y[:rows])

    def as_type(self, dtype: Any) -> Table:
        return replace(self, x=self.x.astype(dtype), x_held_out=self.x_held_out.astype(dtype))

    def score(self, predict: Callable[[np.ndarray], np.ndarray]) -> float:
        """The share of held-out rows answered rightly, or the explained share of their variance."""
        found = np.asarray(predict(self.x_held_out)).ravel()
        if self.classes:
            return float(np.mean(found == self.y_held_out))
        residual = np.mean((found - self.y_held_out) ** 2)
        return float(1 - residual / np.var(self.y_held_out))


# --- made -------------------------------------------------------------------------------------------------------------


def _signal(x: np.ndarray) -> np.ndarray:
    """A few columns matter, in sums, products and steps; this is what a tree can learn and a line cannot."""
    ordered = x[:, 0] + x[:, 1] * x[:, 2] + 1.5 * (x[:, 3] > 0.5) - np.abs(x[:, 4]) + 0.5 * np.sin(3 * x[:, 5])
    return ordered + 0.33


def _block(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Continuous columns, a third of them skewed; from the eighth on every seventh has three values only."""
    x = rng.standard_normal((rows, columns), dtype=np.float32)
    x[:, 6::3] = np.exp(x[:, 6::3])
    x[:, 8::7] = np.digitize(x[:, 8::7], (0.0, 1.0))
    return x


def made(rows: int, columns: int = 28, classes: int = 2, held_out: int = 50_000) -> Table:
    """Noisy rows of which six columns tell something. `classes=0`: a number is to be predicted."""
    rng = np.random.default_rng([rows, columns, classes])
    x = np.empty((rows + held_out, columns), np.float32)
    y = np.empty(rows + held_out, np.float64)
    for start in range(0, len(x), BLOCK):
        block = slice(start, min(start + BLOCK, len(x)))
        x[block] = _block(rng, block.stop - start, columns)
        y[block] = _signal(x[block]) + rng.standard_normal(block.stop - start)
    if classes:
        cuts = np.quantile(y[: min(rows, 100_000)], np.arange(1, classes) / classes)
        y = np.digitize(y, cuts).astype(np.int64)
    name = f"made, {f'{classes} classes' if classes else 'regression'}"
    return Table(name, x[:rows], y[:rows], x[rows:], y[rows:], classes)


def made_levels(rows: int, columns: int, levels: int, held_out: int = 20_000) -> Table:
    """Nominal columns alone: every level has a leaning of its own, two classes."""
    rng = np.random.default_rng([rows, columns, levels])
    x = rng.integers(0, levels, (rows + held_out, columns)).astype(np.float32)
    leaning = rng.standard_normal((columns, levels))
    total = sum(leaning[j, x[:, j].astype(np.int64)] for j in range(columns))
    y = (total + rng.standard_normal(len(x)) > 0).astype(np.int64)
    return Table(f"made, {levels:,} levels", x[:rows], y[:rows], x[rows:], y[rows:], 2, tuple(range(columns)))


def made_mixed_levels(rows: int, held_out: int = 20_000) -> Table:
    """Twenty nominal columns of 2 to 1,000 levels, which all lean one way or the other; two classes."""
    rng = np.random.default_rng(rows)
    counts = np.geomspace(2, 1000, 20).astype(int)
    x = np.column_stack([rng.integers(0, count, rows + held_out) for count in counts])
    total = sum(rng.standard_normal(count)[x[:, j]] for j, count in enumerate(counts))
    y = (total + 2 * rng.standard_normal(len(x)) > 0).astype(np.int64)
    x = x.astype(np.float32)
    return Table("made, 2 to 1,000 levels", x[:rows], y[:rows], x[rows:], y[rows:], 2, tuple(range(len(counts))))


# --- real -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """How a real table is read: what to predict and what not to look at."""

    file: str
    target: str
    task: str = "classification"
    drop: tuple[str, ...] = ()
    holes: tuple[str, ...] = ()  # columns of which every tenth value is taken away


SOURCES = {
    "covertype": Source("covertype", "Cover_Type"),
    "adult": Source("adult", "income"),
    "diamonds": Source("diamonds", "price", "regression"),
    "iris": Source("iris", "class"),
    # What is known only after landing gives the delay away; time_hour repeats the date; year has one value. Flights
    # that arrived have no gaps, so that gaps are made.
    "flights": Source(
        "flights",
        "arr_delay",
        "regression",
        ("arr_time", "dep_time", "air_time", "tailnum", "time_hour", "year"),
        ("dep_delay", "dest"),
    ),
}


def real(name: str) -> Table | None:
    """A real table, every fifth row held out; None where the file or pyarrow is not here."""
    source = SOURCES[name]
    path = DATA / f"{source.file}.parquet"
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return None
    if not path.is_file():
        return None
    arrow = pq.read_table(path).drop_columns(list(source.drop))
    arrow = arrow.filter(arrow[source.target].is_valid())
    names = [column for column in arrow.column_names if column != source.target]
    x = np.column_stack([_numbers(arrow[column]) for column in names]).astype(np.float32)
    rng = np.random.default_rng(0)
    for column in source.holes:
        x[rng.random(len(x)) < 0.1, names.index(column)] = np.nan
    y = _numbers(arrow[source.target])
    classes = 0
    if source.task == "classification":
        found, y = np.unique(y, return_inverse=True)
        classes = len(found)
    nominal = tuple(j for j, column in enumerate(names) if _is_nominal(arrow[column]))
    held_out = rng.random(len(x)) < 0.2
    return Table(name, x[~held_out], y[~held_out], x[held_out], y[held_out], classes, nominal, bool(np.isnan(x).any()))


def _is_nominal(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(column.type) or pa.types.is_string(column.type))


def _numbers(column: Any) -> np.ndarray:
    """A column as float64: levels as their codes in the order of their names, missing as NaN."""
    import pyarrow as pa

    column = column.combine_chunks()
    if not _is_nominal(column):
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    words = np.asarray(column.cast(pa.string()).to_pylist(), dtype=object)
    known = np.array([word is not None for word in words])
    codes = np.full(len(words), np.nan)
    codes[known] = np.unique(words[known].astype(str), return_inverse=True)[1]
    return codes


# --- on disk, so that workers share one copy --------------------------------------------------------------------------

_PARTS = ("x", "y", "x_held_out", "y_held_out")


def store(table: Table, folder: Path) -> Path:
    """Write a table into a folder of its own."""
    folder.mkdir(parents=True)
    for part in _PARTS:
        np.save(folder / f"{part}.npy", getattr(table, part))
    rest = {"name": table.name, "classes": table.classes, "nominal": table.nominal, "missing": table.missing}
    (folder / "rest.json").write_text(json.dumps(rest))
    return folder


def load(folder: Path) -> Table:
    """The stored table as ordinary arrays over shared pages, every page touched once."""
    parts = {part: np.asarray(np.load(folder / f"{part}.npy", mmap_mode="c")) for part in _PARTS}
    for part in parts.values():
        part.ravel().view(np.uint8)[::4096].max(initial=0)
    rest = json.loads((folder / "rest.json").read_text())
    return Table(**parts, **{**rest, "nominal": tuple(rest["nominal"])})
