"""The tables of the worked examples: tennis, humidity, trading, cricket, buys, golf-hours, overfitting.

Comes in: nothing. Goes out: each table as a dict of columns, the target last.
Always holds: the values are those of the lessons, row by row, and nobody changes a table: a variant is a new dict.
"""

from __future__ import annotations

import random
from typing import Any

Columns = dict[str, list[Any]]


def table(names: str, rows: str) -> Columns:
    """One column per name; rows are separated by semicolons, values by blanks."""
    cells = [row.split() for row in rows.split(";")]
    return {name: list(column) for name, column in zip(names.split(), zip(*cells, strict=True), strict=True)}


#: Days D1 to D14. Mitchell's book has the Wind of D7 and D10 the other way round.
TENNIS = table(
    "Outlook Temperature Humidity Wind Play",
    "Sunny Hot High Weak No; Sunny Hot High Strong No; Overcast Hot High Weak Yes; Rain Mild High Weak Yes;"
    "Rain Cool Normal Weak Yes; Rain Cool Normal Strong No; Overcast Cool Normal Weak Yes; Sunny Mild High Weak No;"
    "Sunny Cool Normal Weak Yes; Rain Mild Normal Strong Yes; Sunny Mild Normal Strong Yes;"
    "Overcast Mild High Strong Yes; Overcast Hot Normal Weak Yes; Rain Mild High Strong No",
)

HUMIDITY: Columns = {
    "Humidity": [54, 58, 59, 60, 60, 62, 63, 80, 81, 89, 90, 90, 90, 92],
    "Play": list("yyyyyynyyynnnn"),
}

TRADING = table(
    "Past_Trend Open_Interest Trading_Volume Return",
    "Positive Low High Up; Negative High Low Down; Positive Low High Up; Positive High High Up; Negative Low High Down;"
    "Positive Low Low Down; Negative High High Down; Negative Low High Down; Positive Low Low Down;"
    "Positive High High Up",
)

#: The lesson gives the two columns one by one; how they meet in a student is free, and no number depends on it.
CRICKET: Columns = {
    "Gender": ["female"] * 2 + ["male"] * 13 + ["female"] * 8 + ["male"] * 7,
    "Class": ["IX"] * 6 + ["X"] * 9 + ["IX"] * 8 + ["X"] * 7,
    "Plays": ["yes"] * 15 + ["no"] * 15,
}

BUYS = table(
    "Age Income Buys",
    "<30 high yes; >30 medium yes; >30 low no; >30 high no; <30 high yes; <30 medium yes; >30 high no; <30 low yes;"
    "<30 low yes",
)

#: The days of tennis, with the Wind of D7 and D10 as in Mitchell's book.
GOLF: Columns = {
    **{name: TENNIS[name] for name in ("Outlook", "Temperature", "Humidity")},
    "Wind": ["Strong" if day == 7 else "Weak" if day == 10 else wind for day, wind in enumerate(TENNIS["Wind"], 1)],
    "Hours": [25, 30, 46, 45, 52, 23, 43, 35, 38, 46, 48, 52, 44, 30],
}


def noisy(rows: int, seed: int) -> Columns:
    """Points above a diagonal are "in", those below "out", but for about one in seven; z has nothing to say."""
    draw = random.Random(seed)
    points = [(draw.random(), draw.random(), draw.random()) for _ in range(rows)]
    inside = [(x + y > 1) != (draw.random() < 0.15) for x, y, _ in points]
    columns: Columns = dict(zip("xyz", map(list, zip(*points, strict=True)), strict=True))
    return columns | {"side": ["in" if answer else "out" for answer in inside]}
