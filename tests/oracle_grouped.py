"""C4.5's grouping of levels (-s), written down a second time.

A block is a frozenset of levels, "missing" being the level after the last; `rest` holds the levels that weigh half a
row or less, which never take part in the climb and become the last child.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from oracle_candidates import TOLERANCE, level_split
from oracle_criteria import class_weights, entropy, impurity, weight_of
from oracle_table import Node, Problem, Split, weigh

from treewright import recipes as r

Block = frozenset[int]
Blocks = tuple[Block, ...]

EPSILON = 1e-3
HARDLY_THERE = 0.5
A_TENTH = 0.1


@dataclass(frozen=True)
class Cells:
    """Entries per level, and the missing weight that stands apart."""

    p: Problem
    entries: dict[int, Node]
    rest: Block
    apart: float

    def block(self, block: Block) -> Node:
        return [e for level in sorted(block) for e in self.entries.get(level, [])]

    def weight(self, block: Block) -> float:
        return weigh(self.block(block))


def grouped_divisions(p: Problem, node: Node, column: int, with_missing: bool) -> list[Split]:
    """The divisions the climb may end in, as splits."""
    n_levels = p.levels[column]
    entries: dict[int, Node] = {}
    for row, weight in node:
        value = p.columns[column][row]
        if value is not None or with_missing:
            entries.setdefault(n_levels if value is None else int(value), []).append((row, weight))
    light = {level for level in range(n_levels + with_missing) if weigh(entries.get(level, [])) <= HARDLY_THERE}
    apart = 0.0 if with_missing else weigh(p.absent(node, column))
    cells = Cells(p, entries, frozenset(light), apart)
    start: Blocks = tuple(frozenset({level}) for level in sorted(set(entries) - light))
    if n_levels <= 2:  # nothing to group: C4.5 takes such a column as it is, gain or not
        return [level_split(p, column, {level: level for level in range(n_levels + with_missing)})]
    if not start:
        return []
    start = join_single_classes(cells, start)
    ends = climb(cells, start, value_of(cells, start), gain_of(cells, start) / 2)
    splits = []
    for blocks in ends:
        children = [*blocks, cells.rest] if cells.rest else list(blocks)
        splits.append(level_split(p, column, {level: i for i, block in enumerate(children) for level in block}))
    return splits


def combine(blocks: Sequence[Block], x: int, y: int) -> Blocks:
    """Block y joins block x; the last block takes the place of y."""
    moved = list(blocks)
    moved[x] = moved[x] | moved[y]
    moved[y] = moved[-1]
    moved.pop()
    return tuple(moved)


def join_single_classes(cells: Cells, blocks: Blocks) -> Blocks:
    """Blocks of one and the same class belong together before anything is weighed up."""
    x = 0
    while x < len(blocks) - 1:
        only = single_class(cells, blocks[x])
        y = x + 1
        while only is not None and y < len(blocks):
            if held_by(cells, blocks[y], only):
                blocks = combine(blocks, x, y)
            else:
                y += 1
        x += 1
    return blocks


def single_class(cells: Cells, block: Block) -> int | None:
    """The class that holds the block, less than a tenth of a row aside; None if there is no such class."""
    weights = class_weights(cells.p.pairs(cells.block(block)), cells.p.n_classes)
    first = next(c for c, w in enumerate(weights) if w >= A_TENTH)
    return first if held_by(cells, block, first) else None


def held_by(cells: Cells, block: Block, only: int) -> bool:
    weights = class_weights(cells.p.pairs(cells.block(block)), cells.p.n_classes)
    return weights[only] >= cells.weight(block) - A_TENTH


def gain_of(cells: Cells, blocks: Blocks) -> float:
    """Information gain of the blocks; what lies in `rest` counts as weight but not as disorder."""
    if sum(cells.weight(b) >= 1 for b in blocks) < 2:
        return -EPSILON
    p = cells.p
    groups = [p.pairs(cells.block(b)) for b in blocks]
    everything = [e for g in [*groups, p.pairs(cells.block(cells.rest))] for e in g]
    known = weight_of(everything)
    after = math.fsum(weight_of(g) / known * impurity(p.criterion, g, p.n_classes) for g in groups)
    return known / (known + cells.apart) * (impurity(p.criterion, everything, p.n_classes) - after)


def value_of(cells: Cells, blocks: Blocks) -> float:
    """What the climb compares: the ratio (or the gain, under InformationGain)."""
    gain = gain_of(cells, blocks)
    parts = [*(cells.weight(b) for b in blocks), cells.apart]
    whole = math.fsum([*parts, cells.weight(cells.rest)])
    information = math.fsum(parts) / whole * entropy(parts)
    if isinstance(cells.p.criterion, r.GainRatio):
        return gain / information if gain >= 0 and information > EPSILON else -EPSILON
    return gain if information > 0 and gain > -EPSILON else -EPSILON


def climb(cells: Cells, blocks: Blocks, value: float, half: float) -> list[Blocks]:
    """Join the best pair while the ratio rises by 1e-5; `half` of the starting gain should be kept."""
    if len(blocks) <= 2:
        return [blocks] if value > 0 else []
    ratio = isinstance(cells.p.criterion, r.GainRatio)
    reasonable = sum(cells.weight(b) >= cells.p.recipe.stopping.min_weight_two for b in blocks)
    ends: list[Blocks] = []
    for pair in best_pairs(cells, blocks, half, reasonable, ratio):
        stuck = pair is None or value_of(cells, combine(blocks, *pair)) < value + 1e-5
        if ratio and reasonable >= 2 and stuck:
            ends += [blocks] if value > 0 else []
        elif pair is not None:
            after = combine(blocks, *pair)
            ends += climb(cells, after, value_of(cells, after), half)
    return list(dict.fromkeys(ends))


def best_pairs(cells: Cells, blocks: Blocks, half: float, reasonable: int, ratio: bool) -> list[tuple[int, int] | None]:
    """The pairs that may win: one after the other challenges the best so far; a challenger that is equal wins."""
    largest = max(range(len(blocks)), key=lambda i: cells.weight(blocks[i]))
    barred = largest if reasonable < 3 else -1
    states: list[tuple[int, int] | None] = [None]
    for x in range(len(blocks) - 1):
        for y in range(x + 1, len(blocks)):
            if barred in (x, y):
                continue
            after: list[tuple[int, int] | None] = []
            for best in states:
                after += challenge(cells, blocks, best, (x, y), half, forced=not ratio or reasonable < 2)
            states = list(dict.fromkeys(after))
    return states


def challenge(
    cells: Cells, blocks: Blocks, best: tuple[int, int] | None, pair: tuple[int, int], half: float, forced: bool
) -> list[tuple[int, int] | None]:
    gain, value = gain_of(cells, combine(blocks, *pair)), value_of(cells, combine(blocks, *pair))
    best_gain, best_value = -EPSILON, 0.0
    if best is not None:
        best_gain, best_value = gain_of(cells, combine(blocks, *best)), value_of(cells, combine(blocks, *best))
    surely = (gain >= half + TOLERANCE and best_gain < half - TOLERANCE) or value > best_value + TOLERANCE
    maybe = (gain >= half - TOLERANCE and best_gain < half + TOLERANCE) or value >= best_value - TOLERANCE
    if surely or (best is None and forced):
        return [pair]
    return [pair, best] if maybe else [best]
