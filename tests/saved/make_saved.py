"""Writes the saved trees that every later version must read: small trees of every kind, and what they answer.

A file that exists is never written again; kept files are the promise.

Run: python tests/saved/make_saved.py version-1
"""

from __future__ import annotations

import dataclasses
import json
import sys
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import treewright as tw

HERE = Path(__file__).resolve().parent
GROWN = dataclasses.replace(tw.CART, pruning=None, stopping=tw.stopping.Stopping(max_depth=4))


def table(seed: int, gaps: float, rows: int = 160) -> pa.Table:
    rng = np.random.default_rng(seed)
    moment = datetime(2024, 2, 28, 12, 30)  # noqa: DTZ001
    columns = {
        "size": pa.array(rng.normal(10, 3, rows).round(2)),
        "town": pa.array(rng.choice(["Köln", "São Paulo", "木", 'a "b", c', ""], rows).tolist()),
        "grade": pa.array(rng.choice([3, 1, 2], rows).tolist()),
        "member": pa.array((rng.random(rows) < 0.4).tolist()),
        "day": pa.array([date(2024, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 400, rows)]),
        "at": pa.array([moment + timedelta(minutes=int(m)) for m in rng.integers(0, 10**6, rows)], pa.timestamp("us")),
        "clock": pa.array([time(int(h), int(m)) for h, m in rng.integers(0, 24, (rows, 2))], pa.time64("us")),
        "took": pa.array([timedelta(seconds=int(s)) for s in rng.integers(-99, 9999, rows)], pa.duration("us")),
    }
    return pa.table({name: holed(column, rng.random(rows) < gaps) for name, column in columns.items()})


def holed(column: pa.Array, lost: np.ndarray) -> pa.Array:
    pairs = zip(column.to_pylist(), lost, strict=True)
    return pa.array([None if hole else value for value, hole in pairs], column.type)


def classes(rows: pa.Table, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    size = np.array([value or 10 for value in rows["size"].to_pylist()])
    town = np.array([value == "木" for value in rows["town"].to_pylist()])
    member = np.array([bool(value) for value in rows["member"].to_pylist()])
    score = size + 4 * town - 3 * member + rng.normal(0, 1.5, len(rows))
    return np.select([score > 12, score > 9], ["much", "some"], "none").tolist()


def trees() -> dict[str, tuple[tw.Tree, float]]:
    """Trees by name, and how many values their rows lack."""
    full, holes = table(1, 0.0), table(2, 0.12)
    y, z = classes(full, 3), classes(holes, 4)
    amount = [{"none": 0.0, "some": 2.0, "much": 7.0}[each] + i % 3 for i, each in enumerate(z)]
    levels = holes.select(["town", "grade", "member"])
    kinds = {"grade": [1, 2, 3]}
    learn = {
        "id3": lambda: tw.learn(full.select(["town", "member"]), y, tw.ID3),
        "c45": lambda: tw.learn(holes, z, tw.C45, kinds=kinds),
        "j48": lambda: tw.learn(holes, z, tw.J48, kinds=kinds),
        "cart": lambda: tw.learn(holes, z, tw.CART, kinds=kinds),
        "cart-numbers": lambda: tw.learn(holes, amount, GROWN),
        "rpart": lambda: tw.learn(holes, z, tw.RPART),
        "rpart-numbers": lambda: tw.learn(holes, amount, tw.RPART),
        "sklearn": lambda: tw.learn(full.select(["size"]), y, tw.SKLEARN),
        "chaid": lambda: tw.learn(holes, z, small(tw.CHAID)),
        "chaid-numbers": lambda: tw.learn(holes, amount, small(tw.CHAID)),
        "exhaustive-chaid": lambda: tw.learn(levels, z, small(tw.EXHAUSTIVE_CHAID)),
        "absolute-error": lambda: tw.learn(
            holes, amount, dataclasses.replace(GROWN, regression=tw.criterion.AbsoluteError())
        ),
        "poisson": lambda: tw.learn(holes, amount, dataclasses.replace(GROWN, regression=tw.criterion.Poisson())),
        "costs": lambda: tw.learn(holes, z, GROWN, costs={"much": {"none": 8.0}}),
        "priors": lambda: tw.learn(holes, z, GROWN, priors={"much": 0.2, "none": 0.3, "some": 0.5}),
        "weights": lambda: tw.learn(holes, z, tw.C45, weight=[0.25 + i % 4 for i in range(len(z))]),
        "leaf": lambda: tw.learn(full, y, dataclasses.replace(GROWN, stopping=tw.stopping.Stopping(max_depth=0))),
        "truth": lambda: tw.learn(holes, [each == "none" for each in z], GROWN),
    }
    policies = {
        "random": tw.missing.RandomChild(),
        "own": tw.missing.OwnCategory(),
        "majority": tw.missing.MajorityChild(),
        "learned": tw.missing.LearnedDirection(),
        "ignore": tw.missing.Ignore(),
        "spread": tw.missing.Fractional(),
    }
    for name, policy in policies.items():
        recipe = dataclasses.replace(GROWN, missing=policy, unseen="majority" if name == "majority" else "missing")
        learn[f"missing-{name}"] = lambda recipe=recipe: tw.learn(holes, z, recipe)
    whole = ("id3",)
    return {name: (make(), 0.0 if name in whole else 0.2) for name, make in learn.items()}


def small(recipe: tw.Recipe) -> tw.Recipe:
    return dataclasses.replace(
        recipe,
        branching=dataclasses.replace(recipe.branching, min_child=5),
        stopping=tw.stopping.Stopping(max_depth=3, min_samples_split=20),
    )


def predictions_of(tree: tw.Tree, gaps: float) -> dict[str, Any]:
    rows = table(9, gaps, 25).select(list(tree.schema.names))
    if gaps and "town" in rows.column_names:
        towns = [*rows["town"].to_pylist()[:-2], "Atlantis", "Atlantis"]
        rows = rows.set_column(rows.column_names.index("town"), "town", pa.array(towns))
    form = {}
    for name in rows.column_names:
        column = rows[name].combine_chunks()
        plain = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
        numbers = column.cast(plain) if pa.types.is_temporal(column.type) else column
        form[name] = {"type": str(column.type), "values": numbers.to_pylist()}
    written: dict[str, Any] = {"rows": form, "prediction": tw.predict(tree, rows).tolist()}
    written["leaf"] = tw.apply(tree, rows).tolist()
    if tree.schema.target.classes is not None:
        written["probabilities"] = tw.predict_proba(tree, rows).tolist()
    return written


def main() -> None:
    folder = HERE / sys.argv[1]
    folder.mkdir(exist_ok=True)
    for name, (tree, gaps) in trees().items():
        path = folder / f"{name}.json"
        if path.exists():
            print(f"{path.name} is there and stays")
            continue
        tw.save(tree, path)
        (folder / f"{name}.answers.json").write_text(
            json.dumps(predictions_of(tree, gaps), ensure_ascii=False) + "\n", "utf-8"
        )
        print(f"{path.name}: {tree!r}")


if __name__ == "__main__":
    main()
