"""The best tree of small depth: equal to brute force, with bounds that never exceed the truth."""

from __future__ import annotations

import itertools
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle_optimal import Problem, random_problem

import treewright as tw
from treewright import _core
from treewright.out_of_core import memory_limit

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def search(problem: Problem, depth: int, *, threads: int = 1, seconds: float | None = None, **other: Any) -> Any:
    plain = problem.cost is not None and np.array_equal(problem.cost, 1.0 - np.eye(len(problem.cost)))
    return _core.find_optimal(
        codes=problem.codes,
        n_codes=[int(codes.max()) + 1 for codes in problem.codes],
        missing=[-1] * len(problem.codes),
        label=problem.label,
        target=problem.target,
        n_classes=0 if problem.cost is None else len(problem.cost),
        weight=None if (problem.weight == 1).all() else problem.weight,
        cost=None if plain else problem.cost,
        max_depth=depth,
        max_leaves=problem.max_leaves,
        min_samples_leaf=problem.min_samples_leaf,
        missing_to_majority=False,
        leaf_penalty=problem.leaf_penalty,
        is_root=other.get("is_root", []),
        n_threads=threads,
        seconds=seconds,
        max_bytes=other.get("max_bytes", 0),
        progress=other.get("progress"),
    )


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_loss_is_that_of_the_best_of_all_trees(depth: int) -> None:
    for seed in range(150):
        problem = random_problem(np.random.default_rng([depth, seed]), depth or 1)
        found = search(problem, depth)
        truth = problem.best(np.arange(len(problem.weight)), depth)
        loss, leaves = problem.loss_of(found)
        assert found["loss"] == pytest.approx(truth, rel=1e-9, abs=1e-9), seed
        assert loss == pytest.approx(truth, rel=1e-9, abs=1e-9), seed
        assert found["lower"] == pytest.approx(truth, rel=1e-9, abs=1e-9), seed
        assert len(leaves) == 1 or min(leaves) >= problem.min_samples_leaf, seed
        assert len(leaves) <= (problem.max_leaves or 99), seed
        assert found["ended"] == "proven"


def grid_problem(rng: np.random.Generator, n: int, width: int, classes: int = 3) -> Problem:
    values = rng.normal(size=(width, n)).round(2)
    label = (values[0] * values[1] > 0) + (values[2] > rng.normal(size=n)) * (classes - 2)
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in values]
    return Problem(codes, np.ones(n), label.astype(np.int32), None, 1.0 - np.eye(classes))


def test_tree_does_not_depend_on_threads() -> None:
    problem = grid_problem(np.random.default_rng(1), 500, 5)
    one, many = search(problem, 3, threads=1), search(problem, 3, threads=7)
    for key in ("column", "cut", "low", "high"):
        assert np.array_equal(one[key], many[key])
    assert (one["loss"], one["lower"], one["subproblems"]) == (many["loss"], many["lower"], many["subproblems"])


def test_bounds_hold_whenever_the_search_is_stopped() -> None:
    problem = grid_problem(np.random.default_rng(2), 400, 6)
    truth = search(problem, 3)["loss"]
    seen: list[tuple[float, float]] = []
    search(problem, 3, progress=lambda low, high: seen.append((low, high)))
    assert seen == sorted(seen, key=lambda each: (each[0], -each[1]))
    assert all(low <= truth <= high for low, high in seen)
    for seconds in (0.0, 0.001, 0.005, 0.02, 0.05):
        found = search(problem, 3, seconds=seconds)
        assert found["lower"] <= truth <= found["loss"]
        assert problem.loss_of(found)[0] == found["loss"]


def test_root_column_can_be_given() -> None:
    problem = grid_problem(np.random.default_rng(3), 120, 4)
    best = [search(problem, 2, is_root=[each == column for each in range(4)]) for column in range(4)]
    assert all(found["column"][0] in (-1, column) for column, found in enumerate(best))
    assert min(found["loss"] for found in best) == search(problem, 2)["loss"]


@pytest.mark.skipif(not (DATA / "optimal").exists(), reason="needs shared/data beside the repository")
@pytest.mark.parametrize(
    ("depth", "tables"), [(2, None), (3, ("bank", "bidding", "wilt")), pytest.param(3, None, marks=pytest.mark.slow)]
)
def test_public_tables_reach_the_proven_optimum(depth: int, tables: tuple[str, ...] | None) -> None:
    import pyarrow.parquet as pq

    known = json.loads((DATA / "optimal" / "optimum.json").read_text())["tables"]
    for name in tables or known:
        table = pq.read_table(DATA / "optimal" / f"{name}.parquet")
        tree = tw.learn_optimal(table, "y", max_depth=depth, task="classification")
        assert tree.certificate is not None
        assert tree.certificate.proven
        assert round(tree.certificate.loss * table.num_rows) == known[name][f"depth{depth}"]["errors"]
        wrong = tw.predict(tree, table) != table["y"].to_numpy()
        assert np.count_nonzero(wrong) == known[name][f"depth{depth}"]["errors"]


# --- from tables ------------------------------------------------------------------------------------------------------


def every_split(table: dict[str, list[Any]], n: int) -> list[np.ndarray]:
    """All ways to divide rows that `learn_optimal` promises, as masks: the independent list for brute force."""
    masks = []
    for values in table.values():
        known = [value for value in values if value is not None]
        if all(isinstance(value, str) for value in known):
            levels = sorted(set(known))
            groups = [
                set(group) for size in range(len(levels)) for group in itertools.combinations(levels, size + 1)
            ] or [set()]
            lows = [[value in group for value in values] for group in groups]
        else:
            lows = [[value is not None and value <= cut for value in values] for cut in sorted(set(known))]
        for low in [*lows, [False] * n]:
            masks += [
                np.array([missing if v is None else side for v, side in zip(values, low, strict=True)])
                for missing in (False, True)
            ]
    return masks


def brute_force(masks: list[np.ndarray], labels: np.ndarray, weight: np.ndarray, rows: np.ndarray, depth: int) -> float:
    found = np.bincount(labels[rows], weights=weight[rows])
    least = float(found.sum() - found.max())
    for mask in masks if depth else []:
        low, high = rows[mask[rows]], rows[~mask[rows]]
        if len(low) and len(high):
            sides = (brute_force(masks, labels, weight, side, depth - 1) for side in (low, high))
            least = min(least, sum(sides))
    return least


@pytest.mark.parametrize("seed", range(25))
def test_levels_missing_values_and_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 25))

    def with_holes(values: list[Any]) -> list[Any]:
        return [None if rng.random() < 0.2 else value for value in values]

    table = {
        "number": with_holes(rng.integers(0, 5, n).tolist()),
        "level": with_holes(rng.choice(list("abcd"), n).tolist()),
    }
    if any(all(value is None for value in values) for values in table.values()):
        pytest.skip("a column without values")
    labels = rng.integers(0, 3, n)
    weight = rng.integers(1, 4, n).astype(float)
    full = {**table, "y": [f"c{label}" for label in labels]}
    if len(set(full["y"])) < 2:
        pytest.skip("one class")
    tree = tw.learn_optimal(
        full, "y", weight=weight, max_depth=2, kinds={"number": "numeric", "level": "nominal", "y": "nominal"}
    )
    truth = brute_force(every_split(table, n), labels, weight, np.arange(n), 2)
    assert tree.certificate is not None
    assert tree.certificate.loss * weight.sum() == pytest.approx(truth)
    wrong = tw.predict(tree, full) != np.array(full["y"])
    assert weight[wrong].sum() == pytest.approx(truth)


def xor() -> dict[str, list[Any]]:
    return {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": ["no", "yes", "yes", "no"] * 5}


def test_exclusive_or_is_found_where_greedy_growth_finds_nothing() -> None:
    greedy = tw.learn(xor(), "y", tw.CART.with_(pruning=None, max_depth=2))
    best = tw.learn_optimal(xor(), "y", max_depth=2)
    assert greedy.n_leaves == 1
    assert (tw.predict(best, xor()) == np.array(xor()["y"])).all()
    assert str(best).splitlines()[-1] == "proven best of depth 2 by error rate (0)"


def test_costs_priors_and_balanced_weights_change_the_objective() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.where(rng.random(300) < 1 / (1 + np.exp(3 - 2 * x)), "rare", "usual")
    table = {"x": x, "z": rng.normal(size=300), "y": y}
    recall = {}
    for name, options in {
        "plain": {},
        "balanced": {"class_weight": "balanced"},
        "costs": {"costs": {"rare": {"usual": 10}}},
        "priors": {"priors": {"rare": 0.5, "usual": 0.5}},
    }.items():
        tree = tw.learn_optimal(table, "y", max_depth=2, **options)
        assert tree.certificate is not None
        assert tree.certificate.proven
        recall[name] = np.mean(tw.predict(tree, table)[y == "rare"] == "rare")
    assert recall["plain"] < min(recall["balanced"], recall["costs"], recall["priors"])


def test_numbers_minimise_squared_error() -> None:
    rng = np.random.default_rng(4)
    table = {"a": rng.normal(size=80).round(1), "b": rng.normal(size=80).round(1)}
    y = np.where(table["a"] * table["b"] > 0, 3.0, -1.0) + rng.normal(size=80) * 0.1
    tree = tw.learn_optimal({**table, "y": y}, "y", max_depth=2)
    residual = y - tw.predict(tree, table)
    assert tree.certificate is not None
    assert tree.certificate.loss == pytest.approx((residual @ residual) / ((y - y.mean()) @ (y - y.mean())))
    greedy = y - tw.predict(tw.learn({**table, "y": y}, "y", tw.CART.with_(pruning=None, max_depth=2)), table)
    assert residual @ residual <= greedy @ greedy


def test_time_limit_ends_the_search_with_a_bound() -> None:
    rng = np.random.default_rng(5)
    table = {f"x{i}": rng.normal(size=3000) for i in range(12)}
    started = time.monotonic()
    tree = tw.learn_optimal({**table, "y": rng.integers(0, 3, 3000)}, "y", max_depth=4, time_limit=0.5)
    certificate = tree.certificate
    assert certificate is not None
    assert certificate.ended == "time limit"
    assert not certificate.proven
    assert 0 < certificate.gap <= 1
    assert time.monotonic() - started < 60  # it ends; docs/benchmarks.md has the time it takes
    assert "from the best of depth 4" in str(tree)


def test_certificate_is_saved_with_the_tree() -> None:
    tree = tw.learn_optimal(xor(), "y", max_depth=2)
    again = tw.export.from_json(tw.export.to_json(tree))
    assert again == tree
    assert again.certificate == tree.certificate
    assert tw.prune(tree, tw.pruning.MaxDepth(1)).certificate is None


def test_a_changed_certificate_is_refused() -> None:
    written = json.loads(tw.export.to_json(tw.learn_optimal(xor(), "y", max_depth=2)))
    for key, value in (("loss", -1), ("ended", "luck"), ("max_depth", "2"), ("lower_bound", 5)):
        changed = {**written, "certificate": {**written["certificate"], key: value}}
        with pytest.raises(tw.FileError, match="certificate"):
            tw.export.from_json(json.dumps(changed))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_depth": 20}, "max_depth must be at most 8"),
        ({"max_depth": -1}, "max_depth must be a whole number"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"leaf_penalty": -1.0}, "leaf_penalty"),
        ({"leaf_penalty": 1e300}, r"leaf_penalty must be at most 1e\+100"),
        ({"time_limit": math.nan}, "time_limit"),
        ({"max_levels": 50}, "max_levels"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(tw.RecipeError, match=words):
        tw.learn_optimal(xor(), "y", **settings)


def test_the_search_takes_no_more_than_half_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    noise = {"a": chance.normal(size=2000), "b": chance.normal(size=2000), "y": chance.integers(0, 100, 2000)}
    monkeypatch.setattr(memory_limit, "available", lambda: 40_000_000)
    found = tw.learn_optimal(noise, "y", max_depth=2, task="classification").certificate
    assert found is not None
    assert found.ended == "memory limit"
    assert found.lower_bound < found.loss


def test_constant_columns_are_refused() -> None:
    with pytest.raises(tw.DataError, match=r"same value|nothing"):
        tw.learn_optimal({"a": [1.5, 1.5, 1.5], "y": ["p", "q", "p"]}, "y", kinds={"a": "numeric"})


def test_never_worse_than_greedy_growth() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = {f"x{i}": rng.integers(0, 8, 60) for i in range(3)}
        y = rng.integers(0, 2, 60).astype(str)
        full = {**table, "y": y}
        best = np.mean(tw.predict(tw.learn_optimal(full, "y", max_depth=3, min_samples_leaf=4), table) != y)
        for recipe in (tw.CART, tw.SKLEARN):
            greedy = tw.learn(full, "y", recipe.with_(pruning=None, max_depth=3, min_samples_leaf=4))
            assert best <= np.mean(tw.predict(greedy, table) != y)


def test_the_command_line_finds_the_best_tree(tmp_path: Path) -> None:
    runner = pytest.importorskip("click.testing").CliRunner()
    from treewright.cli import main as cli_main

    table = tmp_path / "xor.csv"
    table.write_text("a,b,y\n" + "0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n" * 5)
    result = runner.invoke(cli_main, ["learn", str(table), "-t", "y", "--optimal", "--max-depth", "2"])
    assert result.exit_code == 0, result.output
    assert "proven best of depth 2 by error rate (0)" in result.output
    dear = ["--leaf-penalty", "0.2", "--memory-limit", "1GB", "--time-limit", "60"]
    result = runner.invoke(cli_main, ["learn", str(table), "-t", "y", "--optimal", "--max-depth", "2", *dear])
    assert "proven best of depth 2 by error rate + 0.2 per leaf (0.7)" in result.output
    result = runner.invoke(cli_main, ["learn", "no such file", "-t", "y", "--optimal", "--memory-limit", "much"])
    assert (result.exit_code, "memory_limit='much' is no amount of memory" in result.output) == (1, True)
    for options, words in (
        (["--optimal", "--folds", "5"], "--holdout or --test"),
        (["--optimal", "--criterion", "gini"], "has no recipe"),
        (["--time-limit", "5"], "--time-limit needs --optimal"),
        (["--leaf-penalty", "0.1"], "--leaf-penalty needs --optimal"),
    ):
        refused = runner.invoke(cli_main, ["learn", str(table), "-t", "y", *options])
        assert refused.exit_code == 2
        assert words in " ".join(refused.output.split())
