"""The edits: frozen values that say what to do to a node, named after what they do.

An edit is checked alone when it is made, and against the tree and its rows when it is applied. Its written form is one
JSON object; what has its default is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from treewright.data.schema import Level
from treewright.editing.fields import check_name, groups_of, level_of, names, pruner_of, thresholds, whole
from treewright.errors import DataError
from treewright.recipes.choice import Choice
from treewright.recipes.named import RECIPES, named_recipe
from treewright.recipes.pruners import CostComplexityCV, ErrorBased, ImpurityThresholdCV, Pruner
from treewright.recipes.recipe import Recipe, read_choice, written_choice

#: Where missing values go, other than to a child: every child by share, nowhere, a child by chance.
NO_CHILD = ("spread", "stop", "random")


@dataclass(frozen=True)
class Edit:
    """Base of every edit.

    Parameters
    ----------
    node : int
        The id of a node in the tree that the edit is applied to.
    """

    node: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", whole(self.node, "node", 0))
        self._normalise()

    def _normalise(self) -> None:
        """Turn lists into tuples and check what needs no tree."""

    @property
    def needs_rows(self) -> bool:
        """Whether the edit needs the rows that the tree was learned from."""
        return isinstance(self, (Split, Grow))

    def as_dict(self) -> dict[str, Any]:
        """Return the written form.

        Returns
        -------
        dict
            "edit", the name of the class, and every field that does not have its default.
        """
        values = {one.name: getattr(self, one.name) for one in fields(self) if _differs(self, one)}
        return {"edit": type(self).__name__} | {name: _plain(value) for name, value in values.items()}

    @staticmethod
    def from_dict(written: object) -> Edit:
        """Return the edit that `as_dict` wrote.

        Parameters
        ----------
        written : dict
            The written form; anything else raises `DataError`.

        Returns
        -------
        Edit
            The edit.
        """
        if not isinstance(written, Mapping):
            raise DataError(f"an edit is an object with the key 'edit', not {type(written).__name__}")
        parts = dict(written)
        name = parts.pop("edit", None)
        if name not in EDITS:
            raise DataError(f"there is no edit {name!r}; choose from {', '.join(EDITS)}")
        kind = EDITS[name]
        known = {one.name: one for one in fields(kind)}
        unknown = [key for key in parts if key not in known]
        if unknown:
            raise DataError(f"{name} has no {unknown[0]!r}; it has {', '.join(known)}")
        if isinstance(parts.get("recipe"), Mapping):
            parts["recipe"] = Recipe.from_dict(parts["recipe"])
        if isinstance(parts.get("pruner"), Mapping):
            parts["pruner"] = read_choice("pruning", parts["pruner"])
        try:
            return kind(**parts)
        except TypeError:
            needed = [key for key in known if key not in parts]
            raise DataError(f"{name} needs {' and '.join(map(repr, needed))}") from None


@dataclass(frozen=True)
class Split(Edit):
    """Split a node by a column; whatever was below it goes, and its new children are leaves.

    Splits that the recipe would not choose (no gain, children too small, ...) are made and marked:
    `tree[node].edit.against` is the reason.

    Parameters
    ----------
    node : int
        The node.
    column : str
        The column.
    threshold : float or tuple of float, optional
        For numbers: where to cut; several thresholds, rising, make as many intervals and one more. Times are in
        microseconds, as `tree[node].split.threshold` gives them.
    groups : tuple of tuple, optional
        For levels: those of each child. With one group, all other levels are the second child.
    missing : int or {"spread", "stop", "random"}, optional
        Where missing values go: a child by its number from 0, or every child by share, or no further than this node, or
        a child by chance. By default as in the recipe; then surrogates are searched too.

    Examples
    --------
    >>> import treewright as tw
    >>> tw.edit.Split(0, "age", threshold=30)
    Split(node=0, column='age', threshold=30.0, groups=None, missing=None)
    """

    column: str
    threshold: float | tuple[float, ...] | None = None
    groups: tuple[tuple[Level, ...], ...] | None = None
    missing: int | Literal["spread", "stop", "random"] | None = None

    def _normalise(self) -> None:
        check_name(self.column, "column")
        if (self.threshold is None) == (self.groups is None):
            raise DataError("a split needs either threshold= (of a number) or groups= (of levels)")
        if self.threshold is not None:
            object.__setattr__(self, "threshold", thresholds(self.threshold))
        else:
            object.__setattr__(self, "groups", groups_of(self.groups))
        if self.missing is not None and self.missing not in NO_CHILD:
            object.__setattr__(self, "missing", whole(self.missing, "missing", 0, f"or one of {', '.join(NO_CHILD)}"))

    @property
    def breaks(self) -> tuple[float, ...]:
        """The thresholds as a tuple; empty for levels."""
        return (
            self.threshold
            if isinstance(self.threshold, tuple)
            else (self.threshold,)
            if self.threshold is not None
            else ()
        )


@dataclass(frozen=True)
class Grow(Edit):
    """Grow a node as `learn` would, without pruning; whatever was below it goes, unless it is to be kept.

    Parameters
    ----------
    node : int
        The node.
    levels : int, optional
        The most levels to grow; by default as many as the recipe's limits allow. A few levels are not simplified as
        C4.5 and rpart simplify whole subtrees, which might take them back at once.
    recipe : Recipe or str, optional
        The recipe, or its name; by default the tree's.
    without : tuple of str, default=()
        Columns not to use this time, besides those that are forbidden.
    keep : bool, default=False
        Keep the splits below the node, and grow every leaf below it (`levels` each) instead of the node. Leaves that
        are locked or have a prediction set by hand stay.

    Examples
    --------
    >>> import treewright as tw
    >>> tw.edit.Grow(2, levels=1).as_dict()
    {'edit': 'Grow', 'node': 2, 'levels': 1}
    """

    levels: int | None = None
    recipe: Recipe | str | None = None
    without: tuple[str, ...] = ()
    keep: bool = False

    def _normalise(self) -> None:
        if not isinstance(self.keep, bool):
            raise DataError(f"keep must be true or false, not {self.keep!r}")
        if self.levels is not None:
            object.__setattr__(self, "levels", whole(self.levels, "levels", 1))
        if self.recipe is not None:
            object.__setattr__(self, "recipe", named_recipe(self.recipe))
        object.__setattr__(self, "without", names(self.without, "without", needed=False))


@dataclass(frozen=True)
class Collapse(Edit):
    """Make a node a leaf; `tree.cuts` remembers its split.

    Parameters
    ----------
    node : int
        The node, which has children.
    """


@dataclass(frozen=True)
class Prune(Edit):
    """Prune what lies below a node, as `tw.prune` prunes a tree; `tree.cuts` remembers what went, and why.

    The subtree is pruned as a tree of its own: an alpha is a fraction of the weight of this node, a depth and a number
    of leaves count from it. The recipe stays as it was.

    Parameters
    ----------
    node : int
        The node, which has children. Pruners that need the training rows (`ErrorBased` with raising,
        `CostComplexityCV`, `ImpurityThresholdCV`) prune the whole tree, node 0.
    pruner : Pruner or str
        The method, or its name. Not `ReducedError`, which needs rows that the tree has not seen, nor `AdjustedError`.

    Examples
    --------
    >>> import treewright as tw
    >>> tw.edit.Prune(0, tw.pruning.MaxLeaves(3))
    Prune(node=0, pruner=MaxLeaves(leaves=3))
    """

    pruner: Pruner | str

    def _normalise(self) -> None:
        object.__setattr__(self, "pruner", pruner_of(self.pruner))
        if self.needs_rows and self.node:
            raise DataError(
                f"{type(self.pruner).__name__} compares the whole tree with the training rows; prune node 0 by it, or "
                f"node {self.node} by a pruner that needs no rows, such as CostComplexity(alpha)"
            )

    @property
    def needs_rows(self) -> bool:
        """Whether the pruner needs the rows that the tree was learned from."""
        raises = isinstance(self.pruner, ErrorBased) and self.pruner.raising
        return raises or isinstance(self.pruner, (CostComplexityCV, ImpurityThresholdCV))


@dataclass(frozen=True)
class Forbid(Edit):
    """Forbid columns in a node and below it, as splits and as surrogates, from now on; splits made before stay.

    Parameters
    ----------
    node : int
        The node.
    columns : tuple of str
        The columns.
    """

    columns: tuple[str, ...]

    def _normalise(self) -> None:
        object.__setattr__(self, "columns", names(self.columns, "columns", needed=True))


@dataclass(frozen=True)
class Allow(Forbid):
    """Allow columns again that were forbidden in a node.

    Parameters
    ----------
    node : int
        The node where they were forbidden.
    columns : tuple of str
        The columns.
    """


@dataclass(frozen=True)
class Lock(Edit):
    """Lock a node: edits that would change its split or prediction, or remove it, are refused.

    Parameters
    ----------
    node : int
        The node.
    """


@dataclass(frozen=True)
class Unlock(Edit):
    """Unlock a node.

    Parameters
    ----------
    node : int
        The node.
    """


@dataclass(frozen=True)
class SetPrediction(Edit):
    """Set what a leaf predicts: a class, which then has the probability 1, or a number.

    Parameters
    ----------
    node : int
        The leaf.
    prediction : str, int, float or bool
        The class or the number.
    """

    prediction: Level

    def _normalise(self) -> None:
        object.__setattr__(self, "prediction", level_of(self.prediction))


#: The edits by name.
EDITS: dict[Any, type[Edit]] = {
    kind.__name__: kind for kind in (Split, Grow, Collapse, Prune, Forbid, Allow, Lock, Unlock, SetPrediction)
}


# --- the written form -------------------------------------------------------------------------------------------------


def _differs(edit: Edit, one: Any) -> bool:
    return bool(getattr(edit, one.name) != one.default)


def _plain(value: Any) -> Any:
    if isinstance(value, Recipe):
        return next((name for name, recipe in RECIPES.items() if recipe == value), None) or value.as_dict()
    if isinstance(value, Choice):
        return written_choice(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
