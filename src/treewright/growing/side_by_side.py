"""Run tasks of the core in threads of their own, results in order.

The calling thread only waits, so it reports progress and notices Ctrl-C, and the other threads stop. All
threads have ended when the last result, or an error, is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from treewright import _core
from treewright.growing.progress import Progress, Stage

Value = TypeVar("Value")

#: A task gets its number of threads and a function to call, now and then, with the fraction that is done.
Task = Callable[[int, Progress], Value]

#: Seconds between two looks at the tasks.
_LOOK = 0.02


class _StoppedError(Exception):
    """Ends a task whose result is not needed any more."""


def threads_worth(wanted: int) -> int:
    """Return how many threads to use, as the core counts them; 0 means one per processor."""
    return _core.threads_worth(wanted)


def side_by_side(tasks: Sequence[Task[Value]], n_threads: int, stage: Stage) -> Iterator[Value]:
    """Yield the result of each task, in order; 0 threads means one per processor."""
    threads = threads_worth(n_threads)
    workers = min(threads, len(tasks))
    if workers <= 1:
        for i, task in enumerate(tasks):
            yield task(threads, stage.part(i, len(tasks)))
        return
    done = [0.0] * len(tasks)
    stop = Event()

    def watched(i: int) -> Value:
        def advance(share: float) -> None:
            if stop.is_set():
                raise _StoppedError
            done[i] = max(done[i], share)

        return tasks[i](threads // workers, advance)

    with ThreadPoolExecutor(workers) as pool:
        waiting = deque(pool.submit(watched, i) for i in range(len(tasks)))
        try:
            while waiting:
                finished, _ = wait([waiting[0]], timeout=_LOOK)
                stage(sum(done) / len(tasks))
                if finished:
                    yield waiting.popleft().result()
        finally:
            stop.set()
            for future in waiting:
                future.cancel()
