"""A table in parts is described and coded as if it were whole, wherever it is cut."""

from __future__ import annotations

import datetime as dt
import pickle
import re
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_makers import MAKERS, Columns

from treewright.encode import Encoded, describe, encode
from treewright.engine import survey
from treewright.errors import DataError
from treewright.frame import Frame, pop_column
from treewright.parts.digest import described, digest, encoded_part, frame_of, merge
from treewright.schema import Schema
from treewright.table import read

DAY = dt.date(2024, 2, 28)
NOON = dt.datetime(2024, 2, 28, 12, 30)  # noqa: DTZ001

#: Values of one type, which every kind of table can hold.
PLAIN = (
    st.sampled_from([0.5, -1.0, 3.0, 1e300]),
    st.sampled_from([0, 1, 7, -3]),
    st.sampled_from(["sun", "rain", "", "é"]),
    st.booleans(),
    st.sampled_from([DAY + dt.timedelta(days=n) for n in range(3)]),
    st.sampled_from([NOON + dt.timedelta(hours=n) for n in range(3)]),
    st.sampled_from([dt.timedelta(minutes=n) for n in range(3)]),
)
#: Values that only columns of objects can hold beside each other.
MIXED = (
    st.sampled_from([True, 3, 0.5]),
    st.sampled_from([DAY, NOON]),
    st.sampled_from([1, "1", "sun"]),
    st.sampled_from([2**60 + 1, 2**60, 5]),
    st.sampled_from([0.5, float("inf")]),
)
OBJECT_MAKERS = ("pandas_frame", "plain_dict", "dict_rows", "objects_dict")
CHOICES = ("numeric", "nominal", "ordinal", "boolean", "date", "datetime", ["sun", "rain", ""], [0, 1, 7, -3])


@st.composite
def cut_tables(draw: st.DrawFn) -> tuple[Columns, list[int]]:
    n_rows = draw(st.integers(1, 8))
    objects = draw(st.booleans())
    cells = draw(st.lists(st.sampled_from(PLAIN + MIXED if objects else PLAIN), min_size=1, max_size=4))

    def column(cell: st.SearchStrategy[Any], holes: bool = True) -> list[Any]:
        return draw(st.lists(st.none() | cell if holes else cell, min_size=n_rows, max_size=n_rows))

    columns = {f"c{place}": column(cell) for place, cell in enumerate(cells)}
    columns["y"] = column(draw(st.sampled_from(PLAIN)), draw(st.integers(0, 9)) == 0)
    columns["w"] = column(st.sampled_from([0.0, 1.0, 2.5]), draw(st.integers(0, 9)) == 0)
    cuts = draw(st.lists(st.integers(0, n_rows), max_size=4))
    return columns, [0, *sorted(cuts), n_rows]


wishes = st.none() | st.dictionaries(st.sampled_from(["c0", "c1", "y", "none"]), st.sampled_from(CHOICES), max_size=2)


def whole_road(frame: Frame, task: Any, kinds: Any) -> tuple[Schema, Encoded]:
    """What learning does with a table in memory before it grows."""
    target, rest = pop_column(frame, "y")
    weight, rest = pop_column(rest, "w", "weight")
    schema = describe(rest, target, task, kinds)
    encoded = encode(rest, schema, training=True, target=target, weight=weight)
    survey(encoded, schema, 1)
    return schema, encoded


def parts_road(frames: list[Frame], task: Any, kinds: Any) -> tuple[Schema, list[Encoded]]:
    schema = described(reduce(merge, (digest(frame, "y", "w", kinds) for frame in frames)), task, kinds)
    return schema, [encoded_part(frame, schema, "y", "w") for frame in frames]


def gist(message: str) -> tuple[str, str]:
    """A message without what parts cannot know: the number of a row, and which of several values is shown."""
    message = re.sub(r" in row \d+", "", message)
    return re.split(" has |: ", message, maxsplit=1)[0], message.rpartition(";")[2]


def assert_same(frame: Frame, frames: list[Frame], task: Any, kinds: Any) -> None:
    try:
        schema, encoded = whole_road(frame, task, kinds)
    except DataError as error:
        expected = gist(str(error))
        with pytest.raises(DataError) as raised:
            parts_road(frames, task, kinds)
        assert gist(str(raised.value)) == expected
        return
    found, parts = parts_road(frames, task, kinds)
    assert found == schema
    assert sum(part.n_rows for part in parts) == encoded.n_rows
    for part in parts:
        assert (part.kinds, part.levels, part.n_classes) == (encoded.kinds, encoded.levels, encoded.n_classes)
        assert part.target is not None
        assert encoded.target is not None
        assert part.target.dtype == encoded.target.dtype
    for place, column in enumerate(encoded.columns):
        np.testing.assert_array_equal(np.concatenate([part.columns[place] for part in parts]), column)
    for name in ("target", "weight"):
        together = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(together, getattr(encoded, name))


def sliced(frame: Frame, start: int, stop: int) -> Frame:
    columns = tuple(replace(column, values=column.values[start:stop]) for column in frame.columns)
    return replace(frame, columns=columns, n_rows=stop - start)


# --- wherever it is cut ---------------------------------------------------------------------------------------------


@settings(max_examples=120)
@given(cut_tables(), st.sampled_from(OBJECT_MAKERS), st.sampled_from([None, "classification", "regression"]), wishes)
def test_a_frame_cut_anywhere(cut: tuple[Columns, list[int]], maker: str, task: Any, kinds: Any) -> None:
    columns, cuts = cut
    frame = read(MAKERS[maker](columns))
    assert_same(frame, [sliced(frame, *pair) for pair in pairwise(cuts)], task, kinds)


@settings(max_examples=120)
@given(cut_tables(), st.sampled_from(sorted(MAKERS)), st.sampled_from([None, "classification", "regression"]), wishes)
def test_parts_that_come_as_tables_of_their_own(
    cut: tuple[Columns, list[int]], maker: str, task: Any, kinds: Any
) -> None:
    """Every part is made by itself, so that its types are what its own rows suggest."""
    columns, cuts = cut
    make = MAKERS[maker]
    try:
        whole = read(make(columns))
        frames = [frame_of(make({name: v[i:j] for name, v in columns.items()})) for i, j in pairwise(cuts)]
    except (TypeError, ValueError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError):
        return  # no table of that library, or none a tree can learn from
    try:
        assert_same(whole, frames, task, kinds)
    except DataError as error:
        if "in some parts" not in str(error):  # numbers in one part and text in another are not counted
            raise


@given(cut_tables(), st.randoms(use_true_random=False))
def test_the_order_of_merging_does_not_matter(cut: tuple[Columns, list[int]], random: Any) -> None:
    columns, cuts = cut
    frame = read(columns)
    digests = [digest(sliced(frame, *pair), "y", "w", None) for pair in pairwise(cuts)]
    expected = reduce(merge, digests)
    while len(digests) > 1:
        random.shuffle(digests)
        digests = [merge(digests[0], digests[1]), *digests[2:]]
    assert digests[0] == expected
    assert pickle.loads(pickle.dumps(expected)) == expected
