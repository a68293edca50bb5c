"""The lesson "overfitting": how large a tree should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from treewright.data.grid import Grid
from treewright.data.number_text import number_text
from treewright.lessons.charts import Series, line_chart
from treewright.lessons.content import Code, Heading, Lesson, Note, Part, Printed, Text
from treewright.lessons.phrases import accuracy, checked, data_source, n_rows, right, rows_grid
from treewright.lessons.tables import NOISE, Columns, noisy
from treewright.pruning.path import PruningPath
from treewright.pruning.prune import prune, pruning_path
from treewright.recipes.named import CART
from treewright.recipes.pruners import (
    CostComplexityCV,
    ErrorBased,
    ImpurityThresholdCV,
    MaxLeaves,
    Pruner,
    ReducedError,
)
from treewright.recipes.recipe import Recipe
from treewright.training.learn import learn
from treewright.tree.tree import Tree

_GROWN = replace(CART, pruning=None)
_SIZES = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96)


@dataclass(frozen=True)
class Method:
    """A way to keep a tree small: its name, whether it acts while the tree grows, as code and as a recipe."""

    name: str
    while_growing: bool
    source: str
    recipe: Recipe


def _stopping(name: str, **settings: Any) -> Method:
    (setting, value), *_ = settings.items()
    recipe = replace(_GROWN, stopping=replace(_GROWN.stopping, **settings))
    return Method(name, True, f"Stopping({setting}={value})", recipe)


def _pruner(name: str, pruner: Pruner) -> Method:
    settings_of = [(one.name, getattr(pruner, one.name), one.default) for one in fields(pruner)]
    settings = [f"{setting}={value!r}" for setting, value, usual in settings_of if value != usual]
    return Method(name, False, f"{type(pruner).__name__}({', '.join(settings)})", replace(_GROWN, pruning=pruner))


METHODS = (
    _stopping("depth limit", max_depth=4),
    _stopping("minimum leaf", min_samples_leaf=20),
    _stopping("minimum gain", min_impurity_decrease=0.005),
    _stopping("chi-square stop", significance=0.001),
    _pruner("gini threshold by cross-validation", ImpurityThresholdCV()),
    _pruner("reduced-error", ReducedError()),
    _pruner("cost-complexity, least error", CostComplexityCV(rule="min")),
    _pruner("cost-complexity, one standard error", CostComplexityCV(rule="1se")),
    _pruner("error-based (C4.5)", ErrorBased()),
)


def overfitting(data: Columns | None = None) -> Lesson:
    """Training and held-out accuracy against size, then every way to prune."""
    own = noisy(600, seed=1)
    seen = own if data is None else checked(data, own, "side", classes=("in", "out"))
    unseen = noisy(5000, seed=2)
    changed = "" if seen == own else " (and some rows were changed)"
    whole = learn(seen, "side", _GROWN)
    sizes = [prune(whole, MaxLeaves(n)) for n in _SIZES if n < whole.n_leaves] + [whole]
    scores = [_scores(tree, seen, unseen) for tree in sizes]
    best = max(scores, key=lambda row: row[2])
    found = {method: _scores(learn(seen, "side", method.recipe), seen, unseen) for method in METHODS}
    return Lesson(
        "overfitting",
        "Overfitting: how large should the tree be?",
        "A tree can fit every training row. Why should it not?",
        seen,
        (
            Text(
                f"Points in a square are in or out, above or below a diagonal. But the labels are noisy{changed}: "
                f"about {number_text(100 * NOISE)} in a hundred are wrong. Even the true rule is right for only "
                f"about {number_text(100 * (1 - NOISE))} % of new points. A third column, z, is noise."
            ),
            rows_grid(seen, "The sample", most=6),
            Text(
                f"The tree learns from {n_rows(seen):,} rows, and {n_rows(unseen):,} others are held out to measure "
                "its accuracy."
            ),
            Heading("The full tree"),
            Text(
                f"With {whole.n_leaves} leaves it predicts {right(whole, seen)[0]:,} of {n_rows(seen):,} training "
                f"rows correctly. Its accuracy on held-out rows is {100 * scores[-1][2]:.1f} %"
                + (": it has fitted the noise, too." if scores[-1][1] > scores[-1][2] else ".")
            ),
            *_by_size(scores, best),
            *_fits(scores, best),
            Heading("Methods"),
            Text(
                "The held-out rows must not choose the tree, or its accuracy on them would be too optimistic as "
                "well. So each method chooses the size from the training rows alone."
            ),
            _methods("Stopping rules, while the tree grows", True, found, scores[-1]),
            _methods("Pruning, after it has grown", False, found, scores[-1]),
            Note(f"{_trade(found, scores[-1])}Which of them is best depends on the sample."),
            *_cost_complexity(whole, seen, own),
        ),
    )


Scores = tuple[int, float, float]


def _by_size(scores: Sequence[Scores], best: Scores) -> tuple[Part, ...]:
    return (
        Heading("Pruned trees of all sizes"),
        Grid(
            "Accuracy by size of the tree",
            ("leaves", "training rows", "held-out rows", ""),
            tuple(
                (f"{leaves:,}", f"{a:.3f}", f"{b:.3f}", "best" if (leaves, a, b) == best else "")
                for leaves, a, b in scores
            ),
        ),
        line_chart(
            [
                Series("training rows", tuple((float(n), a) for n, a, _ in scores)),
                Series("held-out rows", tuple((float(n), b) for n, _, b in scores)),
            ],
            "leaves",
            "accuracy",
            f"{_flattery(scores)}Accuracy on held-out rows is best at {best[0]} leaves.",
            by_powers=True,
            mark=float(best[0]),
        ),
    )


def _cost_complexity(whole: Tree, seen: Columns, own: Columns) -> tuple[Part, ...]:
    path = pruning_path(whole, seen)
    chosen = {rule: path.chosen(rule) for rule in ("min", "1se")}
    return (
        Heading("Cost-complexity, in a formula"),
        Text(
            "Let R(T) be the risk of a tree, its training errors, and |leaves(T)| its size. Cost-complexity "
            "pruning minimises **R_a(T) = R(T) + a × |leaves(T)|**: each leaf costs a. For a = zero the whole "
            "tree is best; as a rises, subtrees are pruned, the weakest link first."
        ),
        _path(path, chosen),
        Text(
            f"Cross-validation estimates the error for every a. The least error has {path.leaves[chosen['min']]} "
            "leaves; the smallest tree that is no more than one standard error worse has "
            f"{path.leaves[chosen['1se']]}."
        ),
        Code(
            "from dataclasses import replace\nimport treewright as tw\n\n"
            f"{data_source('overfitting', seen, own)}\n"
            'pruned = replace(tw.CART, pruning=tw.pruning.CostComplexityCV(rule="1se"))\n'
            'print(tw.learn(data, "side", pruned))'
        ),
        Printed(str(learn(seen, "side", replace(CART, pruning=CostComplexityCV(rule="1se")))), "the pruned tree"),
    )


def _flattery(scores: Sequence[Scores]) -> str:
    gaps = [seen - unseen for _, seen, unseen in scores]
    rising = gaps == sorted(gaps)
    return (
        "Accuracy on training rows is too optimistic, the more so the larger the tree. "
        if rising
        else "Accuracy on training rows is too optimistic. "
    )


def _fits(scores: Sequence[Scores], best: Scores) -> list[Text]:
    """Describe trees smaller and larger than the best, where there are any that are worse."""
    left = [unseen for leaves, _, unseen in scores if leaves < best[0]]
    right_ = [unseen for leaves, _, unseen in scores if leaves > best[0]]
    sentences = []
    if left and max(left) < best[2]:
        sentences.append("On the left the tree is too simple for the rule: it **underfits**.")
    if right_ and max(right_) < best[2]:
        sentences.append("On the right the tree fits noise: it **overfits**.")
    if len(sentences) == 2:
        sentences.append("As an error, the held-out curve has the shape of a U.")
    return [Text(" ".join(sentences))] if sentences else []


def _scores(tree: Tree, seen: Columns, unseen: Columns) -> Scores:
    """Return the number of leaves and the accuracy on training and held-out rows."""
    return tree.n_leaves, accuracy(tree, seen), accuracy(tree, unseen)


def _trade(found: Mapping[Method, Scores], whole: Scores) -> str:
    """State what all methods lose and gain, if all do."""
    if all(seen < whole[1] and unseen > whole[2] for _, seen, unseen in found.values()):
        return "All of them lose accuracy on the training rows and gain accuracy on the held-out rows. "
    return ""


def _methods(caption: str, while_growing: bool, found: Mapping[Method, Scores], whole: Scores) -> Grid:
    rows = [("none", "", f"{whole[0]}", f"{whole[1]:.3f}", f"{whole[2]:.3f}")]
    for method, (leaves, seen, unseen) in found.items():
        if method.while_growing == while_growing:
            rows.append((method.name, method.source, f"{leaves}", f"{seen:.3f}", f"{unseen:.3f}"))
    head = ("method", "setting", "leaves", "training", "held-out")
    return Grid(caption, head, tuple(rows), words=2)


def _path(path: PruningPath, chosen: dict[str, int]) -> Grid:
    assert path.held_out is not None
    assert path.error is not None
    steps = len(path.leaves)
    wanted = sorted({0, steps - 1, *chosen.values(), *range(0, steps, max(1, steps // 6))})
    marks = {chosen["1se"]: "one standard error", chosen["min"]: "least error"}
    rows = [
        (
            f"{path.alpha[i]:.5f}",
            f"{path.leaves[i]:,}",
            f"{path.risk[i]:.3f}",
            f"{path.held_out[i]:.3f} ± {path.error[i]:.3f}",
            marks.get(i, ""),
        )
        for i in wanted
    ]
    return Grid("Some values of a", ("a", "leaves", "R(T)", "by cross-validation", ""), tuple(rows))
