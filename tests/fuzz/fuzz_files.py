"""Mutated files of every format that is read: tables, saved trees and trees of other programs.

A mutated file ends in a table or tree that can be used, or in a `TreewrightError`.
"""

from __future__ import annotations

import csv
import io
import os
import random
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from fuzz_checks import refusing, require
from test_importers import PMML, RPART_CLASSES, RPART_NUMBERS, WEKA
from test_saved import mutated

import treewright as tw

COLUMNS = {
    "size": [1.5, 2.0, None, -3.25, 1e5, 7.0] * 3,
    "colour": ["red", "it's", None, 'say "no"', "blå", "a,b"] * 3,
    "n": [1, 2, 3, 40, 5, 6] * 3,
    "day": ["2020-01-31", "2021-02-28", None, "1999-12-01", "2020-02-29", "2020-01-01"] * 3,
    "y": ["no", "yes", "no", "yes", "yes", "no"] * 3,
}
ARFF = """% comment
@relation 'weather'
@attribute size numeric
@attribute 'the colour' {red, 'it''s', "b l u e"}
@attribute day date "yyyy-MM-dd"
@attribute y {no, yes}
@data
1.5, red, '2020-01-31', no
?, "b l u e", ?, yes
{0 2.5, 2 2020-01-01, 3 yes}
-3e5, red, 2021-02-28, no
"""
NAMES = "no, yes.\nsize: continuous.\ncolour: red, green, blue.\nkey: ignore.\nn: discrete 5.\n"
DATA = "1.5, red, k1, 1, no.\n2.5, ?, k2, 2, yes.\n?, blue, k3, 3, no.\n4, green, k4, 1, yes.\n"
TOKENS = (
    b"", b"0", b"-1", b"9" * 40, b"1e999", b"-0", b"NaN", b"inf", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r\n",
    b"\r", b",", b";", b"\t", b'"', b"'", b"\\", b"{", b"}", b"[", b"]", b"(", b")", b"?", b"%", b"|", b":", b".",
    b" " * 50, b"<", b">", b"&", b"&#0;", b"=", b"<=", b"null", b"true", "²".encode(), "木".encode(), b"\xed\xa0\x80",
    b"12/05/2020", b"@data\n", b"y,y\n", b"1,5", b"{" * 30, b"\xff\xff\xff\xff",
)  # fmt: skip


@dataclass(frozen=True)
class FileCase:
    """The content of a file; `format` is its ending, or how it is read."""

    format: str
    content: bytes


def _rows() -> list[tuple[object, ...]]:
    return list(zip(*COLUMNS.values(), strict=True))


def _text(delimiter: str, quoting: int = csv.QUOTE_MINIMAL) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
    writer.writerow(COLUMNS)
    writer.writerows(_rows())
    return file.getvalue().encode()


def _written(suffix: str, write: Callable[[str], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"rows{suffix}")
        write(str(path))
        return path.read_bytes()


def _sqlite(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (size REAL, colour TEXT, n INTEGER, day TEXT, y TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", _rows())
    connection.commit()
    connection.close()


def _duckdb(path: str) -> None:
    with duckdb.connect(path) as connection:
        connection.register("given", pa.table(COLUMNS))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")


@cache
def seeds() -> dict[str, tuple[bytes, ...]]:
    """Whole files, by format."""
    table = pa.table(COLUMNS)
    lines = duckdb.from_arrow(table)
    rng = random.Random(0)
    target = [rng.choice(["no", "yes", "maybe"]) for _ in COLUMNS["y"]]
    recipes = (tw.CART.with_(pruning=None), tw.C45, tw.CHAID.with_(min_samples_split=2), tw.RPART)
    trees = [tw.learn({**COLUMNS, "y": target}, "y", recipe, n_threads=1) for recipe in recipes]
    trees.append(tw.learn({**COLUMNS, "y": list(range(18))}, "y", recipes[0], task="regression", n_threads=1))
    return {
        "tree": tuple(tw.export.to_json(tree).encode() for tree in trees),
        "arff": (ARFF.encode(),),
        "names": (NAMES.encode(),),
        "data": (DATA.encode(),),
        "rpart": (RPART_CLASSES.encode(), RPART_NUMBERS.encode()),
        "j48": (WEKA.encode(),),
        "pmml": (PMML.encode(), *(tw.export.pmml(tree).encode() for tree in (trees[3], trees[4]))),
        "parquet": (_written(".parquet", lambda path: pq.write_table(table, path)),),
        "arrow": (
            _written(".arrow", lambda path: pyarrow.feather.write_feather(table, path, compression="uncompressed")),
        ),
        "sqlite": (_written(".sqlite", _sqlite),),
        "duckdb": (_written(".duckdb", _duckdb),),
        "csv": (_text(","), _text(";", csv.QUOTE_ALL), b"x,y\n1,no\n2,yes\n3,no\n"),
        "tsv": (_text("\t"),),
        "jsonl": (_written(".jsonl", lambda path: lines.query("t", f"COPY t TO '{path}' (FORMAT json)")),),
    }


#: How often a format is drawn: those that DuckDB reads take a hundred times longer.
_DRAWN = {
    "tree": 30, "arff": 12, "names": 8, "data": 8, "rpart": 10, "j48": 10, "pmml": 10, "parquet": 4, "arrow": 4,
    "sqlite": 3, "duckdb": 0.2, "csv": 0.6, "tsv": 0.2, "jsonl": 0.2,
}  # fmt: skip


def random_file(seed: int) -> FileCase:
    """The mutated file of a seed."""
    rng = random.Random(seed)
    name = rng.choices(tuple(_DRAWN), tuple(_DRAWN.values()))[0]
    content = rng.choice(seeds()[name])
    if name == "tree" and rng.random() < 0.7:
        return FileCase(name, mutated(rng, content.decode()).encode("utf-8", "surrogatepass"))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        content = _mutated(rng, content)
    return FileCase(name, content)


def _mutated(rng: random.Random, content: bytes) -> bytes:
    if not content:
        return rng.choice(TOKENS)
    at, length = rng.randrange(len(content)), rng.choice((0, 1, 1, 2, 7, 40))
    match rng.randrange(8):
        case 0:
            return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        case 1:
            return content[:at] + content[at + length :]
        case 2:
            return content[: at + length] + content[at:]
        case 3:
            return content[:at]
        case 4:
            return content[:at] + bytes(rng.randrange(256) for _ in range(length)) + content[at + length :]
        case 5:
            lines = content.splitlines(keepends=True)
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i] * rng.choice((1, 1, 2, 50))
            return b"".join(lines)
        case _:
            return content[:at] + rng.choice(TOKENS) * rng.choice((1, 1, 1, 3)) + content[at + length :]


# --- reading ----------------------------------------------------------------------------------------------------------

_IMPORTERS = {"rpart": tw.from_rpart, "j48": tw.from_j48, "pmml": tw.from_pmml}
_QUICK = tw.CART.with_(pruning=None, max_depth=3)


def check_file(file: FileCase, *, refuse: bool = True) -> None:
    """Read the file; what it holds can be used. `refuse`: a `TreewrightError` is as good."""
    check = _check_tree if file.format == "tree" or file.format in _IMPORTERS else _check_table
    if refuse:
        refusing(lambda: check(file))
    else:
        check(file)


def _check_tree(file: FileCase) -> None:
    if file.format == "tree":
        with tempfile.NamedTemporaryFile(suffix=".json", dir=_memory()) as place:
            place.write(file.content)
            place.flush()
            tree = tw.load(place.name)
    else:
        tree = _IMPORTERS[file.format](file.content.decode("utf-8", "replace"))
    text = tw.export.to_json(tree)
    require(tw.export.to_json(tw.export.from_json(text)) == text, "loaded tree is saved differently")
    str(tree)
    if len(file.content) % 7 == 0:  # the dear half, for some
        for view in (
            tw.rules,
            tw.importance,
            tw.render.svg,
            tw.report,
            tw.render.html,
            tw.export.python,
            tw.export.sql,
        ):
            refusing(lambda view=view: view(tree))
        refusing(lambda: tw.prune(tree, tw.pruning.MinimumDescription()))
    rows = {spec.name: [None, spec.levels[0] if spec.levels else None] for spec in tree.schema.columns}
    refusing(lambda: require(len(tw.predict(tree, rows)) == 2, "a prediction for every row"))


def _check_table(file: FileCase) -> None:
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        path = Path(folder, f"rows.{file.format}")
        path.write_bytes(file.content)
        if file.format in ("names", "data"):
            other, content = ("data", DATA) if file.format == "names" else ("names", NAMES)
            path.with_suffix(f".{other}").write_text(content)
        target = "class" if file.format in ("names", "data") else "y"
        tree = tw.learn(path, target, _QUICK, n_threads=1)
        predicted = tw.predict(tree, path, n_threads=1)
        if file.format in ("csv", "tsv"):
            _check_count(file.content, len(predicted), tree)


def _check_count(content: bytes, n: int, tree: tw.Tree) -> None:
    """As many rows as the file has records by the rules of RFC 4180; line ends inside quotes are not counted."""
    if b'"' in content:
        return
    lines = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    records = sum(1 for line in lines[1:] if line.strip())
    require(n == records, "a prediction for every record", (n, records, tree.n_nodes))


@cache
def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def shrunk_file(file: FileCase) -> FileCase:
    """The file without what the failure does not need."""
    from fuzz_run import signature

    def wrong(given: FileCase) -> str | None:
        try:
            check_file(given)
        except Exception as error:  # noqa: BLE001  # any exception that is not a refusal is a finding
            return signature(error)
        return None

    expected, size = wrong(file), len(file.content) // 2
    while size:
        for start in range(0, len(file.content), size):
            less = replace(file, content=file.content[:start] + file.content[start + size :])
            if wrong(less) == expected:
                file = less
        size //= 2
    return file
