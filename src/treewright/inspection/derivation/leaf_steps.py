"""The prediction of a node, step by step, and why it has no split.

The probabilities, and the prediction, are those the tree stores; where what is stored does not lead to them (an empty
leaf takes its parent's, a median), it is stated.
"""

from __future__ import annotations

from collections.abc import Sequence

from treewright.data.number_text import count_text, figure
from treewright.inspection.derivation.formula import Expression, Fraction, Number, Product, Sum, total
from treewright.inspection.derivation.impurity_steps import MOST_TERMS, DerivationStep, figures_of, of, shortened, step
from treewright.recipes.criterion import AbsoluteError
from treewright.recipes.leaves import Constant
from treewright.tree.leaf_values import counted_value, counted_weight, is_shrunk, statistics_of
from treewright.tree.models import LinearModel
from treewright.tree.text import level_text, model_text
from treewright.tree.tree import Node


def prediction_steps(node: Node) -> tuple[DerivationStep, ...]:
    """Derive the prediction of a node from its rows."""
    if node.edit is not None and node.edit.prediction:
        return (_set_by_hand(node),)
    if node.counts is None:
        return _number_steps(node)
    classes, chances = node.tree.schema.target.classes or (), node.probabilities or ()
    prediction = level_text(node.prediction)
    steps = (_shrunk if _is_shrunk(node) else _shares)(node) if counted_weight(node.tree, node.id) > 0 else ()
    if node.tree.schema.target.costs is not None:
        return (*steps, *_cheapest(node, prediction))
    best = max(chances)
    words = "the most probable class" + (", the first of equals" if chances.count(best) > 1 else "")
    place = list(classes).index(node.prediction)
    return (*steps, DerivationStep("Prediction", words, None, chances[place], f"{prediction} ({figure(best)})"))


def _set_by_hand(node: Node) -> DerivationStep:
    if node.counts is None:
        return step(
            "Prediction", "set by hand, whatever the rows say", None, float(node.tree.arrays["value"][node.id, 0])
        )
    return DerivationStep(
        "Prediction", "set by hand, whatever the rows say", None, 1.0, f"{level_text(node.prediction)} (1)"
    )


def _shares(node: Node) -> tuple[DerivationStep, ...]:
    """Return the probability of each class, smoothed by the recipe."""
    tree, chances = node.tree, node.probabilities or ()
    counts, root = statistics_of(tree, node.id), statistics_of(tree, 0)
    classes, leaves, weight = tree.schema.target.classes or (), tree.recipe.leaves, sum(counts)
    assert isinstance(leaves, Constant)  # classes have no linear models
    words = {
        "none": "weight of the class / weight of the leaf",
        "laplace": "(weight of the class + 1) / (weight of the leaf + number of classes)",
        "m_estimate": "(weight of the class + m × its share in the whole table) / (weight of the leaf + m)",
    }.get(leaves.smoothing, "weight of the class / weight of the root") + _which_rows(node)
    steps = []
    likely = sorted(range(len(classes)), key=lambda i: -chances[i])[:MOST_TERMS]
    many = len(classes) > MOST_TERMS
    for i in sorted(i for i in likely if counts[i] > 0 or not many):
        top: Expression = Number(count_text(counts[i]))
        bottom: Expression = Number(count_text(weight))
        if leaves.smoothing == "laplace":
            top = Sum((("+", top), ("+", Number("1"))))
            bottom = Sum((("+", bottom), ("+", Number(str(len(classes))))))
        elif leaves.smoothing == "m_estimate":
            m = Number(count_text(leaves.m))
            top = Sum((("+", top), ("+", Product((m, of(root[i], sum(root)))))))
            bottom = Sum((("+", bottom), ("+", m)))
        steps.append(step(f"Probability of {level_text(classes[i])}", words, Fraction(top, bottom), chances[i]))
    return tuple(steps)


def _which_rows(node: Node) -> str:
    return "" if node.tree.honest is None else ", of the rows that chose no split"


def _is_shrunk(node: Node) -> bool:
    return is_shrunk(node.tree.recipe.leaves) and node.parent is not None


def _shrunk(node: Node) -> tuple[DerivationStep, ...]:
    """Return the probability of each class, drawn towards the parent's."""
    classes, chances = node.tree.schema.target.classes or (), node.probabilities or ()
    likely = sorted(sorted(range(len(classes)), key=lambda i: -chances[i])[:MOST_TERMS])
    return tuple(_shrunk_step(node, i, f"Probability of {level_text(classes[i])}") for i in likely)


def _shrunk_step(node: Node, output: int, label: str) -> DerivationStep:
    tree, parent, leaves = node.tree, node.parent, node.tree.recipe.leaves
    assert parent is not None
    assert isinstance(leaves, Constant)
    what = "mean" if tree.schema.target.classes is None else "share"
    own, above = (counted_value(tree, i)[output] for i in (node.id, parent))
    words = (
        f"prediction of the parent + ({what} here - {what} in the parent) / (1 + m / weight of the parent)"
        + _which_rows(node)
    )
    difference = Sum((("+", figures_of(own)), ("-", figures_of(above))))
    weight = Fraction(Number(count_text(leaves.m)), Number(count_text(counted_weight(tree, parent))))
    moved = Fraction(difference, Sum((("+", Number("1")), ("+", weight))))
    predicted = tree.arrays["value"][:, output]
    numbers = Sum((("+", figures_of(float(predicted[parent]))), ("+", moved)))
    return step(label, words, numbers, float(predicted[node.id]))


def _cheapest(node: Node, prediction: str) -> tuple[DerivationStep, ...]:
    """Return what each prediction would cost, and the cheapest."""
    target, chances = node.tree.schema.target, node.probabilities or ()
    classes, costs = target.classes or (), target.costs or ()
    steps, prices = [], []
    for j, level in enumerate(classes):
        parts: list[Expression] = [
            Product((figures_of(chances[i]), Number(count_text(costs[i][j])))) for i in range(len(classes)) if i != j
        ]
        prices.append(sum(chances[i] * costs[i][j] for i in range(len(classes))))
        if j < MOST_TERMS:
            words = "over all other classes, their probability × the cost of this prediction where they are true"
            label = f"Cost of predicting {level_text(level)}"
            steps.append(step(label, words, total(shortened(parts)) if parts else Number("0"), prices[-1]))
    best = min(prices)
    return (
        *steps,
        DerivationStep(
            "Prediction", "the cheapest class, the first of equals", None, best, f"{prediction} ({figure(best)})"
        ),
    )


def _number_steps(node: Node) -> tuple[DerivationStep, ...]:
    weight, mean = statistics_of(node.tree, node.id)
    value = float(node.tree.arrays["value"][node.id, 0])
    if node.model is not None:
        return (_model_step(node, node.model),)
    if not weight > 0:
        return (step("Prediction", "no row came here: the prediction of the parent", None, value),)
    if isinstance(node.tree.recipe.regression, AbsoluteError):
        words = "the median: half the weight lies at or below it (the lower one of two)"
        return (step("Prediction", words, None, value),)
    if _is_shrunk(node):
        return (_shrunk_step(node, 0, "Prediction"),)
    numbers = Fraction(figures_of(weight * mean), Number(count_text(weight)))
    return (step("Prediction", "the mean: sum of the targets / weight" + _which_rows(node), numbers, value),)


def _model_step(node: Node, model: LinearModel) -> DerivationStep:
    """Return the linear model, put to the test where every term has its mean: there it predicts the mean."""
    terms: list[tuple[str, Expression]] = [("+", figures_of(model.intercept))]
    at_means = model.intercept
    for term in model.terms:
        at_means += term.coefficient * term.fill
        sign = "-" if term.coefficient < 0 else "+"
        terms.append((sign, Product((figures_of(abs(term.coefficient)), figures_of(term.fill)))))
    words = f"{model_text(node.tree.schema, model)}; with the means of the rows here"
    return step("Linear model", words, Sum(tuple(terms)), at_means)


# --- why a leaf stopped -----------------------------------------------------------------------------------------------


def stop_text(node: Node) -> str:
    """Return why a leaf has no split, with the numbers that decided."""
    stopping, recipe, tree = node.tree.recipe.stopping, node.tree.recipe, node.tree
    rows, weight = node.rows, count_text(node.weight)
    known = {
        "pure": "all its rows have the same target",
        "depth": f"it lies at depth {node.depth}, and max_depth={stopping.max_depth} allows no deeper",
        "too few rows": (
            f"{rows} rows of weight {weight} are too few to split (min_samples_split={stopping.min_samples_split}, "
            f"min_weight_split={stopping.min_weight_split:g}, min_samples_leaf={stopping.min_samples_leaf})"
        ),
        "no column": "no column has two different values here",
        "no gain": f"no split gains anything{_best_of(node)}",
        "children too small": "every split would leave a branch too small" + _sizes(node),
        "leaf limit": f"max_leaf_nodes={stopping.max_leaf_nodes} was reached; others gained more",
        "impurity low enough": (
            f"its impurity {figure(node.impurity)} is at or below max_impurity={stopping.max_impurity}"
        ),
        "not significant": f"the best split is not significant{_tested(node)}",
        "collapsed": "the splits below made no fewer errors on the training rows than this leaf does",
        "complexity": f"the splits below saved less than cp={getattr(recipe.simplify, 'cp', 0)} of all risk each",
        "empty": "no training row came here; it predicts what its parent predicts "
        + ("(its most frequent class)" if getattr(recipe.leaves, "empty", "") == "majority" else "(its distribution)"),
        "decrease too small": (
            "the best split decreases the impurity by less than min_impurity_decrease="
            f"{stopping.min_impurity_decrease:g}"
        ),
        "pruned": "pruning cut off its subtree",
        "by hand": "an edit left it as it is",
    }
    words = known.get(node.stop or "", node.stop or "")
    cut = next((one for one in reversed(tree.cuts) if one.node == node.id), None)
    return f"{words}: its split was {cut.question}; {cut.reason}" if cut is not None else words


def _best_of(node: Node) -> str:
    return f": the best, {node.rivals[0].column}, gains {figure(node.rivals[0].gain)}" if node.rivals else ""


def _tested(node: Node) -> str:
    p = node.rivals[0].p_adjusted if node.rivals else None
    return f": {node.rivals[0].column} has p = {figure(p)}" if p is not None else ""


def _sizes(node: Node) -> str:
    stopping = node.tree.recipe.stopping
    names: Sequence[str] = ("min_samples_leaf", "min_weight_leaf", "min_weight_two")
    set_ones = [f"{name}={getattr(stopping, name):g}" for name in names if getattr(stopping, name) > (name == names[0])]
    return f" ({', '.join(set_ones)})" if set_ones else ""
