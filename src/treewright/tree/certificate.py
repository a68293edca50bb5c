"""What a search for the best tree has proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from treewright.data.number_text import many
from treewright.data.schema import require_keys
from treewright.errors import FileError
from treewright.tree.text import name_text

Ended = Literal["proven", "time limit", "memory limit", "interrupted"]

_REASONS = {
    "proven": "itself",
    "time limit": "time limit",
    "memory limit": "memory limit",
    "interrupted": "interruption",
}


@dataclass(frozen=True)
class Certificate:
    """The bounds that a search for the best tree has reached.

    Attributes
    ----------
    objective : str
        What the tree minimises, such as ``"error rate"``.
    max_depth : int
        The depth that no tree of the search exceeds.
    loss : float
        The objective of the tree.
    lower_bound : float
        No tree within the limits of the search has a smaller objective.
    ended : {"proven", "time limit", "memory limit", "interrupted"}
        Why the search ended.
    searched : str
        The trees that were compared: columns, cuts and treatment of levels and missing values.
    subproblems : int
        How many smaller problems were solved.
    seconds : float
        Time of the search; two trees that differ only in it are equal.
    max_leaves : int, optional
        The number of leaves that no tree of the search exceeds; None: no limit.
    root : str, optional
        The column that the root had to split on (`alternatives`); None: any.
    """

    objective: str
    max_depth: int
    loss: float
    lower_bound: float
    ended: Ended
    searched: str
    subproblems: int = field(compare=False)
    seconds: float = field(compare=False)
    max_leaves: int | None = None
    root: str | None = None

    @property
    def proven(self) -> bool:
        """Whether no tree within the limits is better."""
        return self.gap == 0

    @property
    def gap(self) -> float:
        """How much smaller the best objective may be, as a fraction of the tree's own."""
        return (self.loss - self.lower_bound) / self.loss if self.loss > self.lower_bound else 0.0

    @property
    def end_text(self) -> str:
        """What ended the search."""
        return _REASONS[self.ended]

    @property
    def limits_text(self) -> str:
        """The depth, and what else limits the trees of the search."""
        leaves = "" if self.max_leaves is None else f" and at most {many(self.max_leaves, 'leaf')}"
        root = "" if self.root is None else f" with {name_text(self.root)} at the root"
        return f"{self.max_depth}{leaves}{root}"

    def __str__(self) -> str:
        best = f"of depth {self.limits_text} by {self.objective} ({self.loss:.4g})"
        if self.proven:
            return f"proven best {best}"
        return f"at most {self.gap:.2%} from the best {best}; the search ended by {self.end_text}".replace("%", " %")

    def as_dict(self) -> dict[str, Any]:
        """Return the written form."""
        return asdict(self)

    @staticmethod
    def from_dict(written: object, place: str = "$.certificate") -> Certificate:
        """Return the certificate that `as_dict` wrote; raise `FileError` for anything else."""
        names = [each.name for each in fields(Certificate)]
        parts = require_keys(written, place, names[:-2], names[-2:])
        _check(parts, place)
        return Certificate(**parts)


def _check(parts: Mapping[str, Any], place: str) -> None:
    kinds: dict[str, type | tuple[type, ...]] = {
        "objective": str,
        "max_depth": int,
        "searched": str,
        "subproblems": int,
    }
    kinds |= dict.fromkeys(("loss", "lower_bound", "seconds"), (int, float))
    for name, kind in kinds.items():
        if not isinstance(parts[name], kind) or isinstance(parts[name], bool):
            raise FileError(f"{place}.{name}: {parts[name]!r} is not a valid value")
    leaves = parts.get("max_leaves")
    if leaves is not None and (not isinstance(leaves, int) or isinstance(leaves, bool) or leaves < 1):
        raise FileError(f"{place}.max_leaves: {leaves!r} is not a valid value")
    if not isinstance(parts.get("root"), str | None):
        raise FileError(f"{place}.root: {parts['root']!r} is not a valid value")
    if parts["ended"] not in get_args(Ended):
        raise FileError(f"{place}.ended: expected one of {', '.join(get_args(Ended))}, not {parts['ended']!r}")
    if not 0 <= parts["lower_bound"] <= parts["loss"] < float("inf"):
        raise FileError(f"{place}: the lower bound must lie between 0 and the loss")
