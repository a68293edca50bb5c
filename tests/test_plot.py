"""Pictures by matplotlib: the same tree, regions and steps at the tree's own breaks, choices as the path makes them."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from handmade_trees import hours, random_tree, tennis
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.render import boundary, curve, depth_scores, path_plot, plot
from treewright.render.picture.picture import picture
from treewright.render.picture.shapes import Words

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

UNPRUNED = replace(tw.CART, pruning=None)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


def iris() -> dict[str, Any]:
    data = load_iris()
    names = ("sepal length", "sepal width", "petal length", "petal width")
    return dict(zip(names, data.data.T, strict=True)) | {"kind": data.target_names[data.target]}


def drawn(ax: Any) -> None:
    ax.figure.canvas.draw()


# --- the tree ---


@pytest.mark.parametrize("made", [tennis(), hours(), random_tree(2, depth=2)])
def test_the_same_words_as_the_picture(made: tw.Tree) -> None:
    ax = plot(made)
    drawn(ax)
    groups = picture(made, 60).groups
    words = [shape.text for group in groups for shape in group.shapes if isinstance(shape, Words)]
    assert [text.get_text() for text in ax.texts] == words


def test_on_axes_of_any_size_the_text_fits_its_card() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    assert plot(tennis(), left) is left
    plot(tennis(), right, theme="dark", max_depth=1)
    figure.canvas.draw()
    for ax in (left, right):
        room = ax.get_window_extent()
        for text in ax.texts:
            extent = text.get_window_extent()
            assert extent.x0 >= room.x0 - 1
            assert extent.x1 <= room.x1 + 1


def test_dollars_are_no_formulas() -> None:
    rows = {"price in $": [1.0, 2.0, 3.0, 4.0], "$y$": ["$\\alpha$", "$\\alpha$", "b$", "b$"]}
    tree = tw.learn(rows, "$y$", UNPRUNED)
    ax = plot(tree)
    assert "price in $" in [text.get_text() for text in ax.texts]
    drawn(ax)
    drawn(curve(tree, "price in $", rows))


def test_a_theme_that_is_none() -> None:
    with pytest.raises(ValueError, match="theme"):
        plot(tennis(), theme="sepia")


# --- regions and curves ---


def corners(ax: Any) -> list[tuple[float, float, float, float]]:
    paths = [path.vertices for path in ax.collections[0].get_paths()]
    return [(*p.min(axis=0).tolist(), *p.max(axis=0).tolist()) for p in paths]


def test_regions_fill_the_axes_once() -> None:
    rows = iris()
    tree = tw.learn(rows, "kind", UNPRUNED)
    ax = boundary(tree, "petal length", "petal width", rows, fixed={"sepal length": 5.8, "sepal width": 3.0})
    drawn(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    found = corners(ax)
    assert sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in found) == pytest.approx((right - left) * (high - low))
    cuts = {cut for node in tree.walk() if node.split for cut in node.split.breaks}
    inner = {x for box in found for x in box} - {left, right, low, high}
    assert inner <= cuts
    assert len(ax.collections) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]


def test_levels_have_places_of_their_own() -> None:
    rows = {
        "colour": ["red", "green", "blue", "red", "green", "blue"] * 4,
        "size": list(range(24)),
        "y": ["a", "b", "a"] * 8,
    }
    tree = tw.learn(rows, "y", UNPRUNED)
    ax = boundary(tree, "colour", "size", rows)
    drawn(ax)
    assert ax.get_xlim() == (-0.5, 2.5)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["blue", "green", "red"]
    assert len(corners(ax)) == 3  # blue and red go together but do not lie together


def test_numbers_have_a_colour_bar() -> None:
    data = load_diabetes()
    rows = {"bmi": data.data[:, 2], "s5": data.data[:, 8], "y": data.target}
    tree = tw.learn(rows, "y", replace(UNPRUNED, stopping=tw.stopping.Stopping(max_depth=3)))
    ax = boundary(tree, "bmi", "s5", rows)
    drawn(ax)
    assert len(ax.figure.axes) == 2


def solid(ax: Any) -> list[tuple[float, float, float]]:
    """The flat stretches of a curve."""
    lines = [line.get_xydata() for line in ax.lines]
    return sorted((p[0, 0], p[1, 0], p[0, 1]) for p in lines if p[0, 1] == p[1, 1] and p[0, 0] < p[1, 0])


def test_a_curve_is_what_is_predicted() -> None:
    x = np.arange(40.0)
    rows = {"x": x, "y": np.floor(x / 7) ** 2}
    tree = tw.learn(rows, "y", UNPRUNED, task="regression")
    ax = curve(tree, "x", rows)
    drawn(ax)
    left, right = ax.get_xlim()
    assert left < 0
    assert right > 39
    steps = solid(ax)
    assert steps[0][0] == left
    assert steps[-1][1] == right
    for low, high, value in steps:
        assert tw.predict(tree, {"x": [(low + high) / 2]})[0] == value
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert {tuple(line.get_xdata()) for line in dashed} == {(left, 0.0), (39.0, right)}  # the flat ends


def sloped_rows(n: int = 240) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    x, z = rng.uniform(0, 10, n), rng.normal(size=n)
    y = np.where(x < 4, 3 * x, 20 - x) + 0.5 * z + 0.2 * rng.normal(size=n)
    return {"x": x, "z": z, "kind": ["a" if one > 0.3 else "b" if one > -0.3 else "c" for one in z], "y": y}


@pytest.mark.parametrize("fixed", [None, {"z": 1.0}, {"kind": "b"}, {"kind": "never seen", "z": 0.5}])
def test_a_curve_of_linear_models_is_what_is_predicted(fixed: dict[str, Any] | None) -> None:
    rows = sloped_rows()
    tree = tw.learn(rows, "y", UNPRUNED.with_(leaves=tw.leaves.Linear(margin=0.1), max_depth=2))
    other = {"z": [np.nan], "kind": [None]} | {name: [value] for name, value in (fixed or {}).items()}
    ax = curve(tree, "x", rows, fixed=fixed)
    drawn(ax)
    left, right = ax.get_xlim()
    assert left < -3 < 13 < right
    knots = [line.get_xydata() for line in ax.lines if line.get_linewidth() == 2]
    assert any(len(line) > 2 for line in knots)  # the guard holds somewhere beyond the rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.UnseenLevelsWarning)
        for line in knots:
            for (low, first), (high, last) in pairwise(line):
                for part in (0.001, 0.5, 0.999):
                    predicted = tw.predict(tree, {"x": [low + part * (high - low)], **other})[0]
                    assert predicted == pytest.approx(first + part * (last - first), abs=1e-9)


def test_a_curve_of_linear_models_over_levels_has_a_step_for_each() -> None:
    rows = sloped_rows()
    leaves = tw.leaves.Linear(only=("kind",), select="none", max_terms=3)
    tree = tw.learn(rows, "y", UNPRUNED.with_(leaves=leaves, max_depth=0))
    ax = curve(tree, "kind", rows)
    drawn(ax)
    assert ax.get_title(loc="left") == ""
    steps = {round((low + high) / 2): value for low, high, value in solid(ax)}
    others = {"x": [None] * 3, "z": [None] * 3}
    assert [steps[i] for i in range(3)] == tw.predict(tree, {"kind": list("abc"), **others}).tolist()


def test_a_curve_of_probabilities() -> None:
    rows = iris()
    tree = tw.learn(rows, "kind", tw.CART)
    ax = curve(tree, "petal length", fixed={"petal width": 1.0})
    drawn(ax)
    assert len(ax.get_legend().get_texts()) == 3
    for low, high, value in solid(ax):
        row = {name: [np.nan] for name in tree.schema.names} | {
            "petal width": [1.0],
            "petal length": [(low + high) / 2],
        }
        assert value in tw.predict_proba(tree, row)[0].tolist()


def test_dates_are_dates() -> None:
    days = np.datetime64("2021-01-01") + np.arange(60)
    rows = {"day": days, "y": np.where(np.arange(60) < 30, 1.0, 5.0)}
    ax = curve(tw.learn(rows, "y", tw.CART), "day", rows)
    drawn(ax)
    assert any("Feb" in label.get_text() or "2021" in label.get_text() for label in ax.get_xticklabels())


def test_mistakes_are_named() -> None:
    tree = tw.learn(iris(), "kind", tw.CART)
    with pytest.raises(tw.DataError, match="did you mean 'petal width'"):
        boundary(tree, "petal length", "petal widht")
    with pytest.raises(tw.DataError, match="data has no column 'petal length'"):
        curve(tree, "petal length", {"petal width": [1.0]})


# --- size ---


def test_path() -> None:
    rows = iris()
    tree = tw.learn(rows, "kind", UNPRUNED)
    path = tw.pruning_path(tree, rows)
    ax = path_plot(path)
    drawn(ax)
    assert ax.lines[0].get_xydata().tolist() == [[n, risk] for n, risk in zip(path.leaves, path.risk, strict=True)]
    assert ax.lines[1].get_ydata().tolist() == list(path.held_out or ())
    assert [line.get_xdata()[0] for line in ax.lines[2:]] == [path.leaves[path.chosen(rule)] for rule in ("min", "1se")]
    assert len(path_plot(tw.pruning_path(tree)).lines) == 1


def test_depth_scores() -> None:
    scores = {1: (0.7, 0.68), 2: (0.8, 0.75), 5: (1.0, 0.7)}
    ax = depth_scores(scores)
    drawn(ax)
    assert ax.lines[2].get_xdata()[0] == 2
    assert depth_scores(scores, lower_is_better=True).lines[2].get_xdata()[0] == 1
    assert depth_scores({1: (0.5, 0.5), 100: (1.0, 0.4)}, size="leaves").get_xscale() == "log"
    with pytest.raises(ValueError, match="empty"):
        depth_scores({})


def test_without_matplotlib_nothing_is_lost_but_the_plots() -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import treewright as tw\n"
        "tree = tw.learn({'x': [1, 2, 3, 4], 'y': ['a', 'a', 'b', 'b']}, 'y', tw.CART)\n"
        "tw.render.svg(tree)\n"
        "try: tw.render.plot(tree)\n"
        "except ImportError as error: print(error)\n"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output == "this picture needs matplotlib; install treewright[plot], or use render.svg\n"
    imported = "import sys, treewright; print('matplotlib' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, check=True).stdout == "False\n"
    )


def test_a_class_without_a_region_is_in_the_legend_of_a_boundary() -> None:
    rows = iris()
    tree = tw.learn(rows, "kind", replace(UNPRUNED, stopping=tw.stopping.Stopping(max_depth=1)))
    ax = boundary(tree, "petal length", "petal width", rows)
    drawn(ax)
    assert len({leaf.prediction for leaf in tree.walk() if leaf.is_leaf}) == 2
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.split(" (")[0] for text in texts] == ["setosa", "versicolor", "virginica"]
    assert sum(text.endswith("(no region)") for text in texts) == 1


def test_a_column_that_the_tree_does_not_use_is_named() -> None:
    rows = iris()
    tree = tw.learn(
        rows, "kind", replace(UNPRUNED, stopping=tw.stopping.Stopping(max_depth=1), missing=tw.missing.MajorityChild())
    )
    (used,) = {node.split.column for node in tree.walk() if node.split is not None}
    ax = curve(tree, "sepal width", rows)
    drawn(ax)
    assert ax.get_title("left") == "the tree does not use sepal width"
    assert curve(tree, used, rows).get_title("left") == ""
    assert boundary(tree, used, "sepal width", rows).get_title("left") == "the tree does not use sepal width"
