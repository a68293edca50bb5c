"""Tables and random edits for the tests of `treewright.edit`."""

import random

import numpy as np

import treewright as tw
from treewright.editing.apply import apply_rows
from treewright.editing.training_rows import rows_for_edits

#: Recipes that differ in branching, criterion, missing policy, simplification and limits.
RECIPES = {
    "cart": tw.CART.with_(pruning=None, max_depth=5),
    "c45": tw.C45.with_(pruning=None),
    "j48": tw.J48.with_(pruning=None),
    "rpart": tw.RPART,
    "sklearn": tw.SKLEARN.with_(max_depth=5),
    "chaid": tw.CHAID.with_(branching=tw.branching.Merge(min_child=5), min_samples_split=10, max_depth=4),
    "own": tw.CART.with_(pruning=None, missing=tw.missing.OwnCategory(), max_depth=4),
    "random": tw.CART.with_(pruning=None, missing=tw.missing.RandomChild(), max_features=2, max_depth=5),
    "shrunk": tw.CART.with_(pruning=None, smoothing="shrinkage", m=5.0, max_depth=4),
    "best_first": tw.CART.with_(pruning=None, max_leaf_nodes=9),
    "each_value": tw.ID3.with_(numeric=tw.numeric.Binned(5), missing=tw.missing.MajorityChild(), max_depth=3),
}


def table(rows=240, seed=0, regression=False):
    """Numbers, levels, an ordered column, missing values; the target depends on all but one column."""
    rng = np.random.default_rng(seed)
    age, fare = rng.integers(1, 80, rows).astype(float), rng.gamma(2, 15, rows).round(2)
    town, grade = rng.choice(["cork", "oslo", "rome", "ulm"], rows), rng.choice(["low", "mid", "high"], rows)
    signal = (age < 30) + (town == "oslo") + (grade == "high") - fare / 60 + rng.normal(0, 0.6, rows)
    age[rng.random(rows) < 0.1] = np.nan
    towns = [None if rng.random() < 0.08 else str(one) for one in town]
    noise = rng.integers(0, 3, rows).astype(float)
    target = signal.round(2) if regression else np.where(signal > 0.7, "yes", np.where(signal > 0.2, "maybe", "no"))
    return {"age": age, "fare": fare, "town": towns, "grade": grade, "noise": noise, "y": target}


def random_edit(draw: random.Random, tree: tw.Tree) -> tw.edit.Edit:
    """One edit, possible or not."""
    node = draw.randrange(tree.n_nodes)
    column = draw.choice(tree.schema.columns)
    kind = draw.choice(
        ["split", "split", "split", "grow", "grow", "collapse", "prune", "forbid", "allow", "lock", "set"]
    )
    if kind == "split":
        missing = draw.choice([None, None, None, 0, 1, "stop", "random"])
        if column.levels is None:
            cut = draw.choice([draw.randint(0, 60) + 0.5, (10.0, draw.uniform(11, 60))])
            return tw.edit.Split(node, column.name, threshold=cut, missing=missing)
        levels = draw.sample(column.levels, len(column.levels))
        at = draw.randint(1, len(levels) - 1)
        groups = draw.choice([[levels[:at], levels[at:]], [levels[:at]], [[level] for level in levels]])
        return tw.edit.Split(node, column.name, groups=groups, missing=missing)
    if kind == "grow":
        recipe = draw.choice([None, None, None, "cart", "c45"]) if tree.schema.target.classes else None
        without, keep = draw.choice([(), (column.name,)]), draw.random() < 0.3
        return tw.edit.Grow(node, draw.choice([None, 1, 2]), recipe, without, keep)
    if kind == "set":
        classes = tree.schema.target.classes
        return tw.edit.SetPrediction(node, draw.choice(classes) if classes else draw.uniform(-1, 1))
    if kind == "prune":
        return random_pruning(draw, tree, node)
    simple = {"collapse": tw.edit.Collapse, "lock": draw.choice([tw.edit.Lock, tw.edit.Unlock, tw.edit.Unlock])}
    if kind in simple:
        return simple[kind](node)
    return (tw.edit.Forbid if kind == "forbid" else tw.edit.Allow)(node, column.name)


def random_pruning(draw: random.Random, tree: tw.Tree, node: int) -> tw.edit.Prune:
    """A pruner that needs no rows, at any node, or one that does, at the root."""
    kinds = [
        tw.pruning.CostComplexity(draw.choice([0.0, 0.005, 0.02]), draw.choice(["error", "impurity"])),
        tw.pruning.MaxDepth(draw.randint(1, 3)),
        tw.pruning.MaxLeaves(draw.randint(2, 9)),
        tw.pruning.MergeEqualLeaves(),
    ]
    if tree.schema.target.classes:
        kinds += [tw.pruning.Pessimistic(), tw.pruning.MinimumError(), tw.pruning.ErrorBased(raising=node == 0)]
    return tw.edit.Prune(node, draw.choice(kinds))


def random_log(draw: random.Random, tree: tw.Tree, data, length: int):
    """So many edits that are possible one after the other, and the trees after each."""
    log, trees = [], [tree]
    rows = rows_of(tree, data)
    while len(log) < length:
        edit = random_edit(draw, trees[-1])
        try:
            trees.append(apply_rows(trees[-1], edit, rows, 1))
        except tw.DataError:
            continue
        log.append(edit)
    return log, trees


def rows_of(tree, data):
    return rows_for_edits(tree, (tw.edit.Grow(0), tw.edit.Grow(0)), data, None, None, 1)
