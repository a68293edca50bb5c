"""Scratch folders: gone after success, error, Ctrl-C, and, with the next start, after SIGTERM and SIGKILL."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from child_processes import ended, started

from treewright.data.encoding import Encoded
from treewright.errors import DataError, ScratchError
from treewright.growing import partition_worker as work
from treewright.out_of_core import memory_limit
from treewright.out_of_core import stored_arrays as stored
from treewright.out_of_core.disk_partitions import write_partitions
from treewright.out_of_core.memory_limit import memory_size
from treewright.out_of_core.scratch_folder import scratch

#: A child that is in the middle of a question. Its parts answer only once it has left `ask`: one that waited for them
#: would wait forever.
ASKING = """
import sys, threading
import numpy as np
from treewright.data.encoding import Encoded
from treewright.growing import partition_worker as work
from treewright.out_of_core.disk_partitions import write_partitions
from treewright.out_of_core.scratch_folder import scratch

asked, left = threading.Barrier(3), threading.Event()

def answer(part, recipe, state, question):
    asked.wait()
    left.wait()
    return work.State({}, {"late": np.zeros(3)}), b""

work.handle = answer
rows = Encoded((np.zeros(100),), (0,), (0,), 100, np.zeros(100), 0)
with scratch(sys.argv[1]) as folder:
    parts = write_partitions([rows], folder, memory_limit=4000, n_threads=2)
    assert len(parts.sizes) > 2
    threading.Thread(target=lambda: (asked.wait(), print("asking", flush=True)), daemon=True).start()
    try:
        parts.growth({}).send(b"?")
    except BaseException as error:
        print(type(error).__name__, flush=True)
        left.set()
        raise
"""

#: A child that holds a folder until it is told to end.
HOLDING = """
import sys
from treewright.out_of_core.scratch_folder import scratch
with scratch(sys.argv[1]) as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_bytes(b"x")
    print("holding", flush=True)
    sys.stdin.readline()
"""


# --- success and errors ---------------------------------------------------------------------------------------------


def test_a_folder_is_there_and_then_gone(tmp_path: Path) -> None:
    with scratch(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.name.startswith(f"treewright-{os.getpid()}-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_bytes(b"x")
        (folder / "elsewhere").symlink_to(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_it_lies_where_temporary_files_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch() as folder:
        assert folder.parent == tmp_path


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_error_removes_it_and_goes_on(tmp_path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with scratch(tmp_path) as folder:
            (folder / "file").write_bytes(b"x")
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_folders_within_and_beside_each_other(tmp_path: Path) -> None:
    with scratch(tmp_path) as outer:
        with scratch(outer) as inner, scratch(tmp_path) as other:
            assert inner.exists()
            assert other.exists()
        assert outer.exists()
        assert not inner.exists()
        assert not other.exists()

    def work(place: Path) -> None:
        for _ in range(20):
            with scratch(place) as folder:
                (folder / "file").write_bytes(b"x")

    threads = [threading.Thread(target=work, args=(tmp_path,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(tmp_path.iterdir()) == []


def test_no_folder_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(ScratchError, match=r"nowhere.*\(No such file or directory\); give one that exists"):
        scratch(tmp_path / "nowhere").__enter__()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ScratchError, match="scratch=") as caught, scratch(tmp_path / "file"):
        pass
    assert str(tmp_path / "file") in str(caught.value)


# --- signals --------------------------------------------------------------------------------------------------------


def test_ctrl_c_in_the_middle_of_a_question(tmp_path: Path) -> None:
    status, out, err = ended(started(ASKING, tmp_path, "asking"), signal.SIGINT)
    assert (status, out.split()) == (-signal.SIGINT, ["KeyboardInterrupt"]), err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_a_signal_ended_and_the_next_start(tmp_path: Path, number: signal.Signals) -> None:
    living = started(HOLDING, tmp_path, "holding")
    killed = started(HOLDING, tmp_path, "holding")
    assert ended(killed, number)[0] == -number
    left = {path.name.split("-")[1] for path in tmp_path.iterdir()}
    assert left == {str(living.pid), str(killed.pid)}
    with scratch(tmp_path):
        left = {path.name.split("-")[1] for path in tmp_path.iterdir()}
        assert left == {str(living.pid), str(os.getpid())}  # what lives is not touched
    living.communicate("\n", timeout=30)
    assert living.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    abandoned = "treewright-1-0123456789abcdef"
    for name in (abandoned, "treewright-1-0123456789abcde0", "treewright-data", "treewright-1-0123456789abcdef.bak"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").write_bytes(b"")
    (tmp_path / "treewright-1-0123456789abcde0" / "lock").unlink()  # being made just now
    (tmp_path / "treewright-1-0123456789abcde1").symlink_to(tmp_path / "treewright-data")
    if os.geteuid() == 0:
        (tmp_path / "treewright-1-0123456789abcde2").mkdir()
        (tmp_path / "treewright-1-0123456789abcde2" / "lock").write_bytes(b"")
        os.chown(tmp_path / "treewright-1-0123456789abcde2", 12345, 12345)  # another user's
    before = {path.name for path in tmp_path.iterdir()}
    with scratch(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == before - {abandoned}


def test_signal_handlers_are_left_alone() -> None:
    """Handlers belong to the program: a library that sets one takes it from someone else."""
    numbers = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
    before = {number: signal.getsignal(number) for number in numbers}
    with scratch():
        assert {number: signal.getsignal(number) for number in numbers} == before
    assert {number: signal.getsignal(number) for number in numbers} == before


def test_the_users_own_handler_is_called() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with scratch() as folder:
            signal.raise_signal(signal.SIGTERM)
            assert folder.exists()
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def leave(how: str) -> None:
    if how == "exit":
        sys.exit(0)
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize(("how", "status"), [("exit", 0), ("sigterm", -signal.SIGTERM)])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_owns_nothing(tmp_path: Path, how: str, status: int) -> None:
    with scratch(tmp_path) as folder:
        kept = stored.store({"a": [np.arange(3)]}, folder)
        child = multiprocessing.get_context("fork").Process(target=leave, args=(how,))
        child.start()
        child.join(30)
        assert child.exitcode == status
        assert stored.mapped(kept)["a"].tolist() == [0, 1, 2]


def test_an_end_in_a_thread_is_noticed_at_exit(tmp_path: Path) -> None:
    script = """
import sys, threading
from treewright.out_of_core.scratch_folder import scratch
kept = scratch(sys.argv[1])
thread = threading.Thread(target=kept.__enter__)
thread.start()
thread.join()
print("holding", flush=True)
"""
    child = started(script, tmp_path, "holding")
    child.communicate(timeout=30)
    assert child.returncode == 0
    assert list(tmp_path.iterdir()) == []


# --- disk full ------------------------------------------------------------------------------------------------------


def test_a_full_disk(small_disk: Path) -> None:
    with scratch(small_disk) as folder:
        kept = stored.store({"a": [np.zeros(50_000)]}, folder)
        with pytest.raises(ScratchError) as caught:
            stored.store({"a": [np.ones(100), np.zeros(100_000)]}, folder)
        assert "800.8 kB more were needed, 6" in str(caught.value)
        assert "scratch=" in str(caught.value)
        assert str(folder) in str(caught.value)
        assert len(list(folder.iterdir())) == 2  # the lock and what is kept: what was begun is gone
        assert stored.mapped(kept)["a"].sum() == 0
        with suppress(OSError), (folder / "rest").open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        with pytest.raises(ScratchError, match="0 bytes are free"):
            stored.store({"a": [np.zeros(1)]}, folder)
    assert list(small_disk.iterdir()) == []


def test_a_disk_that_fills_up_in_the_middle_of_a_question(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reply(part: Encoded, recipe: object, state: work.State, question: bytes) -> tuple[work.State, bytes]:
        return work.State({"times": np.zeros(int(question) * part.n_rows)}), b""

    monkeypatch.setattr(work, "handle", reply)
    monkeypatch.setattr(work, "merge", lambda first, second: first + second)
    column = np.ones(30_000)
    with scratch(small_disk) as folder:
        rows = Encoded((column,), (0,), (0,), len(column), column, 0)
        parts = write_partitions([rows], folder, memory_limit=1_000_000, n_threads=2)
        growth = parts.growth({})
        assert growth.send(b"1") == b""
        assert len(list(folder.iterdir())) == 1 + 2 * len(parts.sizes)
        with pytest.raises(ScratchError, match="no room"):
            growth.send(b"9")
        assert len(list(folder.iterdir())) == 1 + len(parts.sizes)
        assert sum(parts.map(lambda part: float(part.columns[0].sum()))) == len(column)
    assert list(small_disk.iterdir()) == []


def test_no_file_may_be_that_large(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        with pytest.raises(ScratchError, match="no single file may be that large"):
            stored.store({"a": [np.zeros(100_000)]}, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(tmp_path.iterdir()) == []


def test_other_errors_of_files_are_not_taken_for_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        stored.store({"a": [np.zeros(1)]}, tmp_path / "nowhere")


# --- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [(2_000_000, 2_000_000), (2e9, 2 * 10**9), ("2GB", 2 * 10**9), ("1.5 GiB", 3 * 2**29), (" 300 mb ", 300_000_000),
     ("64K", 64_000), ("1tib", 2**40), ("4096", 4096), ("2e3 kB", 2_000_000), (np.int64(5000), 5000)],
)  # fmt: skip
def test_memory_as_people_say_it(text: float | str, size: int) -> None:
    assert memory_size(text) == size


@pytest.mark.parametrize("text", ["much", "2 lions", "", "GB", -5, True, 0, 2, "0.5", float("nan"), float("inf"), [1]])
def test_memory_that_cannot_be(text: object) -> None:
    with pytest.raises(DataError, match=r"memory_limit=.*'2GB'"):
        memory_size(text)


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    own, root = tmp_path / "own", tmp_path / "root"
    inner = root / "outer" / "inner"
    inner.mkdir(parents=True)
    (root / "memory" / "old").mkdir(parents=True)
    own.write_text("4:cpu,memory:/old\n3:pids:/\n0::/outer/inner\n")
    (inner / "memory.max").write_text("max\n")
    (inner / "memory.current").write_text("5000\n")
    (inner / "memory.stat").write_text("anon 3\ninactive_file 30\n")
    (root / "outer" / "memory.max").write_text("9000\n")
    (root / "outer" / "memory.current").write_text("6000\n")
    (root / "outer" / "memory.stat").write_text("anon 3\ninactive_file 500\nactive_file 7\n")
    (root / "memory" / "old" / "memory.limit_in_bytes").write_text("800\n")
    (root / "memory" / "old" / "memory.usage_in_bytes").write_text("900\n")
    (root / "memory" / "old" / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 20\n")
    assert memory_limit._left_to_groups(root, own) == [3500, 0]
    assert memory_limit._left_to_groups(root, tmp_path / "nowhere") == []


def test_what_is_free_is_less_than_the_machine_has() -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert memory_limit.LEAST <= memory_size(None) <= machine // 2
