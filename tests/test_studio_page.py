"""The studio in a real browser: every feature used as a person would, by mouse or by keys."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs starlette, which the studio is served by")
pytest.importorskip("uvicorn", reason="needs uvicorn, which serves the studio")

from studio_cases import EVIL, people

import treewright as tw
from treewright.interactive.jobs import CancelledError
from treewright.interactive.serve import Studio
from treewright.lessons.tables import TITANIC

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@contextmanager
def opened(
    browser: Any, data: Any, target: str, folder: Path | None = None, **more: Any
) -> Iterator[tuple[Any, Studio]]:
    """A studio and its page; an error, a message or a request to another place fails the test."""
    size = more.pop("size", (1440, 900))
    scheme = more.pop("scheme", "light")
    with tw.studio(data, target, folder=folder, open_page=False, **more) as studio:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        context.set_default_timeout(8000)
        page = context.new_page()
        odd: list[str] = []
        own = studio.url.split("?")[0]
        page.on(
            "console", lambda message: odd.append(f"console: {message.text}") if "422" not in message.text else None
        )
        page.on("pageerror", lambda error: odd.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (odd.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on(
            "request", lambda request: odd.append(request.url) if not request.url.startswith((own, "data:,")) else None
        )
        try:
            page.goto(studio.url)
            page.wait_for_selector("[data-ready]")
            page.wait_for_selector("[data-apply]")
            yield page, studio
        except Exception as error:
            raise AssertionError(f"{error}; the page said {odd}") from error
        finally:
            context.close()
        assert odd == []


def steps(page: Any, n: int) -> None:
    page.wait_for_selector(f"#studio[data-steps='{n}']")


def tab(page: Any, name: str) -> Any:
    page.get_by_role("tab", name=name, exact=True).click()
    return page.get_by_role("tabpanel", name=name)


def card(page: Any, node: int) -> Any:
    return page.locator(f".st-place [data-node='{node}']")


def titanic() -> dict[str, list[Any]]:
    """The passengers, with an age in years that fits "adult" and "child"."""
    table = {name.lower(): list(values) for name, values in TITANIC.items()}
    rng = np.random.default_rng(0)
    years = [rng.integers(18, 70) if age == "adult" else rng.integers(0, 18) for age in table["age"]]
    return {**table, "years": [float(x) for x in years]}


def test_the_token_leaves_the_address_and_the_tree_grows_by_mouse_and_keys(browser: Any, tmp_path: Path) -> None:
    with opened(browser, titanic(), "survived", tmp_path) as (page, studio):
        assert "token" not in page.url
        assert page.locator(".st-splits > li").count() >= 3
        first = page.locator(".st-splits > li").first
        assert "sex" in first.inner_text()
        first.get_by_role("button", name="Apply").click()
        steps(page, 1)
        assert studio.tree.root.split.column == "sex"
        assert studio.tree.root.edit.split
        assert card(page, 0).locator(".tw-hand").count() == 1
        card(page, 1).click()
        page.wait_for_selector("[role=tabpanel] [data-node='1']")
        page.keyboard.press("2")
        steps(page, 2)
        assert not studio.tree[1].is_leaf
        page.keyboard.press("c")
        steps(page, 3)
        assert studio.tree[1].is_leaf
        page.keyboard.press("u")
        steps(page, 2)
        page.keyboard.press("Control+Shift+Z")
        steps(page, 3)
        page.keyboard.press("A")
        steps(page, 4)
        whole = studio.tree
        assert whole.n_nodes > 10
        for left in (3, 2, 1, 0):
            page.get_by_role("button", name="Undo").click()
            steps(page, left)
        assert studio.tree.n_nodes == 1
        assert page.get_by_role("button", name="Undo").is_disabled()
        page.keyboard.press("g")
        steps(page, 1)
        assert studio.tree.depth == 1
        page.keyboard.press("s")
        steps(page, 2)
        assert "Node 1" in page.get_by_role("tabpanel", name="Arithmetic").inner_text()
        page.keyboard.press("l")
        steps(page, 3)
        page.get_by_role("button", name="Collapse").is_disabled()
        assert studio.tree[1].edit.locked
        page.keyboard.press("?")
        assert page.get_by_role("dialog", name="Keys").is_visible()
        page.keyboard.press("Escape")


def test_a_tree_is_grown_by_keys_alone(browser: Any, tmp_path: Path) -> None:
    with opened(browser, titanic(), "survived", tmp_path) as (page, studio):
        page.keyboard.press("g")
        steps(page, 1)
        deeper, after = ("ArrowDown", "ArrowRight") if page.get_by_label("Layout").input_value() == "down" else (
            "ArrowRight", "ArrowDown")  # fmt: skip
        page.keyboard.press(deeper)
        page.keyboard.press(after)
        page.wait_for_selector(".st-place [data-node='2'][aria-selected='true']")
        page.keyboard.press("g")
        steps(page, 2)
        assert studio.tree[1].is_leaf
        assert not studio.tree[2].is_leaf
        page.keyboard.press("Home")
        page.keyboard.press("e")
        page.get_by_label("Column to split on").focus()
        page.keyboard.type("years")
        page.locator(".st-curve").focus()
        page.keyboard.press("ArrowRight")
        page.get_by_role("button", name="Apply this split").press("Enter")
        steps(page, 3)
        assert studio.tree.root.split.column == "years"


def test_a_split_made_by_hand_stays_when_everything_grows(browser: Any, tmp_path: Path) -> None:
    with opened(browser, titanic(), "survived", tmp_path) as (page, studio):
        page.keyboard.press("2")
        steps(page, 1)
        column = studio.tree.root.split.column
        assert column != "sex"
        page.keyboard.press("A")
        steps(page, 2)
        assert (studio.tree.root.split.column, studio.tree.root.edit.split) == (column, True)
        page.keyboard.press("A")
        page.wait_for_selector(".st-alert .st-wrong >> text=grows none of the leaves below node 0")
        assert page.locator("#studio").get_attribute("data-steps") == "2"
        assert "grow the leaves below node 0" in tab(page, "Take away").inner_text()


def test_forbid_allow_and_set_a_prediction(browser: Any, tmp_path: Path) -> None:
    with opened(browser, titanic(), "survived", tmp_path) as (page, studio):
        page.get_by_role("button", name="Forbid sex here and below").click()
        steps(page, 1)
        page.wait_for_selector(".st-refused >> text=forbidden at node 0")
        page.keyboard.press("g")
        steps(page, 2)
        assert studio.tree.root.split.column != "sex"
        page.locator(".st-refused").get_by_role("button", name="allow again").click()
        steps(page, 3)
        page.keyboard.press("c")
        steps(page, 4)
        page.get_by_label("Prediction", exact=True).select_option(label="yes")
        page.get_by_role("button", name="Set", exact=True).click()
        steps(page, 5)
        assert studio.tree.root.prediction == "yes"
        assert "set by hand" in card(page, 0).locator(".tw-hand").get_attribute("title")


def test_a_cut_is_dragged_and_everything_follows(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(900), "buys", tmp_path) as (page, studio):
        page.get_by_role("button", name="Edit the split on fare").click()
        panel = page.get_by_role("tabpanel", name="Editor")
        panel.locator(".st-tried").wait_for()
        best = float(panel.get_by_label("Threshold", exact=True).input_value())
        assert "as good as the best" not in panel.locator(".st-tried").inner_text()  # another column is better
        curve = panel.get_by_role("slider")
        box = curve.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
        page.mouse.down()
        for share in (0.55, 0.6, 0.7):
            page.mouse.move(box["x"] + box["width"] * share, box["y"] + 60)
        page.mouse.up()
        moved = float(panel.get_by_label("Threshold", exact=True).input_value())
        assert moved != best
        page.wait_for_selector(f"[data-tried='{moved:g}']") if moved == round(moved) else page.wait_for_timeout(300)
        rows = [int(x.replace(",", "")) for x in panel.locator(".st-result td:nth-child(2)").all_inner_texts()]
        training = studio._session.snapshot.table.only_training()
        fares = training.columns[studio.tree.schema.names.index("fare")]
        assert rows == [int((fares <= moved).sum()), int((fares > moved).sum())]
        told = panel.locator(".st-tried").inner_text()
        assert "held-out accuracy" in told
        assert "less than" in told
        curve.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert float(panel.get_by_label("Threshold", exact=True).input_value()) > moved
        panel.get_by_label("Threshold", exact=True).fill("20")
        page.wait_for_selector("[data-tried='20']")
        panel.get_by_label("Where missing values go").select_option(label="to child 2")
        panel.get_by_role("button", name="Apply this split").click()
        steps(page, 1)
        split = studio.tree.root.split
        assert (split.column, split.threshold, split.missing) == ("fare", 20.0, 1)
        assert "by hand" in card(page, 0).get_attribute("aria-label")


def test_levels_move_between_groups_by_mouse_and_keys(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(900), "buys", tmp_path) as (page, studio):
        page.get_by_role("button", name="Edit the split on town").click()
        panel = page.get_by_role("tabpanel", name="Editor")
        panel.locator(".st-level").first.wait_for()
        panel.locator(".st-level", has_text="cork").drag_to(panel.get_by_role("list", name="Child 1"))
        assert "cork" in panel.get_by_role("list", name="Child 1").inner_text()
        panel.locator(".st-level", has_text="ulm").focus()
        page.keyboard.press("ArrowDown")
        assert "ulm" in panel.get_by_role("list", name="Child 3").inner_text()
        panel.get_by_role("button", name="Apply this split").click()
        steps(page, 1)
        assert studio.tree.root.split.groups == (("cork", "oslo"), ("rome",), ("ulm",))


def test_columns_rows_scatter_arithmetic_and_case(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(900), "buys", tmp_path) as (page, _studio):
        page.keyboard.press("g")
        steps(page, 1)
        columns = tab(page, "Columns")
        columns.locator("[data-column='age']").wait_for()
        assert "missing" in columns.locator("[data-column='age']").inner_text()
        rows = tab(page, "Rows")
        rows.locator("tbody tr").first.wait_for()
        assert rows.locator("tbody tr").count() == 50
        rows.get_by_role("button", name="fare").click()
        page.wait_for_selector("th[aria-sort='ascending']")
        rows.get_by_role("button", name="fare").click()
        page.wait_for_selector("th[aria-sort='descending']")
        fares = [float(x) for x in rows.locator("tbody td:nth-child(5)").all_inner_texts()]
        assert fares == sorted(fares, reverse=True)
        rows.get_by_role("button", name="Rows after").click()
        page.wait_for_selector("text=51 to 100 of 675")
        rows.get_by_label("held-out rows").check()
        page.wait_for_selector("text=1 to 50 of 225")
        scatter = tab(page, "Scatter")
        scatter.locator("circle").first.wait_for()
        assert scatter.locator(".st-boundary").count() == 1
        scatter.get_by_label("held-out mistakes").check()
        scatter.locator(".st-wrong-point").first.wait_for()
        assert "of all" in scatter.locator(".st-worst").inner_text()
        arithmetic = tab(page, "Arithmetic")
        arithmetic.locator("math").first.wait_for()
        arithmetic.get_by_label("Column to work out").select_option(label="best of town")
        arithmetic.locator("th, td", has_text="town").first.wait_for()
        arithmetic.get_by_role("button", name="Large").click()
        assert page.get_by_role("dialog", name="Arithmetic").is_visible()
        page.get_by_role("dialog", name="Arithmetic").get_by_role("button", name="Close").click()
        case = tab(page, "Case")
        case.locator(".tw-prediction").wait_for()
        case.get_by_label("age").fill("5")
        assert "Contributions" in case.inner_text()
        assert "What would change" in case.inner_text()
        assert card(page, 0).get_attribute("class").count("tw-lit") == 1
        tab(page, "Splits")
        page.wait_for_selector(".tw-card:not(.tw-lit)[data-node='0']")


def test_a_column_is_left_out_a_kind_changed_another_target_and_all_undone(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(900), "buys", tmp_path) as (page, studio):
        columns = tab(page, "Columns")
        columns.get_by_role("button", name="Leave out town").click()
        steps(page, 1)
        assert "town" not in studio.tree.schema.names
        columns.get_by_label("Kind of noise").select_option("nominal")
        steps(page, 2)
        assert studio.tree.schema.columns[2].kind == "nominal"
        columns.locator("summary").click()
        columns.get_by_label("Cost of predicting no for yes").fill("5")
        columns.get_by_label("Share held out").fill("0.5")
        columns.get_by_role("button", name="Begin anew with these").click()
        steps(page, 3)
        assert studio.tree.schema.target.costs == ((0.0, 1.0), (5.0, 0.0))
        assert studio._session.snapshot.table.held_out.n_rows == 450
        columns.get_by_label("Target").select_option("fare")
        columns.get_by_role("button", name="Begin anew with these").click()
        steps(page, 4)
        assert studio.tree.schema.target.task == "regression"
        assert "root mean squared error" in page.locator(".st-scores").inner_text()
        page.locator("body").press("u")
        steps(page, 3)
        assert studio.tree.schema.target.name == "buys"


def test_a_tree_is_pruned_by_the_price_of_a_leaf_and_by_a_rule(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(900), "buys", tmp_path) as (page, studio):
        page.keyboard.press("A")
        steps(page, 1)
        leaves = studio.tree.n_leaves
        page.keyboard.press("P")
        panel = page.get_by_role("tabpanel", name="Prune")
        slider = panel.get_by_role("slider")
        slider.wait_for()
        slider.press("End")
        assert "1 of" in panel.inner_text()
        assert page.locator(".st-place .st-going").count() > 0
        panel.get_by_role("button", name="Least held-out risk").click()
        panel.locator(".st-main-button").click()
        steps(page, 2)
        assert 1 < studio.tree.n_leaves < leaves
        edit = studio.log[-1]
        assert isinstance(edit, tw.edit.Prune)
        assert isinstance(edit.pruner, tw.pruning.CostComplexity)
        assert page.locator(".st-place .st-going").count() == 0
        cut = studio.tree.cuts[-1]
        page.evaluate("(node) => document.getElementById('studio').studio.app.select(node, false)", cut.node)
        page.wait_for_selector(f".st-node >> text=Node {cut.node}")
        assert "by hand: " in panel.inner_text()
        assert "nothing lies below it" in panel.inner_text()
        panel.get_by_role("button", name="Select the root").click()
        rule = panel.get_by_label("Rule")
        rule.select_option(label="max leaves")
        panel.get_by_label("Setting").fill("3")
        panel.get_by_role("button", name="Prune by it").click()
        steps(page, 3)
        assert studio.tree.n_leaves == 3
        panel.get_by_label("Rule").select_option(label="merge equal leaves")
        panel.get_by_role("button", name="Prune by it").click()
        page.wait_for_selector(".st-alert .st-wrong >> text=finds nothing to prune")
        inner = next(node.id for node in studio.tree.walk() if node.id and not node.is_leaf)
        card(page, inner).click()
        off = panel.get_by_role("option", name="cost complexity, cross-validated (of the whole tree)")
        off.wait_for(state="attached")
        assert off.is_disabled()
        said = tab(page, "Take away").inner_text()
        assert "prune below node 0 by the price of a leaf, alpha" in said
        assert "prune below node 0 by max leaves, leaves 3" in said


def test_the_tree_by_hand_is_cross_validated_beside_the_recipe(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(900), "buys", tmp_path) as (page, studio):
        page.keyboard.press("1")
        steps(page, 1)
        panel = tab(page, "Scores")
        assert "balanced accuracy" in panel.inner_text()
        panel.get_by_role("button", name="Cross-validate").click()
        panel.get_by_role("row", name="baseline").wait_for()
        panel.locator("tr >> text=CART").wait_for()
        rows = panel.locator(".st-validation tbody tr").all_inner_texts()
        assert [row.split("\t")[0] for row in rows] == ["your steps", "CART", "baseline"]
        mean = studio._session.cross_validated()["mean"]
        assert f"{100 * mean:.1f}\u00a0%" in rows[0]
        assert "Every step found its place" in panel.inner_text()
        page.keyboard.press("u")
        steps(page, 0)
        panel.locator(".st-validation table").wait_for(state="detached")


def test_two_trees_side_by_side_and_another_recipe(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(900), "buys", tmp_path) as (page, studio):
        page.keyboard.press("3")
        steps(page, 1)
        recipe = page.get_by_role("group", name="Recipe")
        for name, words in (("c45", "C4.5"), ("chaid", "CHAID"), ("cart", "CART")):
            recipe.get_by_label("algorithm").select_option(name)
            recipe.get_by_role("button", name="Compare").click()
            page.wait_for_selector(f".st-compared h2 >> text={words.replace('.', '')}")
            assert page.locator(".st-compared .st-differs").count() >= 1
            assert page.locator(".st-place .st-differs").count() >= 1
            assert "part at 1 node" in page.locator(".st-compared").inner_text()
        recipe.get_by_role("button", name="Grow by it").click()
        steps(page, 2)
        assert studio.tree.root.split.column == "age"
        page.get_by_role("button", name="Undo").click()
        steps(page, 1)
        page.get_by_role("button", name="Cross-validate").click()
        page.wait_for_selector("text=five folds")
        page.get_by_role("button", name="Close", exact=True).first.click()
        recipe.get_by_label("algorithm").select_option("c45")
        recipe.get_by_label("pruning").select_option("none")
        recipe.get_by_label("criterion").first.select_option("gini")
        recipe.get_by_role("button", name="Begin anew").click()
        steps(page, 2)
        assert type(studio.tree.recipe.criterion).__name__ == "Gini"
        page.wait_for_selector("text=by gini, best first")
        assert "gain" not in page.locator(".st-figure").first.inner_text()
        recipe.get_by_label("criterion").first.select_option("")
        recipe.get_by_role("button", name="Begin anew").click()
        steps(page, 3)
        page.locator(".st-figure", has_text=", gain ").first.wait_for()


def test_an_error_says_what_to_do_and_changes_nothing(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(), "buys", tmp_path) as (page, studio):
        columns = tab(page, "Columns")
        columns.get_by_label("Kind of town").select_option("numeric")
        page.wait_for_selector(".st-alert .st-wrong")
        assert "town" in page.locator(".st-alert").inner_text()
        assert studio._session.history.done == 1
        page.get_by_role("button", name="Close the message").click()
        assert page.locator(".st-alert").is_hidden()


def test_long_work_shows_its_progress_and_is_cancelled(browser: Any, tmp_path: Path) -> None:
    ended: list[str] = []

    def work(progress: Any) -> None:
        while True:
            progress(0.4)
            time.sleep(0.02)

    def job(studio: Studio) -> None:
        try:
            studio._session.jobs.run("Counting", work)
        except CancelledError as error:
            ended.append(str(error))

    with opened(browser, people(), "buys", tmp_path) as (page, studio):
        for way in ("button", "key"):
            thread = threading.Thread(target=job, args=(studio,))
            thread.start()
            page.wait_for_selector(".st-work >> text=Counting")
            assert page.get_by_role("progressbar", name="Counting").get_attribute("value") == "0.4"
            if way == "button":
                page.get_by_role("button", name="Cancel").click()
            else:
                page.keyboard.press("Escape")
            thread.join(10)
            page.wait_for_selector(".st-work", state="hidden")
        assert len(ended) == 2


def test_what_is_taken_away_is_the_tree(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(), "buys", tmp_path) as (page, studio):
        page.keyboard.press("1")
        steps(page, 1)
        panel = tab(page, "Take away")
        assert "split node 0 on" in panel.inner_text()
        with page.expect_download() as told:
            panel.get_by_role("link", name="Download the tree, as JSON").click()
        told.value.save_as(tmp_path / "downloaded.json")
        assert tw.load(tmp_path / "downloaded.json") == studio.tree
        panel.get_by_role("button", name="Save the log of edits, JSON lines into the folder").click()
        page.wait_for_selector("text=Saved as table-log.jsonl")
        assert len(tw.edit.read_log(tmp_path / "table-log.jsonl")) == 1


def test_closing_and_opening_again_goes_on(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(), "buys", tmp_path) as (page, studio):
        page.keyboard.press("1")
        steps(page, 1)
        tree = studio.tree
    with opened(browser, people(), "buys", tmp_path) as (page, studio):
        assert studio.tree == tree
        assert "Continued after 1 steps" in page.locator(".st-alert").inner_text()
        page.keyboard.press("u")
        steps(page, 0)


def test_two_pages_of_one_browser_show_the_same(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(), "buys", tmp_path) as (page, studio):
        other = page.context.new_page()
        other.goto(studio.url.split("?")[0])
        other.wait_for_selector("[data-apply]")
        other.keyboard.press("1")
        steps(other, 1)
        steps(page, 1)


def test_a_second_browser_without_the_token_sees_nothing(browser: Any, tmp_path: Path) -> None:
    with opened(browser, people(), "buys", tmp_path) as (_, studio):
        stranger = browser.new_context().new_page()
        answer = stranger.goto(studio.url.split("?")[0])
        assert answer.status == 403
        assert "Refused" in stranger.content()


def test_a_hostile_page_on_another_origin_is_refused(browser: Any, tmp_path: Path) -> None:
    """The same browser, with the cookie, on a page of another site that tries to change and to read."""
    import http.server

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>hostile</title>")

        def log_message(self, *_: Any) -> None:
            pass

    hostile = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=hostile.serve_forever, daemon=True).start()
    try:
        with opened(browser, people(), "buys", tmp_path) as (page, studio):
            own = studio.url.split("?")[0]
            evil = page.context.new_page()
            evil.goto(f"http://127.0.0.1:{hostile.server_port}/")
            told = evil.evaluate(
                """async (own) => {
                  const tries = [
                    () => fetch(own + "api/state", { credentials: "include" }),
                    () => fetch(own + "api/edit", { method: "POST", credentials: "include",
                      headers: { "Content-Type": "application/json" }, body: '{"edit":"Grow","node":0}' }),
                    () => fetch(own + "api/edit", { method: "POST", credentials: "include", mode: "no-cors",
                      headers: { "Content-Type": "text/plain" }, body: '{"edit":"Grow","node":0}' }),
                  ];
                  const seen = (answer) => (answer.type === "opaque" ? "opaque" : "read");
                  return Promise.all(tries.map((one) => one().then(seen, () => "refused")));
                }""",
                own,
            )
            assert told[:2] == ["refused", "refused"]
            assert told[2] in ("opaque", "refused")
            frame = evil.evaluate(
                """(own) => new Promise((done) => { const f = document.createElement("iframe"); f.src = own;
                  f.onload = () => { try { done(f.contentDocument ? "seen" : "hidden"); } catch { done("hidden"); } };
                  document.body.append(f); })""",
                own,
            )
            assert frame == "hidden"
            assert studio._session.history.done == 1
    finally:
        hostile.shutdown()
        hostile.server_close()


def test_names_and_levels_with_markup_do_nothing(browser: Any, tmp_path: Path) -> None:
    table = people()
    table[EVIL] = [EVIL + one if one == "oslo" else one for one in table.pop("town")]
    with opened(browser, table, "buys", tmp_path) as (page, _studio):
        page.get_by_role("button", name=f"Apply the split on {EVIL}").click()
        steps(page, 1)
        for name in ("Editor", "Columns", "Rows", "Scatter", "Arithmetic", "Case", "Take away", "Splits"):
            tab(page, name)
            page.wait_for_timeout(150)
        assert page.locator("img").count() == 0
        assert EVIL in page.locator("#studio").inner_text()


@pytest.mark.parametrize(("size", "scheme"), [((1440, 900), "light"), ((1024, 768), "dark")])
def test_nothing_is_cut_off(browser: Any, tmp_path: Path, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, people(), "buys", tmp_path, size=size, scheme=scheme) as (page, _):
        page.keyboard.press("1")
        steps(page, 1)
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1]
        for name in ("Editor", "Columns", "Scatter", "Arithmetic", "Take away"):
            panel = tab(page, name)
            page.wait_for_timeout(200)
            over = panel.evaluate("(e) => e.scrollWidth - e.clientWidth")
            assert over <= 1, name
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll("button, select, input, a[href]")].filter((e) =>
              e.checkVisibility() &&
              !(e.ariaLabel || e.textContent.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML)"""
        )
        assert unnamed == []


def test_a_numeric_target_has_its_page(browser: Any, tmp_path: Path) -> None:
    data = people(600)
    with opened(browser, data, "fare", tmp_path) as (page, studio):
        page.keyboard.press("G")
        steps(page, 1)
        assert studio.tree.n_leaves > 3
        for name in ("Editor", "Columns", "Rows", "Scatter", "Arithmetic", "Case"):
            tab(page, name)
            page.wait_for_timeout(150)


REAL = [
    ("titanic", "survived", "age", "embarked", "chaid"),
    ("adult", "income", "hours_per_week", "workclass", "c45"),
    ("diamonds", "price", "carat", "cut", "chaid"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "number", "levels", "other"), REAL)
def test_every_feature_on_real_tables(
    browser: Any, tmp_path: Path, name: str, target: str, number: str, levels: str, other: str
) -> None:
    path = SHARED / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"needs shared/data with {name} beside the repository")
    with opened(browser, str(path), target, tmp_path) as (page, studio):
        page.context.set_default_timeout(30_000)
        page.locator(".st-splits > li").first.get_by_role("button", name="Apply").click()
        steps(page, 1)
        card(page, 2).click()
        page.get_by_role("button", name="Grow a level").click()
        steps(page, 2)
        drag_a_cut(page, studio, number)
        page.locator("body").press("u")
        steps(page, 2)
        card(page, 1).click()
        move_a_level(page, levels)
        steps(page, 3)
        assert studio.tree[1].split.column == levels
        page.get_by_role("button", name="Lock").click()
        steps(page, 4)
        page.get_by_role("button", name="Undo").click()
        steps(page, 3)
        page.get_by_role("button", name="Redo").click()
        steps(page, 4)
        look_at_panels(page, number)
        compare(page, other)
        columns = tab(page, "Columns")
        columns.get_by_role("button", name=f"Leave out {number}", exact=True).click()
        steps(page, 5)
        assert number not in studio.tree.schema.names
        page.get_by_role("button", name="Undo").click()
        steps(page, 4)
        panel = tab(page, "Take away")
        with page.expect_download() as told:
            panel.get_by_role("link", name="Download the tree, as JSON").click()
        told.value.save_as(tmp_path / "downloaded.json")
        assert tw.load(tmp_path / "downloaded.json") == studio.tree


def drag_a_cut(page: Any, studio: Studio, column: str) -> None:
    """Drag the root's cut of a numeric column and apply it: the third step."""
    card(page, 0).click()
    page.keyboard.press("e")
    panel = page.get_by_role("tabpanel", name="Editor")
    panel.get_by_label("Column to split on").select_option(column)
    panel.locator(".st-tried").wait_for()
    curve = panel.get_by_role("slider")
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    page.mouse.up()
    moved = float(panel.get_by_label("Threshold", exact=True).input_value())
    panel.get_by_role("button", name="Apply this split").click()
    steps(page, 3)
    assert (studio.tree.root.split.column, studio.tree.root.split.threshold) == (column, moved)


def move_a_level(page: Any, column: str) -> None:
    """Move one level of the selected node's split to another child and apply it."""
    page.keyboard.press("e")
    panel = page.get_by_role("tabpanel", name="Editor")
    panel.get_by_label("Column to split on").select_option(column)
    panel.locator(".st-level").first.focus()
    page.keyboard.press("ArrowDown")
    panel.get_by_role("button", name="Apply this split").click()


def look_at_panels(page: Any, number: str) -> None:
    rows = tab(page, "Rows")
    rows.get_by_role("button", name=number, exact=True).click()
    page.wait_for_selector("th[aria-sort='ascending']")
    rows.get_by_label("held-out rows").check()
    scatter = tab(page, "Scatter")
    scatter.locator("circle").first.wait_for()
    scatter.get_by_label("held-out mistakes").check()
    scatter.locator(".st-worst").wait_for()
    tab(page, "Arithmetic").locator("math").first.wait_for()
    case = tab(page, "Case")
    case.locator(".tw-prediction").wait_for()
    assert "What would change" in case.inner_text()


def compare(page: Any, algorithm: str) -> None:
    recipe = page.get_by_role("group", name="Recipe")
    recipe.get_by_label("algorithm").select_option(algorithm)
    recipe.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".st-compared h2")
    page.get_by_role("button", name="Cross-validate").click()
    page.wait_for_selector("text=five folds")
    page.get_by_role("button", name="Close", exact=True).first.click()
