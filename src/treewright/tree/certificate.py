"""What a search for the best tree has proven."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from treewright.data.number_text import many
from treewright.data.schema import Parts, is_whole
from treewright.errors import FileError
from treewright.recipes.choice import is_number
from treewright.tree.text import name_text

Ended = Literal["proven", "time limit", "memory limit", "interrupted"]


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
        return {"proven": "itself", "interrupted": "interruption"}.get(self.ended, self.ended)

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
        parts = Parts.of(Certificate, written, place, optional=("max_leaves", "root"))
        given = parts.values
        for name in ("objective", "searched"):
            parts.require(isinstance(given[name], str), name)
        for name in ("max_depth", "subproblems"):
            parts.require(is_whole(given[name]), name)
        for name in ("loss", "lower_bound", "seconds"):
            parts.require(is_number(given[name]), name)
        parts.require(given.get("max_leaves") is None or is_whole(given["max_leaves"], 1), "max_leaves")
        parts.require(isinstance(given.get("root"), str | None), "root")
        if given["ended"] not in get_args(Ended):
            raise FileError(f"{place}.ended: expected one of {', '.join(get_args(Ended))}, not {given['ended']!r}")
        if not 0 <= given["lower_bound"] <= given["loss"]:
            raise FileError(f"{place}: the lower bound must lie between 0 and the loss")
        return Certificate(**given)
