"""Wait for futures of a Dask cluster, and report a cluster that cannot run them.

Where no task can run (no worker, or all paused for lack of memory), a message is logged every few seconds, and after a
limit a `DataError` names the remedy. Workers that join before then are used.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from treewright.errors import DataError

_log = logging.getLogger("treewright.growing.partitions")

#: Dask's setting for the time to wait for a worker, and its value if it is not set. None: for ever.
SETTING = "treewright.no-workers-timeout"
DEFAULT = "5 minutes"

#: Seconds between two looks at the workers, and between two lines of the log.
LOOK_EVERY = 3.0
SAY_EVERY = 30.0


def wait_for(client: Any, futures: Sequence[Any]) -> None:
    """Wait until all futures are done, as long as the cluster can run them."""
    from distributed import wait

    since: float | None = None
    logged = -SAY_EVERY
    while True:
        try:
            with client.as_current():
                wait(list(futures), timeout=LOOK_EVERY)
        except TimeoutError:
            why = _why_idle(client)
        else:
            return
        now = time.monotonic()
        if why is None:
            since = None
            continue
        since = now if since is None else since
        _refuse_after(_limit(), now - since, why)
        if now - logged >= SAY_EVERY:
            _log.warning("waiting for the Dask cluster: %s", why)
            logged = now


def _why_idle(client: Any) -> str | None:
    """Return why no task can run; None if one can."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not workers:
        return "it has no workers; start some, for example with cluster.scale(2)"
    status = [worker.get("status", "running") for worker in workers]
    if "running" in status:
        return None
    if "paused" in status:
        return "all its workers are paused, for their memory is full; give them more memory, or start more workers"
    return f"none of its workers is running (they are {', '.join(sorted(set(status)))}); start others"


def _limit() -> float | None:
    import dask
    from dask.utils import parse_timedelta

    found = dask.config.get(SETTING, DEFAULT)
    return None if found is None else float(parse_timedelta(found))


def _refuse_after(limit: float | None, waited: float, why: str) -> None:
    if limit is not None and waited >= limit:
        raise DataError(
            f"the Dask cluster could not work for {limit:g} seconds: {why}; dask.config.set({{{SETTING!r}: '1h'}}) "
            "waits longer"
        )
