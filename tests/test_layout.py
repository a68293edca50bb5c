"""Where nodes stand: nothing overlaps, parents stand above the middle of their children, equal subtrees look alike."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.render.picture.layout import Place, tidy

Shape = list["Shape"]

SHAPES = st.recursive(st.just([]), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=25)


def numbered(shape: Shape) -> list[list[int]]:
    """The children of each node, a parent before its children."""
    children: list[list[int]] = [[]]
    waiting = [(shape, 0)]
    while waiting:
        below, i = waiting.pop()
        for child in below:
            children.append([])
            children[i].append(len(children) - 1)
            waiting.append((child, len(children) - 1))
    return children


def levels(children: list[list[int]]) -> list[list[int]]:
    found, level = [], [0]
    while level:
        found.append(level)
        level = [child for i in level for child in children[i]]
    return found


def boxed_width(children: list[list[int]], breadth: list[float], gap: float) -> float:
    """The width if every subtree had a box of its own: what a tidy layout must not exceed."""
    width = [0.0] * len(children)
    for level in reversed(levels(children)):
        for i in level:
            below = sum(width[child] + gap for child in children[i]) - gap
            width[i] = max(breadth[i], below)
    return width[0]


@given(SHAPES, st.data())
@settings(deadline=None, max_examples=150)
def test_tidy(shape: Shape, data: st.DataObject) -> None:
    children = numbered(shape)
    size = st.integers(1, 9).map(float)
    breadth = data.draw(st.lists(size, min_size=len(children), max_size=len(children)))
    length = data.draw(st.lists(size, min_size=len(children), max_size=len(children)))
    gap, far = 1.0, data.draw(st.sampled_from([1.0, 3.0]))
    places = tidy(children, breadth, length, gap, 2.0, far)
    parent = {child: i for i, below in enumerate(children) for child in below}
    along = 0.0
    for level in levels(children):
        assert {places[i].along for i in level} == {along}
        along += max(length[i] for i in level) + 2.0
        for left, right in pairwise(level):
            apart = places[right].across - places[left].across - (breadth[left] + breadth[right]) / 2
            wanted = gap if parent[left] == parent[right] else far
            assert apart >= wanted - 1e-9
    for i, below in enumerate(children):
        if below:
            middle = (places[below[0]].across + places[below[-1]].across) / 2
            assert abs(places[i].across - middle) < 1e-9
    assert min(place.across - wide / 2 for place, wide in zip(places, breadth, strict=True)) == 0
    if far == gap and len(set(breadth)) == 1:
        widest = max(place.across + wide / 2 for place, wide in zip(places, breadth, strict=True))
        assert widest <= boxed_width(children, breadth, gap) + 1e-9


@given(SHAPES)
@settings(deadline=None, max_examples=50)
def test_the_same_subtree_has_the_same_shape_everywhere(shape: Shape) -> None:
    children = numbered([shape, shape])
    ones = [1.0] * len(children)
    places = tidy(children, ones, ones, 1.0, 1.0)

    def shape_of(top: int) -> list[tuple[float, float]]:
        nodes = [top]
        for i in nodes:
            nodes += children[i]
        return [(round(places[i].across - places[top].across, 9), places[i].along) for i in nodes]

    assert shape_of(children[0][0]) == shape_of(children[0][1])


def test_tight_where_subtrees_interlock() -> None:
    # A deep narrow subtree beside a shallow wide one: they may stand as close as their closest levels allow.
    children = [[1, 2], [3, 4, 5], [6], [], [], [], [7], []]
    places = tidy(children, [1.0] * 8, [1.0] * 8, 1.0, 1.0)
    assert [place.across for place in places] == [4.5, 2.5, 6.5, 0.5, 2.5, 4.5, 6.5, 6.5]


def test_a_single_node_and_a_very_deep_tree() -> None:
    assert tidy([[]], [5.0], [2.0], 1.0, 1.0) == [Place(2.5, 0.0)]
    deep = [[i + 1] for i in range(20_000)] + [[]]
    assert {place.across for place in tidy(deep, [2.0] * 20_001, [1.0] * 20_001, 1.0, 1.0)} == {1.0}
