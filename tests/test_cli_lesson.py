"""`treewright lesson`: what is shown, written and refused."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import treewright as tw
from treewright.cli.lesson import lesson, play


def run(*arguments: str, **settings: str) -> Result:
    return CliRunner().invoke(lesson, list(arguments), **settings)


def test_all_are_listed() -> None:
    out = run().output
    assert all(name in out for name in tw.lessons.names)


@pytest.mark.parametrize("name", ["tennis", "wordle"])
def test_one_is_shown(name: str) -> None:
    found = run(name)
    assert found.exit_code == 0
    assert found.output == tw.lessons.story(name)().text() + "\n"


def test_colours_only_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("buys").output
    assert "\x1b[" not in run("buys", "--no-colour").output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("buys").output


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "buys.html"
    path.write_text("before")
    assert run("buys", "--html", str(path)).exit_code == 0
    assert path.read_text(encoding="utf-8") == tw.lessons.story("buys")().page()
    assert [one.name for one in tmp_path.iterdir()] == ["buys.html"]


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    found = run("buys", "--html", str(tmp_path / "nowhere" / "buys.html"))
    assert found.exit_code == 1
    assert "cannot write" in found.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["tenis"], 1, "did you mean 'tennis'"),
        (["tennis", "--answer", "stone"], 2, "belong to the lesson wordle"),
        (["--html", "x.html"], 2, "need the NAME"),
        (["wordle", "--answer", "zebra"], 1, "not among"),
        (["wordle", "--words", "nowhere.txt"], 2, "does not exist"),
    ],
)
def test_mistakes_are_reported_in_one_line(arguments: list[str], code: int, words: str) -> None:
    found = run(*arguments)
    assert found.exit_code == code
    assert words in found.output
    assert "Traceback" not in found.output


def test_wordle_on_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("stone, 5\nTRAIN\n\nplant\nwater\n", encoding="utf-8")
    found = run("wordle", "--words", str(path), "--answer", "Plant")
    assert found.exit_code == 0
    assert "4 words are possible: stone, train, plant, water." in found.output
    assert "Found plant in" in found.output


def test_wordle_is_played() -> None:
    words = ["stone", "train", "plant", "water"]

    @click.command()
    def game() -> None:
        play(words)

    ended = CliRunner().invoke(game, input="\n")
    assert "4 possible. I guess" in ended.output
    found = CliRunner().invoke(game, input="what\nGGGGG\n")
    assert "not a pattern" in found.output
    assert "Found it." in found.output
    none_left = CliRunner().invoke(game, input="-----\n-----\n-----\n-----\n")
    assert "no word on the list fits" in none_left.output
