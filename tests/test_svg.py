"""The svg picture: well-formed for any names, nothing overlaps, nothing is cut off, and what is folded is said."""

from __future__ import annotations

import html
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from handmade_trees import HOURS, TENNIS, Plan, Question, fork, hours, leaf, random_tree, tennis, tree
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.grid import cells
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.inspection.histograms import histograms
from treewright.render import svg
from treewright.render.colours import class_colours, mix, scale, strength, terminal_code
from treewright.render.picture.bars import paint_of
from treewright.render.picture.folding import fold
from treewright.render.picture.picture import picture
from treewright.render.picture.shapes import Box, Group, Picture, Words
from treewright.render.text_width import fit_cells, fit_pixels, pixels

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parsed(drawn: str) -> ET.Element:
    return ET.fromstring(drawn)


def texts(root: ET.Element, tag: str = "text") -> list[str]:
    return [element.text or "" for element in root.iter(NAMESPACE + tag)]


def node_ids(root: ET.Element) -> list[int]:
    return [int(g.attrib["data-node"]) for g in root.iter(NAMESPACE + "g") if "data-node" in g.attrib]


# --- what it shows ---


def test_tennis() -> None:
    root = parsed(svg(tennis()))
    assert root.attrib["role"] == "img"
    shown = texts(root)
    assert shown[0] == "C45 tree for play: 14 rows, 5 leaves, depth 2"
    for wanted in (
        "outlook",
        "sunny",
        "overcast",
        "rain",
        "humidity",
        "≤ 77.5",
        "> 77.5",
        "False",
        "True",
        "4 rows · 100 %",
    ):
        assert wanted in shown
    assert "14 rows · yes: 64 %" in shown
    assert node_ids(root) == list(range(8))
    titles, details = texts(root, "title"), texts(root, "desc")
    assert "node 3: predicts no (3 rows, 100 %)" in titles
    assert any(
        detail.startswith("when outlook = sunny and humidity > 77.5; no 100 %; a leaf: pure") for detail in details
    )


def test_numbers() -> None:
    root = parsed(svg(hours()))
    shown = texts(root)
    assert "44.25" in shown
    assert "9 rows · ± 4.836" in shown
    assert "14 rows · 39.16 ± 7.883" in shown
    assert "bars: mean ± standard deviation" in shown


def test_nothing_from_outside() -> None:
    drawn = svg(random_tree(3))
    assert not re.search(r"<script|href|url\(|@import|<image|<foreignObject|onload", drawn)
    assert drawn.count("http") == 1  # the name space
    assert "prefers-color-scheme: dark" in drawn


def test_the_same_tree_gives_the_same_picture() -> None:
    assert svg(random_tree(5)) == svg(random_tree(5))


def test_a_single_leaf() -> None:
    assert node_ids(parsed(svg(tree(leaf(5, 9))))) == [0]
    assert node_ids(parsed(svg(tree(leaf(0.0, 0.0, 0.0, rows=0), HOURS)))) == [0]


def test_missing_values_are_on_the_edge_they_take() -> None:
    plan = fork(Question(1, breaks=(77.5,), missing=0, share=(0.6, 0.4)), leaf(2, 6), leaf(4, 2))
    assert "missing" in texts(parsed(svg(tree(plan, recipe=tw.CART))))
    alone = fork(Question(1, (0, 1), (77.5,), missing=2), leaf(2, 6), leaf(4, 2), leaf(0, 3))
    assert texts(parsed(svg(tree(alone, recipe=tw.CHAID)))).count("missing") == 1


def test_histograms_show_the_cut() -> None:
    rows = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": ["a", "a", "a", "b", "b", "b"]}
    small = tw.learn(rows, "y", tw.CART)
    plain, drawn = parsed(svg(small)), parsed(svg(small, histograms=histograms(small, rows)))
    assert {"1", "6"} <= set(texts(drawn)) - set(texts(plain))

    def upright(root: ET.Element) -> int:
        lines = [line for line in root.iter(NAMESPACE + "line") if line.attrib.get("class") == "s-ink"]
        return sum(line.attrib["x1"] == line.attrib["x2"] for line in lines)

    assert (upright(plain), upright(drawn)) == (0, 1)


# --- names of any kind ---

ODD = [
    "<script>alert(1)</script>",
    "]]>",
    "</svg>",
    "a&b;",
    '"',
    "'",
    "\x00\x1b[31m",
    "\ud800",
    "\ufffe",
    "a\nb",
    "",
    " ",
]
NAMES = st.one_of(
    st.text(max_size=12), st.sampled_from(ODD), st.text(st.characters(categories=["Cs", "Cc", "Co", "Lo"]))
)


def named(name: str, levels: list[str], classes: list[str]) -> tw.Tree:
    schema = Schema((ColumnSpec(name, "nominal", tuple(levels)),), TargetSpec(name, "classification", tuple(classes)))
    question = Question(0, tuple(i % 2 for i in range(len(levels))))
    stats = [tuple(float(i + k) for i in range(len(classes))) for k in range(2)]
    return tree(fork(question, *(leaf(*one, rows=9) for one in stats)), schema, tw.CART)


@given(
    NAMES, st.lists(NAMES, min_size=2, max_size=5, unique=True), st.lists(NAMES, min_size=1, max_size=5, unique=True)
)
@settings(deadline=None, max_examples=50)
def test_any_name_gives_well_formed_xml(name: str, levels: list[str], classes: list[str]) -> None:
    made = named(name, levels, classes)
    drawn = svg(made)
    root = parsed(drawn)
    assert len(node_ids(root)) == 3
    drawn.encode("utf-8")
    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "g", "text", "line", "path",
    }  # fmt: skip
    made._repr_html_().encode("utf-8")


def test_html_is_escaped_in_the_notebook() -> None:
    shown = named("<img src=x onerror=alert(1)>", ["<b>", "</div>"], ["<i>", "&"])._repr_html_()
    assert "<img" not in shown
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert html.escape("<img src=x onerror=alert(1)>") in shown
    assert shown.startswith("<div")
    assert "splits on 1 of 1 column: " in shown


def test_long_names_are_shortened_and_reported_in_full() -> None:
    name, level = "a column with a name as long as a sentence " * 3, "a level that does not end " * 5
    root = parsed(svg(named(name, [level, "b"], ["no " * 40, "yes"])))
    assert max(map(len, texts(root))) < 100
    assert any(name.strip() in title for title in texts(root, "title"))
    assert any(level.strip() in detail for detail in texts(root, "desc"))


def test_right_to_left_names_are_set_apart() -> None:
    name = "الطقس"
    root = parsed(svg(named(name, ["حار", "بارد"], ["a", "b"])))
    assert f"\u2066{name}\u2069" in texts(root)


# --- room ---


def absolute(drawn: Picture) -> list[tuple[Group, Box | Words]]:
    return [(group, shape) for group in drawn.groups for shape in group.shapes if isinstance(shape, (Box, Words))]


def card_box(group: Group) -> tuple[float, float, float, float]:
    """The outline of a node's shapes: card and chips."""
    boxes = [shape for shape in group.shapes if isinstance(shape, Box)]
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.width for box in boxes), max(box.y + box.height for box in boxes)
    return group.x + left, group.y + top, group.x + right, group.y + bottom


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("seed", range(12))
def test_nothing_overlaps_and_nothing_is_cut_off(seed: int, direction: str) -> None:
    drawn = picture(random_tree(seed, depth=5), 60, None, None, direction)
    boxes = [card_box(group) for group in drawn.groups if group.node is not None]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert top >= 0
        assert right <= drawn.width + 1e-6
        assert bottom <= drawn.height + 1e-6
        for other_left, other_top, other_right, other_bottom in boxes[:i]:
            apart = right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top
            assert apart


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("seed", range(12))
def test_words_stay_in_their_card(seed: int, direction: str) -> None:
    drawn = picture(random_tree(seed, depth=4), 40, None, None, direction)
    for group, shape in absolute(drawn):
        if isinstance(shape, Words):
            wide = pixels(shape.text, shape.size, shape.bold)
            start = shape.x - {"start": 0.0, "middle": wide / 2, "end": wide}[shape.anchor]
            assert group.x + start >= -1
            assert group.x + start + wide <= drawn.width + 1


def test_a_direction_that_is_none() -> None:
    with pytest.raises(ValueError, match="direction"):
        svg(tennis(), direction="up")


# --- large trees ---


def chain(depth: int) -> tw.Tree:
    plan: Plan = leaf(1, 2)
    for i in range(depth):
        plan = fork(Question(1, breaks=(float(i),)), leaf(1, 0), plan)
    return tree(plan)


def test_a_large_tree_is_folded_and_says_so() -> None:
    rng = np.random.default_rng(1)
    columns = {f"x{i}": rng.normal(size=30_000) for i in range(4)}
    large = tw.learn({**columns, "y": rng.choice(["p", "q"], 30_000)}, "y", replace(tw.CART, pruning=None))
    assert large.n_leaves > 6000
    root = parsed(svg(large, max_nodes=41))
    drawn = node_ids(root)
    assert len(drawn) <= 41
    shown = texts(root)
    assert f"{len(drawn)} of {large.n_nodes:,} nodes drawn: the heaviest branches" in shown
    hidden = sum(int(found[1].replace(",", "")) for text in shown if (found := re.search(r"\+ ([\d,]+) nodes?", text)))
    assert hidden == large.n_nodes - len(drawn)
    assert len(node_ids(parsed(large._repr_html_().split("</div>")[0].split(">", 1)[1]))) <= 60


@pytest.mark.parametrize("seed", range(10))
def test_the_heaviest_nodes_are_drawn(seed: int) -> None:
    one = random_tree(seed, depth=6)
    for most in (1, 2, 7, 30):
        folded = fold(one, most)
        assert len(folded.nodes) <= most
        assert len(folded.nodes) + folded.hidden == one.n_nodes
        inside = set(folded.nodes)
        assert all(one[i].parent in inside for i in folded.nodes if i)
        places = [place for below in folded.children for place in below]
        assert sorted(places) == list(range(1, len(folded.nodes)))


def test_a_deep_chain_and_a_wide_fan() -> None:
    deep = parsed(svg(chain(3000)))
    assert len(node_ids(deep)) == 33
    assert len(node_ids(parsed(svg(chain(400), max_depth=400, max_nodes=1000)))) == 801
    n = 5000
    schema = Schema((ColumnSpec("id", "nominal", tuple(range(n))),), TENNIS.target)
    fan = tree(fork(Question(0, tuple(range(n))), *[leaf(1 + i % 3, 0) for i in range(n)]), schema)
    root = parsed(svg(fan))
    assert len(node_ids(root)) == 50
    assert any(f"… {n - 49:,} branches more" in text for text in texts(root))
    two = tree(fork(Question(0, tuple(i % 2 for i in range(n))), leaf(1, 0), leaf(0, 1)), schema)
    assert sum("more" in text for text in texts(parsed(svg(two)))) == 2


def test_forty_classes() -> None:
    classes = tuple(f"class {i}" for i in range(40))
    schema = Schema(TENNIS.columns, TargetSpec("y", "classification", classes))
    many = tree(fork(Question(1, breaks=(1.0,)), leaf(*range(40)), leaf(*range(40, 0, -1))), schema)
    assert "… 16 more classes" in texts(parsed(svg(many)))
    assert len(set(paint_of(many, [0]).classes)) == 40


# --- colours and widths ---


def test_colours() -> None:
    assert len(set(class_colours(40))) == 40
    assert class_colours(3) == class_colours(50)[:3]
    bright = [sum(int(scale(x, 0, 9)[i : i + 2], 16) * w for i, w in ((1, 0.3), (3, 0.6), (5, 0.1))) for x in range(10)]
    assert bright == sorted(bright)
    assert scale(float("nan"), 0, 1) == scale(1, 3, 2) == scale(0.5, 0, 1)
    assert scale(-9, 0, 1) == scale(0, 0, 1)
    assert strength(0.1, 2) == 0
    assert strength(1, 1) == 1
    assert mix("#102030", "#102030", 0.7) == "#102030"
    assert terminal_code("#ffffff") == 231


@given(st.text(max_size=40), st.integers(1, 30))
@settings(deadline=None)
def test_shortened_texts_fit(text: str, width: int) -> None:
    short = fit_cells(text, width)
    assert cells(short) <= width
    assert (short == text) == (cells(text) <= width)
    room = width * 10.0
    assert pixels(fit_pixels(text, room, 10), 10) <= room + 0.02


def test_random_trees_are_well_formed() -> None:
    for seed in range(20):
        drawn = random_tree(seed, depth=random.Random(seed).randint(0, 5))
        parsed(svg(drawn))


def test_where_surrogates_are_used_no_edge_claims_the_missing() -> None:
    plan = fork(
        Question(1, breaks=(77.5,), missing=0, share=(0.6, 0.4)), leaf(2, 6), leaf(4, 2), surrogates=(Question(2),)
    )
    root = parsed(svg(tree(plan, recipe=tw.CART)))
    assert "missing" not in texts(root)
    surrogate = "humidity is missing: surrogates windy; else humidity <= 77.5"
    assert any(surrogate in detail for detail in texts(root, "desc"))


# --- in a browser ---

MEASURE = """() => [...document.querySelectorAll("g[data-node]")].map(g => {
    const cards = [...g.querySelectorAll("rect.f-card")].map(r => r.getBBox());
    const words = [...g.querySelectorAll("text")].map(t => [t.textContent, t.getBBox()]);
    return {
        right: Math.max(...cards.map(b => b.x + b.width)),
        bottom: Math.max(...cards.map(b => b.y + b.height)),
        words: words.map(([text, b]) => [text, b.x, b.x + b.width, b.y, b.y + b.height]),
    };
})"""


@pytest.mark.parametrize("direction", ["down", "right"])
def test_a_browser_shows_every_word_inside_its_card(browser: Any, direction: str) -> None:
    page = browser.new_page()
    made = [tennis(), hours(), random_tree(1), random_tree(7), named("W" * 50, ["m" * 30, "b"], ["%" * 30, "yes"])]
    for one in made:
        page.set_content(svg(one, direction=direction))
        cards = page.evaluate(MEASURE)
        assert len(cards) == min(one.n_nodes, 150)
        for found in cards:
            on_card = [w for w in found["words"] if w[1] >= 0 and w[3] >= 0 and w[4] <= found["bottom"]]
            assert len(on_card) >= 2
            assert all(right <= found["right"] + 0.5 for _, _, right, _, _ in on_card)
    page.close()


def test_light_and_dark(browser: Any) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.set_content(svg(tennis()))
        grounds[scheme] = page.evaluate("getComputedStyle(document.querySelector('svg > rect')).fill")
        page.emulate_media(media="print", color_scheme=scheme)
        assert page.evaluate("getComputedStyle(document.querySelector('svg > rect')).fill") == "rgb(255, 255, 255)"
        page.close()
    assert grounds == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 25, 30)"}


def test_a_leaf_shows_as_much_of_its_linear_model_as_fits() -> None:
    x = [float(i) for i in range(40)]
    wide = [float(i * i % 7) for i in range(40)]
    y = [2.0 + 3.0 * a - 0.25 * b for a, b in zip(x, wide, strict=True)]
    leaves = tw.leaves.Linear(select="none")
    recipe = tw.CART.with_(leaves=leaves, max_depth=1, pruning=None)
    tree = tw.learn({"x": x, "a long name of a column": wide, "y": y}, "y", recipe, task="regression")
    drawn = tw.render.svg(tree)
    assert ">2 + 3 x …<" in drawn
    assert "predicts 2 + 3 * x - 0.25 * a long name of a column (20 rows, within " in drawn  # what a card says in full
    assert tree.root.model is not None
    assert f"{tree.root.mean:.2f}" in drawn  # nodes with a split show their mean
