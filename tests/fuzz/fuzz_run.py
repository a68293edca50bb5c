"""The loop: cases by seed in a child process, failures told apart, shrunk and written to the corpus.

    python tests/fuzz/fuzz_run.py --minutes 10 [--kind tables|files] [--cases N] [--first SEED] [--keep] [--record]

A child that dies or hangs is started again after the seed it was at. `--keep` writes minimal cases to the corpus,
`--record` adds the run to `runs.csv`. Seeds begin at the time in microseconds, so that no two runs have the same ones.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import mmap
import multiprocessing as mp
import os
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

CORPUS = HERE / "corpus"
#: A case that takes more processor time than this has failed.
SECONDS = 60


def signature(error: BaseException) -> str:
    """What tells failures apart: the type, the property or message, and the innermost functions."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = [f"{Path(f.filename).stem}.{f.name}" for f in frames if "treewright" in f.filename][-3:]
    name = getattr(error, "name", None)
    return f"{type(error).__name__} {name if isinstance(name, str) else ''} {' > '.join(inner)}"


def quiet() -> None:
    """Numbers that overflow in numpy are failures; other warnings are not."""
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", category=RuntimeWarning)


def run_seed(kind: str, seed: int) -> None:
    """Check the case of a seed, the dear checks for a sample."""
    if kind == "tables":
        from fuzz_replay import check_case
        from fuzz_tables import random_case

        check_case(random_case(seed), seed)
    else:
        from fuzz_files import check_file, random_file

        check_file(random_file(seed))


def child(kind: str, first: int, last: int, deadline: float, place: Any, queue: Any, log: Any) -> None:
    """Run seeds one after the other; `place` holds the seed that is being run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(file=log)
    quiet()
    for seed in range(first, last):
        place[:8] = seed.to_bytes(8, "little")
        if time.time() > deadline:
            break
        try:
            run_seed(kind, seed)
        except Exception as error:  # noqa: BLE001  # any exception that is not a refusal is a finding
            queue.put((seed, signature(error), "".join(traceback.format_exception(error))[-4000:]))
    else:
        place[:8] = last.to_bytes(8, "little")
    queue.put(None)


def processor_time(pid: int | None) -> float:
    """Seconds that a process has run, not those that it waited for a busy machine; by the clock where none tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.time()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(kind: str, first: int, last: int, deadline: float, report: Callable[[int, str, str], None]) -> int:
    """Run seeds in a child until time or seeds are out, or Ctrl-C; how many cases were run."""
    place = mmap.mmap(-1, 8)
    fork = mp.get_context("fork")
    seed = first
    while seed < last and time.time() < deadline:
        queue: Any = fork.SimpleQueue()
        log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # the child writes to it as it dies
        worker = fork.Process(target=child, args=(kind, seed, last, deadline, place, queue, log))
        worker.start()
        at, since, ended = seed, processor_time(worker.pid), False
        shown = time.time()
        try:
            while worker.is_alive() or not queue.empty():
                while not queue.empty():
                    found = queue.get()
                    ended = ended or found is None
                    if found is not None:
                        report(*found)
                now = int.from_bytes(place[:8], "little")
                if now != at:
                    at, since = now, processor_time(worker.pid)
                elif worker.pid is not None and processor_time(worker.pid) - since > SECONDS:
                    os.kill(worker.pid, signal.SIGABRT)
                if time.time() - shown > 60:
                    shown = time.time()
                    print(f"{kind}: {now - first} cases", flush=True)
                worker.join(0.2)
        except KeyboardInterrupt:
            ended = True
            worker.kill()
        at = int.from_bytes(place[:8], "little")
        if ended:
            return at - first
        log.seek(0)
        frames = [line.strip() for line in log if line.startswith("  File") and "treewright" in line][:6]
        where = re.search(r'/(\w+)\.py", line \d+ in (\S+)', frames[0]) if frames else None
        place_name = ".".join(where.groups()) if where else "?"
        report(at, f"the process ended with {worker.exitcode} in {place_name}", "\n".join(frames))
        seed = at + 1
    return seed - first


def main() -> None:
    """Parse the options, run, report; the exit code is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kind", choices=("tables", "files"), action="append")
    parser.add_argument("--cases", type=int, default=10**12)
    parser.add_argument("--first", type=int, default=int(time.time()) * 10**6, help="the first seed")
    parser.add_argument("--keep", action="store_true", help="write minimal cases to the corpus")
    parser.add_argument("--record", action="store_true", help="add the run to runs.csv")
    options = parser.parse_args()
    kinds = options.kind or ["tables", "files"]
    failures: dict[str, list[int]] = {}
    for kind in kinds:
        quiet()
        run_seed(kind, 0)  # what is imported here is not imported by every child

        def report(seed: int, name: str, detail: str, kind: str = kind) -> None:
            seeds = failures.setdefault(f"{kind}: {name}", [])
            seeds.append(seed)
            if len(seeds) == 1:
                print(f"\n--- {kind} seed {seed}: {name}\n{detail}", flush=True)

        begun = time.time()
        deadline = begun + 60 * options.minutes / len(kinds)
        done = watch(kind, options.first, options.first + options.cases, deadline, report)
        print(f"{kind}: {done} cases from seed {options.first} in {time.time() - begun:.0f} s", flush=True)
        if options.record:
            from fuzz_record import add_run

            add_run(kind, options.first, done, sum(name.startswith(f"{kind}:") for name in failures))
    print(f"{len(failures)} distinct failures")
    for name, seeds in failures.items():
        print(f"  {len(seeds):6d}  {name}  {seeds[:5]}")
    if options.keep:
        from fuzz_replay import keep

        for name, seeds in failures.items():
            keep(name.split(":")[0], seeds[0], CORPUS, shrink="the process ended" not in name)
    print(json.dumps({"failures": len(failures)}))
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
