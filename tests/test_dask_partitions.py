"""Parts on a Dask cluster are what parts in memory are: on real workers, some of which are killed."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright.data.encoding import Encoded
from treewright.errors import DataError
from treewright.growing import partition_worker as work
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.growing.partitions import Limits
from treewright.out_of_core import dask_workers as workers
from treewright.training.learn import FitOptions, training_table

pd = pytest.importorskip("pandas")
dask = pytest.importorskip("dask", reason="needs dask")
distributed = pytest.importorskip("distributed", reason="needs distributed")
dd = pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")

import toy_requests  # noqa: E402
from clusters import kill_one, local_cluster, settled, tasks_left  # noqa: E402

from treewright.out_of_core.dask_partitions import DaskPartitions, from_dask, is_partitioned, partitions  # noqa: E402


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with local_cluster(2) as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as made:
        made.register_plugin(toy_requests.Toys())
        yield made


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "handle", toy_requests.handle)
    monkeypatch.setattr(work, "merge", toy_requests.merge)


def table(n_rows: int = 300) -> Any:
    rng = np.random.default_rng(n_rows)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 90, n_rows)),
            "dose": rng.random(n_rows).astype(np.float32),
            "town": rng.choice(["Rome", "Oslo", "Bern", None], n_rows),
            "smokes": rng.random(n_rows) < 0.3,
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 999, n_rows), "h"),
            "weight": rng.integers(1, 4, n_rows).astype(float),
            "ill": rng.choice(["yes", "no"], n_rows),
        }
    )


def pieces(whole: Any, *cuts: int) -> list[Any]:
    edges = [0, *cuts, len(whole)]
    return [whole.iloc[start:stop] for start, stop in pairwise(edges)]


def lazily(tables: list[Any]) -> list[Any]:
    return [dask.delayed(each) for each in tables]


def same_rows(parts: DaskPartitions, whole: Encoded) -> None:
    """The parts together are the whole table; partitions lie where the workers have them, in any order."""
    found = parts.map(_itself)
    assert parts.sizes == tuple(part.n_rows for part in found)
    assert (parts.kinds, parts.levels, parts.n_classes) == (whole.kinds, whole.levels, whole.n_classes)
    for name in ("target", "weight"):
        assert all((getattr(part, name) is None) == (getattr(whole, name) is None) for part in found)
    together = [np.concatenate(arrays) for arrays in zip(*map(_arrays, found), strict=True)]
    for one, other in zip(_ordered(together), _ordered(_arrays(whole)), strict=True):
        np.testing.assert_array_equal(one, other)


def _arrays(part: Encoded) -> list[Any]:
    return [array for array in (*part.columns, part.target, part.weight) if array is not None]


def _ordered(arrays: list[Any]) -> list[Any]:
    order = np.lexsort(arrays)
    return [array[order] for array in arrays]


def _itself(part: Encoded) -> Encoded:
    return part


def rounds(growth: Any, count: int = 6) -> list[bytes]:
    return [growth.send(bytes([number]) * (1 + number)) for number in range(count)]


def expected(parts: DaskPartitions, count: int = 6) -> list[bytes]:
    return rounds(MemoryPartitions(parts.map(_itself)).growth(toy_requests.TOY), count)


# --- the same as in memory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [(), (100,), (0, 0, 7, 7, 290), tuple(range(10, 300, 15))])
def test_replies_are_those_of_partitions_in_memory(client: Any, cuts: tuple[int, ...]) -> None:
    whole = table()
    parts, schema = from_dask(lazily(pieces(whole, *cuts)), "ill", "weight")
    encoded, plain = training_table(whole, "ill", FitOptions("weight"))
    assert schema == plain
    same_rows(parts, encoded)
    growth = parts.growth(toy_requests.TOY)
    found = rounds(growth)
    assert found == expected(parts)
    assert growth.traffic == [(1 + number, len(message)) for number, message in enumerate(found)]
    growth.close()
    growth.close()
    parts.close()


def test_partitions_change_where_they_lie(client: Any) -> None:
    parts, _ = from_dask(lazily(pieces(table(), 50, 50, 200)), "ill", "weight")
    before, sizes = parts.map(_first_weight), parts.sizes
    assert sum(sizes) == 300
    changed = parts.changed(_reweighted, 10.0, each=range(1, len(sizes) + 1))
    parts.close()  # the changed ones stay
    factors = changed.map(_first_weight)
    assert changed.map(_times, 2) == [2 * size for size in sizes]
    assert factors == [weight * (11 + number) for number, weight in enumerate(before)]
    again = changed.changed(_reweighted, 0.0)
    assert again.map(_first_weight) == factors
    with pytest.raises(ZeroDivisionError):
        changed.changed(_broken)
    assert rounds(again.growth(toy_requests.TOY)) == expected(again)


def _times(part: Encoded, factor: int) -> int:
    return part.n_rows * factor


def _reweighted(part: Encoded, more: float, own: int = 1) -> Encoded:
    assert part.weight is not None
    return replace(part, weight=part.weight * (more + own))


def _first_weight(part: Encoded) -> float | None:
    assert part.weight is not None
    return float(part.weight[0]) if part.n_rows else None


def _broken(part: Encoded) -> Encoded:
    raise ZeroDivisionError


def test_a_large_question_reaches_every_part(client: Any) -> None:
    parts, _ = from_dask(lazily(pieces(table(), 100, 200)), "ill")
    question = b"q" * 300_000
    growth, plain = parts.growth(toy_requests.TOY), MemoryPartitions(parts.map(_itself)).growth(toy_requests.TOY)
    for _ in range(2):
        assert growth.send(question) == plain.send(question)
    each = [np.full(200_000, number) for number in range(len(parts.sizes))]
    found = parts.changed(_keeps, each=each).map(_rows, np.arange(100_000))
    assert found == [size + 100_000 for size in parts.sizes]


def _keeps(part: Encoded, own: Any) -> Encoded:
    assert len(own) == 200_000
    return part


def _rows(part: Encoded, more: Any) -> int:
    return part.n_rows + len(more)


def test_growths_do_not_meet(client: Any) -> None:
    """Several at once on the same parts, and on other parts made from the same Dask table."""
    frame = dd.from_pandas(table(), npartitions=5)
    parts = [from_dask(frame, "ill", client=client)[0] for _ in range(2)]
    truth = expected(parts[0], 10)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda some: rounds(some.growth(toy_requests.TOY), 10), [*parts, *parts]))
    assert found == [truth] * 4


# --- what partitions may be -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("persisted", [False, True])
def test_a_dask_frame(client: Any, persisted: bool) -> None:
    whole = table()
    frame = dd.from_pandas(whole, npartitions=7)
    parts, schema = from_dask(frame.persist() if persisted else frame, "ill")
    encoded, plain = training_table(whole, "ill")
    assert schema == plain
    same_rows(parts, encoded)


def test_files_are_read_by_workers(client: Any, tmp_path: Path) -> None:
    whole = table()
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    for path, part in zip(paths, pieces(whole, 120, 121), strict=True):
        part.to_parquet(path)
    parts, schema = from_dask(paths, "ill")
    encoded, plain = training_table(whole, "ill")
    assert schema == plain
    same_rows(parts, encoded)
    read = dd.read_parquet(tmp_path, filters=[("age", ">", 30)])
    narrow, _ = from_dask(read[["age", "ill"]], "ill")
    same_rows(narrow, training_table(read[["age", "ill"]].compute(), "ill")[0])


def test_partitions_need_not_look_alike(client: Any) -> None:
    """Categories of one partition are unknown in another, text is of several types, one has no rows, one no values."""
    whole = table(200)
    first, second, third, fourth = pieces(whole, 60, 60, 100)
    first = first.astype({"town": "category"})
    third = third.astype({"town": pd.ArrowDtype(__import__("pyarrow").string())}).assign(age=np.nan)
    fourth = fourth.assign(town=["Paris", *fourth["town"].iloc[1:]])
    tables = [first, second, third, fourth]
    parts, schema = from_dask(lazily(tables), "ill", "weight")
    joined = pd.concat([each.astype({"town": object}) for each in tables if len(each)])
    encoded, plain = training_table(joined, "ill", FitOptions("weight"))
    assert schema == plain
    same_rows(parts, encoded)


def test_unknown_categories_of_dask(client: Any) -> None:
    whole = table()
    frame = dd.from_pandas(whole, npartitions=4).astype({"town": "category"})
    assert not frame["town"].cat.known
    parts, schema = from_dask(frame, "ill")
    assert schema.columns[2].levels == ("Bern", "Oslo", "Rome")
    same_rows(parts, training_table(whole, "ill")[0])


def test_futures_and_other_tables(client: Any) -> None:
    whole = table(90)
    futures = client.map(_as_dict, pieces(whole[["age", "town", "ill"]], 30), pure=False)
    parts, schema = from_dask(futures, "ill")
    encoded, plain = training_table(whole[["age", "town", "ill"]], "ill")
    assert schema == plain
    same_rows(parts, encoded)


def _as_dict(part: Any) -> dict[str, Any]:
    return {name: part[name].tolist() for name in part}


def test_a_partition_is_made_once_and_let_go(client: Any, cluster: Any, tmp_path: Path) -> None:
    made = dask.delayed(_noted)
    before = set(cluster.scheduler.tasks)  # what other tests held may still be on its way out
    parts, _ = from_dask([made(each, tmp_path / "made") for each in pieces(table(), 90, 200)], "ill")
    assert (tmp_path / "made").read_text() == "xxx"
    time.sleep(0.2)
    new = (ts for ts in cluster.scheduler.tasks.values() if ts.key not in before)
    assert {str(ts.prefix.name) for ts in new if ts.state == "memory"} == {"treewright_coded"}
    assert sum(parts.map(_times, 1)) == 300


def _noted(part: Any, path: Path) -> Any:
    with path.open("a") as file:
        file.write("x")
    return part


def test_partitions_one_by_one(tmp_path: Path) -> None:
    whole = table(30)
    frame = dd.from_pandas(whole, npartitions=3)
    assert [len(each) for each in partitions(frame)] == [10, 10, 10]
    assert [len(each) for each in partitions(lazily(pieces(whole, 4)))] == [4, 26]
    assert list(partitions([tmp_path / "a.parquet", "b.parquet"])) == [str(tmp_path / "a.parquet"), "b.parquet"]
    assert is_partitioned(frame)
    assert is_partitioned(lazily([whole]))
    assert not any(map(is_partitioned, (whole, [], ["a.parquet"], frame["age"], [frame], {"a": [1]}, "a.parquet")))


# --- errors ---------------------------------------------------------------------------------------------------------


def test_errors_of_a_partition_are_reported_as_they_are(client: Any, cluster: Any) -> None:
    whole = table()
    tables = pieces(whole, 100, 200)
    with pytest.raises(DataError, match="'il' is not a column of the table; did you mean 'ill'") as raised:
        from_dask(lazily(tables), "il")
    assert "in partition" in raised.value.__notes__[0]
    tables[1] = tables[1].assign(weight=-1.0)
    with pytest.raises(DataError, match="Negative values"):
        from_dask(lazily(tables), "ill", "weight")
    with pytest.raises(DataError, match="differ in their columns: 'dose' is not in all"):
        from_dask(lazily([tables[0], tables[2].drop(columns="dose")]), "ill")
    with pytest.raises(ZeroDivisionError):
        from_dask([dask.delayed(_fails)(each) for each in tables], "ill")
    del raised
    assert tasks_left(cluster) == []


def _fails(part: Any) -> Any:
    raise ZeroDivisionError


def test_what_is_no_table_of_partitions(client: Any) -> None:
    with pytest.raises(DataError, match=r"expected a Dask DataFrame.*got dict"):
        from_dask({"a": [1]}, "a")
    with pytest.raises(DataError, match="partitions is empty"):
        from_dask([], "a")
    with pytest.raises(DataError, match="0 sample"):
        from_dask(lazily([table().iloc[:0]] * 3), "ill")


def test_without_a_client_or_dask() -> None:
    call = "\ntry: c.from_dask(['a.parquet'], 'a')\nexcept ValueError as error: print(error)\nprint(c.has_client())"
    for before, message in (
        ("", "make one first, for example client = distributed.Client()"),
        ("import sys; sys.modules['dask'] = None\n", "pip install 'treewright[dask]'"),
    ):
        code = f"{before}import treewright.out_of_core.dask_partitions as c{call}"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
        assert message in found.stdout
        assert found.stdout.endswith("False\n")


# --- trees ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def inquisitive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many questions are asked, for hardly a node is small enough to be sent whole."""
    monkeypatch.setattr(
        "treewright.out_of_core.dask_partitions.Limits", lambda **given: Limits(apart=60, at_once=200, **given)
    )


@pytest.mark.parametrize("recipe", [tw.CART, tw.C45, tw.CHAID, tw.SKLEARN], ids=lambda recipe: recipe.name)
def test_trees_are_those_of_the_table_in_memory(client: Any, inquisitive: None, recipe: tw.Recipe) -> None:
    whole = table(400)
    if recipe is tw.SKLEARN:
        whole = whole.drop(columns=["town", "age"])
    if recipe is tw.CART:
        recipe = replace(recipe, pruning=None)  # cross-validation grows ten trees more
    plain = tw.export.to_json(tw.learn(whole, "ill", recipe, weight="weight"))
    frame = dd.from_pandas(whole, npartitions=9)
    assert tw.export.to_json(tw.learn(frame, "ill", recipe, weight="weight")) == plain


def test_trees_of_numbers(client: Any, inquisitive: None) -> None:
    whole, recipe = table(400), replace(tw.CART, pruning=None)
    plain = tw.export.to_json(tw.learn(whole, "dose", recipe, weight="weight"))
    assert tw.export.to_json(tw.learn(dd.from_pandas(whole, npartitions=5), "dose", recipe, weight="weight")) == plain


@pytest.mark.parametrize("moment", [0.3, pytest.param(0.8, marks=pytest.mark.slow)])
def test_a_tree_outlives_a_worker(client: Any, cluster: Any, inquisitive: None, moment: float) -> None:
    whole = table(1500)
    recipe = replace(tw.CART, pruning=None)
    plain = tw.export.to_json(tw.learn(whole, "ill", recipe))
    frame = dd.from_pandas(whole, npartitions=5)
    settled(cluster)
    with ThreadPoolExecutor(1) as threads:
        grown = threads.submit(tw.learn, frame, "ill", recipe)
        time.sleep(moment)
        kill_one(cluster)
        assert tw.export.to_json(grown.result(timeout=100)) == plain
    settled(cluster)


# --- workers that die, users that give up ---------------------------------------------------------------------------


def test_a_worker_is_killed_between_rounds(client: Any, cluster: Any) -> None:
    """Everything it held is made again: the partition, its coding, and what it remembered of all rounds before."""
    parts, _ = from_dask(dd.from_pandas(table(), npartitions=6), "ill")
    truth = expected(parts, 8)
    growth, found = parts.growth(toy_requests.TOY), []
    for number, question in enumerate(bytes([number]) * (1 + number) for number in range(8)):
        if number in (1, 5):
            settled(cluster)
            kill_one(cluster)
        found.append(growth.send(question))
    assert found == truth
    settled(cluster)


def test_a_worker_is_killed_while_it_makes_up_for_another(
    client: Any, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask, told to give a task up at once, gives up an answer of long ago, and is asked to try again."""
    parts, _ = from_dask(dd.from_pandas(table(), npartitions=6), "ill")
    truth = expected(parts, 6)
    settled(cluster)
    growth = parts.growth({**toy_requests.TOY, "pause": 0.04})
    assert rounds(growth, 5) == truth[:5]
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    kill_one(cluster)
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(growth.send, bytes([5]) * 6)
        while not call.done() and (busy := replaying(cluster)) is None:
            time.sleep(0.02)
        assert busy is not None
        os.kill(busy.process.pid, signal.SIGKILL)
        assert call.result(timeout=60) == truth[5]
    settled(cluster)


def replaying(cluster: Any) -> Any:
    """The nanny of a worker that answers a question nobody waits for the answer of, but a later question does."""
    with suppress(RuntimeError):  # the scheduler goes on while we look
        for worker in list(cluster.scheduler.workers.values()):
            for task in list(worker.processing):
                if task.prefix.name == "treewright_handled" and not task.who_wants:
                    return cluster.workers[worker.name]
    return None


@pytest.mark.slow
def test_ten_workers_are_killed_at_ten_moments(client: Any, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    for moment in range(10):
        parts, _ = from_dask(dd.from_pandas(table(), npartitions=8), "ill")
        truth = expected(parts, 10)
        with ThreadPoolExecutor(1) as threads:
            call = threads.submit(rounds, parts.growth({**toy_requests.TOY, "pause": 0.02}), 10)
            time.sleep(0.13 * moment)
            kill_one(cluster)
            assert call.result(timeout=60) == truth
        settled(cluster)


def test_a_worker_is_killed_while_the_table_is_read(client: Any, cluster: Any) -> None:
    whole = table()
    slow = dask.delayed(_slowly)
    with ThreadPoolExecutor(1) as threads:
        read = threads.submit(from_dask, [slow(each) for each in pieces(whole, 50, 100, 150)], "ill", client=client)
        time.sleep(0.5)
        kill_one(cluster)
        parts, _ = read.result(timeout=60)
    same_rows(parts, training_table(whole, "ill")[0])
    settled(cluster)


def test_scattered_rows_are_lost_with_their_worker(client: Any, cluster: Any) -> None:
    parts, _ = from_dask(client.scatter(pieces(table(), 100, 200), hash=False), "ill")
    growth = parts.growth(toy_requests.TOY)
    growth.send(b"a")
    for number in range(2):  # both workers' rows go, for it is not known who has any
        settled(cluster)
        os.kill(cluster.workers[number].process.pid, signal.SIGKILL)
    with pytest.raises(DataError, match="lost with a worker and cannot be made again"):
        growth.send(b"b")
    settled(cluster)


def _slowly(part: Any) -> Any:
    time.sleep(0.4)
    return part


def in_memory(cluster: Any) -> list[str]:
    gc.collect()
    return sorted(str(ts.prefix.name) for ts in list(cluster.scheduler.tasks.values()) if ts.state == "memory")


def test_nothing_is_left(client: Any, cluster: Any) -> None:
    parts, _ = from_dask(dd.from_pandas(table(), npartitions=6), "ill")
    n_groups = len(parts.map(_times, 1))  # one per worker that Dask gave partitions to
    growth = parts.growth(toy_requests.TOY)
    rounds(growth)
    latest = ["treewright_coded"] * n_groups + ["treewright_handled"] * n_groups  # of each group its latest reply
    until = time.monotonic() + 10
    while (held := in_memory(cluster)) != latest and time.monotonic() < until:
        time.sleep(0.05)
    assert held == latest
    growth.close()
    parts.close()
    assert tasks_left(cluster) == []


def test_an_interrupted_fit_lets_go_of_everything(client: Any, cluster: Any) -> None:
    parts, _ = from_dask(dd.from_pandas(table(), npartitions=6), "ill")
    growth = parts.growth({**toy_requests.TOY, "pause": 0.3})
    timer = threading.Timer(0.4, signal.raise_signal, (signal.SIGINT,))
    with pytest.raises(KeyboardInterrupt):
        _interrupted(growth, timer)
    left = {ts.prefix.name for ts in cluster.scheduler.tasks.values() if ts.state in ("processing", "waiting")}
    growth.close()
    parts.close()
    assert tasks_left(cluster) == []
    assert "treewright_reply" not in left


def test_an_interrupted_reading_lets_go_of_everything(client: Any, cluster: Any) -> None:
    slow = dask.delayed(_slowly)
    timer = threading.Timer(0.6, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        from_dask([slow(each) for each in pieces(table(), *range(20, 300, 20))], "ill")
    assert tasks_left(cluster) == []


def _interrupted(growth: Any, timer: threading.Timer) -> None:
    timer.start()
    rounds(growth, 20)


def test_sizes_are_known_to_dask(client: Any) -> None:
    """Else it would move rows about as if they were nothing."""
    parts, _ = from_dask(lazily(pieces(table(3000), 1000)), "ill")
    growth = parts.growth(toy_requests.TOY)
    rounds(growth)
    sizes = client.run_on_scheduler(
        lambda dask_scheduler: {ts.prefix.name: ts.nbytes for ts in dask_scheduler.tasks.values() if ts.nbytes > 0}
    )
    assert sizes["treewright_coded"] > 1000 * (8 + 4 + 4 + 4 + 8 + 8)
    assert sizes["treewright_handled"] > 1000 * 8


# --- a cluster that cannot work -------------------------------------------------------------------------------------


def tiny() -> Any:
    return dd.from_pandas(pd.DataFrame({"x": range(20), "y": ["a", "b"] * 10}), npartitions=2)


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LOOK_EVERY", 0.05)


@pytest.mark.usefixtures("quick_looks")
def test_no_workers_are_waited_for_aloud_and_not_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    with local_cluster(0) as made, distributed.Client(made) as client:
        with (
            dask.config.set({workers.SETTING: "500ms"}),
            pytest.raises(DataError, match=r"could not work for 0\.5 seconds: it has no workers; start some") as caught,
        ):
            from_dask(tiny(), "y", client=client)
        assert workers.SETTING in str(caught.value)
        assert "waiting for the Dask cluster: it has no workers" in caplog.text
        assert tasks_left(made) == []


@pytest.mark.usefixtures("quick_looks")
def test_workers_that_come_late_are_welcome(caplog: pytest.LogCaptureFixture) -> None:
    with local_cluster(0) as made, distributed.Client(made) as client:
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(from_dask, tiny(), "y", client=client)
            until = time.monotonic() + 60
            while "it has no workers" not in caplog.text and time.monotonic() < until:
                time.sleep(0.02)
            made.scale(1)
            parts, _ = done.result(60)
        assert sum(parts.sizes) == 20
        parts.close()


@pytest.mark.usefixtures("quick_looks")
def test_workers_that_are_all_paused_are_named(caplog: pytest.LogCaptureFixture) -> None:
    def pause(dask_worker: Any) -> None:
        dask_worker.status = type(dask_worker.status).paused

    with local_cluster(1) as made, distributed.Client(made) as client:
        settled(made, 1)
        client.run(pause)
        with (
            dask.config.set({workers.SETTING: "500ms"}),
            pytest.raises(
                DataError, match="all its workers are paused, for their memory is full; give them more memory"
            ),
        ):
            from_dask(tiny(), "y", client=client)
        assert "paused" in caplog.text
