"""The door for tables: every kind of table gives the same Frame, and what is no table is refused in words."""

from __future__ import annotations

import datetime as dt
import enum
import importlib.util
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from table_makers import MAKERS, Columns

from treewright.data.kinds import levels_of
from treewright.data.reader import Frame, RawColumn, pop_column, read, read_column
from treewright.errors import DataError

make_each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
Maker = Callable[[Columns], Any]

DAY = 86_400_000_000
BERLIN = dt.timezone(dt.timedelta(hours=2))


def one(data: Any, **options: Any) -> RawColumn:
    (column,) = read(data, **options).columns
    return column


def numbers(column: RawColumn) -> list[float | None]:
    assert column.values.dtype in (np.float32, np.float64)
    assert column.levels is None
    return [None if np.isnan(value) else value for value in column.values.tolist()]


def values(column: RawColumn) -> list[Any]:
    assert column.values.dtype == np.int32
    assert column.levels is not None
    return [None if code < 0 else column.levels[code] for code in column.values.tolist()]


# --- the same in every table ----------------------------------------------------------------------------------------


@make_each
def test_numbers_with_missing(make: Maker) -> None:
    frame = read(make({"whole": [1, None, -3], "real": [1.5, float("nan"), None], "text": ["a", "b", None]}))
    assert frame.names == ("whole", "real", "text")
    assert (frame.n_rows, frame.named) == (3, True)
    assert [column.kind for column in frame.columns] == ["numeric", "numeric", "nominal"]
    assert numbers(frame.columns[0]) == [1, None, -3]
    assert numbers(frame.columns[1]) == [1.5, None, None]
    assert frame.columns[1].missing.tolist() == [False, True, True]
    assert frame.columns[2].missing.tolist() == [False, False, True]


@make_each
def test_text_is_sorted_and_undeclared(make: Maker) -> None:
    column = one(make({"a": ["red", None, "blue", "red", "Green", "é"]}))
    assert column.kind == "nominal"
    assert column.levels == ("Green", "blue", "red", "é")
    assert not column.declared
    assert values(column) == ["red", None, "blue", "red", "Green", "é"]


@make_each
def test_booleans(make: Maker) -> None:
    column = one(make({"a": [True, None, False]}))
    assert column.kind == "boolean"
    assert column.levels == (False, True)
    assert values(column) == [True, None, False]
    assert values(one(make({"a": [True, True]}))) == [True, True]


@make_each
@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("date", [dt.date(1970, 1, 2), None, dt.date(1969, 12, 31)], [DAY, None, -DAY]),
        ("datetime", [dt.datetime(1970, 1, 1, 0, 0, 1, 7), None, dt.datetime(1969, 12, 31)], [1_000_007, None, -DAY]),  # noqa: DTZ001
        ("datetime", [dt.datetime(1970, 1, 1, 2, tzinfo=BERLIN), None], [0, None]),
        ("time", [dt.time(0, 0, 1, 5), None, dt.time(23)], [1_000_005, None, 23 * 3_600_000_000]),
        ("duration", [dt.timedelta(microseconds=1500), None, dt.timedelta(days=-1)], [1500, None, -DAY]),
        ("numeric", [Decimal("1.25"), None, Decimal(3)], [1.25, None, 3]),
    ],
)
def test_times_and_decimals(make: Maker, kind: str, given: list[Any], expected: list[float | None]) -> None:
    if make.__name__ == "duckdb_relation" and kind == "duration":
        pytest.skip("DuckDB has only intervals with months, which have no fixed length")
    column = one(make({"a": given}))
    assert column.kind == kind
    assert numbers(column) == expected


@make_each
def test_no_values_at_all(make: Maker) -> None:
    column = one(make({"a": [None, None]}))
    assert column.all_missing
    assert column.missing.tolist() == [True, True]


@make_each
def test_large_integers_are_not_rounded(make: Maker) -> None:
    column = one(make({"a": [2**53 + 1, 2**53 + 2, 7]}))
    assert column.kind == "numeric"
    assert values(column) == [2**53 + 1, 2**53 + 2, 7]
    assert numbers(one(make({"a": [2**53, -(2**53)]}))) == [2**53, -(2**53)]


@make_each
def test_only_what_is_requested_is_read(make: Maker) -> None:
    columns: Columns = {"a": [1, 2], "odd": [[1], [2]], "b": ["x", "y"]}
    frame = read(make(columns), only={"b", "a", "absent"})
    assert frame.names == ("a", "b")
    assert frame.n_rows == 2
    assert read(make(columns), only={"absent"}).names == ()


@make_each
def test_nameless_goes_by_place(make: Maker) -> None:
    frame = read(make({"x1": [1, 2], "x0": [3, 4]}), nameless=True)
    assert frame.names == ("x0", "x1")
    assert not frame.named
    assert numbers(frame.columns[0]) == [1, 2]


@make_each
@pytest.mark.parametrize("given", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"]], ids=["list", "struct", "binary"])
def test_what_no_tree_can_ask_about(make: Maker, given: list[Any]) -> None:
    with pytest.raises(DataError, match=r"column 'odd' has the type \w+.*drop it"):
        read(make({"odd": given}))


TEXTS = st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4))


@settings(deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            TEXTS,
            st.one_of(st.none(), st.integers(-(2**53), 2**53)),
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            st.one_of(st.none(), st.booleans()),
            st.one_of(st.none(), st.dates()),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_every_table_gives_the_same_frame(rows: list[tuple[Any, ...]]) -> None:
    types = (pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32())
    table = pa.table({f"c{i}": pa.array([row[i] for row in rows], type=types[i]) for i in range(5)})
    reference = read({name: table[name].to_pylist() for name in table.column_names})
    arrow_types = table.to_pandas(types_mapper=pd.ArrowDtype)
    for other in (table, pl.DataFrame(table), table.to_pandas(), arrow_types, duckdb.from_arrow(table)):
        for ours, theirs in zip(read(other).columns, reference.columns, strict=True):
            if theirs.all_missing:
                assert ours.all_missing
                continue
            assert (ours.name, ours.kind, ours.levels) == (theirs.name, theirs.kind, theirs.levels)
            np.testing.assert_array_equal(ours.values, theirs.values)


# --- declared levels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (pd.DataFrame({"a": pd.Categorical(["b", None], ["c", "b", "a"])}), "nominal"),
        (pd.DataFrame({"a": pd.Categorical(["b", None], ["c", "b", "a"], ordered=True)}), "ordinal"),
        (pl.DataFrame({"a": pl.Series(["b", None], dtype=pl.Enum(["c", "b", "a"]))}), "ordinal"),
        (pa.table({"a": pa.DictionaryArray.from_arrays([1, None], ["c", "b", "a"])}), "nominal"),
        (pa.table({"a": pa.DictionaryArray.from_arrays([1, None], ["c", "b", "a"], ordered=True)}), "ordinal"),
        ({"a": pd.Categorical(["b", None], ["c", "b", "a"], ordered=True)}, "ordinal"),
        ({"a": pa.DictionaryArray.from_arrays([1, None], ["c", "b", "a"])}, "nominal"),
    ],
)
def test_declared_levels_keep_their_order(data: Any, kind: str) -> None:
    column = one(data)
    assert column.kind == kind
    assert column.levels == ("c", "b", "a")
    assert column.declared
    assert values(column) == ["b", None]


def test_duckdb_enum_keeps_its_order() -> None:
    column = one(duckdb.sql("select unnest(['b', null])::enum('c', 'b', 'a') as a"))
    assert (column.kind, column.levels) == ("nominal", ("c", "b", "a"))
    assert values(column) == ["b", None]


def test_polars_categorical_declares_nothing() -> None:
    pl.Series(["zebra", "b"], dtype=pl.Categorical)  # polars may number these first; that must not show
    column = one(pl.DataFrame({"a": pl.Series(["b", None, "a"], dtype=pl.Categorical)}))
    assert (column.kind, column.levels, column.declared) == ("nominal", ("a", "b"), False)
    assert values(column) == ["b", None, "a"]


def test_arrow_chunks_may_each_have_a_dictionary() -> None:
    chunks = [pa.array(given).dictionary_encode() for given in (["b", None], ["a", "b"])]
    column = one(pa.table({"a": pa.chunked_array(chunks)}))
    assert values(column) == ["b", None, "a", "b"]


def test_arrow_dictionary_may_hold_nulls_and_repeat_itself() -> None:
    column = one(pa.table({"a": pa.DictionaryArray.from_arrays([0, 1, 2], ["q", None, "q"])}))
    assert column.levels == ("q",)
    assert values(column) == ["q", None, "q"]


def test_levels_of_other_types() -> None:
    frame = read(
        pd.DataFrame(
            {
                "number": pd.Categorical([3, 1], [3, 2, 1]),
                "interval": pd.cut([1, 5], [0, 2, 6]),
                "day": pd.Categorical([dt.date(2020, 1, 1), None]),
            }
        )
    )
    assert [column.levels for column in frame.columns] == [(3, 2, 1), ("(0, 2]", "(2, 6]"), ("2020-01-01",)]
    assert frame.columns[1].kind == "ordinal"


# --- particular libraries -------------------------------------------------------------------------------------------


def test_pandas_nullable_types() -> None:
    frame = read(
        pd.DataFrame(
            {
                "i": pd.array([1, None], dtype="Int64"),
                "b": pd.array([True, None], dtype="boolean"),
                "s": pd.array(["a", None], dtype="string"),
                "f": pd.array([1.5, None], dtype="Float32"),
                "o": np.array([1, pd.NA], dtype=object),
                "t": [pd.Timestamp("1970-01-01", tz="Europe/Berlin"), pd.NaT],
                "n": pd.Series(["1970-01-01 00:00:00.000000999", None], dtype="datetime64[ns]"),
                "sparse": pd.arrays.SparseArray([0.0, 1.0]),
            }
        )
    )
    assert numbers(frame.columns[0]) == [1, None]
    assert values(frame.columns[1]) == [True, None]
    assert values(frame.columns[2]) == ["a", None]
    assert numbers(frame.columns[3]) == [1.5, None]
    assert numbers(frame.columns[4]) == [1, None]
    assert numbers(frame.columns[5]) == [-3_600_000_000, None]
    assert numbers(frame.columns[6]) == [0, None]
    assert numbers(frame.columns[7]) == [0, 1]


@pytest.mark.parametrize("odd", [pd.period_range("2020", periods=2, freq="M"), pd.interval_range(0, 2)])
def test_pandas_types_without_a_meaning_here(odd: Any) -> None:
    with pytest.raises(DataError, match=r"column 'a' has the type (period|interval)"):
        read(pd.DataFrame({"a": odd}))


def test_polars_wide_integers() -> None:
    frame = read(
        pl.DataFrame({"a": pl.Series([2**100, None], dtype=pl.Int128), "b": pl.Series([7, 8], dtype=pl.Int128)})
    )
    assert values(frame.columns[0]) == [2**100, None]
    assert numbers(frame.columns[1]) == [7, 8]


def test_duckdb_hugeint_is_not_rounded() -> None:
    assert values(one(duckdb.sql(f"select {2**53 + 1}::hugeint as a"))) == [2**53 + 1]
    assert numbers(one(duckdb.sql("select 7::hugeint as a"))) == [7]


def test_arrow_days_in_milliseconds() -> None:
    assert numbers(one(pa.table({"a": pa.array([dt.date(1970, 1, 2), None], type=pa.date64())}))) == [DAY, None]


@pytest.mark.parametrize("stream", [pa.record_batch({"a": [1, 2]}), pa.table({"a": [1, 2]}).to_reader()])
def test_any_arrow_stream(stream: Any) -> None:
    assert numbers(one(stream)) == [1, 2]


class Stream:
    """Nothing but an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested_schema)


def test_arrow_without_pyarrow_uses_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else real(name))
    assert numbers(one(Stream())) == [1, 2]


def test_arrow_without_a_reader_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="reading a Stream needs an Arrow reader: pip install pyarrow"):
        read(Stream())


def test_narwhals_frames_are_tables_too() -> None:
    assert numbers(one(nw.from_native(pl.DataFrame({"a": [1, 2]})))) == [1, 2]
    assert numbers(one(nw.from_native(pl.LazyFrame({"a": [1, 2]})))) == [1, 2]


def test_a_frame_is_itself() -> None:
    frame = read({"a": [1]})
    assert read(frame) is frame


# --- numpy and rows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "i1", "i4", "i8", "u8", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_numbers(dtype: str, order: Any) -> None:
    array = np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype, order=order)
    frame = read(array)
    assert frame.names == ("x0", "x1", "x2")
    assert not frame.named
    assert [numbers(column) for column in frame.columns] == [[1, 4], [2, 5], [3, 6]]
    assert frame.columns[0].whole == (array.dtype.kind in "iu")
    assert numbers(read(array[::-1, ::2]).columns[1]) == [6, 3]


def test_numpy_many_rows() -> None:
    array = np.random.default_rng(0).normal(size=(10_000, 3)).astype(np.float32)
    for place, column in enumerate(read(array).columns):
        np.testing.assert_array_equal(column.values, array[:, place])


def test_numpy_is_not_copied_without_need() -> None:
    array = np.asfortranarray(np.ones((5, 2)))
    assert np.shares_memory(read(array).columns[0].values, array)
    assert np.shares_memory(one({"a": array[:, 0]}).values, array)


def test_numpy_objects() -> None:
    frame = read(np.array([[1, "a", None, True, "q"], [2.5, None, None, False, 3]], dtype=object))
    assert [column.kind for column in frame.columns] == ["numeric", "nominal", "nominal", "boolean", "nominal"]
    assert numbers(frame.columns[0]) == [1, 2.5]
    assert values(frame.columns[1]) == ["a", None]
    assert frame.columns[4].levels == (3, "q")


def test_numpy_other_types() -> None:
    assert values(one(np.array([["b"], ["a"]]))) == ["b", "a"]
    assert values(one(np.array([[True], [False]]))) == [True, False]
    assert numbers(one(np.array([["1970-01-02"], ["NaT"]], dtype="M8[D]"))) == [DAY, None]
    assert one(np.array([["1970-01-02"]], dtype="M8[s]")).kind == "datetime"
    assert numbers(one(np.array([[1500]], dtype="m8[ns]"))) == [1]
    structured = read(np.array([(1, "a"), (2, "b")], dtype=[("n", "i4"), ("s", "U3")]))
    assert structured.names == ("n", "s")
    assert structured.named
    assert values(one(np.array([[2**63], [1]], dtype=np.uint64))) == [2**63, 1]
    assert numbers(one({"a": [np.datetime64("1970-01-02"), None]})) == [DAY, None]
    assert numbers(one({"a": [np.timedelta64(2, "ms"), None]})) == [2000, None]
    with pytest.raises(DataError, match=r"column 'x0' has the type \|S1"):
        read(np.array([[b"a"]]))
    text = np.array(["x", None], dtype=np.dtypes.StringDType(na_object=None))
    assert values(one({"a": text})) == ["x", None]


def test_numpy_matrix() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[1, 2], [3, 4]])
    assert [numbers(column) for column in read(matrix).columns] == [[1, 3], [2, 4]]


def test_numpy_masked_places_are_missing() -> None:
    mask = [[False], [True]]
    assert numbers(one(np.ma.array([[1.0], [2.0]], mask=mask))) == [1, None]
    assert numbers(one(np.ma.array([[1], [2]], mask=mask))) == [1, None]
    assert values(one(np.ma.array([[True], [True]], mask=mask))) == [True, None]
    assert numbers(one(np.ma.array(np.array([["1970-01-02"]] * 2, dtype="M8[ns]"), mask=mask))) == [DAY, None]


def test_rows_in_lists() -> None:
    assert [numbers(column) for column in read([[1, 2], [3, 4]]).columns] == [[1, 3], [2, 4]]
    mixed = read([(1, "a"), (2, None)])
    assert numbers(mixed.columns[0]) == [1, 2]
    assert values(mixed.columns[1]) == ["a", None]
    ragged = read([{"a": 1}, {"b": "x"}])
    assert numbers(ragged.columns[0]) == [1, None]
    assert values(ragged.columns[1]) == [None, "x"]


def test_objects_of_one_kind() -> None:
    frame = read(
        {
            "numbers": [Fraction(1, 2), Decimal("0.25"), 3, np.float32(1), float("nan")],
            "moments": [
                dt.date(1970, 1, 2),
                dt.datetime(1970, 1, 1),  # noqa: DTZ001
                pd.Timestamp(0, tz="UTC"),
                np.datetime64("NaT"),
                None,
            ],
            "clock": [dt.time(1, tzinfo=BERLIN), dt.time(2), None, None, None],
            "truth": [True, np.True_, False, None, None],
            "count": [True, 2, 2, 2, 2],
            "mixed": ["b", 2, 1.5, dt.date(2020, 1, 1), None],
        }
    )
    assert numbers(frame.columns[0]) == [0.5, 0.25, 3, 1, None]
    assert numbers(frame.columns[1]) == [DAY, 0, 0, None, None]
    assert numbers(frame.columns[2])[:2] == [23 * 3_600_000_000, 2 * 3_600_000_000]
    assert frame.columns[3].kind == "boolean"
    assert numbers(frame.columns[4]) == [1, 2, 2, 2, 2]
    assert frame.columns[5].levels == (1.5, 2, "2020-01-01", "b")


@pytest.mark.parametrize("odd", [object(), (1, 2), ([1],), {1}, 1j, np.array([1])], ids=lambda odd: type(odd).__name__)
def test_objects_no_tree_can_ask_about(odd: object) -> None:
    cells = np.empty(2, dtype=object)
    cells[0] = "text"
    cells[1] = odd
    with pytest.raises(DataError, match="column 'a'"):
        read({"a": cells})


@pytest.mark.parametrize("large", [10**400, Decimal("1e40"), 2**60, np.uint64(2**63)], ids=str)
def test_objects_beyond_exactness(large: Any) -> None:
    assert values(one({"a": [large, 1, None, large, 2.5]})) == [large, 1, None, large, 2.5]


def test_infinite_objects() -> None:
    assert numbers(one({"a": [1, float("inf"), None]})) == [1, np.inf, None]
    assert numbers(one({"a": [Decimal("1.5"), Decimal("Infinity")]})) == [1.5, np.inf]


def test_infinite_levels() -> None:
    with pytest.raises(DataError, match="column 'a' has the level inf"):
        read({"a": ["x", float("inf")]})


# --- what is no table -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [None, 5, b"abc", {1, 2}, object(), range(3)], ids=lambda data: type(data).__name__)
def test_no_table(data: object) -> None:
    with pytest.raises(DataError, match=f"expected a pandas.*got {type(data).__name__}"):
        read(data)


@pytest.mark.parametrize(
    "data",
    [[], [1, 2], np.ones(3), pd.Series([1]), pl.Series([1]), pa.chunked_array([[1]])],
    ids=["empty list", "list", "numpy", "pandas", "polars", "pyarrow"],
)
def test_one_dimension(data: object) -> None:
    with pytest.raises(DataError, match=r"(?s)Expected 2D array, got 1D array instead.*Reshape your data"):
        read(data)


def test_other_dimensions() -> None:
    with pytest.raises(DataError, match="Expected 2D array, got scalar array instead"):
        read(np.float64(3))
    with pytest.raises(DataError, match="Found array with dim 3"):
        read(np.ones((2, 2, 2)))
    with pytest.raises(DataError, match="is not a table"):
        read(pa.array([1]))
    with pytest.raises(DataError, match="rows differ in length"):
        read([[1, 2], [3]])


@pytest.mark.parametrize("data", [scipy.sparse.csr_matrix(np.eye(2)), scipy.sparse.coo_array(np.eye(2))])
def test_sparse(data: object) -> None:
    with pytest.raises(TypeError, match=r"Sparse data was passed, but dense data is required.*toarray"):
        read(data)
    with pytest.raises(TypeError, match="Sparse"):
        read_column(data, "y")


@pytest.mark.parametrize("data", [np.ones((2, 2)) * 1j, [[1j]], pd.DataFrame({"x0": [1j]}), {"x0": [1j]}])
def test_complex(data: object) -> None:
    with pytest.raises(ValueError, match=r"Complex data not supported: column 'x0'"):
        read(data)


@pytest.mark.parametrize("data", [{}, np.ones((3, 0)), pd.DataFrame(), pl.DataFrame(), pa.table({})])
def test_no_columns(data: object) -> None:
    with pytest.raises(DataError, match=r"0 feature\(s\) \(shape=\(\d, 0\)\) while a minimum of 1 is required."):
        read(data)


@pytest.mark.parametrize(
    "data", [{"a": []}, np.ones((0, 1)), pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": []})]
)
def test_no_rows(data: object) -> None:
    with pytest.raises(DataError, match=r"0 sample\(s\) \(shape=\(0, 1\)\) while a minimum of 1 is required.*no rows"):
        read(data)


def test_names_that_are_no_strings() -> None:
    frame = pd.DataFrame(np.ones((2, 2)))
    with pytest.raises(DataError, match=r"0, 1 \(int\).*df.columns = df.columns.astype\(str\)"):
        read(frame)
    assert read(frame, nameless=True).names == ("x0", "x1")
    with pytest.raises(DataError, match=r"\('a', 'b'\) \(tuple\)"):
        read(pd.DataFrame({("a", "b"): [1]}))
    with pytest.raises(DataError, match=r"1 \(int\)"):
        read({1: [2]})


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2], [3]], names=["a", "b", "a"]),
        duckdb.sql("select 1 as a, 2 as b, 3 as a"),
    ],
    ids=["pandas", "pyarrow", "duckdb"],
)
def test_names_that_occur_twice(data: object) -> None:
    with pytest.raises(DataError, match="must be unique, but 'a' occurs more than once"):
        read(data)
    assert read(data, nameless=True).names == ("x0", "x1", "x2")


def test_dict_columns_must_be_columns() -> None:
    with pytest.raises(DataError, match="column 'a' is a single int"):
        read({"a": 5})
    with pytest.raises(DataError, match="column 'a' is a single str"):
        read({"a": "text"})
    with pytest.raises(DataError, match="column 'a' is a single ndarray"):
        read({"a": np.array(3)})
    with pytest.raises(DataError, match="'a' has 1 rows, 'b' has 2"):
        read({"a": [1], "b": [1, 2]})
    with pytest.raises(DataError, match=r"'a' should be a 1d array, got an array of shape \(2, 2\)"):
        read({"a": np.ones((2, 2))})


# --- one column -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        [1, 2],
        (1, 2),
        range(1, 3),
        np.array([1, 2]),
        pd.Series([1, 2], index=[7, 8], name="other"),
        pd.Index([1, 2]),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        pa.chunked_array([[1], [2]]),
        nw.from_native(pl.Series([1, 2]), series_only=True),
    ],
    ids=lambda given: type(given).__module__.split(".")[0] + type(given).__name__,
)
def test_a_column_by_itself(given: object) -> None:
    column = read_column(given, "y")
    assert column.name == "y"
    assert column.whole
    assert numbers(column) == [1, 2]


@pytest.mark.parametrize("given", [None, 5, "text", np.ones((3, 1)), pd.DataFrame({"a": [1]})], ids=str)
def test_what_is_no_column(given: object) -> None:
    with pytest.raises(DataError, match="'y' should be a 1d array"):
        read_column(given, "y")


def test_pop_column() -> None:
    frame = read({"outlook": ["sunny"], "play": ["no"], "wind": [1]})
    target, rest = pop_column(frame, "play")
    assert target.name == "play"
    assert rest.names == ("outlook", "wind")
    assert rest.n_rows == 1
    assert frame.names == ("outlook", "play", "wind")
    with pytest.raises(DataError, match="the target 'plya' is not a column of the table; did you mean 'play'"):
        pop_column(frame, "plya")
    with pytest.raises(DataError, match=r"the weight 'qqq' is not a column.*'outlook', 'play', 'wind'"):
        pop_column(frame, "qqq", "weight")


def test_text_of_values() -> None:
    frame = read({"n": [None, 1.5], "s": [None, "a"], "d": [None, dt.date(2024, 5, 1)]})
    assert [column.example() for column in frame.columns] == ["1.5", "'a'", "2024-05-01"]
    assert [column.text(0) for column in frame.columns] == ["missing"] * 3


def test_frames_are_frozen() -> None:
    frame = Frame((), 0)
    with pytest.raises(AttributeError):
        frame.n_rows = 3


#: An enumeration whose str() is its name, not its text, as those of older Pythons are.
Colour = enum.Enum("Colour", {"RED": "red"}, type=str)


def test_text_enumerations_are_their_text() -> None:
    assert read_column([Colour.RED, "blue"], "c").levels == ("blue", "red")


# --- the same value, however it comes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    ["Int8", "Int64", "UInt64", "Float32", "Float64", "boolean", "string", "category", "object", "datetime64[ns]"],
)
def test_pandas_columns_without_values_are_missing(dtype: str) -> None:
    frame = read(pd.DataFrame({"x": pd.Series([None, None], dtype=dtype), "y": [1, 2]}))
    assert frame.columns[0].all_missing


@pytest.mark.parametrize("dtype", [pl.Null, pl.Int64, pl.Float64, pl.String, pl.Boolean, pl.Categorical, pl.Decimal])
def test_polars_columns_without_values_are_missing(dtype: Any) -> None:
    assert read(pl.DataFrame({"x": pl.Series([None, None], dtype=dtype)})).columns[0].all_missing


@pytest.mark.parametrize("kind", [pa.null(), pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.decimal128(10, 2)])
def test_arrow_columns_without_values_are_missing(kind: Any) -> None:
    assert read(pa.table({"x": pa.array([None, None], kind)})).columns[0].all_missing


def test_decimals_are_rounded_as_python_rounds_them() -> None:
    values = [Decimal(number) / 10**6 for number in np.random.default_rng(0).integers(10**9, 10**15, 2000).tolist()]
    expected = np.array([float(value) for value in values])
    arrow = pa.table({"x": pa.array(values, pa.decimal128(20, 6))})
    polars = pl.DataFrame({"x": pl.Series(values, dtype=pl.Decimal(20, 6))})
    boxed = pd.DataFrame({"x": pd.array(values, dtype=pd.ArrowDtype(pa.decimal128(20, 6)))})
    for table in (arrow, polars, boxed, {"x": values}):
        np.testing.assert_array_equal(read(table).columns[0].values, expected)


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([True, 1], 1),
        ([1.0, 1], 1),
        ([True, 1.0], 1.0),
        ([np.bool_(True), np.int64(1)], 1),
        ([0.0, -0.0], 0.0),
        ([Decimal(1), True], 1),
    ],
)
def test_a_level_does_not_depend_on_the_order_of_rows(values: list[Any], level: Any) -> None:
    for order in (values, values[::-1]):
        found = read({"x": [*order, "text"]}).columns[0].levels
        assert repr(found) == repr((level, "text"))
        assert read({"x": order}).columns[0].kind == "numeric"


@pytest.mark.parametrize("values", [[0.0, -0.0], [-0.0, 0.0]])
def test_zero_is_one_level_without_a_sign(values: list[float]) -> None:
    assert repr(levels_of(read({"x": np.array(values)}).columns[0])[1]) == "(0.0,)"
