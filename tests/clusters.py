"""Dask clusters on this machine, whose workers are processes that can be killed."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import distributed


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Any]:
    workers = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "memory_limit": 0}
    # A local cluster gives a worker up that was lost so long ago and is lost again just then, whatever came between.
    patient = {"distributed.deploy.lost-worker-timeout": "1h"}
    with (
        dask.config.set(patient),
        distributed.LocalCluster(**workers, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs=60) as made,
    ):
        yield made


def running(cluster: Any) -> list[Any]:
    """The nannies whose worker is at work: one that is killed while it starts is not replaced."""
    known = {worker.name for worker in cluster.scheduler.workers.values()}
    nannies = [nanny for name, nanny in cluster.workers.items() if name in known]
    return [nanny for nanny in nannies if nanny.process is not None and nanny.process.status.name == "running"]


def kill_one(cluster: Any) -> None:
    os.kill(running(cluster)[0].process.pid, signal.SIGKILL)


def settled(cluster: Any, n_workers: int = 2) -> None:
    """All workers are there."""
    until = time.monotonic() + 60
    while len(running(cluster)) != n_workers:
        assert time.monotonic() < until
        time.sleep(0.05)


def tasks_left(cluster: Any) -> list[str]:
    """What the scheduler still knows, a moment later."""
    gc.collect()  # a failed test's traceback holds futures
    for _ in range(100):
        left = [str(key) for key in cluster.scheduler.tasks]
        if not left:
            break
        time.sleep(0.05)
    return left
