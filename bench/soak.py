"""`python bench/soak.py [--minutes 30]`: fits, predictions, pages and reports in a loop, and what is left behind."""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import treewright as tw

RECIPES = (tw.CART, tw.C45, tw.J48.with_(pruning=None), tw.RPART, tw.SKLEARN, tw.CHAID, tw.EXHAUSTIVE_CHAID)
#: Memory may grow by this factor after the first tenth: the allocator keeps pages.
GROWTH = 1.05


@dataclass(frozen=True)
class Left:
    """What a process holds: bytes in memory, threads, open descriptors, files in the temporary folder."""

    memory: int
    threads: int
    descriptors: int
    files: int

    @staticmethod
    def now(folder: Path) -> Left:
        """Measured now, by what Linux says of the process."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return Left(
            pages * os.sysconf("SC_PAGE_SIZE"),
            len(os.listdir("/proc/self/task")),  # noqa: PTH208
            len(os.listdir("/proc/self/fd")),  # noqa: PTH208
            sum(1 for _ in folder.rglob("*")),
        )


def table(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Numbers, levels and missing values, and a target that depends on them."""
    x = rng.normal(size=(n, 4))
    x[rng.random(x.shape) < 0.1] = np.nan
    frame = pd.DataFrame(x, columns=list("abcd"))
    frame["e"] = rng.choice(["red", "green", "blue", None], n)
    frame["y"] = np.where(np.nan_to_num(x[:, 0]) + (frame["e"] == "red") > 0.3, "yes", "no")
    return frame


def work(rng: np.random.Generator, folder: Path) -> int:
    """One round of everything; how many trees were learned."""
    frame = table(rng, int(rng.integers(200, 3000)))
    path = folder / "rows.csv"
    frame.to_csv(path, index=False)
    parts = [frame.iloc[i::3] for i in range(3)]
    jobs: tuple[Callable[[], Any], ...] = (
        lambda: tw.learn(path, "y", tw.CART.with_(pruning=None), n_threads=2),
        lambda: tw.learn(iter(parts), "y", tw.RPART, memory_limit="4GB", scratch=folder, n_threads=2),
        *(lambda recipe=recipe: tw.learn(frame, "y", recipe, n_threads=4) for recipe in RECIPES),
    )
    for job in jobs:
        tree = job()
        tw.predict_proba(tree, frame, n_threads=3)
        tw.save(tree, folder / "tree.json")
        tw.predict(tw.load(folder / "tree.json"), frame)
        tw.rules(tree)
        tw.export.sql(tree)
    (folder / "page.html").write_text(tw.render.html(tree, frame))
    tw.report(tree, frame)
    tw.shap_values(tree, frame.head(50))
    for file in ("rows.csv", "tree.json", "page.html"):
        (folder / file).unlink()
    return len(jobs)


def main() -> None:
    """Loop, print a line per tenth, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    minutes = parser.parse_args().minutes
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work(rng, folder)
        found: list[Left] = []
        trees = 0
        for tenth in range(10):
            end = time.monotonic() + 60 * minutes / 10
            while time.monotonic() < end:
                trees += work(rng, folder)
            found.append(Left.now(folder))
            left = found[-1]
            print(
                f"{minutes * (tenth + 1) / 10:5.1f} min  {trees:6d} trees  {left.memory / 2**20:7.1f} MiB  "
                f"{left.threads} threads  {left.descriptors} descriptors  {left.files} files",
                flush=True,
            )
    first, last = found[0], found[-1]
    grown = [name for name in ("threads", "descriptors", "files") if getattr(last, name) > getattr(first, name)]
    if last.memory > GROWTH * first.memory:
        grown.append("memory")
    print("left behind: " + (", ".join(grown) or "nothing"))
    raise SystemExit(1 if grown else 0)


if __name__ == "__main__":
    main()
