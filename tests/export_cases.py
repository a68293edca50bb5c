"""Trees and rows that put every export to the test.

Rows have missing values and levels nobody knows, columns of every kind, and values on and beside every break; names
and levels hold what usually breaks quoting.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from handmade_trees import Plan, Question, arrays

import treewright as tw
from treewright.data.schema import TIME_KINDS, ColumnSpec, Schema, TargetSpec
from treewright.tree.models import LinearModel, Term
from treewright.tree.soft import Soft, softenable
from treewright.tree.tree import Tree

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
DAY = 86_400_000_000

ODD_TEXTS = (
    "a",
    "A",
    "a ",
    "",
    "it's",
    'say "no"',
    "back\\slash",
    "two\nlines",
    "tab\there",
    "Grüße",
    "木",
    "🌲",
    "%s {x}",
    "`",
    "/*",
    "--",
    "?",
    "$1",
    "NULL",
    "NaN",
    "</script>",
    "${x}",
    "\\u0041",
)
TYPES = {
    "numeric": pa.float64(), "single": pa.float32(), "whole": pa.int64(), "text": pa.string(), "truth": pa.bool_(),
    "date": pa.date32(), "datetime": pa.timestamp("us"), "time": pa.time64("us"), "duration": pa.duration("us"),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A tree and rows; `kinds` says of each column of the rows what it holds, by the names of `TYPES`."""

    name: str
    tree: Tree
    rows: pa.Table

    @cached_property
    def prediction(self) -> list[Any]:
        return tw.predict(self.tree, self.rows, n_threads=1).tolist()

    @cached_property
    def probabilities(self) -> list[list[float]] | None:
        classes = self.tree.schema.target.classes
        return None if classes is None else tw.predict_proba(self.tree, self.rows, n_threads=1).tolist()

    @cached_property
    def leaf(self) -> list[int]:
        return tw.apply(self.tree, self.rows, n_threads=1).tolist()

    def expect(
        self, prediction: Sequence[Any], probabilities: Sequence[Sequence[float]] | None, leaf: Sequence[int]
    ) -> None:
        """The export said the same: every number to the last bit."""
        assert list(leaf) == self.leaf, self.first(leaf, self.leaf)
        if self.probabilities is not None:
            assert [list(row) for row in probabilities or ()] == self.probabilities, self.name
        assert list(prediction) == self.prediction, self.first(prediction, self.prediction)
        assert [type(value) for value in prediction] == [type(value) for value in self.prediction], self.name

    def first(self, found: Sequence[Any], wanted: Sequence[Any]) -> str:
        wrong = next((i for i, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), None)
        row = None if wrong is None else self.rows.slice(wrong, 1).to_pylist()[0]
        pair = None if wrong is None else (found[wrong], wanted[wrong])
        return f"{self.name}, row {wrong}: {pair}: {row}\n{self.tree}"


# --- made-up trees ----------------------------------------------------------------------------------------------------


def random_case(
    seed: int, *, depth: int = 4, n_rows: int = 40, missing: int | None = None, number: bool = False
) -> Case:
    """A tree of random questions about columns of every kind; `missing` is what all its splits do, if given."""
    rng = random.Random(seed)
    columns = _columns(rng)
    target = _TARGETS[0] if number else rng.choice(_TARGETS)
    if target.classes is not None and rng.random() < 0.3:
        n = len(target.classes)
        target = replace(
            target, costs=tuple(tuple(0.0 if i == j else rng.randint(1, 5) / 2 for j in range(n)) for i in range(n))
        )
    schema = Schema(tuple(spec for spec, _ in columns), target)
    tree = Tree(arrays(_plan(rng, schema, depth, missing), schema), schema, tw.C45)
    kinds = {spec.name: kind for spec, kind in columns}
    return Case(f"seed {seed}", tree, random_rows(rng, tree, kinds, n_rows))


def soft_case(seed: int, *, depth: int = 4, n_rows: int = 40, missing: int | None = None, times: bool = True) -> Case:
    """The same with random bands around thresholds; `times`: of dates and times too."""
    case, rng = random_case(seed, depth=depth, n_rows=n_rows, missing=missing), random.Random(seed)
    columns, bands = case.tree.schema.columns, []
    for node in range(case.tree.n_nodes):
        threshold = softenable(case.tree.arrays, node)
        split = case.tree[node].split
        if split is None or threshold is None or (columns[split.column_index].kind in TIME_KINDS and not times):
            continue
        unit = 3.0 if columns[split.column_index].kind == "numeric" else 40 * DAY
        below, above = rng.choice(((rng.random(), rng.random()), (0.0, rng.random()), (rng.random(), 0.0)))
        bands.append((node, threshold - unit * below, threshold + unit * above))
    found = [band for band in bands if band[1] < band[2]]
    soft = Soft("error", *map(tuple, zip(*found, strict=True))) if found else None
    return replace(case, name=f"soft seed {seed}", tree=replace(case.tree, soft=soft))


def modelled_case(
    seed: int, *, depth: int = 3, n_rows: int = 30, missing: int | None = None, times: bool = True
) -> Case:
    """The same for numbers, with a random linear model in every node; `times`: dates and times among its terms too."""
    case, rng = random_case(seed, depth=depth, n_rows=n_rows, missing=missing, number=True), random.Random(seed)
    models = tuple(_model(rng, case.tree.schema, times) for _ in range(case.tree.n_nodes))
    return replace(case, name=f"models, seed {seed}", tree=replace(case.tree, models=models))


def _model(rng: random.Random, schema: Schema, times: bool) -> LinearModel:
    """A model of no to three terms, whose guard is narrow, wide or absent."""
    usable = [i for i, spec in enumerate(schema.columns) if times or spec.kind not in TIME_KINDS]
    terms = []
    for column in rng.sample(usable, rng.randint(0, min(3, len(usable)))):
        spec = schema.columns[column]
        unit = 1e-12 if spec.kind in TIME_KINDS else 1.0
        levels = None
        if spec.levels is not None:
            levels = tuple(i for i in range(len(spec.levels)) if rng.random() < 0.5)
        terms.append(Term(column, rng.gauss(0, 1) * unit, rng.gauss(0, 1) / unit, levels))
    intercept, room = rng.gauss(0, 3), rng.choice((0.1, 5.0))
    limits = {"low": intercept - room, "high": intercept + room} if rng.random() < 0.8 else {}
    return LinearModel(intercept, tuple(terms), **limits)


_TARGETS = (
    TargetSpec("y", "regression"),
    TargetSpec("y", "classification", ("no", "yes")),
    TargetSpec("it's", "classification", ODD_TEXTS[:7]),
    TargetSpec("y", "classification", (0, 1, 2)),
    TargetSpec("y", "classification", (False, True)),
    TargetSpec("y", "classification", (0.1, 2.5, -1e300)),
    TargetSpec("y", "classification", ("only",)),
)


def _columns(rng: random.Random) -> list[tuple[ColumnSpec, str]]:
    texts = rng.sample(ODD_TEXTS, 6)
    every = [
        (ColumnSpec('num"ber', "numeric"), "numeric"),
        (ColumnSpec("single", "numeric"), "single"),
        (ColumnSpec("select", "nominal", tuple(texts)), "text"),
        (ColumnSpec("größe in `cm`", "ordinal", ("small", "it's", "large")), "text"),
        (ColumnSpec("class", "nominal", (3, 1, -2, 40)), "whole"),
        (ColumnSpec("a\\b", "nominal", (0.1, 1.5, -1e-7)), "numeric"),
        (ColumnSpec("windy?", "boolean", (False, True)), "truth"),
        (ColumnSpec("day", "date"), "date"),
        (ColumnSpec("at", "datetime"), "datetime"),
        (ColumnSpec("clock", "time"), "time"),
        (ColumnSpec("took", "duration"), "duration"),
        (ColumnSpec("leaf", "numeric"), "whole"),
        (ColumnSpec("weight_1", "numeric"), "numeric"),
    ]
    return rng.sample(every, rng.randint(2, 7))


def _plan(rng: random.Random, schema: Schema, depth: int, missing: int | None) -> Plan:
    classes = schema.target.classes
    stats = tuple(float(rng.randint(0, 8)) for _ in classes or range(3))
    if classes is not None and not any(stats):
        stats = (1.0,) * len(stats)
    if depth == 0 or rng.random() < 0.15:
        return Plan(stats, rng.randint(0, 50), stop=rng.randint(1, 13))
    fan = rng.choice((2, 2, 3, 4))
    questions = [_question(rng, schema, fan, missing) for _ in range(1 + rng.choice((0, 0, 1, 2)))]
    children = tuple(_plan(rng, schema, depth - 1, missing) for _ in range(fan))
    return Plan(stats, rng.randint(1, 50), 0, questions[0], children, tuple(questions[1:]))


def _question(rng: random.Random, schema: Schema, fan: int, missing: int | None) -> Question:
    column = rng.randrange(len(schema.columns))
    spec = schema.columns[column]
    breaks: tuple[float, ...] = ()
    if spec.levels is None:
        breaks = tuple(sorted({_break(rng, spec.kind) for _ in range(rng.choice((1, 1, 1, 2, 4)))}))
    bins = len(breaks) + 1 if spec.levels is None else len(spec.levels)
    held = [rng.randint(-1 if rng.random() < 0.3 else 0, fan - 1) for _ in range(bins)]
    if fan == bins and rng.random() < 0.6:
        held = list(range(fan))
    weights = [rng.choice((0.0, 1.0, 1.0, 2.0, rng.random())) for _ in range(fan)]
    weights[rng.randrange(fan)] += 1.0
    return Question(
        column,
        tuple(held),
        breaks,
        tuple(weight / sum(weights) for weight in weights),
        rng.choice((-1, -1, -2, *range(fan))) if missing is None else missing,
        rng.choice((-4, rng.randrange(fan))),
        rng.randint(0, 1),
    )


def _break(rng: random.Random, kind: str) -> float:
    half = rng.choice((0, 0.5))
    if kind == "numeric":
        return rng.choice((float(rng.randint(-5, 5)), rng.gauss(0, 3), round(rng.gauss(0, 3), 1), 0.1))
    if kind == "date":
        return (rng.randint(-3, 20_000) + half) * DAY
    if kind == "datetime":
        return rng.randint(-(10**15), 2 * 10**15) + half
    return rng.randint(0, DAY - 2) + half if kind == "time" else rng.randint(-3 * DAY, 3 * DAY) + half


def random_rows(rng: random.Random, tree: Tree, kinds: dict[str, str], n_rows: int) -> pa.Table:
    """Rows that ask the tree hard questions: on its breaks, beside them, missing, unseen."""
    breaks: dict[int, list[float]] = {}
    start = tree.arrays["break_start"]
    for s, column in enumerate(tree.arrays["column"].tolist()):
        breaks.setdefault(column, []).extend(tree.arrays["breaks"][start[s] : start[s + 1]].tolist())
    columns = {}
    for i, spec in enumerate(tree.schema.columns):
        kind = kinds[spec.name]
        gaps = rng.choice((0.0, 0.15, 0.5))
        values = [None if rng.random() < gaps else _value(rng, spec, kind, breaks.get(i, ())) for _ in range(n_rows)]
        columns[spec.name] = pa.array(values, TYPES[kind])
    return pa.table(columns)


def _value(rng: random.Random, spec: ColumnSpec, kind: str, breaks: Sequence[float]) -> Any:
    if spec.levels is not None:
        unseen: dict[str, Any] = {
            "text": ("never seen", "SMALL", "b"),
            "whole": (77, 2**60),
            "numeric": (7.5,),
            "truth": (True,),
        }
        return rng.choice((*spec.levels, *spec.levels, rng.choice(unseen[kind])))
    at = rng.choice(breaks) if breaks and rng.random() < 0.7 else _break(rng, spec.kind)
    if kind in ("numeric", "single"):
        return rng.choice((at, math.nextafter(at, math.inf), math.nextafter(at, -math.inf), at + 1, math.nan))
    micro = math.floor(at) + rng.choice((-1, 0, 0, 1))
    if kind == "whole":
        return micro
    if kind == "date":
        return date(1970, 1, 1) + timedelta(days=math.floor(at / DAY) + rng.choice((-1, 0, 1)))
    if kind == "datetime":
        return datetime(1970, 1, 1) + timedelta(microseconds=micro)  # noqa: DTZ001
    if kind == "time":
        return (datetime(1970, 1, 1) + timedelta(microseconds=min(max(micro, 0), DAY - 1))).time()  # noqa: DTZ001
    return timedelta(microseconds=micro)


# --- learned trees ----------------------------------------------------------------------------------------------------

POLICIES = {
    "spread": tw.missing.Fractional(), "surrogates": tw.missing.Surrogates(), "own": tw.missing.OwnCategory(),
    "majority": tw.missing.MajorityChild(),
    "learned": tw.missing.LearnedDirection(), "ignore": tw.missing.Ignore(), "refuse": tw.missing.RefuseMissing(),
}  # fmt: skip

#: A table: what to predict and what not to look at.
TABLES = {
    "adult": ("income", "classification", ()),
    "titanic": ("survived", "classification", ("name", "ticket", "cabin", "home.dest", "boat", "body")),
    "vote": ("Class", "classification", ()),
    "soybean": ("class", "classification", ()),
    "flights": ("arr_delay", "regression", ("arr_time", "dep_time", "air_time", "tailnum")),
}
_GROWN = replace(tw.CART, pruning=None)
RECIPES = {
    "C45": tw.C45,
    "CART": tw.CART,
    "RPART": tw.RPART,
    "CHAID": tw.CHAID,
    "SKLEARN": replace(tw.SKLEARN, stopping=tw.stopping.Stopping(max_depth=8)),
    "spread": replace(_GROWN, missing=tw.missing.Fractional(), stopping=tw.stopping.Stopping(max_depth=6)),
    "ignore": replace(_GROWN, missing=tw.missing.Ignore(), stopping=tw.stopping.Stopping(max_depth=6)),
    "majority of the unseen": replace(_GROWN, missing=tw.missing.MajorityChild(), unseen="majority"),
}


@cache
def table_rows(table: str, rows: int = 1500) -> tuple[pa.Table, pa.Table]:
    """Rows to learn from, and other rows with more values missing and levels nobody has seen."""
    target, _, drop = TABLES[table]
    whole = pq.read_table(DATA / f"{table}.parquet").drop_columns(list(drop))
    whole = whole.filter(pc.is_valid(pc.field(target)))
    whole = pa.table({name: _plain(whole.column(name)) for name in whole.column_names})
    order = np.random.default_rng(3).permutation(len(whole))
    learn, held_out = (
        whole.take(order[: min(rows, len(whole) * 2 // 3)]),
        whole.take(order[-min(500, len(whole) // 3) :]),
    )
    used = [name for name in whole.column_names if learn.column(name).null_count < len(learn)]
    rng = np.random.default_rng(5)
    changed = {name: _harder(held_out.column(name), rng) for name in used if name != target}
    return learn.select(used), pa.table(changed)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def _harder(column: pa.ChunkedArray, rng: np.random.Generator) -> pa.Array:
    values = column.to_pylist()
    for i in np.flatnonzero(rng.random(len(values)) < 0.12):
        values[i] = None
    if pa.types.is_string(column.type):
        for i in np.flatnonzero(rng.random(len(values)) < 0.04):
            values[i] = "never seen"
    return pa.array(values, column.type)


@cache
def table_case(table: str, recipe: str) -> Case | None:
    """A tree of a real table; None where the recipe has no answer to the task."""
    target, task, _ = TABLES[table]
    if task == "regression" and RECIPES[recipe].regression is None:
        return None
    learn, held_out = table_rows(table)
    tree = tw.learn(learn, target, RECIPES[recipe], task=task, n_threads=1)
    return Case(f"{table} {recipe}", tree, held_out)


def table_cases(recipes: Sequence[str] = tuple(RECIPES)) -> list[Case]:
    found = [table_case(table, recipe) for table in TABLES for recipe in recipes]
    return [case for case in found if case is not None]


def learned_case(seed: int, policy: str, leaves: tw.leaves.Linear | None = None) -> Case:
    """A tree learned from a small made-up table by a recipe with the policy, and with linear leaves if given."""
    rng = random.Random(seed)
    spec = {"x": ("numeric", None), "c": ("text", ("a", "it's", "ü")), "b": ("truth", None), "t": ("datetime", None)}
    n = rng.randint(30, 80)
    refuse = policy == "refuse"
    columns: dict[str, Any] = {}
    for name, (kind, levels) in spec.items():
        gaps = 0.0 if refuse else rng.choice((0.0, 0.2))
        draw = {
            "numeric": lambda: rng.choice((rng.gauss(0, 1), float(rng.randint(0, 4)))),
            "text": lambda levels=levels: rng.choice(levels),
            "truth": lambda: rng.random() < 0.5,
            "datetime": lambda: datetime(2020, 1, 1) + timedelta(seconds=rng.randint(0, 10**7)),  # noqa: DTZ001
        }[kind]
        columns[name] = pa.array([None if rng.random() < gaps else draw() for _ in range(n)], TYPES[kind])
    y = [rng.choice("abc"[: rng.randint(2, 3)]) for _ in range(n)]
    if len(set(y)) == 1:
        y[0] = "z"
    branching = rng.choice((tw.branching.Binary(), tw.branching.EachValue()))
    unseen = rng.choice(("missing", "majority"))
    recipe = replace(
        _GROWN, branching=branching, missing=POLICIES[policy], unseen=unseen, stopping=tw.stopping.Stopping(max_depth=5)
    )
    regression = leaves is not None or rng.random() < 0.3
    recipe = recipe if leaves is None else replace(recipe, leaves=leaves)
    target = [rng.gauss(0, 1) for _ in range(n)] if regression else y
    costs = {"a": {"b": 3.0}} if not regression and {"a", "b"} <= set(y) and rng.random() < 0.3 else None
    tree = tw.learn(pa.table(columns), target, recipe, costs=costs, n_threads=1)
    kinds = {name: kind for name, (kind, _) in spec.items()}
    rows = random_rows(rng, tree, kinds, 30)
    if refuse:
        rows = pa.table(
            {
                name: pa.array(
                    [
                        v if v == v and v is not None else columns[name][0].as_py()
                        for v in rows.column(name).to_pylist()
                    ],
                    rows.column(name).type,
                )
                for name in rows.column_names
            }
        )
    return Case(f"{policy} {seed}", tree, rows)


@cache
def model_tree_case(recipe: str) -> Case:
    """A model tree of two pieces that slope, by a recipe of that name; rows far beyond the training rows too."""
    rng = np.random.default_rng(11)
    x, z = rng.uniform(0, 10, 500), rng.normal(size=500)
    level = rng.integers(0, 3, 500)
    y = np.where(x < 4, 3 * x, 20 - x) + 0.5 * z + np.array([0.0, 1.0, 4.0])[level] + 0.3 * rng.normal(size=500)
    gaps = [None if rng.random() < 0.1 else value for value in z.tolist()]
    table = pa.table({"x": x, "z": pa.array(gaps, pa.float64()), "c": [("a", "it's", "ü")[i] for i in level], "y": y})
    tree = tw.learn(table, "y", getattr(tw, recipe), n_threads=1)
    assert tree.n_leaves > 1
    assert any(model.terms for model in tree.models)
    asked = {
        "x": pa.array([float(i) for i in range(-20, 30)] + [None] * 5, pa.float64()),
        "z": pa.array([None if i % 7 == 0 else i / 9 - 3 for i in range(55)], pa.float64()),
        "c": [("a", "it's", "ü", None, "never seen")[i % 5] for i in range(55)],
    }
    return Case(recipe, tree, pa.table(asked))
