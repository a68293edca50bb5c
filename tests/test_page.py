"""The page, opened in a browser: every part is used as a person would, nothing is fetched, nothing escapes its text."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from handmade_trees import Question, fork, hours, leaf, tennis, tree
from test_page_route import KINDS, table, target

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.render import html
from treewright.reporting import html_page
from treewright.reporting.html_page import module, packed
from treewright.reporting.report import report

EVIL = "<script>alert(1)</script>"
TENNIS_ROWS = {
    "outlook": ["sunny", "sunny", "overcast", "rain", "rain", "rain"],
    "humidity": [70.0, 80.0, 75.0, 80.0, 77.0, 70.0],
    "windy": [True, False, False, False, True, True],
    "play": ["yes", "no", "yes", "yes", "no", "no"],
}


@contextmanager
def opened(browser: Any, text: str, folder: Path, **context: Any) -> Iterator[Any]:
    """The page in a browser; any error, message or request fails the test."""
    place = folder / "page.html"
    place.write_text(text, encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **context)
    context.set_default_timeout(8000)
    page = context.new_page()
    odd: list[str] = []
    page.on("console", lambda message: odd.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: odd.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (odd.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            odd.append(request.url) if request.url != place.as_uri() and not request.url.startswith("blob:") else None
        ),
    )
    try:
        page.goto(place.as_uri())
        page.wait_for_function("document.querySelector('[data-ready]')")
        yield page
    except Exception as error:
        raise AssertionError(f"{error}; the page said {odd}") from error
    finally:
        context.close()
    assert odd == []


@pytest.fixture(scope="module")
def grown() -> tuple[tw.Tree, dict[str, list[Any]], dict[str, list[Any]]]:
    rows, unseen = table(1, 300, gaps=0.1), table(2, 150, gaps=0.1)
    rows["y"], unseen["y"] = target(rows, "class"), target(unseen, "class")
    recipe = dataclasses.replace(tw.CART, pruning=None, missing=tw.missing.Fractional())
    return tw.learn(rows, "y", recipe, kinds=KINDS), rows, unseen


# --- the text ---------------------------------------------------------------------------------------------------------


def embedded(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="treewright-report">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    report_in_page: dict[str, Any] = json.loads(found[1])
    return report_in_page


def strange_tree() -> tw.Tree:
    schema = Schema(
        (
            ColumnSpec(EVIL, "nominal", ("</script><img src=x onerror=alert(2)>", "a\u2028b", "日本", "مرحبا")),
            ColumnSpec("{{title}} & 'quotes' \"", "numeric"),
        ),
        TargetSpec("</title><b>y", "classification", ("<!--", "-->", "no & yes")),
    )
    plan = fork(
        Question(0, (0, 0, 1, 1)),
        fork(Question(1, breaks=(0.5,)), leaf(5, 0, 1), leaf(0, 4, 0)),
        leaf(1, 1, 7),
        rivals=(Question(1, breaks=(1.5,)),),
    )
    return tree(plan, schema)


def test_no_name_becomes_markup() -> None:
    text = html(strange_tree(), title="</script><script>alert(4)</script>")
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<b>y" not in text
    assert "<img" not in text
    assert "\u2028" not in text
    assert embedded(text)["schema"]["columns"][0]["name"] == EVIL


def test_the_page_is_one_file_and_deterministic() -> None:
    text = html(tennis(), TENNIS_ROWS)
    assert text == html(tennis(), TENNIS_ROWS) == html(report(tennis(), TENNIS_ROWS))
    assert not re.search(
        r"""(src|href)\s*=\s*["']?(?!data:)\w|url\(|@import|\bimport\s*\(|\bfetch\s*\(|https?://(?!www\.w3\.org)""",
        text,
    )


def test_the_modules_are_joined_into_one() -> None:
    text = module()
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert re.findall(r"^export .*", text, re.MULTILINE) == [text.splitlines()[-1]]
    assert text.splitlines()[-1].startswith("export const { mount }")
    assert "</script" not in text
    folder = Path(html_page.__file__).parent / "page"
    joined = [path for path in folder.rglob("*.js") if path.read_text(encoding="utf-8").splitlines()[0] in text]
    assert joined == list(folder.rglob("*.js"))


def test_large_parts_are_packed_and_the_report_stays_as_it_is() -> None:
    import base64
    import zlib

    report_in_page = report(many_leaves(4000))
    small = packed(report_in_page)
    assert isinstance(report_in_page["details"], list)
    chunks = [json.loads(zlib.decompress(base64.b64decode(chunk))) for chunk in small["nodes"]["packed"]]
    assert chunks == [[report_in_page["nodes"]]]
    assert len(html(report_in_page)) < 1_000_000


def many_leaves(n: int) -> tw.Tree:
    def grow(low: int, high: int) -> Any:
        if high - low == 1:
            return leaf(low % 3, 5)
        middle = (low + high) // 2
        return fork(Question(1, breaks=(middle - 0.5,)), grow(low, middle), grow(middle, high))

    return tree(grow(0, n))


def test_a_tree_too_deep_for_rules_has_a_page() -> None:
    plan = leaf(1, 2)
    for depth in range(1100):
        plan = fork(Question(1, breaks=(float(-depth),)), plan, leaf(2, 1))
    assert embedded(html(tree(plan)))["rules"] is None


def test_data_belongs_to_the_report() -> None:
    with pytest.raises(TypeError, match="a report holds all there is to show"):
        html(report(tennis()), TENNIS_ROWS)
    with pytest.raises(TypeError, match="expected a Tree"):
        html("tree")
    with pytest.raises(tw.DataError, match="the target 'play' is not a column"):
        html(tennis(), {name: values for name, values in TENNIS_ROWS.items() if name != "play"})


# --- in the browser ---------------------------------------------------------------------------------------------------


def test_what_one_sees_first(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(tennis(), TENNIS_ROWS, held_out=TENNIS_ROWS), tmp_path) as page:
        line = page.inner_text(".tw-line")
        for part in ("play", "C45", "14 rows", "5 leaves", "held-out accuracy 100.0", "baseline 50.0"):
            assert part in line, line
        assert page.locator(".tw-card").count() == 8
        assert page.locator(".tw-leaf").count() == 5
        assert page.locator(".tw-toggle:visible").count() >= 0
        assert page.inner_text(".tw-node-head").split("\n\n")[1:] == ["outlook", "prediction: yes"]
        assert "Rows of each branch" in page.wait_for_selector(".tw-derivation").inner_text()
        page.click('.tw-card[data-node="2"]')
        report_in_page = page.inner_text(".tw-inspector")
        assert "outlook = sunny" in report_in_page
        assert "humidity <= 77.5" in report_in_page
        page.click("text=Copy rule")
        page.wait_for_selector("text=Copied")
        page.hover('.tw-card[data-node="4"]')
        page.wait_for_selector(".tw-hint:visible")
        assert "outlook = overcast" in page.inner_text(".tw-hint")


def test_expand_collapse_and_keys(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(many_leaves(64)), tmp_path) as page:
        assert "collapsed" in page.inner_text(".tw-badge")
        before = page.locator(".tw-card").count()
        page.click("text=Expand all")
        assert page.locator(".tw-badge").is_hidden()
        page.click("text=Reset")
        assert page.locator(".tw-card").count() == before
        page.focus('.tw-card[tabindex="0"]')
        page.keyboard.press("Enter")  # the root, collapsed
        assert page.locator(".tw-card").count() == 1
        assert page.get_attribute('.tw-card[data-node="0"]', "aria-expanded") == "false"
        page.keyboard.press("Enter")
        page.keyboard.press("Home")
        deeper = "ArrowDown" if page.get_attribute(".tw-viewport", "data-orientation") == "down" else "ArrowRight"
        for _ in range(6):
            page.keyboard.press(deeper)
        assert page.evaluate("Number(document.activeElement.dataset.node)") == 6  # the leftmost leaf
        assert page.get_attribute('.tw-card[data-node="6"]', "aria-selected") == "true"
        page.keyboard.press("0")
        page.keyboard.press("+")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.className") == "tw-search"


def test_every_layout(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(tennis(), TENNIS_ROWS), tmp_path) as page:
        page.click("text=Histograms")  # without them all cards of an outline are in view
        for layout in ("down", "outline", "right"):
            page.select_option(".tw-layouts", layout)
            assert page.locator(".tw-card").count() == 8
            boxes = [card.bounding_box() for card in page.locator(".tw-face").all()]
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
                    assert apart or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]
        page.select_option(".tw-layouts", "map")
        assert "outlook" in page.locator(".tw-map-text").all_text_contents()
        page.mouse.click(*middle(page.locator(".tw-map-text", has_text="overcast: yes")))
        assert "outlook = overcast" in page.inner_text(".tw-inspector")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(
            "outlook = overcast: predicts yes"
        )


def middle(locator: Any) -> tuple[float, float]:
    locator.wait_for()  # until it is drawn
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_search(browser: Any, tmp_path: Path) -> None:
    levels = tuple(f"level {i:02d}" for i in range(30))
    schema = Schema((ColumnSpec("place", "nominal", levels),), TargetSpec("y", "classification", ("no", "yes")))
    t = tree(fork(Question(0, tuple(int(i > 20) for i in range(30))), leaf(3, 1), leaf(1, 3)), schema)
    with opened(browser, html(t), tmp_path) as page:
        page.fill(".tw-search", "level 19")  # beyond what a card shows of the list
        assert page.inner_text(".tw-found") == "1 found"
        page.keyboard.press("Enter")
        assert page.inner_text(".tw-found") == "1 of 1"
        assert "Node 1" in page.inner_text(".tw-node-head")
        page.fill(".tw-search", "2")
        page.keyboard.press("Enter")
        assert "Node 2" in page.inner_text(".tw-node-head")
        page.fill(".tw-search", "nowhere")
        assert page.inner_text(".tw-found") == "nothing found"


def test_a_case_is_predicted_as_predict_does(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, unseen = grown
    names = t.schema.names
    with opened(browser, html(t, rows), tmp_path) as page:
        page.click('role=tab[name="Case"]')
        rng = random.Random(3)
        for row in rng.sample(range(len(unseen["y"])), 5):
            values = {name: unseen[name][row] for name in names}
            for i, spec in enumerate(t.schema.columns):
                if not page.locator(f"#tw0-field-{i}").count():
                    continue
                value = values[spec.name]
                if spec.levels is not None:
                    page.select_option(f"#tw0-field-{i}", "" if value is None else str(spec.levels.index(value)))
                else:
                    page.fill(f"#tw0-field-{i}", "" if value is None else str(value))
            one = {name: [value] for name, value in values.items()}
            one = {
                name: column if column[0] is not None else [None, unseen_example(unseen[name])]
                for name, column in one.items()
            }
            two = {name: column * 2 if len(column) == 1 else column for name, column in one.items()}
            assert page.inner_text(".tw-prediction") == tw.predict(t, two)[0]
            best = tw.predict_proba(t, two)[0].max()
            shown = page.inner_text(".tw-chances li:first-child .tw-chance-value")
            assert shown.replace("\u00a0", " ") in (f"{100 * best:.1f} %", f">{99.9} %")
        assert page.locator(".tw-lit").count() >= 2
        page.click('role=tab[name="Node"]')
        assert page.locator(".tw-lit").count() == 0


def unseen_example(values: list[Any]) -> Any:
    return next(value for value in values if value is not None)


def test_the_slider_shows_the_pruned_tree(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, unseen = grown
    path = report(t)["pruning"]
    with opened(browser, html(t, rows, held_out=unseen), tmp_path) as page:
        page.click('role=tab[name="Pruning"]')
        last = len(path["alpha"]) - 1
        for step in (last, last - 1, last - 2, last // 2):
            page.fill("#tw0-alpha", str(step))
            assert f"{path['leaves'][step]} of {t.n_leaves}" in page.inner_text(".tw-pruning .tw-facts")
            if path["leaves"][step] <= 5:
                assert page.locator(".tw-leaf").count() == path["leaves"][step]
                small = tw.prune(t, tw.pruning.CostComplexity(max(path["alpha"][step], 0.0)))
                assert small.n_leaves == path["leaves"][step]
        page.click("text=Whole tree")
        assert "pruned" not in page.inner_text(".tw-badge")


def facts_shown(page: Any) -> str:
    """What every part of the page says about the size and the score of its tree."""
    return str(page.inner_text(".tw-line"))


def test_every_part_of_the_page_shows_the_pruned_tree(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, unseen = grown
    path = report(t)["pruning"]
    step = next(i for i, leaves in enumerate(path["leaves"]) if leaves <= 5)
    small = tw.prune(t, tw.pruning.CostComplexity(path["alpha"][step]))
    assert 1 < small.n_leaves < t.n_leaves
    right = sum(a == b for a, b in zip(tw.predict(small, unseen), unseen["y"], strict=True)) / len(unseen["y"])
    with opened(browser, html(t, rows, held_out=unseen), tmp_path) as page:
        page.click('role=tab[name="Case"]')
        page.click('role=tab[name="Pruning"]')
        page.fill("#tw0-alpha", str(step))
        page.wait_for_function(f"document.querySelector('.tw-line').innerText.includes('{small.n_leaves} leaves')")
        line = facts_shown(page)
        assert f"{small.n_leaves} leaves, depth {small.depth}, pruned from {t.n_leaves} leaves" in line
        assert f"held-out accuracy {100 * right:.1f}\u00a0%" in line
        page.click('role=tab[name="Rules"]')
        assert f"{small.n_leaves} rules" in page.inner_text(".tw-page:visible")
        expected = {(" and ".join(rule.conditions), rule.prediction) for rule in tw.rules(small)}
        shown = page.locator(".tw-rules tbody tr").all()
        assert {tuple(row.locator("td.tw-text").all_inner_texts()) for row in shown} == expected
        page.click('role=tab[name="Importance"]')
        columns = page.locator(".tw-section:visible").first.locator("th").all_inner_texts()
        found = tw.importance(small)
        assert columns == [name for name, value in zip(found.columns, found.values, strict=True) if value]
        page.click('role=tab[name="Score"]')
        assert f"{100 * right:.1f}\u00a0%" in page.inner_text(".tw-page:visible")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".tw-paper tbody tr").count() == small.n_leaves
        page.emulate_media(media="screen")
        page.click('role=tab[name="Tree"]')
        page.click("text=Whole tree")
        page.wait_for_function(f"document.querySelector('.tw-line').innerText.includes('{t.n_leaves} leaves')")
        assert "pruned" not in facts_shown(page)
        page.click('role=tab[name="Rules"]')
        assert f"{t.n_leaves} rules" in page.inner_text(".tw-page:visible")


def test_scores_of_pruned_trees_are_those_of_the_trees_themselves(grown: Any) -> None:
    t, rows, unseen = grown
    made = report(t, rows, held_out=unseen)
    assert len(made["pruned"]) == len(made["pruning"]["alpha"]) - 1
    assert all(made["pruned"][-40:])
    assert sum(report_in_page is not None for report_in_page in made["pruned"]) <= 102
    for alpha, report_in_page in zip(made["pruning"]["alpha"][1:], made["pruned"], strict=True):
        if report_in_page is None:
            continue
        small = tw.prune(t, tw.pruning.CostComplexity(alpha))
        for data, name in ((rows, "training"), (unseen, "held_out")):
            right = sum(a == b for a, b in zip(tw.predict(small, data), data["y"], strict=True))
            assert report_in_page["scores"][name]["headline"]["value"] == right / len(data["y"])


def test_rows_keep_their_numbers_in_the_users_table(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, _ = grown
    numbers = [3 * i + 7 for i in range(len(rows["y"]))]
    made = report(t, rows, row_numbers=numbers)
    assert set(made["rows"]["row"]) <= set(numbers)
    assert made["rows"]["row"] == [3 * i + 7 for i in report(t, rows)["rows"]["row"]]
    with pytest.raises(tw.DataError, match="give one for each row"):
        report(t, rows, row_numbers=[1, 2])
    with opened(browser, html(made), tmp_path) as page:
        page.click('role=tab[name="Case"]')
        assert page.inner_text(".tw-picked") == f"Row {made['rows']['row'][0]:,} of the table"


def test_rules_importance_score(browser: Any, tmp_path: Path, grown: Any) -> None:
    t, rows, unseen = grown
    with opened(browser, html(t, rows, held_out=unseen), tmp_path) as page:
        page.click('role=tab[name="Rules"]')
        page.wait_for_selector(".tw-rules tbody tr")
        assert f"{t.n_leaves} rules" in page.inner_text(".tw-page:visible")
        page.fill(".tw-filters input[type=search]", "no such text")
        assert page.locator(".tw-rules tbody tr").count() == 0
        page.fill(".tw-filters input[type=search]", "")
        page.select_option(".tw-filters select", "1")
        predictions = page.locator(".tw-rules .tw-then").all_inner_texts()
        assert predictions
        assert set(predictions) == {"class 1"}
        page.click('role=tab[name="Importance"]')
        assert page.locator(".tw-importance").count() >= 2
        page.click('role=tab[name="Score"]')
        report_in_page = page.inner_text(".tw-page:visible")
        right = sum(a == b for a, b in zip(tw.predict(t, unseen), unseen["y"], strict=True)) / len(unseen["y"])
        assert f"{100 * right:.1f}\u00a0%" in report_in_page
        assert page.locator(".tw-confusion").count() == 2


def test_numbers(browser: Any, tmp_path: Path) -> None:
    rows = table(5, 200)
    rows["y"] = target(rows, "number")
    t = tw.learn(rows, "y", dataclasses.replace(tw.CART, pruning=None), kinds=KINDS)
    with opened(browser, html(t, rows, held_out=rows), tmp_path) as page:
        assert "root mean squared error" in page.inner_text(".tw-line")
        page.click('role=tab[name="Score"]')
        assert page.locator(".tw-residuals rect").count() == 50
    with opened(browser, html(hours()), tmp_path) as page:
        assert page.locator(".tw-scale").count() >= 3


def test_names_stay_text_in_the_page(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(strange_tree(), title=EVIL), tmp_path) as page:
        assert page.inner_text("h1") == EVIL
        assert EVIL in page.inner_text('.tw-card[data-node="0"]')
        for name in ("Case", "Pruning", "Node", "Rules", "Importance", "Score"):
            page.click(f'role=tab[name="{name}"]')
        assert page.locator("main img, main script").count() == 0


def test_dark_light_and_paper(browser: Any, tmp_path: Path) -> None:
    ground = "getComputedStyle(document.querySelector('.treewright')).backgroundColor"
    with opened(browser, html(tennis()), tmp_path, color_scheme="dark") as page:
        dark = page.evaluate(ground)
        page.click(".tw-theme")
        light = page.evaluate(ground)
        assert brightness(dark) < 120
        assert brightness(light) > 600
        assert page.locator(".tw-paper").is_hidden()
        page.emulate_media(media="print")
        page.wait_for_selector(".tw-printed-tree")
        assert page.locator(".tw-paper .tw-card").count() == 8
        assert page.locator(".tw-hero").is_hidden()


def brightness(colour: str) -> int:
    return sum(int(part) for part in re.findall(r"\d+", colour))


def test_a_very_large_tree_is_collapsed_and_says_so(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(many_leaves(10_000)), tmp_path) as page:
        assert "of 19,999 nodes shown" in page.inner_text(".tw-badge")
        assert page.locator(".tw-card").count() <= 60
        page.click("text=Expand all")
        assert page.evaluate("document.querySelectorAll('*').length") < 5000
        page.fill(".tw-search", "19998")
        page.keyboard.press("Enter")
        assert "Node 19998" in page.inner_text(".tw-node-head")


def test_a_single_leaf_and_a_wide_split(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(tree(leaf(5, 9))), tmp_path) as page:
        assert page.locator(".tw-card").count() == 1
        for name in ("Case", "Pruning", "Rules", "Importance", "Score"):
            page.click(f'role=tab[name="{name}"]')
    schema = Schema((ColumnSpec("id", "nominal", tuple(range(300))),), tennis().schema.target)
    wide = tree(fork(Question(0, tuple(range(300))), *[leaf(i % 2, 1) for i in range(300)]), schema)
    with opened(browser, html(wide), tmp_path) as page:
        assert page.locator(".tw-card").count() >= 1


def test_two_trees_in_one_document(browser: Any, tmp_path: Path) -> None:
    with opened(browser, html(tennis(), TENNIS_ROWS), tmp_path) as page:
        page.evaluate(
            """async ([source, told]) => {
                const { mount } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
                const element = document.body.appendChild(document.createElement("div"));
                await mount(element, told, { title: "another" });
            }""",
            [module(), report(hours())],
        )
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
        assert len(set(ids)) == len(ids)
        assert page.locator("h1").all_inner_texts() == ["Decision tree for play", "another"]
