"""Values as words: short, and exact where it matters."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.number_text import exact_number
from treewright.data.schema import ColumnSpec, Kind
from treewright.data.value_text import decode, level, listed, moment

DAY = 86_400_000_000
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("value", "text"),
    [(89.5, "89.5"), (3.0, "3"), (-0.0, "0"), (0.1, "0.1"), (0.1 + 0.2, "0.30000000000000004"), (1e300, "1e+300")],
)
def test_numbers(value: float, text: str) -> None:
    assert exact_number(value) == text


def test_numbers_that_are_none() -> None:
    assert exact_number(float("nan")) == "missing"
    assert exact_number(float("inf")) == "inf"


@given(st.floats(allow_nan=False))
def test_numbers_read_back(value: float) -> None:
    assert float(exact_number(value)) == value


def test_levels() -> None:
    assert [level(value) for value in ("a b", 3, 3.0, 2.5, True)] == ["a b", "3", "3", "2.5", "True"]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("date", 0, "1970-01-01"),
        ("date", 19844 * DAY, "2024-05-01"),
        ("date", 19844.5 * DAY, "2024-05-01 12:00"),
        ("date", -DAY, "1969-12-31"),
        ("datetime", 19844 * DAY, "2024-05-01"),
        ("datetime", 19844 * DAY + 3_661_000_000, "2024-05-01 01:01:01"),
        ("datetime", 19844 * DAY + 250_000, "2024-05-01 00:00:00.25"),
        ("datetime", 0.5, "1970-01-01 00:00:00.0000005"),
        ("datetime", -1e-12, "1970-01-01"),
        ("datetime", 1e18, "1e+18 microseconds after 1970-01-01"),
        ("time", 52_200_000_000, "14:30"),
        ("time", 52_205_250_000, "14:30:05.25"),
        ("duration", 0, "00:00:00"),
        ("duration", DAY, "1 day"),
        ("duration", 3 * DAY + 7_200_000_000, "3 days 02:00:00"),
        ("duration", -1_500_000, "-00:00:01.5"),
        ("datetime", float("nan"), "missing"),
    ],
)
def test_moments(kind: Kind, value: float, text: str) -> None:

    assert moment(kind, value) == text


@given(st.datetimes(min_value=dt.datetime(1700, 1, 1), max_value=dt.datetime(2250, 1, 1)))  # noqa: DTZ001
def test_moments_read_back(value: dt.datetime) -> None:
    text = moment("datetime", (value - EPOCH) // dt.timedelta(microseconds=1))
    assert dt.datetime.fromisoformat(text) == value


def test_decode() -> None:
    size = ColumnSpec("size", "ordinal", ("S", "M"))
    assert [decode(size, code) for code in (0, 1, -1, -2)] == ["S", "M", "missing", "unseen"]
    assert decode(ColumnSpec("n", "numeric"), 89.5) == "89.5"
    assert decode(ColumnSpec("d", "date"), 19844 * DAY) == "2024-05-01"
    assert decode(ColumnSpec("d", "duration"), DAY) == "1 day"


def test_listed() -> None:
    assert listed(["a", 1]) == "'a', 1"
    assert listed(range(5), 2) == "0, 1 and 3 more"
