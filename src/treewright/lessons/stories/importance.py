"""The lesson "importance": which column matters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from treewright.data.grid import Grid
from treewright.data.number_text import percent
from treewright.inspection.importance import Importance
from treewright.inspection.importance import importance as importance_of
from treewright.inspection.masking import masking
from treewright.inspection.ranking import rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Note, Printed, Shown, Text
from treewright.lessons.phrases import checked, data_source, four_digits, joined, n_rows, rows_grid, split_column
from treewright.lessons.tables import DAYS, Columns, with_twin
from treewright.recipes.criterion import InformationGain
from treewright.recipes.missing import Surrogates
from treewright.recipes.named import CART
from treewright.training.learn import learn
from treewright.tree.tree import Node, Tree

_RECIPE = replace(CART, criterion=InformationGain(), pruning=None)


@dataclass(frozen=True)
class SplitGain:
    """The contribution of one split: rows and entropy of its node, and of its children."""

    column: str
    depth: int
    node: tuple[int, float]
    children: tuple[tuple[int, float], ...]

    @property
    def printed(self) -> float:
        """With entropies rounded to three digits first, as the source does it."""
        n, before = self.node
        return n * round(before, 3) - sum(m * round(after, 3) for m, after in self.children)

    @property
    def words(self) -> str:
        mixed = [(m, after) for m, after in self.children if after > 0]
        return " - ".join(f"{n} × {x:.3f}" for n, x in [self.node, *mixed])


def _split_gains(tree: Tree) -> list[SplitGain]:
    def rows_and_entropy(node: Node) -> tuple[int, float]:
        return node.rows, node.impurity

    return [
        SplitGain(
            node.split.column,
            node.depth,
            rows_and_entropy(node),
            tuple(rows_and_entropy(tree[i]) for i in node.children),
        )
        for node in tree.walk()
        if node.split is not None
    ]


def importance(data: Columns = DAYS) -> Lesson:
    """Return the contributions of splits, summed per column, and their limits."""
    tree = learn(checked(data, DAYS, "Play", classes=("No", "Yes")), "Play", _RECIPE)
    parts = sorted(_split_gains(tree), key=lambda one: one.depth)
    found = importance_of(tree)
    sums = {name: sum(one.printed for one in parts if one.column == name) for name in found.columns}
    first = split_column(tree)
    return Lesson(
        "importance",
        "Importance: which column mattered?",
        "The tree is grown. Which of its columns contribute most?",
        data,
        (
            rows_grid(data, "The days", "Day"),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('importance', data, DAYS)}\n"
                "recipe = replace(tw.CART, criterion=tw.criterion.InformationGain(), pruning=None)\n"
                'tree = tw.learn(data, "Play", recipe)\n'
                "print(tree)"
            ),
            Shown(tree),
            Heading("The contribution of each split"),
            Text(
                "A split contributes the more, the more rows it makes purer. Take the entropy of its node times its "
                "rows, and subtract the same for its children. A pure child subtracts nothing."
            ),
            Grid(
                "Each split, with entropies rounded to three digits first",
                ("column", "level", "rows × entropy", "contribution"),
                tuple((p.column, str(p.depth + 1), p.words, f"{p.printed:.3f}") for p in parts),
                words=3,
            ),
            Text("A column may be used in several splits. Its importance is the sum over all of them."),
            _sums(parts, sums),
            *(_truncated(parts) if data == DAYS else []),
            Heading("By one call"),
            Text(
                f"The library does not round on the way. `raw` is the sum above; divided by the {n_rows(data)} rows "
                "it is a fraction of the root's entropy, and as a share of the whole it adds up to one."
            ),
            Code("print(tw.importance(tree))"),
            Printed(str(found), "importances with bars"),
            Grid(
                "The same in other units",
                ("column", "raw", "per row", "share"),
                tuple(
                    (name, four_digits(raw), four_digits(per_row), four_digits(share))
                    for name, raw, per_row, share in zip(
                        found.columns, found.raw, found.per_row, found.values, strict=True
                    )
                ),
            ),
            Text(_order(found) + _position(first, found)),
            *_twins(data),
        ),
    )


def _order(found: Importance) -> str:
    """Return the columns from the most important on, such as "a > b = c"."""
    text = found.columns[0]
    for (_, more), (name, less) in pairwise(zip(found.columns, found.values, strict=True)):
        text += f" {'>' if more > less + 1e-12 else '='} {name}"
    return f"{text}. "


def _position(first: str, found: Importance) -> str:
    """Compare the position of the root's column with its importance."""
    own, most, least = found[first], max(found.values), min(found.values)
    if own >= most - 1e-12:
        return f"The root splits on {first}, and no column is more important here; that need not be so."
    place = "the least" if own <= least + 1e-12 else "not the most"
    return (
        f"The root splits on {first}, and yet {first} is {place} important: **position in the tree is not importance.**"
    )


def _sums(parts: Sequence[SplitGain], sums: dict[str, float]) -> Grid:
    rows = []
    for name, whole in sums.items():
        own = [f"{one.printed:.3f}" for one in parts if one.column == name]
        rows.append((name, " + ".join(own), f"{whole:.3f}"))
    return Grid("Summed per column", ("column", "its splits", "together"), tuple(rows), words=2)


def _truncated(parts: Sequence[SplitGain]) -> list[Note]:
    """Entropies that are cut and not rounded in the source."""
    mixed = sorted({after for one in parts for _, after in one.children if after > 0})
    cut = [(x, math.floor(1000 * x) / 1000) for x in mixed]
    first = [one for one in parts if one.depth == 0]
    odd = [(x, short) for x, short in cut if f"{x:.3f}" != f"{short:.3f}" and any(x == y for _, y in first[0].children)]
    if not odd:
        return []
    x, short = odd[0]
    n, before = first[0].node
    by_hand = n * round(before, 3) - sum(m * (short if y == x else round(y, 3)) for m, y in first[0].children)
    return [
        Note(
            f"**If you check this against the page:** it prints {short:.3f} where the entropy is {four_digits(x)}, "
            f"cut off and not rounded. With {short:.3f} the first line would be {by_hand:.3f}; the "
            f"{first[0].printed:.3f} it prints needs {x:.3f}. Its results are right, one of its inputs is not."
        )
    ]


def _twins(data: Columns) -> list[Heading | Text | Code | Printed | Note]:
    """Of two similar columns only one may appear in the tree."""
    wide = with_twin(data)
    twin = next(name for name in wide if name not in data)
    ranked = rank_splits(wide, "Play", recipe=_RECIPE)
    surrogates = replace(_RECIPE, missing=Surrogates(search="always"))
    both = learn(wide, "Play", surrogates)
    by_impurity, by_surrogate = importance_of(both), importance_of(both, kind="surrogate")
    shuffled = importance_of(both, wide, kind="permutation")
    pairs = zip(wide["Humidity"], wide[twin], strict=True)
    alike = sum((humidity == "High") == (pressure == "low") for humidity, pressure in pairs) / n_rows(wide)
    names = [name for name in wide if name != "Play"]
    turned = learn({name: wide[name] for name in (twin, *(n for n in names if n != twin), "Play")}, "Play", surrogates)
    seen = {node.split.column for node in both.walk() if node.split is not None}
    absent = twin not in seen
    unused = ", because this tree does not use it" if absent and not shuffled[twin] else ""
    return [
        Heading("A column that is not in the tree may matter just as much"),
        Text(
            f"Add a column {twin} that agrees with Humidity on {percent(alike)} of the days. The "
            + (
                f"new tree splits on {joined(sorted(seen))}, and never on {twin}."
                if absent
                else f"new tree splits on {twin}, too."
            )
        ),
        Code(
            "from treewright.lessons.tables import with_twin\n\n"
            "wide = with_twin(data)\n"
            'print(tw.rank_splits(wide, "Play", recipe=recipe))'
        ),
        Printed(str(ranked), "the rivals of the root"),
        Text(
            f"{split_column(both)} gains {four_digits(both.root.gain)} at the root, {twin} "
            f"{four_digits(ranked.of(twin).gain or 0)}. With {twin} as the first column of the table, the root "
            f"splits on {split_column(turned)}."
            + (" **Which of the two appears is an accident.**" if split_column(turned) != split_column(both) else "")
        ),
        Code(
            'surrogates = replace(recipe, missing=tw.missing.Surrogates(search="always"))\n'
            'both = tw.learn(wide, "Play", surrogates)\n'
            "print(tw.importance(both))\n"
            'print(tw.importance(both, kind="surrogate"))\n'
            "print(tw.masking(both, margin=0.25))"
        ),
        Printed(
            f"{by_impurity}\n{by_surrogate}\n{masking(both, margin=0.25)}", "importances, with and without surrogates"
        ),
        Text(
            f"Counting splits alone, {twin} is worth {four_digits(by_impurity[twin])}. Counting its surrogate splits "
            f"too, it is worth {four_digits(by_surrogate[twin])}."
        ),
        Code('print(tw.importance(both, wide, kind="permutation"))'),
        Printed(str(shuffled), "permutation importance"),
        Text(
            f"Permutation importance is the loss of accuracy when the column is shuffled. For {twin} that is "
            f"{four_digits(shuffled[twin])}{unused}. All of these numbers describe a tree. **None of them says what "
            "causes what.**"
        ),
    ]
