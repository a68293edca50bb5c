"""Lessons of changed tables: made without error, their code gives the numbers printed, and what they claim is true."""

from __future__ import annotations

import io
import math
import random
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import pytest

import treewright as tw
from treewright import criteria
from treewright.data.grid import Grid
from treewright.lessons import tables
from treewright.lessons.content import Code, Heading, Lesson, Note, Printed, Shown, Text
from treewright.lessons.stories import STORIES

Columns = tables.Columns

#: How many changed tables each lesson is told of; the last ones take long.
SEEDS = {"overfitting": 2, "boundaries": 6, "wordle": 6, "titanic": 12, "fluke": 4, "xor": 25} | dict.fromkeys(
    (
        "tennis",
        "by-hand",
        "buys",
        "trading",
        "cricket",
        "humidity",
        "golf-hours",
        "importance",
        "missing",
        "telehealth",
        "codes",
        "xor",
    ),
    25,
)
CASES = [(name, seed) for name, seeds in SEEDS.items() for seed in range(seeds)]


#: A number as the sentences have it.
NUMBER = r"(\d+\.\d+)"


@cache
def own(name: str) -> Columns:
    return tw.lessons[name].data


def changed(name: str, seed: int) -> Columns:
    """The lesson's table with cells exchanged, and sometimes with rows left out or given twice."""
    draw = random.Random(f"{name} {seed}")
    data = {column: list(values) for column, values in own(name).items()}
    if name == "codes":
        data["balls"] = [draw.randint(1, 9) for _ in data["balls"]]
        shares = [draw.randint(1, 8) for _ in data["uneven"]]
        return data | {"uneven": [share / sum(shares) for share in shares]}
    if name == "wordle":
        return {"word": draw.sample(data["word"], draw.randint(2, 30))}
    if name == "titanic":  # small and large samples, with other answers for a class
        rows = draw.sample(range(len(data["Class"])), draw.choice((40, 120, 300, 800, 2000)))
        data = {column: [values[i] for i in rows] for column, values in data.items()}
    for _ in range(draw.choice((1, 1, 2, 3, 6))):
        column = draw.choice(list(data))
        values = [value for value in own(name)[column] if value is not None]
        data[column][draw.randrange(len(data[column]))] = draw.choice(values)
    if draw.random() < 0.3:
        rows = [i for i in range(len(next(iter(data.values())))) for _ in range(draw.choice((0, 1, 1, 1, 1, 2)))]
        data = {column: [values[i] for i in rows] for column, values in data.items()}
    return data


@cache
def changed_lesson(name: str, seed: int) -> Lesson | None:
    """The lesson; None where it says in plain words why it cannot be told of such a table."""
    try:
        return STORIES[name](changed(name, seed))
    except tw.DataError:
        return None


def lessons(name: str) -> Iterator[tuple[Lesson, str]]:
    """The lessons of all changed tables, each with its sentences."""
    found = [one for seed in range(SEEDS[name]) if (one := changed_lesson(name, seed)) is not None]
    assert 2 * len(found) > SEEDS[name]
    for one in found:
        words = [part.words for part in one.parts if isinstance(part, Text | Note | Heading)]
        yield one, " ".join(" ".join(words).replace("**", "").split())


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_lesson_is_made_of_a_changed_table(name: str, seed: int) -> None:
    found = changed_lesson(name, seed)
    if found is None:
        pytest.skip("this table cannot be the lesson's, and the lesson says so")
    assert found.text()
    assert found.page()


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_the_code_of_a_changed_lesson_prints_what_is_shown(name: str, seed: int) -> None:
    found = changed_lesson(name, seed)
    if found is None:
        pytest.skip("this table cannot be the lesson's, and the lesson says so")
    # A large table is not written into the code, which says that it is there.
    large = name in ("overfitting", "titanic") and len(next(iter(found.data.values()))) > 200
    names: dict[str, Any] = {"data": found.data} if large else {}
    for part, after in zip(found.parts, (*found.parts[1:], None), strict=True):
        if not isinstance(part, Code):
            continue
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(part.source, name, "exec"), names)
        if isinstance(after, Printed):
            assert out.getvalue().strip() == after.text.strip()
        elif isinstance(after, Shown):
            assert out.getvalue().strip() == str(after.tree).strip()


def gains(data: Columns, target: str, criterion: str = "information_gain") -> dict[str, float]:
    """The gain of every column by counting, without a ranking."""
    columns = [name for name in data if name != target]
    classes = sorted(set(data[target]))
    made = {}
    for column in columns:
        pairs = list(zip(data[column], data[target], strict=True))
        counts = [[pairs.count((level, label)) for label in classes] for level in dict.fromkeys(data[column])]
        function = {"information_gain": criteria.information_gain, "gini": criteria.gini_gain}[criterion]
        made[column] = function(counts) if len(counts) > 1 else 0.0
    return made


def ratio(data: Columns, target: str, column: str) -> float:
    sizes = [data[column].count(level) for level in dict.fromkeys(data[column])]
    return gains(data, target)[column] / criteria.entropy(sizes) if len(sizes) > 1 else 0.0


def test_tennis_claims_follow_from_the_table() -> None:
    close = 0
    for one, words in lessons("tennis"):
        found = gains(one.data, "Play")
        best = max(found.values())
        line = re.search(
            r"(\w+) gains (\d+\.\d+) bits, (\w+) (\d+\.\d+); the least, (\d+\.\d+), has (\w+)\. So the root", words
        )
        assert line is not None
        for column, digits in ((line[1], line[2]), (line[3], line[4]), (line[6], line[5])):
            assert f"{found[column]:.4f}" == digits
        assert found[line[1]] == pytest.approx(best)
        assert found[line[6]] == pytest.approx(min(found.values()))
        front = re.search(r"Here (\w+) (remains first|comes first), with (\d+\.\d+) against (\w+)'s (\d+\.\d+)", words)
        assert front is not None
        first, second = (ratio(one.data, "Play", front[i]) for i in (1, 4))
        assert (f"{first:.4f}", f"{second:.4f}") == (front[3], front[5])
        assert first == pytest.approx(max(ratio(one.data, "Play", column) for column in found))
        assert ("but only just" in words) == (second >= 0.95 * first > 0)
        close += "but only just" in words
        for pile, rows, label in re.findall(r"Where Outlook = (\w+), all (\d+) days are (\w+)", words):
            days = [play for sky, play in zip(one.data["Outlook"], one.data["Play"], strict=True) if sky == pile]
            assert days == [label] * int(rows)
        assert ("A slip" in words) == (one.data == tables.TENNIS)
    assert close < SEEDS["tennis"]


def test_the_tennis_table_with_one_other_prediction() -> None:
    play = ["No" if day == 3 else value for day, value in enumerate(tables.TENNIS["Play"], 1)]
    words = str(STORIES["tennis"]({**tables.TENNIS, "Play": play}))
    assert "only just" not in words
    assert "The slides print" not in words


def test_buys_and_trading_claims_follow_from_the_table() -> None:
    for one, words in lessons("buys"):
        found = gains(one.data, "Buys")
        for column, digits in re.findall(r"(Age|Income) gains (\d+\.\d+) bits", words):
            assert f"{found[column]:.4f}" == digits
        chosen = re.search(r"the tree splits on (\w+)\.", words)
        assert chosen is not None
        assert found[chosen[1]] == pytest.approx(max(found.values()))
        by_ratio = re.search(r"By that ratio (\w+) comes first, (too|instead)", words)
        assert by_ratio is not None
        assert ratio(one.data, "Buys", by_ratio[1]) == pytest.approx(max(ratio(one.data, "Buys", c) for c in found))
        assert (by_ratio[2] == "too") == (by_ratio[1] == chosen[1])
    for one, words in lessons("trading"):
        after = {c: tw.criteria.gini([one.data["Return"].count(v) for v in ("Down", "Up")]) - gain
                 for c, gain in gains(one.data, "Return", "gini").items()}  # fmt: skip
        least = re.search(r"([A-Z]\w+ [A-Z]\w+) leaves the least, (\d+\.\d+)", words)
        if least is not None:
            assert after[least[1]] == pytest.approx(min(after.values()))
            assert f"{after[least[1]]:.4f}" == least[2]


def test_titanic_claims_follow_from_the_table() -> None:
    merged_rounds = set()
    for one, words in lessons("titanic"):
        pairs = list(zip(one.data["Class"], one.data["Survived"], strict=True))
        counts = {
            (level,): [pairs.count((level, label)) for label in ("no", "yes")] for level in set(one.data["Class"])
        }
        first, n_rounds = None, 1
        while len(counts) > 2:
            tests = {pair: criteria.chi_square([counts[group] for group in pair]).p
                     for pair in combinations(sorted(counts), 2)}  # fmt: skip
            a, b = max(tests, key=tests.__getitem__)
            first = first or tests[a, b]
            if tests[a, b] <= 0.05:
                break
            counts[tuple(sorted(a + b))] = [x + y for x, y in zip(counts.pop(a), counts.pop(b), strict=True)]
            n_rounds += 1
        p = re.search(r"Here it is (\S+)\. ", words)
        assert p is not None
        assert float(p[1]) == pytest.approx(first, rel=1e-3)
        groups = {frozenset(group) for group in counts}
        told_groups = re.search(r"(?:groups: |less: |left.*?: )((?:[^.:]|\. \d)*?)(?: stay as they are)?\. ?", words)
        assert told_groups is not None
        named = re.findall(r"\{([^}]*)\}|(\w+)", told_groups[1].replace(" and ", " "))
        assert {frozenset((many or single).split(", ")) for many, single in named} == groups
        assert (
            len([part for part in one.parts if isinstance(part, Grid) and part.caption.startswith("Round")]) == n_rounds
        )
        merged_rounds.add(n_rounds)
        tree = tw.learn(one.data, "Survived", tw.CHAID)
        root = re.search(r"so the root splits on (\w+)|The root splits on (\w+)", words)
        assert (tree.root.split.column if tree.root.split else None) == (root and (root[1] or root[2]))
        if "smallest adjusted p-value, " in words:
            best, digits = re.search(r"(\w+) has the smallest adjusted p-value, (\d\S*?)[,.] ", words).groups()
            ranked = tw.rank_splits(one.data, "Survived", recipe=tw.CHAID)
            smallest = {c.column: math.exp(-(c.score or 0)) for c in ranked}
            assert smallest[best] == min(smallest.values())
            assert float(digits) == pytest.approx(smallest[best], rel=1e-3, abs=1e-4)
            assert ("so the root splits on" in words) <= (float(digits) <= 0.05)
    assert len(merged_rounds) > 1


def test_humidity_claims_follow_from_the_table() -> None:
    for one, words in lessons("humidity"):
        two = re.search(
            r"leaves (\d+\.\d+) bits and gains (\d+\.\d+)\. The second leaves (\d+\.\d+) and gains (\d+\.\d+)", words
        )
        assert two is not None
        assert float(two[4]) >= float(two[2])
        assert ("The second is better" in words) or two[2] == two[4]
        alike = re.search(
            r"the middle of the gap, (\d+(?:\.\d+)?)\. C4\.5 .* below, (\d+(?:\.\d+)?)\. (Both|It)", words
        )
        assert alike is not None
        cart, quinlan = float(alike[1]), float(alike[2])
        same = all((x <= cart) == (x <= quinlan) for x in one.data["Humidity"])
        assert (alike[3] == "Both") == same


def test_importance_claims_follow_from_the_table() -> None:
    for one, words in lessons("importance"):
        recipe = tw.Recipe(criterion=tw.criterion.InformationGain(), missing=tw.CART.missing)
        found = tw.importance(tw.learn(one.data, "Play", recipe))
        assert "is an accident" not in words or re.search(
            r"(\w+) gains [\d.]+ at the root, Barometer .*, the root splits on (?!\1)", words
        )
        order = re.search(
            r"share of the whole it adds up to one\. ([^.]+)\. The root splits on (\w+), and (yet|no)", words
        )
        assert order is not None
        names = re.split(r" [>=] ", order[1])
        for sign, left, right in zip(re.findall(r" ([>=]) ", order[1]), names[:-1], names[1:], strict=True):
            assert found[left] > found[right] if sign == ">" else found[left] == pytest.approx(found[right])
        assert (order[3] == "no") == (found[order[2]] >= max(found.values) - 1e-12)


def test_golf_claims_follow_from_the_table() -> None:
    for one, words in lessons("golf-hours"):
        found = re.search(
            r"(\w+) reduces the standard deviation by (\d+\.\d+) hours, (more than any other|as much as)", words
        )
        assert found is not None
        hours = one.data["Hours"]
        taken = {}
        for column in (name for name in one.data if name != "Hours"):
            groups = [
                [h for h, v in zip(hours, one.data[column], strict=True) if v == level]
                for level in set(one.data[column])
            ]
            taken[column] = criteria.standard_deviation(hours) - sum(
                len(group) / len(hours) * criteria.standard_deviation(group) for group in groups
            )
        assert f"{taken[found[1]]:.4f}" == found[2]
        assert taken[found[1]] == pytest.approx(max(taken.values()))


def test_cricket_and_telehealth_claims_follow_from_the_table() -> None:
    for one, words in lessons("cricket"):
        best = {}
        for name in ("information_gain", "gini"):
            found = gains(one.data, "Plays", name)
            best[name] = {column for column, gain in found.items() if gain >= max(found.values()) - 1e-12}
        agreed = re.search(r"All four choose (\w+)\.", words)
        differ = re.search(r"They differ: entropy chooses (\w+), gini chooses (\w+),", words)
        assert (agreed is None) != (differ is None)
        chosen = (agreed[1], agreed[1]) if agreed else (differ[1], differ[2])
        assert all(column in best[name] for column, name in zip(chosen, best, strict=True) if column != "nothing")
    for one, words in lessons("telehealth"):
        trees = [part.tree for part in one.parts if isinstance(part, Shown)]
        grown, pruned = trees[0].n_leaves, trees[1].n_leaves
        assert (f"{grown} leaves have become {pruned}" in words) == (pruned < grown)
        path = next(part.text for part in one.parts if isinstance(part, Printed) and "patient" in part.name)
        assert ("So a surrogate split on another column decides" in words) == ("surrogate" in path)


def test_claims_about_missing_values_and_boundaries_follow_from_the_table() -> None:
    for one, words in lessons("missing"):
        terms, label = re.search(r"probability of Yes = (.*?) = (\d\.\d+)", words).groups()
        whole = sum(float(a) * float(b) for a, b in re.findall(r"(\d\.\d+) × (\d\.\d+)", terms))
        assert whole == pytest.approx(float(label), abs=0.001)
        tree = tw.learn(one.data, "Play", replace(tw.ID3, missing=tw.missing.Fractional()))
        asks_outlook = tree.root.split is not None and tree.root.split.column == "Outlook"
        assert ("The day goes to every child, by shares" in words) == asks_outlook
    for one, words in lessons("boundaries"):
        tree = next(part.tree for part in one.parts if isinstance(part, Shown))
        assert ("a single split is enough" in words) == (tree.n_leaves == 2)
        rows = zip(one.data["x"], one.data["y"], one.data["side"], strict=True)
        by_rule = all((x + y > 1) == (side == "in") for x, y, side in rows)
        assert ("Points above the diagonal are in" in words) == by_rule


def test_words_about_a_source_are_about_its_table_only() -> None:
    for name in ("tennis", "cricket", "importance"):
        for one, words in lessons(name):
            if one.data != own(name):
                assert "slip worth finding" not in words
                assert "the page:" not in words


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("tennis", {"Play": ["Yes"] * 14}, "the lesson needs at least two target values"),
        ("tennis", {"Play": [*["Yes"] * 13, "Perhaps"]}, "the lesson is about Play"),
        ("golf-hours", {"Hours": [3] * 14}, "the lesson needs at least two target values"),
        ("missing", {"Outlook": tables.TENNIS["Outlook"]}, "every day has one"),
    ],
)
def test_a_table_that_cannot_be_the_lessons_is_refused(name: str, change: Columns, problem: str) -> None:
    with pytest.raises(tw.DataError, match=problem):
        STORIES[name]({**own(name), **change})
    with pytest.raises(tw.DataError, match="the lesson needs the columns"):
        STORIES[name]({"x": [1]})


def test_claims_about_switches_follow_from_the_table() -> None:
    for one, words in lessons("xor"):
        rows = list(zip(one.data["Upstairs"], one.data["Downstairs"], one.data["Lamp"], strict=True))
        kept = [(up != down) == (lamp == "on") for up, down, lamp in rows]
        assert ("The rule is short" in words) == all(kept)
        best = tw.learn_optimal(one.data, "Lamp", max_depth=2)
        right = int((tw.predict(best, one.data) == one.data["Lamp"]).sum())
        assert right >= sum(kept)
        assert f"It is right in {right} of {len(rows)} rows" in words
        found = gains(one.data, "Lamp", "gini")
        useless = max(found["Upstairs"], found["Downstairs"]) < 1e-12
        assert ("Neither switch gains anything" in words) == useless


def test_claims_about_a_fluke_follow_from_the_table() -> None:
    """The root without each patient, by learning; what the refits keep, by their report."""
    recipe = tw.CART.with_(pruning=None, max_depth=2, min_samples_leaf=5)
    for one, words in lessons("fluke"):
        tree = tw.learn(one.data, "Treated", recipe)
        assert tree.root.split is not None
        assert f"The tree begins with {tree.root.split.column}." in words
        n = len(one.data["Treated"])
        shown = next(part for part in one.parts if isinstance(part, Grid) and part.caption.startswith("The root"))
        assert sum(int(str(count)) for _, count in shown.rows) == n
        left_out = {name: values[1:] for name, values in one.data.items()}
        first = tw.learn(left_out, "Treated", recipe).root.split
        assert (first.column if first else "no split") in [name for name, _ in shown.rows]
        found = tw.stability(tree, one.data, resamples=100)
        assert ("was a fluke" in words) == (found.splits[0].kept < 0.8)
        assert ("steadier" in words) == (found.rows.mean() > found.splits[0].kept)
