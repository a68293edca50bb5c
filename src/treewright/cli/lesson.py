"""`treewright lesson [NAME]`: a worked example in the terminal, or as a page."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treewright.data.atomic_write import write_atomic
from treewright.errors import TreewrightError

if TYPE_CHECKING:
    from treewright.lessons.content import Lesson

#: The width where there is no terminal, such as in a file.
_WIDTH = 100


@click.command(short_help="A worked example, step by step.")
@click.argument("name", required=False)
@click.option(
    "--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write the lesson as an HTML page."
)
@click.option(
    "--words", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="wordle: a file, one word per line."
)
@click.option(
    "--guesses",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="wordle: more words that may be guessed but are never hidden.",
)
@click.option("--answer", help="wordle: the word to find.")
@click.option("--no-colour", "--no-color", is_flag=True, help="Print without colours.")
def lesson(
    name: str | None, page: Path | None, words: Path | None, guesses: Path | None, answer: str | None, no_colour: bool
) -> None:
    """Show a worked example step by step; every number is computed when it is shown. Without NAME, list all lessons."""
    from treewright import lessons

    if name is None:
        if page is not None or words is not None or guesses is not None or answer is not None:
            raise click.UsageError("these options need the NAME of a lesson; without options the lessons are listed")
        click.echo(str(lessons))
        click.echo("\nShow one with: treewright lesson NAME")
        return
    if name != "wordle" and (words is not None or guesses is not None or answer is not None):
        raise click.UsageError("--words, --guesses and --answer belong to the lesson wordle")
    try:
        options = _wordle_options(words, guesses, answer) if name == "wordle" else {}
        found = lessons.story(name)(**options)
    except TreewrightError as error:
        raise click.ClickException(str(error)) from None
    if page is not None:
        try:
            write_atomic(page, found.page())
        except OSError as error:
            raise click.ClickException(f"cannot write {page}: {error.strerror or error}") from None
        click.echo(f"written: {page}")
        return
    _show(found, no_colour)
    if name == "wordle" and answer is None and sys.stdin.isatty() and sys.stdout.isatty():
        play(found.data["word"], options.get("guesses"))


def _wordle_options(words: Path | None, guesses: Path | None, answer: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {} if answer is None else {"answer": answer}
    if words is not None:
        options["data"] = {"word": read_words(words)}
    if guesses is not None:
        options["guesses"] = read_words(guesses)
    return options


def read_words(path: Path) -> list[str]:
    """Read one word per line, up to the first blank or comma."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"cannot read {path}: {error}") from None
    return [line.replace(",", " ").split()[0] for line in lines if line.strip(" ,\t")]


def _show(shown: Lesson, no_colour: bool) -> None:
    from treewright.render.tree_text import has_colour

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _WIDTH
    colour = not no_colour and has_colour(terminal, os.environ)
    click.echo(shown.text(width, colour=colour), color=colour)


def play(words: Sequence[str], guesses: Sequence[str] | None = None) -> None:
    """Play Wordle until the word is found, no word is left, or the player, who types the patterns, ends the game."""
    from treewright.lessons.patterns import best_guess, checked, remaining

    left = list(words)
    allowed = left if guesses is None else checked([*words, *guesses])
    length = len(left[0])
    example = "Gy" + "-" * (length - 2)
    click.echo(f"\nYour turn: think of one of these words. After each guess type what you see, such as {example}.")
    click.echo("G: in its place, y: elsewhere, -: not there. Enter alone ends the game.\n")
    while left:
        guess = best_guess(left, allowed)
        click.echo(f"{len(left):,} possible. I guess  {guess.word}  ({guess.gain:.3f} bits)")
        pattern = _typed_pattern(length)
        if pattern is None:
            return
        if pattern == 3**length - 1:
            click.echo("Found it.")
            return
        left = [word for word in remaining(left, guess.word, pattern) if word != guess.word]
    click.echo("no word on the list fits all patterns; check what was typed")


def _typed_pattern(length: int) -> int | None:
    """Return the pattern typed, or None to end."""
    from treewright.lessons.patterns import read_pattern

    while True:
        typed = click.prompt("pattern", default="", show_default=False).strip()
        if not typed:
            return None
        pattern = read_pattern(typed, length)
        if pattern is not None:
            return pattern
        click.echo(f"not a pattern; type {length} signs, each G, y or -")
