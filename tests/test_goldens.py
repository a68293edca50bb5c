"""Our trees against the trees of ID3, C4.5, J48, rpart, scikit-learn and CHAID, node for node.

A difference is allowed only if tests/goldens/exceptions.json lists it with a reason, and a listed one that no longer
occurs fails, so the list can only shrink. An exception is {golden, place, reason}; its place is a path and what
differs there ("root / x <= 3: surrogates", "predictions: rows 3, 17"), as printed by a failing test.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import golden_compare
import golden_tree
import numpy as np
import pandas as pd
import pytest
from golden_compare import Difference

import treewright as tw
from treewright._core import weakest_links

GOLDENS = Path(__file__).parent / "goldens"
EXCEPTIONS = json.loads((GOLDENS / "exceptions.json").read_text(encoding="utf-8"))


@functools.cache
def read(data_set: str) -> dict[str, Any]:
    return json.loads((GOLDENS / f"{data_set}.json").read_text(encoding="utf-8"))


def golden_of(data_set: str, name: str) -> dict[str, Any]:
    goldens = read(data_set)["goldens"]
    golden = goldens[name]
    return goldens[golden["same_as"]] | golden if "same_as" in golden else golden


def cases() -> list[tuple[str, str]]:
    sets = sorted(path.stem for path in GOLDENS.glob("*.json") if path.stem != "exceptions")
    return [(data_set, name) for data_set in sets for name in read(data_set)["goldens"]]


# --- the recipe of a golden -------------------------------------------------------------------------------------------


def c45_recipe(options: str) -> tw.Recipe:
    words = options.split()
    least, confidence = float(words[words.index("-m") + 1]), float(words[words.index("-c") + 1]) / 100
    recipe = replace(
        tw.C45,
        stopping=replace(tw.C45.stopping, min_weight_two=least, min_weight_split=2 * least),
        pruning=tw.pruning.ErrorBased(confidence),
    )
    if "-g" in words:
        recipe = replace(recipe, criterion=tw.criterion.InformationGain())
    return replace(recipe, branching=tw.branching.Grouped()) if "-s" in words else recipe


def j48_recipe(options: str) -> tw.Recipe:
    words = options.split()
    least = float(words[words.index("-M") + 1])
    pruning = None
    if "-U" not in words:
        pruning = tw.pruning.ErrorBased(float(words[words.index("-C") + 1]), raising="-S" not in words, deviate="exact")
    return replace(
        tw.J48,
        branching=tw.branching.OneVsRest() if "-B" in words else tw.J48.branching,
        stopping=replace(tw.J48.stopping, min_weight_two=least, min_weight_split=2 * least),
        pruning=pruning,
    )


def rpart_recipe(options: dict[str, Any]) -> tw.Recipe:
    control = options["control"]
    use = control["usesurrogate"]
    return replace(
        tw.RPART,
        criterion=tw.criterion.InformationGain() if options.get("split") == "information" else tw.criterion.Gini(),
        missing=replace(
            tw.RPART.missing, maximum=control["maxsurrogate"] if use else 0, then="majority" if use == 2 else "stop"
        ),
        stopping=tw.stopping.Stopping(
            max_depth=control["maxdepth"], min_samples_split=control["minsplit"], min_samples_leaf=control["minbucket"]
        ),
        simplify=tw.stopping.Complexity(float(control["cp"])),
        rivals=control["maxcompete"],
    )


def sklearn_recipe(options: dict[str, Any], max_depth: int | None) -> tw.Recipe:
    chosen = {"entropy": tw.criterion.InformationGain(), "gini": tw.criterion.Gini()}.get(
        options["criterion"], tw.criterion.Gini()
    )
    numbers = {"absolute_error": tw.criterion.AbsoluteError()}.get(options["criterion"], tw.criterion.Variance())
    stopping = replace(tw.SKLEARN.stopping, max_depth=max_depth)
    return replace(tw.SKLEARN, criterion=chosen, regression=numbers, stopping=stopping)


def chaid_recipe(options: dict[str, Any]) -> tw.Recipe:
    exhaustive = options["method"] != "chaid"
    return replace(
        tw.CHAID,
        branching=tw.branching.Merge(
            alpha_merge=options["alpha_merge"],
            alpha_split=options["alpha_split"],
            alpha_resplit=options["alpha_split_merge"] if options["resplit"] and not exhaustive else None,
            bonferroni=options["bonferroni"],
            exhaustive=exhaustive,
            multiplier=options["exhaustive_adjust"],
            min_child=options["min_child"],
        ),
        numeric=tw.numeric.Binned(options["n_bins"]),
        criterion=tw.criterion.ChiSquare(likelihood_ratio=options["stat"] == "lr"),
        stopping=tw.stopping.Stopping(max_depth=options["max_depth"], min_samples_split=options["min_parent"]),
        rivals=1000,  # every predictor tested at the root is compared
    )


# --- the table --------------------------------------------------------------------------------------------------------


def table(data_set: str, codes: bool = False) -> pd.DataFrame:
    """The data with declared levels; `codes`: levels as numbers, which is what scikit-learn was given."""
    whole = read(data_set)
    columns = {}
    for column in whole["columns"]:
        name, values = column["name"], whole["data"][column["name"]]
        if "levels" not in column or (codes and name != whole["target"]):
            columns[name] = pd.Series(values, dtype="float64")
        else:
            places = [-1 if value is None else value for value in values]
            ordered = column["kind"] == "ordinal"
            columns[name] = pd.Series(pd.Categorical.from_codes(places, column["levels"], ordered=ordered))
    return pd.DataFrame(columns)


def prior_weights(data_set: str, options: dict[str, Any]) -> list[float] | None:
    """The weight of each class that gives rpart's priors."""
    if not isinstance(options, dict) or "prior" not in options:
        return None
    whole = read(data_set)
    values = whole["data"][whole["target"]]
    return [prior * len(values) / values.count(place) for place, prior in enumerate(options["prior"])]


# --- learning and comparing -------------------------------------------------------------------------------------------

RECIPES: dict[str, Any] = {
    "Id3": lambda _: tw.ID3,
    "C4.5": c45_recipe,
    "J48": j48_recipe,
    "rpart": rpart_recipe,
    "chaidr": chaid_recipe,
}


def tree_differences(data_set: str, name: str) -> list[Difference]:
    whole, golden, data = read(data_set), golden_of(data_set, name), table(data_set)
    target, options = whole["target"], golden["options"]
    recipe = RECIPES[golden["program"]](options)
    if not golden.get("pruned", True):
        recipe = replace(recipe, pruning=None)
    tree = tw.learn(data, target=target, recipe=recipe, **costs_of(options))
    classes = next(column.get("levels") for column in whole["columns"] if column["name"] == target)
    predictions = list(tw.predict(tree, data.drop(columns=target)))
    found = golden_compare.tree_differences(tree, golden, prior_weights(data_set, options))
    found += golden_compare.prediction_differences(predictions, golden, classes)
    if golden["program"] == "rpart":
        path = tw.pruning_path(tree, pruner=tw.pruning.CostComplexityCV(weakest_link="rpart"))
        found += golden_compare.path_differences(path, rpart_steps(golden), path.root_risk or 1.0)
    return found


def costs_of(options: Any) -> dict[str, Any]:
    """rpart's priors and costs; every golden for classes has them, mostly shares and ones."""
    has = isinstance(options, dict) and "prior" in options
    return {"priors": options["prior"], "costs": options["loss"]} if has else {}


def rpart_steps(golden: dict[str, Any]) -> list[tuple[float, int | None, float]]:
    """rpart's table of complexity, from the whole tree down to the root."""
    return [(cp, splits + 1, error) for cp, splits, error in reversed(golden["cptable"])]


def curve_differences(data_set: str, name: str) -> list[Difference]:
    """scikit-learn breaks ties at random, so only what every seed gives is compared: impurity and leaves by depth, and
    the pruning path."""
    golden, data = golden_of(data_set, name), table(data_set, codes=True)
    found = []
    for depth, impurity, leaves in golden["curve"]:
        recipe = sklearn_recipe(golden["options"], depth)
        tree = tw.learn(data, target=read(data_set)["target"], recipe=recipe)
        ends = [node for node in tree.walk() if node.is_leaf]
        ours = sum(node.weight * node.impurity for node in ends) / len(data)
        if not golden_compare.near(ours, impurity, 1e-9, 1e-12):
            found.append(Difference(f"depth {depth}", "impurity", ours, impurity))
        if len(ends) != leaves:
            found.append(Difference(f"depth {depth}", "leaves", len(ends), leaves))
    if "ccp_path" in golden:
        tree = tw.learn(data, target=read(data_set)["target"], recipe=sklearn_recipe(golden["options"], None))
        path = tw.pruning_path(tree, pruner=tw.pruning.CostComplexityCV(risk="impurity"))
        found += golden_compare.path_differences(path, sklearn_steps(golden), 1.0)
    return found


def sklearn_steps(golden: dict[str, Any]) -> list[tuple[float, int | None, float]]:
    """scikit-learn cuts one node per step; the last of those with the same alpha is the tree of that alpha."""
    steps = golden["ccp_path"]
    pairs = zip(steps, [*steps[1:], [math.inf, 0.0]], strict=True)
    return [(alpha, None, impurity) for (alpha, impurity), (following, _) in pairs if following - alpha > 1e-12]


def exceptions(data_set: str, name: str) -> list[str]:
    return [entry["place"] for entry in EXCEPTIONS if entry["golden"] == f"{data_set}/{name}"]


@pytest.mark.parametrize(("data_set", "name"), cases())
def test_golden(data_set: str, name: str) -> None:
    find = curve_differences if name.startswith("sklearn.") else tree_differences
    found = find(data_set, name)
    listed = exceptions(data_set, name)
    unexpected = [str(difference) for difference in found if difference.place not in listed]
    assert not unexpected, "\n".join(["not the same:", *unexpected])
    seen = {difference.place for difference in found}
    assert [place for place in listed if place not in seen] == [], "listed as an exception, but the same"


@pytest.mark.parametrize(("data_set", "name"), [case for case in cases() if case[1].startswith("rpart.")])
def test_the_path_of_rparts_own_tree(data_set: str, name: str) -> None:
    """Whatever tie was decided while growing: of the same tree the path is the same, without exception."""
    golden = golden_of(data_set, name)
    parent, risk, waiting = [], [], [(golden["tree"], -1)]
    while waiting:
        node, above = waiting.pop()
        parent.append(above)
        risk.append(float(node["dev"]))
        waiting += [(child, len(parent) - 1) for child in reversed(node.get("children", []))]
    alpha = weakest_links(np.array(parent, dtype=np.int32), np.array(risk), exact=False) / (risk[0] or 1.0)
    asks = np.isin(np.arange(len(parent)), parent)
    for cp, leaves, error in rpart_steps(golden)[1:]:
        kept = asks & (alpha > cp + 1e-12 + 1e-9 * cp)  # cut at this cp is what is not dearer, but for rounding
        ends = [i for i, above in enumerate(parent) if not kept[i] and (above < 0 or kept[above])]
        assert len(ends) == leaves
        assert sum(risk[i] for i in ends) / (risk[0] or 1.0) == pytest.approx(error, rel=1e-9, abs=1e-12)
    table = [cp for cp, _, _ in rpart_steps(golden)[1:]]
    assert all(np.isclose(table, x, rtol=1e-9, atol=1e-12).any() for x in alpha[asks] if x > 1e-12)


def test_every_exception_is_about_a_golden_and_says_why() -> None:
    known = {f"{data_set}/{name}" for data_set, name in cases()}
    assert [entry["golden"] for entry in EXCEPTIONS if entry["golden"] not in known] == []
    assert all(set(entry) == {"golden", "place", "reason"} and entry["reason"] for entry in EXCEPTIONS)
    assert all(": " in entry["place"] for entry in EXCEPTIONS)  # never all that may differ at a path
    places = [(entry["golden"], entry["place"]) for entry in EXCEPTIONS]
    assert len(set(places)) == len(places)


# --- pruning by itself ------------------------------------------------------------------------------------------------


def pruning_cases() -> list[tuple[str, str, str]]:
    """(data set, golden before pruning, golden after) of the same growing."""
    before = {"weka.j48.default": "weka.j48.unpruned", "weka.j48.noraise": "weka.j48.unpruned"}
    before |= {"weka.j48.binary-noraise": "weka.j48.binary-unpruned", "c45.c5.pruned": "c45.default.unpruned"}
    pairs = [(data_set, before.get(name, name.replace(".pruned", ".unpruned")), name) for data_set, name in cases()]
    return [(data_set, raw, name) for data_set, raw, name in pairs if raw != name and raw in read(data_set)["goldens"]]


@pytest.mark.parametrize(("data_set", "raw", "name"), pruning_cases())
def test_pruning_the_ancestors_own_tree(data_set: str, raw: str, name: str) -> None:
    """Whatever tie was decided while growing: from the same tree, pruning gives the same tree, without exception."""
    golden, data, target = golden_of(data_set, name), table(data_set), read(data_set)["target"]
    recipe = RECIPES[golden["program"]](golden["options"])
    schema = tw.learn(data, target, replace(recipe, pruning=None)).schema
    grown = golden_tree.tree_of(golden_of(data_set, raw), schema, recipe)
    pruned = tw.prune(grown, recipe.pruning, data)
    assert sum(cut.leaves for cut in pruned.cuts) == grown.n_leaves - pruned.n_leaves
    # What a split gained is not known of a tree as given, and not compared.
    found = golden_compare.tree_differences(pruned, golden | {"without_figures": True})
    assert not found, "\n".join(map(str, found))
