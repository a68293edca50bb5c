"""Questions and answers that are simple enough to check by hand, in place of the core's.

Comes in: a part, a question. Goes out: an answer that depends on every row and on every question asked so far, so that
a part that forgot something, or was asked twice, gives itself away.
Always holds: answers add up in any order.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from treewright.encode import Encoded
from treewright.parts import work

BIG = 1_000_003


def answer(part: Encoded, recipe: Any, state: work.State, question: bytes) -> tuple[work.State, bytes]:
    time.sleep(recipe.get("pause", 0))
    assert part.target is not None
    prepared = state.prepared or {"rows": np.arange(part.n_rows), "target": np.asarray(part.target, dtype=np.float64)}
    memory = int(state.places["memory"][0]) if state.places else 1
    memory = (memory * 31 + sum(question) + len(question)) % BIG
    places = {"memory": np.array([memory]), "of rows": np.full(part.n_rows, memory)}
    rounds = [memory * (1 + part.n_rows), int(prepared["target"].sum()) * memory, part.n_rows]
    return work.State(prepared, places), json.dumps(rounds).encode()


def merge(first: bytes, second: bytes) -> bytes:
    return json.dumps([a + b for a, b in zip(json.loads(first), json.loads(second), strict=True)]).encode()


def install() -> None:
    """Puts these in the core's place, in this process."""
    work.answer, work.merge = answer, merge
