"""What the benchmark must show: every promised ratio, the figure reached, and whether that is enough.

A ratio compares records of one case, so of one run; a promise whose workload did not run has no figure. A stopped
peer counts as slower than the limit, never as the fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from by_criterion import CASES
from timing import Record

OWN = ("treewright", "treewright learn", "treewright CART", "treewright predict")


@dataclass(frozen=True)
class Shown:
    """`figure` is None if nothing was measured; `against` says what stood on the other side."""

    promise: str
    wanted: str
    figure: float | None
    met: bool | None
    against: str = ""

    def line(self) -> str:
        if self.figure is None:
            return f"  {self.promise:58} {self.wanted:>16}   not measured"
        reached = f"{self.figure:.3g}"
        return (
            f"  {self.promise:58} {self.wanted:>16} {reached:>9}   {'met' if self.met else 'NOT MET':8}{self.against}"
        )


Records = Sequence[Record]


def _of(records: Records, section: str, case: str) -> dict[str, Record]:
    return {r.contender: r for r in records if r.section == section and r.case.endswith(case) and r.best is not None}


def _faster(records: Records, section: str, case: str, rivals: tuple[str, ...] = ()) -> tuple[float, str] | None:
    """Our estimator's speed over the fastest of the rivals (nobody named: of all peers), and who that is."""
    found = _of(records, section, case)
    peers = [r for name, r in found.items() if (name in rivals if rivals else name not in OWN)]
    if "treewright" not in found or not peers:
        return None
    fastest, mine = min(peers, key=lambda r: r.best), found["treewright"].best
    return fastest.best / mine, f"{mine:.3g} s, {fastest.contender} {fastest.best:.3g} s"


def _over_scikit_learn(records: Records, section: str, case: str) -> tuple[float, str] | None:
    return _faster(records, section, case, ("scikit-learn",))


def _over_fastest(table: str, case: str) -> Callable[[Records], Shown]:
    promise = f"{table}, {case}: over the fastest peer"
    return lambda r: _at_least(promise, 1.5, _faster(r, table, case))


def _at_least(promise: str, least: float, measured: tuple[float, str] | None) -> Shown:
    wanted = f"at least {least:g} x"
    if measured is None:
        return Shown(promise, wanted, None, None)
    figure, against = measured
    return Shown(promise, wanted, figure, figure >= least, against)


def _times(records: Records, section: str, case: str, of: str, over: str) -> tuple[float, str] | None:
    """How many times the time of one of ours another of ours takes."""
    found = _of(records, section, case)
    if of not in found or over not in found:
        return None
    one, other = found[of].best, found[over].best
    return one / other, f"{one:.3g} s, {other:.3g} s"


def _at_most(promise: str, most: float, measured: tuple[float, str] | None) -> Shown:
    wanted = f"at most {most:g} x"
    if measured is None:
        return Shown(promise, wanted, None, None)
    figure, against = measured
    return Shown(promise, wanted, figure, figure <= most, against)


def _validated(table: str) -> Callable[[Records], Shown]:
    promise = f"cross-validated CART over one unpruned tree, {table}"
    return lambda r: _at_most(
        promise, 5, _times(r, "cross-validation", table, "CART, cross-validated", "CART, unpruned")
    )


def _rivals(case: str, kind: str) -> Callable[[Records], Shown]:
    promise = f"CART, {kind}, keeping rivals over without, {case}"
    return lambda r: _at_most(promise, 1.3, _times(r, "rivals", case, f"CART, {kind}", f"CART, {kind}, no rivals"))


def _by_histogram(criterion: str) -> Callable[[Records], Shown]:
    promise = f"{criterion}, depth 10: by histogram over value by value"
    return lambda r: _at_least(promise, 10, _times(r, "criteria", criterion, "value by value", "by histogram"))


def _impurity(records: Records) -> Shown:
    apart = [abs(r.best) for r in records if r.section == "impurity" and r.best is not None]
    promise, wanted = "training impurity beside scikit-learn, depth 1 to 10", "within 1e-9"
    if not apart:
        return Shown(promise, wanted, None, None)
    beyond = [r.case for r in records if r.section == "impurity" and r.best is not None and abs(r.best) > 1e-9]
    note = f"beyond it: {'; '.join(beyond)}" if beyond else ""
    return Shown(promise, wanted, max(apart), not beyond, note)


def _of_threads(records: Records, rows: str, threads: int) -> tuple[float, str] | None:
    """How many times the time of two threads this many take."""
    case, name = f"{rows} x 28, depth 10", f"{threads} thread{'s' if threads > 1 else ''}"
    exact = [r for r in records if r.case == case]
    return _times(exact, "threads", case, name, "2 threads")


def _unshared(records: Records) -> Shown:
    promise, wanted = "share of a fit of 2,000,000 x 28 that one thread does alone", "at most 0.02"
    found = [
        r for r in records if r.section == "profile" and r.case.startswith("2,000,000") and "of all" in r.contender
    ]
    if not found or found[0].best is None:
        return Shown(promise, wanted, None, None)
    return Shown(promise, wanted, found[0].best, found[0].best <= 0.02)


def _growth(records: Records) -> Shown:
    """Fit time at the most rows over fit time at a hundredth of them, over a hundred."""
    promise, wanted = "growth of fit time from 10^5 to 10^7 rows, over 100", "at most 1"
    small, large = (_of(records, "growth-rows", f"{rows:,} rows x 28").get("treewright") for rows in (10**5, 10**7))
    if small is None or large is None:
        return Shown(promise, wanted, None, None)
    figure = large.best / small.best / 100
    return Shown(promise, wanted, figure, figure <= 1, f"{small.best:.3g} s, {large.best:.3g} s")


def _memory(records: Records) -> Shown:
    promise, wanted = "memory beyond the input, in inputs", "at most 1"
    found = {r.contender: r.best for r in records if r.section == "memory" and r.best is not None}
    if "treewright" not in found:
        return Shown(promise, wanted, None, None)
    others = ", ".join(f"{name} {tables:.2f}" for name, tables in found.items() if name not in OWN)
    return Shown(promise, wanted, found["treewright"], found["treewright"] <= 1, others)


PROMISES: tuple[Callable[[Records], Shown], ...] = (
    lambda r: _at_least("two classes, depth 10: over the fastest peer", 5, _faster(r, "two-class", "depth 10")),
    lambda r: _at_least("two classes, depth 10: over scikit-learn", 50, _over_scikit_learn(r, "two-class", "depth 10")),
    lambda r: _at_least("two classes, unlimited: over the fastest peer", 4, _faster(r, "two-class", "unlimited")),
    lambda r: _at_least("regression, depth 10: over the fastest peer", 4, _faster(r, "regression", "depth 10")),
    lambda r: _at_least("regression, unlimited: over the fastest peer", 3, _faster(r, "regression", "unlimited")),
    *(_over_fastest(table, case) for table in ("adult", "flights") for case in ("depth 10", "unlimited")),
    lambda r: _at_least("20 columns of levels: over scikit-learn", 20, _over_scikit_learn(r, "levels", "depth 10")),
    lambda r: _at_least("covertype, depth 10: over the fastest peer", 2, _faster(r, "covertype", "depth 10")),
    lambda r: _at_least("covertype, unlimited: over the fastest peer", 2, _faster(r, "covertype", "unlimited")),
    _impurity,
    lambda r: _at_least("two threads over one, 1,000,000 x 28", 1.7, _of_threads(r, "1,000,000", 1)),
    lambda r: _at_least("two threads over one, 200,000 x 28", 1.9, _of_threads(r, "200,000", 1)),
    lambda r: _at_least("two threads over one, 20,000 x 28", 1.8, _of_threads(r, "20,000", 1)),
    lambda r: _at_most("16 threads over two, 200,000 x 28", 1.1, _of_threads(r, "200,000", 16)),
    _unshared,
    _growth,
    _memory,
    lambda r: _at_least(
        "prediction of many rows, depth 10: over the fastest", 1.5, _faster(r, "predict-many", "depth 10")
    ),
    lambda r: _at_least("fit on iris: over scikit-learn", 3, _over_scikit_learn(r, "iris", "many fits")),
    lambda r: _at_least(
        "prediction of one row: over scikit-learn",
        15,
        _over_scikit_learn(r, "predict-one", "depth 10"),
    ),
    lambda r: _at_least(
        "prediction of one row: over onnxruntime",
        1.2,
        _faster(r, "predict-one", "depth 10", ("onnxruntime",)),
    ),
    *map(_by_histogram, CASES),
    *map(_validated, ("adult", "diamonds", "covertype", "flights")),
    *(_rivals(case, kind) for kind in ("cross-validated", "unpruned") for case in ("two classes", "numbers")),
)


def shown(records: Records) -> list[Shown]:
    return [promise(records) for promise in PROMISES]
