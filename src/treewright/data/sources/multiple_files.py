"""Several files as one table, file by file.

All files have the same columns (JSON objects may omit some). The kinds of text columns are inferred from all files at
once, so they do not change from file to file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from treewright.data.schema import NO_TEXT_FORM, Schema
from treewright.data.sources import open_file
from treewright.data.sources.formats import Reading, format_of, size_in_memory
from treewright.data.sources.source import Source, Table, has_pyarrow
from treewright.data.value_text import listed
from treewright.errors import DataError


def open_files(paths: list[str], name: str, reading: Reading, schema: Schema | None = None) -> Source:
    """Return the files as one table; `name` is what they are called together."""
    formats = {reading.format or format_of(path) for path in paths}
    found = formats.pop() if len(formats) == 1 else None
    if found == "parquet" and has_pyarrow() and Path(name).is_dir() and _is_partitioned(paths, name):
        from treewright.data.sources.arrow import open_partitions

        return open_partitions(name, reading)
    if len(paths) == 1:
        return open_file(paths[0], reading, schema)
    if found in {"csv", "tsv"}:
        _refuse_other_headers(paths, replace(reading, format=found))
    if found in {"csv", "tsv", "jsonl"} or (found == "parquet" and not has_pyarrow()):
        return _together(paths, name, replace(reading, format=found), schema)
    return _one_by_one([open_file(path, reading, schema) for path in paths], name, found or "files")


def _together(paths: list[str], name: str, reading: Reading, schema: Schema | None) -> Source:
    """Return files that DuckDB reads as one."""
    from treewright.data.sources.duckdb import open_duck
    from treewright.data.sources.text_files import open_text

    text = reading.format in {"csv", "tsv"}
    source = open_text(paths, name, reading, schema) if text else open_duck(paths, name, reading)
    return replace(source, n_bytes=sum(size_in_memory(path, str(reading.format)) or 0 for path in paths))


def _refuse_other_headers(paths: list[str], reading: Reading) -> None:
    from treewright.data.sources.lines import delimiter_of, names_of

    first = names_of(paths[0], reading, delimiter_of(paths[0], reading))
    for path in paths[1:]:
        columns = names_of(path, reading, delimiter_of(path, reading))
        _refuse_other_columns(paths[0], first, path, columns)
        if columns != first:
            odd = next(place for place, column in enumerate(columns) if column != first[place])
            raise DataError(
                f"{path} has {columns[odd]!r} where {paths[0]} has {first[odd]!r}; text files that are one table need "
                "their columns in the same order"
            )


def _one_by_one(sources: list[Source], name: str, form: str) -> Source:
    """Return files that declare their columns."""
    first = sources[0]
    for source in sources[1:]:
        _refuse_other_columns(first.name, first.columns, source.name, source.columns)

    def read(columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
        tables = (table for source in sources for table in source.read(columns, size))
        if size is not None:
            yield from tables
            return
        found = list(tables)
        if not all(hasattr(table, "column_names") for table in found):
            raise DataError(f"{name}: several {form} files cannot be read at once; read them one by one and join them")
        from treewright.data.sources.arrow import joined

        yield joined(found)

    counts = [source.n_rows for source in sources]
    sizes = [source.n_bytes for source in sources]
    return Source(
        name,
        form,
        first.columns,
        read,
        None if None in counts else sum(count or 0 for count in counts),
        n_bytes=None if None in sizes else sum(size or 0 for size in sizes),
        text_form=next((source.text_form for source in sources if source.text_form != NO_TEXT_FORM), NO_TEXT_FORM),
    )


def _refuse_other_columns(first: str, expected: tuple[str, ...], path: str, columns: tuple[str, ...]) -> None:
    absent = [name for name in expected if name not in columns]
    extra = [name for name in columns if name not in expected]
    if absent or extra:
        what = f"lacks the column {absent[0]!r}" if absent else f"has the column {extra[0]!r}"
        raise DataError(
            f"{path} {what}, {'which' if absent else 'but'} {first} {'has' if absent else 'has not'}; files that are "
            f"one table need the same columns, here {listed(expected)}"
        )


def _is_partitioned(paths: list[str], folder: str) -> bool:
    return any("=" in part for path in paths for part in Path(path).relative_to(folder).parts[:-1])
