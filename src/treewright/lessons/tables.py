"""The tables of the lessons: dicts of columns, the target last. A variant is a new dict."""

from __future__ import annotations

import random
from typing import Any

Columns = dict[str, list[Any]]


def table(names: str, rows: str) -> Columns:
    """Parse a table: rows separated by semicolons, values by blanks; in a name, _ stands for a blank."""
    cells = [row.split() for row in rows.split(";")]
    columns = zip(names.split(), zip(*cells, strict=True), strict=True)
    return {name.replace("_", " "): list(column) for name, column in columns}


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


def _people() -> Columns:
    """Return one row per person aboard, from the counts of each combination."""
    ranks, labels = ("first", "second", "third", "crew"), ("no", "yes")
    drowned_and_saved = {
        ("adult", "male"): ((118, 57), (154, 14), (387, 75), (670, 192)),
        ("adult", "female"): ((4, 140), (13, 80), (89, 76), (3, 20)),
        ("child", "male"): ((0, 5), (0, 11), (35, 13), (0, 0)),
        ("child", "female"): ((0, 1), (0, 13), (17, 14), (0, 0)),
    }
    rows = [
        (rank, sex, age, label)
        for (age, sex), by_class in drowned_and_saved.items()
        for rank, counts in zip(ranks, by_class, strict=True)
        for label, n in zip(labels, counts, strict=True)
        for _ in range(n)
    ]
    return dict(zip(("Class", "Sex", "Age", "Survived"), map(list, zip(*rows, strict=True)), strict=True))


#: The people aboard the Titanic: Dawson, R. J. M. (1995), The "unusual episode" data revisited, Journal of Statistics
#: Education 3(3).
TITANIC = _people()

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


#: The day on which the slides print "Cold" in place of "Cool".
SLIP_DAY = 9

#: Days whose tree has, node for node, the entropies that the page on importance prints.
DAYS = table(
    "Humidity Outlook Wind Play",
    "High Sunny Weak No; High Sunny Weak No; High Sunny Weak No; High Overcast Weak Yes; High Overcast Weak Yes;"
    "High Rain Weak Yes; High Rain Strong No; Normal Rain Weak Yes; Normal Rain Weak Yes; Normal Rain Weak Yes;"
    "Normal Sunny Weak Yes; Normal Rain Strong No; Normal Sunny Strong Yes; Normal Sunny Strong Yes",
)

#: Tennis with one Outlook that was not recorded.
UNKNOWN: Columns = {
    **TENNIS,
    "Outlook": [None if day == 5 else outlook for day, outlook in enumerate(TENNIS["Outlook"], 1)],
}


def measured(names: str, rows: str) -> Columns:
    """Return a table in which numbers are numbers and "?" is an unknown value."""

    def value(cell: str) -> Any:
        if cell == "?":
            return None
        return float(cell) if "." in cell else int(cell) if cell.isdigit() else cell

    return {name: list(map(value, column)) for name, column in table(names, rows).items()}


#: Patients on the phone, made up.
PATIENTS = measured(
    "fever cough oxygen age breathlessness advice",
    "36.6 none 98 25 none home; 37.2 dry 97 41 none home; 38.4 dry 96 33 none home; "
    "39.6 wet 90 67 severe emergency; 36.9 none 99 52 none home; 38.9 wet 95 71 none doctor; "
    "37.4 dry 97 19 none home; 39.8 wet 88 80 severe emergency; 36.7 none 98 38 none home; "
    "38.1 dry 96 29 none home; 40.2 wet 86 58 severe emergency; 37.0 none 98 63 none home; "
    "38.6 dry 94 74 none doctor; 36.8 dry 97 45 none home; 39.1 wet 91 69 severe emergency; "
    "37.8 none 97 22 none doctor; 38.3 wet 95 35 none home; 36.5 none 99 48 none home; "
    "39.4 dry 96 8 none doctor; 37.1 dry ? 31 none home; ? wet 94 66 none doctor; 38.8 none 96 27 none doctor; "
    "37.6 wet 96 70 ? home; 36.9 none 89 77 severe emergency; 39.9 dry 95 40 none doctor; "
    "38.0 ? 97 55 none home; 37.3 dry 98 60 none home; 38.7 wet 93 82 severe emergency; "
    "36.6 none ? 34 none home; 39.2 dry 92 50 severe emergency",
)


#: A lamp with two switches, seen sixteen times: it is on if they differ. The rest only happens to go with it.
SWITCHES = measured(
    "Upstairs Downstairs Visitor Hour Lamp",
    "up up no 7 off; up down yes 19 on; down up yes 22 on; down down no 20 off; up up no 12 off; up down no 21 on; "
    "down up yes 20 on; down down yes 18 off; up up yes 23 off; up down yes 8 on; down up no 6 on; "
    "down down no 13 off; up up no 21 off; up down yes 12 on; down up yes 23 on; down down no 10 off",
)


def _pressures(rows: int, seed: int) -> Columns:
    """Make patients whose two blood pressures follow one cause, which also decides about the treatment."""
    draw = random.Random(seed)  # noqa: S311  chance for a lesson, not for a secret
    patients = []
    for _ in range(rows):
        cause = draw.gauss(0, 1)
        upper, lower = round(138 + 18 * cause + draw.gauss(0, 4)), round(85 + 11 * cause + draw.gauss(0, 2.4))
        age = draw.randint(30, 79)
        treated = draw.random() < (0.9 if cause > 0.4 else 0.1)
        patients.append((upper, lower, age, "yes" if treated else "no"))
    names = ("Upper", "Lower", "Age", "Treated")
    return dict(zip(names, map(list, zip(*patients, strict=True)), strict=True))


#: Patients with their upper and lower blood pressure, made up: two columns with much the same information.
PRESSURES = _pressures(80, 1)


def diagonal(side: int) -> Columns:
    """Return points of a square on a grid; those above the diagonal are "in"."""
    places = [((column + 0.5) / side, (row + 0.5) / side) for row in range(side) for column in range(side)]
    kept = [(x, y) for x, y in places if abs(x + y - 1) > 0.25 / side]
    return {
        "x": [x for x, _ in kept],
        "y": [y for _, y in kept],
        "side": ["in" if x + y > 1 else "out" for x, y in kept],
    }


def straight(low: float, high: float, points: int) -> Columns:
    """Return points of a straight line."""
    places = [low + (high - low) * i / (points - 1) for i in range(points)]
    return {"x": places, "y": [2 * x + 1 for x in places]}


#: The share of labels of `noisy` that are wrong.
NOISE = 0.15


def noisy(rows: int, seed: int) -> Columns:
    """Make noisy points: "in" above a diagonal, "out" below, about one in seven wrong; z is noise."""
    draw = random.Random(seed)  # noqa: S311  chance for a picture, not for a secret
    points = [(draw.random(), draw.random(), draw.random()) for _ in range(rows)]
    inside = [(x + y > 1) != (draw.random() < NOISE) for x, y, _ in points]
    columns: Columns = dict(zip("xyz", map(list, zip(*points, strict=True)), strict=True))
    return columns | {"side": ["in" if within else "out" for within in inside]}


#: Letters, how frequent they are in two languages, a code for each language, coins, and an urn of letters.
LETTERS: Columns = {
    "letter": list("ABCD"),
    "even": [1 / 4, 1 / 4, 1 / 4, 1 / 4],
    "fixed code": ["00", "01", "10", "11"],
    "uneven": [1 / 2, 1 / 4, 1 / 8, 1 / 8],
    "clever code": ["0", "10", "110", "111"],
    "coin": [(5, 5), (2, 8)],
    "balls": [4, 3, 2, 1],
}


def with_twin(days: Columns) -> Columns:
    """Add a barometer that nearly repeats Humidity: it is wrong on the first Yes of each Humidity."""
    pairs = list(zip(days["Humidity"], days["Play"], strict=True))
    first_played = {pairs.index((level, "Yes")) for level in ("High", "Normal") if (level, "Yes") in pairs}
    moist = [(humidity == "High") != (i in first_played) for i, humidity in enumerate(days["Humidity"])]
    rest = {name: column for name, column in days.items() if name != "Play"}
    return {**rest, "Barometer": ["low" if one else "high" for one in moist], "Play": days["Play"]}


#: Common words of five letters, for a small game.
WORDS = table(
    "word",
    "apple; beach; bread; chair; clock; cloud; dance; dream; earth; field; flame; fruit; glass; grape; green; "
    "heart; honey; horse; house; juice; knife; lemon; light; money; mouse; music; night; ocean; paper; peach; "
    "piano; plant; river; round; sheep; smile; snake; stone; storm; sugar; table; tiger; train; water; wheel; "
    "world",
)
