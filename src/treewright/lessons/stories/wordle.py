"""The lesson "wordle": a decision tree you play.

Comes in: a list of words, a word to find. Goes out: a `Lesson`.
Always holds: every number is computed from the words given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treewright import criteria
from treewright.data.kinds import KindChoice
from treewright.errors import DataError
from treewright.inspection.derivation.blocks import Grid
from treewright.lessons.content import Code, Heading, Lesson, Part, Printed, Text
from treewright.lessons.patterns import Turn, checked, pattern_table, pattern_text, patterns, played, ranked, strategy
from treewright.lessons.phrases import four_digits, impurity, spelled
from treewright.lessons.tables import WORDS, Columns
from treewright.recipes.criterion import InformationGain
from treewright.recipes.named import ID3
from treewright.recipes.stopping import Stopping
from treewright.render.node_text import many
from treewright.training.learn import learn

#: Longer lists make no tree that anyone would read.
_TREE_WORDS = 60
_BEST = 8
_MOST_PILES = 12


def wordle(data: Columns | None = None, *, answer: str | None = None, guesses: Sequence[str] | None = None) -> Lesson:
    """Play by information gain on a list of words; `guesses` may be asked, too, though they cannot be the answer."""
    words = checked((data or WORDS)["word"])
    allowed = words if guesses is None else checked([*words, *guesses], "guesses")
    best = ranked(words, allowed)
    own = next(guess for guess in best if guess.possible)
    hidden = words[-1] if answer is None else answer.strip().lower()
    if hidden not in words:
        raise DataError(f"the answer {hidden!r} is not among the {len(words):,} words; choose one of them")
    turns = played(words, allowed, hidden, best[0].word)
    start = criteria.entropy(np.ones(len(words)))
    more = (
        ""
        if guesses is None
        else f" Besides, {many(len(allowed) - len(words), 'word')} may be guessed and cannot be the answer."
    )
    return Lesson(
        "wordle",
        "Wordle: a decision tree you play",
        "Find a hidden word. After each guess you see which letters are right. What should you guess?",
        {"word": words},
        (
            Text(
                "After a guess, each letter gets a sign: `G` if it is in its place, `y` if it is elsewhere in the "
                "word, `-` if "
                "it is not there. That is all you learn."
            ),
            Text(f"{len(words):,} words are possible: {_some(words)}.{more}"),
            Heading("A guess is a question, a pattern is a branch"),
            Text(
                f"You do not know which of {len(words):,} words it is: that is {four_digits(start)} bits. The "
                f"pattern you "
                "will see sorts "
                "the words into piles, one per pattern, and you go on with one of them. So a guess is exactly what a "
                "split is in "
                "a tree, and its **information gain** is the entropy of the piles."
            ),
            _piles(words, best[0].word),
            impurity(f"Information gain of {best[0].word}", InformationGain(), _sizes(words, best[0].word)),
            Heading("The best first guess"),
            Grid(
                f"The most informative of {len(allowed):,} guesses",
                ("guess", "bits", "piles", "largest pile", ""),
                tuple(
                    (
                        g.word,
                        f"{g.gain:.3f}",
                        str(g.piles),
                        str(g.largest),
                        "" if g.possible else "cannot be the answer",
                    )
                    for g in best[:_BEST]
                ),
            ),
            Text(
                f"**{best[0].word}** tells {best[0].gain:.3f} bits. "
                + (
                    ""
                    if own == best[0]
                    else f"It cannot be right itself; of those that can, **{own.word}** is best: {own.gain:.3f} bits. "
                )
                + "The worst guess is not the one that is wrong, but the one whose pattern you could have foretold."
            ),
            Heading("A game"),
            _game(turns),
            Text(
                f"Found **{hidden}** in {spelled(len(turns))} guess{'' if len(turns) == 1 else 'es'}. Each time, the "
                "program asked "
                "what would tell the most about the words still possible: greedily, as ID3 does."
            ),
            *(_tree(words, best[0].word) if guesses is None and 1 < len(words) <= _TREE_WORDS else []),
        ),
    )


def _some(words: Sequence[str], most: int = 60) -> str:
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def _groups(words: Sequence[str], guess: str) -> dict[int, list[str]]:
    """The piles, largest first."""
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
    return Grid(f"The piles of {guess}", ("pattern", "words", "how many"), tuple(rows), words=2)


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
    return ", the best first guess" if found == best else f", which tells as much as {best}"


def _source(words: Sequence[str]) -> str:
    """Code that makes the words."""
    if list(words) == checked(WORDS["word"]):
        return 'words = tw.lessons["wordle"].data["word"]'
    return f"words = {list(words)!r}"


def _tree(words: Sequence[str], best: str) -> list[Part]:
    """The same choice made by the library's own engine, and the whole game as a tree."""
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
            "ID3 learn the "
            f"word from it. Its root asks {found}{_also(found, best)}."
        ),
        Code(
            "from dataclasses import replace\nimport treewright as tw\n"
            "from treewright.lessons.patterns import pattern_table, strategy\n\n"
            f"{_source(words)}\n"
            "one_question = replace(tw.ID3, stopping=tw.stopping.Stopping(max_depth=1))\n"
            "table = pattern_table(words)\n"
            'root = tw.learn(table, "word", one_question, kinds=dict.fromkeys(table, "nominal")).root\n'
            'print(root.split.column, f"{root.gain:.3f}")'
        ),
        Printed(first, "the root's question and its gain"),
        Heading("The whole game as a tree"),
        Text("Read it from the left: a guess, the pattern you see, the next guess. With `!` the word is known."),
        Code("print(strategy(words))"),
        Printed(strategy(words), "every game there is"),
    ]
