"""The growing tree: nodes keep their places, every step shows the tree grown so far, and the page works by itself."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import treewright as tw
from treewright.lessons.tables import GOLF, TENNIS, TITANIC

SVG = "{http://www.w3.org/2000/svg}"
TREES = {
    "classes": tw.learn(TENNIS, "Play", tw.ID3),
    "merged": tw.learn(TITANIC, "Survived", tw.CHAID),
    "numbers": tw.learn(GOLF, "Hours", tw.CART.with_(pruning=None)),
}


def nodes(frame: str) -> dict[int, tuple[str, list[str]]]:
    """The drawn nodes: where each stands and what its card says."""
    groups = [group for group in ET.fromstring(frame).iter(f"{SVG}g") if "data-node" in group.attrib]
    return {
        int(group.attrib["data-node"]): (
            group.attrib["transform"],
            [text.text or "" for text in group.iter(f"{SVG}text")],
        )
        for group in groups
    }


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("direction", ["down", "right"])
def test_a_step_shows_the_tree_to_its_level_and_nothing_moves(name: str, direction: Any) -> None:
    tree = TREES[name]
    frames = tw.render.growth(tree, direction=direction).frames
    assert len(frames) == tree.depth + 1
    places = {i: place for i, (place, _) in nodes(tw.render.svg(tree, direction=direction)).items()}
    sizes = {re.search(r'width="\d+" height="\d+"', frame)[0] for frame in frames}
    assert len(sizes) == 1
    for level, frame in enumerate(frames):
        drawn = nodes(frame)
        assert {node.id for node in tree.walk() if node.depth <= level} == set(drawn)
        for i, (place, texts) in drawn.items():
            assert place == places[i]
            split = tree[i].split
            shown = split.column if split is not None and tree[i].depth < level else None
            assert (texts[0] == shown) or (shown is None and texts[0] != getattr(split, "column", None))


def test_split_by_split_opens_one_node_at_a_time() -> None:
    tree = TREES["numbers"]
    grown = tw.render.growth(tree, by="split")
    inner = [node for node in tree.walk() if not node.is_leaf]
    assert len(grown) == len(inner) + 1
    for before, after in zip(grown.frames[:-1], grown.frames[1:], strict=True):
        assert len(nodes(after)) - len(nodes(before)) == 2
    with pytest.raises(ValueError, match="by must be"):
        tw.render.growth(tree, by="leaf")


@pytest.mark.parametrize("name", ["classes", "merged"])
def test_captions_state_the_accuracy_of_the_tree_so_far(name: str) -> None:
    tree, data = TREES[name], {"classes": TENNIS, "merged": TITANIC}[name]
    truth = data[tree.schema.target.name]
    for level, caption in enumerate(tw.render.growth(tree).captions):
        so_far = tw.prune(tree, tw.pruning.MaxDepth(level))
        good = sum(a == b for a, b in zip(tw.predict(so_far, data).tolist(), truth, strict=True))
        accuracy = re.search(r"Training accuracy (\d+) %", caption)
        assert accuracy is not None
        assert int(accuracy[1]) == round(100 * good / len(truth))


def test_the_caption_of_numbers_states_the_error_of_the_tree_so_far() -> None:
    tree = TREES["numbers"]
    for level, caption in enumerate(tw.render.growth(tree).captions):
        so_far = tw.predict(tw.prune(tree, tw.pruning.MaxDepth(level)), GOLF)
        error = (sum((a - b) ** 2 for a, b in zip(so_far, GOLF["Hours"], strict=True)) / len(so_far)) ** 0.5
        assert float(re.search(r"RMSE (\S+)\.$", caption)[1]) == pytest.approx(error, abs=1e-3)


def test_a_test_is_captioned_by_its_p_value() -> None:
    assert re.search(r"split on Sex \(2,201 rows, p = 2\.30\d*e-101\)", tw.render.growth(TREES["merged"]).captions[1])


def test_large_and_small_trees_and_estimators() -> None:
    assert len(tw.render.growth(tw.learn({"x": [1, 1], "y": ["a", "b"]}, "y")).frames) == 1
    folded = tw.render.growth(TREES["numbers"], max_nodes=5)
    assert "drawn" in folded.captions[-1]
    assert "folded" in folded.frames[-1]
    fitted = tw.CARTClassifier().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    assert repr(tw.render.growth(fitted)).startswith("<Growth: ")


def test_names_cannot_leave_their_place() -> None:
    nasty = "</script><script>alert(1)</script>"
    table = {nasty: [nasty, "b", nasty, "b"], "y": ["<b>", "x", "<b>", "x"]}
    grown = tw.render.growth(tw.learn(table, "y", tw.CART.with_(pruning=None)))
    page = grown.page(nasty)
    assert page.count("<script") == 2
    assert "alert(1)</script>" not in page
    ET.fromstring(grown.animation())
    assert "&lt;/script&gt;" in grown._repr_html_().replace("&amp;", "&")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_page_in_a_browser(browser: Any, tmp_path: Path, width: int) -> None:
    path = tmp_path / "growth.html"
    path.write_text(tw.render.growth(TREES["classes"]).page(), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())

    def visible() -> int:
        script = "[...document.querySelectorAll('[data-node]')].filter(g => g.style.visibility === 'visible').length"
        return int(page.evaluate(script))

    tree = TREES["classes"]
    counts = [sum(node.depth <= level for node in tree.walk()) for level in range(tree.depth + 1)]
    assert visible() == counts[0]
    page.keyboard.press("ArrowRight")
    assert visible() == counts[1]
    assert page.inner_text("#caption").startswith("Level 1 of 4: split on Outlook")
    page.click("#next")
    page.click("#next")
    page.click("#back")
    assert visible() == counts[2]
    page.keyboard.press("End")
    assert visible() == counts[-1]
    assert page.is_disabled("#next")
    page.click("#first")
    page.click("#play")
    assert visible() == counts[1]
    assert page.inner_text("#play") == "Pause"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    root = page.locator('[data-node="0"]:visible').first.bounding_box()
    assert root["x"] >= 0
    assert root["x"] + root["width"] <= width
    assert messages == []
    assert requests == [path.as_uri()]
    page.close()


@pytest.mark.parametrize("size", [(1440, 900), (1024, 600), (390, 844)])
def test_a_step_shows_what_is_new_without_scrolling(browser: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    """On a projector nobody scrolls: the lowest of the new nodes is in view, and some new node in all its width."""
    path = tmp_path / "growth.html"
    path.write_text(tw.render.growth(TREES["classes"]).page(), encoding="utf-8")
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(path.as_uri())
    script = """() => {
      const view = document.querySelector(".picture").getBoundingClientRect();
      const at = document.getElementById("slider").value;
      const boxes = [...document.querySelectorAll("[data-node]")]
        .filter((g) => g.dataset.from === at).map((g) => g.getBoundingClientRect());
      return [Math.max(...boxes.map((b) => b.bottom)) - view.bottom,
        boxes.some((b) => b.left >= view.left && b.right <= view.right)];
    }"""
    for _ in range(TREES["classes"].depth):
        page.keyboard.press("ArrowRight")
        below, wide = page.evaluate(script)
        assert below <= 0
        assert wide
    page.close()
