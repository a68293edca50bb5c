"""The best tree against brute force over tables of every kind, and stopped searches."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treewright as tw

Mask = np.ndarray
MANY = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@dataclass(frozen=True, eq=False)
class Case:
    """A table with the options of a search."""

    table: dict[str, list[Any]]
    kinds: dict[str, Any]
    y: np.ndarray
    weight: np.ndarray | None
    options: dict[str, Any]

    @property
    def n(self) -> int:
        return len(self.y)


LEVELS = ["p", "q", "r", "s"]


@st.composite
def cases(draw: Any, *, most_rows: int, depths: tuple[int, ...]) -> Case:
    depth = draw(st.sampled_from(depths))
    n = draw(st.integers(4, most_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))  # cells by a seed: shrinking them tells little
    table: dict[str, list[Any]] = {}
    kinds: dict[str, Any] = {}
    for i in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["numeric", "ordinal", "nominal"]))
        few = draw(st.integers(2, 4))
        cells: list[Any] = rng.integers(0, few, n).tolist()
        if kind != "numeric":
            cells = [LEVELS[cell] for cell in cells]
        if draw(st.booleans()):
            cells = [None if rng.random() < 0.25 else cell for cell in cells]
        if all(cell is None for cell in cells):
            cells[0] = 1 if kind == "numeric" else "p"
        table[f"c{i}"] = cells
        kinds[f"c{i}"] = LEVELS if kind == "ordinal" else kind
    options: dict[str, Any] = {"max_depth": depth}
    for name, values in {
        "min_samples_leaf": st.integers(1, 4),
        "leaf_penalty": st.sampled_from([0.0, 0.02, 0.1]),
        "max_leaves": st.one_of(st.none(), st.integers(1, 6)),
        "missing": st.sampled_from(["learned", "own", "majority"]),
    }.items():
        options[name] = draw(values)
    weight = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else None
    if draw(st.integers(0, 2)) == 0:
        return Case(table, kinds, rng.integers(0, 9, n).astype(float), weight, {**options, "task": "regression"})
    y = rng.integers(0, draw(st.integers(2, 3)), n)
    y[:2] = 0, 1
    # Which side is larger must not depend on rounding: no fractional weights with the majority policy.
    whole = options["missing"] == "majority"
    extra = draw(st.sampled_from(["plain", "costs"] if whole else ["plain", "balanced", "costs", "priors"]))
    options["task"] = "classification"
    if extra == "balanced":
        options["objective"] = "balanced_accuracy"
    elif extra == "costs":
        options["costs"] = (
            rng.integers(0, 4, (y.max() + 1,) * 2) * (1 - np.eye(y.max() + 1)) + 1 - np.eye(y.max() + 1)
        ).tolist()
    elif extra == "priors":
        shares = rng.integers(1, 5, y.max() + 1)
        options["priors"] = (shares / shares.sum()).tolist()
    return Case(table, kinds, y, weight, options)


# --- brute force ------------------------------------------------------------------------------------------------------


def objective(case: Case) -> tuple[np.ndarray, np.ndarray | None, float]:
    """The weight of each row, the costs, and what the sum of losses is divided by."""
    weight = np.ones(case.n) if case.weight is None else case.weight.copy()
    if case.options["task"] == "regression":
        mean = np.average(case.y, weights=weight)
        return weight, None, float(weight @ (case.y - mean) ** 2) or 1.0
    total = np.bincount(case.y, weights=weight)
    if case.options.get("objective"):
        weight = weight / np.where(total > 0, total, 1)[case.y]
    if "priors" in case.options:
        weight = weight * (np.array(case.options["priors"]) / np.where(total > 0, total, 1))[case.y]
    costs = np.array(case.options.get("costs", 1 - np.eye(len(total))))
    return weight, costs, float(weight.sum())


def divisions(case: Case) -> list[tuple[Mask, Mask | None]]:
    """The rows on the low side of every split, and which of them are known; None: missing values have a side."""
    found: list[tuple[Mask, Mask | None]] = []
    majority = case.options["missing"] == "majority"
    for name, cells in case.table.items():
        known = np.array([cell is not None for cell in cells])
        present = sorted({cell for cell in cells if cell is not None}, key=str)
        if case.kinds[name] == "nominal":
            groups = [set(g) for size in range(1, len(present) + 1) for g in itertools.combinations(present, size)]
            if majority:  # of two equal sides the smaller set, or the one with the first level, is the low one
                groups = [
                    g for g in groups if 2 * len(g) < len(present) or (2 * len(g) == len(present) and present[0] in g)
                ]
        else:
            groups = [set(present[: i + 1]) for i in range(len(present))]
        for group in groups:
            low = np.array([cell in group for cell in cells])
            if majority:
                found.append((low, known))
            else:
                found += [(low & known, None), (low | ~known, None)]
    return found


def least_losses(case: Case) -> np.ndarray:
    """The least objective with at most 1, 2, ... leaves, by recursion over every split."""
    weight, costs, unit = objective(case)
    splits = divisions(case)
    penalty = case.options["leaf_penalty"] * unit
    seen: dict[tuple[bytes, int], np.ndarray] = {}

    def leaf(rows: Mask) -> float:
        w, y = weight[rows], case.y[rows]
        if costs is None:
            return float(w @ (y - (w @ y) / w.sum()) ** 2) + penalty
        return float((np.bincount(y, weights=w, minlength=len(costs)) @ costs).min()) + penalty

    def least(rows: Mask, depth: int) -> np.ndarray:
        key = (rows.tobytes(), depth)
        if key in seen:
            return seen[key]
        found = np.full(2**depth, leaf(rows))
        for mask, known in splits if depth else []:
            low = rows & mask
            if known is not None:  # missing values follow the larger side
                to_low = 2 * weight[rows & known & mask].sum() >= weight[rows & known].sum()
                low = rows & ((mask & known) | (~known & to_low))
                if not 0 < (rows & known & mask).sum() < (rows & known).sum():
                    continue
            high = rows & ~low
            if min(low.sum(), high.sum()) < case.options["min_samples_leaf"]:
                continue
            below, above = least(low, depth - 1), least(high, depth - 1)
            for i, j in itertools.product(range(len(below)), range(len(above))):
                found[i + j + 1] = min(found[i + j + 1], below[i] + above[j])
        seen[key] = np.minimum.accumulate(found)
        return seen[key]

    return least(np.ones(case.n, dtype=bool), case.options["max_depth"]) / unit


def learned(case: Case, **more: Any) -> tw.Tree:
    table = {**case.table, "y": case.y}
    return tw.learn_optimal(table, "y", weight=case.weight, kinds=case.kinds, **{**case.options, **more})


def loss_of(case: Case, tree: tw.Tree) -> float:
    """The objective of a tree, from its predictions alone."""
    weight, costs, unit = objective(case)
    predicted = tw.predict(tree, case.table)
    if costs is None:
        loss = float(weight @ (case.y - predicted) ** 2)
    else:
        loss = float((weight * costs[case.y, predicted]).sum())
    return loss / unit + case.options["leaf_penalty"] * tree.n_leaves


def check(case: Case) -> None:
    if not any(len(set(cells)) > 1 for cells in case.table.values()):
        return
    tree = learned(case)
    truth = least_losses(case)
    least = truth[min(case.options["max_leaves"] or len(truth), len(truth)) - 1]
    certificate = tree.certificate
    assert certificate is not None
    assert certificate.proven
    assert certificate.loss == pytest.approx(least, rel=1e-9, abs=1e-9)
    assert loss_of(case, tree) == pytest.approx(least, rel=1e-9, abs=1e-9)
    assert tree.depth <= case.options["max_depth"]
    assert tree.n_leaves <= (case.options["max_leaves"] or 99)
    smallest = min(node.rows for node in tree.walk() if node.is_leaf)
    assert tree.n_leaves == 1 or smallest >= case.options["min_samples_leaf"]


@MANY
@given(cases(most_rows=60, depths=(0, 1, 2)))
def test_the_tree_is_the_best_of_all(case: Case) -> None:
    check(case)


@settings(MANY, max_examples=40)
@given(cases(most_rows=60, depths=(3,)))
def test_the_tree_of_depth_three_is_the_best_of_all(case: Case) -> None:
    check(case)


@settings(MANY, max_examples=25)
@given(cases(most_rows=60, depths=(2, 3)), st.integers(2, 9))
def test_any_number_of_threads_gives_the_same_tree(case: Case, threads: int) -> None:
    if any(len(set(cells)) > 1 for cells in case.table.values()):
        assert learned(case, n_threads=threads) == learned(case, n_threads=1)


def cuts_of(tree: tw.Tree) -> list[Any]:
    """What the tree asks and predicts, without the weights of its nodes."""
    return [
        (node.prediction, split and (split.column, split.breaks, split.child_of_bin))
        for node in tree.walk()
        for split in (node.split,)
    ]


@settings(MANY, max_examples=40)
@given(cases(most_rows=60, depths=(2, 3)), st.sampled_from([3, 997, 2**20, 2**40]))
def test_weights_in_another_unit_give_the_same_tree(case: Case, factor: int) -> None:
    """Counts of few rows are 16-bit numbers, larger ones floats, weights that are no counts doubles."""
    if not any(len(set(cells)) > 1 for cells in case.table.values()):
        return
    weight = np.ones(case.n) if case.weight is None else case.weight
    tree, heavier = learned(case), learned(replace(case, weight=weight * factor))
    assert heavier.certificate is not None
    assert heavier.certificate.proven
    assert heavier.certificate.loss == pytest.approx(tree.certificate.loss, rel=1e-9, abs=1e-12)
    is_exact = case.options["task"] == "classification" and not {"objective", "priors"} & case.options.keys()
    if is_exact and case.options["leaf_penalty"] == 0:
        assert cuts_of(heavier) == cuts_of(tree)


@settings(MANY, max_examples=25)
@given(cases(most_rows=60, depths=(2, 3)), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case: Case, random: Any) -> None:
    if not any(len(set(cells)) > 1 for cells in case.table.values()):
        return
    order = list(range(case.n))
    random.shuffle(order)
    moved = replace(
        case,
        table={name: [cells[i] for i in order] for name, cells in case.table.items()},
        y=case.y[order],
        weight=None if case.weight is None else case.weight[order],
    )
    assert learned(moved) == learned(case)


# --- stopped at any moment --------------------------------------------------------------------------------------------


class EnoughError(Exception):
    """Ends a search from its progress."""


moments = st.lists(st.floats(0, 1), min_size=3, max_size=3)


@settings(MANY, max_examples=40)
@given(cases(most_rows=60, depths=(2, 3)), moments, st.integers(1024, 200_000))
def test_bounds_never_exceed_the_truth(case: Case, moments: list[float], memory: int) -> None:
    if not any(len(set(cells)) > 1 for cells in case.table.values()):
        return
    seen: list[tuple[float, float]] = []
    best = learned(case, progress=lambda low, high: seen.append((low, high))).certificate
    assert best is not None
    assert seen
    assert all(low <= best.loss * (1 + 1e-9) + 1e-12 and high >= best.loss * (1 - 1e-9) for low, high in seen)
    stops: list[dict[str, Any]] = [{"time_limit": best.seconds * moment} for moment in moments]
    for stop in (*stops, {"memory_limit": memory}):
        stopped = learned(case, **stop)
        certificate = stopped.certificate
        assert certificate is not None
        assert certificate.lower_bound <= best.loss * (1 + 1e-9) + 1e-12
        assert certificate.loss >= best.loss * (1 - 1e-9)
        assert loss_of(case, stopped) == pytest.approx(certificate.loss, rel=1e-9, abs=1e-9)


def noise(n: int, width: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    return {f"x{i}": rng.normal(size=n) for i in range(width)}, rng.integers(0, 3, n)


@pytest.mark.parametrize("stop", [{"time_limit": 0.0}, {"time_limit": 0.05}, {"memory_limit": 50_000}], ids=str)
@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 15}, {"max_leaves": 5}], ids=str)
def test_a_stopped_search_is_never_worse_than_greedy_growth(stop: dict[str, Any], limits: dict[str, Any]) -> None:
    for seed in range(3):
        table, y = noise(600, 6, seed)
        tree = tw.learn_optimal({**table, "y": y}, "y", max_depth=4, task="classification", **stop, **limits)
        assert tree.certificate is not None
        assert tree.certificate.ended == ("time limit" if "time_limit" in stop else "memory limit")
        assert 0 < tree.certificate.gap <= 1
        grown = {{"max_leaves": "max_leaf_nodes"}.get(name, name): value for name, value in limits.items()}
        greedy = tw.learn({**table, "y": y}, "y", tw.CART.with_(pruning=None, max_depth=4, **grown))
        wrong = np.mean(tw.predict(tree, table) != y)
        assert wrong == pytest.approx(tree.certificate.loss)
        assert wrong <= np.mean(tw.predict(greedy, table) != y)
        assert tree.n_leaves <= limits.get("max_leaves", 16)


def test_ctrl_c_returns_the_best_tree_so_far() -> None:
    table, y = noise(4000, 10)
    seen: list[tuple[float, float]] = []
    searching = threading.Event()

    def on_gap(low: float, high: float) -> None:
        seen.append((low, high))
        searching.set()

    def press() -> None:
        searching.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    thread = threading.Thread(target=press)
    try:
        thread.start()
        tree = tw.learn_optimal({**table, "y": y}, "y", max_depth=5, progress=on_gap, time_limit=120)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert tree.certificate is not None
    assert tree.certificate.ended == "interrupted"
    assert "the search ended by interruption" in str(tree)
    assert tree.certificate.lower_bound <= tree.certificate.loss <= seen[0][1]


def test_progress_closes_the_gap_and_its_errors_end_the_search() -> None:
    table, y = noise(300, 4)
    for depth in (2, 3):
        seen: list[tuple[float, float]] = []
        tree = tw.learn_optimal(
            {**table, "y": y}, "y", max_depth=depth, progress=lambda low, high, to=seen: to.append((low, high))
        )
        assert len(seen) > 2
        assert tree.certificate is not None
        assert seen[-1] == (tree.certificate.loss, tree.certificate.loss)
        assert all(after[1] <= before[1] for before, after in itertools.pairwise(seen))

    def fail(_: float, __: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        tw.learn_optimal({**table, "y": y}, "y", max_depth=3, progress=fail)
