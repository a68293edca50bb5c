"""The texts of a node, in every kind of picture.

Each text is printable and on one line; numbers are rounded for reading, the node has them in full.
"""

from __future__ import annotations

from treewright.data.number_text import amount, many, percent
from treewright.recipes.branching import Merge
from treewright.recipes.missing import LearnedDirection, OwnCategory
from treewright.recipes.recipe import Recipe
from treewright.render.model_text import guard_text, leaf_text
from treewright.tree.split import Split
from treewright.tree.text import level_text, name_text, printable
from treewright.tree.tree import Node, Tree

#: Longer lists of levels are cut: the words are for reading, `Split.conditions` has them all.
MOST_LEVELS = 6


def heading(tree: Tree) -> str:
    """Return what the tree is: its recipe, its target, its size."""
    root = tree.root
    weight = "" if same(root.weight, root.rows) else f" of weight {amount(root.weight)}"
    return (
        f"{printable(tree.recipe.name)} tree for {name_text(tree.schema.target.name)}: "
        f"{many(root.rows, 'row')}{weight}, {many(tree.n_leaves, 'leaf')}, depth {tree.depth}"
    )


def prediction_text(node: Node) -> str:
    """Return the class, the number in full, or the linear model."""
    model = leaf_text(node)
    if model is not None:
        return model
    prediction = node.prediction
    return name_text(prediction) if isinstance(prediction, str) else level_text(prediction)


def size_text(node: Node) -> str:
    """Return how many rows a node has."""
    root = node.tree.root
    return rows_text(node.weight, node.rows, weighted=not same(root.weight, root.rows))


def rows_text(weight: float, rows: int, weighted: bool) -> str:
    """Return rows, in fractions where rows were spread; or weight, where rows came with weights."""
    if weighted:
        return f"weight {amount(weight)}"
    return many(rows, "row") if same(weight, rows) else f"{amount(weight)} rows"


def certainty(node: Node) -> str:
    """Return the class's share, the standard deviation or the range guard of a node, as text; "" without rows."""
    if node.model is not None:
        return guard_text(node.model)
    share = prediction_share(node)
    return spread_text(node) if share is None else percent(share)


def spread_text(node: Node) -> str:
    """Return the standard deviation of a node's numbers; "" for classes and for a single row."""
    return f"± {amount(node.deviation or 0.0)}" if node.counts is None and node.rows > 1 else ""


def prediction_share(node: Node) -> float | None:
    """Return the share of the weight that has the predicted class; None for numbers and for empty nodes."""
    counts = node.counts
    if counts is None or sum(counts) <= 0:
        return None
    return counts[prediction_index(node)] / sum(counts)


def prediction_index(node: Node) -> int:
    """Return the place of the predicted class among the classes."""
    return list(node.tree.schema.target.classes or ()).index(node.prediction)


def merges_missing(recipe: Recipe) -> bool:
    """Return whether missing values are a category that is merged with others, as in CHAID."""
    return isinstance(recipe.missing, OwnCategory) and isinstance(recipe.branching, Merge)


def met_missing(node: Node, split: Split, children: list[Node]) -> bool:
    """Return whether rows without a value were seen here while growing, as far as the tree shows.

    Rows were then left behind or doubled, or the children's weights are not the shares of the known rows. Policies that
    score missing rows with the rest leave no such trace. Where missing values are a category that is merged with others
    (CHAID), the branch that holds them always names them. A learned direction is remarkable only if it is not the
    heaviest child, because without missing rows it is that one (a last line of the text states it). With costs or
    priors shares are of altered weights, and show nothing.
    """
    if sum(child.rows for child in children) != node.rows:
        return True
    weights = [child.weight for child in children]
    missing = node.tree.recipe.missing
    if merges_missing(node.tree.recipe):
        return True
    if isinstance(missing, (OwnCategory, LearnedDirection)):
        return split.missing != weights.index(max(weights))
    total, target = sum(weights), node.tree.schema.target
    if target.costs is not None or target.priors is not None:
        return False
    return total > 0 and any(abs(w / total - share) > 1e-6 for w, share in zip(weights, split.share, strict=True))


def facts(node: Node, *more: str) -> str:
    """Return what stands behind a prediction, in brackets."""
    parts = (size_text(node), certainty(node), honest_text(node), calibrated_range(node), *more, *leaf_marks(node))
    return f"  ({', '.join(filter(None, parts))})"


def leaf_marks(node: Node) -> list[str]:
    """Return what was done by hand to the prediction of a node."""
    edit = node.edit
    marks = {"set by hand": edit.prediction, "locked": edit.locked and node.is_leaf} if edit is not None else {}
    return [words for words, is_so in marks.items() if is_so]


def split_mark(node: Node) -> str:
    """Return what was done by hand to the split of a node; "" where nothing was."""
    edit = node.edit
    if edit is None or node.is_leaf:
        return ""
    given = "" if not edit.split else "by hand" if edit.against is None else f"by hand: {edit.against}"
    marks = ", ".join(filter(None, (given, "locked" if edit.locked else "")))
    return f"  [{marks}]" if marks else ""


def hand_marks(node: Node) -> str:
    """Return what was done by hand to a node, its split or its prediction; "" where nothing was."""
    return ", ".join(filter(None, (split_mark(node).strip(" []"), *leaf_marks(node))))


def edit_remarks(tree: Tree) -> list[str]:
    """Return what was done by hand that no line of the tree shows."""
    remarks = [f"at the root: {split_mark(tree.root).strip(' []')}"] if split_mark(tree.root) else []
    for edit in tree.edits:
        if edit.forbidden:
            columns = ", ".join(map(name_text, edit.forbidden))
            remarks.append(f"forbidden in node {edit.node} and below: {columns}")
        if edit.recipe is not None:
            remarks.append(f"node {edit.node} and those below are by the recipe {printable(edit.recipe.name)}")
    return remarks


def honest_text(node: Node) -> str:
    """Return the estimate of an honest tree, from rows that chose no split; otherwise ""."""
    honest, classes = node.tree.honest, node.tree.schema.target.classes
    if honest is None:
        return ""
    weight = honest.weight(node.id, classes=classes is not None)
    rows = f"{amount(weight)} {'other row' if weight == 1 else 'other rows'}"
    if classes is None or not weight > 0:
        return rows
    return f"{percent(honest.stats[node.id][prediction_index(node)] / weight)} of {rows}"


def calibrated_range(node: Node) -> str:
    """Return the interval or the classes that cover new rows, of a calibrated tree; otherwise ""."""
    calibration, classes = node.tree.calibration, node.tree.schema.target.classes
    if calibration is None:
        return ""
    limit, value = calibration.score[node.id], node.tree.arrays["value"][node.id]
    if node.tree.models:
        covered = f"± {amount(limit)}"
    elif classes is None:
        covered = f"{amount(float(value[0]) - limit)} to {amount(float(value[0]) + limit)}"
    else:
        held = [level_text(level) for level, share in zip(classes, value, strict=True) if 1.0 - share <= limit]
        covered = "{" + ", ".join(held) + "}"
    return f"{percent(calibration.coverage)}: {covered}"


def missing_remark(node: Node, split: Split) -> str | None:
    """Return a line of its own where a missing value does more than go to one child."""
    predictions = {
        "spread": ": every branch, by share",
        "random": ": one branch, drawn by share",
        "stop": f": {prediction_text(node)}{facts(node)}",
    }
    instead = ", ".join(name_text(surrogate.column) for surrogate in node.surrogates)
    if isinstance(split.missing, str):
        last = predictions[split.missing]
    elif instead:
        last = f": {split.words(most=MOST_LEVELS, with_missing=False)[split.missing]}"
    else:
        return None
    start = f"{name_text(split.column)} is missing"
    return f"{start}: surrogates {instead}; else{last.removeprefix(':')}" if instead else start + last


def branch_words(node: Node, most: int | None = None, *, named: bool = True) -> tuple[str, ...]:
    """Return the condition of each branch, with "or missing" where rows without a value were seen and go there."""
    split = node.split
    assert split is not None  # only nodes with children have branches
    met = met_missing(node, split, [node.tree[child] for child in node.children])
    return split.words(most=most, with_missing=met and missing_remark(node, split) is None, named=named)


def missing_remarks(tree: Tree) -> list[str]:
    """Return what to mention where `met_missing` cannot tell."""
    if tree.root.is_leaf or not isinstance(tree.recipe.missing, (OwnCategory, LearnedDirection)):
        return []
    if merges_missing(tree.recipe):
        return []  # every split shows it
    return ["where missing is not mentioned, a missing value goes to the largest branch"]


def certificate_remarks(tree: Tree) -> list[str]:
    """Return what a search for the best tree has proven, and how the tree was calibrated."""
    return [str(added) for added in (tree.certificate, tree.soft, tree.honest, tree.calibration) if added is not None]


def task_remarks(tree: Tree) -> list[str]:
    """Return what was inferred from a target of whole numbers, and how to have it otherwise."""
    target = tree.schema.target
    if not target.inferred:
        return []
    name = name_text(target.name)
    if target.classes is None:
        return [f"{name} was taken as a number, for it has many whole numbers; task='classification' learns classes"]
    few = many(len(target.classes), "whole number")
    return [f"{name} was taken as classes, for it has only {few}; task='regression' learns a number"]


#: Why a tree may be one leaf, by the reason that its root has, and what lets it grow.
_ONE_LEAF = {
    "depth": ("no depth is allowed", "a larger max_depth"),
    "too few rows": ("the table has fewer rows than a split needs", "a smaller min_samples_split"),
    "no column": ("no column has two different values", "other columns"),
    "no gain": ("no split improves the criterion", "another criterion"),
    "children too small": ("every split has a child with too few rows", "a smaller min_samples_leaf"),
    "leaf limit": ("no second leaf is allowed", "a larger max_leaf_nodes"),
    "impurity low enough": ("the rows agree well enough", "a smaller max_impurity"),
    "not significant": ("no split is significant", "a larger significance"),
    "collapsed": ("the splits do not lower the number of errors", "simplify=None"),
    "complexity": ("no split improves the fit by as much as cp", "a smaller cp"),
    "decrease too small": ("no split improves the criterion enough", "a smaller min_impurity_decrease"),
    "pruned": ("pruning cut all splits", "pruning=None"),
    "by hand": ("an edit left it so", "tw.edit.Grow(0)"),
}


def one_leaf_remarks(tree: Tree) -> list[str]:
    """Return why a tree has one leaf only, and which settings change that; a pure root needs no words."""
    root = tree.root
    if not root.is_leaf or root.stop not in _ONE_LEAF or tree.models:  # one model may suffice
        return []
    why, remedy = _ONE_LEAF[root.stop]
    if root.stop == "pruned" and tree.cuts:
        why += f" ({tree.cuts[-1].reason})"
    remedies = [remedy]
    if tree.schema.target.classes is not None and root.stop not in ("depth", "no column"):
        remedies.append("class_weight='balanced', costs= or priors= where a class is rare")
    return [f"one leaf: {why}; remedies: {', '.join(remedies)}"]


def same(weight: float, rows: int) -> bool:
    """Return whether the weight is just the number of rows."""
    return abs(weight - rows) <= 1e-9 * max(1.0, float(rows))
