"""Worked examples of decision trees, step by step; every number is computed when the lesson is made.

The module is a mapping from names to lessons: `print(tw.lessons["tennis"])`. Each lesson is also a function that
takes another table of the same columns: `tw.lessons.tennis(my_days).page()`.
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

#: The names of all lessons, in reading order.
names: tuple[str, ...] = tuple(STORIES)


def story(name: str) -> Callable[..., Lesson]:
    """Return the function that makes a lesson.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    callable
        It returns a `Lesson`; most functions take another table with the same columns.

    Examples
    --------
    >>> story("tennis")().name
    'tennis'
    """
    if name in STORIES:
        return STORIES[name]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise DataError(f"there is no lesson {name!r}; {hint}The lessons are {', '.join(names)}")


class _LessonsModule(ModuleType):
    """The module as a mapping from names to lessons."""

    def __getitem__(self, name: str) -> Lesson:
        return story(name)()

    def __iter__(self) -> Iterator[str]:
        return iter(names)

    def __len__(self) -> int:
        return len(names)

    def __contains__(self, name: object) -> bool:
        return name in STORIES

    def __getattr__(self, name: str) -> Callable[..., Lesson]:
        found = STORIES.get(name.replace("_", "-"))
        if found is None:
            raise AttributeError(f"there is no lesson {name!r}; the lessons are {', '.join(names)}")
        return found

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *(name.replace("-", "_") for name in names)})

    def __str__(self) -> str:
        width = max(map(len, names))
        lines = [f"  {name:<{width}}  {ABOUT[name]}" for name in names]
        return "\n".join(["Lessons, in reading order:", *lines])

    def _repr_html_(self) -> str:
        items = "".join(f"<dt><code>{html.escape(n)}</code></dt><dd>{html.escape(ABOUT[n])}</dd>" for n in names)
        return f"<p>Lessons, in reading order:</p><dl>{items}</dl>"


sys.modules[__name__].__class__ = _LessonsModule
