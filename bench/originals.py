"""The recipes beside the programs they are named after, Weka's J48 and R's rpart; what pruning and CHAID take.

Times are processor seconds, for a machine that others use, the best of some runs: of `learn` from a table in memory,
whose columns of levels are categorical, as Weka's instances and R's factors are when their time begins;
of rpart by R's clock, without cross-validation; of J48 the process less one that only reads the file (ZeroR).

Run: python bench/originals.py [J48 rpart levels pruning CHAID ...] [--runs 3]
R and Weka are left out where they are not installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from tables import made_mixed_levels

import treewright as tw

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
WEKA = "/usr/share/java/weka.jar"
TARGETS = {"adult": "income", "letter": "class", "covertype": "Cover_Type", "diamonds": "price", "flights": "arr_delay"}
CLASSES = ("adult", "letter", "covertype")
FULL_TREE = replace(tw.RPART, stopping=tw.stopping.Stopping(max_depth=30), simplify=tw.stopping.Complexity(0.0))
RPART_TREES = {
    "its own defaults": (tw.RPART, "xval = 0"),
    "a full tree": (FULL_TREE, "xval = 0, cp = 0, minsplit = 2, minbucket = 1"),
}
R_PROGRAM = """
library(rpart)
d <- read.csv("{file}", stringsAsFactors = TRUE, na.strings = "")
t <- system.time(f <- rpart({target} ~ ., d, control = rpart.control({control})))
cat(nrow(f$frame), t[["user.self"]] + t[["sys.self"]])
"""


def read(name: str) -> pa.Table:
    """Read a table with its target as `answer`, classes as words, so that all programs see the same."""
    table = pq.read_table(DATA / f"{name}.parquet")
    if name in CLASSES:
        at = table.column_names.index(TARGETS[name])
        words = pc.binary_join_element_wise("is ", pc.cast(table[at], pa.string()), "")
        table = table.append_column("answer", words).remove_column(at)
    else:
        table = table.append_column("answer", table[TARGETS[name]]).drop_columns([TARGETS[name]])
    table = table.filter(table["answer"].is_valid())
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(at, field.name, table[at].dictionary_encode())
    return table


def best(runs: int, act: Callable[[], tw.Tree]) -> tuple[float, tw.Tree]:
    seconds = []
    for _ in range(runs):
        begun = time.process_time()
        tree = act()
        seconds.append(time.process_time() - begun)
    return min(seconds), tree


def of_process(command: list[str]) -> float:
    """Processor seconds of a process and all its threads."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def line(what: str, nodes: int, ours: float, theirs: float | None) -> None:
    beside = "" if theirs is None else f", theirs {theirs:.2f} s ({theirs / ours:.1f} x)"
    print(f"{what}: {nodes:,} nodes, {ours:.3f} s{beside}", flush=True)


def beside_weka(runs: int) -> None:
    for name in CLASSES:
        table, theirs = read(name), None
        ours, tree = best(runs, lambda table=table: tw.learn(table, "answer", tw.J48))
        if Path(WEKA).is_file() and shutil.which("java"):
            with tempfile.TemporaryDirectory() as folder:
                file = f"{folder}/table.csv"
                pyarrow.csv.write_csv(table, file)
                run = ["java", "-Xmx4g", "-XX:+UseSerialGC", "-cp", WEKA]
                arff = Path(folder, "table.arff")
                with arff.open("wb") as out:
                    subprocess.run([*run, "weka.core.converters.CSVLoader", file], check=True, stdout=out)
                options = ["-t", str(arff), "-no-cv", "-v", "-o"]
                theirs = min(
                    of_process([*run, "weka.classifiers.trees.J48", *options])
                    - of_process([*run, "weka.classifiers.rules.ZeroR", *options])
                    for _ in range(min(runs, 2))
                )
        line(f"J48 on {name}", tree.n_nodes, ours, theirs)


def of_rpart(table: pa.Table, control: str, runs: int) -> tuple[str, float | None]:
    """The number of nodes of rpart's tree, in words, and its processor seconds; the table is a data.frame before."""
    if not shutil.which("Rscript"):
        return "", None
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/table.csv"
        pyarrow.csv.write_csv(table, file)
        program = R_PROGRAM.format(file=file, target="answer", control=control)
        said = [
            subprocess.run(["Rscript", "-e", program], check=True, capture_output=True, text=True).stdout
            for _ in range(min(runs, 2))
        ]
    return f" ({said[0].split()[0]} there)", min(float(words.split()[1]) for words in said)


def with_levels(table: pa.Table) -> pa.Table:
    """Words as levels, as R's data.frame has them."""
    columns = [c.dictionary_encode() if pa.types.is_string(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names)


def beside_rpart(runs: int) -> None:
    for name in ("adult", "diamonds", "letter"):
        for what, (recipe, control) in RPART_TREES.items():
            words = read(name)
            table = with_levels(words)
            ours, tree = best(runs, lambda table=table, recipe=recipe: tw.learn(table, "answer", recipe))
            nodes, theirs = of_rpart(words, control, runs)
            line(f"rpart, {what}, on {name}{nodes}", tree.n_nodes, ours, theirs)


def beside_rpart_on_levels(runs: int) -> None:
    """Twenty columns of 2 to 1,000 levels to depth 10: no surrogates and no rivals on either side."""
    made = made_mixed_levels(200_000)
    words = {f"x{j}": [f"v{int(code)}" for code in made.x[:, j]] for j in made.nominal}
    table = pa.table(words | {"answer": [f"is {label}" for label in made.y]})
    recipe = replace(FULL_TREE, rivals=0, missing="majority", stopping=tw.stopping.Stopping(max_depth=10))
    levels = with_levels(table)
    ours, tree = best(runs, lambda: tw.learn(levels, "answer", recipe))
    control = "xval = 0, cp = 0, minsplit = 2, minbucket = 1, maxdepth = 10, maxcompete = 0, maxsurrogate = 0"
    nodes, theirs = of_rpart(table, control, 1)
    line(f"rpart, depth 10, on 20 columns of levels{nodes}", tree.n_nodes, ours, theirs)


def pruning(runs: int) -> None:
    table = read("covertype")
    for recipe in (tw.C45, tw.J48):
        grown, _ = best(runs, lambda recipe=recipe: tw.learn(table, "answer", replace(recipe, pruning=None)))
        pruned, tree = best(runs, lambda recipe=recipe: tw.learn(table, "answer", recipe))
        share = (pruned - grown) / grown
        print(f"{recipe.name} on covertype: {tree.n_nodes:,} nodes, {grown:.2f} s, pruned {pruned:.2f} s ({share:.2f})")


def chaid(_: int) -> None:
    table = read("flights")
    ours, tree = best(1, lambda: tw.learn(table, "answer", tw.CHAID))
    line("CHAID on flights", tree.n_nodes, ours, None)


PARTS = {
    "J48": beside_weka,
    "rpart": beside_rpart,
    "levels": beside_rpart_on_levels,
    "pruning": pruning,
    "CHAID": chaid,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    arguments.add_argument("--runs", type=int, default=3)
    options = arguments.parse_args()
    for part in options.part or PARTS:
        PARTS[part](options.runs)


if __name__ == "__main__":
    main()
