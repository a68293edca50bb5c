"""How fast the studio answers on a large table: `python bench/studio.py [--rows N] [--columns N]`.

A studio is served in a process of its own and asked over HTTP, as its page does: the ranked splits of the root and of
nodes below it, each for the first time; a cut dragged over a column, every position another question; edits. Memory is
the process's own, beside the table's: at the end, and at its highest, for each question and in all (Linux only). On a
machine that is shared, the processor time says more than the clock.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

MOST_SECONDS, MOST_DRAG, MOST_MEMORY = 0.5, 0.1, 2.0


def table(n_rows: int, n_columns: int, seed: int = 0) -> dict[str, Any]:
    """Return numbers and two classes that follow three of them."""
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = {f"x{i}": rng.normal(size=n_rows) for i in range(n_columns)}
    signal = data["x0"] + data["x1"] * data["x2"] + rng.normal(size=n_rows)
    data["y"] = signal > 0
    return data


def serve(n_rows: int, n_columns: int, folder: str, told: Any) -> None:
    """Serve a studio; tell its address and the memory before it was made."""
    from treewright.interactive.serve import opened
    from treewright.interactive.start import Start
    from treewright.interactive.table import origin_of

    data = table(n_rows, n_columns)
    before = psutil.Process().memory_info().rss
    forget_peak()
    begun, busy = time.perf_counter(), time.process_time()
    made = opened(origin_of(data), Start("y"), Path(folder), 0)
    told.send((made.url, before, time.perf_counter() - begun, time.process_time() - busy))
    made.run()


def forget_peak(pid: int | str = "self") -> None:
    """Let the highest memory of a process be counted from now on."""
    place = Path(f"/proc/{pid}/clear_refs")
    if place.exists():
        place.write_text("5")


def peak(pid: int) -> int | None:
    """Return the highest memory of a process since its peak was forgotten."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)


class Client:
    """One connection with the studio, kept open as a browser keeps it."""

    def __init__(self, url: str) -> None:
        self.host = url.split("/")[2]
        self.connection = http.client.HTTPConnection(self.host, timeout=1800)
        self.connection.request("GET", url.split(self.host)[1])
        answer = self.connection.getresponse()
        self.cookie = str(answer.getheader("set-cookie")).split(";")[0]
        answer.read()

    def ask(self, path: str, body: Any = None) -> tuple[float, Any]:
        """Return the seconds until the answer was read, and the answer."""
        headers = {"Cookie": self.cookie}
        begun = time.perf_counter()
        if body is None:
            self.connection.request("GET", f"/api/{path}", headers=headers)
        else:
            headers |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
            self.connection.request("POST", f"/api/{path}", json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        seconds = time.perf_counter() - begun
        assert answer.status == 200, text
        return seconds, json.loads(text)


class Timed:
    """Questions to a studio, with the processor time that it spent on them."""

    def __init__(self, client: Client, pid: int, before: int, size: int) -> None:
        self.client, self.pid, self.before, self.size = client, pid, before, size
        self._clock = psutil.Process(pid).cpu_times
        self._highest = 0

    def show(self, name: str, ask: Callable[[], list[float]], limit: float | None = None) -> None:
        """Ask and print the median, the 95th percentile, the largest, and the processor time of one question."""
        begun = sum(self._clock()[:2])
        ordered = sorted(ask())
        spent = (sum(self._clock()[:2]) - begun) / len(ordered)
        late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        verdict = "" if limit is None else f"   limit {1000 * limit:,.0f} ms: {'met' if late <= limit else 'MISSED'}"
        figures = [1000 * x for x in (statistics.median(ordered), late, ordered[-1], spent)]
        print(f"{name:44} n {len(ordered):4}   median {figures[0]:7.1f} ms   95 % {figures[1]:7.1f} ms   "
              f"most {figures[2]:7.1f} ms   processors {figures[3]:7.1f} ms   memory {self._peak():.2f}{verdict}",
              flush=True)  # fmt: skip

    def _peak(self) -> float:
        """Return the highest memory since this was asked last, table included, in tables."""
        highest = (peak(self.pid) or 0) - self.before + self.size
        self._highest = max(self._highest, highest)
        forget_peak(self.pid)
        return highest / self.size

    def memory(self, when: str) -> None:
        """Print the memory at this moment and its peak, both with the table."""
        now = psutil.Process(self.pid).memory_info().rss - self.before + self.size
        self._peak()
        top = max(now, self._highest)
        verdict = "met" if top <= MOST_MEMORY * self.size else "MISSED"
        print(f"memory {when}: {now / self.size:.2f} times the table of {self.size / 1e6:,.0f} MB, at its highest "
              f"{top / self.size:.2f} times   limit {MOST_MEMORY:g} times: {verdict}", flush=True)  # fmt: skip


def dragged(client: Client, node: int, columns: list[str], n: int) -> list[float]:
    """Return the seconds of each position of a cut that is dragged over some columns."""
    seconds = []
    for column in columns:
        for cut in np.linspace(-1.5, 1.5, n):
            edit = {"edit": "Split", "node": node, "column": column, "threshold": float(cut)}
            seconds.append(client.ask("try", edit)[0])
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--drags", type=int, default=60, help="positions of the cut per column")
    arguments = parser.parse_args()
    here, there = multiprocessing.get_context("spawn").Pipe()
    with tempfile.TemporaryDirectory() as folder:
        process = multiprocessing.get_context("spawn").Process(
            target=serve, args=(arguments.rows, arguments.columns, folder, there), daemon=True
        )
        process.start()
        try:
            measure(arguments, process.pid or 0, *here.recv())
        finally:
            process.kill()
            process.join()


def measure(arguments: argparse.Namespace, pid: int, url: str, before: int, opening: float, busy: float) -> None:
    """Ask and print."""
    size = arguments.rows * arguments.columns * 8
    print(f"{arguments.rows:,} rows, {arguments.columns} columns, {size / 1e6:,.0f} MB; opened in {opening:.2f} s, "
          f"{busy:.2f} s of processor time")  # fmt: skip
    client = Client(url)
    timed = Timed(client, pid, before, size)

    def asked(*paths: str) -> Callable[[], list[float]]:
        return lambda: [client.ask(path)[0] for path in paths]

    timed.memory("after opening")
    timed.show("state of the session", asked("state"))
    timed.show("ranked splits of the root, first click", asked("splits?node=0"), MOST_SECONDS)
    timed.show("ranked splits of the root, again", asked(*["splits?node=0"] * 20))
    timed.show("curve of a column at the root", asked(*[f"curve?node=0&column=x{i}" for i in range(5)]))
    columns = [f"x{i}" for i in range(4)]
    timed.show("a cut dragged at the root", lambda: dragged(client, 0, columns, arguments.drags), MOST_DRAG)
    grow = {"edit": "Grow", "node": 0, "levels": 4}
    timed.show("grow four levels", lambda: [client.ask("edit", grow)[0]])
    rows = client.ask("state")[1]["report"]["nodes"]["rows"]
    nodes = sorted(range(1, len(rows)), key=lambda i: -rows[i])[:6]
    below = [f"splits?node={i}" for i in nodes]
    timed.show("ranked splits of nodes below, first click", asked(*below), MOST_SECONDS)
    timed.show(
        "a cut dragged at the largest child", lambda: dragged(client, nodes[0], columns, arguments.drags), MOST_DRAG
    )
    timed.show("columns of a node", asked(*[f"columns?node={i}" for i in nodes]))
    timed.show("a page of sorted rows", asked(*[f"rows?node={i}&sort=x0&n=50" for i in nodes]))
    timed.show("pruning path of the tree", asked("pruning?node=0"))
    split = {"edit": "Split", "node": 0, "column": "x5", "threshold": 0.1}
    timed.show("split by hand", lambda: [client.ask("edit", split)[0] for _ in range(3)])
    timed.show("undo", lambda: [client.ask("undo", {})[0] for _ in range(3)])
    timed.memory("of ordinary work")
    timed.show("cross-validation of the steps", lambda: [client.ask("cross_validate", {})[0]])
    timed.memory("with cross-validation")
    # Whole trees of noise, beside all that is there: memory as `learn` takes it, and that of the tree itself.
    recipe = client.ask("state")[1]["start"]["recipe"]
    timed.show("comparison with a recipe", lambda: [client.ask("compare", {"recipe": recipe})[0]])
    timed.show("grow the whole tree", lambda: [client.ask("edit", {"edit": "Grow", "node": 0})[0]])


if __name__ == "__main__":
    main()
