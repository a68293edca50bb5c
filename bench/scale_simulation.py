"""How long a tree takes on a cluster, and what is sent: the formula of docs/scale.md, as a program.

Every constant stands at the top, with where it comes from; nothing is measured here. `check` sets the formula beside
measurements, so that whoever doubts it can add one.

    python bench/scale_simulation.py                 print the tables
    python bench/scale_simulation.py --picture FILE  draw time against workers
    python bench/scale_simulation.py --write-docs    put the tables into docs/scale.md
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# --- constants --------------------------------------------------------------------------------------------------------

# Nanoseconds per value (row and column) and core. docs/benchmarks.md, 10^6 x 28, depth 10, one thread: 38 in all; the
# core's own account of a fit says how they are shared out.
READ = 5.0  # a value out of a Parquet file, in each of two passes
CODE = 8.0  # into bins, once
COUNT = 1.0  # per level: the smaller of two siblings, the larger is the parent less it
DIVIDE = 0.3  # per level: rows to children
ZOOM = 1.6  # per level: looking for rows of opened bins, and into them

OPENED = 0.004  # of the bins of a node, so many are looked into: 0.006 at the root, 0.003 further down
LEFT = 0.4  # for each range whose cells were told, so many cells are looked into again
CHOOSE = 10.0  # nanoseconds per bin that whoever asks spends on finding the best cut, and his cores share
MERGE = 2e9  # bytes of answers that a core adds up in a second

TASK = 1e-3  # seconds per task at the scheduler of Dask
FAN = 8  # answers merged by one task
LATENCY = 1e-3  # seconds from a task's end to the beginning of what waits for it

# What the program does (core/remote/remote_rows.cpp, core/remote/remote_histogram_rows.cpp,
# growing/grow_partitions.py).
SAMPLE = 16_384  # rows that choose the bins
BINS = 256  # per column
FEW_ROWS = 1 << 18  # rows in all opened ranges of a level that are told value by value
FEW_IN_RANGE = 256  # or in one of them
CELLS = 64  # into which other ranges are divided
APART = 2048  # a node of so few rows is sent whole, unless its subtree has two levels at most

RANGE = 28  # bytes of a range in a question
SPLIT = 100  # bytes of a split in a question
CUT = 16  # bytes of an answer about the values on both sides of a cut


@dataclass(frozen=True)
class Table:
    """What is learned from. `counter`: bytes per bin: 8 for two classes, 4 per class for many, 24 for numbers."""

    rows: float
    columns: int = 28
    depth: int = 10
    counter: int = 8
    bytes_per_value: float = 4.0  # in the file


@dataclass(frozen=True)
class Cluster:
    """Workers of so many cores, the network between them, and how fast each reads its files (bytes per second)."""

    workers: int
    gbit: float = 10.0
    cores: int = 16
    disk: float = 1e9

    @property
    def bandwidth(self) -> float:
        return self.gbit * 1e9 / 8

    @property
    def steps(self) -> list[float]:
        """From one answer per worker to one answer: how many become one, step by step."""
        groups, left = [], self.workers
        while left > 1:
            after = math.ceil(left / FAN)
            groups.append(left / after)
            left = after
        return groups


@dataclass(frozen=True)
class Level:
    """What one level takes. `sent` is what a worker says of its own rows, `received` what the client gets."""

    asked: int
    computing: float
    sending: float
    scheduling: float
    sent: float
    received: float

    @property
    def seconds(self) -> float:
        return self.computing + self.sending + self.scheduling


# --- the formula ------------------------------------------------------------------------------------------------------


def fit(table: Table, cluster: Cluster) -> list[Level]:
    """The rounds before the tree grows, then every level; the last one may finish all that is left."""
    levels = [_coding(table, cluster)]
    for depth in range(table.depth):
        if sent_whole(table, depth):
            return [*levels, _finished_here(table, cluster)]
        levels.append(_level(table, cluster, depth))
    return levels


def seconds(table: Table, cluster: Cluster) -> float:
    return sum(level.seconds for level in fit(table, cluster))


def parts(cluster: Cluster) -> int:
    """Every core has one: the partitions that lie on a worker are put together."""
    return cluster.workers * cluster.cores


def histogram_bytes(table: Table, depth: int) -> float:
    """Of two siblings one is counted."""
    counted = 1 if depth == 0 else 2 ** (depth - 1)
    return float(counted * table.columns * BINS * table.counter)


def zoom(table: Table, depth: int) -> list[tuple[float, float]]:
    """Ranges that are asked about and bytes of the answer, round by round, if all values differ.

    Cells of ranges with many rows, then the values of those with few.
    """
    nodes = 2**depth
    ranges, rows = nodes * table.columns * BINS * OPENED, table.rows / nodes / BINS
    rounds = []
    while ranges * rows > FEW_ROWS and rows > FEW_IN_RANGE:
        rounds.append((ranges, ranges * CELLS * (8 + table.counter)))
        ranges, rows = ranges * LEFT, rows / CELLS
    return [*rounds, (ranges, ranges * rows * (8 + table.counter))]


def sent_whole(table: Table, depth: int) -> bool:
    """Whether the nodes of a level are finished by the client."""
    rows = table.rows / 2**depth
    return rows <= 256 or (rows <= APART and table.depth - depth > 2)


def _coding(table: Table, cluster: Cluster) -> Level:
    """Two passes over the files: a sample and the levels of each column, then codes."""
    values = table.rows * table.columns
    work = values * (2 * READ + CODE) * 1e-9 / (cluster.workers * cluster.cores)
    reading = 2 * values * table.bytes_per_value / (cluster.workers * cluster.disk)
    sketch = float(table.columns * SAMPLE * 8)
    return Level(
        asked=2,
        computing=max(work, reading),
        sending=_reduced(cluster, sketch, grows=False),
        scheduling=2 * _tasks(cluster),
        sent=sketch,
        received=sketch,
    )


def _level(table: Table, cluster: Cluster, depth: int) -> Level:
    nodes = 2**depth
    histograms, rounds = histogram_bytes(table, depth), zoom(table, depth)
    *cells, values = [size for _, size in rounds]
    work = table.rows * table.columns * (COUNT + DIVIDE + ZOOM) * 1e-9 / (cluster.workers * cluster.cores)
    choosing = nodes * table.columns * BINS * CHOOSE * 1e-9
    # Cells of all parts are the same cells, so merging keeps their number; values are other values in every part.
    sending = sum(_reduced(cluster, size, grows=False) for size in (histograms, *cells, nodes * CUT))
    sending += _reduced(cluster, values, grows=True)
    questions = nodes * SPLIT + sum(ranges for ranges, _ in rounds) * RANGE
    sending += len(cluster.steps) * (LATENCY + questions / cluster.bandwidth)
    asked = 1 + len(rounds)  # children are counted while they are made, edges come with the first cells
    same = histograms + sum(cells) + nodes * CUT
    scheduling = asked * _tasks(cluster)
    return Level(asked, work + choosing, sending, scheduling, same + values / cluster.workers, same + values)


def _finished_here(table: Table, cluster: Cluster) -> Level:
    """The rows are sent whole, and the client goes on alone with all levels below."""
    size = table.rows * (8 * table.columns + 16)
    return Level(1, 0.0, size / cluster.bandwidth, _tasks(cluster), size / cluster.workers, size)


def _reduced(cluster: Cluster, size: float, *, grows: bool) -> float:
    """Seconds until answers of this size (together, if they grow) are one answer at the client."""
    here = float(cluster.cores)
    answer = size / cluster.workers if grows else size
    took = (1 if grows else here) * answer / MERGE / (1 if grows else min(here, cluster.cores))
    for group in cluster.steps:
        took += LATENCY + (group - 1) * answer * (1 / cluster.bandwidth + 1 / MERGE)
        answer = answer * group if grows else size
    return took + LATENCY + size / cluster.bandwidth


def _tasks(cluster: Cluster) -> float:
    """Seconds at the scheduler for one question: a task per part, and those that merge."""
    return parts(cluster) * (1 + 1 / (FAN - 1)) * TASK


# --- beside measurements ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """A fit that was timed. `scheduled`: by Dask; otherwise in memory, from a table that is there already."""

    what: str
    rows: float
    workers: int
    cores: int
    seconds: float | None
    bytes: float | None = None  # received by the client
    columns: int = 28
    depth: int = 10
    scheduled: bool = True


MEASURED = (
    # docs/benchmarks.md, growth-rows and threads: one process, a table in memory.
    Measured("in memory, one thread", 1e6, 1, 1, 1.07, scheduled=False),
    Measured("in memory, two threads", 1e6, 1, 2, 0.525, scheduled=False),
    Measured("in memory, two threads", 1e7, 1, 2, 3.9, scheduled=False),
    # Four parts in memory (parts.memory), the made table: the sizes of all answers.
    Measured("four partitions", 2e5, 1, 4, None, 28e6),
    Measured("four partitions", 1e6, 1, 4, None, 56e6),
    Measured("four partitions", 5e6, 1, 4, None, 78e6),
    # bench/cluster.py, its table persisted on the workers; bytes from the log of a fit of 8 million rows.
    Measured("Dask on one machine", 1e7, 2, 1, 7.33),
    Measured("Dask on one machine", 8e6, 2, 1, None, 86.8e6),
)


def check(measured: Iterable[Measured] = MEASURED) -> list[tuple[Measured, float, float | None]]:
    """For each measurement, the seconds and the bytes that the formula gives."""
    return [(one, *_expected(one)) for one in measured]


def _expected(one: Measured) -> tuple[float, float | None]:
    table = Table(one.rows, one.columns, one.depth)
    if not one.scheduled:
        per_value = CODE + one.depth * (COUNT + DIVIDE + ZOOM)
        return one.rows * one.columns * per_value * 1e-9 / one.cores, None
    levels = fit(table, Cluster(one.workers, gbit=20.0, cores=one.cores))
    return sum(level.seconds for level in levels), sum(level.received for level in levels)


# --- tables and picture -----------------------------------------------------------------------------------------------

WORKERS = (1, 4, 16, 64, 256, 1000)
NETWORKS = (1.0, 10.0, 100.0)
TABLES = {"10⁹": Table(1e9), "10¹²": Table(1e12)}


def duration(value: float) -> str:
    """
    >>> duration(0.42), duration(42), duration(2700), duration(400_000)
    ('0.42 s', '42 s', '45 min', '111 h')
    """
    if value < 60:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    unit, name = (60, "min") if value < 3600 else (3600, "h")
    return f"{value / unit:.1f} {name}" if value / unit < 9.95 and value % unit else f"{value / unit:.0f} {name}"


def size(value: float) -> str:
    """
    >>> size(900), size(3.2e6), size(5.4e9)
    ('900 B', '3.2 MB', '5.4 GB')
    """
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= least:
            return f"{value / least:.2g} {unit}" if value / least < 10 else f"{value / least:,.0f} {unit}"
    return f"{value:.0f} B"


def time_table() -> str:
    """Seconds by workers and network."""
    lines = ["| rows | Gbit/s | " + " | ".join(f"{n} workers" if n > 1 else "1 worker" for n in WORKERS) + " |"]
    lines.append("|---|---|" + "---|" * len(WORKERS))
    for name, table in TABLES.items():
        for gbit in NETWORKS:
            times = [duration(seconds(table, Cluster(n, gbit))) for n in WORKERS]
            lines.append(f"| {name} | {gbit:.0f} | " + " | ".join(times) + " |")
    return "\n".join(lines)


def level_table(workers: int = 64) -> str:
    """Level by level: what is sent, and where the time goes."""
    lines = ["| rows | level | requests | sent by a worker | received | computing | sending | tasks |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for name, table in TABLES.items():
        for place, level in enumerate(fit(table, Cluster(workers))):
            if place in (0, 1, 4, 7, table.depth):
                told = (size(level.sent), size(level.received), *map(duration, (level.computing, level.sending)))
                told = (*told, duration(level.scheduling))
                title = "before" if place == 0 else str(place - 1)
                lines.append(f"| {name} | {title} | {level.asked} | " + " | ".join(told) + " |")
    return "\n".join(lines)


def check_table() -> str:
    head = "| measured | rows | workers x cores | seconds | by the formula | received | by the formula |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for one, expected, received in check():
        times = ["", ""] if one.seconds is None else [f"{one.seconds:.3g}", f"{expected:.3g}"]
        sizes = ["", ""] if one.bytes is None or received is None else [size(one.bytes), size(received)]
        cells = [one.what, f"{one.rows:,.0f}", f"{one.workers} x {one.cores}", *times, *sizes]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def picture() -> Any:
    """Time against workers, one panel per table."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    workers = sorted({round(10 ** (step / 12)) for step in range(37)})
    figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.2), constrained_layout=True)
    colours = dict(zip(NETWORKS, ("#d1495b", "#005f99", "#3b8132"), strict=True))
    for axes, (name, table) in zip(panels, TABLES.items(), strict=True):
        curve = [sum(level.computing for level in fit(table, Cluster(n))) for n in workers]
        axes.plot(workers, curve, color="#999999", linestyle=":", label="computing alone")
        for gbit in NETWORKS:
            axes.plot(
                workers,
                [seconds(table, Cluster(n, gbit)) for n in workers],
                color=colours[gbit],
                label=f"{gbit:.0f} Gbit/s",
            )
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="workers of 16 cores",
            title=f"{name} rows × {table.columns}",
        )
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        low, high = axes.get_ylim()
        marks = [mark for mark in (0.1, 1, 10, 60, 600, 3600, 36_000, 360_000) if low <= mark <= high]
        axes.set_yticks(marks, [duration(mark) for mark in marks])
        axes.minorticks_off()
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    panels[0].set_ylabel("time for a tree of depth 10")
    panels[0].legend(frameon=False)
    return figure


PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
SECTIONS: dict[str, Callable[[], str]] = {"times": time_table, "levels": level_table, "check": check_table}


def write_docs() -> None:
    """Each table in place of what stands between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in SECTIONS.items():
        marks = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
        replaced = f"{marks[0]}\n\n{made()}\n\n{marks[1]}"
        text = re.sub(pattern, lambda _, new=replaced: new, text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    if "--picture" in arguments:
        picture().savefig(arguments[arguments.index("--picture") + 1], dpi=100)
    elif "--write-docs" in arguments:
        write_docs()
    else:
        print("\n\n".join(made() for made in SECTIONS.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
