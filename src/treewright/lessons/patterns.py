"""Colour patterns of Wordle, and the information gain of a guess.

A pattern follows the rules of the game: letters in their place first, then, from the left, letters that are elsewhere,
each as often as the word still has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.criteria.statistics import impurity_of
from treewright.data.arrays import Int32Array
from treewright.errors import DataError
from treewright.lessons.tables import Columns

#: A letter that is not in the word, one that is elsewhere, one in its place.
SIGNS = "-yG"
#: So many pairs of words are compared at once.
_PAIRS = 1_000_000


@dataclass(frozen=True)
class Guess:
    """A guess: its expected gain in bits, the number of groups of words it makes, and the size of the largest."""

    word: str
    gain: float
    piles: int
    largest: int
    possible: bool


def checked(words: Sequence[str], what: str = "words") -> list[str]:
    """Return the words in lower case, each once; they must be of one length."""
    found = list(dict.fromkeys(word.strip().lower() for word in words if word.strip()))
    if not found:
        raise DataError(f"{what} has no words; give one word per line")
    odd = next((word for word in found if len(word) != len(found[0])), None)
    if odd is not None:
        raise DataError(f"{what} must all have as many letters as {found[0]!r}, but there is {odd!r}")
    return found


def letters(words: Sequence[str]) -> NDArray[np.uint32]:
    """Return one row per word, one column per letter."""
    return np.array([[ord(c) for c in word] for word in words], dtype=np.uint32)


def patterns(guesses: Sequence[str], words: Sequence[str]) -> Int32Array:
    """Return the pattern of each guess for each word, as a number in base three; the first letter counts most."""
    guessed, hidden = letters(guesses), letters(words)
    length = guessed.shape[1]
    found = np.zeros((len(guesses), len(words)), dtype=np.int32)
    for p in range(length):
        found = found * 3 + _colour(guessed, hidden, p)
    return found


def _colour(guessed: NDArray[np.uint32], hidden: NDArray[np.uint32], p: int) -> Int32Array:
    """Return what each guess learns about its letter p: 0 absent, 1 elsewhere, 2 in place."""
    length = guessed.shape[1]
    letter = guessed[:, p, None]
    free = np.zeros((len(guessed), len(hidden)), dtype=np.int8)  # places elsewhere that still want this letter
    for q in range(length):
        wants = hidden[None, :, q] == letter
        in_place = hidden[None, :, q] == guessed[:, q, None]
        free += wants & ~in_place
        if q < p:  # an earlier letter of the same kind that was not in place has taken one of them
            free -= (guessed[:, q, None] == letter) & ~in_place
    in_place = hidden[None, :, p] == letter
    return np.where(in_place, 2, free > 0).astype(np.int32)


def pattern_text(pattern: int, length: int) -> str:
    """Write a pattern, G for green and y for yellow.

    >>> pattern_text(3**4 * 2 + 1, 5)
    'G---y'
    """
    signs = []
    for _ in range(length):
        pattern, colour = divmod(pattern, 3)
        signs.append(SIGNS[colour])
    return "".join(reversed(signs))


def read_pattern(text: str, length: int) -> int | None:
    """Return the number of a pattern as typed, None if it is none.

    >>> read_pattern("g---Y", 5), read_pattern("what?", 5)
    (163, None)
    """
    signs = {"-": 0, ".": 0, "b": 0, "0": 0, "y": 1, "1": 1, "g": 2, "2": 2}
    typed = [signs.get(c.lower()) for c in text if not c.isspace()]
    if len(typed) != length or None in typed:
        return None
    number = 0
    for colour in typed:
        number = number * 3 + (colour or 0)
    return number


def pattern_table(words: Sequence[str]) -> Columns:
    """Return a column for each word as a guess, with its pattern for every word; the target is the word itself.

    Every word has two rows, for no tree is learned from classes that are seen once only.
    """
    hidden = [word for word in words for _ in range(2)]
    found = patterns(words, hidden)
    texts = {int(number): pattern_text(int(number), len(words[0])) for number in np.unique(found)}
    columns: Columns = {guess: [texts[int(n)] for n in row] for guess, row in zip(words, found, strict=True)}
    return {**columns, "word": hidden}


def ranked(words: Sequence[str], guesses: Sequence[str]) -> list[Guess]:
    """Rank all guesses by their gain; ties go to a guess that may be right, then to the earlier one."""
    possible = set(words)
    n_patterns = 3 ** len(words[0])
    step = max(1, _PAIRS // len(words))
    found: list[Guess] = []
    for start in range(0, len(guesses), step):
        some = guesses[start : start + step]
        codes = patterns(some, words) + n_patterns * np.arange(len(some), dtype=np.int32)[:, None]
        counts = np.bincount(codes.ravel(), minlength=n_patterns * len(some)).reshape(len(some), n_patterns)
        for word, piles in zip(some, counts, strict=True):
            sizes = piles[piles > 0].astype(np.float64)
            gain = impurity_of("entropy", sizes)
            found.append(Guess(word, gain, len(sizes), int(sizes.max()), word in possible))
    return sorted(found, key=lambda guess: (-round(guess.gain, 9), not guess.possible))


def remaining(words: Sequence[str], guess: str, pattern: int) -> list[str]:
    """Return the words for which a guess would show this pattern."""
    codes = patterns([guess], words)[0].tolist()
    return [word for word, code in zip(words, codes, strict=True) if code == pattern]


@dataclass(frozen=True)
class Turn:
    """One turn: how many words were possible, what was guessed, the bits expected, the pattern seen, what is left."""

    before: int
    guess: str
    gain: float
    pattern: int
    left: tuple[str, ...]


def best_guess(words: Sequence[str], guesses: Sequence[str]) -> Guess:
    """Return the guess to make: one of the words themselves where there are two or less, else the most informative."""
    return ranked(words, list(words) if len(words) <= 2 else list(guesses))[0]


def played(words: Sequence[str], guesses: Sequence[str], answer: str, opening: str | None = None) -> list[Turn]:
    """Play a game against a known answer; `opening` is the first guess, if already known."""
    left, turns = list(words), []
    while True:
        guess = Guess(opening, ranked(left, [opening])[0].gain, 0, 0, True) if opening else best_guess(left, guesses)
        opening = None
        pattern = int(patterns([guess.word], [answer])[0, 0])
        after = remaining(left, guess.word, pattern)
        turns.append(Turn(len(left), guess.word, guess.gain, pattern, tuple(after)))
        if guess.word == answer:
            return turns
        left = after


def strategy(words: Sequence[str], guesses: Sequence[str] | None = None) -> str:
    """Return the whole game as a tree of text: under each guess the patterns it may show, and what to guess then."""
    allowed = list(words if guesses is None else guesses)
    lines = [best_guess(words, allowed).word]

    def add(left: Sequence[str], guess: str, bar: str) -> None:
        codes = patterns([guess], left)[0].tolist()
        seen = sorted(set(codes), key=lambda code: (-codes.count(code), -code))
        for place, code in enumerate(seen):
            last = place == len(seen) - 1
            sign = f"{bar}{'└─' if last else '├─'} {pattern_text(code, len(guess))}"
            after = [word for word, one in zip(left, codes, strict=True) if one == code]
            if after == [guess]:
                lines.append(f"{sign}  found")
                continue
            then = best_guess(after, allowed).word
            lines.append(f"{sign}  {then}{'!' if after == [then] else ''}")
            if len(after) > 1:
                add(after, then, bar + ("   " if last else "│  "))

    add(words, lines[0], "")
    return "\n".join(lines)
