"""A game of Wordle in the terminal: the player types the pattern of each guess."""

from __future__ import annotations

from collections.abc import Sequence

import click

from treewright.lessons.patterns import best_guess, checked, read_pattern, remaining


def play(words: Sequence[str], guesses: Sequence[str] | None = None) -> None:
    """Guess until the word is found, no word is left, or the player ends the game."""
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
    while True:
        typed = click.prompt("pattern", default="", show_default=False).strip()
        if not typed:
            return None
        pattern = read_pattern(typed, length)
        if pattern is not None:
            return pattern
        click.echo(f"not a pattern; type {length} signs, each G, y or -")
