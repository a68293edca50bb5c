"""How fast the studio answers on a large table: `python bench/studio.py [--rows N] [--columns N]`.

A studio is served in a process of its own and asked over HTTP, as its page does: the ranked splits of the root and of
nodes below it, each for the first time; a cut dragged over a column, every position another question; edits. Memory is
the process's own, beside the table's.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import statistics
import tempfile
import time
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
    from treewright.interactive.table import source_of

    data = table(n_rows, n_columns)
    before = psutil.Process().memory_info().rss
    begun = time.perf_counter()
    made = opened(source_of(data), Start("y"), Path(folder), 0)
    told.send((made.url, before, time.perf_counter() - begun))
    made.run()


class Client:
    """One connection with the studio, kept open as a browser keeps it."""

    def __init__(self, url: str) -> None:
        self.host = url.split("/")[2]
        self.connection = http.client.HTTPConnection(self.host, timeout=300)
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


def dragged(client: Client, node: int, columns: list[str], n: int) -> list[float]:
    """Return the seconds of each position of a cut that is dragged over some columns."""
    seconds = []
    for column in columns:
        for cut in np.linspace(-1.5, 1.5, n):
            edit = {"edit": "Split", "node": node, "column": column, "threshold": float(cut)}
            seconds.append(client.ask("try", edit)[0])
    return seconds


def shown(name: str, seconds: list[float], limit: float | None = None) -> None:
    """Print the median, the 95th percentile and the largest."""
    ordered = sorted(seconds)
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    verdict = "" if limit is None else f"   limit {1000 * limit:,.0f} ms: {'met' if late <= limit else 'MISSED'}"
    figures = [1000 * x for x in (statistics.median(seconds), late, ordered[-1])]
    print(f"{name:44} n {len(seconds):4}   median {figures[0]:7.1f} ms   95 % {figures[1]:7.1f} ms   "
          f"most {figures[2]:7.1f} ms{verdict}", flush=True)  # fmt: skip


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


def measure(arguments: argparse.Namespace, pid: int, url: str, before: int, opening: float) -> None:
    """Ask and print."""
    memory = psutil.Process(pid).memory_info
    size = arguments.rows * arguments.columns * 8
    print(f"{arguments.rows:,} rows, {arguments.columns} columns, {size / 1e6:,.0f} MB; opened in {opening:.2f} s")
    client = Client(url)
    shown("state of the session", [client.ask("state")[0]])
    spent = psutil.Process(pid).cpu_times
    busy = sum(spent()[:2])
    shown("ranked splits of the root, first click", [client.ask("splits?node=0")[0]], MOST_SECONDS)
    print(f"{'':44} {sum(spent()[:2]) - busy:.2f} s of processor time, on all cores together")
    shown("ranked splits of the root, again", [client.ask("splits?node=0")[0] for _ in range(20)])
    shown("curve of a column at the root", [client.ask(f"curve?node=0&column=x{i}")[0] for i in range(5)])
    columns = [f"x{i}" for i in range(4)]
    shown("a cut dragged at the root", dragged(client, 0, columns, arguments.drags), MOST_DRAG)
    seconds, state = client.ask("edit", {"edit": "Grow", "node": 0, "levels": 4})
    shown("grow four levels", [seconds])
    rows = state["report"]["nodes"]["rows"]
    nodes = sorted(range(1, len(rows)), key=lambda i: -rows[i])[:6]
    shown("ranked splits of nodes below, first click", [client.ask(f"splits?node={i}")[0] for i in nodes], MOST_SECONDS)
    shown("a cut dragged at the largest child", dragged(client, nodes[0], columns, arguments.drags), MOST_DRAG)
    shown("columns of a node", [client.ask(f"columns?node={i}")[0] for i in nodes])
    shown("a page of sorted rows", [client.ask(f"rows?node={i}&sort=x0&n=50")[0] for i in nodes])
    split = {"edit": "Split", "node": 0, "column": "x5", "threshold": 0.1}
    shown("split by hand", [client.ask("edit", split)[0] for _ in range(3)])
    shown("undo", [client.ask("undo", {})[0] for _ in range(3)])
    own = memory().rss - before
    verdict = "met" if own + size <= MOST_MEMORY * size else "MISSED"
    print(f"memory: the table {size / 1e6:,.0f} MB, the studio {own / 1e6:,.0f} MB more, together "
          f"{(own + size) / size:.2f} times the table   limit {MOST_MEMORY:g} times: {verdict}")  # fmt: skip


if __name__ == "__main__":
    main()
