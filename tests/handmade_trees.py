"""Trees made by hand, without the core.

The arrays are what the core would hand over for such a tree; statistics of a fork are the sum of its children's
unless given.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.recipes.named import C45, CART
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree
from treewright.tree.validation import NODE_ARRAYS, SPLIT_ARRAYS

TENNIS = Schema(
    (
        ColumnSpec("outlook", "nominal", ("sunny", "overcast", "rain")),
        ColumnSpec("humidity", "numeric"),
        ColumnSpec("windy", "boolean", (False, True)),
    ),
    TargetSpec("play", "classification", ("no", "yes")),
)
HOURS = Schema(TENNIS.columns, TargetSpec("hours", "regression"))


@dataclass
class Question:
    """A row of the split table; `column` is an index."""

    column: int
    child_of_bin: tuple[int, ...] = (0, 1)
    breaks: tuple[float, ...] = ()
    share: tuple[float, ...] | None = None
    missing: int = -2
    unseen: int = -4
    closed: int = 1
    score: float = 0.25
    adjusted: float = 0.0
    split_gain: float = 0.25
    statistic: float = 0.0
    degrees: float = 0.0
    log_p: float = 0.0
    log_multiplier: float = 0.0


@dataclass
class Plan:
    stats: tuple[float, ...]
    rows: int
    stop: int = 0
    question: Question | None = None
    children: tuple[Plan, ...] = ()
    surrogates: tuple[Question, ...] = ()
    rivals: tuple[Question, ...] = ()
    value: tuple[float, ...] | None = None
    ids: dict[str, int] = field(default_factory=dict)


def leaf(*stats: float, rows: int | None = None, stop: int = 1, value: tuple[float, ...] | None = None) -> Plan:
    """A leaf with class weights; for a numeric target with (weight, mean, sum of squared deviations)."""
    return Plan(stats, round(sum(stats)) if rows is None else rows, stop=stop, value=value)


def fork(question: Question, *children: Plan, **more: Any) -> Plan:
    """A node with children; `rows` and `stats` are theirs added up unless given (numeric targets must give them)."""
    stats = more.pop("stats", None) or tuple(map(sum, zip(*(child.stats for child in children), strict=True)))
    rows = more.pop("rows", None)
    return Plan(stats, sum(c.rows for c in children) if rows is None else rows, 0, question, children, **more)


def arrays(plan: Plan, schema: Schema) -> dict[str, np.ndarray]:
    order: list[tuple[Plan, int, int]] = []
    stack = [(plan, -1, 0)]
    while stack:  # depth first, and no recursion: plans may be deep
        node, parent, depth = stack.pop()
        node.ids["id"] = len(order)
        order.append((node, parent, depth))
        stack += [(child, len(order) - 1, depth + 1) for child in reversed(node.children)]
    classes = schema.target.classes
    lists: dict[str, list[Any]] = {name: [] for name in (*NODE_ARRAYS, *SPLIT_ARRAYS)}
    for name in ("child_start", "split_start", "break_start", "bin_start", "share_start"):
        lists[name].append(0)
    for node, parent, depth in order:
        weight = sum(node.stats) if classes else node.stats[0]
        shares = tuple(w / weight for w in node.stats) if weight else (1.0,) + (0.0,) * (len(node.stats) - 1)
        value = node.value or (shares if classes else (node.stats[1],))
        entry: dict[str, Any] = {
            "parent": parent,
            "depth": depth,
            "rows": node.rows,
            "weight": float(weight),
            "stats": node.stats,
        }
        entry |= {"value": value, "impurity": 0.5, "gain": 0.25 if node.children else 0.0, "stop": node.stop}
        entry |= {"n_surrogates": len(node.surrogates)}
        for name, number in entry.items():
            lists[name].append(number)
        lists["children"] += [child.ids["id"] for child in node.children]
        lists["child_start"].append(len(lists["children"]))
        own = [node.question] if node.question else []
        for question in (*own, *node.surrogates, *node.rivals):
            _add_split(lists, question, node, classes is None)
        lists["split_start"].append(len(lists["column"]))
    types = NODE_ARRAYS | SPLIT_ARRAYS
    return {name: np.array(values, dtype=types[name]) for name, values in lists.items()}


def _add_split(lists: dict[str, list[Any]], question: Question, node: Plan, regression: bool) -> None:
    for name in ("column", "closed", "score", "adjusted", "split_gain", "statistic", "degrees", "log_p"):
        lists[name].append(getattr(question, name))
    for name in ("log_multiplier", "missing", "unseen"):
        lists[name].append(getattr(question, name))
    share = question.share
    if share is None:
        weights = [child.stats[0] if regression else sum(child.stats) for child in node.children]
        total = sum(weights)
        share = tuple(w / total if total else 1 / len(weights) for w in weights) or (0.5, 0.5)
    for start, items, values in (
        ("break_start", "breaks", question.breaks),
        ("bin_start", "child_of_bin", question.child_of_bin),
        ("share_start", "share", share),
    ):
        lists[items] += values
        lists[start].append(len(lists[items]))


def tree(plan: Plan, schema: Schema = TENNIS, recipe: Recipe = C45) -> Tree:
    return Tree(arrays(plan, schema), schema, recipe)


def tennis() -> Tree:
    """The textbook tree: outlook, then humidity under sunny and wind under rain."""
    return tree(tennis_plan())


def tennis_plan() -> Plan:
    humidity = Question(1, (0, 1), (77.5,), missing=-1)
    windy = Question(2, (0, 1), missing=-1)
    return fork(
        Question(0, (0, 1, 2), missing=-1, split_gain=0.2467, score=0.1564),
        fork(humidity, leaf(0, 2), leaf(3, 0)),
        leaf(0, 4),
        fork(windy, leaf(0, 3), leaf(2, 0)),
        rivals=(Question(1, (0, 1), (82.5,), share=(0.5, 0.5)),),
    )


def hours() -> Tree:
    """A small regression tree."""
    return tree(
        fork(
            Question(1, (0, 1), (77.5,), missing=0),
            leaf(9.0, 44.25, 210.5, rows=9, stop=5),
            leaf(5.0, 30.0, 0.0, rows=5),
            stats=(14.0, 39.16, 870.0),
            rows=14,
        ),
        HOURS,
        CART,
    )


def random_schema(rng: random.Random, task: str) -> Schema:
    columns = tuple(
        ColumnSpec(f"number {i}", "numeric")
        if rng.random() < 0.5
        else ColumnSpec(f"level {i}", "nominal", tuple(f"level {j}" for j in range(rng.randint(2, 6))))
        for i in range(rng.randint(1, 6))
    )
    if task == "regression":
        return Schema(columns, TargetSpec("y", "regression"))
    return Schema(columns, TargetSpec("y", "classification", tuple("abcdef"[: rng.randint(2, 6)])))


def random_plan(rng: random.Random, schema: Schema, depth: int) -> Plan:
    """A tree of random questions: its shape is sound, its numbers mean nothing."""
    stats = tuple(rng.random() * 10 for _ in schema.target.classes or range(3))
    if depth == 0 or rng.random() < 0.2:
        return Plan(stats, rng.randint(0, 50), stop=rng.randint(1, 13))
    fan = rng.randint(2, 4)
    return Plan(
        stats,
        rng.randint(1, 50),
        0,
        random_question(rng, schema, fan),
        tuple(random_plan(rng, schema, depth - 1) for _ in range(fan)),
        tuple(random_question(rng, schema, fan) for _ in range(rng.randint(0, 2))),
        tuple(random_question(rng, schema, rng.randint(2, 4)) for _ in range(rng.randint(0, 2))),
    )


def random_question(rng: random.Random, schema: Schema, fan: int) -> Question:
    column = rng.randrange(len(schema.columns))
    levels = schema.columns[column].levels
    breaks = () if levels is not None else tuple(sorted({rng.gauss(0, 100) for _ in range(rng.randint(0, 5))}))
    bins = len(breaks) + 1 if levels is None else len(levels)
    return Question(
        column,
        tuple(rng.randint(-1, fan - 1) for _ in range(bins)),
        breaks,
        _random_shares(rng, fan),
        rng.randint(-3, fan - 1),
        rng.choice([-4, 0]),
        rng.randint(0, 1),
        degrees=rng.choice([0.0, 2.0]),
        statistic=rng.random(),
        log_p=-rng.random(),
        log_multiplier=rng.random(),
    )


def _random_shares(rng: random.Random, fan: int) -> tuple[float, ...]:
    weights = [rng.random() + 0.01 for _ in range(fan)]
    return tuple(weight / sum(weights) for weight in weights)


def random_tree(seed: int, depth: int = 4) -> Tree:
    rng = random.Random(seed)
    schema = random_schema(rng, rng.choice(["classification", "regression"]))
    return tree(random_plan(rng, schema, depth), schema, rng.choice([C45, CART]))
