"""Every kind of picture, written to a folder: `python examples/gallery.py pictures`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from demo import TENNIS, columns_of
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import treewright as tw
from treewright.inspection.histograms import histograms
from treewright.render import boundary, curve, depth_scores, growth, path_plot, plot, svg

UNPRUNED = tw.CART.with_(pruning=None)


def bundled(load: Callable[[], Any], target: str) -> dict[str, Any]:
    """A table of scikit-learn's as a dictionary of columns; classes by name."""
    data = load()
    names = getattr(data, "target_names", None)
    table = {str(name): data.data[:, i] for i, name in enumerate(data.feature_names)}
    return table | {target: data.target if names is None else np.asarray(names)[data.target]}


def limited(leaves: int) -> tw.Recipe:
    return UNPRUNED.with_(max_leaf_nodes=leaves)


def forty_classes() -> dict[str, Any]:
    """A chessboard of five by eight fields, each a class."""
    across, down = np.random.default_rng(0).random((2, 3000))
    field = (across * 5).astype(int) * 8 + (down * 8).astype(int)
    return {"across": across, "down": down, "field": [f"field {i:02d}" for i in field]}


def noise() -> dict[str, Any]:
    """Nothing to learn: a tree without pruning learns it by heart and has some thousand leaves."""
    rng = np.random.default_rng(1)
    columns = {f"noise {i}": rng.normal(size=20_000) for i in range(6)}
    return columns | {"coin": rng.choice(["heads", "tails"], 20_000)}


LONG = {
    "how often do you, on an ordinary day, look out of the window before you leave the house": (
        ["always, even if I stay", "never", "only when somebody told me that it might rain later"] * 6
    ),
    "age": [20, 31, 42, 53, 64, 75] * 3,
    "takes an umbrella that is large enough for two": ["yes, without exception", "no", "perhaps a small one"] * 6,
}
UNICODE = {
    "天気": ["晴れ", "雨", "曇り", "晴れ", "雨", "曇り"] * 3,
    "الطقس": ["حار", "بارد", "معتدل"] * 6,
    "εβδομάδα": list(range(18)),
    "決定 😀": ["はい", "いいえ", "はい", "نعم", "いいえ", "はい"] * 3,
}
HTML = {
    "<b>bold</b>": ["<script>alert(1)</script>", "a & b", '"quoted"'] * 5,
    "</svg>": list(range(15)),
    "]]>": ["<i>", "]]>", "&amp;"] * 5,
}


def trees() -> dict[str, tuple[tw.Tree, dict[str, Any]]]:
    """Each tree with its rows, by the name of its picture."""
    iris, wine = bundled(load_iris, "species"), bundled(load_wine, "cultivar")
    cancer, diabetes = bundled(load_breast_cancer, "diagnosis"), bundled(load_diabetes, "progression")
    digits = bundled(load_digits, "digit")
    tables = {
        "tennis-id3": (columns_of(TENNIS), "play", tw.ID3),
        "iris-cart": (iris, "species", tw.CART),
        "wine-c45": (wine, "cultivar", tw.C45),
        "cancer-chaid": (cancer, "diagnosis", tw.CHAID),
        "diabetes-cart": (diabetes, "progression", UNPRUNED.with_(max_depth=3)),
        "digits-fifty-leaves": (digits, "digit", limited(50)),
        "forty-classes": (forty_classes(), "field", limited(40)),
        "noise-folded": (noise(), "coin", UNPRUNED),
        "long-names": (LONG, "takes an umbrella that is large enough for two", UNPRUNED),
        "unicode": (UNICODE, "決定 😀", UNPRUNED),
        "html-in-names": (HTML, "]]>", UNPRUNED),
        "root-only": ({"x": [1, 1, 1, 1], "y": ["a", "b", "a", "a"]}, "y", tw.CART),
    }
    classes = {"digits-fifty-leaves": "classification"}
    return {
        name: (tw.learn(table, target, recipe, task=classes.get(name)), table)
        for name, (table, target, recipe) in tables.items()
    }


def scores_by_depth(table: dict[str, Any], target: str) -> dict[int, tuple[float, float]]:
    """Accuracy on two thirds of the rows, learned from, and on the rest."""
    used = np.random.default_rng(0).random(len(table[target])) < 2 / 3
    parts = [{name: np.asarray(column)[rows] for name, column in table.items()} for rows in (used, ~used)]
    scores = {}
    for depth in range(1, 11):
        tree = tw.learn(parts[0], target, UNPRUNED.with_(max_depth=depth))
        right = [float(np.mean(tw.predict(tree, part) == part[target])) for part in parts]
        scores[depth] = (right[0], right[1])
    return scores


def charts(made: dict[str, tuple[tw.Tree, dict[str, Any]]]) -> dict[str, Any]:
    """The matplotlib pictures, by name."""
    (iris_tree, iris), (diabetes_tree, diabetes) = made["iris-cart"], made["diabetes-cart"]
    cancer = made["cancer-chaid"][1]
    whole = tw.learn(iris, "species", UNPRUNED)
    fixed = {"sepal length (cm)": 5.8, "sepal width (cm)": 3.0}
    grown = tw.learn(cancer, "diagnosis", UNPRUNED)
    one = tw.learn({name: diabetes[name] for name in ("bmi", "progression")}, "progression", tw.CART)
    return {
        "plot": plot(iris_tree),
        "plot-dark": plot(diabetes_tree, theme="dark", histograms=histograms(diabetes_tree, diabetes)),
        "boundary": boundary(whole, "petal length (cm)", "petal width (cm)", iris, fixed=fixed),
        "boundary-of-numbers": boundary(diabetes_tree, "bmi", "s5", diabetes),
        "curve": curve(one, "bmi", diabetes),
        "pruning-path": path_plot(tw.pruning_path(grown, cancer)),
        "depth-scores": depth_scores(scores_by_depth(cancer, "diagnosis")),
    }


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = trees()
    for name, (tree, _) in made.items():
        (folder / f"{name}.svg").write_text(svg(tree), encoding="utf-8")
    for name in ("tennis-id3", "iris-cart", "diabetes-cart"):
        tree, table = made[name]
        drawn = svg(tree, histograms=histograms(tree, table))
        (folder / f"{name}-histograms.svg").write_text(drawn, encoding="utf-8")
    (folder / "tennis-growth.svg").write_text(growth(made["tennis-id3"][0]).animation(), encoding="utf-8")
    for name, axes in charts(made).items():
        axes.figure.savefig(folder / f"{name}.png", dpi=100)
    print(f"{len(list(folder.iterdir()))} pictures in {folder}")


if __name__ == "__main__":
    mpl.use("Agg")
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
