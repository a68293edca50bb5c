"""The studio's answers against the library, its history against replays, and its journal against SIGKILL."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs starlette, which the studio is served by")
pytest.importorskip("uvicorn", reason="needs uvicorn, which serves the studio")

from edit_cases import RECIPES, random_edit, table
from studio_cases import Client, people

import treewright as tw
from treewright.editing.training_rows import held_out
from treewright.errors import DataError, FileError, TreewrightError
from treewright.interactive.history import action, after
from treewright.interactive.jobs import CancelledError
from treewright.interactive.serve import Studio, opened
from treewright.interactive.session import Session, differing
from treewright.interactive.start import Start
from treewright.interactive.table import origin_of


def session_of(data: Any, target: str = "y", recipe: tw.Recipe = tw.CART, **settings: Any) -> Session:
    folder = settings.pop("folder", None)
    return Session(origin_of(data), Start(target, recipe, **settings), folder)


def write_csv(path: Path, rows: dict[str, list[Any]]) -> None:
    lines = [
        ",".join(rows),
        *(",".join("" if x is None else str(x) for x in row) for row in zip(*rows.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cart", "c45", "j48", "rpart", "sklearn", "chaid", "own", "each_value"])
def test_ranked_splits_are_those_of_the_library(name: str) -> None:
    data, recipe = table(), RECIPES[name]
    session = session_of(data, recipe=recipe, holdout=None)
    session.do(tw.edit.Grow(0, levels=2))
    tree = session.snapshot.tree
    for node in range(tree.n_nodes):
        found = session.snapshot.ranked(node)["splits"]
        wanted = tw.rank_splits(data, "y", tree=tree, node=node)
        mine = {one["column"]: one for one in found if "score" in one}
        assert set(mine) == {one.column for one in wanted if one.score is not None}
        for one in wanted:
            if one.score is not None:
                assert mine[one.column]["score"] == pytest.approx(one.score, rel=1e-9, abs=1e-12)
                assert [c["rows"] for c in mine[one.column]["children"]] == [c.rows for c in one.children]


def test_the_first_split_that_is_not_stopped_is_what_growing_takes() -> None:
    session = session_of(table(), recipe=RECIPES["cart"], holdout=None)
    best = session.snapshot.ranked(0)["splits"][0]
    assert best["chosen"]
    session.do(tw.edit.Edit.from_dict(best["edit"]))
    by_hand = session.snapshot.tree
    session.undo()
    session.do(tw.edit.Grow(0, levels=1))
    assert differing(by_hand, session.snapshot.tree) == {"ours": [], "theirs": []}
    assert by_hand.root.edit.split
    assert by_hand.root.edit.against is None


@pytest.mark.parametrize("name", ["cart", "c45", "sklearn", "own"])
def test_a_split_that_is_tried_is_the_split_that_is_made(name: str) -> None:
    session = session_of(table(600), recipe=RECIPES[name])
    session.do(tw.edit.Grow(0, levels=1))
    for node in range(session.snapshot.tree.n_nodes):
        for split in session.snapshot.ranked(node)["splits"]:
            if "threshold" not in (split.get("edit") or {}) and "groups" not in (split.get("edit") or {}):
                continue
            edit = tw.edit.Edit.from_dict(split["edit"])
            assert isinstance(edit, tw.edit.Split)
            tried = session.snapshot.tried(edit)
            if tried["measure"] != "information gain":
                assert tried["score"] == pytest.approx(split["score"], rel=1e-9, abs=1e-12)
            assert [c["rows"] for c in tried["children"]] == [c["rows"] for c in split["children"]]
            session.do(edit)
            after = session.snapshot.scores["held_out"]["headline"]
            if not tried["held_out"]["about"]:
                assert tried["held_out"]["then"] == pytest.approx(after["value"])
            session.undo()
            assert tried["held_out"]["now"] == pytest.approx(session.snapshot.scores["held_out"]["headline"]["value"])


def test_the_curve_has_the_best_cut_at_its_top() -> None:
    session = session_of(table(), recipe=RECIPES["cart"], holdout=None)
    for split in session.snapshot.ranked(0)["splits"]:
        if "threshold" in split["edit"]:
            curve = session.snapshot.curve(0, split["column"])
            assert curve["cuts"][curve["best"]] == split["edit"]["threshold"]
            assert curve["scores"][curve["best"]] == pytest.approx(split["score"])
            assert sum(map(sum, curve["bars"]["counts"])) == 240 - split["missing"]


@pytest.mark.parametrize("name", ["cart", "c45", "j48", "sklearn"])
def test_the_top_of_the_curve_is_the_ranked_cut_below_the_root_too(name: str) -> None:
    session = session_of(table(400), recipe=RECIPES[name])
    session.do(tw.edit.Grow(0, levels=2))
    compared = 0
    for node in range(1, session.snapshot.tree.n_nodes):
        for split in session.snapshot.ranked(node)["splits"]:
            if "threshold" in (split.get("edit") or {}):
                curve = session.snapshot.curve(node, split["column"])
                assert curve["cuts"][curve["best"]] == split["edit"]["threshold"]
                compared += 1
    assert compared > 5


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_arithmetic_is_that_of_the_library(name: str) -> None:
    data = table(300)
    session = session_of(data, recipe=RECIPES[name], holdout=None)
    session.do(tw.edit.Grow(0, levels=2))
    tree = session.snapshot.tree
    for node in range(tree.n_nodes):
        for column in (None, "age", "town"):
            outside = told(lambda n=node, c=column: tw.explain_node(tree, n, data, column=c))
            inside = told(lambda n=node, c=column: session.snapshot.arithmetic(n, c))
            if isinstance(outside, str):
                assert inside == outside
            else:
                html = re.sub(r' style="[^"]*"', "", outside.html())
                assert inside == {"heading": outside.heading, "html": html}


def told(ask: Any) -> Any:
    """What is answered, or the words of the refusal."""
    try:
        return ask()
    except DataError as error:
        return str(error)


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("name", ["cart", "c45", "random"])
def test_the_rows_of_a_node_are_the_rows_that_reach_it(name: str, regression: bool) -> None:
    if regression and name == "c45":
        pytest.skip("C4.5 has no numbers")
    data = table(300, regression=regression)
    session = session_of(data, recipe=RECIPES[name])
    session.do(tw.edit.Grow(0, levels=3))
    snapshot = session.snapshot
    for node in snapshot.tree:
        page = snapshot.rows(node.id, unseen=False, sort="fare", down=False, first=0, n=200)
        assert page["total"] == node.rows
        fares = [float(x) for x in page["cells"][page["columns"].index("fare")]]
        assert fares == sorted(fares)
        assert [str(data["fare"][i]) for i in page["row"]][:5] == [str(x) for x in fares][:5]
        entries = snapshot.entries(node.id)
        assert entries.weight.sum() == pytest.approx(node.weight)
    held = snapshot.table.held_out
    assert held is not None
    ends = [snapshot.held_ranges.at(i)[0] for i, node in enumerate(snapshot.tree) if node.is_leaf]
    if name == "cart":
        assert sorted(np.concatenate(ends)) == list(range(held.n_rows))


def test_held_out_rows_are_no_part_of_growing() -> None:
    data = table(400)
    session = session_of(data, recipe=RECIPES["cart"], holdout=0.3)
    rows = session.snapshot.table
    assert rows.held_out is not None
    assert rows.n_training + rows.held_out.n_rows == 400
    session.do(tw.edit.Grow(0))
    kept = np.setdiff1d(np.arange(400), rows.held_number)
    chosen = {name: [values[i] for i in kept] for name, values in data.items()}
    assert (
        tw.learn(chosen, "y", RECIPES["cart"]).arrays["rows"].tolist() == session.snapshot.tree.arrays["rows"].tolist()
    )
    whole = session_of(data, recipe=RECIPES["cart"], holdout=None).snapshot.table.training
    assert np.flatnonzero(held_out(whole, 0.3)).tolist() == rows.held_number.tolist()


def test_a_regression_has_means_and_errors() -> None:
    session = session_of(table(300, regression=True), recipe=RECIPES["cart"])
    ranked = session.snapshot.ranked(0)
    assert ranked["splits"][0]["children"][0]["mean"] is not None
    tried = session.snapshot.tried(tw.edit.Split(0, "fare", threshold=30))
    session.do(tw.edit.Split(0, "fare", threshold=30))
    assert tried["held_out"]["measure"] == "root mean squared error"
    assert tried["held_out"]["then"] == pytest.approx(session.snapshot.scores["held_out"]["headline"]["value"])
    json.dumps(session.state(), allow_nan=False)
    json.dumps([session.snapshot.columns(1), session.snapshot.curve(0, "fare"), session.snapshot.levels(0, "town")])


def test_a_recipe_that_grows_whole_trees_only_is_refused_at_once() -> None:
    session = session_of(table(regression=True), recipe=RECIPES["cart"])
    assert {"m5", "chaid"} <= set(offered := session.state()["choices"]["algorithm"])
    assert "c45" not in offered
    with pytest.raises(DataError, match="cannot grow one node"):
        session.do(Start("y", tw.M5))
    assert session.compare("m5")["report"]["facts"]["recipe"] == "M5"


def test_a_column_shows_its_ends_or_its_levels() -> None:
    grades = {"grade": ("low", "mid", "high")}
    session = session_of(table(300), recipe=RECIPES["cart"], kinds=grades, holdout=None)
    shown = {one["name"]: one for one in session.snapshot.columns(0)}
    ages = np.asarray(table(300)["age"])
    assert shown["age"]["ends"] == [str(int(np.nanmin(ages))), str(int(np.nanmax(ages)))]
    assert (shown["grade"]["kind"], shown["grade"]["labels"]) == ("ordinal", ["low", "mid", "high"])
    assert "ends" not in shown["grade"]


def test_costs_and_kinds_and_left_out_columns_begin_anew_and_can_be_undone() -> None:
    session = session_of(people(), "buys", RECIPES["cart"])
    session.do(tw.edit.Grow(0, levels=2))
    before = session.snapshot.tree
    start = Start(
        "buys", RECIPES["cart"], kinds={"noise": "nominal"}, left_out=("town",), costs=((0.0, 5.0), (1.0, 0.0))
    )
    session.do(start)
    assert session.snapshot.tree.schema.names == ("age", "fare", "noise")
    assert session.snapshot.tree.schema.target.costs == ((0.0, 5.0), (1.0, 0.0))
    tried = session.snapshot.tried(tw.edit.Split(0, "fare", threshold=20))
    session.do(tw.edit.Split(0, "fare", threshold=20))
    assert tried["held_out"]["then"] == pytest.approx(session.snapshot.scores["held_out"]["headline"]["value"])
    session.undo()
    session.undo()
    assert session.snapshot.tree == before
    for wrong in ({"left_out": ("age", "fare", "town", "noise")}, {"kinds": {"nobody": "nominal"}}, {"weight": "buys"}):
        with pytest.raises(DataError):
            session.do(Start("buys", **wrong))
    assert session.snapshot.tree == before


def test_the_recipe_s_own_tree_and_where_it_differs() -> None:
    session = session_of(people(), "buys", RECIPES["cart"])
    session.do(tw.edit.Grow(0))
    found = session.compare(RECIPES["cart"].as_dict())
    assert found["differ"] == {"ours": [], "theirs": []}
    session.do(tw.edit.Split(0, "noise", threshold=0.5))
    assert session.compare("cart")["differ"] == {"ours": [0], "theirs": [0]}
    folds = session.cross_validated()
    assert len(folds["values"]) == 5
    assert 0.4 < folds["mean"] < 1


def test_long_work_reports_progress_and_is_cancelled() -> None:
    session = session_of(people(200_000), "buys", RECIPES["cart"].with_(max_depth=None, min_samples_split=2))
    events: list[dict[str, Any]] = []

    def listener(event: dict[str, Any]) -> None:
        events.append(event)
        if event["event"] == "progress":
            session.jobs.cancel()

    with session.jobs.listening(listener), pytest.raises(CancelledError, match="nothing was changed"):
        session.do(tw.edit.Grow(0))
    assert events[0]["job"] == "Grow"
    assert events[-1] == {"event": "ended", "job": "Grow", "number": events[0]["number"]}
    assert session.snapshot.tree.n_nodes == 1
    session.do(tw.edit.Grow(0, levels=2))
    assert session.history.done == 2


# --- history ----------------------------------------------------------------------------------------------------------


def test_everything_undone_is_the_first_tree_and_the_log_replays(tmp_path: Path) -> None:
    data = people()
    write_csv(tmp_path / "people.csv", data)
    session = Session(origin_of(tmp_path / "people.csv"), Start("buys", RECIPES["cart"]), tmp_path)
    first, draw, trees = session.snapshot.tree, random.Random(3), []
    while len(trees) < 30:
        try:
            session.do(random_edit(draw, session.snapshot.tree))
            trees.append(session.snapshot.tree)
        except TreewrightError:
            continue
    for name in ("first", "log", "script", "tree"):
        session.save(name)
    log = tw.edit.read_log(tmp_path / "people-log.jsonl")
    start = tw.load(tmp_path / "people-first.json")
    assert start == first
    assert tw.edit.replay(start, log, str(tmp_path / "people.csv"), holdout=0.25) == trees[-1]
    (tmp_path / "people-tree.json").unlink()
    done = subprocess.run(
        [sys.executable, "people-replay.py"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout
    assert tw.load(tmp_path / "people-tree.json") == trees[-1]
    command = [
        "edit",
        "people-first.json",
        "people-log.jsonl",
        "--data",
        "people.csv",
        "--holdout",
        "0.25",
        "-s",
        "o.json",
    ]
    subprocess.run([sys.executable, "-m", "treewright", *command], cwd=tmp_path, check=True, capture_output=True)
    assert tw.load(tmp_path / "o.json") == trees[-1]
    for tree in reversed([first, *trees[:-1]]):
        session.undo()
        assert session.snapshot.tree == tree
    with pytest.raises(DataError, match="nothing to undo"):
        session.undo()
    for tree in trees:
        session.redo()
        assert session.snapshot.tree == tree
    session.close()


def test_a_journal_is_continued_and_a_foreign_one_kept(tmp_path: Path) -> None:
    data = people()
    session = session_of(data, "buys", folder=tmp_path)
    session.do(tw.edit.Grow(0, levels=2))
    session.do(tw.edit.Collapse(1))
    session.undo()
    tree = session.snapshot.tree
    with pytest.raises(FileError, match="in use by another studio"):
        session_of(data, "buys", folder=tmp_path)
    session.close()
    again = session_of(data, "buys", folder=tmp_path)
    assert again.snapshot.tree == tree
    assert again.continued == 1
    again.redo()
    assert again.snapshot.tree.n_nodes < tree.n_nodes
    again.close()
    other = session_of(people(seed=1), "buys", folder=tmp_path)
    assert other.snapshot.tree.n_nodes == 1
    assert other.journal is not None
    assert "other rows" in (other.journal.aside or "")
    other.close()
    assert len(list(tmp_path.glob("table*.jsonl"))) == 2


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_half_written_line_is_dropped(tmp_path: Path, cut: int) -> None:
    session = session_of(people(), "buys", folder=tmp_path)
    session.do(tw.edit.Grow(0, levels=1))
    session.do(tw.edit.Grow(0, levels=2))
    session.close()
    journal = tmp_path / "table.studio.jsonl"
    journal.write_bytes(journal.read_bytes()[:-cut])
    again = session_of(people(), "buys", folder=tmp_path)
    assert again.continued == 1
    again.do(tw.edit.Grow(0, levels=3))
    again.close()
    last = session_of(people(), "buys", folder=tmp_path)
    assert last.continued == 2
    last.close()


# --- SIGKILL ----------------------------------------------------------------------------------------------------------


def _served(folder: Path) -> tuple[int, str]:
    """Serve a studio in a process of its own; return its id and address."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            made = opened(origin_of(people()), Start("buys"), folder, 0)
            os.write(writing, made.url.encode() + b"\n")
            made.run()
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return process, pipe.readline().strip()


def _send(client: Client, draw: random.Random, answered: list[tuple[int, int]]) -> None:
    """Make changes until the server is gone; remember the state after each that was answered."""
    actions = [("edit", {"edit": "Grow", "node": 0, "levels": n}) for n in (1, 2, 3)]
    actions += [("edit", {"edit": "Split", "node": 0, "column": "fare", "threshold": 20}), ("undo", {}), ("redo", {})]
    while True:
        path, body = draw.choice(actions)
        try:
            answer = client.send("POST", f"/api/{path}", json.dumps(body).encode(), **client.own())
        except OSError:
            return
        except Exception:  # noqa: BLE001 - an answer cut in two
            return
        if answer.status == 200:
            try:
                state = json.loads(answer.body)
            except ValueError:
                return
            answered.append((state["undo"], state["redo"]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("moments", [10, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_at_any_moment_at_most_the_edit_in_flight_is_lost(tmp_path: Path, moments: int) -> None:
    draw = random.Random(5)
    known: list[bytes] = []
    expected = (0, 0)
    for moment in range(moments):
        process, url = _served(tmp_path)
        answered: list[tuple[int, int]] = []
        try:
            client = Client(url)
            state = client.get("state")
            assert (state["undo"], state["redo"]) == expected
            sender = threading.Thread(target=_send, args=(client, random.Random(moment), answered))
            sender.start()
            wanted = draw.randrange(4)  # by answers and not by the clock alone, so that a slow machine gets as far
            while len(answered) < wanted and sender.is_alive():
                time.sleep(0.0005)
            time.sleep(draw.uniform(0.0, 0.05))
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        sender.join(30)
        lines = (tmp_path / "table.studio.jsonl").read_bytes().split(b"\n")[:-1]
        assert lines[: len(known)] == known  # what was there stays
        new = len(lines) - len(known) - (2 if not known else 0)
        assert len(answered) <= new <= len(answered) + 1
        known = lines
        history = after(action(json.loads(line), "line") for line in lines[1:])
        expected = (history.done - 1, len(history.steps) - history.done)
        if answered and len(answered) == new:
            assert expected == answered[-1]
    assert len(known) > moments


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Studio]:
    with tw.studio(people(), "buys", folder=tmp_path, open_page=False) as studio:
        yield studio


def test_events_tell_of_changes(served: Studio) -> None:
    import http.client

    client = Client(served.url)
    connection = http.client.HTTPConnection(client.host, timeout=20)
    connection.request("GET", "/api/events", headers={"Cookie": client.cookie})
    stream = connection.getresponse()
    assert stream.getheader("content-type", "").startswith("text/event-stream")
    assert stream.readline().startswith(b":")
    client.post("edit", {"edit": "Grow", "node": 0, "levels": 1})
    line = b""
    while b'"changed"' not in line:
        line = stream.readline()
    assert json.loads(line.removeprefix(b"data: "))["done"] == 2
    connection.close()


def test_the_studio_shows_its_tree_and_log(served: Studio) -> None:
    client = Client(served.url)
    client.post("edit", {"edit": "Grow", "node": 0, "levels": 2})
    assert served.tree.depth == 2
    assert served.log == (tw.edit.Grow(0, levels=2),)
    assert "token=" in served._repr_html_()


def test_what_cannot_be_opened_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="did you mean 'buys'"):
        tw.studio(people(), "buy", folder=tmp_path, open_page=False)
    with pytest.raises(DataError, match="there is no folder"):
        tw.studio(people(), "buys", folder=tmp_path / "nowhere", open_page=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(DataError, match=r"treewright\[studio\]"):
        tw.studio(people(), "buys", folder=tmp_path, open_page=False)
    monkeypatch.undo()
    tw.studio(people(), "buys", folder=tmp_path, open_page=False).close()  # nothing holds the journal


def test_help_costs_no_import_of_the_server() -> None:
    code = (
        "import sys\nfrom treewright.cli import main\n"
        "try: main(['studio', '--help'])\nexcept SystemExit: pass\n"
        "print([n for n in ('starlette', 'uvicorn', 'anyio', 'treewright.interactive.routes') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "--holdout" in done.stdout


def test_the_command_serves_and_prints_the_address(tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", people())
    command = [sys.executable, "-m", "treewright", "studio", "people.csv", "--target", "buys", "--no-browser"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Studio: http://127.0.0.1:")
        client = Client(line.split()[1])
        assert client.get("state")["table"] == "people.csv"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)
    finally:
        process.kill()
        process.communicate()
    assert (tmp_path / "people.studio.jsonl").exists()
