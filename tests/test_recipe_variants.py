"""Recipes by name, variants by `with_`, and the short text of a recipe.

A variant is what `dataclasses.replace` builds, and its text builds it again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

import treewright as tw
from treewright import recipes
from treewright.cli import main
from treewright.cli.recipes import ALGORITHMS
from treewright.recipes.named import RECIPES, named_recipe

TABLE = {
    "sky": ["sun", "sun", "rain", "rain", "sun", "rain"],
    "wind": ["no", "yes", "no", "yes", "no", "yes"],
    "play": ["yes", "yes", "yes", "no", "yes", "no"],
}


# --- by name ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.criterion is not None])
def test_a_name_stands_for_its_recipe_everywhere(name: str) -> None:
    recipe = getattr(tw, name.upper())
    assert named_recipe(name) is named_recipe(name.upper()) is named_recipe(name.replace("_", "-")) is recipe
    tree = tw.learn(TABLE, "play", recipe)
    assert tw.learn(TABLE, "play", name) == tree
    rows = [list(pair) for pair in zip(TABLE["sky"], TABLE["wind"], strict=True)]
    by_name, by_value = (tw.TreeClassifier(recipe=one).fit(rows, TABLE["play"]) for one in (name, recipe))
    assert by_name.tree_ == by_value.tree_
    assert str(tw.rank_splits(TABLE, "play", recipe=name)) == str(tw.rank_splits(TABLE, "play", recipe=recipe))


def test_the_shell_and_python_share_one_table_of_names() -> None:
    assert list(ALGORITHMS.values()) == list(RECIPES.values())
    assert all(named_recipe(name) is recipe for name, recipe in ALGORITHMS.items())


@pytest.mark.parametrize("name", ["c4.5", "c45", "C45", "exhaustive_chaid", "Exhaustive-CHAID"])
def test_the_shell_knows_pythons_names(name: str, tmp_path: Any) -> None:
    file = tmp_path / "days.csv"
    file.write_text("\n".join(",".join(row) for row in [tuple(TABLE), *zip(*TABLE.values(), strict=True)]) + "\n")
    done = CliRunner().invoke(main, ["learn", str(file), "-t", "play", "-a", name])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "use",
    [
        lambda recipe: tw.learn(TABLE, "play", recipe),
        lambda recipe: tw.rank_splits(TABLE, "play", recipe=recipe),
        lambda recipe: tw.TreeClassifier(recipe=recipe).fit([[1.0], [2.0]], ["a", "b"]),
    ],
)
def test_an_unknown_name_is_refused_with_all_names(use: Callable[[Any], object]) -> None:
    with pytest.raises(tw.RecipeError) as error:
        use("c46")
    assert all(repr(name) in str(error.value) for name in ("c46", *RECIPES))
    with pytest.raises(tw.RecipeError, match=r"recipe must be a Recipe .* not 3"):
        use(3)


def test_the_tags_know_a_named_recipe_that_refuses_missing_values() -> None:
    assert not tw.TreeClassifier(recipe="id3").__sklearn_tags__().input_tags.allow_nan
    assert not tw.TreeClassifier(missing="refuse_missing").__sklearn_tags__().input_tags.allow_nan
    assert tw.TreeClassifier(recipe="no such recipe").__sklearn_tags__().input_tags.allow_nan


# --- variants ---------------------------------------------------------------------------------------------------------

VARIANTS = {
    "nothing": (tw.CART, {}, {}),
    "choice": (tw.CART, {"missing": tw.missing.Fractional()}, {"missing": tw.missing.Fractional()}),
    "name": (tw.CART, {"criterion": "entropy"}, {"criterion": tw.criterion.InformationGain()}),
    "class name": (tw.CART, {"missing": "own_category"}, {"missing": tw.missing.OwnCategory()}),
    "own settings stay": (tw.RPART, {"missing": "surrogates"}, {}),
    "regression": (tw.CART, {"regression": "poisson"}, {"regression": tw.criterion.Poisson()}),
    "numeric": (tw.CART, {"numeric": "binned"}, {"numeric": tw.numeric.Binned()}),
    "simplify": (tw.CART, {"simplify": "complexity"}, {"simplify": tw.stopping.Complexity()}),
    "pruning": (tw.CART, {"pruning": "pessimistic"}, {"pruning": tw.pruning.Pessimistic()}),
    "no pruning": (tw.CART, {"pruning": None}, {"pruning": None}),
    "limit": (tw.RPART, {"max_depth": 5}, {"stopping": replace(tw.RPART.stopping, max_depth=5)}),
    "no limit": (tw.RPART, {"max_depth": None}, {"stopping": replace(tw.RPART.stopping, max_depth=None)}),
    "limits": (
        tw.CART,
        {"stopping": tw.stopping.Stopping(max_depth=2), "min_samples_leaf": 3},
        {"stopping": tw.stopping.Stopping(max_depth=2, min_samples_leaf=3)},
    ),
    "leaves": (tw.C45, {"smoothing": "laplace"}, {"leaves": replace(tw.C45.leaves, smoothing="laplace")}),
    "plain fields": (tw.CART, {"name": "mine", "rivals": 0, "seed": 7}, {"name": "mine", "rivals": 0, "seed": 7}),
}


@pytest.mark.parametrize(("recipe", "changes", "fields"), VARIANTS.values(), ids=VARIANTS.keys())
def test_a_variant_is_what_replace_builds(recipe: tw.Recipe, changes: dict[str, Any], fields: dict[str, Any]) -> None:
    assert recipe.with_(**changes) == replace(recipe, **fields)


def test_a_function_becomes_a_custom_criterion() -> None:
    def score(parent: Any, children: Any) -> Any: ...

    assert tw.CART.with_(criterion=score).criterion == tw.criterion.Custom(score)
    assert tw.CART.with_(regression=score).regression == tw.criterion.Custom(score, "regression")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_dept": 3}, ("'max_dept'", "did you mean 'max_depth'")),
        ({"prunning": None}, ("'prunning'", "'pruning'")),
        ({"zzzz": 1}, ("'zzzz'", "known: name", "max_depth", "smoothing")),
        ({"criterion": "ginny"}, ("criterion='ginny'", "'gini'")),
        ({"missing": "nowhere"}, ("missing='nowhere'", "'surrogate'")),
        ({"pruning": "none"}, ("pruning='none'", "'error_based'")),
        ({"max_depth": -1}, ("Stopping.max_depth", "-1")),
        ({"branching": "merge"}, ("Merge", "criterion=ChiSquare()")),
        ({"criterion": tw.criterion.Variance()}, ("Recipe.criterion", "Variance()")),
        ({"stopping": None, "max_depth": 3}, ("Recipe.stopping=None", "max_depth")),
    ],
)
def test_a_variant_that_cannot_be_is_refused(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(tw.RecipeError) as error:
        tw.CART.with_(**changes)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_learn_points_to_with_for_a_setting_of_the_recipe() -> None:
    with pytest.raises(TypeError, match=r"treewright\.C45\.with_\(max_depth=3\)"):
        tw.learn(TABLE, "play", "c45", max_depth=3)


# --- the text of a recipe ---------------------------------------------------------------------------------------------


def test_the_text_of_a_recipe_is_its_name_and_what_differs() -> None:
    assert [repr(recipe) for recipe in RECIPES.values()] == [name.upper() for name in RECIPES]
    assert repr(tw.Recipe()) == "Recipe()"
    assert repr(tw.CART.with_(max_depth=5)) == "CART.with_(max_depth=5)"
    assert repr(tw.Recipe(name="mine", rivals=0)) == "Recipe().with_(name='mine', rivals=0)"


@pytest.mark.parametrize(("recipe", "changes", "fields"), VARIANTS.values(), ids=VARIANTS.keys())
def test_the_text_of_a_recipe_builds_it_again(
    recipe: tw.Recipe, changes: dict[str, Any], fields: dict[str, Any]
) -> None:
    built = replace(recipe, **fields)
    assert eval(repr(recipe.with_(**changes)), vars(recipes).copy()) == built


def test_the_help_of_learn_opens_shortly() -> None:
    assert inspect.signature(tw.learn).parameters["recipe"].default is tw.CART
    assert len(str(inspect.signature(tw.learn))) < 600
