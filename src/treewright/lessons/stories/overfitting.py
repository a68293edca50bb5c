"""The lesson "overfitting": how big should the tree be?

Comes in: a noisy sample, and many more rows of the same kind that no tree has seen. Goes out: a `Lesson`.
Always holds: every number is computed from the tables; chance is seeded, so that every reader sees the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from treewright.inspection.derivation.blocks import Grid
from treewright.lessons.charts import Series, line_chart
from treewright.lessons.content import Code, Heading, Lesson, Note, Printed, Text
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
from treewright.tree.text import number_text
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
    told = [(one.name, getattr(pruner, one.name), one.default) for one in fields(pruner)]
    settings = [f"{setting}={value!r}" for setting, value, usual in told if value != usual]
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
    path = pruning_path(whole, seen)
    chosen = {rule: path.chosen(rule) for rule in ("min", "1se")}
    return Lesson(
        "overfitting",
        "Overfitting: how big should the tree be?",
        "A tree can learn every row by heart. Why should it not?",
        seen,
        (
            Text(
                "Points in a square are in or out, above or below a diagonal. But the labels are noisy"
                f"{changed}: about "
                f"{number_text(100 * NOISE)} in a hundred are wrong. Even someone who knew the rule would be right "
                "for only about "
                f"{number_text(100 * (1 - NOISE))} % of new points. A third column, z, is chance."
            ),
            rows_grid(seen, "The sample", most=6),
            Text(
                f"The tree learns from {n_rows(seen):,} rows, and {n_rows(unseen):,} others are kept to see how good "
                "it is."
            ),
            Heading("Grow it as far as it goes"),
            Text(
                f"With {whole.n_leaves} leaves it answers {right(whole, seen)[0]:,} of {n_rows(seen):,} training "
                f"rows rightly. Of the rows it has not seen it gets {100 * scores[-1][2]:.1f} %"
                + (": it has learned the noise, too." if scores[-1][1] > scores[-1][2] else ".")
            ),
            Heading("Now cut it back, leaf by leaf"),
            Grid(
                "Share of right answers by size of the tree",
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
                "share of right answers",
                f"{_flattery(scores)}Rows it has not seen tell the truth: best at {best[0]} leaves.",
                by_powers=True,
                mark=float(best[0]),
            ),
            *_fits(scores, best),
            Heading("Ways to a smaller tree"),
            Text(
                "The held-out rows must not choose the tree, or they would flatter it as well. So each method has to "
                "find the "
                "size from the training rows alone."
            ),
            _methods("Stop early: while it grows", True, found, scores[-1]),
            _methods("Cut back: after it has grown", False, found, scores[-1]),
            Note(f"{_trade(found, scores[-1])}Which of them is best depends on the sample."),
            Heading("Cost-complexity, in a formula"),
            Text(
                "Let R(T) be what a tree gets wrong and |leaves(T)| its size. Cost-complexity pruning wants the least "
                "**R_a(T) = R(T) + a × |leaves(T)|**: each leaf has a price a, and must pay for itself. For a price "
                "of zero the "
                "whole tree is best; as the price rises, branches fall, the weakest first."
            ),
            _path(path, chosen),
            Text(
                "Cross-validation tries every price on rows left out in turn. The least error has "
                f"{path.leaves[chosen['min']]} "
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
        ),
    )


Scores = tuple[int, float, float]


def _flattery(scores: Sequence[Scores]) -> str:
    gaps = [seen - unseen for _, seen, unseen in scores]
    rising = gaps == sorted(gaps)
    return "Training rows flatter a tree the more, the larger it is. " if rising else "Training rows flatter a tree. "


def _fits(scores: Sequence[Scores], best: Scores) -> list[Text]:
    """What smaller and larger trees than the best do, as far as there are any that are worse."""
    left = [unseen for leaves, _, unseen in scores if leaves < best[0]]
    right_ = [unseen for leaves, _, unseen in scores if leaves > best[0]]
    told = []
    if left and max(left) < best[2]:
        told.append("On the left the tree is too simple and misses the rule: it **underfits**.")
    if right_ and max(right_) < best[2]:
        told.append("On the right it tells noise as if it were rule: it **overfits**.")
    if len(told) == 2:
        told.append("Seen as errors, the lower curve is the famous U.")
    return [Text(" ".join(told))] if told else []


def _scores(tree: Tree, seen: Columns, unseen: Columns) -> Scores:
    """Its leaves, and the share of right answers for the rows it was grown from and for others."""
    return tree.n_leaves, accuracy(tree, seen), accuracy(tree, unseen)


def _trade(found: Mapping[Method, Scores], whole: Scores) -> str:
    """What all methods give up and win, if all do."""
    if all(seen < whole[1] and unseen > whole[2] for _, seen, unseen in found.values()):
        return "All of them give up right answers on rows they have seen, and win some on rows they have not. "
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
    return Grid("Some prices", ("price a", "leaves", "R(T)", "by cross-validation", ""), tuple(rows))
