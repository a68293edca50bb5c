"""Partitions on a Dask cluster: each is a result on some worker, used by plain tasks.

Tasks are pure, Dask places them, and each names what it needs down to the partitions, so that what is lost with a
worker is made again. Names of tasks are new for every fit. Only merged replies come to the client. The partitions of
one worker are joined into one per thread, because every task and reply costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from os import PathLike, fspath
from typing import Any, TypeVar

from treewright.data.encoding import Encoded
from treewright.data.frame import Frame
from treewright.data.kinds import KindChoice
from treewright.data.rows import concat
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, TreewrightError
from treewright.growing import partition_worker as worker
from treewright.growing.partitions import Limits, Partitions
from treewright.out_of_core import column_summary
from treewright.out_of_core.dask_futures import FutureSet, SizedResult, batches, fetched, merged, reduced, release
from treewright.out_of_core.memory_limit import memory_size

Value = TypeVar("Value")

#: So few replies are merged by the client.
FEW_REPLIES = 2

_NO_CLIENT = (
    "a Dask table is learned from where a Dask client is: make one first, for example "
    "client = distributed.Client(), or pass client="
)


# --- what lies on the workers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FrameResult(SizedResult):
    """One partition, read."""

    frame: Frame


@dataclass(frozen=True, eq=False)
class PartitionResult(SizedResult):
    """A part, where it lies."""

    part: Encoded


@dataclass(frozen=True, eq=False)
class HandledRequest(SizedResult):
    """The state of a partition and its reply."""

    state: worker.State
    reply: bytes


# --- what travels to them -------------------------------------------------------------------------------------------


def _framed(table: object, number: int) -> FrameResult:
    with _named(number):
        return FrameResult(column_summary.frame_of(table))


def _summarized(
    framed: FrameResult, number: int, target: str, weight: str | None, kinds: Mapping[str, KindChoice] | None
) -> column_summary.TableSummary:
    with _named(number):
        return column_summary.summarize(framed.frame, target, weight, kinds)


def _coded(
    framed: Sequence[FrameResult], numbers: Sequence[int], schema: Schema, target: str, weight: str | None
) -> PartitionResult:
    pieces = []
    for each, number in zip(framed, numbers, strict=True):
        with _named(number):
            pieces.append(column_summary.encode_partition(each.frame, schema, target, weight))
    return PartitionResult(concat(pieces))


def _mapped(placed: PartitionResult, function: Callable[..., Value], arguments: Sequence[object]) -> Value:
    return function(placed.part, *arguments)


def _changed(
    placed: PartitionResult, own: Sequence[object], function: Callable[..., Encoded], arguments: Sequence[object]
) -> PartitionResult:
    return PartitionResult(function(placed.part, *arguments, *own))


def _handled(
    placed: PartitionResult, before: HandledRequest | None, recipe: Mapping[str, Any], request: bytes
) -> HandledRequest:
    return HandledRequest(*worker.handle(placed.part, recipe, before.state if before else worker.State(), request))


def _reply(handled: HandledRequest) -> bytes:
    return handled.reply


def _shape(part: Encoded) -> _Shape:
    return _Shape(part.n_rows, part.kinds, part.levels, part.n_classes)


@dataclass(frozen=True)
class _Shape:
    n_rows: int
    kinds: tuple[int, ...]
    levels: tuple[int, ...]
    n_classes: int


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Add the partition to errors, which count rows within it."""
    try:
        yield
    except TreewrightError as error:
        error.add_note(f"in partition {number} of the table, counted from 0")
        raise


# --- parts ----------------------------------------------------------------------------------------------------------


class DaskGrowth:
    """A tree being grown on a cluster. `traffic`: bytes of each request and merged reply."""

    def __init__(self, client: Any, parts: Sequence[Any], recipe: Mapping[str, Any]) -> None:
        self.traffic: list[tuple[int, int]] = []
        self._client = client
        self._parts = tuple(parts)
        self._recipe = dict(recipe)
        self._before: list[Any] = [None] * len(self._parts)

    def send(self, request: bytes) -> bytes:
        with FutureSet(self._client) as made:
            handled = made(_handled, self._parts, self._before, recipe=self._recipe, request=request)
            reply = self._merged(made, made(_reply, handled))
            made.keep(handled)
        release(self._before)  # their recipes stay with the scheduler, which makes them again if a worker is lost
        self._before = handled
        self.traffic.append((len(request), len(reply)))
        return reply

    def _merged(self, made: FutureSet, reply: Sequence[Any]) -> bytes:
        """Merge replies; a few come here as they are, which saves a step."""
        if len(reply) > FEW_REPLIES:
            reply = [merged(made, reply, worker.merge)]
        replies: list[bytes] = fetched(self._client, reply)
        return reduce(worker.merge, replies)

    def close(self) -> None:
        release(self._before)
        self._parts, self._before = (), []


class DaskPartitions(Partitions):
    """Parts on the workers of a Dask cluster: futures of `PartitionResult`."""

    def __init__(self, client: Any, parts: Sequence[Any], limits: Limits | None = None) -> None:
        self.client = client
        self.limits = Limits(memory=memory_size(None)) if limits is None else limits
        self._parts = tuple(parts)
        self.shapes: list[_Shape] = self.map(_shape)

    def map(self, function: Callable[..., Value], *arguments: object) -> list[Value]:
        with FutureSet(self.client) as made:
            return fetched(self.client, made(_mapped, self._parts, function=function, arguments=arguments))

    def changed(
        self, function: Callable[..., Encoded], *arguments: object, each: Sequence[object] | None = None
    ) -> DaskPartitions:
        with FutureSet(self.client) as made:
            own: list[list[object]] = [[] for _ in self._parts] if each is None else [[made.sent(one)] for one in each]
            parts = made(_changed, self._parts, own, function=function, arguments=arguments)
            changed = DaskPartitions(self.client, parts, self.limits)
            made.keep(parts)
        return changed

    def growth(self, recipe: Mapping[str, Any]) -> DaskGrowth:
        return DaskGrowth(self.client, self._parts, recipe)

    def close(self) -> None:
        release(self._parts)
        self._parts = ()


# --- a table of partitions ------------------------------------------------------------------------------------------


def from_dask(
    data: object,
    target: str,
    weight: str | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    keep_columns: bool = False,
    *,
    check: Callable[[Schema], Schema] = lambda schema: schema,
    client: Any = None,
    limits: Limits | None = None,
) -> tuple[DaskPartitions, Schema]:
    """Read, describe and encode the partitions where they are.

    `data`: a Dask DataFrame, lazy or persisted, or a list with one Delayed, future or file name per partition; files
    are read by the workers. A partition is computed once, and held as read columns until it is coded.
    """
    client = _client(client)
    with FutureSet(client) as made:
        framed, summary = _read(client, made, _partitions(data), target, weight, kinds)
        schema = check(column_summary.described(fetched(client, [summary])[0], task, kinds, keep_columns))
        numbers = _dealt(client, framed)
        given = [[framed[number] for number in some] for some in numbers]
        coded = made(_coded, given, numbers, schema=schema, target=target, weight=weight)
        parts = DaskPartitions(client, coded, limits)
        made.keep(coded)
    return parts, schema


def partitions(data: object) -> Iterator[object]:
    """Yield the partitions as tables, made one by one: for those who have no cluster."""
    for partition in _partitions(data):
        if hasattr(partition, "compute"):
            yield partition.compute()
        else:
            yield partition.result() if hasattr(partition, "result") else partition


def is_partitioned(data: object) -> bool:
    """Return whether this is a Dask DataFrame, or a list of Delayed values or futures. Loads nothing to find out."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(_is_dask(each) and not hasattr(type(each), "to_delayed") for each in data)
    return _is_dask(data) and type(data).__name__ == "DataFrame"


def has_client() -> bool:
    """Return whether a Dask client is around."""
    try:
        from distributed import get_client

        get_client()
    except (ModuleNotFoundError, ValueError):
        return False
    return True


def _is_dask(value: object) -> bool:
    return type(value).__module__.partition(".")[0] in {"dask", "distributed"}


def _partitions(data: Any) -> list[Any]:
    found = [*data] if isinstance(data, (list, tuple)) else data.to_delayed() if is_partitioned(data) else None
    if found is None:
        raise DataError(
            "expected a Dask DataFrame, or a list with one Delayed value, future or file name per partition; got "
            f"{type(data).__name__}"
        )
    if not found:
        raise DataError("the list of partitions is empty; there is nothing to learn from")
    return [fspath(each) if isinstance(each, PathLike) else each for each in found]


def _client(client: Any) -> Any:
    try:
        from distributed import get_client
    except ModuleNotFoundError as error:
        raise DataError("learning on a cluster needs Dask: pip install 'treewright[dask]'") from error
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise DataError(_NO_CLIENT) from None
    if client.asynchronous:
        raise DataError("this Dask client is asynchronous; make one with distributed.Client(..., asynchronous=False)")
    return client


def _read(
    client: Any,
    made: FutureSet,
    tables: Sequence[object],
    target: str,
    weight: str | None,
    kinds: Mapping[str, KindChoice] | None,
) -> tuple[list[Any], Any]:
    """Return frames and their merged summary, in one graph, so that raw partitions are released early."""
    from dask import delayed

    def task(function: Callable[..., object]) -> Any:
        return delayed(function, pure=False)

    framed = [task(_framed)(table, number) for number, table in enumerate(tables)]
    reply = [task(_summarized)(each, number, target, weight, kinds) for number, each in enumerate(framed)]
    while len(reply) > 1:
        reply = [task(reduced)(batch, column_summary.merge) for batch in batches(reply)]
    futures = made.add(client.compute([*framed, reply[0]]))
    return futures[:-1], futures[-1]


def _dealt(client: Any, framed: Sequence[Any]) -> list[list[int]]:
    """Return which frames become one part: every worker has as many parts as threads."""
    threads = client.nthreads()
    homes: dict[str | None, list[int]] = {}
    where = client.who_has(framed)
    for number, frame in enumerate(framed):
        homes.setdefault(min(where.get(frame.key, ()), default=None), []).append(number)
    groups = [
        numbers[start :: max(1, threads.get(home, 1))]
        for home, numbers in homes.items()
        for start in range(max(1, threads.get(home, 1)))
    ]
    return sorted(group for group in groups if group)
