"""Every case that once failed, and a few new ones of every kind: the long run is `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_cases import Case
from fuzz_files import FileCase, check_file, random_file, seeds
from fuzz_record import add_run, overlapping, read_runs, total
from fuzz_replay import check_all, check_case, shrunk
from fuzz_tables import random_case

CORPUS = Path(__file__).parent / "corpus"
pytestmark = pytest.mark.filterwarnings("ignore", "error::RuntimeWarning")


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_the_corpus_passes(path: Path) -> None:
    if path.suffix == ".json":
        check_all(Case.from_json(path.read_text()))
    else:
        check_file(FileCase(path.suffix[1:], path.read_bytes()))


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_random_tables(first: int) -> None:
    for seed in range(first, first + 50):
        check_case(random_case(seed), seed)


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_mutated_files(first: int) -> None:
    for seed in range(first, first + 100):
        check_file(random_file(seed))


@pytest.mark.parametrize("format_", seeds())
def test_whole_files_are_read(format_: str) -> None:
    """The files that are mutated are sound, or mutation would test the first line of each reader only."""
    for content in seeds()[format_]:
        check_file(FileCase(format_, content), refuse=False)


def test_a_case_is_the_same_after_writing() -> None:
    for seed in range(200):
        case = random_case(seed)
        assert Case.from_json(case.to_json()).to_json() == case.to_json()


def test_no_seed_is_counted_twice_and_the_page_says_the_sums() -> None:
    runs = read_runs()
    assert overlapping(runs) == []
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text()
    for kind in ("tables", "files"):
        cases, failures = total(runs, kind)
        assert f"| {kind} | {cases:,} | {failures} | 0 |" in page


def test_runs_that_share_seeds_are_found(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    for kind, first in (("tables", 10), ("files", 15), ("tables", 20)):
        add_run(kind, first, 10, 1, path)
    assert overlapping(read_runs(path)) == []
    assert total(read_runs(path), "tables") == (20, 2)
    add_run("tables", 29, 5, 0, path)
    assert [pair[1].first_seed for pair in overlapping(read_runs(path))] == [29]


def test_a_failing_case_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A property that fails for every table with two distinct values of c0: a handful of rows is enough to show it."""
    import fuzz_replay

    def check(case: Case) -> None:
        if len(set(map(str, case.columns.get("c0", ())))) > 1:
            raise ValueError("two values")

    monkeypatch.setattr(fuzz_replay, "check_all", check)
    case = next(
        c for c in map(random_case, range(100)) if c.n_rows > 15 and len(set(map(str, c.columns.get("c0", ())))) > 1
    )
    found = shrunk(case)
    assert found.n_rows == 2
    assert set(found.columns) == {"c0", found.target}
