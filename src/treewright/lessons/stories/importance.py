"""The lesson "importance": which column mattered?

Comes in: days whose tree has the entropies printed in the source. Goes out: a `Lesson`.
Always holds: every number is computed from the table; where the source rounds first, so does the lesson, and says it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from treewright.inspection.derivation.blocks import Grid
from treewright.inspection.importance import Importance
from treewright.inspection.importance import importance as importance_of
from treewright.inspection.masking import masking
from treewright.inspection.ranking import rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Note, Printed, Shown, Text
from treewright.lessons.phrases import asked, checked, data_source, four_digits, joined, n_rows, rows_grid
from treewright.lessons.tables import DAYS, Columns, with_twin
from treewright.recipes.criterion import InformationGain
from treewright.recipes.missing import Surrogates
from treewright.recipes.named import CART
from treewright.training.learn import learn
from treewright.tree.text import percent
from treewright.tree.tree import Node, Tree

_RECIPE = replace(CART, criterion=InformationGain(), pruning=None)


@dataclass(frozen=True)
class Part:
    """What one split contributes: the rows times entropy of its node, and of its children."""

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


def _parts(tree: Tree) -> list[Part]:
    def told(node: Node) -> tuple[int, float]:
        return node.rows, node.impurity

    return [
        Part(node.split.column, node.depth, told(node), tuple(told(tree[i]) for i in node.children))
        for node in tree.walk()
        if node.split is not None
    ]


def importance(data: Columns = DAYS) -> Lesson:
    """What each split takes away, summed per column; and what that does not say."""
    tree = learn(checked(data, DAYS, "Play", classes=("No", "Yes")), "Play", _RECIPE)
    parts = sorted(_parts(tree), key=lambda part: part.depth)
    found = importance_of(tree)
    sums = {name: sum(part.printed for part in parts if part.column == name) for name in found.columns}
    first = asked(tree)
    return Lesson(
        "importance",
        "Importance: which column mattered?",
        "The tree is grown. Which of its columns does the work?",
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
            Heading("Count what each split takes away"),
            Text(
                "A split matters if it makes many rows much purer. So take the entropy of its node times its rows, and "
                "subtract the same for its children. A pure child subtracts nothing."
            ),
            Grid(
                "Each split, with entropies rounded to three digits first",
                ("column", "level", "rows × entropy", "taken away"),
                tuple((p.column, str(p.depth + 1), p.words, f"{p.printed:.3f}") for p in parts),
                words=3,
            ),
            Text("A column may be asked in several places. Its importance is the sum over all of them."),
            _sums(parts, sums),
            *(_truncated(parts) if data == DAYS else []),
            Heading("By one call"),
            Text(
                "The library does not round on the way. `raw` is what we have summed up; divided by the "
                f"{n_rows(data)} rows "
                "it is a part of the root's entropy, and as a share of the whole it adds up to one."
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
    """The columns from the most important on, such as "a > b = c"."""
    text = found.columns[0]
    for (_, more), (name, less) in pairwise(zip(found.columns, found.values, strict=True)):
        text += f" {'>' if more > less + 1e-12 else '='} {name}"
    return f"{text}. "


def _position(first: str, found: Importance) -> str:
    """What the root's column says about position and importance."""
    own, most, least = found[first], max(found.values), min(found.values)
    if own >= most - 1e-12:
        return f"The root asks {first}, and no column is more important here; that need not be so."
    place = "the least" if own <= least + 1e-12 else "not the most"
    return f"The root asks {first}, and yet {first} is {place} important: **position in the tree is not importance.**"


def _sums(parts: Sequence[Part], sums: dict[str, float]) -> Grid:
    rows = []
    for name, whole in sums.items():
        own = [f"{part.printed:.3f}" for part in parts if part.column == name]
        rows.append((name, " + ".join(own), f"{whole:.3f}"))
    return Grid("Summed per column", ("column", "its splits", "together"), tuple(rows), words=2)


def _truncated(parts: Sequence[Part]) -> list[Note]:
    """Entropies that are cut and not rounded in the source."""
    mixed = sorted({after for part in parts for _, after in part.children if after > 0})
    cut = [(x, math.floor(1000 * x) / 1000) for x in mixed]
    first = [part for part in parts if part.depth == 0]
    odd = [(x, short) for x, short in cut if f"{x:.3f}" != f"{short:.3f}" and any(x == y for _, y in first[0].children)]
    if not odd:
        return []
    x, short = odd[0]
    n, before = first[0].node
    by_hand = n * round(before, 3) - sum(m * (short if y == x else round(y, 3)) for m, y in first[0].children)
    return [
        Note(
            f"**If you check this against the page:** it prints {short:.3f} where the entropy is {four_digits(x)}, "
            f"cut off "
            "and not "
            f"rounded. With {short:.3f} the first line would be {by_hand:.3f}; the {first[0].printed:.3f} it prints "
            "needs "
            f"{x:.3f}. Its results are right, one of its inputs is not."
        )
    ]


def _twins(data: Columns) -> list[Heading | Text | Code | Printed | Note]:
    """Of two columns that tell the same only one is asked."""
    wide = with_twin(data)
    twin = next(name for name in wide if name not in data)
    ranked = rank_splits(wide, "Play", recipe=_RECIPE)
    surrogates = replace(_RECIPE, missing=Surrogates(search="always"))
    both = learn(wide, "Play", surrogates)
    by_impurity, by_surrogate = importance_of(both), importance_of(both, kind="surrogate")
    shuffled = importance_of(both, wide, kind="permutation")
    pairs = zip(wide["Humidity"], wide[twin], strict=True)
    alike = sum((humidity == "High") == (said == "low") for humidity, said in pairs) / n_rows(wide)
    names = [name for name in wide if name != "Play"]
    turned = learn({name: wide[name] for name in (twin, *(n for n in names if n != twin), "Play")}, "Play", surrogates)
    seen = {node.split.column for node in both.walk() if node.split is not None}
    absent = twin not in seen
    unused = ", because this tree does not look at it" if absent and not shuffled[twin] else ""
    return [
        Heading("A column that is not in the tree may matter just as much"),
        Text(
            f"Add a column {twin}, that says nearly what Humidity says: on {percent(alike)} of the days. The "
            + (f"new tree asks {joined(sorted(seen))}, and never {twin}." if absent else f"new tree asks {twin}, too.")
        ),
        Code(
            "from treewright.lessons.tables import with_twin\n\n"
            "wide = with_twin(data)\n"
            'print(tw.rank_splits(wide, "Play", recipe=recipe))'
        ),
        Printed(str(ranked), "the rivals of the root"),
        Text(
            f"{asked(both)} gains {four_digits(both.root.gain)} at the root, {twin} "
            f"{four_digits(ranked.of(twin).gain or 0)}. With "
            f"{twin} as the first column of the table, the root asks {asked(turned)}."
            + (" **Which of the two appears is a fluke.**" if asked(turned) != asked(both) else "")
        ),
        Code(
            'surrogates = replace(recipe, missing=tw.missing.Surrogates(search="always"))\n'
            'both = tw.learn(wide, "Play", surrogates)\n'
            "print(tw.importance(both))\n"
            'print(tw.importance(both, kind="surrogate"))\n'
            "print(tw.masking(both, margin=0.25))"
        ),
        Printed(
            f"{by_impurity}\n{by_surrogate}\n{masking(both, margin=0.25)}",
            "importances, with and without surrogates",
        ),
        Text(
            f"Counting splits alone, {twin} is worth {four_digits(by_impurity[twin])}. Counting how well each "
            f"column could "
            "stand in "
            f"for another (its surrogates), it is worth {four_digits(by_surrogate[twin])}."
        ),
        Code('print(tw.importance(both, wide, kind="permutation"))'),
        Printed(str(shuffled), "permutation importance"),
        Text(
            f"Shuffling a column asks something else: how much worse would this tree become without it? For {twin} "
            "that is "
            f"{four_digits(shuffled[twin])}{unused}. "
            "All of these numbers describe a tree. "
            "**None of "
            "them says what causes what.**"
        ),
    ]
