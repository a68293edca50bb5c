"""A tree of a table much larger than the memory it may use, beside reading the file once.

The table is made for the purpose, from a seed, as Parquet files in a temporary folder (or --folder), and removed.
Numbers are float64 in full precision, two classes. The file is dropped from the cache of the system before it is
read, where the system lets us.

    python bench/out_of_core.py --gigabytes 20
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = 28
ROWS_PER_FILE = 4_000_000
ROWS_PER_GROUP = 250_000
LIMIT = 2.0  # gigabytes that the process may take in all

READ = """
import sys, pyarrow.dataset as ds
rows = 0
for batch in ds.dataset(sys.argv[1], format="parquet").to_batches(batch_readahead=1, fragment_readahead=1):
    rows += batch.num_rows
print(rows)
"""

LEARN = """
import json, sys
from dataclasses import replace
import treewright as tw
folder, scratch, limit, depth = sys.argv[1:]
recipe = replace(tw.CART, pruning=None, rivals=0, stopping=tw.stopping.Stopping(max_depth=int(depth)))
tree = tw.learn(folder + "/*.parquet", "answer", recipe, memory_limit=limit, scratch=scratch)
most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
found = {"leaves": tree.n_leaves, "depth": tree.depth, "rows": int(tree.arrays["rows"][0])}
print(json.dumps(found | {"kilobytes": int(most.split()[1])}))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=20.0, help="of the numbers, as they would lie in memory")
    parser.add_argument("--memory-limit", default="1.2GB")
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    rows = int(arguments.gigabytes * 1e9 / (8 * COLUMNS))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        table, scratch = Path(name, "table"), Path(name, "scratch")
        table.mkdir()
        scratch.mkdir()
        write(table, rows)
        size = sum(file.stat().st_size for file in table.iterdir())
        print(
            f"{rows:,} rows x {COLUMNS} float64: {8 * COLUMNS * rows / 1e9:.1f} GB, on disk {size / 1e9:.1f} GB",
            flush=True,
        )
        forget(table)
        _, read = timed(READ, str(table))
        print(f"read once: {read:.0f} s", flush=True)
        forget(table)
        output, seconds = timed(LEARN, str(table), str(scratch), arguments.memory_limit, str(arguments.depth))
        tree = json.loads(output)
        peak = tree["kilobytes"] * 1024 / 1e9
        left = list(scratch.iterdir())
        print(
            f"learned: {seconds:.0f} s ({seconds / read:.1f} times reading), depth {tree['depth']}, {tree['leaves']} "
            f"leaves of {tree['rows']:,} rows; peak memory {peak:.2f} GB (limit {LIMIT} GB); left in scratch: {left}"
        )
        return 0 if peak < LIMIT and not left and tree["rows"] == rows else 1


def write(folder: Path, rows: int) -> None:
    """The table, file by file: sums, products and waves of some columns decide, the others are noise."""
    rng = np.random.default_rng(0)
    for number, begin in enumerate(range(0, rows, ROWS_PER_FILE)):
        n = min(ROWS_PER_FILE, rows - begin)
        columns = [rng.standard_normal(n) for _ in range(COLUMNS)]
        signal = columns[0] + columns[1] * columns[2] + np.sin(2 * columns[3]) + 0.5 * rng.standard_normal(n)
        names = [f"x{i}" for i in range(COLUMNS)]
        arrays = [*columns, np.where(signal > 0, "yes", "no")]
        pq.write_table(
            pa.table(dict(zip([*names, "answer"], arrays, strict=True))),
            folder / f"rows-{number:03}.parquet",
            row_group_size=ROWS_PER_GROUP,
            use_dictionary=["answer"],
            compression="none",
        )


def forget(folder: Path) -> None:
    """Have the system drop the files from its cache."""
    os.sync()
    for file in folder.iterdir():
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(program: str, *arguments: str) -> tuple[str, float]:
    """What a program prints, and its seconds."""
    begun = time.perf_counter()
    printed = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    ).stdout
    return printed, time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
