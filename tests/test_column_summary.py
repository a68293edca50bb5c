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
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_makers import MAKERS, Columns

from treewright.data import kinds as kinds_room
from treewright.data.encoding import Encoded, describe, encode
from treewright.data.frame import Frame, pop_column
from treewright.data.reader import read
from treewright.data.schema import Schema
from treewright.data.survey import survey
from treewright.errors import DataError
from treewright.out_of_core.column_summary import NOTHING, described, encode_partition, frame_of, merge, summarize

DAY = dt.date(2024, 2, 28)
NOON = dt.datetime(2024, 2, 28, 12, 30)  # noqa: DTZ001

#: Values of one type, which every kind of table can hold.
PLAIN = (
    st.sampled_from([0.5, -1.0, 3.0, 1e100]),
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
    st.sampled_from([0.5, float("inf")]),
)
OBJECT_MAKERS = ("pandas_frame", "plain_dict", "dict_rows", "objects_dict")
CHOICES = ("numeric", "nominal", "ordinal", "boolean", "date", "datetime", ["sun", "rain", ""], [0, 1, 7, -3])


Cut = tuple[Columns, list[int], str]


@st.composite
def cut_tables(draw: st.DrawFn) -> Cut:
    """Columns, where they are cut, and what makes a table of them."""
    n_rows = draw(st.sampled_from([1, *range(2, 9), *range(2, 9)]))
    objects = draw(st.booleans())
    cells = draw(st.lists(st.sampled_from(PLAIN + MIXED if objects else PLAIN), min_size=1, max_size=4))

    def column(cell: st.SearchStrategy[Any], holes: bool = True) -> list[Any]:
        return draw(st.lists(st.none() | cell if holes else cell, min_size=n_rows, max_size=n_rows))

    columns = {f"c{place}": column(cell) for place, cell in enumerate(cells)}
    columns["y"] = column(draw(st.sampled_from(PLAIN)), draw(st.integers(0, 9)) == 0)
    columns["w"] = column(st.sampled_from([0.0, 1.0, 2.5]), draw(st.integers(0, 9)) == 0)
    cuts = draw(st.lists(st.integers(0, n_rows), max_size=4))
    maker = draw(st.sampled_from(OBJECT_MAKERS if objects else sorted(MAKERS)))
    return columns, [0, *sorted(cuts), n_rows], maker


tasks = st.sampled_from([None, "classification", "regression"])
chosen_kinds = st.none() | st.dictionaries(
    st.sampled_from(["c0", "c0", "c1", "y"]), st.sampled_from(CHOICES), max_size=2
)


def whole_road(frame: Frame, task: Any, kinds: Any) -> tuple[Schema, Encoded]:
    """What learning does with a table in memory before it grows."""
    target, rest = pop_column(frame, "y")
    weight, rest = pop_column(rest, "w", "weight")
    schema = describe(rest, target, task, kinds)
    encoded = encode(rest, schema, training=True, target=target, weight=weight)
    survey(encoded, schema, 1)
    return schema, encoded


def parts_road(frames: list[Frame], task: Any, kinds: Any) -> tuple[Schema, list[Encoded]]:
    schema = described(
        reduce(merge, (summarize(frame, "y", "w", kinds) for frame in frames)), task, kinds, keep_columns=True
    )
    return schema, [encode_partition(frame, schema, "y", "w") for frame in frames]


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
        if "in some parts" in str(raised.value):
            raise raised.value from error
        assert gist(str(raised.value)) == expected
        return
    found, parts = parts_road(frames, task, kinds)
    assert found == schema
    assert sum(part.n_rows for part in parts) == encoded.n_rows
    for part in parts:
        assert (part.kinds, part.levels, part.n_classes) == (encoded.kinds, encoded.levels, encoded.n_classes)
        for name in ("target", "weight"):
            assert getattr(part, name).dtype == getattr(encoded, name).dtype
    for place, column in enumerate(encoded.columns):
        np.testing.assert_array_equal(np.concatenate([part.columns[place] for part in parts]), column)
    for name in ("target", "weight"):
        together = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(together, getattr(encoded, name))


def sliced(frame: Frame, start: int, stop: int) -> Frame:
    columns = tuple(replace(column, values=column.values[start:stop]) for column in frame.columns)
    return replace(frame, columns=columns, n_rows=stop - start)


# --- wherever it is cut ---------------------------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(cut_tables(), tasks, chosen_kinds)
def test_a_frame_cut_anywhere(cut: Cut, task: Any, kinds: Any) -> None:
    columns, cuts, _ = cut
    frame = read(columns)
    assert_same(frame, [sliced(frame, *pair) for pair in pairwise(cuts)], task, kinds)


@settings(max_examples=120, deadline=None)
@given(cut_tables(), tasks, chosen_kinds)
def test_partitions_that_come_as_tables_of_their_own(cut: Cut, task: Any, kinds: Any) -> None:
    """Every part is made by itself, so that its types are what its own rows suggest."""
    columns, cuts, maker = cut
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


@settings(max_examples=120, deadline=None)
@given(cut_tables(), st.randoms(use_true_random=False))
def test_the_order_of_merging_does_not_matter(cut: Cut, random: Any) -> None:
    columns, cuts, _ = cut
    frame = read(columns)
    digests = [summarize(sliced(frame, *pair), "y", "w", None) for pair in pairwise(cuts)]
    expected = reduce(merge, digests)
    while len(digests) > 1:
        random.shuffle(digests)
        digests = [merge(digests[0], digests[1]), *digests[2:]]
    assert digests[0] == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


# --- what parts declare -----------------------------------------------------------------------------------------------


def described_parts(values: list[Any], kinds: Any = None, task: Any = None) -> Schema:
    """The schema of parts with a column x, all with the same two answers."""
    frames = [
        frame_of({"x": part, "y": ["no", "yes"] * (len(part) // 2) + ["no"] * (len(part) % 2)}) for part in values
    ]
    return described(reduce(merge, (summarize(frame, "y", None, kinds) for frame in frames)), task, kinds, True)


def levels_of_x(values: list[Any], kinds: Any = None) -> tuple[str, Any]:
    spec = described_parts(values, kinds).columns[0]
    return spec.kind, spec.levels


def sizes(values: list[Any], categories: list[Any], ordered: bool) -> Any:
    return pd.Series(pd.Categorical(values, categories=categories, ordered=ordered))


def test_declared_levels_keep_their_order() -> None:
    parts = [sizes(["L", "S"], ["S", "M", "L"], True), sizes([None, None], ["S", "M", "L"], True)]
    assert levels_of_x(parts) == ("ordinal", ("S", "M", "L"))
    parts = [sizes([None], ["S", "M", "L"], False), sizes(["L", "S"], ["S", "M", "L"], False), pd.Series([None, None])]
    assert levels_of_x(parts) == ("nominal", ("S", "M", "L"))


def test_levels_that_partitions_declare_differently() -> None:
    """As pandas has it when it joins such columns: they are the values found, sorted."""
    parts = [sizes(["b", "c"], ["c", "b", "z"], False), sizes(["a", "b"], ["b", "a"], False)]
    assert levels_of_x(parts) == ("nominal", ("a", "b", "c"))
    whole = pd.DataFrame({"x": pd.concat(parts), "y": ["no", "yes"] * 2})
    assert describe(*reversed(pop_column(read(whole), "y"))).columns[0].levels == ("a", "b", "c")
    assert levels_of_x([parts[0], pd.Series(["a", "b"])]) == ("nominal", ("a", "b", "c"))


def test_orders_that_partitions_declare_differently() -> None:
    parts = [sizes(["S", "L"], ["S", "L"], True), sizes(["S", "M"], ["S", "M"], True)]
    with pytest.raises(DataError, match=r"different levels for the ordinal column 'x'; give them .* kinds=\{'x': \["):
        described_parts(parts)
    assert levels_of_x(parts, {"x": ["S", "M", "L"]}) == ("ordinal", ("S", "M", "L"))


def test_dictionaries_of_arrow_that_differ_declare_nothing() -> None:
    """A writer that numbers the values of each group of rows by itself declares no order; whole or in parts."""
    chunks = [pa.array(values).dictionary_encode() for values in (["c", "a"], ["b", "a"])]
    assert levels_of_x([pa.chunked_array([chunk]) for chunk in chunks]) == ("nominal", ("a", "b", "c"))
    assert levels_of_x([pa.chunked_array(chunks)]) == ("nominal", ("a", "b", "c"))
    assert levels_of_x([pa.chunked_array(chunks[:1])] * 2) == ("nominal", ("c", "a"))


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([[1, 2], [0.5, 0.25]], "numeric"),
        ([[1, 2], [None, None]], "numeric"),
        ([[True, False], [2, 3]], "numeric"),
        ([[True, False], [None, None]], "boolean"),
        ([[None, None], ["a", "b"]], "nominal"),
        ([[DAY, DAY], [NOON, NOON]], "datetime"),
        ([[DAY, DAY], [None, None]], "date"),
    ],
)
def test_partitions_of_different_types(parts: list[Any], kind: str) -> None:
    assert levels_of_x(parts)[0] == kind
    assert levels_of_x(parts[::-1])[0] == kind


@pytest.mark.parametrize(("odd", "example"), [(["a", "b"], "'a'"), ([DAY, DAY], "1;"), ([True, "b"], "True")])
def test_numbers_in_some_partitions_only(odd: list[Any], example: str) -> None:
    with pytest.raises(DataError, match=f"column 'x' is .* in some parts of the table and .* in others, .*{example}"):
        described_parts([[1, 2], odd])
    assert levels_of_x([[1, 2], ["b", "a"]], {"x": "nominal"}) == ("nominal", (1, 2, "a", "b"))
    assert levels_of_x([[1, 2], [DAY, DAY]], {"x": "nominal"}) == ("nominal", (1, 2, "2024-02-28"))


def test_integers_that_no_float_holds() -> None:
    parts = [[1, 2], [2**60 + 1, 2**60]]
    with pytest.raises(DataError, match=r"column 'x' has 115292150460684697\d, an integer beyond 2"):
        described_parts(parts)
    assert levels_of_x(parts, {"x": "nominal"}) == ("nominal", (1, 2, 2**60, 2**60 + 1))


# --- too many values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [float, int, lambda row: f"id{row:06}"], ids=["numbers", "integers", "text"])
def test_too_many_levels(make: Any) -> None:
    half = kinds_room.MOST_LEVELS // 2 + 1
    parts = [[make(row) for row in range(half)], [make(row) for row in range(half, 2 * half)]]
    with pytest.raises(DataError, match=f"column 'x' has more than 65535 levels, for example {make(0)!r}; at most 655"):
        described_parts(parts, {"x": "nominal"})
    assert len(levels_of_x([parts[0], parts[0]], {"x": "nominal"})[1]) == half


def test_a_digest_stays_small() -> None:
    frame = read(
        {"x": np.arange(300_000.0), "id": np.arange(300_000), "y": np.random.default_rng(1).normal(size=300_000)}
    )
    some = summarize(frame, "y", None, {"id": "nominal"})
    assert len(pickle.dumps(some)) < 2_000
    assert described(merge(some, some), kinds={}).target.task == "regression"


def test_numbers_that_are_not_listed() -> None:
    parts = [np.arange(1000.0), np.arange(500.0, 2000.0)]
    with pytest.raises(DataError, match=r"column 'x' has .*, which kinds\['x'\] does not list"):
        described_parts(parts, {"x": [*range(1999)]})
    assert levels_of_x(parts, {"x": [*range(2000)]})[1] == (*range(2000),)
    with pytest.raises(DataError, match="column 'x' cannot be boolean: 2 is not true or false"):
        described_parts(parts, {"x": "boolean"})


def test_a_class_of_its_own_for_every_row() -> None:
    frames = [frame_of({"x": [1.0] * 15, "y": [f"{part}{row:02}" for row in range(15)]}) for part in "ab"]
    with pytest.raises(DataError, match=r"every row has its own class in the target 'y' \(30 classes in 30 rows"):
        described(reduce(merge, (summarize(frame, "y", None, None) for frame in frames)))
    frames.append(frames[0])
    assert (
        len(described(reduce(merge, (summarize(frame, "y", None, None) for frame in frames))).target.classes or ())
        == 30
    )


# --- parts without rows, and errors ---------------------------------------------------------------------------------


EMPTY = [
    *(make({"c0": [], "y": [], "w": []}) for name, make in MAKERS.items() if name not in {"arrow_chunks", "dict_rows"}),
    pd.DataFrame(),
    [],
    {},
    pa.table({"c0": pa.array([], pa.dictionary(pa.int8(), pa.string()))}),
]


@pytest.mark.parametrize("empty", EMPTY)
def test_partitions_without_rows_say_nothing(empty: Any) -> None:
    table = frame_of({"c0": [1.0, 2.0], "y": ["a", "b"], "w": [1, 2]})
    nothing = summarize(frame_of(empty), "y", "w", None)
    some = summarize(table, "y", "w", None)
    assert merge(nothing, some) == merge(some, nothing) == some
    schema = described(some)
    coded = encode_partition(frame_of(empty), schema, "y", "w")
    assert coded.n_rows == 0
    assert [array.dtype for array in (*coded.columns, coded.target, coded.weight)] == ["f8", "i4", "f8"]
    with pytest.raises(DataError, match="The table is empty: it has no rows"):
        described(merge(nothing, nothing))


def test_partitions_with_other_columns() -> None:
    first, second = ({"a": [1.0], "y": [1.0]}, {"a": [1.0], "b": [2.0], "y": [1.0]})
    with pytest.raises(DataError, match="the parts of the table differ in their columns: 'b' is not in all of them"):
        merge(*(summarize(frame_of(table), "y", None, None) for table in (first, second)))
    with pytest.raises(DataError, match="the weight 'c' is not a column of the table"):
        summarize(frame_of(second), "y", "c", None)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0.0, 0.0], [0, 0]], "the weight 'w' is zero in every row"),
        ([[0.0, 1.0], [1.0, -2.5]], "the weight 'w' is -2.5; weights start at zero"),
        ([[1.0, None], [None, 1.0]], "The weight 'w' is missing in 2 rows"),
        ([[1.0, 1.0], ["x", "x"]], "the weight 'w' is numeric|column 'w' is numeric in some parts"),
        ([["x", "x"], ["x", "x"]], "the weight 'w' must hold numbers, but has 'x'$"),
        ([[1.0, np.inf], [1.0, 1.0]], "Weight 'w' has inf: replace"),
        ([[1.0, 1e200], [1.0, 1.0]], r"the largest weight of 'w' is 1e\+200"),
    ],
)
def test_weights_of_all_partitions(weights: list[Any], message: str) -> None:
    frames = [frame_of({"x": [1.0, 2.0], "y": ["a", "b"], "w": part}) for part in weights]
    with pytest.raises(DataError, match=message):
        described(reduce(merge, (summarize(frame, "y", "w", None) for frame in frames)))


def test_a_part_may_have_no_weight_at_all() -> None:
    frames = [frame_of({"x": [1.0, 2.0], "y": ["a", "b"], "w": part}) for part in ([0.0, 0.0], [0.0, 2.0])]
    schema = described(reduce(merge, (summarize(frame, "y", "w", None) for frame in frames)))
    assert [encode_partition(frame, schema, "y", "w").weight.tolist() for frame in frames] == [[0, 0], [0, 2]]


def test_no_partitions_at_all() -> None:
    some = summarize(frame_of({"x": [1.0], "y": [2.0]}), "y", None, None)
    assert merge(NOTHING, some) == merge(some, NOTHING) == some
    with pytest.raises(DataError, match="The table is empty: it has no rows"):
        described(NOTHING)
