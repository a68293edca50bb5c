"""Learning from tables that are not in memory: the very tree of the table in memory, and nothing left behind.

What is compared is the saved form of the tree, or the message of the error, character by character.
"""

from __future__ import annotations

import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child_processes import ended, started
from partition_cases import same_tree

import treewright as tw
from treewright.errors import DataError, ScratchError, TreewrightError
from treewright.out_of_core import encode_chunks, memory_limit
from treewright.out_of_core.disk_partitions import row_bytes
from treewright.out_of_core.scratch_folder import remove_abandoned
from treewright.training.learn import FitOptions, training_table

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the tables are not here")

#: Rows of the made-up table do not fit into this.
LITTLE = "300kB"


@pytest.fixture(autouse=True)
def limits_without_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables take the way of large ones: what the libraries take is not counted."""
    for name in ("SMALLEST", "LIBRARIES", "PIECEWISE"):
        monkeypatch.setattr(memory_limit, name, 0)


#: A tree that is soon grown, and does not ask for room to be pruned.
PLAIN = replace(tw.CART, pruning=None, stopping=tw.stopping.Stopping(max_depth=7))


@cache
def table(n_rows: int = 3000) -> Any:
    rng = np.random.default_rng(n_rows)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(40, 12, n_rows)),
            "visits": rng.integers(0, 9, n_rows),
            "town": rng.choice(["Rome", "Oslo", "Bern", None], n_rows),
            "smokes": rng.random(n_rows) < 0.3,
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 999, n_rows), "h"),
            "weight": rng.integers(1, 4, n_rows) / 2,
        }
    )
    signal_ = frame["age"].fillna(50) / 12 + (frame["town"] == "Rome") + rng.normal(size=n_rows)
    return frame.assign(
        ill=np.where(signal_ > 4, "yes", np.where(rng.random(n_rows) < 0.2, "maybe", "no")), dose=signal_
    )


def pieces(frame: Any, rows: int = 700) -> Iterator[Any]:
    return (frame.iloc[start : start + rows] for start in range(0, len(frame), rows))


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The sizes of the parts that were written, table by table: whoever means rows on disk can see that they were."""
    written: list[tuple[int, ...]] = []

    def write_parts(*given: Any, **how: Any) -> Any:
        parts = truly(*given, **how)
        written.append(parts.sizes)
        return parts

    truly = encode_chunks.write_partitions
    monkeypatch.setattr(encode_chunks, "write_partitions", write_parts)
    return written


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where everything temporary goes; at the end there must be nothing."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []


# --- every kind of input ----------------------------------------------------------------------------------------------


@cache
def expected(target: str = "ill") -> tw.Tree:
    return tw.learn(table().drop(columns="dose" if target == "ill" else "ill"), target, PLAIN, weight="weight")


def written(folder: Path, frame: Any) -> None:
    (folder / "pieces").mkdir()
    for number, piece in enumerate(pieces(frame)):
        piece.to_parquet(folder / "pieces" / f"{number}.parquet")
    frame.to_parquet(folder / "all.parquet")


FORMS: dict[str, Callable[[Path, Any], Any]] = {
    "glob": lambda folder, _: str(folder / "pieces" / "*.parquet"),
    "file": lambda folder, _: folder / "all.parquet",
    "list of files": lambda folder, _: sorted((folder / "pieces").glob("*.parquet")),
    "glob of Path": lambda folder, _: (folder / "pieces").glob("*.parquet"),
    "dataset": lambda folder, _: pds.dataset(sorted(map(str, folder.glob("*.parquet")))),
    "query": lambda folder, _: tw.sql(f"select * from '{folder}/all.parquet'"),
    "relation": lambda folder, _: duckdb.sql(f"select * from '{folder}/pieces/*.parquet'"),
    "lazy frame": lambda folder, _: pl.scan_parquet(folder / "pieces" / "*.parquet"),
    "iterator": lambda _, frame: pieces(frame),
    "list of tables": lambda _, frame: list(pieces(frame)),
    "record batches": lambda folder, _: pds.dataset(folder / "all.parquet", format="parquet").scanner().to_reader(),
}


@pytest.mark.parametrize("limit", [None, LITTLE])
@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_input(
    form: str, limit: str | None, tmp_path: Path, scratch: Path, on_disk: list[tuple[int, ...]]
) -> None:
    frame = table().drop(columns="dose")
    written(tmp_path, frame)
    data = FORMS[form](tmp_path, frame)
    same_tree(tw.learn(data, "ill", PLAIN, weight="weight", memory_limit=limit), expected())
    assert [sum(sizes) for sizes in on_disk] == ([] if limit is None else [len(frame)])
    assert all(len(sizes) > 2 for sizes in on_disk)


@pytest.mark.parametrize("limit", [None, LITTLE])
def test_text_files(limit: str | None, tmp_path: Path, scratch: Path) -> None:
    frame = table().drop(columns="dose")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    same_tree(
        tw.learn(tmp_path / "rows.csv", "ill", PLAIN, weight="weight", memory_limit=limit),
        tw.learn(str(tmp_path / "rows.csv"), "ill", PLAIN, weight="weight"),
    )


@pytest.mark.parametrize("limit", [None, LITTLE])
def test_a_dask_table_without_a_cluster(limit: str | None, scratch: Path) -> None:
    dd = pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")
    frame = table().drop(columns="ill")
    lazy = dd.from_pandas(frame, npartitions=5)
    same_tree(tw.learn(lazy, "dose", PLAIN, weight="weight", memory_limit=limit), expected("dose"))


# --- what the user says -----------------------------------------------------------------------------------------------

VARIANTS: dict[str, dict[str, Any]] = {
    "class_weight": {"class_weight": {"yes": 2.5, "no": 1.0, "maybe": 0.5}},
    "balanced": {"class_weight": "balanced", "weight": "weight"},
    "costs": {"costs": {"yes": {"no": 4.0, "maybe": 0.5}}},
    "priors": {"priors": {"yes": 0.2, "no": 0.5, "maybe": 0.3}},
    "all of them": {
        "class_weight": "balanced",
        "costs": {"yes": {"no": 4.0}},
        "priors": {"yes": 0.2, "no": 0.5, "maybe": 0.3},
        "weight": "weight",
    },
    "kinds": {"kinds": {"visits": "ordinal", "town": ["Oslo", "Bern", "Rome"], "when": "nominal"}},
    "task": {"target": "visits", "task": "classification"},
    "regression": {"target": "visits", "task": "regression"},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_settings_of_the_user(variant: str, scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    arguments = {"target": "ill", **VARIANTS[variant]}
    frame = table().drop(columns="dose")
    for recipe in (PLAIN, replace(PLAIN, pruning=tw.pruning.CostComplexityCV(folds=3))):
        expected = tw.learn(frame, recipe=recipe, **arguments)
        same_tree(tw.learn(pieces(frame), recipe=recipe, memory_limit=LITTLE, **arguments), expected)
    assert [sum(sizes) for sizes in on_disk] == [len(frame)] * 2


def test_class_weights_are_about_classes(scratch: Path) -> None:
    with pytest.raises(DataError, match="class_weight is about classes"):
        tw.learn(pieces(table()), "dose", class_weight="balanced", memory_limit=LITTLE)


def test_the_number_of_threads(scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    frame = table().drop(columns="dose")
    for n_threads in (1, 2):
        found = tw.learn(pieces(frame), "ill", PLAIN, weight="weight", memory_limit=LITTLE, n_threads=n_threads)
        same_tree(found, expected())
    assert len(on_disk) == 2


def test_progress_is_reported(scratch: Path) -> None:
    progress_made: list[float] = []
    tw.learn(
        pieces(table()), "dose", replace(tw.CART, pruning=None), memory_limit=LITTLE, progress=progress_made.append
    )
    assert progress_made == sorted(progress_made)
    assert len(set(progress_made)) > 3
    assert 0 <= progress_made[0] < progress_made[-1] == 1


# --- real tables ------------------------------------------------------------------------------------------------------

TARGETS = {"soybean": "class", "adult": "income", "covertype": "Cover_Type", "flights": "arr_delay"}
RECIPES = {
    "ID3": replace(tw.ID3, numeric=tw.numeric.Binned(5), missing=tw.missing.OwnCategory()),
    **{recipe.name: recipe for recipe in (tw.C45, tw.J48, tw.CART, tw.RPART, tw.SKLEARN)},
    **{recipe.name: recipe for recipe in (tw.CHAID, tw.EXHAUSTIVE_CHAID)},
}
PAIRS = [
    (name, recipe)
    for name in TARGETS
    for recipe in RECIPES
    if name != "flights" or RECIPES[recipe].regression is not None
]


@cache
def real(name: str, n_rows: int | None = None) -> Any:
    """Some rows with a target. Everything that is known only after landing gives a delay away."""
    whole = pq.read_table(DATA / f"{name}.parquet").to_pandas().dropna(subset=[TARGETS[name]])
    whole = whole.drop(columns=["arr_time", "dep_time", "air_time", "tailnum"], errors="ignore")
    if n_rows is None or n_rows >= len(whole):
        return whole
    return whole.sample(n_rows, random_state=7).reset_index(drop=True)


def check_real(name: str, recipe: tw.Recipe, n_rows: int | None, folder: Path) -> None:
    frame = real(name, n_rows)
    if isinstance(recipe.missing, tw.missing.RefuseMissing):
        frame = frame.dropna(axis="columns")
    task: Any = "regression" if name == "flights" else "classification"
    expected = tw.learn(frame, TARGETS[name], recipe, task=task)
    encoded, _ = training_table(frame, TARGETS[name], FitOptions(task=task))
    limit = 2 * encoded.n_rows * row_bytes(encoded)
    for number, piece in enumerate(pieces(frame, 1 + len(frame) // 5)):
        piece.to_parquet(folder / f"{number}.parquet")
    # An iterator, because files this small would be read at once, whatever their rows take in memory.
    tables = (pd.read_parquet(path) for path in sorted(folder.glob("*.parquet")))
    same_tree(tw.learn(tables, TARGETS[name], recipe, task=task, memory_limit=limit), expected)
    assert expected.n_leaves > 1


@needs_data
@pytest.mark.parametrize(("name", "recipe"), PAIRS)
def test_real_tables(name: str, recipe: str, tmp_path: Path, scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    check_real(name, RECIPES[recipe], 2500, tmp_path)
    assert len(on_disk[0]) > 2


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "recipe"), PAIRS)
def test_more_rows(name: str, recipe: str, tmp_path: Path, scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    check_real(name, RECIPES[recipe], 50_000, tmp_path)
    assert len(on_disk[0]) > 2


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["CART", "C45", "CHAID"])
@pytest.mark.parametrize("name", ["covertype", "flights"])
def test_all_rows(name: str, recipe: str, tmp_path: Path, scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    if name == "flights" and RECIPES[recipe].regression is None:
        pytest.skip("of classes only")
    check_real(name, replace(RECIPES[recipe], pruning=None), None, tmp_path)
    assert len(on_disk[0]) > 2


@needs_data
@pytest.mark.parametrize(("name", "limit"), [("soybean", "100kB"), ("adult", "4MB")])
def test_files_in_little_memory(name: str, limit: str, scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    recipe = replace(tw.CART, pruning=None)
    found = tw.learn(DATA / f"{name}.parquet", TARGETS[name], recipe, memory_limit=limit, scratch=scratch)
    same_tree(found, tw.learn(DATA / f"{name}.parquet", TARGETS[name], recipe))
    assert len(on_disk) == 1


# --- errors -----------------------------------------------------------------------------------------------------------


def spoilt(column: str, value: Any, rows: Any = slice(-1, None)) -> Any:
    frame = table().drop(columns="dose").copy()
    frame[column] = frame[column].astype(object) if isinstance(value, str) else frame[column]
    frame.iloc[rows, frame.columns.get_loc(column)] = value
    return frame


def refuses(recipe: tw.Recipe) -> tw.Recipe:
    return replace(recipe, missing=tw.missing.RefuseMissing(), pruning=None)


ERRORS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "no such target": (table, {"target": "il"}),
    "no such weight": (table, {"target": "ill", "weight": "heavy"}),
    "missing values": (table, {"target": "ill", "recipe": refuses(tw.CART)}),
    "numbers refused": (table, {"target": "ill", "recipe": tw.ID3}),
    "no regression": (table, {"target": "dose", "recipe": tw.C45}),
    "negative counts": (table, {"target": "dose", "recipe": replace(tw.CART, regression=tw.criterion.Poisson())}),
    "an infinite number at the end": (lambda: spoilt("age", np.inf), {"target": "ill"}),
    "a negative weight at the end": (lambda: spoilt("weight", -1.0), {"target": "ill", "weight": "weight"}),
    "no weight at all": (lambda: spoilt("weight", 0.0, slice(None)), {"target": "ill", "weight": "weight"}),
    "a missing target": (lambda: spoilt("ill", None), {"target": "ill"}),
    "one class": (lambda: spoilt("ill", "yes", slice(None)), {"target": "ill", "priors": {"no": 1.0}}),
    "unknown class": (table, {"target": "ill", "class_weight": {"never": 2}}),
    "costs of an unknown class": (table, {"target": "ill", "costs": {"never": {"yes": 2}}}),
    "kinds of an unknown column": (table, {"target": "ill", "kinds": {"twon": "nominal"}}),
    "pruned by classes": (table, {"target": "dose", "recipe": replace(tw.CART, pruning=tw.pruning.Pessimistic())}),
    "no recipe": (table, {"target": "ill", "recipe": "CARD"}),
}


@pytest.mark.parametrize("error", ERRORS)
def test_errors_are_those_of_the_table_in_memory(error: str, scratch: Path) -> None:
    make, arguments = ERRORS[error]
    frame = make()
    with pytest.raises(TreewrightError) as plain:
        tw.learn(frame, **arguments)
    with pytest.raises(TreewrightError) as large:
        tw.learn(pieces(frame), memory_limit=LITTLE, **arguments)
    # What is said of all rows at once knows the value and not its row.
    said_in_memory = re.sub(r" in row \d+", "", str(plain.value))
    assert (type(large.value), str(large.value)) == (type(plain.value), said_in_memory)


def test_missing_values_are_counted_over_all_partitions(scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    frame = table().drop(columns="dose")
    missing = int(frame["age"].isna().sum())
    with pytest.raises(DataError, match=f"'age' is missing in {missing} of {len(frame)} rows"):
        tw.learn(pieces(frame), "ill", refuses(tw.CART), memory_limit=LITTLE)
    assert len(on_disk[0]) > 2


def test_a_bad_value_in_the_last_piece(scratch: Path) -> None:
    """Text among numbers, a level not listed, another column."""
    frame = table().drop(columns="dose")
    *most, last = pieces(frame)
    for bad, message in (
        (last.assign(visits="often"), "visits"),
        (last.rename(columns={"age": "aged"}), "age"),
        (3, "int"),
    ):
        with pytest.raises(TreewrightError, match=message):
            tw.learn(iter([*most, bad]), "ill", memory_limit=LITTLE)
    kinds = {"town": ["Oslo", "Bern", "Rome"]}
    with pytest.raises(DataError, match="Paris"):
        tw.learn(iter([*most, last.assign(town="Paris")]), "ill", kinds=kinds, memory_limit=LITTLE)


def test_an_iterator_that_fails(scratch: Path) -> None:
    def tables() -> Iterator[Any]:
        yield from list(pieces(table()))[:3]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tw.learn(tables(), "ill", memory_limit=LITTLE)


def test_a_criterion_that_fails_in_the_middle(scratch: Path, on_disk: list[tuple[int, ...]]) -> None:
    calls = 0

    def score(parent: Any, children: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 7:
            raise ZeroDivisionError
        return children.max(axis=-1).sum(axis=1) - parent.max()

    recipe = replace(tw.CART, criterion=tw.recipes.recipe.Custom(score), missing=tw.missing.Fractional(), pruning=None)
    with pytest.raises(ZeroDivisionError):
        tw.learn(pieces(table()), "ill", recipe, memory_limit="400kB")  # the values of a column have room
    assert calls == 8
    assert len(on_disk) == 1


def test_a_progress_that_fails(scratch: Path) -> None:
    def stop(share: float) -> None:
        raise ZeroDivisionError(share)

    with pytest.raises(ZeroDivisionError):
        tw.learn(pieces(table()), "ill", memory_limit=LITTLE, progress=stop)


def test_a_full_disk(small_disk: Path) -> None:
    frame = table(20_000)
    with pytest.raises(ScratchError, match="no room") as raised:
        tw.learn(pieces(frame), "ill", memory_limit="1MB", scratch=small_disk)
    assert "scratch=" in str(raised.value)
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize(
    ("pruner", "remedy"),
    [
        (tw.pruning.CostComplexityCV(), "CostComplexity(alpha)"),
        (tw.pruning.ImpurityThresholdCV(), "CostComplexity(alpha)"),
        (tw.pruning.ReducedError(share=0.5), "smaller share"),
        (tw.pruning.ErrorBased(), "ErrorBased(raising=False)"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_pruners_without_room_are_refused(pruner: Any, remedy: str, scratch: Path) -> None:
    grown: list[float] = []
    recipe = replace(tw.CART, pruning=pruner)
    with pytest.raises(DataError) as raised:
        tw.learn(pieces(table()), "ill", recipe, memory_limit="100kB", progress=grown.append)
    message = str(raised.value)
    assert f"pruned by {type(pruner).__name__}" in message
    assert remedy in message
    assert "memory_limit is 100" in message
    assert not grown


@pytest.mark.parametrize(
    "pruner",
    [
        tw.pruning.CostComplexity(0.01),
        tw.pruning.ErrorBased(raising=False),
        tw.pruning.Pessimistic(),
        tw.pruning.MinimumError(),
        tw.pruning.MaxDepth(2),
        None,
    ],
    ids=lambda each: type(each).__name__,
)
def test_other_pruners_need_no_room(pruner: Any, scratch: Path) -> None:
    frame, recipe = table().drop(columns="dose"), replace(tw.CART, pruning=pruner)
    same_tree(tw.learn(pieces(frame), "ill", recipe, memory_limit="100kB"), tw.learn(frame, "ill", recipe))


@pytest.mark.parametrize(
    "missing", [tw.missing.OwnCategory(), tw.missing.Surrogates()], ids=lambda each: type(each).__name__
)
def test_columns_counted_value_by_value_need_room(missing: Any, scratch: Path) -> None:
    frame = table().drop(columns="dose")
    recipe = replace(
        tw.C45, criterion=tw.criterion.InformationGain(), numeric=tw.numeric.Threshold(), missing=missing, pruning=None
    )
    recipe = replace(recipe, stopping=tw.stopping.Stopping(max_depth=3))
    same_tree(tw.learn(pieces(frame), "ill", recipe, memory_limit="1MB"), tw.learn(frame, "ill", recipe))
    with pytest.raises(DataError, match=f"missing={type(missing).__name__}.*'age'"):
        tw.learn(pieces(frame), "ill", recipe, memory_limit="100kB")


# --- signals ----------------------------------------------------------------------------------------------------------

#: A child that is in the middle of something, and says so once.
LEARNING = """
import sys, time
from dataclasses import replace
import numpy as np
import treewright as tw
from treewright.out_of_core import memory_limit
from treewright.growing import partition_worker as work

rng = np.random.default_rng(0)
said = []

def slowly(times=1):
    said.append(1)
    if len(said) == times:
        print("middle", flush=True)
    if len(said) >= times:
        time.sleep(0.2)

def pieces(slow):
    for _ in range(40):
        if slow:
            slowly(5)
        yield {"x": rng.random(500), "z": rng.random(500), "y": rng.integers(0, 2, 500)}

def score(parent, children):
    slowly(9)
    return children.max(axis=-1).sum(axis=1) - parent.max()

def answer(*given):
    if where == "asking":
        slowly(30)
    return core_answer(*given)

where = "%s"
memory_limit.SMALLEST = memory_limit.LIBRARIES = memory_limit.PIECEWISE = 0
core_answer, work.handle = work.handle, answer
recipe = replace(tw.CART, pruning=None)
if where == "choosing":
    recipe = replace(recipe, criterion=tw.recipes.recipe.Custom(score))
tw.learn(pieces(where == "reading"), "y", recipe, task="classification", memory_limit="2MB", scratch=sys.argv[1])
print("done", flush=True)
"""


@pytest.mark.parametrize("where", ["reading", "choosing", "asking"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_in_the_middle_of_a_fit(where: str, number: int, tmp_path: Path) -> None:
    child = started(LEARNING % where, tmp_path, "middle")
    assert len(list(tmp_path.iterdir())) == 1
    status, out, err = ended(child, number)
    assert status == -number, err
    assert "done" not in out
    assert len(list(tmp_path.iterdir())) == (0 if number == signal.SIGINT else 1)
    remove_abandoned(tmp_path)  # as the next start does
    assert list(tmp_path.iterdir()) == []


def test_integers_beyond_the_exact_floats_are_the_same_levels_in_partitions() -> None:
    rows = pd.DataFrame({"x": [1, 2, 2**60, 2**60, 1, 2, 3, 3], "y": list("aabbaabb")})
    whole = tw.learn(rows, "y", tw.CART, kinds={"x": "nominal"})
    parts = tw.learn(iter([rows[:4], rows[4:]]), "y", tw.CART, kinds={"x": "nominal"})
    assert parts == whole
    assert repr(parts.schema.columns[0].levels) == repr((1, 2, 3, 2**60))
