"""Requests and replies simple enough to check by hand, in place of the core's.

A reply depends on every row and on every request so far, so a partition that forgot one or received one twice shows.
Replies add up in any order. Recipes other than `TOY` go to the core.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from distributed import WorkerPlugin

from treewright.data.encoding import Encoded
from treewright.growing import partition_worker as work

TOY = {"toy": True}
MODULUS = 1_000_003

_core_handle, _core_merge = work.handle, work.merge


def handle(part: Encoded, recipe: Any, state: work.State, request: bytes) -> tuple[work.State, bytes]:
    if "toy" not in recipe:
        return _core_handle(part, recipe, state, request)
    time.sleep(recipe.get("pause", 0))
    assert part.target is not None
    prepared = state.prepared or {"target": np.asarray(part.target, dtype=np.float64)}
    memory = int(state.assignment["memory"][0]) if state.assignment else 1
    memory = (memory * 31 + len(request) + request[0]) % MODULUS
    reply = [memory * (1 + part.n_rows), int(prepared["target"].sum()) * memory, part.n_rows, 1]
    return work.State(prepared, {"memory": np.full(1 + part.n_rows, memory)}), b"toy" + json.dumps(reply).encode()


def merge(first: bytes, second: bytes) -> bytes:
    if not first.startswith(b"toy"):
        return _core_merge(first, second)
    pairs = zip(json.loads(first[3:]), json.loads(second[3:]), strict=True)
    return b"toy" + json.dumps([one + other for one, other in pairs]).encode()


class Toys(WorkerPlugin):
    """Install these on every worker, also on one that replaces a killed one."""

    def setup(self, worker: Any) -> None:  # noqa: ARG002
        work.handle, work.merge = handle, merge
