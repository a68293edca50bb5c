"""Trees learned on a Dask cluster are those of the table in memory, for any number of workers and partitions.

What is compared is the saved form of the tree, character by character. Hardly a node is small enough to be sent
whole, so that many requests are sent.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from partition_cases import same_tree

import treewright as tw
from treewright.errors import DataError
from treewright.growing.partitions import Limits
from treewright.out_of_core import dask_partitions as clustered

pd = pytest.importorskip("pandas")
dask = pytest.importorskip("dask", reason="needs dask")
distributed = pytest.importorskip("distributed", reason="needs distributed")
dd = pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")

from clusters import kill_one, local_cluster, settled, tasks_left  # noqa: E402
from test_learn_large import PAIRS, RECIPES, TARGETS, needs_data, real, table  # noqa: E402

PLAIN = replace(tw.CART, pruning=None, stopping=tw.stopping.Stopping(max_depth=5))
LARGE = replace(tw.CART, pruning=None)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with local_cluster(1) as made:
        yield made


@pytest.fixture(scope="module")
def workers(cluster: Any, client: Any, request: pytest.FixtureRequest) -> int:
    return scaled(cluster, request.param)


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as made:
        yield made


@pytest.fixture
def two_workers(cluster: Any, client: Any) -> Any:
    scaled(cluster, 2)
    return cluster


@pytest.fixture(autouse=True)
def few_rows_leave_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustered, "Limits", lambda **given: Limits(apart=150, at_once=500, **given))


def scaled(cluster: Any, n_workers: int) -> int:
    cluster.scale(n_workers)
    settled(cluster, n_workers)
    return n_workers


# --- real tables ------------------------------------------------------------------------------------------------------

WORKERS = (1, 2, 4)

#: Not all recipes on all tables every day: the rest is slow.
DAILY = [
    *[(table, recipe) for table, recipe in PAIRS if table == "soybean"],
    *[("adult", "C45"), ("covertype", "CART"), ("flights", "RPART"), ("flights", "CHAID")],
]


@cache
def frame_of(name: str, recipe: str, n_rows: int) -> Any:
    frame = real(name, n_rows)
    return frame.dropna(axis="columns") if isinstance(RECIPES[recipe].missing, tw.missing.RefuseMissing) else frame


def learned(data: Any, name: str, recipe: tw.Recipe) -> tw.Tree:
    return tw.learn(data, TARGETS[name], recipe, task="regression" if name == "flights" else "classification")


@cache
def in_memory(name: str, recipe: str, n_rows: int, pruned: bool) -> tw.Tree:
    chosen = RECIPES[recipe] if pruned else replace(RECIPES[recipe], pruning=None)
    return learned(frame_of(name, recipe, n_rows), name, chosen)


def check(name: str, recipe: str, n_rows: int, n_partitions: int, pruned: bool) -> None:
    expected = in_memory(name, recipe, n_rows, pruned)
    frame = dd.from_pandas(frame_of(name, recipe, n_rows), npartitions=n_partitions)
    same_tree(learned(frame, name, expected.recipe), expected)


@needs_data
@pytest.mark.parametrize(
    ("workers", "name", "recipe"),
    [(n, *pair) for n in WORKERS for turn, pair in enumerate(DAILY) if n == WORKERS[turn % 3] or turn % 5 == 0],
    indirect=["workers"],
)
def test_any_number_of_workers(workers: int, name: str, recipe: str) -> None:
    turn = DAILY.index((name, recipe))
    check(name, recipe, 1200, (1, 2, 5, 16, 64)[(turn + workers) % 5], pruned=name == "soybean" and workers == 2)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("workers", WORKERS, indirect=True)
@pytest.mark.parametrize("n_partitions", [1, 2, 3, 8, 21, 64])
@pytest.mark.parametrize(("name", "recipe"), PAIRS)
def test_any_number_of_workers_and_partitions(workers: int, name: str, recipe: str, n_partitions: int) -> None:
    check(name, recipe, 5000, n_partitions, pruned=n_partitions == 8)


# --- what partitions may be, and what users do ------------------------------------------------------------------------


def test_what_the_user_says(two_workers: Any) -> None:
    frame = table().drop(columns="dose")
    arguments: dict[str, Any] = {
        "weight": "weight",
        "class_weight": "balanced",
        "costs": {"yes": {"no": 4.0}},
        "priors": {"yes": 0.2, "no": 0.5, "maybe": 0.3},
        "kinds": {"visits": "ordinal"},
    }
    recipe = replace(PLAIN, pruning=tw.pruning.CostComplexityCV(folds=3))
    same_tree(
        tw.learn(dd.from_pandas(frame, npartitions=5), "ill", recipe, **arguments),
        tw.learn(frame, "ill", recipe, **arguments),
    )
    assert tasks_left(two_workers) == []


def test_a_target_of_its_own(two_workers: Any) -> None:
    frame = table().drop(columns=["dose", "weight"])
    lazy = dd.from_pandas(frame, npartitions=4)
    found = tw.learn(lazy.drop(columns="ill"), lazy["ill"], PLAIN)
    same_tree(found, tw.learn(frame, "ill", PLAIN))


def test_partitions_that_are_empty_skewed_and_differ_in_levels(two_workers: Any) -> None:
    frame = table().drop(columns="dose")
    last = frame.iloc[2990:].assign(town="Paris")
    whole = pd.concat([frame.iloc[:2990], last])
    parts = [whole.iloc[:0], whole.iloc[:3], whole.iloc[3:2990].astype({"town": "category"}), whole.iloc[:0], last]
    expected = tw.learn(whole, "ill", PLAIN)
    same_tree(tw.learn([dask.delayed(part) for part in parts], "ill", PLAIN), expected)
    unknown = dd.from_pandas(whole, npartitions=7).astype({"town": "category"})
    assert not unknown["town"].cat.known
    same_tree(tw.learn(unknown, "ill", PLAIN), expected)


def test_fits_at_the_same_time(two_workers: Any) -> None:
    frame = table().drop(columns="ill")
    lazy = dd.from_pandas(frame, npartitions=6)
    recipes = [PLAIN, tw.CHAID, PLAIN, replace(PLAIN, rivals=0)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda recipe: tw.learn(lazy, "dose", recipe), recipes))
    for tree, recipe in zip(found, recipes, strict=True):
        same_tree(tree, tw.learn(frame, "dose", recipe))
    assert tasks_left(two_workers) == []


def test_a_cancelled_fit(two_workers: Any) -> None:
    frame = table().drop(columns="ill")
    lazy = dd.from_pandas(frame, npartitions=8)
    ended = threading.Event()

    def interrupt() -> None:
        seconds = 0.5
        while not ended.wait(seconds):
            signal.raise_signal(signal.SIGINT)
            seconds = 10  # Python loses an interrupt that comes while an object is being deleted: then another is sent

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        forever(lazy, ended)
    thread.join()
    assert tasks_left(two_workers) == []
    same_tree(tw.learn(lazy, "dose", PLAIN), tw.learn(frame, "dose", PLAIN))


def forever(lazy: Any, ended: threading.Event) -> None:
    try:
        while True:
            tw.learn(lazy, "dose", LARGE)
    finally:
        ended.set()


def test_errors_are_those_of_the_table_in_memory(two_workers: Any) -> None:
    frame = table().drop(columns="dose")
    recipe = replace(PLAIN, missing=tw.missing.RefuseMissing())
    missing = int(frame["age"].isna().sum())
    with pytest.raises(DataError, match=f"'age' is missing in {missing} of {len(frame)} rows"):
        tw.learn(dd.from_pandas(frame, npartitions=4), "ill", recipe)
    with pytest.raises(DataError, match="no criterion for regression"):
        tw.learn(dd.from_pandas(table(), npartitions=4), "dose", tw.C45)
    assert tasks_left(two_workers) == []


# --- workers that die -------------------------------------------------------------------------------------------------


class Killing:
    """A `progress` that kills a worker when it is called for the n-th time."""

    def __init__(self, cluster: Any, call: int) -> None:
        self.cluster, self.call, self.calls = cluster, call, 0

    def __call__(self, _: float) -> None:
        self.calls += 1
        if self.calls == self.call:
            kill_one(self.cluster)


@pytest.mark.parametrize("requests", [(1, 4), pytest.param(range(1, 8), marks=pytest.mark.slow)], ids=["few", "all"])
def test_a_worker_is_killed_while_the_tree_grows(two_workers: Any, requests: Any) -> None:
    """Each time the same tree, and no end of waiting."""
    frame = table().drop(columns="ill")
    expected = tw.learn(frame, "dose", LARGE)
    for request in requests:
        settled(two_workers)
        growth = Killing(two_workers, request)
        same_tree(tw.learn(dd.from_pandas(frame, npartitions=6), "dose", LARGE, progress=growth), expected)
        assert growth.calls >= request
    settled(two_workers)


def test_a_worker_is_killed_while_the_table_is_read(two_workers: Any) -> None:
    frame = table().drop(columns="ill")
    with ThreadPoolExecutor(1) as threads:
        fit = threads.submit(tw.learn, dd.from_pandas(frame, npartitions=6), "dose", LARGE)
        time.sleep(0.05)
        assert not fit.done()
        kill_one(two_workers)
        same_tree(fit.result(timeout=100), tw.learn(frame, "dose", LARGE))
    settled(two_workers)
