"""The lesson "wordle": a decision tree as a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treewright import criteria
from treewright.data.grid import Grid
from treewright.data.kinds import KindChoice
from treewright.data.number_text import many
from treewright.errors import DataError
from treewright.lessons.content import Code, Heading, Lesson, Part, Printed, Text
from treewright.lessons.patterns import (
    Guess,
    Turn,
    checked,
    pattern_table,
    pattern_text,
    patterns,
    played,
    ranked,
    strategy,
)
from treewright.lessons.phrases import four_digits, impurity, spelled
from treewright.lessons.tables import WORDS, Columns
from treewright.recipes.criterion import InformationGain
from treewright.recipes.named import ID3
from treewright.recipes.stopping import Stopping
from treewright.training.learn import learn

#: The tree of a longer list is not shown.
_TREE_WORDS = 60
_BEST = 8
_MOST_PILES = 12


def wordle(data: Columns | None = None, *, answer: str | None = None, guesses: Sequence[str] | None = None) -> Lesson:
    """Play by information gain on a list of words; `guesses` are more words that may be guessed."""
    words = checked((data or WORDS)["word"])
    allowed = words if guesses is None else checked([*words, *guesses], "guesses")
    best = ranked(words, allowed)
    hidden = words[-1] if answer is None else answer.strip().lower()
    if hidden not in words:
        raise DataError(f"the hidden word {hidden!r} is not among the {len(words):,} words; choose one of them")
    turns = played(words, allowed, hidden, best[0].word)
    start = criteria.entropy(np.ones(len(words)))
    more = (
        ""
        if guesses is None
        else f" Besides, {many(len(allowed) - len(words), 'word')} may be guessed and cannot be hidden."
    )
    return Lesson(
        "wordle",
        "Wordle: a decision tree you play",
        "Find a hidden word. After each guess you see which letters are right. Which guess is best?",
        {"word": words},
        (
            Text(
                "After a guess, each letter gets a sign: `G` if it is in its place, `y` if it is elsewhere in the "
                "word, `-` if it is not there. That is all you learn."
            ),
            Text(f"{len(words):,} words are possible: {_some(words)}.{more}"),
            Heading("A guess is a split, a pattern is a child"),
            Text(
                f"One of {len(words):,} words is hidden: that is {four_digits(start)} bits. The pattern of a guess "
                "divides the words into groups, one per pattern, and the game goes on with one of them. So a guess "
                "is a split, and its **information gain** is the entropy of the groups."
            ),
            _piles(words, best[0].word),
            impurity(f"Information gain of {best[0].word}", InformationGain(), _sizes(words, best[0].word)),
            *_first_guess(best, len(allowed)),
            Heading("A game"),
            _game(turns),
            Text(
                f"Found **{hidden}** in {spelled(len(turns))} guess{'' if len(turns) == 1 else 'es'}. Each guess has "
                "the largest gain for the words still possible: a greedy search, as in ID3."
            ),
            *(_tree(words, best[0].word) if guesses is None and 1 < len(words) <= _TREE_WORDS else []),
        ),
    )


def _first_guess(best: Sequence[Guess], n_allowed: int) -> tuple[Part, ...]:
    own = next(guess for guess in best if guess.possible)
    return (
        Heading("The best first guess"),
        Grid(
            f"The most informative of {n_allowed:,} guesses",
            ("guess", "bits", "groups", "largest group", ""),
            tuple(
                (g.word, f"{g.gain:.3f}", str(g.piles), str(g.largest), "" if g.possible else "cannot be hidden")
                for g in best[:_BEST]
            ),
        ),
        Text(
            f"**{best[0].word}** gains {best[0].gain:.3f} bits. "
            + (
                ""
                if own == best[0]
                else f"It cannot be hidden; of the words that can be, **{own.word}** is best: {own.gain:.3f} bits. "
            )
            + "The worst guess is one whose pattern is known in advance."
        ),
    )


def _some(words: Sequence[str], most: int = 60) -> str:
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def _groups(words: Sequence[str], guess: str) -> dict[int, list[str]]:
    """Return the piles, largest first."""
    piles: dict[int, list[str]] = {}
    for word, code in zip(words, patterns([guess], words)[0].tolist(), strict=True):
        piles.setdefault(code, []).append(word)
    return dict(sorted(piles.items(), key=lambda item: (-len(item[1]), -item[0])))


def _sizes(words: Sequence[str], guess: str) -> list[int]:
    return [len(pile) for pile in _groups(words, guess).values()]


def _piles(words: Sequence[str], guess: str) -> Grid:
    groups = list(_groups(words, guess).items())
    rows = [(pattern_text(code, len(guess)), _some(pile, 6), str(len(pile))) for code, pile in groups[:_MOST_PILES]]
    if len(groups) > _MOST_PILES:
        rest = groups[_MOST_PILES:]
        rows.append((f"… {len(rest)} more", "", str(sum(len(pile) for _, pile in rest))))
    return Grid(f"The groups of {guess}", ("pattern", "words", "how many"), tuple(rows), words=2)


def _game(turns: Sequence[Turn]) -> Grid:
    rows = [
        (
            turn.guess,
            pattern_text(turn.pattern, len(turn.guess)),
            f"{turn.before:,}",
            f"{turn.gain:.3f}",
            f"{len(turn.left):,}",
        )
        for turn in turns
    ]
    head = ("guess", "pattern", "possible before", "bits expected", "possible after")
    return Grid("Guess by guess", head, tuple(rows), words=2)


def _also(found: str, best: str) -> str:
    return ", the best first guess" if found == best else f", which gains as much as {best}"


def _source(words: Sequence[str]) -> str:
    """Return code that makes the words."""
    if list(words) == checked(WORDS["word"]):
        return 'words = tw.lessons["wordle"].data["word"]'
    return f"words = {list(words)!r}"


def _tree(words: Sequence[str], best: str) -> list[Part]:
    """Return the same choice made by the library's own engine, and the whole game as a tree."""
    table = pattern_table(words)
    kinds: dict[str, KindChoice] = dict.fromkeys(table, "nominal")
    tree = learn(table, "word", replace(ID3, stopping=Stopping(max_depth=1)), kinds=kinds)
    split = tree.root.split
    found = "nothing" if split is None else split.column
    first = f"{found if split is not None else ''} {tree.root.gain:.3f}"
    return [
        Heading("The same by ID3"),
        Text(
            "Make a table with a column for every guess, holding the pattern it would show for each word, and let "
            f"ID3 learn the word from it. Its root splits on {found}{_also(found, best)}."
        ),
        Code(
            "from dataclasses import replace\nimport treewright as tw\n"
            "from treewright.lessons.patterns import pattern_table, strategy\n\n"
            f"{_source(words)}\n"
            "one_split = replace(tw.ID3, stopping=tw.stopping.Stopping(max_depth=1))\n"
            "table = pattern_table(words)\n"
            'root = tw.learn(table, "word", one_split, kinds=dict.fromkeys(table, "nominal")).root\n'
            'print(root.split.column, f"{root.gain:.3f}")'
        ),
        Printed(first, "the root's split and its gain"),
        Heading("The whole game as a tree"),
        Text("Read it from the left: a guess, the pattern you see, the next guess. With `!` the word is known."),
        Code("print(strategy(words))"),
        Printed(strategy(words), "every game there is"),
    ]
