"""One tree on a cluster: treewright beside xgboost.dask, lightgbm.dask and Spark.

The rows are made from a seed and lie on the same two workers, persisted, before any clock starts; Spark, in local
mode with two threads, has them cached as vectors. What a library does to the rows before it grows (bins, codes,
matrices) is on its clock. Dask libraries take turns; a time is the best of three, for Spark of two. A peer that is
not installed or fails is named with its reason.

    python bench/cluster.py [--rows N] [--depth 10] [--partitions 16] [--only treewright ...] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from report import machine
from tables import Table, made
from timing import Record

import treewright as tw

WORKERS = 2
TARGET = "label"
NAMES = [f"x{place}" for place in range(28)]

#: What predicts held-out rows once a tree is learned.
Predict = Callable[[np.ndarray], np.ndarray]
Fit = Callable[[], Predict]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--only", nargs="*", choices=[*ON_DASK, "spark"], default=[*ON_DASK, "spark"])
    parser.add_argument("--json", type=Path, help="where the records go")
    chosen = parser.parse_args()
    table = made(chosen.rows, len(NAMES))
    with tempfile.TemporaryDirectory() as folder:
        store(table, Path(folder), chosen.partitions)
        records = [*on_dask(table, folder, chosen.depth, [name for name in ON_DASK if name in chosen.only])]
        if "spark" in chosen.only:
            records.append(on_spark(table, folder, chosen.depth))
    print(f"\n{markdown(records)}")
    if chosen.json:
        kept = {"machine": machine(), "records": [asdict(record) for record in records]}
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n")


def store(table: Table, folder: Path, partitions: int) -> None:
    """One Parquet file per partition: all libraries read the same rows."""
    for number, rows in enumerate(np.array_split(np.arange(len(table.y)), partitions)):
        block = slice(rows[0], rows[-1] + 1)
        columns = dict(zip(NAMES, table.x[block].T, strict=True))
        pq.write_table(pa.table({**columns, TARGET: table.y[block]}), folder / f"{number:05}.parquet")


# --- Dask -----------------------------------------------------------------------------------------------------------


def on_dask(table: Table, folder: str, depth: int, names: Sequence[str]) -> Iterator[Record]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster, wait

    logging.getLogger("distributed").setLevel(logging.ERROR)
    cluster = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit=0
    )
    with cluster, Client(cluster) as client:
        frame = dd.read_parquet(folder).persist()
        wait(frame)
        runs: dict[str, list[float]] = {name: [] for name in names}
        scores: dict[str, float] = {}
        failures: dict[str, str] = {}
        for _ in range(3):
            for name in names:
                if name not in failures:
                    attempt(table, name, lambda name=name: ON_DASK[name](client, frame, depth), runs, scores, failures)
        for name in names:
            yield record(table, name, depth, runs[name], scores.get(name), failures.get(name, ""))


def treewright(_client: Any, frame: Any, depth: int) -> Predict:
    recipe = replace(tw.CART, pruning=None, rivals=0, stopping=tw.stopping.Stopping(max_depth=depth))
    tree = tw.learn(frame, TARGET, recipe, task="classification")
    return lambda rows: tw.predict(tree, dict(zip(NAMES, rows.T, strict=True)))


def xgboost_dask(client: Any, frame: Any, depth: int) -> Predict:
    """By `train`: its estimator would first look for the classes, which takes longer than the tree."""
    from xgboost import dask

    matrix = dask.DaskQuantileDMatrix(client, frame[NAMES], frame[TARGET])
    choices = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": depth, "learning_rate": 1.0}
    booster = dask.train(client, {**choices, "verbosity": 0}, matrix, num_boost_round=1)["booster"]
    return lambda rows: (booster.inplace_predict(rows) > 0.5).astype(np.int64)


def lightgbm_dask(client: Any, frame: Any, depth: int) -> Predict:
    from lightgbm import DaskLGBMClassifier

    model = DaskLGBMClassifier(
        client=client, n_estimators=1, num_leaves=2**depth, max_depth=depth, learning_rate=1.0, verbose=-1
    )
    model.fit(frame[NAMES], frame[TARGET])
    local = model.to_local()
    return lambda rows: local.predict(rows, validate_features=False)


ON_DASK: dict[str, Callable[[Any, Any, int], Predict]] = {
    "treewright": treewright,
    "xgboost.dask": xgboost_dask,
    "lightgbm.dask": lightgbm_dask,
}


# --- Spark ----------------------------------------------------------------------------------------------------------


def on_spark(table: Table, folder: str, depth: int) -> Record:
    runs: dict[str, list[float]] = {"spark": []}
    scores: dict[str, float] = {}
    failures: dict[str, str] = {}
    try:
        with spark_fit(folder, depth) as fit:
            for _ in range(2):
                if not failures:
                    attempt(table, "spark", fit, runs, scores, failures)
    except Exception as error:  # noqa: BLE001
        failures["spark"] = reason(error)
    return record(table, "spark", depth, runs["spark"], scores.get("spark"), failures.get("spark", ""))


class spark_fit:  # noqa: N801
    """A Spark session with the table cached as vectors; entering gives the fit."""

    def __init__(self, folder: str, depth: int) -> None:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(f"local[{WORKERS}]").appName("bench")
        settings = {
            "spark.driver.memory": "6g",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.folder, self.depth = folder, depth

    def __enter__(self) -> Fit:
        from pyspark.ml.classification import DecisionTreeClassifier
        from pyspark.ml.feature import VectorAssembler

        vectors = VectorAssembler(inputCols=NAMES, outputCol="vector")
        rows = vectors.transform(self.session.read.parquet(self.folder)).select("vector", TARGET).cache()
        rows.count()

        def fit() -> Predict:
            learner = DecisionTreeClassifier(
                featuresCol="vector", labelCol=TARGET, maxDepth=self.depth, maxBins=256, maxMemoryInMB=1024
            )
            model = learner.fit(rows)

            def predict(given: np.ndarray) -> np.ndarray:
                file = f"{self.folder}-held-out.parquet"
                pq.write_table(pa.table(dict(zip(NAMES, given.T, strict=True))), file)
                try:
                    found = model.transform(vectors.transform(self.session.read.parquet(file).coalesce(1)))
                    return np.array([row.prediction for row in found.select("prediction").collect()]).astype(np.int64)
                finally:
                    Path(file).unlink()

            return predict

        return fit

    def __exit__(self, *_: object) -> None:
        self.session.stop()


# --- time and words -------------------------------------------------------------------------------------------------


def attempt(
    table: Table,
    name: str,
    fit: Fit,
    runs: dict[str, list[float]],
    scores: dict[str, float],
    failures: dict[str, str],
) -> None:
    try:
        start = time.perf_counter()
        predict = fit()
        runs[name].append(time.perf_counter() - start)
        scores[name] = table.score(predict)
        print(f"  {name}: {runs[name][-1]:.2f} s, {scores[name]:.4f}", flush=True)
    except Exception as error:  # noqa: BLE001
        failures[name] = reason(error)
        print(f"  {name}: {failures[name]}", flush=True)


def reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:120]


def record(table: Table, name: str, depth: int, runs: list[float], score: float | None, failure: str) -> Record:
    case = f"{table.shape}, depth {depth}"
    load = round(os.getloadavg()[0], 1)
    return Record("cluster", case, name, tuple(runs), score, failure, exact=name == "treewright", load=load)


def markdown(records: Sequence[Record]) -> str:
    ours = next((r.best for r in records if r.contender == "treewright"), None)
    lines = [f"{records[0].case}, {WORKERS} workers; {machine()}.", ""]
    lines += ["| | seconds | times ours | held-out accuracy |", "|---|---|---|---|"]
    for r in records:
        ratio = "" if r.best is None or ours is None else f"{r.best / ours:.2f}"
        seconds = r.failure if r.best is None else f"{r.best:.2f}"
        lines.append(f"| {r.contender} | {seconds} | {ratio} | {'' if r.score is None else f'{r.score:.4f}'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
