"""The lessons: every number of the sources is shown, computed and not typed; code does what is shown; pages are sound.

The digits below are those of the sources; beside each stands the library's own computation, so that a lesson cannot
agree with a number that the library does not find.
"""

from __future__ import annotations

import ast
import html.parser
import io
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from unpruned import C45, CART

import treewright as tw
from treewright import criteria
from treewright.lessons import tables
from treewright.lessons.content import Code, Lesson, Text
from treewright.lessons.stories import ABOUT, STORIES

NAMES = tuple(STORIES)


@cache
def lesson(name: str) -> Lesson:
    return tw.lessons[name]


@cache
def text_of(name: str) -> str:
    return lesson(name).text()


@cache
def page(name: str) -> str:
    return lesson(name).page()


class Words(html.parser.HTMLParser):
    """The words of a page, and whether every element that is opened is closed."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.opened: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_startendtag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.opened[-1:] != ["style"]:
            self.words.append(data)


def has_number(text: str, digits: str) -> bool:
    """Whether a number stands there by itself, at most with zeros behind it."""
    zeros = "0*" if "." in digits else r"(\.0+)?"
    return re.search(rf"(?<![\d.]){re.escape(digits)}{zeros}(?![\d]|\.\d)", text) is not None


# --- every number of the sources --------------------------------------------------------------------------------------


def gains(data: Any, target: str, criterion: str = "information_gain", **settings: Any) -> Any:
    ranked = tw.rank_splits(data, target, criterion, **settings)
    return lambda column: ranked.of(column).score


def after(data: Any, target: str, column: str, criterion: Any) -> float:
    """What is left of the impurity after a split."""
    plain = replace(tw.ID3, numeric=tw.numeric.Threshold(), regression=tw.criterion.Variance())
    if isinstance(criterion, tw.criterion.Variance):
        data = {**data, target: [int(value == "yes") for value in data[target]]}
        root = tw.learn(data, target, plain, task="regression").root
    else:
        root = tw.learn(data, target, replace(plain, criterion=criterion)).root
    gain = {split.column: split.gain for split in (root.split, *root.rivals) if split is not None}
    return root.impurity - gain.get(column, 0.0)


def sunny(column: str) -> Callable[[], float]:
    def score() -> float:
        tree = tw.learn(tables.TENNIS, "Play", tw.ID3)
        node = tree.root.children[["Overcast", "Rain", "Sunny"].index("Sunny")]
        found = tw.rank_splits(tables.TENNIS, "Play", tree=tree, node=node).of(column).score
        assert found is not None
        return found

    return score


def with_cold() -> float:
    cold = ["Cold" if day == 9 else value for day, value in enumerate(tables.TENNIS["Temperature"], 1)]
    return float(gains({**tables.TENNIS, "Temperature": cold}, "Play")("Temperature"))


def cut_after(value: int) -> float:
    sides = [[0, 0], [0, 0]]
    for humidity, play in zip(tables.HUMIDITY["Humidity"], tables.HUMIDITY["Play"], strict=True):
        sides[humidity > value][play == "y"] += 1
    return criteria.information_gain(sides)


def threshold(recipe: tw.Recipe) -> float:
    split = tw.learn(tables.HUMIDITY, "Play", recipe).root.split
    assert split is not None
    assert split.threshold is not None
    return split.threshold


def rounded(*parts: tuple[float, int, int]) -> float:
    """Rows times entropies rounded to three digits, added up: (sign times rows, class, class)."""
    return sum(n * round(criteria.entropy([a, b]), 3) for n, a, b in parts)


HUMID = ((14, 9, 5), (-7, 3, 4), (-7, 6, 1))
OUTLOOK_2, OUTLOOK_3 = ((7, 3, 4), (-4, 3, 1)), ((3, 2, 1),)
WIND_2, WIND_3 = ((7, 6, 1), (-3, 2, 1)), ((4, 3, 1),)

TENNIS_RATIO = {"Outlook": "0.1564", "Humidity": "0.1518", "Wind": "0.0488", "Temperature": "0.0188"}
CRICKET = {
    "entropy": (tw.criterion.InformationGain(), "1.0000", "0.8634", "0.9871"),
    "gini": (tw.criterion.Gini(), "0.5000", "0.4100", "0.4911"),
    "variance": (tw.criterion.Variance(), "0.2500", "0.2050", "0.2455"),
    "misclassification": (tw.criterion.Misclassification(), "0.5000", "0.3000", "0.4333"),
}
SD = {"Outlook": "1.6622", "Temperature": "0.4797", "Wind": "0.2821", "Humidity": "0.2723"}
BY_SD = replace(tw.ID3, numeric=tw.numeric.Threshold(), regression=tw.criterion.StandardDeviation())

#: lesson, the digits in the source, how the library computes them.
NUMBERS: list[tuple[str, str, Callable[[], float]]] = [
    ("tennis", "0.9403", lambda: criteria.entropy([9, 5])),
    *(
        ("tennis", digits, lambda column=column: gains(tables.TENNIS, "Play")(column))
        for column, digits in {
            "Outlook": "0.2467",
            "Humidity": "0.1518",
            "Wind": "0.0481",
            "Temperature": "0.0292",
        }.items()
    ),
    *(
        ("tennis", digits, lambda column=column: gains(tables.TENNIS, "Play", "gain_ratio")(column))
        for column, digits in TENNIS_RATIO.items()
    ),
    ("tennis", "0.9710", sunny("Humidity")),
    ("tennis", "0.5710", sunny("Temperature")),
    ("tennis", "0.0200", sunny("Wind")),
    ("tennis", "0.0642", with_cold),
    ("humidity", "0.5454", lambda: criteria.entropy([9, 5]) - cut_after(62)),
    ("humidity", "0.3949", lambda: cut_after(62)),
    ("humidity", "0.3350", lambda: criteria.entropy([9, 5]) - cut_after(89)),
    ("humidity", "0.6053", lambda: cut_after(89)),
    ("humidity", "89.5", lambda: threshold(CART)),
    ("humidity", "89", lambda: threshold(C45)),
    ("humidity", "62", lambda: min(value for value in (62, 63, 89) if cut_after(value) > cut_after(60))),
    *(
        (
            "trading",
            digits,
            lambda column=column: criteria.gini([6, 4]) - gains(tables.TRADING, "Return", "gini")(column),
        )
        for column, digits in {"Past Trend": "0.2667", "Trading Volume": "0.3429", "Open Interest": "0.4667"}.items()
    ),
    *(
        (
            "cricket",
            digits,
            lambda column=column, criterion=criterion: after(tables.CRICKET, "Plays", column, criterion),
        )
        for criterion, *all_digits in CRICKET.values()
        for column, digits in zip(("", "Gender", "Class"), all_digits, strict=True)
    ),
    ("cricket", "0.59", lambda: 1 - after(tables.CRICKET, "Plays", "Gender", tw.criterion.Gini())),
    ("cricket", "0.51", lambda: 1 - after(tables.CRICKET, "Plays", "Class", tw.criterion.Gini())),
    ("buys", "0.9183", lambda: criteria.entropy([6, 3])),
    ("buys", "0.1678", lambda: gains(tables.BUYS, "Buys")("Income")),
    ("buys", "0.5577", lambda: gains(tables.BUYS, "Buys")("Age")),
    ("importance", "0.940", lambda: criteria.entropy([9, 5])),
    ("importance", "0.985", lambda: criteria.entropy([3, 4])),
    ("importance", "0.591", lambda: int(1000 * criteria.entropy([6, 1])) / 1000),
    ("importance", "0.811", lambda: criteria.entropy([3, 1])),
    ("importance", "0.918", lambda: criteria.entropy([2, 1])),
    ("importance", "2.121", lambda: rounded(*HUMID)),
    ("importance", "3.651", lambda: rounded(*OUTLOOK_2)),
    ("importance", "2.754", lambda: rounded(*OUTLOOK_3)),
    ("importance", "6.405", lambda: rounded(*OUTLOOK_2, *OUTLOOK_3)),
    ("importance", "1.390", lambda: rounded(*WIND_2)),
    ("importance", "3.244", lambda: rounded(*WIND_3)),
    ("importance", "4.634", lambda: rounded(*WIND_2, *WIND_3)),
    ("codes", "2", lambda: criteria.entropy([1 / 4] * 4)),
    ("codes", "1.75", lambda: criteria.entropy([1 / 2, 1 / 4, 1 / 8, 1 / 8])),
    ("codes", "1", lambda: criteria.entropy([0.5, 0.5])),
    ("codes", "0.7219", lambda: criteria.entropy([0.2, 0.8])),
    ("codes", "0.7", lambda: criteria.gini([0.4, 0.3, 0.2, 0.1])),
    ("titanic", "0.3357", lambda: criteria.chi_square([[673, 212], [528, 178]]).statistic),
    ("titanic", "0.5623", lambda: criteria.chi_square([[673, 212], [528, 178]]).p),
    ("titanic", "190.1171", lambda: criteria.chi_square([[1201, 390], [122, 203], [167, 118]]).statistic),
    ("golf-hours", "9.3211", lambda: criteria.standard_deviation(tables.GOLF["Hours"])),
    *(
        (
            "golf-hours",
            digits,
            lambda column=column: gains(tables.GOLF, "Hours", "standard_deviation", recipe=BY_SD)(column),
        )
        for column, digits in SD.items()
    ),
]


@pytest.mark.parametrize(
    ("name", "digits", "computed"), NUMBERS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_number_of_the_sources_is_shown(name: str, digits: str, computed: Callable[[], float]) -> None:
    places = len(digits.partition(".")[2])
    assert f"{computed():.{places}f}" == digits
    assert has_number(text_of(name), digits)
    assert has_number(" ".join(Words(page(name)).words), digits)


def test_missing_tells_the_chances_of_every_policy() -> None:
    policies = [
        tw.missing.Ignore(),
        tw.missing.OwnCategory(),
        tw.missing.MajorityChild(),
        tw.missing.Fractional(),
        tw.missing.RandomChild(),
    ]
    day = {"Outlook": [None], "Temperature": ["Mild"], "Humidity": ["High"], "Wind": ["Strong"]}
    for policy in policies:
        for depth in (1, None):
            recipe = replace(tw.ID3, missing=policy, stopping=tw.stopping.Stopping(max_depth=depth))
            no, yes = tw.predict_proba(tw.learn(tables.UNKNOWN, "Play", recipe), day)[0].tolist()
            assert f"{yes:.4f} ({no:.4f})" in text_of("missing")


def test_overfitting_tells_every_method() -> None:
    from treewright.lessons.stories.overfitting import METHODS

    assert {method.name.split(",")[0].split(" (")[0] for method in METHODS} == {
        "depth limit", "minimum leaf", "minimum gain", "chi-square stop", "gini threshold by cross-validation",
        "reduced-error", "cost-complexity", "error-based",
    }  # fmt: skip
    unseen = tables.noisy(5000, seed=2)
    for method in METHODS:
        tree = tw.learn(tables.noisy(600, seed=1), "side", method.recipe)
        right = sum(a == b for a, b in zip(tw.predict(tree, unseen).tolist(), unseen["side"], strict=True)) / 5000
        (line,) = [line for line in text_of("overfitting").splitlines() if line.strip().startswith(method.name + "  ")]
        assert line.split()[-3] == str(tree.n_leaves)
        assert line.split()[-1] == f"{right:.3f}"
    scores = re.findall(r"^  (\d+) +(\d\.\d+) +(\d\.\d+)( +best)?$", text_of("overfitting"), re.MULTILINE)
    training, held_out = [float(s[1]) for s in scores], [float(s[2]) for s in scores]
    assert training == sorted(training)
    assert held_out.index(max(held_out)) not in (0, len(held_out) - 1)  # too small is bad, too large is bad


def test_boundaries_goes_flat() -> None:
    line = tables.straight(0.0, 10.0, 11)
    tree = tw.learn(line, "y", replace(tw.CART, pruning=None))
    for x in (11, 12, 15):
        prediction = float(tw.predict(tree, {"x": [x]})[0])
        assert prediction == max(line["y"])
        assert re.search(rf"^  {x} +{2 * x + 1} +{prediction:.0f}$", text_of("boundaries"), re.MULTILINE)


# --- computed, not typed ----------------------------------------------------------------------------------------------


def changed(column: str, place: int, value: Any) -> Callable[[tables.Columns], tables.Columns]:
    def change(data: tables.Columns) -> tables.Columns:
        return {**data, column: [value if i == place else old for i, old in enumerate(data[column])]}

    return change


#: A row that is changed, and numbers that must then be gone.
CHANGES: dict[str, tuple[Callable[[tables.Columns], tables.Columns], list[str]]] = {
    "tennis": (changed("Play", 0, "Yes"), ["0.9403", "0.2467", "0.1564", "0.0642"]),
    "buys": (changed("Buys", 1, "no"), ["0.5577", "0.1678"]),
    "codes": (changed("balls", 3, 5), ["0.7"]),
    "trading": (changed("Return", 0, "Down"), ["0.2667", "0.4667"]),
    "by-hand": (changed("Play", 13, "Yes"), ["0.2467", "0.1518"]),
    "cricket": (changed("Plays", 0, "no"), ["1.0000", "0.8634", "0.9871", "0.59", "0.51"]),
    "titanic": (changed("Survived", 0, "yes"), ["231.7273", "93.2668", "27.0079"]),
    "humidity": (changed("Play", 5, "n"), ["0.6053", "0.5454"]),
    "golf-hours": (changed("Hours", 0, 60), ["9.3211", "1.6622", "0.4797"]),
    "importance": (changed("Play", 13, "No"), ["2.121", "6.405", "4.634"]),
    "fluke": (changed("Treated", 0, "no"), ["0.2002", "0.1966"]),
    "missing": (changed("Play", 1, "Yes"), ["0.6429", "0.3571"]),
    "overfitting": (changed("side", 0, "in"), ["0.709", "0.794", "0.805", "0.01167"]),
    "boundaries": (changed("side", 0, "in"), ["0.966"]),
    "xor": (changed("Lamp", 0, "on"), ["16 of 16"]),
    "wordle": (changed("word", 5, "trail"), ["4.692", "4.6917", "4.528"]),
    "telehealth": (changed("advice", 3, "home"), ["0.2333", "96.7", "94.5"]),
}


@pytest.mark.parametrize("name", NAMES)
def test_another_row_other_numbers(name: str) -> None:
    change, gone = CHANGES[name]
    other = STORIES[name](change(lesson(name).data)).text()
    assert other != text_of(name)
    for digits in gone:
        assert has_number(text_of(name), digits)
        assert not has_number(other, digits)


def prose(tree: ast.AST) -> list[str]:
    """The literal words of everything that is read as prose."""

    def literal(node: ast.AST) -> list[str]:
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.FormattedValue):
            return []  # computed
        return [word for child in ast.iter_child_nodes(node) for word in literal(child)]

    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    kinds = {"Text", "Heading", "Note", "Listed", "Lesson"}
    return [
        word
        for call in calls
        if call.func.id in kinds
        for argument in (call.args[1:3] if call.func.id == "Lesson" else call.args)
        for word in literal(argument)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_digit_is_typed_into_prose(name: str) -> None:
    source = Path(sys.modules[STORIES[name].__module__].__file__ or "").read_text(encoding="utf-8")
    found = prose(ast.parse(source))
    assert len(found) > 5
    for words in found:
        assert not re.search(r"\d", re.sub(r"C4\.5|ID3|\bD(?=$)", "", words)), words


# --- code -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_code_prints_what_is_shown(name: str) -> None:
    codes = [part.source for part in lesson(name).parts if isinstance(part, Code)]
    assert codes
    out, names = io.StringIO(), {}
    with redirect_stdout(out):
        for source in codes:
            exec(compile(source, name, "exec"), names)
    shown = " ".join(text_of(name).split())
    printed = [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]
    assert printed
    for line in printed:
        assert line in shown


def test_telehealth_predicts_in_the_database() -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    recipe = replace(tw.CART, missing=tw.missing.Surrogates(search="always"), pruning=None)
    tree = tw.prune(tw.learn(tables.PATIENTS, "advice", recipe), tw.pruning.ErrorBased(), tables.PATIENTS)
    sql = tw.export.sql(tree)
    assert sql.strip() in text_of("telehealth")
    rows = pandas.DataFrame(tables.PATIENTS)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        predictions = [prediction for (prediction,) in connection.sql(sql).fetchall()]
    assert predictions == tw.predict(tree, tables.PATIENTS).tolist()
    assert sum(value is None for column in tables.PATIENTS.values() for value in column) >= 3


# --- writers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_page_is_sound_and_alone(name: str) -> None:
    found = Words(page(name))
    assert found.opened == []
    assert page(name).count("<h1>") == 1
    assert not [value for key, value in found.attributes if key in ("src", "href", "onclick", "onload")]
    assert "<script" not in page(name)
    addresses = re.findall(r"https?://[^\"' ]+", page(name))
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}


def test_page_escapes_what_tables_hold() -> None:
    nasty = "<script>alert(1)</script>"
    sunny = [nasty if value == "Sunny" else value for value in tables.TENNIS["Outlook"]]
    written = STORIES["tennis"]({**tables.TENNIS, "Outlook": sunny}).page()
    assert "<script" not in written
    assert "&lt;script&gt;" in written
    assert Words(written).opened == []


@pytest.mark.parametrize("name", NAMES)
def test_terminal_text_keeps_to_its_width(name: str) -> None:
    narrow = lesson(name).text(60)
    for part in lesson(name).parts:
        if isinstance(part, Text):
            one = Lesson("one", "One", "?", {}, (part,)).text(60)
            assert all(len(line) <= 60 for line in one.splitlines())
            assert "\n".join(one.splitlines()[4:]) in narrow
    coloured = lesson(name).text(60, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == narrow
    assert coloured != narrow


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1000, "dark")])
def test_pages_in_a_browser(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    opened = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    messages: list[str] = []
    requested: list[str] = []
    opened.on("console", lambda message: messages.append(message.text))
    opened.on("pageerror", lambda error: messages.append(str(error)))
    opened.on("request", lambda request: requested.append(request.url))
    for name in NAMES:
        path = tmp_path / f"{name}.html"
        path.write_text(page(name), encoding="utf-8")
        opened.goto(path.as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.title().startswith(lesson(name).title)
        ground, ink = opened.evaluate(
            "[getComputedStyle(document.documentElement).backgroundColor,"
            " getComputedStyle(document.querySelector('h1')).color]"
        )
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        assert ground != ink
    assert messages == []
    assert requested == [(tmp_path / f"{name}.html").as_uri() for name in NAMES]
    opened.close()


# --- the shelf --------------------------------------------------------------------------------------------------------


def test_shelf() -> None:
    assert tw.lessons.names == NAMES == tuple(tw.lessons) == tuple(ABOUT)
    assert len(tw.lessons) == 17
    assert "tennis" in tw.lessons
    assert tw.lessons.golf_hours().name == "golf-hours"
    assert tw.lessons.tennis().text() == text_of("tennis")
    assert {"tennis", "golf_hours"} <= set(dir(tw.lessons))
    assert all(name in str(tw.lessons) for name in NAMES)
    assert "<code>tennis</code>" in tw.lessons._repr_html_()
    assert repr(lesson("tennis")).startswith("<Lesson 'tennis'")
    assert lesson("tennis")._repr_html_() in page("tennis")
    with pytest.raises(tw.DataError, match="did you mean 'tennis'"):
        tw.lessons["tenis"]
    with pytest.raises(AttributeError, match="no lesson"):
        _ = tw.lessons.nothing


def test_data_to_play_with() -> None:
    assert tw.learn(lesson("tennis").data, "Play", tw.ID3).n_leaves == 8
    for name in NAMES:
        assert lesson(name).name == name
        assert lesson(name).title
        assert len({len(column) for column in lesson(name).data.values()} - {2}) == 1


def test_lessons_are_loaded_when_requested() -> None:
    code = (
        "import sys, treewright as tw; assert 'treewright.lessons' not in sys.modules; "
        "tw.lessons['buys']; assert not {'matplotlib', 'sklearn', 'pandas', 'click'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
