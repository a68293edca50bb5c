"""The nearest changes of a row that would change its prediction (counterfactuals).

Each change was tried: prediction gives the changed row the prediction that is shown. Nearest first: fewest columns,
then the smallest move, then the first node. A change of the same columns, or more, to the same prediction is not shown
twice. Every way into a leaf (or to a node where a missing value stops) with a wanted prediction is looked at, in the
order of what it costs, so what is found is the nearest there is. Of a row that takes several paths one is led there;
changes that would do so only by moving several of its parts at once are not looked for.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.data.arrays import Array, BoolArray, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.grid import Grid, Results
from treewright.data.number_text import amount, percent
from treewright.data.schema import Level
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.inspection.allowed_values import Allowed, Move, kept, leading_to, nearest_move, plain_value
from treewright.inspection.one_row import OneRow, one_row
from treewright.prediction.routing import Trace, predict_values, trace
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.shape import ends, is_leaf
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Node, Tree, predicted_index
from treewright.tree.validation import FRACTIONAL, STOP_HERE

#: What is wanted: a class; or, of a number, (">", 30), ("<", 30), or how far it should move, either way.
Want = Level | tuple[Any, ...] | None

Meets = Callable[[FloatArray], BoolArray]


@dataclass(frozen=True)
class Counterfactual:
    """A change of some columns, and the prediction it would lead to.

    `values` has a new value for each changed column, `conditions` is how far each may go, `node` is where the changed
    row ends (its main part, where it takes several paths).
    """

    values: Mapping[str, Any]
    conditions: tuple[str, ...]
    prediction: Level
    probability: float | None
    node: int
    distance: float

    @property
    def outcome(self) -> tuple[str, str]:
        """The prediction and its probability ("" for a number) as text."""
        if self.probability is None:
            return amount(float(self.prediction)), ""
        return level_text(self.prediction), percent(self.probability)

    def __str__(self) -> str:
        prediction, probability = self.outcome
        sure = f" ({probability})" if probability else ""
        return f"if {' and '.join(self.conditions)}, the prediction would be {prediction}{sure}"


class Counterfactuals(Results, tuple[Counterfactual, ...]):
    """Counterfactuals of one row, nearest first: a tuple that a notebook shows as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or _NONE

    def grid(self) -> Grid:
        """Return the table as it is read."""
        rows = tuple((" and ".join(one.conditions), *one.outcome) for one in self)
        return Grid("" if rows else _NONE, ("if", "prediction", "probability") if rows else (), rows, words=2)

    def _columns(self) -> dict[str, list[Any]]:
        changed = dict.fromkeys(name for one in self for name in one.values)
        return {
            **{name: [one.values.get(name) for one in self] for name in changed},
            "prediction": [one.prediction for one in self],
            "probability": [one.probability for one in self],
            "distance": [one.distance for one in self],
            "node": [one.node for one in self],
        }


_NONE = "no change of the columns that may change gives another prediction"


def counterfactuals(
    tree: TreeLike, row: object, *, want: Want = None, fixed: Sequence[str] = (), most: int = 3
) -> Counterfactuals:
    """Return the nearest changes of a row that change its prediction.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    row : dict, Series, sequence or table of one row
        The row. Columns that a dict leaves out count as missing.
    want : class, ("<" or ">", number) or number, optional
        The prediction wanted: a class; for a numeric target a bound, or how far the prediction should move, either way.
        By default any other class, or half the standard deviation of the target.
    fixed : sequence of str, default=()
        Columns that must keep their values.
    most : int, default=3
        The largest number of counterfactuals.

    Returns
    -------
    Counterfactuals
        A tuple of `Counterfactual`, nearest first: fewest columns, then the smallest move. Empty if no change of the
        free columns leads to a wanted prediction.
    """
    tree = constant_tree(tree, "counterfactuals")
    if most < 1:
        raise ValueError(f"most must be at least 1, not {most}")
    return search(tree, one_row(tree, row), want, fixed, most)


def search(tree: Tree, row: OneRow, want: Want, fixed: Sequence[str], most: int) -> Counterfactuals:
    """Return the same, for a row that has been read."""
    now = predict_values(tree, row.rows, 1)
    meets = wanted(tree, now[0], want)
    held = places_of(tree, fixed)
    if bool(meets(now)[0]):
        return Counterfactuals()  # the prediction is what is wanted
    way = trace(tree, row.rows)
    at_end = is_leaf(tree) | (way.child == STOP_HERE)
    good = at_end & meets(tree.arrays["value"])
    groups = _groups(tree, tree.arrays["value"][good], now)
    found: list[Counterfactual] = []
    seen: list[tuple[int, frozenset[int]]] = []
    for path in _nearest_paths(tree, row, way, good, held, lambda changed: _is_reported(seen, groups, changed)):
        moved = _moved(row.rows, path.moves)
        then = predict_values(tree, moved, 1)
        group = int(_groups_of(tree, then, now)[0])
        if not meets(then)[0] or _is_reported(seen, {group}, frozenset(path.moves)):
            continue
        seen.append((group, frozenset(path.moves)))
        found.append(_change(tree, row, path, then))
        if len(found) == most:
            break
    return Counterfactuals(found)


def wanted(tree: Tree, now: FloatArray, want: Want) -> Meets:
    """Return a test of predictions, one row of class probabilities (or one number) each."""
    target = tree.schema.target
    if target.classes is not None:
        if want is not None and (isinstance(want, tuple) or want not in target.classes):
            raise DataError(f"want={want!r} is no class of {target.name!r}; there are {listed(target.classes)}")
        place = target.classes.index(want) if want is not None else int(predicted_index(target, now[np.newaxis])[0])
        return lambda values: (predicted_index(target, values) == place) == (want is not None)
    if isinstance(want, tuple):
        if len(want) != 2 or want[0] not in (">", "<") or not isinstance(want[1], (int, float)):
            raise DataError(f"want={want!r} should be ('>', number) or ('<', number)")
        side, bound = want[0], float(want[1])
        return lambda values: values[:, 0] > bound if side == ">" else values[:, 0] < bound
    if want is not None and (isinstance(want, (str, bool)) or not want > 0):
        raise DataError(
            f"want={want!r}: {target.name!r} is a number, so give ('>', number), ('<', number) or how far to move"
        )
    far = float(want) if want is not None else max((tree.root.deviation or 0.0) / 2, 1e-300)
    return lambda values: np.abs(values[:, 0] - now[0]) >= far


# --- the search -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Path:
    """A way down to `node`, the values that lead along it, and the moves that this takes."""

    node: int
    allowed: Mapping[int, Allowed]
    moves: Mapping[int, Move]

    @property
    def mark(self) -> tuple[int, frozenset[tuple[int, bool]]]:
        """Distinguishes paths to one node: they differ in the columns that change, and so in all else."""
        return self.node, frozenset((column, allowed.as_is) for column, allowed in self.allowed.items())

    @property
    def cost(self) -> tuple[int, float, int]:
        return len(self.moves), sum(self.moves[column].distance for column in sorted(self.moves)), self.node


def _nearest_paths(
    tree: Tree,
    row: OneRow,
    way: Trace,
    good: BoolArray,
    held: frozenset[int],
    is_reported: Callable[[frozenset[int]], bool],
) -> Iterator[_Path]:
    """Yield paths to good nodes, cheapest first: a path never gets cheaper further down."""
    counted = np.append(0, np.cumsum(good))
    useful = counted[ends(tree)] > counted[: tree.n_nodes]  # something good is here or below
    spans = break_spans(tree)
    order = itertools.count()
    open_paths = [((0, 0.0, 0), next(order), _Path(0, {}, {}))]
    known = set()
    while open_paths:
        _, _, path = heapq.heappop(open_paths)
        if path.moves and is_reported(frozenset(path.moves)):
            continue
        if good[path.node] and path.moves:
            yield path
        node = tree[path.node]
        for number, child in enumerate(node.children):
            if not useful[child]:
                continue
            for demands in _ways_into(node, number, way):
                longer = _step(tree, row, path, child, demands, held, spans)
                if longer is not None and longer.mark not in known:
                    known.add(longer.mark)
                    heapq.heappush(open_paths, (longer.cost, next(order), longer))


def _ways_into(node: Node, child: int, way: Trace) -> Iterator[list[tuple[int, Allowed]]]:
    """Yield what must hold for a row to take a child: of the split column, or of the surrogate that decides for it.

    A missing value that takes several children, or one by lot, may stay, but then the row takes this child in part or
    by luck; so there is another way in, where it is filled in.
    """
    split, guide, goes = node.split, int(way.guide[node.id]), int(way.child[node.id])
    assert split is not None
    by_itself = goes == child or (goes == FRACTIONAL and split.share[child] > 0)
    yield [(split.column_index, leading_to(split, child, by_itself and guide <= 0))]
    if by_itself and guide == -1 and split.missing in ("spread", "random"):
        yield [(split.column_index, leading_to(split, child, as_is=False))]
    if guide > 0:
        surrogate = node.surrogates[guide - 1]
        yield [
            (split.column_index, kept(split.spec)),
            (surrogate.column_index, leading_to(surrogate, child, by_itself)),
        ]


def _step(
    tree: Tree,
    row: OneRow,
    path: _Path,
    child: int,
    demands: list[tuple[int, Allowed]],
    held: frozenset[int],
    spans: list[tuple[float, float]],
) -> _Path | None:
    """Return the path one node longer, or None where no value of a column could lead there."""
    allowed, moves = dict(path.allowed), dict(path.moves)
    for column, demand in demands:
        now = allowed[column] = allowed.get(column, Allowed()).narrowed(demand)
        if now.as_is:
            continue
        move = nearest_move(tree.schema.columns[column], now, row.value(column), spans[column])
        if move is None or column in held:
            return None
        moves[column] = move
    return _Path(child, allowed, moves)


def break_spans(tree: Tree) -> list[tuple[float, float]]:
    """Return the lowest and highest break of each column in any split; an empty range where there is none."""
    return tree.keep("spans", lambda: _break_spans(tree))


def _break_spans(tree: Tree) -> list[tuple[float, float]]:
    arrays = tree.arrays
    column = np.repeat(arrays["column"], np.diff(arrays["break_start"]))
    low, high = np.full(len(tree.schema.columns), np.inf), np.full(len(tree.schema.columns), -np.inf)
    np.minimum.at(low, column, arrays["breaks"])
    np.maximum.at(high, column, arrays["breaks"])
    return list(zip(low.tolist(), high.tolist(), strict=True))


# --- what was found ---------------------------------------------------------------------------------------------------


def _groups_of(tree: Tree, values: FloatArray, now: FloatArray) -> Array:
    """Return predictions that count as the same: a class, or all numbers on one side of the prediction."""
    target = tree.schema.target
    return np.sign(values[:, 0] - now[0, 0]) if target.classes is None else predicted_index(target, values)


def _groups(tree: Tree, values: FloatArray, now: FloatArray) -> set[int]:
    return set(_groups_of(tree, values, now).astype(int).tolist()) if len(values) else set()


def _is_reported(seen: list[tuple[int, frozenset[int]]], groups: set[int], changed: frozenset[int]) -> bool:
    """Return whether, for every group, a change of these columns or of fewer is known."""
    return all(any(found == group and columns <= changed for found, columns in seen) for group in groups)


def _moved(rows: Encoded, moves: Mapping[int, Move]) -> Encoded:
    """Return the row with its new values."""
    columns: list[Any] = list(rows.columns)
    for column, move in moves.items():
        columns[column] = np.array([move.value], dtype=np.int32 if rows.kinds[column] else np.float64)
    return replace(rows, columns=tuple(columns))


def _change(tree: Tree, row: OneRow, path: _Path, then: FloatArray) -> Counterfactual:
    target, specs = tree.schema.target, tree.schema.columns
    columns = sorted(path.moves)
    place = None if target.classes is None else int(predicted_index(target, then)[0])
    return Counterfactual(
        values={specs[i].name: plain_value(specs[i], path.moves[i].value) for i in columns},
        conditions=tuple(
            f"{name_text(specs[i].name)} were {path.moves[i].words} instead of {row.texts[i]}" for i in columns
        ),
        prediction=float(then[0, 0]) if place is None or target.classes is None else target.classes[place],
        probability=None if place is None else float(then[0, place]),
        node=path.node,
        distance=path.cost[1],
    )


def places_of(tree: Tree, fixed: Sequence[str]) -> frozenset[int]:
    """Return the columns that are to stay, by place."""
    names = tree.schema.names
    if isinstance(fixed, str):
        raise DataError(f"fixed={fixed!r} should be a sequence of column names, as in fixed=({fixed!r},)")
    for name in fixed:
        if name not in names:
            raise DataError(f"fixed names {name!r}, which is no column of the tree; it has {listed(names)}")
    return frozenset(names.index(name) for name in fixed)
