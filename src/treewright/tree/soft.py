"""Soft thresholds of a tree: bands in which a row follows both children."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.number_text import many
from treewright.data.schema import Parts, as_parts, is_whole
from treewright.recipes.choice import is_number


@dataclass(frozen=True)
class Soft:
    """Bands of thresholds.

    Between `lower` and `upper` a row follows both children. The weight of the child above the threshold goes from 0 at
    `lower` over a half at the threshold to 1 at `upper`, linearly on either side.

    Attributes
    ----------
    method : {"error", "bootstrap"}
        How the bands were chosen.
    node : tuple of int
        The nodes whose threshold has a band, ascending.
    lower, upper : tuple of float
        The ends of their bands; the threshold lies between them, or at one of them.
    """

    method: str
    node: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __str__(self) -> str:
        return f"{many(len(self.node), 'soft threshold')} (about): within its band a row follows both branches"

    def band(self, node: int) -> tuple[float, float] | None:
        """Return the ends of a node's band; None without one."""
        place = int(np.searchsorted(self.node, node))
        if place == len(self.node) or self.node[place] != node:
            return None
        return self.lower[place], self.upper[place]

    def kept(self, new_id: Mapping[int, int]) -> Soft:
        """Return the bands of the nodes that have a new id."""
        bands = zip(self.node, self.lower, self.upper, strict=True)
        left = [(new_id[node], lower, upper) for node, lower, upper in bands if node in new_id]
        return (
            Soft(self.method, *(tuple(column) for column in zip(*left, strict=True)))
            if left
            else Soft(self.method, (), (), ())
        )

    def split_arrays(self, split_start: Array) -> dict[str, FloatArray]:
        """Return the bands as arrays of the split table, as the core reads them: equal ends for no band."""
        arrays = {name: np.zeros(int(split_start[-1])) for name in ("band_low", "band_high")}
        own = split_start[list(self.node)]
        arrays["band_low"][own], arrays["band_high"][own] = self.lower, self.upper
        return arrays

    def as_dict(self) -> dict[str, Any]:
        """Return the written form."""
        return as_parts(self)

    @staticmethod
    def from_dict(written: object, arrays: Mapping[str, Array], place: str = "$.soft") -> Soft:
        """Return what `as_dict` wrote; raise `FileError` for anything that is no band of the tree's thresholds."""
        parts = Parts.of(Soft, written, place)
        _check(parts, arrays)
        return Soft(parts.values["method"], *(tuple(parts.values[name]) for name in ("node", "lower", "upper")))


def softenable(arrays: Mapping[str, Array], node: int) -> float | None:
    """Return the threshold of a node whose split has one between two children; otherwise None."""
    if arrays["stop"][node] != 0:
        return None
    split = arrays["split_start"][node]
    first, bins = arrays["break_start"][split], arrays["bin_start"][split]
    children = arrays["child_of_bin"][bins : arrays["bin_start"][split + 1]]
    one = arrays["break_start"][split + 1] - first == 1 and (children >= 0).all() and len(set(children.tolist())) == 2
    return float(arrays["breaks"][first]) if one else None


def _check(parts: Parts, arrays: Mapping[str, Array]) -> None:
    given, require = parts.values, parts.require
    require(given["method"] in ("error", "bootstrap"), "method")
    nodes, n_nodes = given["node"], len(arrays["parent"])
    require(isinstance(nodes, list) and all(is_whole(i) and i < n_nodes for i in nodes), "node")
    require(nodes == sorted(set(nodes)), "node")
    thresholds = [softenable(arrays, i) for i in nodes]
    require(None not in thresholds, "node")
    for name in ("lower", "upper"):
        require(isinstance(given[name], list) and len(given[name]) == len(nodes), name)
        require(all(map(is_number, given[name])), name)
    for threshold, lower, upper in zip(thresholds, given["lower"], given["upper"], strict=True):
        require(lower <= threshold <= upper and lower < upper, "lower")
