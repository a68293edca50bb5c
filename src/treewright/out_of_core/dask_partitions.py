"""Parts on a Dask cluster: each lies as a result on some worker, and is asked by plain tasks.

Comes in: a Dask DataFrame, or Delayed values, futures or file names, one per partition. Goes out: `DaskPartitions` and
the table's `Schema`.
Always holds: tasks are pure and Dask places them; what a task needs is named in its graph, down to the partitions. So
what is lost with a worker is made again by Dask, the answers of earlier rounds included: the scheduler keeps the recipe
of a released result as long as a result that came from it is wanted. Names of tasks are new for every fit, so fits do
not meet. Only merged answers come to the client.

A task costs milliseconds wherever it runs, and answers cost more the more of them there are. So the partitions that lie
on one worker are put together, into one part per thread. That decides how fast answers come, never what they are.
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
from treewright.data.rows import joined
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, TreewrightError
from treewright.growing import partition_worker as work
from treewright.growing.partitions import Limits
from treewright.out_of_core import column_summary
from treewright.out_of_core.dask_futures import Made, Weighed, batches, fetched, merged, reduced, release
from treewright.out_of_core.memory_limit import memory_size

Value = TypeVar("Value")

#: So few answers are merged by the client.
FEW_ANSWERS = 2

_NO_CLIENT = (
    "a Dask table is learned from where a Dask client is: make one first, for example "
    "client = distributed.Client(), or pass client="
)


# --- what lies on the workers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Framed(Weighed):
    """One partition, read."""

    frame: Frame


@dataclass(frozen=True, eq=False)
class Lying(Weighed):
    """A part, where it lies."""

    part: Encoded


@dataclass(frozen=True, eq=False)
class Answered(Weighed):
    """What a part remembers, and what it said."""

    state: work.State
    said: bytes


# --- what travels to them -------------------------------------------------------------------------------------------


def _framed(table: object, number: int) -> Framed:
    with _named(number):
        return Framed(column_summary.frame_of(table))


def _summarized(
    framed: Framed, number: int, target: str, weight: str | None, kinds: Mapping[str, KindChoice] | None
) -> column_summary.TableSummary:
    with _named(number):
        return column_summary.summarize(framed.frame, target, weight, kinds)


def _coded(framed: Sequence[Framed], numbers: Sequence[int], schema: Schema, target: str, weight: str | None) -> Lying:
    pieces = []
    for each, number in zip(framed, numbers, strict=True):
        with _named(number):
            pieces.append(column_summary.encode_partition(each.frame, schema, target, weight))
    return Lying(joined(pieces))


def _mapped(lying: Lying, function: Callable[..., Value], arguments: Sequence[object]) -> Value:
    return function(lying.part, *arguments)


def _changed(
    lying: Lying, own: Sequence[object], function: Callable[..., Encoded], arguments: Sequence[object]
) -> Lying:
    return Lying(function(lying.part, *arguments, *own))


def _answered(lying: Lying, before: Answered | None, recipe: Mapping[str, Any], question: bytes) -> Answered:
    return Answered(*work.answer(lying.part, recipe, before.state if before else work.State(), question))


def _said(answered: Answered) -> bytes:
    return answered.said


def _facts(part: Encoded) -> _Facts:
    return _Facts(part.n_rows, part.kinds, part.levels, part.n_classes)


@dataclass(frozen=True)
class _Facts:
    n_rows: int
    kinds: tuple[int, ...]
    levels: tuple[int, ...]
    n_classes: int


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Rows in messages are counted within a partition, so it is said which."""
    try:
        yield
    except TreewrightError as error:
        error.add_note(f"in partition {number} of the table, counted from 0")
        raise


# --- parts ----------------------------------------------------------------------------------------------------------


class DaskGrowth:
    """A tree being grown on a cluster. `traffic`: bytes of question and merged answer, round by round."""

    def __init__(self, client: Any, parts: Sequence[Any], recipe: Mapping[str, Any]) -> None:
        self.traffic: list[tuple[int, int]] = []
        self._client = client
        self._parts = tuple(parts)
        self._recipe = dict(recipe)
        self._before: list[Any] = [None] * len(self._parts)

    def ask(self, question: bytes) -> bytes:
        with Made(self._client) as made:
            answered = made(_answered, self._parts, self._before, recipe=self._recipe, question=question)
            said = self._merged(made, made(_said, answered))
            made.keep(answered)
        release(self._before)  # their recipes stay with the scheduler, which makes them again if a worker is lost
        self._before = answered
        self.traffic.append((len(question), len(said)))
        return said

    def _merged(self, made: Made, said: Sequence[Any]) -> bytes:
        """A few answers come here as they are: merging them on a worker first would be one step more."""
        if len(said) > FEW_ANSWERS:
            said = [merged(made, said, work.merge)]
        answers: list[bytes] = fetched(self._client, said)
        return reduce(work.merge, answers)

    def close(self) -> None:
        release(self._before)
        self._parts, self._before = (), []


class DaskPartitions:
    """Parts on the workers of a Dask cluster: futures of `Lying`."""

    def __init__(self, client: Any, parts: Sequence[Any], limits: Limits | None = None) -> None:
        self.client = client
        self.limits = Limits(memory=memory_size(None)) if limits is None else limits
        self._parts = tuple(parts)
        self._facts: list[_Facts] = self.map(_facts)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(facts.n_rows for facts in self._facts)

    @property
    def kinds(self) -> tuple[int, ...]:
        return self._facts[0].kinds

    @property
    def levels(self) -> tuple[int, ...]:
        return self._facts[0].levels

    @property
    def n_classes(self) -> int:
        return self._facts[0].n_classes

    def map(self, function: Callable[..., Value], *arguments: object) -> list[Value]:
        with Made(self.client) as made:
            return fetched(self.client, made(_mapped, self._parts, function=function, arguments=arguments))

    def changed(
        self, function: Callable[..., Encoded], *arguments: object, each: Sequence[object] | None = None
    ) -> DaskPartitions:
        with Made(self.client) as made:
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
    client: Any = None,
    limits: Limits | None = None,
    keep_columns: bool = False,
) -> tuple[DaskPartitions, Schema]:
    """Reads, describes and codes the partitions where they are.

    `data`: a Dask DataFrame, lazy or persisted, or a list with one Delayed, future or file name per partition; files
    are read by the workers. A partition is computed once, and held as read columns until it is coded.
    """
    client = _client(client)
    with Made(client) as made:
        framed, summary = _read(client, made, _partitions(data), target, weight, kinds)
        schema = column_summary.described(fetched(client, [summary])[0], task, kinds, keep_columns)
        numbers = _dealt(client, framed)
        given = [[framed[number] for number in some] for some in numbers]
        coded = made(_coded, given, numbers, schema=schema, target=target, weight=weight)
        parts = DaskPartitions(client, coded, limits)
        made.keep(coded)
    return parts, schema


def partitions(data: object) -> Iterator[object]:
    """The partitions as tables, made one by one: for those who have no cluster."""
    for partition in _partitions(data):
        if hasattr(partition, "compute"):
            yield partition.compute()
        else:
            yield partition.result() if hasattr(partition, "result") else partition


def is_partitioned(data: object) -> bool:
    """Whether this is a Dask DataFrame, or a list of Delayed values or futures. Loads nothing to find out."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(_is_dask(each) and not hasattr(type(each), "to_delayed") for each in data)
    return _is_dask(data) and type(data).__name__ == "DataFrame"


def has_client() -> bool:
    """Whether a Dask client is around."""
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
    made: Made,
    tables: Sequence[object],
    target: str,
    weight: str | None,
    kinds: Mapping[str, KindChoice] | None,
) -> tuple[list[Any], Any]:
    """Frames and their merged digest. In one graph, so that a raw partition is let go of before all are computed."""
    from dask import delayed

    def task(function: Callable[..., object]) -> Any:
        return delayed(function, pure=False)

    framed = [task(_framed)(table, number) for number, table in enumerate(tables)]
    said = [task(_summarized)(each, number, target, weight, kinds) for number, each in enumerate(framed)]
    while len(said) > 1:
        said = [task(reduced)(batch, column_summary.merge) for batch in batches(said)]
    futures = made.add(client.compute([*framed, said[0]]))
    return futures[:-1], futures[-1]


def _dealt(client: Any, framed: Sequence[Any]) -> list[list[int]]:
    """Which frames become one part: every worker has as many parts as threads."""
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
