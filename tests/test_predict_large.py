"""Prediction of inputs read some rows at a time: the same predictions as for the whole table, in bounded memory.

The predictions of the whole table in memory are what every other input must give.
"""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from handmade_trees import hours, random_tree, tennis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.out_of_core.inputs import is_dask, is_large
from treewright.out_of_core.scratch_folder import scratch
from treewright.prediction.predict import class_array

KINDS = {"prediction": tw.predict, "probabilities": tw.predict_proba, "node": tw.apply}


def made(n: int = 5000, seed: int = 0) -> pd.DataFrame:
    """Columns of several kinds with missing values, and two targets."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.normal(30, 10, n).round(1),
            "town": rng.choice(["Bern", "Oslo", "Rome"], n).astype(object),
            "member": rng.random(n) < 0.5,
        }
    )
    pull = (table["age"] > 45) * 1.0 + (table["town"] == "Oslo") * 1.5 + table["income"] / 20 + rng.normal(0, 0.4, n)
    table["class"] = np.select([pull < 1.8, pull < 3], ["low", "mid"], "high")
    table["pull"] = pull.round(3)
    for name in ("age", "town"):
        table.loc[rng.random(n) < 0.1, name] = None
    return table


TABLE = made()
COLUMNS = ["age", "income", "town", "member"]
TREES = {
    "C45": tw.learn(TABLE.drop(columns="pull"), "class", tw.C45),
    "CART": tw.learn(TABLE.drop(columns="pull"), "class", tw.CART, costs={"low": {"high": 5}}),
    "CHAID": tw.learn(TABLE.drop(columns="pull"), "class", tw.CHAID),
    "number": tw.learn(TABLE.drop(columns="class"), "pull", tw.CART),
}


@pytest.fixture(scope="module", autouse=True)
def _routers_go_in_time() -> Iterator[None]:
    yield
    for tree in TREES.values():
        tree._kept.clear()  # this module outlives the core, which would complain


NEW = made(4321, seed=1)
NEW.loc[::97, "town"] = "Bath"  # never seen


def roads(folder: Path) -> dict[str, Callable[[], Any]]:
    """One table, in every form that is read some rows at a time."""
    arrow = pa.Table.from_pandas(NEW, preserve_index=False)
    pa.parquet.write_table(arrow, folder / "whole.parquet", row_group_size=1000)
    pa.parquet.write_table(arrow.slice(0, 0), folder / "part-0.parquet")
    pa.parquet.write_table(arrow.slice(0, 1500), folder / "part-1.parquet")
    pa.parquet.write_table(arrow.slice(1500), folder / "part-2.parquet")
    NEW.to_csv(folder / "whole.csv", index=False)
    duckdb.from_arrow(arrow).write_csv(str(folder / "more.csv"))

    def frames() -> Iterator[Any]:
        yield NEW[:0]
        yield NEW[:10]
        yield pl.from_pandas(NEW[10:1000])
        yield arrow.slice(1000, 0)
        yield arrow.slice(1000, 2000).to_batches()[0]
        yield {name: NEW[name][3000:].tolist() for name in NEW.columns}

    return {
        "parquet": lambda: folder / "whole.parquet",
        "pattern": lambda: str(folder / "part-*.parquet"),
        "csv": lambda: str(folder / "whole.csv"),
        "query": lambda: tw.sql(f"SELECT * FROM '{folder / 'whole.parquet'}'"),
        "dataset": lambda: pa.dataset.dataset([str(folder / f"part-{i}.parquet") for i in range(3)]),
        "relation": lambda: duckdb.from_arrow(arrow),
        "iterator": frames,
        "list": lambda: [frame for frame in frames() if not isinstance(frame, dict)] + [NEW[3000:]],
        "function": lambda: frames,
        "lazy frame": lambda: pl.from_pandas(NEW).lazy(),
        "pandas reader": lambda: pd.read_csv(folder / "whole.csv", chunksize=1111),
        "arrow reader": lambda: arrow.to_reader(max_chunksize=999),
    }


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[], Any]]:
    return roads(tmp_path_factory.mktemp("large"))


FORMS = (
    "parquet", "pattern", "csv", "query", "dataset", "relation", "iterator", "list", "function", "lazy frame",
    "pandas reader", "arrow reader",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TREES)
def test_every_form_gives_the_predictions_of_the_whole_table(
    name: str, form: str, forms: dict[str, Callable[[], Any]]
) -> None:
    tree = TREES[name]
    for kind, call in KINDS.items():
        if kind == "probabilities" and name == "number":
            continue
        expected, found = call(tree, NEW), call(tree, forms[form]())
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
        pieces = list(tw.predict_batches(tree, forms[form](), size=700, kind=kind))
        assert max(map(len, pieces)) <= 700 < len(expected)
        assert np.array_equal(np.concatenate(pieces), expected)


def test_tables_in_memory_come_in_batches_too() -> None:
    for data in (NEW, pl.from_pandas(NEW), NEW.to_dict("list")):
        pieces = list(tw.predict_batches(TREES["C45"], data, size=1000))
        assert [len(piece) for piece in pieces] == [1000, 1000, 1000, 1000, 321]
        assert np.array_equal(np.concatenate(pieces), tw.predict(TREES["C45"], NEW))
    numbers = np.random.default_rng(0).random((500, 3))
    tree = tw.learn(numbers, numbers[:, 0] * numbers[:, 1], tw.SKLEARN)
    pieces = list(tw.predict_batches(tree, numbers, size=128))
    assert np.array_equal(np.concatenate(pieces), tw.predict(tree, numbers))
    assert np.array_equal(tw.predict(tree, iter(np.array_split(numbers, 7))), tw.predict(tree, numbers))


def test_which_inputs_are_large() -> None:
    import dask.array as da
    import dask.dataframe as dd

    arrow = pa.table({"a": [1]})
    large = (
        "rows.csv", Path("rows.csv"), ["a.csv", "b.csv"], tw.sql("SELECT 1"), duckdb.sql("SELECT 1 AS a"),
        pa.dataset.dataset(arrow), pl.LazyFrame({"a": [1]}), iter([NEW]), [NEW, NEW], lambda: iter([NEW]),
        arrow.to_reader(),
    )  # fmt: skip
    lazy = (dd.from_pandas(NEW, npartitions=2), da.ones((2, 2)))
    small = (
        NEW,
        pl.from_pandas(NEW),
        arrow,
        pa.record_batch({"a": [1]}),
        {"a": [1]},
        [[1]],
        [{"a": 1}],
        np.ones((2, 2)),
    )
    assert all(is_large(data) for data in (*large, *lazy))
    assert not any(is_large(data) for data in (*small, [], (), None, 3, len, pd.DataFrame, b"rows"))
    assert all(is_dask(data) for data in lazy)
    assert not any(is_dask(data) for data in large)


def test_only_one_table_is_held() -> None:
    given: list[weakref.ref[pd.DataFrame]] = []
    most = 0

    def frames() -> Iterator[pd.DataFrame]:
        nonlocal most
        for start in range(0, 4000, 100):
            given.append(weakref.ref(frame := NEW[start : start + 100].copy()))
            most = max(most, sum(one() is not None for one in given))
            yield frame
            del frame

    assert np.array_equal(tw.predict(TREES["C45"], frames()), tw.predict(TREES["C45"], NEW[:4000]))
    assert most <= 3  # the one that was answered, and the next, which is looked at first


def test_a_file_larger_than_its_memory(tmp_path: Path) -> None:
    """A process that may hold far less than the table answers all of its rows."""
    rows = 600_000
    duckdb.sql(f"SELECT {', '.join(f'random() AS x{i}' for i in range(40))} FROM range({rows})").write_parquet(
        str(tmp_path / "rows.parquet")
    )  # 192 MB in memory
    table = {f"x{i}": np.random.default_rng(i).random(500) for i in range(40)}
    tree = tw.learn({**table, "y": table["x3"] + table["x7"]}, "y", tw.SKLEARN)
    tw.save(tree, tmp_path / "tree.json")
    program = (
        "import resource, sys, treewright as tw\n"
        "tree = tw.load(sys.argv[1])\n"
        "tw.predict(tree, {f'x{i}': [0.5] for i in range(40)}), __import__('pyarrow.parquet')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "n = sum(map(len, tw.predict_batches(tree, sys.argv[2])))\n"
        "print(n, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "tree.json"), str(tmp_path / "rows.parquet")],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert int(output[0]) == rows
    assert int(output[1]) < 130, "megabytes"


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_say_where(tmp_path: Path) -> None:
    tree = TREES["C45"]
    bad = NEW.copy()
    bad.loc[3333, "income"] = np.inf
    with pytest.raises(tw.DataError, match=r"'income' has inf in row 333: .*from row 3000 here"):
        tw.predict(tree, iter([bad[:3000], bad[3000:]]))
    with pytest.raises(tw.DataError, match=r"lacks the column 'town'.*'age', 'income', 'member'"):
        tw.predict(tree, iter([NEW.drop(columns="town")]))
    with pytest.raises(tw.DataError, match=r"table 2 lacks the column 'town', which the first has"):
        tw.predict(tree, iter([NEW[:10], NEW.drop(columns="town")]))
    with pytest.raises(tw.DataError, match=r"column 'income' was numeric .* but is nominal now.*from row 10 here"):
        tw.predict(tree, iter([NEW[:10], NEW.assign(income="much")]))
    with pytest.raises(tw.DataError, match="the tables of this list_iterator are empty"):
        tw.predict(tree, iter([]))
    with pytest.raises(tw.DataError, match="the table has no rows"):
        list(tw.predict_batches(tree, iter([NEW[:0]])))
    with pytest.raises(tw.DataError, match=r"expected a pandas, polars or pyarrow table.* got int"):
        tw.predict(tree, iter([1, 2]))
    NEW[:0].to_csv(tmp_path / "none.csv", index=False)
    with pytest.raises(tw.DataError, match="the table has no rows"):
        tw.predict(tree, tmp_path / "none.csv")
    with pytest.raises(tw.DataError, match=r"there is no file .*nowhere\.csv"):
        tw.predict(tree, str(tmp_path / "nowhere.csv"))
    with pytest.raises(tw.DataError, match="is a number and has no classes"):
        tw.predict_proba(TREES["number"], iter([NEW]))


def test_wrong_questions_are_refused_before_anything_is_read() -> None:
    untouched = iter([NEW])
    with pytest.raises(tw.DataError, match="kind='leaf' is not known; choose from 'prediction'"):
        tw.predict_batches(TREES["C45"], untouched, kind="leaf")
    with pytest.raises(tw.DataError, match="size must be a number of rows, at least 1, not 0"):
        tw.predict_batches(TREES["C45"], untouched, size=0)
    with pytest.raises(tw.DataError, match="has no classes"):
        tw.predict_batches(TREES["number"], untouched, kind="probabilities")
    assert len(next(untouched)) == len(NEW)


def test_batches_of_any_size_agree() -> None:
    for size in (1, 7, 4320, 4321, 10**9):
        some = NEW[:50] if size == 1 else NEW
        pieces = list(tw.predict_batches(TREES["CHAID"], iter([some]), size=size, kind="node"))
        assert np.array_equal(np.concatenate(pieces), tw.apply(TREES["CHAID"], some))


# --- dask -------------------------------------------------------------------------------------------------------------

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("known", [True, False])
def test_a_dask_frame_stays_lazy(name: str, known: bool) -> None:
    tree = TREES[name]
    frame = dd.from_pandas(NEW.set_index(NEW.index * 2), npartitions=5)
    frame = frame if known else frame.clear_divisions()
    predictions = tw.predict(tree, frame)
    assert isinstance(predictions, dd.Series)
    assert predictions.name == "prediction"
    assert predictions.divisions == frame.divisions
    found = predictions.compute()
    assert found.dtype == predictions.dtype
    assert found.index.equals(NEW.index * 2)
    assert found.tolist() == tw.predict(tree, NEW).tolist()
    nodes = tw.apply(tree, frame)
    assert (nodes.dtype, nodes.name, nodes.divisions) == (np.int32, "leaf", frame.divisions)
    assert np.array_equal(nodes.compute(), tw.apply(tree, NEW))
    if tree.schema.target.classes is None:
        with pytest.raises(tw.DataError, match="has no classes"):
            tw.predict_proba(tree, frame)
        return
    shares = tw.predict_proba(tree, frame)
    assert isinstance(shares, dd.DataFrame)
    assert tuple(shares.columns) == tree.schema.target.classes
    assert np.array_equal(shares.compute(), tw.predict_proba(tree, NEW))
    assert np.array_equal(
        shares["low"].compute(), tw.predict_proba(tree, NEW)[:, tree.schema.target.classes.index("low")]
    )


def test_empty_partitions_have_the_right_type() -> None:
    frame = dd.from_pandas(NEW, npartitions=6)
    for some in (frame[frame["income"] > 50], frame[frame["income"] > 1e9]):
        expected = NEW[NEW["income"] > (50 if len(some) else 1e9)]
        for kind, call in KINDS.items():
            lazy = call(TREES["C45"], some)
            found = lazy.compute()
            assert len(found) == len(expected)
            kinds = found.dtypes if kind == "probabilities" else [found.dtype]
            assert list(kinds) == list(lazy.dtypes if kind == "probabilities" else [lazy.dtype])
            if len(expected):
                assert np.array_equal(np.asarray(found), call(TREES["C45"], expected))


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1), (False, True), (0.5, 1.5), (0, "yes")])
def test_classes_of_every_type(classes: tuple[Any, Any]) -> None:
    table = {"x": [1.0, 2.0, 3.0, 4.0], "y": np.array([*classes[:1] * 2, *classes[1:] * 2], dtype=object).tolist()}
    if class_array(classes).dtype == object:
        tree = tennis()
        tree = tw.Tree(
            tree.arrays, tw.Schema(tree.schema.columns, tw.TargetSpec("y", "classification", classes)), tw.C45
        )
        frame = pd.DataFrame({"outlook": ["sunny", "rain"], "humidity": [70.0, 90.0], "windy": [True, False]})
    else:
        tree = tw.learn(table, "y", tw.SKLEARN, task="classification")
        frame = pd.DataFrame({"x": [1.0, 4.0]})
    lazy = tw.predict(tree, dd.from_pandas(frame, npartitions=2))
    assert lazy.compute().tolist() == tw.predict(tree, frame).tolist()
    assert lazy.compute().dtype == lazy.dtype
    assert list(tw.predict_proba(tree, dd.from_pandas(frame, npartitions=2)).columns) == list(classes)


def test_a_dask_array_gives_an_array() -> None:
    numbers = np.random.default_rng(0).random((500, 4))
    tree = tw.learn(numbers, np.where(numbers[:, 0] > numbers[:, 1], "a", "bc"), tw.SKLEARN)
    for chunks in ((100, 4), (128, 2)):
        rows = da.from_array(numbers, chunks=chunks)
        for call in KINDS.values():
            found, expected = call(tree, rows), call(tree, numbers)
            assert isinstance(found, da.Array)
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            assert np.array_equal(found.compute(), expected)
    unknown = dd.from_pandas(pd.DataFrame(numbers), npartitions=3).to_dask_array()
    assert np.array_equal(tw.predict(tree, unknown).compute(), tw.predict(tree, numbers))
    with pytest.raises(tw.DataError, match="got a dask Array of 1 dimension"):
        tw.predict(tree, da.ones(3))
    with pytest.raises(tw.DataError, match="got a dask Series"):
        tw.predict(tree, dd.from_pandas(NEW, npartitions=2)["age"])


def test_dask_in_batches() -> None:
    pieces = list(tw.predict_batches(TREES["C45"], dd.from_pandas(NEW, npartitions=3), size=1000, kind="probabilities"))
    assert max(map(len, pieces)) == 1000
    assert np.array_equal(np.concatenate(pieces), tw.predict_proba(TREES["C45"], NEW))


def test_the_tree_is_in_the_graph_once() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((3000, 3)), columns=list("abc"))
    tree = tw.learn(table, rng.random(3000) < 0.5, tw.SKLEARN)
    size = len(pickle.dumps(tree))
    frame, rows = dd.from_pandas(table, npartitions=50), da.from_array(table.to_numpy(), chunks=(60, 3))
    for lazy in (tw.predict(tree, frame).optimize(), dask.optimize(tw.predict(tree, rows))[0]):
        entries = [len(pickle.dumps(task)) for task in dict(lazy.__dask_graph__()).values()]
        assert sum(entry > size / 2 for entry in entries) == 1
        assert len(entries) > 50
    assert tw.predict(tree, frame)._name == tw.predict(tree, frame)._name  # the same question is the same work


def test_predicting_does_not_load_dask() -> None:
    program = (
        "import sys, treewright as tw; t = tw.learn({'x': [1, 2, 3, 4], 'y': list('aabb')}, 'y', tw.SKLEARN);"
        "tw.predict(t, iter([{'x': [1]}])); print([m for m in ('dask', 'pandas', 'sklearn') if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


# --- a tree that travels ----------------------------------------------------------------------------------------------


def test_a_pickled_tree_is_small_and_leaves_what_it_kept_behind() -> None:
    for tree in TREES.values():
        fresh = pickle.loads(pickle.dumps(tree))
        assert fresh == tree
        assert fresh._kept.keys() <= {"checked"}
        before = pickle.dumps(fresh)
        assert np.array_equal(tw.predict(fresh, NEW), tw.predict(tree, NEW))
        assert "router" in fresh._kept
        assert pickle.dumps(fresh) == before
    large = random_tree(3, depth=9)
    assert len(pickle.dumps(large)) < sum(array.nbytes for array in large.arrays.values()) + 5000


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), cuts=st.lists(st.integers(0, 40), max_size=6), numbers=st.booleans())
def test_any_cut_of_any_table_gives_the_same(seed: int, cuts: list[int], numbers: bool) -> None:
    tree = hours() if numbers else tennis()
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "outlook": rng.choice(["sunny", "rain", "overcast", "snow", None], 40),
            "humidity": np.where(rng.random(40) < 0.2, np.nan, rng.normal(77, 3, 40)),
            "windy": pd.array(rng.choice([True, False, None], 40), dtype="boolean"),
        }
    )
    edges = [0, *sorted(cuts), 40]
    frames = [table[a:b] for a, b in itertools.pairwise(edges)]
    for call in (tw.predict, tw.apply):
        assert np.array_equal(call(tree, iter(frames)), call(tree, table))
        assert np.array_equal(
            call(tree, dd.concat([dd.from_pandas(f, npartitions=1) for f in frames])), call(tree, table)
        )


@pytest.mark.parametrize("kind", ["csv", "pattern", "query"])
def test_a_file_is_predicted_without_a_folder_for_temporary_files(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tw.learn({"x": [1, 1, 2, 2], "y": ["n", "n", "p", "p"]}, "y", tw.SKLEARN)
    (tmp_path / "rows.csv").write_text("x\n1\n2\n")
    given = {
        "csv": tmp_path / "rows.csv",
        "pattern": f"{tmp_path}/*.csv",
        "query": tw.sql(f"SELECT * FROM '{tmp_path}/rows.csv'"),
    }[kind]

    def gettempdir() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", gettempdir)
    assert tw.predict(tree, given).tolist() == ["n", "p"]
    with pytest.raises(tw.ScratchError, match="no folder for temporary files may be written to; set TMPDIR"), scratch():
        pass
