"""One row of numbers per node without its zeros: the statistics and values of large trees of many classes.

Behaves like the matrix it stands for. What it does not know by itself is done with all zeros written out, so code
written for matrices works; the operations here are those that large trees need.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from treewright.data.arrays import Array, FloatArray, IndexArray, Int32Array, Int64Array

#: Matrices of more numbers than this (32 MB) and at least so many columns are kept without zeros, as `NodeTable` of the
#: core does.
MAX_DENSE = 1 << 22
MIN_WIDTH = 16


class SparseRows(NDArrayOperatorsMixin):
    """A matrix of which only numbers that are not zero are kept: those of row i at start[i] to start[i + 1]."""

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, width: int, start: Int64Array, column: Int32Array, value: FloatArray) -> None:
        self.width, self.start, self.column, self.value = width, start, column, value
        for array in (start, column, value):
            array.setflags(write=False)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.start) - 1, self.width

    @property
    def size(self) -> int:
        return len(self) * self.width

    @property
    def nbytes(self) -> int:
        return self.start.nbytes + self.column.nbytes + self.value.nbytes

    def __len__(self) -> int:
        return len(self.start) - 1

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        dense = np.zeros(self.shape)
        dense[self.rows(), self.column] = self.value
        return dense if dtype is None else dense.astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        dense = [np.asarray(one) if isinstance(one, SparseRows) else one for one in inputs]
        return getattr(ufunc, method)(*dense, **kwargs)

    def __matmul__(self, vector: Array) -> FloatArray:
        return self.row_sums(self.value * np.asarray(vector)[self.column])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self._at(*key)
        if isinstance(key, (int, np.integer)):
            row = np.zeros(self.width)
            i = key if key >= 0 else key + len(self)
            here = slice(self.start[i], self.start[i + 1])
            row[self.column[here]] = self.value[here]
            return row
        chosen = self._taken(np.arange(len(self))[key])
        return chosen if chosen.size > MAX_DENSE else np.asarray(chosen)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)  # ravel, tolist, T, ...

    def sum(self, axis: int | None = None) -> Any:
        """Return the sum of all numbers, of each column or of each row."""
        if axis == 1:
            return self.row_sums(self.value)
        return np.bincount(self.column, self.value, self.width) if axis == 0 else self.value.sum()

    def argmax(self, axis: int = 1) -> IndexArray:
        """Return the column of the largest number of each row, the first of equals; numbers are not negative."""
        assert axis == 1
        best = np.zeros(len(self), dtype=np.intp)
        filled = np.flatnonzero(np.diff(self.start))
        largest = np.zeros(len(self))
        largest[filled] = np.maximum.reduceat(self.value, self.start[filled]) if len(filled) else 0.0
        rows = self.rows()
        at = np.flatnonzero(self.value == largest[rows])[::-1]  # the first of a row is written last
        best[rows[at]] = self.column[at]
        return best

    def tobytes(self) -> bytes:
        """Return the bytes by which two trees are compared."""
        return self.start.tobytes() + self.column.tobytes() + self.value.tobytes()

    def rows(self) -> IndexArray:
        """Return the row of each kept number."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def row_sums(self, values: FloatArray) -> FloatArray:
        """Return sums by row of one number for each kept number."""
        sums: FloatArray = np.bincount(self.rows(), values, len(self)).astype(np.float64)
        return sums

    def _at(self, rows: Any, columns: Any) -> Any:
        """Return single numbers: those at one row and column, or at a row and a column each."""
        if isinstance(rows, (int, np.integer)):
            return self[rows][columns]
        if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray) and rows.ndim == columns.ndim == 1:
            keys = self.rows() * self.width + self.column
            wanted = rows.astype(np.int64) * self.width + columns
            at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
            return np.where(keys[at] == wanted, self.value[at], 0.0) if len(keys) else np.zeros(len(wanted))
        return np.asarray(self)[rows, columns]

    def _taken(self, rows: IndexArray) -> SparseRows:
        counts = np.diff(self.start)[rows]
        start = np.append(0, np.cumsum(counts))
        at = np.repeat(self.start[rows] - start[:-1], counts) + np.arange(start[-1])
        return SparseRows(self.width, start, self.column[at], self.value[at])


def kept_numbers(array: Any) -> Any:
    """Return the numbers of an array that may not be zero."""
    return array.value if isinstance(array, SparseRows) else array


def copied(array: Any) -> Any:
    """Return a copy of an array; rows without zeros never change and are not copied."""
    return array if isinstance(array, SparseRows) else np.array(array, order="C")


def from_core(array: Any) -> Any:
    """Return an array of the core, which gives large matrices as the four parts of their rows without zeros."""
    return SparseRows(*array) if isinstance(array, tuple) else array


def counts_per_row(array: Any) -> IndexArray:
    """Return how many numbers of each row are not zero."""
    counts: Any = np.diff(array.start) if isinstance(array, SparseRows) else np.count_nonzero(array, axis=1)
    return np.asarray(counts, dtype=np.intp)


def is_large(shape: tuple[int, ...]) -> bool:
    """Return whether an array of this shape is kept without zeros."""
    return len(shape) == 2 and shape[1] >= MIN_WIDTH and shape[0] * shape[1] > MAX_DENSE


def frozen(array: Any) -> Any:
    """Return the array, unwritable; a large matrix without its zeros."""
    if isinstance(array, SparseRows):
        return array
    if is_large(array.shape):
        rows, column = np.nonzero(array)
        start = np.append(0, np.cumsum(np.bincount(rows, minlength=len(array)))).astype(np.int64)
        return SparseRows(array.shape[1], start, column.astype(np.int32), array[rows, column])
    array.setflags(write=False)
    return array
