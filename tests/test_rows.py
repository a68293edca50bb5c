"""Rows of an encoded table: `take`, `concat` and `weights_of` against numpy, field by field."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.encoding import Encoded
from treewright.data.rows import concat, take, total_weight, weights_of


def made(n: int, *, weight: bool = True, dealt: bool = True) -> Encoded:
    """A table whose values name their row."""
    rows = np.arange(n)
    return Encoded(
        columns=(rows + 0.5, (rows % 3).astype(np.int32)),
        kinds=(0, 2),
        levels=(0, 3),
        n_rows=n,
        target=(rows % 2).astype(np.int32),
        n_classes=2,
        weight=rows + 1.0 if weight else None,
        dealt=np.stack([rows * 10, rows * 10 + 1], axis=1) if dealt else None,
        coded="the binned form of all rows",
    )


def same(one: Encoded, other: Encoded) -> None:
    assert (one.n_rows, one.kinds, one.levels, one.n_classes) == (other.n_rows, other.kinds, other.levels, 2)
    for name in ("target", "weight", "dealt"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(st.integers(0, 12), st.data())
def test_take_takes_the_same_rows_of_every_field(n: int, data: Any) -> None:
    table = made(n, weight=data.draw(st.booleans()), dealt=data.draw(st.booleans()))
    start, stop = data.draw(st.integers(0, n)), data.draw(st.integers(0, n + 3))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    index = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=6)) if n else [], dtype=np.int64)
    for chosen, rows in ((slice(start, stop), np.arange(n)[start:stop]), (mask, np.flatnonzero(mask)), (index, index)):
        found = take(table, chosen)
        assert found.n_rows == len(rows)
        assert found.coded is None
        np.testing.assert_array_equal(found.columns[0], rows + 0.5)
        np.testing.assert_array_equal(found.target, rows % 2)
        if table.weight is not None:
            np.testing.assert_array_equal(found.weight, rows + 1.0)
        if table.dealt is not None:
            np.testing.assert_array_equal(found.dealt, np.stack([rows * 10, rows * 10 + 1], axis=1))


@given(st.integers(1, 12), st.lists(st.integers(0, 12), max_size=4))
def test_concat_undoes_take(n: int, cuts: list[int]) -> None:
    table = made(n)
    edges = [0, *sorted(min(cut, n) for cut in cuts), n]
    pieces = [take(table, slice(*pair)) for pair in itertools.pairwise(edges)]
    same(concat(pieces), table)


def test_a_slice_is_not_copied() -> None:
    table = made(5)
    assert np.shares_memory(take(table, slice(1, 3)).columns[0], table.columns[0])


def test_a_matrix_is_taken_by_rows() -> None:
    matrix: Any = np.arange(12.0).reshape(6, 2)
    found = take(Encoded(matrix, (0, 0), (), 6), slice(2, 4))
    np.testing.assert_array_equal(found.columns, matrix[2:4])
    assert found.n_rows == 2


def test_weights_are_one_where_none_are_given() -> None:
    assert weights_of(made(3, weight=False)).tolist() == [1.0, 1.0, 1.0]
    assert weights_of(made(3)).tolist() == [1.0, 2.0, 3.0]
    assert (total_weight(made(3)), total_weight(made(3, weight=False))) == pytest.approx((6.0, 3.0))
