"""The lessons: one function each, by name, in reading order."""

from __future__ import annotations

from collections.abc import Callable

from treewright.lessons.content import Lesson
from treewright.lessons.stories.boundaries import boundaries
from treewright.lessons.stories.buys import buys
from treewright.lessons.stories.by_hand import by_hand
from treewright.lessons.stories.codes import codes
from treewright.lessons.stories.cricket import cricket
from treewright.lessons.stories.fluke import fluke
from treewright.lessons.stories.golf_hours import golf_hours
from treewright.lessons.stories.humidity import humidity
from treewright.lessons.stories.importance import importance
from treewright.lessons.stories.missing import missing
from treewright.lessons.stories.overfitting import overfitting
from treewright.lessons.stories.telehealth import telehealth
from treewright.lessons.stories.tennis import tennis
from treewright.lessons.stories.titanic import titanic
from treewright.lessons.stories.trading import trading
from treewright.lessons.stories.wordle import wordle
from treewright.lessons.stories.xor import xor

STORIES: dict[str, Callable[..., Lesson]] = {
    "tennis": tennis,
    "by-hand": by_hand,
    "buys": buys,
    "codes": codes,
    "trading": trading,
    "cricket": cricket,
    "titanic": titanic,
    "humidity": humidity,
    "golf-hours": golf_hours,
    "importance": importance,
    "fluke": fluke,
    "missing": missing,
    "overfitting": overfitting,
    "boundaries": boundaries,
    "xor": xor,
    "wordle": wordle,
    "telehealth": telehealth,
}

#: One line about each, for a list.
ABOUT: dict[str, str] = {
    "tennis": "which split comes first? (ID3, information gain)",
    "by-hand": "the same tree, split by split, as in the studio",
    "buys": "a first table for C4.5 (gain ratio)",
    "codes": "what entropy and gini measure",
    "trading": "gini by hand (CART)",
    "cricket": "four criteria side by side",
    "titanic": "which groups differ? (CHAID, chi-square, p-values)",
    "humidity": "where to cut a number (C4.5, CART)",
    "golf-hours": "regression by standard deviation reduction",
    "importance": "which column matters?",
    "fluke": "which of two correlated columns is chosen is a fluke (stability)",
    "missing": "five policies for missing values",
    "overfitting": "how large should the tree be? (pruning)",
    "boundaries": "where trees fail: diagonal boundaries, extrapolation",
    "xor": "where greedy growth fails, and the best tree with a proof",
    "wordle": "a decision tree as a game",
    "telehealth": "a triage tree: rules, one patient, SQL",
}
