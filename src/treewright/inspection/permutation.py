"""How much worse a tree predicts when a column carries no information: its values are shuffled among the rows.

A column that the tree never uses, not even as a surrogate, gets exactly zero and costs no time. Shuffles depend on the
seed, the column and the repeat alone. The tree is not learned again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.rows import total_weight
from treewright.errors import DataError
from treewright.prediction.predict import predicted_codes
from treewright.prediction.scores import SCALES, chosen_measure, measured
from treewright.tree.shape import columns_used
from treewright.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class Permutations:
    """`worse[column, repeat]`: by how much the measure gets worse; `base`: the measure as it is."""

    measure: str
    base: float
    worse: FloatArray
    weight: float


def permuted(tree: Tree, rows: Encoded, measure: str | None, n_repeats: int, seed: int, n_threads: int) -> Permutations:
    """Return every column that the tree splits on, shuffled `n_repeats` times."""
    if n_repeats < 1:
        raise DataError(f"n_repeats must be at least 1, not {n_repeats}")
    target = tree.schema.target
    name = chosen_measure(measure, target)
    sign = 1.0 if SCALES[name].more_is_better else -1.0

    def score(columns: tuple[Array, ...]) -> float:
        return measured(name, target, rows, predicted_codes(tree, replace(rows, columns=columns), n_threads))

    base = score(rows.columns)
    worse = np.zeros((len(rows.columns), n_repeats))
    for column in columns_used(tree):
        for repeat in range(n_repeats):
            order = np.random.default_rng((seed, column, repeat)).permutation(rows.n_rows)
            shuffled = (*rows.columns[:column], rows.columns[column][order], *rows.columns[column + 1 :])
            worse[column, repeat] = sign * (base - score(shuffled))
    weight = total_weight(rows)
    return Permutations(name, base, worse, weight)
