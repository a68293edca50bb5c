"""A fitted estimator may be given wherever a tree is expected; an error says what is wrong with anything else."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright as tw

X = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [1.0, 1.0, 2.0, 2.0, 1.0, 2.0]}
Y = ["no", "no", "no", "yes", "yes", "yes"]
ROWS: dict[str, list[Any]] = {**X, "y": Y}

#: What the functions of a tree need besides.
MORE: dict[str, tuple[Any, ...]] = {
    "apply": (X,),
    "boundary": ("a", "b"),
    "calibrate": (X, Y, 0.5),
    "counterfactuals": ({"a": 1.0, "b": 1.0},),
    "curve": ("a",),
    "explain_row": ({"a": 1.0, "b": 1.0},),
    "predict": (X,),
    "predict_batches": (X,),
    "predict_interval": (X,),
    "predict_proba": (X,),
    "predict_set": (X,),
    "prune": (tw.pruning.MaxDepth(1),),
    "reliability": (X, Y),
    "shap_values": (X,),
    "soften": (X, Y),
    "stability": (X, Y),
}


def takes_tree(function: object) -> bool:
    return inspect.isfunction(function) and next(iter(inspect.signature(function).parameters), "") == "tree"


ROOMS = (tw, tw.render, tw.export)
FUNCTIONS = {name: getattr(room, name) for room in ROOMS for name in room.__all__ if takes_tree(getattr(room, name))}


@pytest.fixture(scope="module")
def fitted() -> Any:
    frame = pytest.importorskip("pandas").DataFrame(X)
    return tw.CARTClassifier(missing="majority", pruning=None).fit(frame, np.array(Y))


@pytest.fixture(scope="module")
def calibrated(fitted: Any) -> dict[str, Any]:
    """Estimators with a calibrated tree, by the function that predicts with it."""
    classes = copy.copy(fitted)
    classes.tree_ = tw.calibrate(fitted, X, Y, 0.5)
    target = [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]
    numbers = tw.CARTRegressor(missing="majority", pruning=None).fit(pytest.importorskip("pandas").DataFrame(X), target)
    numbers.tree_ = tw.calibrate(numbers, X, target, 0.5)
    return {"predict_set": classes, "predict_interval": numbers}


def call(function: Callable[..., Any], tree: Any, folder: Path) -> Any:
    more = (folder / "tree.json",) if function.__name__ == "save" else MORE.get(function.__name__, ())
    made = function(tree, *more)
    return list(made) if inspect.isgenerator(made) else made


def test_all_functions_of_a_tree_are_here() -> None:
    assert {"svg", "html", "sql", "rules", "importance", "prune", "predict", "explain_node", "save"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_fitted_estimator_may_be_given_for_its_tree(
    name: str, fitted: Any, calibrated: dict[str, Any], tmp_path: Path
) -> None:
    for module in {"boundary": ["matplotlib"], "curve": ["matplotlib"], "plot": ["matplotlib"], "onnx": ["onnx"]}.get(
        name, []
    ):
        pytest.importorskip(module)
    estimator = calibrated.get(name, fitted)
    given, own = (call(FUNCTIONS[name], tree, tmp_path) for tree in (estimator, estimator.tree_))
    assert type(given) is type(own)
    if isinstance(own, str | bytes):
        assert given == own


def test_a_fitted_estimator_may_be_given_to_rank_splits(fitted: Any) -> None:
    rows = {**X, fitted.tree_.schema.target.name: Y}
    assert str(tw.rank_splits(rows, tree=fitted)) == str(tw.rank_splits(rows, tree=fitted.tree_))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_tree_is_refused_with_a_remedy(name: str, tmp_path: Path) -> None:
    function = FUNCTIONS[name]
    with pytest.raises(tw.DataError, match=r"this CARTClassifier is not fitted yet.*call fit\(X, y\) first"):
        call(function, tw.CARTClassifier(), tmp_path)
    with pytest.raises(TypeError, match=r"expected a Tree, .* or a fitted estimator, not int"):
        call(function, 3, tmp_path)
    with pytest.raises(TypeError, match="CARTClassifier itself; make one and fit it"):
        call(function, tw.CARTClassifier, tmp_path)
    assert not list(tmp_path.iterdir())


def test_models_of_scikit_learn_are_refused_with_a_remedy(fitted: Any) -> None:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    matrix = np.array(list(X.values())).T
    with pytest.raises(TypeError, match=r"treewright.from_sklearn\(model\)"):
        tw.render.svg(DecisionTreeClassifier().fit(matrix, Y))
    with pytest.raises(TypeError, match="give the estimator inside it"):
        tw.render.svg(make_pipeline(fitted))
    found = GridSearchCV(tw.CARTClassifier(pruning=None), {"max_depth": [1, 2]}, cv=2).fit(matrix, Y)
    with pytest.raises(TypeError, match="best_estimator_"):
        tw.render.svg(found)
    assert tw.render.svg(found.best_estimator_).startswith("<svg")


@pytest.mark.parametrize(
    ("argument", "remedy"),
    [
        ({"max_depth": 3}, r"treewright.CART.with_\(max_depth=3\)"),
        ({"min_samples_leaf": 5}, "min_samples_leaf=5"),
        ({"criterion": "gini"}, r"treewright.CART.with_\(criterion='gini'\)"),
        ({"ccp_alpha": 0.1}, "parameter of estimators"),
        ({"n_thread": 2}, "did you mean 'n_threads'"),
        ({"pony": 2}, "its arguments are"),
    ],
    ids=str,
)
def test_a_setting_of_the_recipe_given_to_learn_is_refused_with_a_remedy(argument: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        tw.learn(ROWS, "y", **argument)


def test_the_remedy_for_a_setting_given_to_learn_can_be_run() -> None:
    with pytest.raises(TypeError) as raised:
        tw.learn(ROWS, "y", tw.ID3, max_depth=1)
    written = str(raised.value).split("write learn(data, target, ")[1].removesuffix(")")
    made = eval(written, {"treewright": tw})
    assert made == tw.ID3.with_(max_depth=1)
