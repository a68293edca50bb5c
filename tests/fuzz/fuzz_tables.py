"""Random tables: every dtype, missing values, numbers at the ends of double, names that break quoting."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from fuzz_cases import FORMS, Case
from fuzz_recipes import random_recipe

NAMES = (
    "a", "b", "c", "A", "x1", "true", "FALSE", "null", "/*", "*/", "--", "select", "rows", "leaf", "prediction", "it's",
    'a"b', "a`b", "back\\slash", "two\nlines", "tab\t", "", " ", " a", "größe", "木" * 27, "🌲", "\ud800", "x" * 300,
    "<script>", "${x}", "%s", "{0}", "a,b", "a;b", "1", "1e5", "nan", "class", "def", "weight", "__proto__",
    "constructor", "\0",
)  # fmt: skip
TEXTS = (
    "a", "b", "A", "a ", "", "it's", 'say "no"', "back\\slash", "two\nlines", "Grüße", "木", "🌲", "NULL", "NaN", "nan",
    "</script>", "1", "1.0", "True", "-0", "1e400", "\ud800", "\0", "?", "NA", "x" * 200, "e\u0301", "é",
)  # fmt: skip
EXTREMES = (
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1.0, math.nextafter(1.0, 2.0), 1e16, 1e100, -1e100,
    1e300, 1.7976931348623157e308, -1.7976931348623157e308,
)  # fmt: skip
WHOLE = (0, 1, -1, 2, 3, 127, 128, 255, 256, 2**31, -(2**31), 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**20)

Draw = Callable[[random.Random], Any]


def _pool(make: Draw, most: int = 12) -> Callable[[random.Random], Draw]:
    """Few distinct values, so that ties and repeats are the rule."""

    def chosen(rng: random.Random) -> Draw:
        pool = [make(rng) for _ in range(rng.randint(1, most))]
        return lambda rng: rng.choice(pool)

    return chosen


def _each(make: Draw) -> Callable[[random.Random], Draw]:
    return lambda _: make


def _moment(rng: random.Random) -> datetime:
    shift = rng.choice((0, -1, 1, rng.randint(-(10**16), 10**17)))
    return datetime(1970, 1, 1) + timedelta(microseconds=shift)  # noqa: DTZ001


COLUMNS: dict[str, Callable[[random.Random], Draw]] = {
    "grid": _pool(lambda rng: float(rng.randint(-3, 5))),
    "decimal places": _pool(lambda rng: round(rng.gauss(0, 10), 1)),
    "gauss": _each(lambda rng: rng.gauss(0, 1)),
    "extremes": _pool(lambda rng: rng.choice(EXTREMES)),
    "neighbours": _pool(lambda rng: math.nextafter(1.0, rng.choice((0.0, 2.0))) + rng.choice((0.0, 1e-12))),
    "scales": _each(lambda rng: rng.gauss(0, 1) * 10.0 ** rng.randint(-300, 300)),
    "infinite": _pool(lambda rng: rng.choice((1.0, math.inf, -math.inf, math.nan))),
    "small": _pool(lambda rng: rng.randint(-3, 5)),
    "whole": _pool(lambda rng: rng.choice(WHOLE)),
    "truth": _each(lambda rng: rng.random() < 0.5),
    "text": _pool(lambda rng: rng.choice(TEXTS)),
    "plain text": _pool(lambda rng: rng.choice("pqrstuv"), 5),
    "keys": _each(lambda rng: f"k{rng.randrange(10**6)}"),
    "date": _pool(lambda rng: date(1970, 1, 1) + timedelta(days=rng.randint(-700_000, 2_000_000))),
    "datetime": _pool(_moment),
    "zoned": _pool(lambda rng: _moment(rng).replace(tzinfo=timezone(timedelta(hours=rng.choice((0, 5)))))),
    "time": _pool(lambda rng: time(rng.randrange(24), rng.randrange(60), 0, rng.randrange(10**6))),
    "duration": _pool(lambda rng: timedelta(microseconds=rng.randint(-(10**15), 10**15))),
    "decimal": _pool(lambda rng: Decimal(rng.randint(-999, 999)) / Decimal(100)),
    "mixed": _pool(lambda rng: rng.choice((1, True, 1.0, "1", 0, False, -0.0, "x", 2.5))),
    "nothing": _each(lambda _: None),
}
_COMMON = ("grid", "grid", "gauss", "small", "plain text", "plain text", "truth", "decimal places", "extremes")
_NUMBERS = ("grid", "grid", "gauss", "gauss", "decimal places", "small", "scales", "extremes", "whole")


def _column(rng: random.Random, kind: str, n: int, missing: float) -> list[Any]:
    draw = COLUMNS[kind](rng)
    gap = rng.choice((None, None, math.nan)) if kind in ("grid", "gauss", "extremes", "decimal places") else None
    return [gap if rng.random() < missing else draw(rng) for _ in range(n)]


def _size(rng: random.Random) -> int:
    share = rng.random()
    return rng.randint(1, 8) if share < 0.15 else rng.randint(8, 40) if share < 0.97 else rng.randint(60, 700)


def random_case(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(seed)
    n = _size(rng)
    names = rng.sample(NAMES, 7) if rng.random() < 0.3 else ["c0", "c1", "c2", "c3", "c4", "y", "w"]
    kinds = [rng.choice(_COMMON if rng.random() < 0.85 else tuple(COLUMNS)) for _ in range(rng.randint(1, 5))]
    columns = {
        name: _column(rng, kind, n, rng.choice((0, 0, 0, 0.2, 0.6))) for name, kind in zip(names, kinds, strict=False)
    }
    task, target = _target(rng, n)
    columns[names[5]] = target
    options: dict[str, Any] = {} if rng.random() < 0.3 else {"task": task}
    if rng.random() < 0.2:
        columns[names[6]] = _weights(rng, n)
        options["weight"] = names[6]
    if task == "classification" and rng.random() < 0.1:
        options["class_weight"] = "balanced"
    if task == "classification" and rng.random() < 0.1:
        _add_costs(rng, target, options)
    if rng.random() < 0.1:
        kind = rng.choice(("numeric", "nominal", "ordinal", "nominal", "date", "boolean"))
        options["kinds"] = {rng.choice(names[: len(kinds)]): kind}
    form = "dict" if rng.random() < 0.5 else rng.choice(tuple(FORMS))
    return Case(columns, names[5], random_recipe(rng, task), options, form, rng.randrange(1000))


def _target(rng: random.Random, n: int) -> tuple[str, list[Any]]:
    """A task and a column for it, now and then one that does not suit it."""
    if rng.random() < 0.03:
        return rng.choice(("classification", "regression")), _column(rng, rng.choice(tuple(COLUMNS)), n, 0.01)
    if rng.random() < 0.6:
        return "classification", _column(rng, rng.choice(("plain text",) * 4 + ("text", "truth", "small")), n, 0)
    return "regression", _column(rng, rng.choice(_NUMBERS), n, 0)


def _weights(rng: random.Random, n: int) -> list[float]:
    pools: tuple[Draw, ...] = (
        lambda rng: float(rng.randint(1, 3)),
        lambda rng: rng.choice((0.0, 1.0, 2.5)),
        lambda rng: rng.random(),
        lambda rng: 10.0 ** rng.randint(-12, 12),
        lambda rng: abs(rng.choice(EXTREMES)),
    )
    draw = rng.choice(pools)
    return [draw(rng) for _ in range(n)]


def _add_costs(rng: random.Random, target: list[Any], options: dict[str, Any]) -> None:
    n = len({value for value in target if value is not None}) + (rng.random() < 0.05)
    if rng.random() < 0.5:
        options["costs"] = [[0.0 if i == j else rng.choice((0.5, 1.0, 7.0, 1e9)) for j in range(n)] for i in range(n)]
    else:
        shares = [rng.choice((1.0, 1.0, 3.0, 0.0, 1e-6)) for _ in range(n)]
        options["priors"] = [share / (sum(shares) or 1.0) for share in shares]
