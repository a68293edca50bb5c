"""What was done in a session, as a value: steps, and how many of them hold. Undo and redo have no limit.

A step is a new start or an edit. The journal has one line per action; replaying its lines gives the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treewright.editing.edits import Edit
from treewright.errors import DataError, FileError
from treewright.interactive.start import Start

HistoryStep = Start | Edit


@dataclass(frozen=True)
class History:
    """`steps[:done]` hold; the others were undone and can be done again. The first is a start."""

    steps: tuple[HistoryStep, ...] = ()
    done: int = 0

    def do(self, step: HistoryStep) -> History:
        """Return the history with one more step; what was undone is forgotten."""
        return History((*self.steps[: self.done], step), self.done + 1)

    def undo(self) -> History:
        """Return the history without its last step."""
        if self.done <= 1:
            raise DataError("there is nothing to undo")
        return History(self.steps, self.done - 1)

    def redo(self) -> History:
        """Return the history with the last step that was undone."""
        if self.done >= len(self.steps):
            raise DataError("there is nothing to redo")
        return History(self.steps, self.done + 1)

    @property
    def start(self) -> Start:
        """The start that holds."""
        return next(step for step in reversed(self.steps[: self.done]) if isinstance(step, Start))

    @property
    def log(self) -> tuple[Edit, ...]:
        """The edits since that start."""
        found: list[Edit] = []
        for step in self.steps[: self.done]:
            if isinstance(step, Start):
                found = []
            else:
                found.append(step)
        return tuple(found)


def action(written: object, place: str) -> HistoryStep | str:
    """Return what a line of the journal holds: a step, "undo" or "redo"."""
    if isinstance(written, Mapping) and len(written) == 1:
        name, value = next(iter(written.items()))
        if name == "start":
            return Start.from_dict(value)
        if name == "edit":
            return Edit.from_dict(value)
        if name in ("undo", "redo"):
            return str(name)
    raise FileError(f"{place} is no action of a studio")


def written_step(step: HistoryStep) -> dict[str, Any]:
    """Return a step as a line of the journal."""
    return {"start": step.as_dict()} if isinstance(step, Start) else {"edit": step.as_dict()}


def after(actions: Iterable[HistoryStep | str]) -> History:
    """Return the history that these actions lead to."""
    history = History()
    for one in actions:
        match one:
            case "undo":
                history = history.undo()
            case "redo":
                history = history.redo()
            case Start() | Edit():
                history = history.do(one)
    return history
