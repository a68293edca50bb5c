"""The memory that a table in partitions may use.

A container's limit counts as the machine's; memory that holds cached files only counts as free.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from treewright.errors import DataError

_UNITS = {"b": 1} | {
    unit: base**power
    for power, letter in enumerate("kmgt", start=1)
    for unit, base in ((letter, 1000), (f"{letter}b", 1000), (f"{letter}ib", 1024))
}

#: Less than this is a mistake: a unit was forgotten.
LEAST = 1024

MB = 1_000_000

#: What Python, numpy, pyarrow, DuckDB and this library take before a row is read, measured (docs/scale.md).
LIBRARIES = 200 * MB

#: With less than this in all, not even a small table in memory has room.
SMALLEST = 250 * MB

#: A table that is read and grown from piece by piece takes this in all, however many rows it has (docs/scale.md).
PIECEWISE = 600 * MB

#: Used where the system reports nothing.
_UNKNOWN = 4 * 2**30


def memory_size(limit: float | str | None) -> int:
    """Return bytes: a number of them, text like "2GB" or "1.5 GiB", or, for None, half of what is free now.

    >>> memory_size("1.5 GiB")
    1610612736
    """
    if limit is None:
        return max(LEAST, available() // 2)
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?(?:e\+?[0-9]+)?)\s*([a-z]*)\s*", str(limit).lower())
    if match is None or isinstance(limit, bool) or match[2] not in _UNITS | {"": 1}:
        raise DataError(f"memory_limit={limit!r} is no amount of memory; write '2GB', '1.5 GiB' or 2_000_000_000")
    size = int(float(match[1]) * _UNITS.get(match[2], 1))
    if size < LEAST:
        raise DataError(f"memory_limit={limit!r} is {size} bytes, too little to work in; add a unit, as in '2GB'")
    return size


def working_memory(limit: float | str | None, whole: int | None = None) -> int:
    """Return bytes for rows and sums: the limit without what Python and the libraries take; for None as `memory_size`.

    `whole` is what learning from the whole table in memory takes, where that is known. A limit that leaves too little
    is an error that names the smallest one, before anything is read.
    """
    size = memory_size(limit)
    if limit is None:
        return size
    smallest = PIECEWISE if whole is None else max(SMALLEST, min(PIECEWISE, LIBRARIES + whole))
    if size < smallest:
        raise DataError(
            f"memory_limit={limit!r} is too little: Python and the libraries take about {LIBRARIES // MB} MB, and "
            f"growing a tree needs room too; the smallest limit for this table is {-(-smallest // MB)} MB, or more if "
            "it has hundreds of columns"
        )
    return size - LIBRARIES


def available() -> int:
    """Return bytes that this process could take now."""
    free = [1024 * kilobytes for kilobytes in _figures(Path("/proc/meminfo"), r"MemAvailable:\s*(\d+) kB")]
    if not free:
        with suppress(OSError, ValueError, AttributeError):
            free = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    return min([*free, *_left_to_groups()], default=_UNKNOWN)


def _left_to_groups(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Return what each control group that this process is in still allows, by both versions of Linux's interface."""
    return [
        *_left(root, own, r"0::/(.*)", "memory.max", "memory.current", "inactive_file"),
        *_left(
            root / "memory",
            own,
            r"\d+:(?:.*,)?memory(?:,.*)?:/(.*)",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
    ]


def _left(root: Path, own: Path, group: str, most: str, used: str, cached: str) -> list[int]:
    left = []
    for path in _found(own, group):
        for folder in (root / path, *(root / path).parents):
            figures = [
                *_figures(folder / most, r"(\d+)"),  # "max" is no number: no limit
                *_figures(folder / used, r"(\d+)"),
                *_figures(folder / "memory.stat", rf"{cached} (\d+)"),
            ]
            if len(figures) == 3:
                left.append(max(0, figures[0] - figures[1] + figures[2]))
            if folder == root:
                break
    return left


def _figures(file: Path, line: str) -> list[int]:
    return [int(figure) for figure in _found(file, line)]


def _found(file: Path, line: str) -> list[str]:
    """Return what the lines of the file hold that look so; nothing if there is no such file."""
    try:
        return re.findall(rf"^{line}$", file.read_text(), re.MULTILINE)
    except OSError:
        return []
