"""The worked examples of the textbooks, told step by step, every number computed when the lesson is told.

Comes in: the name of a lesson. Goes out: a `Lesson`: `print(tw.lessons["tennis"])`, `tw.lessons.tennis().page()`.
Always holds: the room itself is a mapping from names to lessons; a name with a dash is called with an underscore.
"""

from __future__ import annotations

import difflib
import html
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

from treewright.errors import DataError
from treewright.lessons.content import Lesson
from treewright.lessons.stories import ABOUT, STORIES

__all__ = ["Lesson", "names", "story"]

#: All lessons, in the order in which they are best read.
names: tuple[str, ...] = tuple(STORIES)


def story(name: str) -> Callable[..., Lesson]:
    """The function that tells a lesson; most take another table of the same columns."""
    if name in STORIES:
        return STORIES[name]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise DataError(f"there is no lesson {name!r}; {hint}The lessons are {', '.join(names)}")


class _LessonsModule(ModuleType):
    """This module, with lessons to be had by name."""

    def __getitem__(self, name: str) -> Lesson:
        return story(name)()

    def __iter__(self) -> Iterator[str]:
        return iter(names)

    def __len__(self) -> int:
        return len(names)

    def __contains__(self, name: object) -> bool:
        return name in STORIES

    def __getattr__(self, name: str) -> Callable[..., Lesson]:
        told = STORIES.get(name.replace("_", "-"))
        if told is None:
            raise AttributeError(f"there is no lesson {name!r}; the lessons are {', '.join(names)}")
        return told

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *(name.replace("-", "_") for name in names)})

    def __str__(self) -> str:
        width = max(map(len, names))
        lines = [f"  {name:<{width}}  {ABOUT[name]}" for name in names]
        return "\n".join(["Lessons, in the order in which they are best read:", *lines])

    def _repr_html_(self) -> str:
        items = "".join(f"<dt><code>{html.escape(n)}</code></dt><dd>{html.escape(ABOUT[n])}</dd>" for n in names)
        return f"<p>Lessons, in the order in which they are best read:</p><dl>{items}</dl>"


sys.modules[__name__].__class__ = _LessonsModule
