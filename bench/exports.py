"""Scoring elsewhere: how long DuckDB takes for a tree as SQL and onnxruntime for a tree as ONNX, beside `predict`.

All predict the same rows, repeated until there are enough; DuckDB holds them in a table of its own, onnxruntime in
arrays of float64 and text, and `predict` is given them as Arrow. Each time is the best of three.

Run: python bench/exports.py [FOLDER] [--rows N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import onnxruntime
import pyarrow as pa
import pyarrow.parquet as pq

import treewright as tw

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
JOBS = (
    ("adult", "income", tw.CART),
    ("adult", "income", tw.C45),
    ("adult", "income", tw.SKLEARN),
    ("covertype", "Cover_Type", tw.CART),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--learn", type=int, default=20_000, help="rows to learn from")
    chosen = parser.parse_args()
    times = f"{'predict s':>9} {'DuckDB s':>9} {'ONNX s':>9}"
    print(f"{'table':10} {'recipe':8} {'leaves':>6} {'rows':>9} {times} {'disagree':>8}")
    for table, target, recipe in JOBS:
        measure(chosen.folder / f"{table}.parquet", target, recipe, chosen.rows, chosen.learn)


def measure(path: Path, target: str, recipe: tw.Recipe, n_rows: int, n_learn: int) -> None:
    whole = plain(pq.read_table(path))
    tree = tw.learn(whole.slice(0, n_learn), target, recipe, task="classification")
    columns = whole.drop_columns([target])
    rows = pa.concat_tables([columns] * (n_rows // len(columns) + 1)).slice(0, n_rows).combine_chunks()
    rows = rows.append_column("row_number", pa.array(range(n_rows)))
    statement = tw.export.sql(tree, dialect="duckdb", table="rows", keep=("row_number",))
    with duckdb.connect() as database:
        database.register("given", rows)
        database.execute("CREATE TABLE rows AS SELECT * FROM given")
        ours, mine = best_of_three(lambda: tw.predict(tree, rows))
        theirs, found = best_of_three(lambda: database.sql(statement).to_arrow_table())
    wrong = int((mine[found.column("row_number").to_numpy()] != found.column("prediction").to_numpy()).sum())
    onnx, labels = best_of_three(onnx_job(tree, rows))
    wrong += int((mine != labels).sum())
    name = path.stem
    print(
        f"{name:10} {recipe.name:8} {tree.n_leaves:6} {n_rows:9} {ours:9.2f} {theirs:9.2f} {onnx:9.2f} {wrong:8}",
        flush=True,
    )


def onnx_job(tree: tw.Tree, rows: pa.Table) -> Callable[[], Any]:
    """Predict labels and probabilities, as a server would; return the labels."""
    session = onnxruntime.InferenceSession(tw.export.onnx(tree), providers=["CPUExecutionProvider"])
    given = {}
    for each in session.get_inputs():
        column = rows.column(each.name).combine_chunks()
        text = each.type == "tensor(string)"
        values = (
            column.fill_null("").to_numpy(zero_copy_only=False)
            if text
            else column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        )
        given[each.name] = values.astype(object if text else float).reshape(-1, 1)
    return lambda: session.run(["label", "probabilities"], given)[0]


def plain(table: pa.Table) -> pa.Table:
    """Categories as text: both sides then read the same."""
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        columns[name] = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pa.table(columns)


def best_of_three(job: Callable[[], Any]) -> tuple[float, Any]:
    times, result = [], None
    for _ in range(3):
        start = time.perf_counter()
        result = job()
        times.append(time.perf_counter() - start)
    return min(times), result


if __name__ == "__main__":
    main()
