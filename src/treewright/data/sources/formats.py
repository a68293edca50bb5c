"""Recognise the format of a file by the ending of its name, otherwise by its first bytes."""

from __future__ import annotations

import difflib
import glob
import re
from dataclasses import dataclass
from pathlib import Path

from treewright.data.value_text import listed
from treewright.errors import DataError

#: What stands for a missing value in a text file, by default.
MARKERS = ("", "?", "NA", "N/A", "NaN", "null")

_ENDINGS = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "jsonl", ".jsonl": "jsonl", ".ndjson": "jsonl", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".arff": "arff", ".names": "c4.5", ".data": "c4.5", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".duckdb": "duckdb",
}  # fmt: skip
FORMATS = tuple(dict.fromkeys(_ENDINGS.values()))
#: The module here and its function (path, reading) -> Source that opens a format. DuckDB reads what is not listed.
OPENERS = {
    "arff": ("declared", "open_declared"),
    "c4.5": ("declared", "open_declared"),
    "sqlite": ("sqlite", "open_sqlite"),
    "arrow": ("arrow", "open_arrow"),
    "parquet": ("arrow", "open_parquet"),
}
_COMPRESSED = (".gz", ".zst")
#: How many times larger rows are in memory than in a file of that format, and if that is compressed: rough.
_SWELLS = {"jsonl": 0.7, "arrow": 1.0, "parquet": 3.0, "sqlite": 2.0, "duckdb": 4.0}
_PACKED = 5.0
_QUERY = re.compile(r"\s*(?:select|from|with|values)\s+\S.*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """How to read. `missing`: the texts that mean a missing value (None: `MARKERS`, in text files only).

    `table`: which one of a database. `sql`: the name is a query. `database`: the file that the query is for. `columns`
    keeps only these, `drop` leaves these out. `header`: whether the first line of a text file has the names. `decimal`
    and `day_first`: how numbers and dates are written there, None where not given. `memory_limit`: how many bytes
    the reader may hold, None as many as it likes; what it cannot hold it may put in the folder `scratch`.
    """

    format: str | None = None
    missing: tuple[str, ...] | None = None
    header: bool = True
    delimiter: str | None = None
    decimal: str | None = None
    day_first: bool | None = None
    sql: bool = False
    table: str | None = None
    database: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    memory_limit: int | None = None
    scratch: str | None = None

    def kept(self, names: tuple[str, ...], source: str) -> tuple[str, ...]:
        """Return the columns to read, of those that are there."""
        for name in (*self.columns, *self.drop):
            if name not in names:
                close = difflib.get_close_matches(name, names, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"it has {listed(names)}"
                raise DataError(f"{source} has no column {name!r}; {hint}")
        wanted = self.columns or names
        return tuple(name for name in names if name in wanted and name not in self.drop)


def refuse_query(name: str) -> None:
    """Raise for a file name that looks like SQL: a query must be given as one."""
    if _QUERY.fullmatch(name) and not _exists(name):
        raise DataError(
            f"there is no file {name[:60]!r}; if it is meant as a query, use tw.sql(...) in Python, --sql in the shell"
        )


def files_of(path: str) -> list[str] | None:
    """Return the files of a pattern, or the Parquet files of a folder, sorted; None for a file name."""
    if not _exists(path):
        matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []  # noqa: PTH207
        found = [match for match in matches if not Path(match).is_dir()]
        if not found:
            raise not_there(path)
        return found
    if not Path(path).is_dir():
        return None
    inside = (file for ending in ("parquet", "pq") for file in Path(path).rglob(f"*.{ending}"))
    # What begins so is a note that another program left for itself.
    found = sorted(str(file) for file in inside if not file.name.startswith(("_", ".")))
    if not found:
        raise DataError(f"{path} is a folder; name a file in it, or several as in '{path}/*.csv'")
    return found


def format_of(path: str) -> str:
    """Return the format of a file that is there."""
    if not _exists(path):
        raise not_there(path)
    if Path(path).is_dir():
        raise DataError(f"{path} is a folder; name a file in it")
    found = Path(path.lower())
    ending = Path(found.stem).suffix if found.suffix in _COMPRESSED else found.suffix
    return _ENDINGS.get(ending) or format_by_content(path)


def size_in_memory(path: str, form: str) -> int | None:
    """About how many bytes the rows of a file take once they are read."""
    if not _exists(path):
        return None
    swollen = _PACKED if path.lower().endswith(_COMPRESSED) else 1.0
    return int(Path(path).stat().st_size * swollen * _SWELLS.get(form, 1.5))


def format_by_content(path: str) -> str:
    """Return the format by the first bytes; any other text is taken for CSV."""
    with Path(path).open("rb") as file:
        head = file.read(4096)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.lstrip()[:1] in {b"{", b"["}:
        return "jsonl"
    if re.search(rb"^\s*@relation\b", head, re.IGNORECASE | re.MULTILINE):
        return "arff"
    if b"\0" in head:
        raise DataError(f"{path} is not a table that can be read; known are {listed(FORMATS, len(FORMATS))}")
    return "csv"


def not_there(path: str) -> DataError:
    """Return the error for a file that does not exist, with the name that was perhaps meant."""
    folder = Path(path).parent
    near = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    close = difflib.get_close_matches(Path(path).name, near, n=1)
    hint = f"did you mean {str(folder / close[0])!r}?" if close else "check the name and the folder"
    return DataError(f"there is no file {path!r}; {hint}")


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a long query is no name at all
        return False
