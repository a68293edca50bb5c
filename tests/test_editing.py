"""Edits by hand: what each does, what is refused, and that the rest of the library takes the edited tree."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from edit_cases import RECIPES, random_log, table

import treewright as tw
from treewright.editing.prune_below import subtree
from treewright.tree.shape import ends

DATA = table()


def learned(name, data=None, **options):
    return tw.learn(DATA if data is None else data, "y", RECIPES[name], n_threads=1, **options)


def test_collapsing_and_growing_gives_the_recipes_own_tree(recipe_name) -> None:
    tree = learned(recipe_name)
    for node in tree.walk():
        if not node.is_leaf:
            collapsed = tw.edit.apply(tree, tw.edit.Collapse(node.id))
            assert collapsed[node.id].is_leaf
            assert tw.edit.apply(collapsed, tw.edit.Grow(node.id), DATA) == tree


@pytest.fixture(params=RECIPES)
def recipe_name(request):
    return request.param


def test_growing_level_by_level_gives_the_same_tree(recipe_name) -> None:
    tree = learned(recipe_name)
    if tree.recipe.stopping.max_leaf_nodes is not None or tree.recipe.simplify is not None:
        pytest.skip("what is best or worthwhile is decided for the whole subtree")
    grown = tw.edit.apply(tree, tw.edit.Collapse(0))
    while (left := [node.id for node in grown.walk() if node.stop in ("pruned", "by hand")]) != []:
        grown = tw.edit.apply(grown, tw.edit.Grow(left[-1], levels=1), DATA)
    assert grown == tree


def test_growing_the_leaves_of_a_beginning_gives_the_recipes_own_tree(recipe_name) -> None:
    tree = learned(recipe_name)
    if tree.recipe.stopping.max_leaf_nodes is not None or tree.recipe.simplify is not None:
        pytest.skip("what is best or worthwhile is decided for the whole subtree")
    begun = tw.edit.replay(tree, [tw.edit.Collapse(0), tw.edit.Grow(0, levels=2)], DATA)
    assert 1 < begun.n_leaves < tree.n_leaves
    assert tw.edit.apply(begun, tw.edit.Grow(0, keep=True), DATA) == tree


def test_splits_made_by_hand_stay_while_the_leaves_below_them_grow() -> None:
    tree = tw.edit.apply(learned("cart"), tw.edit.Split(0, "noise", threshold=0.5), DATA)
    grown = tw.edit.apply(tree, tw.edit.Grow(0, keep=True), DATA)
    assert grown == tw.edit.replay(tree, [tw.edit.Grow(2), tw.edit.Grow(1)], DATA)
    assert grown.root.split.column == "noise"
    assert grown.root.edit.split
    level = tw.edit.apply(tree, tw.edit.Grow(0, levels=1, keep=True), DATA)
    assert (level.depth, level.n_leaves) == (2, 4)
    for fixed in (tw.edit.Lock(1), tw.edit.SetPrediction(1, "no")):
        kept = tw.edit.replay(tree, [fixed, tw.edit.Lock(0), tw.edit.Grow(0, keep=True)], DATA)
        assert kept[1].is_leaf
        assert kept.n_leaves > 4


def test_a_few_levels_are_not_collapsed_as_whole_subtrees_are() -> None:
    tree = learned("c45")
    begun = tw.edit.replay(tree, [tw.edit.Collapse(0), tw.edit.Grow(0, levels=1)], DATA)
    assert begun.n_leaves == len(tree.root.children)
    assert begun.root.split == tree.root.split


def test_the_recipes_own_split_given_by_hand_is_rated_as_found(recipe_name) -> None:
    tree = learned(recipe_name)
    for node in list(tree.walk())[:12]:
        split = node.split
        if split is None or any(tree[child].rows == 0 for child in node.children):
            continue
        if isinstance(tree.recipe.missing, tw.missing.OwnCategory) and len(split.bins[-1]) == 0:
            continue  # a child for missing values alone
        how = {"threshold": split.breaks} if split.breaks else {"groups": [g for g in split.groups if g]}
        if isinstance(tree.recipe.missing, tw.missing.OwnCategory):
            how["missing"] = split.missing
        edited = tw.edit.apply(tree, tw.edit.Split(node.id, split.column, **how), DATA)[node.id]
        # CHAID tests groups before it enlarges the small ones; those enlarged may be less significant.
        enlarged = split.log_p is not None and split.p_adjusted > 0.05
        assert (edited.edit.split, edited.edit.against) == (True, "not significant" if enlarged else None)
        ours = edited.split
        assert (ours.score, ours.gain, ours.log_p) == (split.score, split.gain, split.log_p)
        if ours.child_of_bin == split.child_of_bin:
            assert (ours, edited.rivals, edited.surrogates) == (split, node.rivals, node.surrogates)
            assert [edited.tree[c].counts for c in edited.children] == [tree[c].counts for c in node.children]


@pytest.mark.parametrize("regression", [False, True])
def test_a_given_split_is_rated_by_its_formula(regression) -> None:
    data = table(regression=regression)
    tree = tw.learn(data, "y", RECIPES["cart"])
    fare, y = data["fare"], data["y"]
    for cut in (5.0, 17.25, 40.0):
        node = tw.edit.apply(tree, tw.edit.Split(0, "fare", threshold=cut), data).root
        low = fare <= cut
        if regression:
            expected = np.var(y) - low.mean() * np.var(y[low]) - (~low).mean() * np.var(y[~low])
        else:
            gini = lambda part: 1 - sum(np.mean(part == c) ** 2 for c in set(y))  # noqa: E731
            expected = gini(y) - low.mean() * gini(y[low]) - (~low).mean() * gini(y[~low])
        assert node.split.gain == pytest.approx(expected, rel=1e-9)
        assert [node.tree[c].rows for c in node.children] == [low.sum(), (~low).sum()]
        best = max(node.rivals, key=lambda rival: rival.score)
        assert best.score >= node.split.score - 1e-12
        assert "fare" in [rival.column for rival in node.rivals], "the column's own best cut is a rival"


def test_forbidding_a_column_grows_as_if_it_were_not_there(recipe_name) -> None:
    if recipe_name == "random":
        pytest.skip("draws depend on all columns")
    tree = learned(recipe_name)
    for column in ("fare", "town"):
        edited = tw.edit.replay(tree, [tw.edit.Forbid(0, column), tw.edit.Grow(0)], DATA)
        less = learned(recipe_name, {name: values for name, values in DATA.items() if name != column})
        names = lambda a_tree: [[s.column for s in (n.split, *n.surrogates, *n.rivals) if s] for n in a_tree]  # noqa: E731
        assert names(edited) == names(less)
        for name in ("parent", "rows", "value", "gain", "stop", "score", "breaks", "share", "missing"):
            np.testing.assert_array_equal(edited.arrays[name], less.arrays[name], name)
        once = tw.edit.apply(tree, tw.edit.Grow(0, without=[column]), DATA)
        assert once.edits == ()
        assert dataclasses.replace(edited, edits=()) == once


def test_other_nodes_keep_every_bit() -> None:
    tree = learned("cart")
    node = tree.root.children[0]
    edited = tw.edit.apply(tree, tw.edit.Split(node, "noise", threshold=0.5), DATA)
    end, new_end = ends(tree)[node], ends(edited)[node]
    for name in ("rows", "stats", "value", "impurity", "gain", "stop", "depth"):
        np.testing.assert_array_equal(tree.arrays[name][:node], edited.arrays[name][:node])
        np.testing.assert_array_equal(tree.arrays[name][end:], edited.arrays[name][new_end:])
    later = [(i, i + new_end - end) for i in range(end, tree.n_nodes)]
    assert all(tree[a].split == edited[b].split and tree[a].rivals == edited[b].rivals for a, b in later)


# --- what is marked ---------------------------------------------------------------------------------------------------


def test_splits_against_the_recipe_are_made_and_marked() -> None:
    tree = tw.learn(DATA, "y", tw.CART.with_(pruning=None, min_samples_leaf=20, max_depth=2))
    small = tw.edit.apply(tree, tw.edit.Split(0, "fare", threshold=4), DATA)
    assert small.root.edit.against == "children too small"
    assert "at the root: by hand: children too small" in str(small)
    deep = next(node.id for node in tree.walk() if node.depth == 2)
    assert tw.edit.apply(tree, tw.edit.Split(deep, "fare", threshold=20), DATA)[deep].edit.against == "depth"
    constant = {"a": [1, 1, 2, 2, 3, 3], "b": [1, 2, 1, 2, 1, 2], "y": ["p", "p", "p", "q", "q", "q"]}
    one = tw.learn(constant, "y", tw.CART.with_(pruning=None))
    pure = next(node.id for node in one.walk() if node.stop == "pure" and node.rows > 1)
    assert tw.edit.apply(one, tw.edit.Split(pure, "b", threshold=1.5), constant)[pure].edit.against == "pure"
    limited = learned("best_first")
    leaf = next(node.id for node in limited.walk() if node.stop == "leaf limit")
    column = limited[leaf].rivals[0]
    how = {"threshold": column.breaks} if column.breaks else {"groups": [g for g in column.groups if g][:1]}
    assert tw.edit.apply(limited, tw.edit.Split(leaf, column.column, **how), DATA)[leaf].edit.against == "leaf limit"


def test_a_split_without_gain_is_marked() -> None:
    data = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": ["p", "q", "q", "p"] * 5}
    tree = tw.learn(data, "y", tw.CART.with_(pruning=None))
    assert tree.n_nodes == 1
    xor = [tw.edit.Split(0, "a", threshold=0.5), tw.edit.Grow(2), tw.edit.Grow(1)]
    solved = tw.edit.replay(tree, xor, data)
    assert solved.root.edit.against == "no gain"
    assert list(tw.predict(solved, data)) == data["y"]
    assert "against the recipe: no gain" in tw.explain_node(solved, 0).text()


# --- missing values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0, 1, "stop", "random"])
@pytest.mark.parametrize("name", ["cart", "rpart", "c45"])
def test_missing_values_go_where_the_edit_says(name, missing) -> None:
    tree = learned(name)
    edited = tw.edit.replay(tree, [tw.edit.Split(0, "age", threshold=30.5, missing=missing), tw.edit.Grow(2)], DATA)
    assert edited.root.split.missing == missing
    assert edited.root.surrogates == ()
    lacking = np.isnan(DATA["age"])
    known = [(DATA["age"] <= 30).sum(), (DATA["age"] > 30).sum()]
    added = [0, 0] if missing == "stop" else [lacking.sum() * (missing == child) for child in (0, 1)]
    if missing != "random":
        assert [edited[c].rows for c in edited.root.children] == [k + a for k, a in zip(known, added, strict=True)]
    leaves = tw.apply(edited, {k: v for k, v in DATA.items() if k != "y"})
    counts = np.bincount(leaves, minlength=edited.n_nodes)
    if name != "c45":  # whose other splits spread rows
        assert all(counts[node.id] == node.rows for node in edited.walk() if node.is_leaf)


# --- what is refused --------------------------------------------------------------------------------------------------

E = tw.edit
REFUSED = [
    (E.Collapse(99), "there is no node 99"),
    (E.Split(0, "fare", threshold=1e9), "child 1 of node 0 would be empty: 'fare' is never > 1000000000 there"),
    (E.Split(0, "fare", threshold=(-3, 20)), "child 0 of node 0 would be empty"),
    (E.Split(0, "far", threshold=3), "no column 'far'; did you mean 'fare'"),
    (E.Split(0, "town", threshold=3), "'town' is nominal and has levels"),
    (E.Split(0, "fare", groups=[["a"], ["b"]]), "'fare' is numeric and has no levels"),
    (E.Split(0, "town", groups=[["paris"]]), "'town' has no level 'paris'"),
    (E.Split(0, "town", groups=[["oslo"], ["rome"]]), "belong to no group"),
    (E.Split(0, "town", groups=[["oslo", "rome", "cork", "ulm"]]), "child 1 of node 0 would be empty"),
    (E.Split(0, "fare", threshold=20, missing=2), "children 0 to 1"),
    (E.Split(0, "fare", threshold=20, missing="spread"), "needs a tree of missing=Fractional"),
    (E.SetPrediction(0, "yes"), "has children"),
    (E.Forbid(0, "far"), "no column 'far'"),
    (E.Allow(0, "fare"), "'fare' is not forbidden in node 0"),
    (E.Grow(0, without=["far"]), "no column 'far'"),
]


@pytest.mark.parametrize(("edit", "reason"), REFUSED, ids=[f"{type(e).__name__} {r[:20]}" for e, r in REFUSED])
def test_impossible_edits_are_refused_with_the_reason(edit, reason) -> None:
    with pytest.raises(tw.DataError, match=reason):
        tw.edit.apply(learned("cart"), edit, DATA)


def test_more_impossible_edits() -> None:
    tree = learned("cart")
    leaf = next(node for node in tree.walk() if node.is_leaf)
    for edit, reason in (
        (E.Collapse(leaf.id), "is a leaf already"),
        (E.SetPrediction(leaf.id, "never"), "'never' is no class of 'y'"),
    ):
        with pytest.raises(tw.DataError, match=reason):
            tw.edit.apply(tree, edit)
    locked = tw.edit.apply(tree, E.Lock(leaf.id))
    for edit in (
        E.Split(leaf.id, "fare", threshold=5),
        E.Grow(0),
        E.Collapse(leaf.parent),
        E.SetPrediction(leaf.id, "no"),
    ):
        with pytest.raises(tw.DataError, match="locked; unlock it first"):
            tw.edit.apply(locked, edit, DATA)
    assert tw.edit.apply(locked, E.Unlock(leaf.id)) == tree
    forbidden = tw.edit.apply(tree, E.Forbid(0, "fare"))
    with pytest.raises(
        tw.DataError, match=r"'fare' is forbidden in node 0 and below; allow it first: Allow\(0, 'fare'\)"
    ):
        tw.edit.apply(forbidden, E.Split(leaf.parent, "fare", threshold=20), DATA)
    with pytest.raises(tw.DataError, match="forbidden in node 0, above"):
        tw.edit.apply(forbidden, E.Allow(leaf.id, "fare"))
    assert tw.edit.apply(forbidden, E.Allow(0, "fare")) == tree
    constant = {"a": [1, 2, 3, 4], "b": [5, 5, 5, 5], "y": ["p", "q", "p", "q"]}
    with pytest.raises(tw.DataError, match="'b' has only the value 5 in the 4 rows of node 0"):
        tw.edit.apply(tw.learn(constant, "y"), E.Split(0, "b", threshold=5), constant)
    number = tw.learn(table(regression=True), "y", RECIPES["cart"])
    with pytest.raises(tw.DataError, match="is a number"):
        tw.edit.apply(number, E.SetPrediction(number.n_nodes - 1, "yes"))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: E.Split(0, "a"), "either threshold= .* or groups="),
        (lambda: E.Split(0, "a", threshold=1, groups=[["x"]]), "either threshold= .* or groups="),
        (lambda: E.Split(0, "a", threshold=float("nan")), "finite number"),
        (lambda: E.Split(0, "a", threshold=(2, 1)), "must rise"),
        (lambda: E.Split(0, "a", groups=[["x"], ["y", "x"]]), "'x' is named twice"),
        (lambda: E.Split(0, "a", groups=["xy"]), "list of lists"),
        (lambda: E.Split(0, "a", groups=[["x"], []]), "every group needs a level"),
        (lambda: E.Split(0, "a", threshold=1, missing="left"), "missing must be a whole number"),
        (lambda: E.Grow(0, levels=0), "at least 1"),
        (lambda: E.Grow(-1), "node must be"),
        (lambda: E.Grow(0, keep="yes"), "keep must be true or false"),
        (lambda: E.Forbid(0, []), "at least one column"),
        (lambda: E.Edit.from_dict({"edit": "Cut"}), "no edit 'Cut'"),
        (lambda: E.Edit.from_dict({"edit": "Lock", "nodes": 3}), "has no 'nodes'"),
        (lambda: E.Edit.from_dict({"edit": "Lock"}), "needs 'node'"),
    ],
)
def test_edits_that_can_never_be_are_refused_when_made(make, reason) -> None:
    with pytest.raises(tw.DataError, match=reason):
        make()


def test_other_rows_are_refused() -> None:
    tree = learned("cart")
    fewer = {name: values[:-3] for name, values in DATA.items()}
    with pytest.raises(tw.DataError, match="grown on 240 rows, and the table has 237"):
        tw.edit.apply(tree, E.Grow(0), fewer)
    with pytest.raises(tw.DataError, match="they are not the rows"):
        tw.edit.apply(tree, E.Grow(1), table(seed=1))
    with pytest.raises(tw.DataError, match="give them as data="):
        tw.edit.apply(tree, E.Grow(1))
    honest = tw.learn(DATA, "y", RECIPES["cart"], honest=True)
    with pytest.raises(tw.DataError, match="honest"):
        tw.edit.apply(honest, E.Lock(0))


def test_rows_that_reduced_error_pruning_set_aside_are_not_grown_on() -> None:
    recipe = tw.CART.with_(pruning=tw.pruning.ReducedError(share=0.3))
    tree = tw.learn(DATA, "y", recipe)
    assert tw.edit.apply(tree, E.Grow(0), DATA).root.rows == tree.root.rows < 240


# --- the rest of the library ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def edited():
    tree = learned("cart")
    first = tree.root.children[0]
    log = [
        E.Split(first, "noise", threshold=0.5),
        E.Grow(first + 1, recipe="c45"),
        E.Forbid(0, "fare"),
        E.SetPrediction(tree.n_nodes and first + 2, "maybe"),
    ]
    edited = tree
    for edit in log:
        try:
            edited = tw.edit.apply(edited, edit, DATA)
        except tw.DataError:
            leaf = [node.id for node in edited.walk() if node.is_leaf][-1]
            edited = tw.edit.apply(edited, E.SetPrediction(leaf, "maybe"))
    assert {one.split for one in edited.edits} == {True, False}
    return edited


def test_saving_and_pickling_keep_edits(edited, tmp_path) -> None:
    import pickle

    tw.save(edited, tmp_path / "tree.json")
    assert tw.load(tmp_path / "tree.json") == edited
    assert pickle.loads(pickle.dumps(edited)) == edited
    assert "edits" not in learned("cart").as_dict()
    assert dataclasses.replace(edited, edits=()) != edited


def test_a_set_prediction_is_predicted_explained_and_exported(edited) -> None:
    leaf = next(one.node for one in edited.edits if one.prediction)
    features = {name: values for name, values in DATA.items() if name != "y"}
    here = np.flatnonzero(tw.apply(edited, features) == leaf)
    assert (tw.predict(edited, features)[here] == "maybe").all()
    assert "set by hand" in tw.explain_node(edited, leaf).text()
    assert "set by hand" in str(edited)
    namespace: dict = {}
    exec(tw.export.python(edited), namespace)
    rows = [{name: _plain(values[i]) for name, values in features.items()} for i in range(60)]
    assert [namespace["predict"](row) for row in rows] == list(tw.predict(edited, features)[:60])


def _plain(value):
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and np.isnan(value) else value


def test_every_node_of_an_edited_tree_is_explained(edited) -> None:
    for node in edited.walk():
        explained = tw.explain_node(edited, node.id, DATA)
        assert explained.complete, explained.text()
    assert edited[next(one.node for one in edited.edits if one.recipe)].recipe.name == "C45"
    features = {name: values for name, values in DATA.items() if name != "y"}
    assert len(tw.rules(edited)) > 1
    assert tw.explain_row(edited, {name: [values[0]] for name, values in features.items()}).text()
    assert "<svg" in tw.render.svg(edited)
    assert tw.export.sql(edited, table="t")
    assert tw.report(edited, DATA)


@pytest.mark.parametrize(
    "pruner",
    [
        tw.pruning.CostComplexity(0.02),
        tw.pruning.CostComplexityCV(folds=3),
        tw.pruning.Pessimistic(),
        tw.pruning.MaxLeaves(3),
        tw.pruning.ErrorBased(),
        tw.pruning.ReducedError(),
    ],
    ids=lambda pruner: type(pruner).__name__,
)
def test_edited_trees_are_pruned_and_marks_follow_their_nodes(edited, pruner) -> None:
    smaller = tw.prune(edited, pruner, DATA)
    assert smaller.n_leaves <= edited.n_leaves
    for one in smaller.edits:
        if one.split:
            assert smaller[one.node].split.column == "noise"
        if one.prediction:
            assert smaller[one.node].prediction == "maybe"
    locked = tw.edit.apply(edited, E.Lock(edited.n_nodes - 1))
    with pytest.raises(tw.DataError, match="is locked and would be cut off"):
        tw.prune(locked, tw.pruning.MaxDepth(0))


def test_undo_is_a_shorter_log() -> None:
    import random

    tree = learned("c45")
    log, trees = random_log(random.Random(3), tree, DATA, 12)
    for i in range(len(log) + 1):
        assert tw.edit.replay(tree, log[:i], DATA) == trees[i]


def test_marks_of_hand_made_nodes_on_the_picture_and_the_page() -> None:
    data = table()
    plain = tw.learn(data, "y", RECIPES["cart"])
    edited = tw.edit.apply(plain, tw.edit.Split(0, "noise", threshold=0.5), data)
    edited = tw.edit.apply(edited, tw.edit.SetPrediction(1, "yes"))
    assert "✎" not in tw.render.svg(plain)
    picture = tw.render.svg(edited)
    assert picture.count("✎ ") == 2
    assert "by hand" in picture
    assert "set by hand" in picture
    marks = tw.report(edited)["nodes"]["by_hand"]
    assert marks[0].startswith("by hand")
    assert marks[1] == "set by hand"
    assert not any(marks[2:])
    assert tw.report(plain)["nodes"]["by_hand"] is None


# --- pruning ----------------------------------------------------------------------------------------------------------

P = tw.pruning
PRUNERS = [
    P.CostComplexity(0.004), P.CostComplexity(0.01, "impurity", unit="root"), P.CostComplexityCV(folds=4),
    P.ImpurityThresholdCV(folds=4), P.ErrorBased(), P.ErrorBased(raising=False), P.Pessimistic(), P.MinimumError(),
    P.CriticalValue(0.02), P.MinimumDescription(), P.MergeEqualLeaves(), P.MaxDepth(2), P.MaxLeaves(4),
]  # fmt: skip


@pytest.mark.parametrize("name", ["cart", "c45", "own", "shrunk"])
@pytest.mark.parametrize("pruner", PRUNERS, ids=lambda one: type(one).__name__)
def test_pruning_the_root_by_hand_is_pruning_the_tree(name, pruner) -> None:
    tree = learned(name)
    ours, theirs = tw.edit.apply(tree, E.Prune(0, pruner), DATA), tw.prune(tree, pruner, DATA)
    assert ours.recipe == tree.recipe
    assert [(c.node, c.question, c.leaves) for c in ours.cuts] == [(c.node, c.question, c.leaves) for c in theirs.cuts]
    assert all(cut.reason.startswith("by hand: ") for cut in ours.cuts)
    assert dataclasses.replace(ours, cuts=theirs.cuts, recipe=theirs.recipe) == theirs


@pytest.mark.parametrize("name", ["cart", "c45", "own", "shrunk", "each_value"])
@pytest.mark.parametrize("pruner", [one for one in PRUNERS if not E.Prune(0, one).needs_rows], ids=repr)
def test_a_subtree_is_pruned_as_a_tree_of_its_own(name, pruner) -> None:
    """The rows of a node alone, learned from and pruned: the same leaves; all other nodes keep every bit."""
    tree = tw.edit.apply(learned(name), E.Collapse(3) if not learned(name)[3].is_leaf else E.Lock(0), DATA)
    for node in [one.id for one in tree.walk() if not one.is_leaf and one.depth in (1, 2)]:
        pruned = tw.edit.apply(tree, E.Prune(node, pruner))
        below = subtree(tree, node)
        alone = tw.prune(dataclasses.replace(below, edits=()), pruner)
        end, new_end = ends(tree)[node], ends(pruned)[node]
        assert new_end - node == alone.n_nodes
        for field in ("rows", "stats", "impurity", "gain", "stop", "value"):
            np.testing.assert_array_equal(pruned.arrays[field][:node], tree.arrays[field][:node])
            np.testing.assert_array_equal(pruned.arrays[field][new_end:], tree.arrays[field][end:])
            if field != "value" or name != "shrunk":
                np.testing.assert_array_equal(pruned.arrays[field][node:new_end], alone.arrays[field])
        assert [pruned[i].split for i in range(node, new_end)] == [one.split for one in alone]
        gone = pruned.n_leaves - tree.n_leaves
        assert gone == alone.n_leaves - below.n_leaves
        assert len(pruned.cuts) == len(tree.cuts) - len(below.cuts) + len(alone.cuts)
        assert tw.export.from_json(tw.export.to_json(pruned)) == pruned


def test_the_price_of_a_leaf_in_a_subtree_is_a_fraction_of_its_own_weight() -> None:
    tree = learned("cart")
    node = max(tree.root.children, key=lambda child: tree[child].weight)
    share = tree[node].weight / tree.root.weight
    alpha = 0.01
    inside = tw.edit.apply(tree, E.Prune(node, P.CostComplexity(alpha)))
    whole = tw.prune(tree, P.CostComplexity(alpha * share))
    size = ends(whole)[node] - node
    assert ends(inside)[node] - node == size
    np.testing.assert_array_equal(inside.arrays["rows"][node : node + size], whole.arrays["rows"][node : node + size])


def test_pruning_by_hand_keeps_locks_and_what_was_done() -> None:
    tree = learned("cart")
    leaf = next(node for node in tree.walk() if node.is_leaf and node.depth >= 3)
    child = next(one for one in tree.root.children if one <= leaf.id < ends(tree)[one])
    locked = tw.edit.apply(tree, E.Lock(leaf.id))
    for node in (0, child):
        with pytest.raises(tw.DataError, match=rf"node {leaf.id} is locked and would be cut off; unlock it first: Unl"):
            tw.edit.apply(locked, E.Prune(node, P.MaxLeaves(1)))
    other = next(one for one in tree.root.children if one != child)
    smaller = tw.edit.apply(locked, E.Prune(other, P.MaxLeaves(1)))
    assert smaller[other].is_leaf
    assert [edit.locked for edit in smaller.edits] == [True]
    again = tw.edit.apply(smaller, E.Grow(other), DATA)
    assert dataclasses.replace(again, edits=(), cuts=()) == tree
    noted = tw.edit.replay(tree, [E.Forbid(0, "fare"), E.Prune(0, P.MaxDepth(1))], DATA)
    assert noted.root.edit.forbidden == ("fare",)
    assert tw.edit.apply(noted, E.Prune(0, P.MaxDepth(1))) is noted


REFUSED_PRUNERS = [
    (lambda: E.Prune(3, P.CostComplexityCV()), "prune node 0 by it, or node 3 by a pruner that needs no rows"),
    (lambda: E.Prune(3, P.ErrorBased()), "prune node 0 by it"),
    (lambda: E.Prune(0, P.ReducedError()), "needs rows that the tree has not seen"),
    (lambda: E.Prune(0, P.AdjustedError()), "compares linear models"),
    (lambda: E.Prune(0, P.CollapseNodes((3,))), r"an edit Collapse\(node\)"),
    (lambda: E.Prune(0, "cost_complexity"), "pruner='cost_complexity' is not known; choose from"),
    (lambda: E.Prune(0, 0.1), "pruner must be a pruner"),
    (lambda: E.Edit.from_dict({"edit": "Prune", "node": 0}), "Prune needs 'pruner'"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED_PRUNERS, ids=[reason for _, reason in REFUSED_PRUNERS])
def test_pruners_that_an_edit_cannot_be_are_refused(make, reason) -> None:
    with pytest.raises(tw.DataError, match=reason):
        make()


def test_pruning_that_cannot_be_done_is_refused() -> None:
    tree = learned("cart")
    leaf = next(node.id for node in tree.walk() if node.is_leaf)
    with pytest.raises(tw.DataError, match="is a leaf, so nothing lies below it"):
        tw.edit.apply(tree, E.Prune(leaf, P.MaxDepth(1)))
    with pytest.raises(tw.DataError, match="Prune needs the rows that the tree was learned from"):
        tw.edit.apply(tree, E.Prune(0, P.ErrorBased()))
    numbers = tw.learn(table(regression=True), "y", RECIPES["cart"])
    with pytest.raises(tw.DataError, match="Pessimistic counts wrong classes"):
        tw.edit.apply(numbers, E.Prune(0, P.Pessimistic()))
