"""Fresh runs of R's rpart on public tables, as plain values.

Rpart's defaults but for cp; columns are named by place; levels and classes are codes, in the order that the table
declares; holes are where a hash of row and column puts them, the same on every machine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from oracle_table import NOMINAL, NUMBER, Split, Value, route
from oracle_tables import Table

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

#: Table -> its target, and columns that identify rows or give the target away.
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "iris": ("class", ()),
    "penguins": ("species", ()),
    "credit-g": ("class", ()),
    "heart-cleveland": ("num", ()),
    "pima-diabetes": ("diabetes", ()),
    "vote": ("Class", ()),
    "tic-tac-toe": ("Class", ()),
    "breast-cancer": ("Class", ()),
    "soybean": ("class", ()),
    "boston-housing": ("medv", ()),
    "auto-mpg": ("mpg", ("name",)),
    "servo": ("Class", ()),
    "solder": ("skips", ()),
    "abalone": ("Class_Rings", ()),
}

_SCRIPT = """
library(rpart)
args <- commandArgs(TRUE)
kinds <- as.integer(strsplit(args[2], ",")[[1]])
classes <- as.integer(args[3])
d <- read.csv(args[1])
for (i in seq_along(kinds)) if (kinds[i] > 0) d[[i]] <- factor(d[[i]], levels = 0:(kinds[i] - 1))
if (classes > 0) d$y <- factor(d$y, levels = 0:(classes - 1))
for (cp in args[-(1:3)]) {
  fit <- rpart(y ~ ., d, method = if (classes > 0) "class" else "anova", cp = as.numeric(cp), xval = 0, maxcompete = 0)
  ids <- as.integer(rownames(fit$frame))
  cat("fit", cp, "\\n")
  f <- fit$frame
  cat(sprintf("node %d %s %d %.17g %d", ids, f$var, f$n, f$dev, f$nsurrogate), sep = "\\n")
  s <- fit$splits
  if (!is.null(s)) cat(sprintf("\\nsplit %s %d %.17g", rownames(s), as.integer(s[, "ncat"]), s[, "index"]), sep = "")
  if (!is.null(fit$csplit)) cat("\\nlevels", apply(fit$csplit, 1, paste, collapse = " "), sep = "\\nlevels ")
  cat("\\nwhere", ids[fit$where])
  cells <- rpart:::rpart.matrix(model.frame(delete.response(terms(fit)), d, na.action = na.pass))
  cat("\\npredicted", ids[rpart:::pred.rpart(fit, cells)[as.integer(names(fit$where))]])
  cat("\\nrows", names(fit$where), "\\n")
}
"""


# --- tables -----------------------------------------------------------------------------------------------------------


def read_table(name: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    target, dropped = TABLES[name]
    read = pq.read_table(DATA / f"{name}.parquet").drop_columns(list(dropped))
    read = read.filter(read[target].is_valid()).combine_chunks()
    columns, kinds, levels = [], [], []
    for column in (read[each] for each in read.column_names if each != target):
        is_nominal = pa.types.is_dictionary(column.type)
        columns.append(_codes(column) if is_nominal else column.to_numpy().astype(np.float64))
        kinds.append(NOMINAL if is_nominal else NUMBER)
        levels.append(len(column.chunk(0).dictionary) if is_nominal else 0)
    labels = read[target]
    if pa.types.is_dictionary(labels.type):
        return Table(columns, kinds, levels, _codes(labels), len(labels.chunk(0).dictionary))
    return Table(columns, kinds, levels, labels.to_numpy().astype(np.float64), 0)


def _codes(column: Any) -> np.ndarray:
    return np.array([-1 if code is None else code for code in column.chunk(0).indices.to_pylist()], dtype=np.int32)


def with_holes(table: Table) -> Table:
    """The table with a tenth of its cells missing."""
    n, width = table.n_rows, len(table.columns)
    mixed = np.arange(n * width, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    holes = ((mixed >> np.uint64(33)) % np.uint64(10) == 0).reshape(width, n)
    columns = [
        np.where(hole, np.nan if kind == NUMBER else -1, column).astype(column.dtype)
        for column, kind, hole in zip(table.columns, table.kinds, holes, strict=True)
    ]
    return replace(table, columns=columns)


# --- rpart ------------------------------------------------------------------------------------------------------------


@dataclass
class RpartNode:
    """A node by rpart's number; `split` sends to child 0 what rpart sends left."""

    number: int
    n: int
    deviance: float
    split: Split | None = None
    surrogates: list[Split] = field(default_factory=list)
    children: list[RpartNode] = field(default_factory=list)
    rows: frozenset[int] = frozenset()  # that were here when it was grown
    predicted: frozenset[int] = frozenset()  # that come by when they are predicted


def run_rpart(table: Table, cps: Sequence[float], folder: Path) -> dict[float, RpartNode]:
    """The root of the tree of each cp."""
    file, script = folder / "table.csv", folder / "run.R"
    _write(table, file)
    script.write_text(_SCRIPT)
    kinds = ",".join(str(levels) for levels in table.levels)
    command = ["Rscript", str(script), str(file), kinds, str(table.n_classes), *map(repr, cps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    fits = done.stdout.split("fit ")[1:]
    return {cp: _read(table, fit.splitlines()[1:]) for cp, fit in zip(cps, fits, strict=True)}


def _write(table: Table, file: Path) -> None:
    def cell(value: Value) -> str:
        return "" if value is None else repr(value)

    lines = [",".join([*(f"x{i}" for i in range(len(table.columns))), "y"])]
    lines += [",".join([*map(cell, row), repr(y)]) for row, y in zip(table.rows, table.target.tolist(), strict=True)]
    file.write_text("\n".join(lines) + "\n")


def _read(table: Table, lines: Sequence[str]) -> RpartNode:
    words = [line.split() for line in lines if line.strip()]
    level_sets = [list(map(int, each[1:])) for each in words if each[0] == "levels" and len(each) > 1]
    splits = (_split(table, each, level_sets) for each in words if each[0] == "split")
    nodes: dict[int, RpartNode] = {}
    for _, number, column, n, deviance, surrogates in (each for each in words if each[0] == "node"):
        node = nodes[int(number)] = RpartNode(int(number), int(n), float(deviance))
        if node.number > 1:
            nodes[node.number // 2].children.append(node)
        if column != "<leaf>":
            node.split, *node.surrogates = (next(splits) for _ in range(1 + int(surrogates)))
    lists = {each[0]: [int(word) for word in each[1:]] for each in words if each[0] in ("where", "predicted", "rows")}
    for leaves, name in (("where", "rows"), ("predicted", "predicted")):
        held: dict[int, set[int]] = {number: set() for number in nodes}
        for row, leaf in zip(lists["rows"], lists[leaves], strict=True):
            for number in _path(leaf):
                held[number].add(row - 1)
        for number, rows in held.items():
            setattr(nodes[number], name, frozenset(rows))
    return nodes[1]


def _path(number: int) -> Iterator[int]:
    while number:
        yield number
        number //= 2


def _split(table: Table, words: Sequence[str], level_sets: Sequence[Sequence[int]]) -> Split:
    column, sign, index = int(words[1][1:]), int(words[2]), float(words[3])
    if abs(sign) == 1:
        return Split(column, (index,), (0, 1) if sign < 0 else (1, 0), False, 2)
    sides = {1: 0, 2: -1, 3: 1}
    levels = level_sets[int(index) - 1][: table.levels[column]]
    return Split(column, (), tuple(sides[side] for side in levels), False, 2)


def sides(table: Table, split: Split, rows: Iterable[int]) -> dict[int, int]:
    """The child of each row that the split can send."""
    column, kind = table.columns[split.column], table.kinds[split.column]
    found = {row: route(split, kind, column[row]) for row in rows if column[row] == column[row]}
    return {row: child for row, child in found.items() if child >= 0}
