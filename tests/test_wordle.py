"""Wordle: patterns against a plain reading of the rules, gains against the engine, the known best first guesses.

The reference shares no code with what it checks.
"""

from __future__ import annotations

from collections import Counter
from math import log2
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.lessons.patterns import (
    best_guess,
    checked,
    pattern_table,
    pattern_text,
    patterns,
    played,
    ranked,
    read_pattern,
    remaining,
)
from treewright.lessons.stories.wordle import wordle
from treewright.lessons.tables import WORDS

SHARED = Path(__file__).parents[2] / "shared" / "data"
ANSWERS, ALLOWED = SHARED / "wordle-answers.txt", SHARED / "wordle-allowed-guesses.txt"

word = st.text("abcd", min_size=4, max_size=4)
words = st.lists(word, min_size=1, max_size=12, unique=True)


def shown(guess: str, answer: str) -> str:
    """The rules of the game, read aloud: greens first, then each yellow uses up a letter."""
    left = Counter(a for g, a in zip(guess, answer, strict=True) if g != a)
    signs = []
    for g, a in zip(guess, answer, strict=True):
        if g == a:
            signs.append("G")
        elif left[g]:
            left[g] -= 1
            signs.append("y")
        else:
            signs.append("-")
    return "".join(signs)


@settings(max_examples=50)
@given(words, words)
def test_patterns(guesses: list[str], answers: list[str]) -> None:
    found = patterns(guesses, answers)
    for i, guess in enumerate(guesses):
        for j, answer in enumerate(answers):
            text = pattern_text(int(found[i, j]), 4)
            assert text == shown(guess, answer)
            assert read_pattern(text, 4) == found[i, j]


@settings(max_examples=40)
@given(words, words)
def test_gains(guesses: list[str], answers: list[str]) -> None:
    best = ranked(answers, guesses)
    for one in best:
        piles = Counter(shown(one.word, answer) for answer in answers)
        entropy = -sum(n / len(answers) * log2(n / len(answers)) for n in piles.values())
        assert one.gain == pytest.approx(entropy, abs=1e-9)
        assert (one.piles, one.largest) == (len(piles), max(piles.values()))
        assert one.possible == (one.word in answers)
    found = [round(one.gain, 9) for one in best]  # equal gains may differ in their last bit
    assert found == sorted(found, reverse=True)


@given(words, st.data())
def test_every_game_ends(answers: list[str], data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from(answers))
    turns = played(answers, answers, answer)
    assert turns[-1].guess == answer
    assert len(turns) <= len(answers)
    left = answers
    for turn in turns:
        left = remaining(left, turn.guess, turn.pattern)
        assert answer in left
        assert list(turn.left) == left


def test_the_engine_agrees() -> None:
    found = tw.rank_splits(pattern_table(WORDS["word"]), "word")
    best = ranked(WORDS["word"], WORDS["word"])
    assert found[0].column == best[0].word == best_guess(WORDS["word"], WORDS["word"]).word
    for guess in best:
        assert found.of(guess.word).gain == pytest.approx(guess.gain, abs=1e-9)


def test_words_are_checked() -> None:
    assert checked([" Stone ", "stone", "", "TRAIN"]) == ["stone", "train"]
    with pytest.raises(tw.DataError, match="as many letters as 'stone'"):
        checked(["stone", "rain"])
    with pytest.raises(tw.DataError, match="no words"):
        checked(["", " "])
    with pytest.raises(tw.DataError, match="'zebra' is not among"):
        wordle(answer="zebra")


def test_other_words_and_guesses() -> None:
    shown_text = wordle({"word": ["aaaa", "aabb", "bbbb"]}, answer="aabb", guesses=["abab"]).text()
    assert "1 word may be guessed and cannot be hidden" in shown_text
    assert "Found aabb in" in shown_text


@pytest.mark.skipif(not ANSWERS.exists(), reason="the word lists are not here")
def test_best_first_guess_among_the_answers() -> None:
    answers = ANSWERS.read_text().split()
    assert len(answers) == 2315
    best = ranked(answers, answers)[0]
    assert (best.word, f"{best.gain:.3f}") == ("raise", "5.878")
    assert f"{ranked(answers, ['soare'])[0].gain:.3f}" == "5.886"


@pytest.mark.slow
@pytest.mark.skipif(not ALLOWED.exists(), reason="the word lists are not here")
def test_best_first_guess_of_all() -> None:
    shown_text = wordle({"word": ANSWERS.read_text().split()}, guesses=ALLOWED.read_text().split()).text()
    assert (
        "soare tells 5.886 bits. It cannot be right itself; of those that can, raise is best: 5.878 bits."
        in " ".join(shown_text.split())
    )
