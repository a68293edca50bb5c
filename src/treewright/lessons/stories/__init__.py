"""The lessons themselves: a function each, by name, in the order in which they are best read.

Comes in: nothing, or another table for the same lesson. Goes out: `Lesson` values.
Always holds: a lesson is told when it is asked for; importing this tells none.
"""

from __future__ import annotations

from collections.abc import Callable

from treewright.lessons.content import Lesson
from treewright.lessons.stories.boundaries import boundaries
from treewright.lessons.stories.buys import buys
from treewright.lessons.stories.codes import codes
from treewright.lessons.stories.cricket import cricket
from treewright.lessons.stories.golf_hours import golf_hours
from treewright.lessons.stories.humidity import humidity
from treewright.lessons.stories.importance import importance
from treewright.lessons.stories.missing import missing
from treewright.lessons.stories.overfitting import overfitting
from treewright.lessons.stories.telehealth import telehealth
from treewright.lessons.stories.tennis import tennis
from treewright.lessons.stories.trading import trading
from treewright.lessons.stories.wordle import wordle

STORIES: dict[str, Callable[..., Lesson]] = {
    "tennis": tennis,
    "buys": buys,
    "codes": codes,
    "trading": trading,
    "cricket": cricket,
    "humidity": humidity,
    "golf-hours": golf_hours,
    "importance": importance,
    "missing": missing,
    "overfitting": overfitting,
    "boundaries": boundaries,
    "wordle": wordle,
    "telehealth": telehealth,
}

#: What each is about, for a list; the lesson itself has its title and question.
ABOUT: dict[str, str] = {
    "tennis": "which question comes first? (ID3, information gain)",
    "buys": "a first table for C4.5 (gain ratio)",
    "codes": "what entropy and gini mean",
    "trading": "gini by hand (CART)",
    "cricket": "four gain functions side by side",
    "humidity": "where to cut a number (C4.5, CART)",
    "golf-hours": "regression by standard deviation reduction",
    "importance": "which column mattered?",
    "missing": "five answers to one question",
    "overfitting": "how big should the tree be? (pruning)",
    "boundaries": "where trees fail: slopes and extrapolation",
    "wordle": "a decision tree you play",
    "telehealth": "a triage tree: rules, one patient, SQL",
}
