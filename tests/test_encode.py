"""Describing and coding: the core is given exactly what docs/boundary.md says, or there is an error in words."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_makers import MAKERS, Columns

import treewright as tw
from treewright.data.encoding import (
    ColumnCountError,
    Encoded,
    column_count_message,
    describe,
    describe_target,
    encode,
    encode_target,
    encode_weight,
)
from treewright.data.kinds import kinds_from_categorical_features, levels_of
from treewright.data.reader import Frame, pop_column, read, read_column
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.data.survey import survey
from treewright.data.value_text import decode
from treewright.errors import DataError

make_each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
Maker = Callable[[Columns], Any]

WEATHER: Columns = {
    "outlook": ["sunny", "overcast", None, "rain", "rain"],
    "wind": [1.5, None, 2.5, 3.0, 0.0],
    "humid": [True, False, None, True, False],
    "day": [dt.date(1970, 1, 2), dt.date(1970, 1, 1), dt.date(1970, 1, 3), None, dt.date(1970, 1, 1)],
    "play": ["no", "yes", "yes", "yes", "no"],
    "weight": [1, 2, 3, 0, 1],
}
DAY = 86_400_000_000


def one_schema(spec: ColumnSpec) -> Schema:
    return Schema((spec,), TargetSpec("y", "regression"))


def predict_one(spec: ColumnSpec, values: Any, unseen: Any = "missing") -> list[Any]:
    """A column named a, coded as at prediction."""
    data = values if isinstance(values, Frame) else read({"a": values})
    column = encode(data, one_schema(spec), training=False, unseen=unseen).columns[0]
    return [None if value != value else value for value in column.tolist()]


def kinds_of(data: dict[str, Any], **kinds: Any) -> tuple[ColumnSpec, ...]:
    frame = read(data)
    target = read_column([0.5] * frame.n_rows, "y")
    return describe(frame, target, kinds=kinds).columns


NUMERIC = ColumnSpec("a", "numeric")
SIZES = ColumnSpec("a", "ordinal", ("S", "M", "L"))
TRUTH = ColumnSpec("a", "boolean", (False, True))
CODES = ColumnSpec("a", "nominal", (1, 2, 3))


# --- the whole road -------------------------------------------------------------------------------------------------


@make_each
def test_the_whole_road(make: Maker) -> None:
    target, rest = pop_column(read(make(WEATHER)), "play")
    weight, rest = pop_column(rest, "weight", "weight")
    schema = describe(rest, target)
    assert schema == Schema(
        (
            ColumnSpec("outlook", "nominal", ("overcast", "rain", "sunny")),
            ColumnSpec("wind", "numeric"),
            ColumnSpec("humid", "boolean", (False, True)),
            ColumnSpec("day", "date"),
        ),
        TargetSpec("play", "classification", ("no", "yes")),
    )
    encoded = encode(rest, schema, training=True, target=target, weight=weight)
    assert encoded.kinds == (2, 0, 2, 0)
    assert encoded.levels == (3, 0, 2, 0)
    assert (encoded.n_rows, encoded.n_classes) == (5, 2)
    for column, spec in zip(encoded.columns, schema.columns, strict=True):
        assert column.dtype == (np.int32 if spec.has_levels else np.float64)
        assert column.flags.c_contiguous
        assert column.shape == (5,)
    assert encoded.columns[0].tolist() == [2, 0, -1, 1, 1]
    np.testing.assert_array_equal(encoded.columns[1], [1.5, np.nan, 2.5, 3.0, 0.0])
    assert encoded.columns[2].tolist() == [1, 0, -1, 1, 0]
    np.testing.assert_array_equal(encoded.columns[3], [DAY, 0, 2 * DAY, np.nan, 0])
    assert encoded.target is not None
    assert encoded.target.dtype == np.int32
    assert encoded.target.tolist() == [0, 1, 1, 1, 0]
    assert encoded.weight is not None
    assert encoded.weight.dtype == np.float64
    assert encoded.weight.tolist() == [1, 2, 3, 0, 1]


@make_each
def test_prediction_goes_by_name(make: Maker) -> None:
    target, rest = pop_column(read(WEATHER), "play")
    schema = describe(rest, target)
    shuffled = {name: WEATHER[name] for name in ("weight", "day", "humid", "wind", "outlook")}
    again = encode(read(make({"extra": [[1]] * 5, **shuffled}), only=schema.names), schema, training=False)
    for ours, theirs in zip(again.columns, encode(rest, schema, training=True).columns, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_prediction_goes_by_place_without_names() -> None:
    schema = describe(read({"a": [1, 2], "b": ["x", "y"]}), read_column([1.0, 2.0], "y"))
    encoded = encode(read(np.array([[5, "y"], [6, "q"]], dtype=object)), schema, training=False)
    assert [column.tolist() for column in encoded.columns] == [[5, 6], [1, -2]]
    named = encode(read({"q": [5], "r": ["x"]}, nameless=True), schema, training=False)
    assert [column.tolist() for column in named.columns] == [[5], [0]]


def test_wrong_number_of_columns() -> None:
    schema = describe(read(np.ones((3, 4))), read_column([1.0, 2.0, 3.0], "y"))
    with pytest.raises(
        ColumnCountError, match="X has 3 features, but the tree is expecting 4 features as input"
    ) as error:
        encode(read(np.ones((3, 3))), schema, training=False)
    assert (error.value.given, error.value.expected) == (3, 4)
    assert column_count_message(3, 4, "CARTClassifier") == (
        "X has 3 features, but CARTClassifier is expecting 4 features as input."
    )


def test_absent_columns_are_all_named() -> None:
    names = [f"column{place}" for place in range(15)]
    schema = describe(read({name: [1, 2] for name in names}), read_column([1.0, 2.0], "y"))
    with pytest.raises(
        DataError, match=r"lacks the columns 'column1', .*'column14'.*it has 'column0', 'other'"
    ) as error:
        encode(read({"column0": [1], "other": [2]}), schema, training=False)
    assert all(repr(name) in str(error.value) for name in names)
    with pytest.raises(DataError, match="it has 'column0', 'other'"):
        encode(read({"column0": [1], "other": [2]}, only=schema.names), schema, training=False)
    with pytest.raises(DataError, match="it has 'other', 'name'"):
        encode(read(pd.DataFrame({"other": [1], "name": [2]}), only=schema.names), schema, training=False)
    with pytest.raises(DataError, match="it has 'other'"):
        encode(read(pl.LazyFrame({"other": [1]}), only=()), schema, training=False)
    with pytest.raises(DataError, match="lacks the column 'column14',"):
        encode(read({name: [1] for name in names[:-1]}), schema, training=False)


# --- kinds ----------------------------------------------------------------------------------------------------------


def test_kinds_by_name() -> None:
    data = {"a": [3, 1, None, 3], "b": [True, False, True, None], "c": ["x", "y", "z", "x"], "d": [0, 1, 1, 0]}
    assert kinds_of(data, a="nominal", b="ordinal", c="ordinal", d="boolean") == (
        ColumnSpec("a", "nominal", (1, 3)),
        ColumnSpec("b", "ordinal", (False, True)),
        ColumnSpec("c", "ordinal", ("x", "y", "z")),
        ColumnSpec("d", "boolean", (False, True)),
    )
    assert kinds_of({"a": pd.Categorical([3, 1, 2]), "b": [True, False, True]}, a="numeric", b="numeric") == (
        ColumnSpec("a", "numeric"),
        ColumnSpec("b", "numeric"),
    )
    moments = [dt.datetime(2024, 5, 1), dt.datetime(2024, 5, 1, 12)]  # noqa: DTZ001
    assert kinds_of({"a": moments, "b": moments}, a="nominal", b="date") == (
        ColumnSpec("a", "nominal", ("2024-05-01", "2024-05-01 12:00")),
        ColumnSpec("b", "date"),
    )


def test_kinds_as_levels_mean_ordinal_in_that_order() -> None:
    (spec,) = kinds_of({"a": ["M", "S", None]}, a=["S", "M", "L"])
    assert spec == SIZES
    assert kinds_of({"a": [2, 1]}, a=(2, 1)) == (ColumnSpec("a", "ordinal", (2, 1)),)
    with pytest.raises(
        DataError, match=r"column 'a' has 'XL' in row 1, which kinds\['a'\] does not list.*'S', 'M', 'L'"
    ):
        kinds_of({"a": ["M", "XL"]}, a=("S", "M", "L"))
    with pytest.raises(DataError, match=r"kinds\['a'\] lists a level twice"):
        kinds_of({"a": ["M", "S"]}, a=("S", "M", "S"))
    with pytest.raises(DataError, match=r"kinds\['a'\] must list text, numbers or truth values"):
        kinds_of({"a": ["M", "S"]}, a=("S", "M", None))


def test_kinds_that_are_not_there() -> None:
    with pytest.raises(DataError, match="kinds names 'agee', but the table has only 'age', 'y'"):
        kinds_of({"age": [1, 2]}, agee="nominal")
    with pytest.raises(DataError, match=r"kinds\['a'\] is 'number'; choose from 'numeric', 'nominal'"):
        kinds_of({"a": [1, 2]}, a="number")
    with pytest.raises(DataError, match=r"kinds\['a'\] must be the name of a kind or a list of levels, not 5"):
        kinds_of({"a": [1, 2]}, a=5)


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ([1, "abc", "def"], "numeric", "'abc' in row 1 is not a number"),
        (["1", "2"], "numeric", "'1' in row 0 is not a number"),
        ([dt.date(2024, 5, 1)] * 2, "numeric", "2024-05-01 in row 0 is not a number"),
        ([0, 1, 2], "boolean", "2 in row 2 is not true or false"),
        ([None, "yes"], "boolean", "'yes' in row 1 is not true or false"),
        ([1.5, 2], "date", "1.5 in row 0 is not a date"),
        (["2024-05-01", None], "datetime", "'2024-05-01' in row 0 is not a datetime"),
        ([dt.time(3), None], "duration", "03:00 in row 0 is not a duration"),
        ([dt.timedelta(1), None], "time", "1 day in row 0 is not a time of day"),
    ],
)
def test_kinds_that_cannot_be(values: list[Any], kind: str, words: str) -> None:
    with pytest.raises(DataError, match=f"column 'a' cannot be {kind}: {words}; convert the column first"):
        kinds_of({"a": values}, a=kind)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("from_dtype", {}),
        (["code"], {"code": "nominal", "category": "numeric"}),
        ([0, 1], {"code": "nominal"}),
        (np.array([1]), {}),
        ([False, True, False, False, True], {"when": "nominal"}),
        (np.array([True, True, True, True, False]), {"code": "nominal"}),
        (None, {"category": "numeric"}),
        ([], {"category": "numeric"}),
        (pd.Index(["size", "category"]), {}),
    ],
)
def test_categorical_features(choice: Any, expected: dict[str, str]) -> None:
    frame = read(
        pd.DataFrame(
            {
                "code": [1, 2],
                "category": pd.Categorical([7, 8]),
                "size": pd.Categorical(["S", "M"], ["S", "M"], ordered=True),
                "truth": [True, False],
                "when": [dt.datetime(2024, 5, 1)] * 2,  # noqa: DTZ001
            }
        )
    )
    assert kinds_from_categorical_features(choice, frame) == expected


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("auto", "categorical_features='auto' is not known"),
        (["b"], "categorical_features names 'b', but the table has 'a'"),
        ([1], "has the place 1, but places run from 0 to 0"),
        ([-1], "has the place -1"),
        ([True, False], "has 2 truth values for 1 columns"),
        (["a", 0], "only names, only places or only truth values"),
    ],
)
def test_categorical_features_that_cannot_be(choice: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        kinds_from_categorical_features(choice, read({"a": [1, 2]}))


def test_too_many_levels() -> None:
    names = [f"id{place}" for place in range(65_536)]
    with pytest.raises(DataError, match=r"column 'a' has 65536 levels, for example 'id0'.*Drop it, group.*declare it"):
        kinds_of({"a": names})
    assert len(kinds_of({"a": [*names[:-1], "id0"]})[0].levels or ()) == 65_535
    with pytest.raises(DataError, match="column 'a' has 65536 levels, for example 0"):
        kinds_of({"a": np.arange(65_536)}, a="nominal")


# --- what cannot be learned from ------------------------------------------------------------------------------------


def test_columns_without_values() -> None:
    for values in ([None, None], [np.nan, np.nan], pd.Categorical([None, None], ["x"])):
        with pytest.raises(DataError, match="column 'a' has no values, they are all missing; drop it"):
            kinds_of({"a": values})


def test_constant_columns_are_fine() -> None:
    assert kinds_of({"a": [1, 1], "b": ["x", "x"]})[1].levels == ("x",)


def test_one_row() -> None:
    with pytest.raises(DataError, match="1 sample"):
        describe(read({"a": [1]}), read_column([1.0], "y"))


def test_no_columns_besides_the_target() -> None:
    target, rest = pop_column(read({"y": [1, 2]}), "y")
    with pytest.raises(DataError, match="no columns besides the target 'y'"):
        describe(rest, target)


def test_a_target_that_is_also_a_column() -> None:
    frame = read(pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, np.nan]}))
    with pytest.raises(DataError, match="target 'y' is also a column of the table"):
        describe(read({"a": [1, 2], "y": ["u", "v"]}), read_column(["u", "v"], "y"))
    assert describe(frame, read_column([5.0, 6.0], "y")).names == ("a", "y")


def test_infinity() -> None:
    for values in ([1.0, np.inf], [-np.inf, 1.0]):
        encoded = encode(read({"a": values}), one_schema(NUMERIC), training=True)
        with pytest.raises(DataError, match=r"Input X contains infinity.*Column 'a' has -?inf in row [01]: replace it"):
            survey(encoded, one_schema(NUMERIC), 1)
    with pytest.raises(DataError, match="'a' has inf in row 1"):
        kinds_of({"a": [1.0, np.inf]}, a="nominal")


def test_integers_beyond_exactness() -> None:
    large = 2**53 + 1
    with pytest.raises(DataError, match=rf"column 'a' has {large} in row 1.*kinds=\{{'a': 'nominal'\}}, or scale it"):
        encode(read({"a": [1, large]}), one_schema(NUMERIC), training=True)
    assert predict_one(NUMERIC, pd.Categorical([1, 2], [large, 2, 1])) == [1, 2]  # an unused level does no harm
    (spec,) = kinds_of({"a": [1, large, large + 1]}, a="nominal")
    assert spec.levels == (1, large, large + 1)
    assert predict_one(spec, [large + 1, large, 1, 5]) == [2, 1, 0, -2]


# --- the target -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ([0.5, 1.5], {}, TargetSpec("y", "regression")),
        ([0, 1], {}, TargetSpec("y", "classification", (0, 1))),
        ([0, 1], {"task": "regression"}, TargetSpec("y", "regression")),
        ([0, 1], {"task": "classification"}, TargetSpec("y", "classification", (0, 1))),
        ([2, 1], {"choice": "nominal"}, TargetSpec("y", "classification", (1, 2))),
        ([1.0, 2.0], {"task": "classification"}, TargetSpec("y", "classification", (1.0, 2.0))),
        (["no", "yes"], {}, TargetSpec("y", "classification", ("no", "yes"))),
        ([True, False], {}, TargetSpec("y", "classification", (False, True))),
        ([True, False], {"task": "regression"}, TargetSpec("y", "regression")),
        (["low", "high"], {"choice": ("low", "high")}, TargetSpec("y", "classification", ("low", "high"))),
        (pd.Categorical(["a", "b"], ["b", "c", "a"]), {}, TargetSpec("y", "classification", ("b", "c", "a"))),
        (pd.Categorical([1, 2]), {"choice": "numeric"}, TargetSpec("y", "regression")),
        (["same", "same"], {}, TargetSpec("y", "classification", ("same",))),
    ],
)
def test_what_the_target_is(values: Any, options: dict[str, Any], expected: TargetSpec) -> None:
    spec = describe_target(read_column(values, "y"), **options)
    assert spec == expected
    assert [type(value) for value in spec.classes or ()] == [type(value) for value in expected.classes or ()]


def test_target_kind_from_kinds() -> None:
    frame, target = read({"a": [1, 2]}), read_column([2, 1], "y")
    assert describe(frame, target, kinds={"y": "nominal"}).target.classes == (1, 2)
    assert describe(frame, target, kinds={"y": (2, 1)}).target.classes == (2, 1)


def test_target_codes() -> None:
    classes = TargetSpec("y", "classification", ("b", "c", "a"))
    assert encode_target(read_column(["a", "b"], "y"), classes, 2).tolist() == [2, 0]
    numbers = encode_target(read_column([3, 4], "y"), TargetSpec("y", "regression"), 2)
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [3, 4]
    truth = encode_target(read_column([True, False], "y"), TargetSpec("y", "regression"), 2)
    assert truth.tolist() == [1, 0]
    with pytest.raises(DataError, match="target 'y' has the class 'q'; known are 'b', 'c', 'a'"):
        encode_target(read_column(["a", "q"], "y"), classes, 2)


@pytest.mark.parametrize("values", [["a", None, None], [1.0, np.nan, np.nan], pd.Categorical(["a", None, None])])
def test_missing_targets(values: Any) -> None:
    target = read_column(values, "play")
    words = "Input y contains NaN. The target 'play' is missing in 2 of 3 rows; drop those rows"
    with pytest.raises(DataError, match=words):
        describe(read({"a": [1, 2, 3]}), target)
    with pytest.raises(DataError, match=words):
        encode_target(target, TargetSpec("play", "regression"), 3)


def test_targets_that_cannot_be() -> None:
    with pytest.raises(DataError, match=r"Input y contains infinity.*Target 'y' has inf in row 1"):
        describe_target(read_column([1.0, np.inf], "y"))
    with pytest.raises(DataError, match="target 'y' cannot be a number: it has 'no' in row 0; learn classes"):
        describe_target(read_column(["no", "yes"], "y"), task="regression")
    with pytest.raises(DataError, match=f"target 'y' has {2**60}"):
        describe_target(read_column([2**60, 1], "y"), task="regression")
    with pytest.raises(DataError, match=r"target 'y' holds moments or durations \(date\)"):
        describe_target(read_column([dt.date(2024, 5, 1)], "y"))
    with pytest.raises(DataError, match="task must be 'classification' or 'regression', not 'ranking'"):
        describe_target(read_column([1, 2], "y"), task="ranking")


def test_a_class_of_its_own_for_every_row() -> None:
    names = [f"id{place}" for place in range(21)]
    with pytest.raises(
        DataError, match=r"own class in the target 'name' .21 classes in 21 rows.*'id0'.*another target"
    ):
        describe_target(read_column(names, "name"))
    with pytest.raises(DataError, match="task='regression'"):
        describe_target(read_column(range(21), "name"), task="classification")
    assert describe_target(read_column(names[:20], "name")).task == "classification"
    assert describe_target(read_column([*names[:20], "id0"], "name")).task == "classification"


@pytest.mark.parametrize("role", ["target", "weight"])
def test_wrong_length(role: str) -> None:
    column = read_column([1.0, 2.0], "q")
    words = rf"Found input variables with inconsistent numbers of samples: \[3, 2\].*the {role} 'q' has 2"
    with pytest.raises(DataError, match=words):
        encode_target(column, TargetSpec("q", "regression"), 3) if role == "target" else encode_weight(column, 3)
    if role == "target":
        with pytest.raises(DataError, match=words):
            describe(read({"a": [1, 2, 3]}), column)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, -2.5], r"Negative values in data.*weight 'w' is -2.5 in row 1"),
        ([0, 0], "weight 'w' is zero in every row"),
        ([1, None], "sample_weight contains NaN.*weight 'w' is missing in 1 rows"),
        ([1, np.inf], "sample_weight contains infinity.*Weight 'w' has inf in row 1"),
        (["a", "b"], "weight 'w' must hold numbers, but has 'a' in row 0"),
    ],
)
def test_weights_that_cannot_be(values: list[Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        encode_weight(read_column(values, "w"), 2)


def test_weights() -> None:
    assert encode_weight(read_column([True, False], "w"), 2).tolist() == [1, 0]
    strided = encode_weight(read_column(np.arange(6.0)[::2], "w"), 3)
    assert strided.flags.c_contiguous
    assert strided.tolist() == [0, 2, 4]


# --- changes at prediction ------------------------------------------------------------------------------------------


def test_changes_that_do_no_harm() -> None:
    assert predict_one(NUMERIC, [1, 2]) == [1.0, 2.0]
    assert predict_one(NUMERIC, np.array([1, 2], dtype=np.float32)) == [1.0, 2.0]
    assert predict_one(NUMERIC, [True, False, None]) == [1.0, 0.0, None]
    assert predict_one(NUMERIC, pd.Categorical([3, None, 1])) == [3.0, None, 1.0]
    assert predict_one(SIZES, ["L", "S", None]) == [2, 0, -1]
    assert predict_one(SIZES, pd.Categorical(["L", "S", None], ["L", "S"])) == [2, 0, -1]
    assert predict_one(SIZES, pl.Series(["L", "S", None], dtype=pl.Enum(["S", "L", "XL"]))) == [2, 0, -1]
    assert predict_one(SIZES, pa.array(["L", "S", None]).dictionary_encode()) == [2, 0, -1]
    assert predict_one(TRUTH, [1, 0, None]) == [1, 0, -1]
    assert predict_one(TRUTH, [1.0, 0.0, 2.0]) == [1, 0, -2]
    assert predict_one(CODES, [3.0, None, 1.0]) == [2, -1, 0]
    assert predict_one(CODES, np.array([3, 1], dtype=object)) == [2, 0]
    assert predict_one(CODES, [True, False]) == [0, -2]
    day, moment = ColumnSpec("a", "date"), ColumnSpec("a", "datetime")
    assert predict_one(day, [dt.datetime(1970, 1, 2)]) == [DAY]  # noqa: DTZ001
    assert predict_one(moment, [dt.date(1970, 1, 2)]) == [DAY]
    days = ColumnSpec("a", "nominal", ("1970-01-01", "1970-01-02"))
    assert predict_one(days, [dt.date(1970, 1, 2), dt.date(2000, 1, 1)]) == [1, -2]


@pytest.mark.parametrize("blank", [[None, None], [np.nan, np.nan], pd.Categorical([None, None], ["q"]), [pd.NaT] * 2])
def test_columns_without_values_fit_every_kind(blank: Any) -> None:
    for spec in (SIZES, TRUTH, CODES):
        assert predict_one(spec, blank) == [-1, -1]
    for spec in (NUMERIC, ColumnSpec("a", "date"), ColumnSpec("a", "duration")):
        assert predict_one(spec, blank) == [None, None]
    codes = encode(read({"a": blank}), one_schema(SIZES), training=False).columns[0]
    assert codes.dtype == np.int32


@pytest.mark.parametrize(
    ("spec", "values", "words"),
    [
        (NUMERIC, ["1.5", None], "was numeric when the tree was learned but is nominal now, for example '1.5'"),
        (NUMERIC, [1, "abc"], "was numeric .* is nominal now, for example 'abc'"),
        (NUMERIC, [dt.date(2024, 5, 1)], "was numeric .* is date now, for example 2024-05-01"),
        (SIZES, [None, 3], "was ordinal .* is numeric now, for example 3"),
        (SIZES, [True], "was ordinal .* is boolean now, for example True"),
        (SIZES, [dt.date(2024, 5, 1)], "was ordinal .* is date now, for example 2024-05-01"),
        (TRUTH, ["True"], "was boolean .* is nominal now, for example 'True'"),
        (CODES, ["1"], r"was nominal \(for example 1\) .* is nominal now, for example '1'"),
        (ColumnSpec("a", "datetime"), [5], "was datetime .* is numeric now, for example 5"),
        (ColumnSpec("a", "duration"), [dt.time(5)], "was duration .* is time now, for example 05:00"),
    ],
)
def test_changes_of_kind(spec: ColumnSpec, values: list[Any], words: str) -> None:
    with pytest.raises(DataError, match=f"column 'a' {words}"):
        predict_one(spec, values)


def test_unseen_levels() -> None:
    for unseen in ("missing", "majority"):
        assert predict_one(SIZES, ["XL", "S", None], unseen) == [-2, 0, -1]
    words = "column 'a' has the level 'XL', which was not there when the tree was learned .known are 'S', 'M', 'L'"
    with pytest.raises(DataError, match=words):
        predict_one(SIZES, ["S", "XL"], "error")
    with pytest.raises(DataError, match=words):
        encode(read({"a": ["S", "XL"]}), one_schema(SIZES), training=True)
    unused = pd.Categorical(["S"], ["XL", "S"])
    assert predict_one(SIZES, unused, "error") == [0]


def test_levels_of_mixed_types() -> None:
    (spec,) = kinds_of({"a": ["b", 2, None, 1.5, "a"]})
    assert spec == ColumnSpec("a", "nominal", (1.5, 2, "a", "b"))
    assert predict_one(spec, [2, 1.5, 7]) == [1, 0, -2]
    assert predict_one(spec, ["a", "2"]) == [2, -2]


# --- there and back -------------------------------------------------------------------------------------------------

CELLS = {
    "text": st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=3),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "truth": st.booleans(),
    "code": st.integers(-5, 5),
    "when": st.datetimes(min_value=dt.datetime(1700, 1, 1), max_value=dt.datetime(2250, 1, 1)),  # noqa: DTZ001
}


@settings(deadline=None)
@given(rows=st.lists(st.tuples(*(st.one_of(st.none(), cell) for cell in CELLS.values())), min_size=1, max_size=15))
def test_there_and_back(rows: list[tuple[Any, ...]]) -> None:
    full = [*rows, ("x", 0.0, True, 0, dt.datetime(2000, 1, 1))]  # noqa: DTZ001
    types = (pa.string(), pa.float64(), pa.bool_(), pa.int64(), pa.timestamp("us"))
    named = zip(CELLS, types, strict=True)
    table = pa.table({name: pa.array([row[i] for row in full], type=t) for i, (name, t) in enumerate(named)})
    target = read_column([1.0, *[2.0] * len(rows)], "y")
    encodings: list[Encoded] = []
    for data in (table, pl.DataFrame(table), table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype)):
        frame = read(data)
        schema = describe(frame, target, kinds={"code": "ordinal"})
        encoded = encode(frame, schema, training=True)
        encodings.append(encoded)
        for place, (spec, codes) in enumerate(zip(schema.columns, encoded.columns, strict=True)):
            for row, value in zip(full, codes.tolist(), strict=True):
                text = decode(spec, value)
                if row[place] is None:
                    assert text == "missing"
                elif spec.name == "when":
                    assert dt.datetime.fromisoformat(text) == row[place]
                elif spec.name == "number":
                    assert float(text) == row[place]
                else:
                    assert text == str(row[place])
    for other in encodings[1:]:
        for ours, theirs in zip(other.columns, encodings[0].columns, strict=True):
            np.testing.assert_array_equal(ours, theirs)


# --- levels that the tree does not know -------------------------------------------------------------------------------


def test_unseen_levels_are_counted_and_reported_once() -> None:
    table = {"colour": ["red", "red", "blue", "blue"] * 3, "y": ["a", "a", "b", "b"] * 3}
    tree = tw.learn(table, "y", tw.CART)
    new = {"colour": ["green", "red", "pink", None]}
    for rows in (new, iter([{"colour": ["green", "red"]}, {"colour": ["pink", None]}])):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tw.predict(tree, rows)
        (only,) = caught
        assert only.category is tw.UnseenLevelsWarning
        assert only.filename == __file__
        assert "column 'colour' in 2 rows (for example 'green')" in str(only.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tw.predict(tree, table)
        warnings.simplefilter("ignore", tw.UnseenLevelsWarning)
        tw.predict(tree, new)


@settings(max_examples=300)
@given(
    st.lists(st.integers(-6, 6), min_size=1, max_size=12),
    st.sampled_from((0.0, 0.5, 0.1, -0.3, 1e17, 2.0**24)),
    st.lists(st.sampled_from((-0.0, 0.25, np.nan, np.inf, -np.inf, 1e300, -1e300)), max_size=2),
    st.sampled_from((np.float32, np.float64)),
)
def test_levels_of_numbers_are_the_distinct_values_in_order(
    steps: list[int], start: float, others: list[float], dtype: Any
) -> None:
    with np.errstate(over="ignore"):
        values = np.array([*(step + start for step in steps), *others], dtype=np.float64).astype(dtype)
    codes, levels = levels_of(read(values.reshape(-1, 1)).columns[0])
    known = sorted({float(value) + 0.0 for value in values if not np.isnan(value)})
    assert list(levels) == known
    assert codes.dtype == np.int32
    assert codes.tolist() == [-1 if np.isnan(value) else known.index(float(value)) for value in values]
