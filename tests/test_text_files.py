"""Text files: every row is read, and what a text means depends on that text and the options alone."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import treewright as tw
from treewright.data.frame import Frame, RawColumn
from treewright.data.reader import read
from treewright.data.schema import TextForm
from treewright.data.sources import Reading, open_source

ROWS = "x,y\n" + "1,n\n2,p\n" * 500


def write(folder: Path, content: str | bytes, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def column(frame: Frame, name: str) -> RawColumn:
    return next(column for column in frame.columns if column.name == name)


# --- every row, or an error with its line -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ROWS + "x,y,z\n1,n,q\n2,p,q\n", r"line 1002: 3 values for 2 columns"),
        (ROWS + "1\n", r"line 1002: 1 value for 2 columns"),
        ("x,y\n1,n,q\n" + "1,n\n" * 9, r"line 2: 3 values for 2 columns"),
        ('x,y\n1,"a\nb"\n1,n,q\n', r"line 4: 3 values for 2 columns"),
        ("x,y\n# a remark\n1,n\n", r"line 2: 1 value for 2 columns"),
        ("x,y\n1,n\n   \n2,p\n", r"line 3: 1 value for 2 columns"),
        ('x,y\n1,"n\n2,p\n', r"line 2: a quote is not closed"),
        ('x,y\n1,"n"m\n2,p\n', r"line 2: a quote is not closed"),
        ("x,y\r\n1,n\r\n2,p\n", r"line 3: it ends in another way"),
        ("x,y\n1,caf\u00e9\n".encode("latin-1"), r"line 2: the text is not UTF-8; .*iconv"),
        ("x,y\n1,n\n".encode("utf-16"), r"line 1: the text is not UTF-8; .*iconv -f UTF-16"),
        ("", r"is empty"),
        ("\nx,y\n1,n\n", r"line 1: it is empty, and should have the names"),
        ("x,y\n", r"no rows"),
        ("x,x\n1,n\n", r"line 1: the column name 'x' occurs more than once"),
        ("x,y;z\n1,n\n", r"its first line has a comma and a semicolon, .* --delimiter"),
    ],
)
def test_rows_that_cannot_be_read_are_an_error_with_their_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(tw.DataError, match=message):
        read(write(tmp_path, content))


def test_prediction_covers_every_row_of_a_file_or_none(tmp_path: Path) -> None:
    tree = tw.learn({"x": [1, 1, 2, 2], "y": ["n", "n", "p", "p"]}, "y", tw.SKLEARN)
    path = write(tmp_path, ROWS)
    assert len(tw.predict(tree, path)) == 1000
    write(tmp_path, ROWS + "x,y,z\n" + "1,n,q\n" * 20)
    with pytest.raises(tw.DataError, match="line 1002"):
        tw.predict(tree, path)


@pytest.mark.parametrize(
    "content",
    [
        b"x,y\n1,n\n2,p\n",
        b"\xef\xbb\xbfx,y\n1,n\n2,p\n",
        b"x,y\r\n1,n\r\n2,p\r\n",
        b"x,y\n1,n\n2,p",
        b"x,y\n1,n\n2,p\n\n\n",
        b"x;y\n1;n\n2;p\n",
        b"x\ty\n1\tn\n2\tp\n",
        b"x|y\n1|n\n2|p\n",
        b' "x" , y \n1 , n\n2, "p"\n',
    ],
)
def test_one_table_however_it_is_written(tmp_path: Path, content: bytes) -> None:
    for path in (write(tmp_path, content), write(tmp_path, gzip.compress(content), "rows.csv.gz")):
        frame = read(path)
        assert frame.names == ("x", "y")
        assert column(frame, "x").values.tolist() == [1, 2]
        assert column(frame, "y").levels == ("n", "p")


def test_quoted_values_may_hold_line_ends_and_delimiters(tmp_path: Path) -> None:
    frame = read(write(tmp_path, 'x,y\r\n1,"a\nb"\r\n2,"c, d"\r\n3,"e ""f"""\r\n'))
    assert column(frame, "y").levels == ("a\nb", "c, d", 'e "f"')


def test_names_that_differ_in_case_or_look_like_our_own_stay_apart(tmp_path: Path) -> None:
    frame = read(write(tmp_path, "c1,c0,A,a\n1,x,2,y\n"))
    assert frame.names == ("c1", "c0", "A", "a")
    assert [column.kind for column in frame.columns] == ["numeric", "nominal", "numeric", "nominal"]


def test_lines_are_found_in_the_right_one_of_several_files(tmp_path: Path) -> None:
    write(tmp_path, ROWS, "a.csv")
    write(tmp_path, "x,y\n1,n,n\n", "b.csv")
    with pytest.raises(tw.DataError, match=r"b\.csv, line 2: 3 values"):
        read(f"{tmp_path}/*.csv")


def test_a_wide_file_is_read_in_the_memory_that_prediction_has(tmp_path: Path) -> None:
    """DuckDB made a join of the words for infinity in every column: 80 columns did not fit."""
    names = [f"c{place}" for place in range(300)]
    rows = [[str((row * place) % 7 + 0.5) for place in range(300)] + ["np"[row % 2]] for row in range(6)]
    path = write(tmp_path, "\n".join(map(",".join, [[*names, "y"], *rows])))
    tree = tw.learn(path, "y")
    assert [column.kind for column in tree.schema.columns] == ["numeric"] * 300
    assert list(tw.predict(tree, path)) == list(tw.predict(tree, read(path)))


# --- what a text means ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-2", "+3"], "numeric"),
        (["1.5", ".5", "1e3", "2."], "numeric"),
        (["1", "nan"], "numeric"),
        (["1", "1_000"], "nominal"),
        (["10", "007"], "nominal"),
        (["0", "-0.5", "0e1"], "numeric"),
        (["1", "0x1F"], "nominal"),
        (["1", "\u00b2"], "nominal"),
        (["true", "FALSE"], "boolean"),
        (["yes", "no"], "nominal"),
        (["2024-01-31", "2024/02/01"], "date"),
        (["2024-01-31", "2024-02-01 10:30"], "datetime"),
        (["2024-01-31T10:30:00Z", "2024-02-01T10:30:00+02:00"], "datetime"),
        (["2024-01-31", "2024-02-30"], "nominal"),
        (["epoch", "infinity"], "nominal"),
        (["10:30", "11:15:30"], "time"),
    ],
)
def test_kinds_of_texts(tmp_path: Path, texts: list[str], kind: str) -> None:
    frame = read(write(tmp_path, "x,y\n" + "".join(f"{text},a\n" for text in texts)))
    assert column(frame, "x").kind == kind
    assert frame.n_rows == len(texts)


def test_an_offset_is_taken_to_utc(tmp_path: Path) -> None:
    values = column(read(write(tmp_path, "x,y\n2024-02-01T10:00:00+02:00,a\n2024-02-01T08:00:00Z,b\n")), "x").values
    assert values[0] == values[1]


def test_integers_beyond_64_bits_are_not_rounded(tmp_path: Path) -> None:
    frame = read(write(tmp_path, "x,y\n12345678901234567890,a\n12345678901234567891,b\n"))
    assert column(frame, "x").levels == (12345678901234567890, 12345678901234567891)


@pytest.mark.parametrize("others", ["", "12/25/2020\n", "25/12/2020\n"])
def test_the_order_of_day_and_month_is_never_taken_from_other_rows(tmp_path: Path, others: str) -> None:
    path = write(tmp_path, "d\n12/05/2020\n" + others)
    with pytest.raises(tw.DataError, match=r"column 'd' has '12/05/2020'.* day_first=True\) or --day-first"):
        read(path)


@pytest.mark.parametrize(("text", "option"), [("16.02.2024", "--day-first"), ("02/16/2024", "--month-first")])
def test_a_date_that_can_be_read_in_one_way_names_its_option_only(tmp_path: Path, text: str, option: str) -> None:
    with pytest.raises(
        tw.DataError, match=rf"column 'd' has '{text}', which looks like a date .* or {option} if all are$"
    ):
        read(write(tmp_path, f"d\n{text}\n03/04/2024\n"))


@pytest.mark.parametrize(("day_first", "expected"), [(True, "2020-05-12"), (False, "2020-12-05")])
@pytest.mark.parametrize("sign", ["/", ".", "-"])
def test_day_first_says_how_dates_are_read(tmp_path: Path, day_first: bool, expected: str, sign: str) -> None:
    path = write(tmp_path, f"d\n12{sign}05{sign}2020\n{expected}\n")
    found = column(read(tw.csv(path, day_first=day_first)), "d")
    assert found.kind == "date"
    assert [found.text(0), found.text(1)] == [expected, expected]
    with pytest.raises(tw.DataError, match=r"has '25/12/2020'|has '12/25/2020'"):
        read(tw.csv(write(tmp_path, "d\n25/12/2020\n12/25/2020\n"), day_first=day_first))


def test_a_decimal_comma_is_named_and_read_by_an_option(tmp_path: Path) -> None:
    path = write(tmp_path, "x;y\n1,5;a\n2;b\n-0,25;a\n")
    with pytest.raises(tw.DataError, match=r"column 'x' has '1,5', .* decimal=','\) or --decimal"):
        read(path)
    np.testing.assert_array_equal(column(read(tw.csv(path, decimal=",")), "x").values, [1.5, 2, -0.25])
    assert column(read(tw.csv(path, decimal=".")), "x").levels == ("-0,25", "1,5", "2")
    with pytest.raises(tw.DataError, match=r"'1\.5', which has a decimal point"):
        read(tw.csv(write(tmp_path, "x;y\n1,5;a\n1.5;b\n"), decimal=","))


def test_prediction_reads_by_the_options_too(tmp_path: Path) -> None:
    days = np.array(["2020-05-12", "2020-12-05"] * 4, "datetime64[D]")
    tree = tw.learn({"d": days, "x": [0.5, 1.5] * 4, "y": ["a", "b"] * 4}, "y", tw.SKLEARN)
    path = write(tmp_path, "d;x\n12/05/2020;0,5\n")
    with pytest.raises(tw.DataError, match=r"line 2: column 'd' has '12/05/2020', and whether the day"):
        tw.predict(tree, tw.csv(path, decimal=","))
    with pytest.raises(tw.DataError, match=r"line 2: column 'x' has '0,5', which is not a number; .*--decimal ','"):
        tw.predict(tree, tw.csv(path, day_first=True))
    assert tw.predict(tree, tw.csv(path, decimal=",", day_first=True)).tolist() == ["a"]


TURNED = "d;x;y\n" + "12/05/2020;0,5;a\n05/12/2020;1,5;b\n" * 4


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_tree_keeps_how_its_text_file_was_read(
    tmp_path: Path, on_disk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, TURNED)
    monkeypatch.setattr("treewright.training.learn.fits_in_memory", lambda *_: not on_disk)
    given = tw.csv(path, decimal=",", day_first=True)
    tree = tw.learn(given, "y", tw.SKLEARN)
    assert tree.schema.text_form == TextForm(",", True)
    tw.save(tree, tmp_path / "tree.json")
    loaded = tw.load(tmp_path / "tree.json")
    assert loaded.schema == tree.schema
    expected = ["a", "b"] * 4
    assert tw.predict(loaded, path).tolist() == expected
    assert tw.predict(loaded, tw.csv(path, delimiter=";")).tolist() == expected
    assert str(tw.rank_splits(path, tree=loaded)) == str(tw.rank_splits(given, tree=loaded))
    one = write(tmp_path, "d;x\n05/12/2020;1,5\n", "one.csv")
    assert str(tw.explain_row(loaded, one)) == str(tw.explain_row(loaded, tw.csv(one, decimal=",", day_first=True)))
    assert tw.predict(loaded, tw.sql(f"SELECT x, d FROM '{path.as_posix()}'")).tolist() == expected


def test_an_option_that_differs_from_the_tree_applies_as_given(tmp_path: Path) -> None:
    path = write(tmp_path, "d;y\n" + "12/05/2020;a\n05/12/2020;b\n" * 4)
    tree = tw.learn(tw.csv(path, day_first=True), "y", tw.SKLEARN)
    assert tw.predict(tree, path).tolist() == ["a", "b"] * 4
    assert tw.predict(tree, tw.csv(path, day_first=False)).tolist() == ["b", "a"] * 4
    with pytest.raises(tw.DataError, match=r"line 2: .* which is no date with the day first; .*--month-first"):
        tw.predict(tree, write(tmp_path, "d;z\n12/25/2020;0\n", "american.csv"))


def test_a_decimal_point_where_the_tree_has_commas_is_named_with_its_option(tmp_path: Path) -> None:
    tree = tw.learn(tw.csv(write(tmp_path, "x;y\n" + "0,5;a\n1,5;b\n" * 4), decimal=","), "y", tw.SKLEARN)
    points = write(tmp_path, "x;z\n0.5;0\n1.5;0\n", "points.csv")
    with pytest.raises(tw.DataError, match=r"line 2: column 'x' has '0\.5', which is not a number; .*--decimal '\.'"):
        tw.predict(tree, points)
    assert tw.predict(tree, tw.csv(points, decimal=".")).tolist() == ["a", "b"]


def test_a_query_over_text_files_keeps_how_they_were_read(tmp_path: Path) -> None:
    path = write(tmp_path, TURNED)
    query = f"SELECT * FROM '{path.as_posix()}'"
    source = open_source(query, Reading(sql=True, decimal=",", day_first=True))
    assert read(source).text_form == TextForm(",", True)


def test_files_of_two_formats_keep_how_they_were_read(tmp_path: Path) -> None:
    write(tmp_path, "d,y\n12/05/2020,a\n", "rows1.csv")
    write(tmp_path, "d\ty\n05/12/2020\tb\n", "rows2.tsv")
    source = open_source(str(tmp_path / "rows*"), Reading(day_first=True))
    assert read(source).text_form == TextForm(None, True)


@pytest.mark.parametrize("content", ["x\n1\n\n2\n", "x\r\n1\r\n\r\n2\r\n", "x\n1\n\n"])
def test_an_empty_line_in_a_file_with_one_column_is_refused(tmp_path: Path, content: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(tw.DataError, match=r"rows\.csv, line 3: it is empty, .* missing value; write NA"):
        read(path)
    with pytest.raises(tw.DataError, match="line 3: it is empty"):
        read(tw.sql(f"SELECT * FROM '{path.as_posix()}'"))


@pytest.mark.parametrize("missing", ["NA", '""', " "])
def test_a_missing_value_in_a_file_with_one_column_is_a_row(tmp_path: Path, missing: str) -> None:
    found = column(read(write(tmp_path, f"x\n1\n{missing}\n2\n")), "x")
    np.testing.assert_array_equal(found.values, [1, np.nan, 2])


def test_columns_that_are_only_passed_on_are_not_judged(tmp_path: Path) -> None:
    tree = tw.learn({"x": [1, 1, 2, 2], "y": ["n", "n", "p", "p"]}, "y", tw.SKLEARN)
    source = open_source(write(tmp_path, "x,d\n1,12/05/2020\n"), Reading(), tree.schema)
    assert column(read(source), "d").levels == ("12/05/2020",)


def test_options_of_a_text_file_are_checked() -> None:
    with pytest.raises(tw.DataError, match="decimal='-' is not known"):
        tw.csv("rows.csv", decimal="-")
    with pytest.raises(tw.DataError, match="both ','"):
        tw.csv("rows.csv", decimal=",", delimiter=",")
