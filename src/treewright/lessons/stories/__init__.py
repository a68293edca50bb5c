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

#: Every lesson in reading order: the function that makes it, and one line about it.
_LESSONS: dict[str, tuple[Callable[..., Lesson], str]] = {
    "tennis": (tennis, "which split comes first? (ID3, information gain)"),
    "by-hand": (by_hand, "the same tree, split by split, as in the studio"),
    "buys": (buys, "a first table for C4.5 (gain ratio)"),
    "codes": (codes, "what entropy and gini measure"),
    "trading": (trading, "gini by hand (CART)"),
    "cricket": (cricket, "four criteria side by side"),
    "titanic": (titanic, "which groups differ? (CHAID, chi-square, p-values)"),
    "humidity": (humidity, "where to cut a number (C4.5, CART)"),
    "golf-hours": (golf_hours, "regression by standard deviation reduction"),
    "importance": (importance, "which column matters?"),
    "fluke": (fluke, "which of two correlated columns is chosen is a fluke (stability)"),
    "missing": (missing, "five policies for missing values"),
    "overfitting": (overfitting, "how large should the tree be? (pruning)"),
    "boundaries": (boundaries, "where trees fail: diagonal boundaries, extrapolation"),
    "xor": (xor, "where greedy growth fails, and the best tree with a proof"),
    "wordle": (wordle, "a decision tree as a game"),
    "telehealth": (telehealth, "a triage tree: rules, one patient, SQL"),
}

STORIES = {name: make for name, (make, _) in _LESSONS.items()}
ABOUT = {name: about for name, (_, about) in _LESSONS.items()}
