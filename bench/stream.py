"""How much memory `treewright predict` needs for a CSV file that is larger than memory.

The file is made for the purpose, from a seed, in a temporary folder (or --folder), and removed.

    python bench/stream.py --gigabytes 5
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import treewright as tw

LIMIT = 1.0  # gigabytes
BYTES_PER_ROW = 74  # of the table below, as CSV

TABLE = """
    SELECT i AS id, round(random() * 80, 1) AS age, round(random() * 500, 2) AS fare,
           CASE WHEN random() < 0.05 THEN NULL ELSE round(random() * 10, 3) END AS dose,
           ['north', 'south', 'east', 'west'][1 + (random() * 3.999)::INT % 4] AS region,
           round(random() * 1000, 4) AS a, round(random() * 1000, 4) AS b, round(random() * 1000, 4) AS c,
           round(random() * 1000, 4) AS d, round(random() * 1000, 4) AS e
    FROM range({rows}) AS rows(i)
"""

SAMPLE = f"""
    SELECT * EXCLUDE (id), CASE WHEN age < 30 OR fare > 400 AND region = 'east' THEN 'yes' ELSE 'no' END AS answer
    FROM ({TABLE.format(rows=20_000)})
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--output", default="answers.csv", help="its ending is the form of the answers")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        rows = int(arguments.gigabytes * 1e9 / BYTES_PER_ROW)
        connection = duckdb.connect()
        connection.execute("SET enable_progress_bar = false; SELECT setseed(0.5)")
        connection.execute(f"COPY ({TABLE.format(rows=rows)}) TO '{folder / 'rows.csv'}' (HEADER)")
        tree = tw.learn(connection.sql(SAMPLE), "answer", tw.C45)
        tw.save(tree, folder / "tree.json")
        size = (folder / "rows.csv").stat().st_size
        print(f"{size / 1e9:.2f} GB, {rows:,} rows; a tree of {tree.n_leaves} leaves", flush=True)
        command = [sys.executable, "-m", "treewright", "predict", "tree.json", "rows.csv", "-o", arguments.output]
        begun = time.perf_counter()
        process = subprocess.Popen([*command, "--keep", "id", "--probabilities"], cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        seconds, peak = time.perf_counter() - begun, usage.ru_maxrss * 1024 / 1e9
        print(f"{seconds:.1f} s, {rows / seconds:,.0f} rows per second, peak memory {peak:.2f} GB (limit {LIMIT} GB)")
        return 0 if status == 0 and peak < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
