"""Tables that another thread writes to while a tree grows from them: the fit ends, with a tree or with an error.

What comes of it is of no interest, only that the process lives and the fit is over. Each case runs in a process of
its own, so that a crash is a failure and not the end of the tests.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import dataclasses, sys, threading, warnings
import numpy as np
import treewright as tw
from treewright import _core

warnings.simplefilter("ignore")
N = 4000
chance, noise = np.random.default_rng(1), np.random.default_rng(2)
done = False

def write_until_done(change):
    def work():
        turn = 0
        while not done:
            change(turn)
            turn += 1
    writer = threading.Thread(target=work, daemon=True)
    writer.start()
    return writer

def fit_often(fit, times):
    for _ in range(times):
        try:
            fit()
        except (tw.TreewrightError, RuntimeError, ValueError):
            pass
"""

NUMBERS = """
dtype, name = np.dtype(sys.argv[1]), sys.argv[2]
x = chance.normal(size=(N, 4)).astype(dtype)
x[:, 3] = chance.integers(0, 9, N)
signal = x[:, 0] + x[:, 1] * x[:, 2] + chance.normal(size=N)
target = np.where(signal > 0, "a", "b") if sys.argv[3] == "classes" else signal.astype(np.float64)

def fit():
    if name == "optimal":
        tw.learn_optimal(x, target, max_depth=2, n_threads=2, time_limit=1)
    else:
        tw.learn(x, target, getattr(tw, name).with_(pruning=None), n_threads=2)

def change(turn):
    column = turn % 4
    if turn % 5 == 0:
        x[:, column] = noise.normal(size=N)
    elif turn % 5 == 1:
        x[noise.integers(0, N, N // 8), column] = np.nan
    elif turn % 5 == 2:
        x[:, column] = noise.choice([1e30, -5.0, 7.0])
    elif turn % 5 == 3:
        x[:, column] = noise.integers(0, 400, N)
    elif target.dtype == np.float64:
        target[noise.integers(0, N, 50)] = noise.normal(size=50) * 1e40

writer = write_until_done(change)
fit_often(fit, int(sys.argv[4]))
done = True
writer.join()
print("ended")
"""

CODES = """
codes = [chance.integers(0, 6, N).astype(np.int32) for _ in range(3)]
classes = chance.integers(0, 3, N).astype(np.int32)
numbers = chance.normal(size=N)
weight = np.ones(N)

def change(turn):
    some = noise.integers(0, N, N // 8)
    codes[turn % 3][some] = noise.choice([0, 1, 5, 6, 1 << 20, -1, -2, -(1 << 30)], len(some))
    classes[some] = noise.choice([0, 1, 2, 3, 1 << 20, -1, -(1 << 30)], len(some))
    numbers[some] = noise.choice([0.0, 1.0, np.nan, np.inf, -1e300], len(some))
    weight[some] = noise.choice([0.0, 1.0, -1.0, np.nan, np.inf, 1e300], len(some))

def fit(recipe, target, n_classes, weight):
    _core.grow(
        columns=tuple(codes), kinds=[1, 2, 2], levels=[6, 6, 6], target=target, n_classes=n_classes, weight=weight,
        recipe=recipe.as_dict(), n_threads=2, custom=None, factor=None, cost=None, binned=None, progress=None,
    )

writer = write_until_done(change)
for recipe in (tw.CART, tw.C45, tw.CHAID, tw.RPART, dataclasses.replace(tw.CART,
regression=tw.criterion.AbsoluteError())):
    fit_often(lambda: fit(recipe, classes, 3, None), 8)
    fit_often(lambda: fit(recipe, classes, 3, weight), 8)
    if recipe.regression is not None:
        fit_often(lambda: fit(recipe, numbers, 0, weight), 8)
done = True
writer.join()
print("ended")
"""


def run(script: str, *given: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", HEAD + script, *given], capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.returncode, result.stdout.strip()) == (0, "ended"), result.stderr[-2000:]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("recipe", "target"),
    [("CART", "classes"), ("C45", "classes"), ("J48", "classes"), ("SKLEARN", "numbers"), ("RPART", "numbers")],
)
def test_a_fit_ends_though_numbers_change_under_it(dtype: str, recipe: str, target: str) -> None:
    run(NUMBERS, dtype, recipe, target, "25")


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_a_search_ends_though_numbers_change_under_it(target: str) -> None:
    run(NUMBERS, "float64", "optimal", target, "4")


def test_a_fit_ends_though_codes_targets_and_weights_change_under_it() -> None:
    run(CODES)
