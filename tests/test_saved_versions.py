"""Files of earlier versions, and mutated files: kept trees predict as they did, mutated ones do no harm."""

from __future__ import annotations

import json
import random
import re
import tracemalloc
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from handmade_trees import hours, random_tree, tennis
from test_saved import VALIDATOR, mutated

import treewright as tw
from treewright.data.encoding import Encoded
from treewright.data.schema import ColumnSpec
from treewright.errors import FileError
from treewright.export import from_json, to_json
from treewright.prediction.routing import classify, predict_values, route
from treewright.tree.tree import Tree
from treewright.tree.validation import NODE_ARRAYS, SPLIT_ARRAYS

HERE = Path(__file__).resolve().parent
KEPT = sorted(path for path in (HERE / "saved").glob("*/*.json") if not path.name.endswith(".answers.json"))
FORMAT_PAGE = HERE.parent / "docs" / "format.md"

# --- kept files -------------------------------------------------------------------------------------------------------


def arrow(values: list[Any], kind: str) -> pa.Array:
    """The values as they were when the tree was saved; moments were written as numbers."""
    if kind == "date32[day]":
        return pa.array(values, pa.int32()).cast(pa.date32())
    moments = {"timestamp[us]": pa.timestamp("us"), "time64[us]": pa.time64("us"), "duration[us]": pa.duration("us")}
    if kind in moments:
        return pa.array(values, pa.int64()).cast(moments[kind])
    return pa.array(
        values, {"double": pa.float64(), "string": pa.string(), "int64": pa.int64(), "bool": pa.bool_()}[kind]
    )


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_tree_predicts_as_it_did(path: Path) -> None:
    t = tw.load(path)
    expected = json.loads(path.with_name(f"{path.stem}.answers.json").read_text(encoding="utf-8"))
    rows = pa.table({name: arrow(form["values"], form["type"]) for name, form in expected["rows"].items()})
    assert tw.predict(t, rows).tolist() == expected["prediction"]
    assert tw.apply(t, rows).tolist() == expected["leaf"]
    if "probabilities" in expected:
        assert tw.predict_proba(t, rows).tolist() == expected["probabilities"]
    assert from_json(to_json(t)) == t
    assert str(t)


def test_kept_files_follow_the_schema_and_are_many() -> None:
    assert len(KEPT) >= 24
    for path in KEPT:
        VALIDATOR.validate(json.loads(path.read_text(encoding="ascii")))


def test_whole_numbers_need_no_fraction_and_minus_zero_stays() -> None:
    t = hours()
    arrays = {name: array.copy() for name, array in t.arrays.items()}
    arrays["gain"][0] = -0.0
    arrays["score"][0] = 2.0**60
    odd = Tree(arrays, t.schema, t.recipe)
    assert from_json(to_json(odd)) == odd  # bit for bit
    assert '"rows": [14, 9, 5]' in to_json(t)
    assert '"weight": [14, 9, 5]' in to_json(t)


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_names_every_field() -> None:
    text = FORMAT_PAGE.read_text(encoding="utf-8")
    for name in (*NODE_ARRAYS, *SPLIT_ARRAYS, "format", "version", "treewright", "recipe", "schema", "cuts", "costs"):
        assert f"`{name}`" in text, name
    example = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert example is not None
    VALIDATOR.validate(json.loads(example[1]))
    assert from_json(example[1]).n_nodes == 3


# --- hostile files ----------------------------------------------------------------------------------------------------


def rows_for(t: Tree) -> Encoded:
    """A few rows as the core takes them: known, missing and unseen values, large and small."""
    rng = np.random.default_rng(0)
    n = 6

    def column(spec: ColumnSpec) -> np.ndarray:
        if spec.levels is None:
            return rng.choice([0.0, -1.5, 77.5, 1e300, -1e300, np.nan], n)
        return (
            rng.integers(-2, max(1, len(spec.levels)), n).astype(np.int32) if spec.levels else np.full(n, -1, np.int32)
        )

    kinds = tuple({"ordinal": 1, "nominal": 2, "boolean": 2}.get(spec.kind, 0) for spec in t.schema.columns)
    levels = tuple(len(spec.levels or ()) for spec in t.schema.columns)
    return Encoded(tuple(column(spec) for spec in t.schema.columns), kinds, levels, n)


def is_harmless(text: str) -> bool:
    """A FileError, or a tree that answers. True for the latter."""
    expected = ""
    try:
        t = from_json(text)
    except FileError as error:
        expected = str(error)
    if expected:
        assert len(expected) < 500  # a message never prints the file
        return False
    rows = rows_for(t)
    values = predict_values(t, rows, 1)
    assert np.isfinite(values).all() or t.schema.target.classes is None
    nodes = route(t, rows, 1)
    assert ((nodes >= 0) & (nodes < t.n_nodes)).all()
    if t.schema.target.classes is not None:
        assert (classify(t, rows, 1) < len(t.schema.target.classes)).all()
    return True


def fuzz(mutations: int, seed: int) -> int:
    rng = random.Random(seed)
    texts = [to_json(t) for t in (tennis(), hours(), random_tree(seed, 3))]
    texts += [path.read_text(encoding="ascii") for path in KEPT if path.stat().st_size < 8_000]
    return sum(is_harmless(mutated(rng, rng.choice(texts))) for _ in range(mutations))


@pytest.mark.parametrize("seed", range(20))
def test_mutated_files_harm_nobody(seed: int) -> None:
    assert fuzz(100, seed) < 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_hundred_thousand_mutated_files_harm_nobody(seed: int) -> None:
    assert fuzz(1000, seed) < 1000


def hostile_texts() -> dict[str, str]:
    text = to_json(tennis())
    return {
        "deep lists": text.replace("77.5", "[" * 50_000 + "]" * 50_000),
        "deep objects": text.replace("77.5", '{"a":' * 50_000 + "1" + "}" * 50_000),
        "deep recipe": text.replace('"numeric": {', '"numeric": {"a":' * 5_000, 1),
        "many digits": text.replace("77.5", "7" * 1_000_000),
        "large exponent": text.replace("77.5", "1e999999999"),
        "long fraction": text.replace("77.5", "77." + "5" * 1_000_000),
        "long name": text.replace("outlook", "o" * 1_000_000),
        "many keys": text.replace('"nodes": {', '"nodes": {' + "".join(f'"k{i}": 0,' for i in range(100_000))),
        "one key often": text.replace('"nodes": {', '"nodes": {' + '"k": 0,' * 20_000),
        "many levels": text.replace('"sunny"', ",".join(f'"l{i}"' for i in range(100_000))),
        "huge start": text.replace('"child_start": [0, 3', '"child_start": [0, 2147483647'),
        "cycle": text.replace('"parent": [-1, 0, 1', '"parent": [-1, 2, 1'),
        "cut short": text[: len(text) // 2],
    }


@pytest.mark.parametrize("name", hostile_texts())
def test_hostile_files_take_little(name: str) -> None:
    text = hostile_texts()[name]
    tracemalloc.start()
    try:
        outcome = is_harmless(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outcome == (name in ("long name", "long fraction"))
    assert peak < 5_000_000 + 40 * len(text)


def test_what_the_schema_refuses_is_refused_here_too() -> None:
    """The schema is no stricter than the reader wherever the reader takes a file."""
    rng = random.Random(5)
    for _ in range(150):
        text = mutated(rng, to_json(tennis()))
        try:
            from_json(text)
        except FileError:
            continue
        try:
            VALIDATOR.validate(json.loads(text))
        except jsonschema.ValidationError as error:
            pytest.fail(f"{error.message[:200]} at {list(error.path)}")
