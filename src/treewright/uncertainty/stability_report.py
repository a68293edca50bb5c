"""What `stability` found, as values, text, HTML and frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.grid import FrameKind, Grid, Results, framed
from treewright.data.number_text import many, number_text, percent
from treewright.errors import DataError
from treewright.tree.split import Split
from treewright.tree.text import break_text, name_text
from treewright.tree.tree import Tree

#: What a frame has rows for.
Part = Literal["splits", "columns", "rows", "refits"]
#: A split that is kept less often than this is called unstable.
_STABLE = 0.8
#: From where to where cuts and sizes are reported: nine of ten lie between.
_RANGE = (0.05, 0.95)


@dataclass(frozen=True)
class SplitStability:
    """What becomes of one split when the tree is learned again.

    Attributes
    ----------
    node : int
        The node of the split.
    split : Split
        The split.
    rows : int
        The training rows of the node.
    kept : float
        The share of refits that split these rows on the same column.
    cuts : tuple of float
        The thresholds of those refits, ascending; empty unless the split has exactly one threshold.
    instead : dict
        The other columns by the share of refits that use them here; None: the refit does not split these rows.
    jaccard : float
        How well the rows were found again, on average: rows in both nodes over rows in either.
    """

    node: int
    split: Split
    rows: int
    kept: float
    cuts: tuple[float, ...]
    instead: Mapping[str | None, float]
    jaccard: float

    @property
    def cut_range(self) -> tuple[float, float] | None:
        """Where nine of ten thresholds lie; None without thresholds."""
        if not self.cuts:
            return None
        low, high = np.quantile(self.cuts, _RANGE, method="inverted_cdf")
        return float(low), float(high)

    def __str__(self) -> str:
        cut = f", cut {self._cut_text}" if self.cuts else ""
        return f"{self.condition}: kept in {percent(self.kept)}{cut}"

    @property
    def condition(self) -> str:
        """The condition of the first branch."""
        return self.split.words(most=3, with_missing=False)[0]

    @property
    def _cut_text(self) -> str:
        bounds = self.cut_range
        if bounds is None:
            return ""
        low, high = (break_text(self.split.spec, x, self.split.test == "<=") for x in bounds)
        return low if low == high else f"{low} to {high}"

    @property
    def _instead_text(self) -> str:
        shown = list(self.instead.items())[:3]
        named = [("no split" if name is None else name_text(name), share) for name, share in shown]
        return ", ".join(f"{name} {percent(share)}" for name, share in named)


@dataclass(frozen=True, eq=False)
class Stability(Results):
    """How often the splits, columns and predictions of a tree stay when it is learned again.

    Attributes
    ----------
    tree : Tree
        The tree.
    scheme : {"bootstrap", "subsample", "cross-validation"}
        How the rows were resampled.
    resamples : int
        The number of refits.
    seed : int
        The seed of the draws.
    splits : tuple of SplitStability
        The splits looked up, in the order of their nodes.
    columns : dict
        The share of refits that use a column at all, the largest first.
    rows : ndarray
        For each row the share of refits that predict the tree's class; for numbers the root mean squared distance from
        the tree's prediction.
    rand : tuple of float
        The adjusted Rand index of the leaves of each refit and of the tree: 1 if they hold the same rows, 0 as
        chance would.
    n_leaves, depth : tuple of int
        The size of each refit.
    """

    tree: Tree
    scheme: str
    resamples: int
    seed: int
    splits: tuple[SplitStability, ...]
    columns: Mapping[str, float]
    rows: FloatArray
    rand: tuple[float, ...]
    n_leaves: tuple[int, ...]
    depth: tuple[int, ...]

    @property
    def jaccard(self) -> float:
        """How well the rows of the splits were found again, on average."""
        return float(np.mean([one.jaccard for one in self.splits])) if self.splits else 1.0

    @property
    def summary(self) -> str:
        """One sentence: whether the tree is stable, or which split changes most."""
        if not self.splits:
            larger = np.mean(np.array(self.n_leaves) > 1)
            return f"the tree has no split; {percent(float(larger))} of the refits have one"
        unstable = [one for one in self.splits if one.kept < _STABLE]
        if not unstable:
            least = min(self.splits, key=lambda one: one.kept)
            often = "all" if least.kept == 1 else f"at least {percent(least.kept)} of the"
            return f"this tree is stable: every split is kept in {often} refits"
        first = unstable[0]
        place = "the first split" if first.node == 0 else f"the split of node {first.node}"
        return (
            f"{len(unstable)} of {many(len(self.splits), 'split')} change in more than {percent(1 - _STABLE)} of the "
            f"refits; {place} ({name_text(first.split.column)}) in {percent(1 - first.kept)}"
        )

    def grid(self) -> Grid:
        """Return the table as it is read: one row per split."""
        rows = tuple(
            (
                str(one.node), one.condition, f"{one.rows:,}", percent(one.kept), one._cut_text,
                percent(one.jaccard), one._instead_text,
            )
            for one in self.splits
        )  # fmt: skip
        header = ("node", "split", "rows", "kept", "cut (5 to 95 %)", "same rows", "instead")
        return Grid(self._caption, header if rows else (), rows, align="><>><><", notes=self._notes)

    @property
    def _caption(self) -> str:
        how = {"bootstrap": "bootstrap samples", "subsample": "halves of the rows", "cross-validation": "folds"}
        return f"learned again on {self.resamples:,} {how[self.scheme]}: {self.summary}"

    @property
    def _notes(self) -> tuple[str, ...]:
        used = [f"{name_text(name)} {percent(share)}" for name, share in list(self.columns.items())[:8]]
        if self.tree.schema.target.classes is not None:
            changing = int(np.count_nonzero(self.rows < 0.5))
            rows = f"predictions: a row keeps its class in {percent(float(self.rows.mean()))} of the refits on average"
            rows += f"; {many(changing, 'row')} in less than half"
        else:
            rows = f"predictions move by {number_text(float(f'{self.rows.mean():.3g}'))} on average (root mean square)"
        leaves, depth = (_spread(values) for values in (self.n_leaves, self.depth))
        return (
            f"columns used: {', '.join(used)}",
            rows,
            f"leaves: {self.tree.n_leaves} here, {leaves} in the refits; depth: {self.tree.depth} here, {depth}",
            f"leaves hold the same rows: adjusted Rand index {np.mean(self.rand):.2f}",
        )

    def to_frame(self, kind: FrameKind = "pandas", of: Part = "splits") -> Any:
        """Return the results as a data frame, with exact values.

        Parameters
        ----------
        kind : {"pandas", "polars", "arrow", "dict"}, default="pandas"
            The package of the frame; "dict" returns a dict of lists and needs none.
        of : {"splits", "columns", "rows", "refits"}, default="splits"
            What has a row each: the splits of the tree; the columns, with the share of refits that use them; the rows
            of the table, with the share of refits that predict the tree's class ("kept"; for numbers "distance", the
            root mean squared distance from the tree's prediction); the refits, with their size and likeness.

        Returns
        -------
        DataFrame, Table or dict
            One row per split, column, row or refit.

        Raises
        ------
        DataError
            If `of` is unknown.
        ExportError
            If the package is not installed or `kind` is unknown.

        Examples
        --------
        >>> import treewright as tw
        >>> table = {"x": list(range(40)), "noise": [7 * i % 11 for i in range(40)], "y": ["a"] * 20 + ["b"] * 20}
        >>> found = tw.stability(tw.learn(table, "y", tw.CART), table, resamples=50)
        >>> found.to_frame("dict", of="columns")
        {'column': ['x', 'noise'], 'used': [1.0, 0.0]}
        """
        if of not in get_args(Part):
            raise DataError(f"of must be {', '.join(map(repr, get_args(Part)))}, not {of!r}")
        parts = {"splits": self._columns, "columns": self._used, "rows": self._rows, "refits": self._refits}
        return framed(parts[of](), kind)

    def to_pandas(self, of: Part = "splits") -> Any:
        """Return the results as a pandas data frame, with exact values.

        Parameters
        ----------
        of : {"splits", "columns", "rows", "refits"}, default="splits"
            What has a row each, as for `to_frame`.

        Returns
        -------
        pandas.DataFrame
            One row per split, column, row or refit.
        """
        return self.to_frame("pandas", of)

    def _used(self) -> dict[str, list[Any]]:
        names = [*self.columns, *(name for name in self.tree.schema.names if name not in self.columns)]
        return {"column": names, "used": [self.columns.get(name, 0.0) for name in names]}

    def _rows(self) -> dict[str, list[Any]]:
        measure = "distance" if self.tree.schema.target.classes is None else "kept"
        return {"row": list(range(len(self.rows))), measure: self.rows.tolist()}

    def _refits(self) -> dict[str, list[Any]]:
        lists = {"adjusted_rand": self.rand, "n_leaves": self.n_leaves, "depth": self.depth}
        return {"refit": list(range(self.resamples)), **{name: list(values) for name, values in lists.items()}}

    def _columns(self) -> dict[str, list[Any]]:
        ranges = [one.cut_range or (None, None) for one in self.splits]
        return {
            "node": [one.node for one in self.splits],
            "column": [one.split.column for one in self.splits],
            "threshold": [one.split.threshold for one in self.splits],
            "rows": [one.rows for one in self.splits],
            "kept": [one.kept for one in self.splits],
            "cut_low": [low for low, _ in ranges],
            "cut_high": [high for _, high in ranges],
            "jaccard": [one.jaccard for one in self.splits],
            "instead": [next(iter(one.instead), None) for one in self.splits],
        }

    def __repr__(self) -> str:
        return f"<Stability: {self.resamples} refits, {len(self.splits)} splits>"


def _spread(values: tuple[int, ...]) -> str:
    low, high = np.quantile(values, _RANGE, method="inverted_cdf")
    return f"{low}" if low == high else f"{low} to {high}"
