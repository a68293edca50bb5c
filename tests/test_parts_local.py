"""Parts in a folder: they answer as parts in memory do, share what stays the same, and leave nothing behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.encode import Encoded
from treewright.errors import DataError
from treewright.parts import Parts, work
from treewright.parts.local import LocalParts, in_threads, rows_per_part, write_parts
from treewright.parts.memory import MemoryParts

RECIPE = {"shift": 3}


def table(n_rows: int, *, weight: bool = True, dealt: bool = False, classes: int = 3, seed: int = 0) -> Encoded:
    """Two numbers, one of them not contiguous, and levels."""
    rng = np.random.default_rng(seed)
    return Encoded(
        columns=(
            rng.normal(size=n_rows),
            rng.normal(size=(n_rows, 2))[:, 1],
            rng.integers(-1, 4, n_rows, dtype=np.int32),
        ),
        kinds=(0, 0, 2),
        levels=(0, 0, 4),
        n_rows=n_rows,
        target=rng.integers(0, classes, n_rows, dtype=np.int32) if classes else rng.normal(size=n_rows),
        n_classes=classes,
        weight=rng.random(n_rows) if weight else None,
        dealt=rng.integers(0, 9, (n_rows, 2)) if dealt else None,
    )


def rows_of(part: Encoded) -> list[Any]:
    """Everything a part has, as plain values that can be compared."""
    arrays = [*part.columns, part.target, part.weight, part.dealt]
    shown = [one if one is None else (one.dtype.str, one.tolist()) for one in arrays]
    return [*shown, part.kinds, part.levels, part.n_rows, part.n_classes]


def copied(part: Encoded) -> Encoded:
    """The part as it is now, whatever becomes of its files."""
    kept = {name: None if (one := getattr(part, name)) is None else one.copy() for name in ("target", "weight", "dealt")}
    return replace(part, columns=tuple(column.copy() for column in part.columns), **kept)


def pieces_of(whole: Encoded, cuts: list[int]) -> Iterator[Encoded]:
    for start, stop in zip([0, *cuts], [*cuts, whole.n_rows], strict=True):
        chosen = slice(start, stop)
        yield Encoded(
            tuple(column[chosen] for column in whole.columns),
            whole.kinds,
            whole.levels,
            stop - start,
            whole.target[chosen],
            whole.n_classes,
            None if whole.weight is None else whole.weight[chosen],
            None if whole.dealt is None else whole.dealt[chosen],
        )


# --- a toy for the core ---------------------------------------------------------------------------------------------


def toy_answer(
    part: Encoded, recipe: Mapping[str, Any], state: work.State, question: bytes
) -> tuple[work.State, bytes]:
    """Adds up codes, made once, of rows that lie in an even place; every question b"move" moves all rows by one."""
    prepared = state.prepared or {"codes": part.columns[2].astype(np.int64) + recipe["shift"], "none": np.empty((0, 2))}
    places = state.places or {"node": np.arange(part.n_rows) % 7, "asked": np.zeros(1, np.uint8)}
    if question == b"move":
        places = {"node": places["node"] + 1, "asked": places["asked"] + np.uint8(1)}
    elif question == b"touch":
        places = {**places, "asked": places["asked"] + np.uint8(1)}
    total = int(prepared["codes"][places["node"] % 2 == 0].sum())
    assert prepared["none"].shape == (0, 2)
    new = work.State(prepared, places)
    return new, np.array([total, part.n_rows, int(places["asked"][0])], np.int64).tobytes()


def toy_merge(first: bytes, second: bytes) -> bytes:
    one, two = np.frombuffer(first, np.int64), np.frombuffer(second, np.int64)
    return np.array([one[0] + two[0], one[1] + two[1], max(one[2], two[2])]).tobytes()


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "answer", toy_answer)
    monkeypatch.setattr(work, "merge", toy_merge)


# --- the same as in memory ------------------------------------------------------------------------------------------


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_parts_hold_the_rows_that_came_in(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(0, 60))
    whole = table(
        n_rows, weight=data.draw(st.booleans()), dealt=data.draw(st.booleans()), classes=data.draw(st.sampled_from([0, 3]))
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=6)))
    limit = data.draw(st.integers(1, 20_000))
    threads = data.draw(st.integers(1, 3))
    known = data.draw(st.sampled_from([None, n_rows]))
    with_folder = Path(os.environ.get("TMPDIR", "/tmp"))
    import tempfile

    with tempfile.TemporaryDirectory(dir=with_folder) as folder:
        parts = write_parts(pieces_of(whole, cuts), Path(folder), memory_limit=limit, n_threads=threads, n_rows=known)
        assert sum(parts.sizes) == n_rows
        assert max(parts.sizes) <= rows_per_part(whole, limit, threads)
        assert len(set(parts.sizes[:-1])) <= 1
        assert n_rows == 0 or min(parts.sizes) > 0
        held = parts.map(copied)
        together = replace(
            held[0],
            n_rows=n_rows,
            columns=tuple(np.concatenate(columns) for columns in zip(*(one.columns for one in held), strict=True)),
            **{
                name: None if getattr(whole, name) is None else np.concatenate([getattr(one, name) for one in held])
                for name in ("target", "weight", "dealt")
            },
        )
        assert rows_of(together) == rows_of(whole)
        assert (parts.kinds, parts.levels, parts.n_classes) == (whole.kinds, whole.levels, whole.n_classes)
        parts.close()
        assert os.listdir(folder) == []
