"""Where rows end, in ONNX: a TreeEnsemble where it can say it, otherwise a loop over tables.

Comes in: a `Machine` and the name of the matrix of encoded rows (float64; a level is its code, then come the codes of
missing and unseen). Goes out: the name of one end per row, or of rows, ends and weights where paths fork.
Always holds: numbers are compared as float64. A TreeEnsemble's nodes may not be reached in two ways, which surrogates
need, and a row has one path in it; what it cannot say is looped over: every pass takes all rows one look further.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.export.machine import End, Fork, Look, Machine
from treewright.export.onnx_graph import Graph

_NOT_ABOVE, _IN_SET = 0, 6  # the modes of a node of a TreeEnsemble


def route_by_ensemble(graph: Graph, machine: Machine, rows: str) -> str:
    """The number of each row's end, int64 [rows], by one TreeEnsemble whose leaves are these numbers."""
    table = _Ensemble(machine)
    found = graph.put("TreeEnsemble", rows, **table.settings())
    return graph.cast(graph.put("Squeeze", found, graph.table([1], np.int64)), "INT64")


class _Ensemble:
    """The lists of a TreeEnsemble while states are written into them.

    A look is one or more nodes: a number that is missing and goes to a third place is asked for first (nothing but a
    missing number is above infinity or not), and levels of several children are asked for set by set.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.rank = {state: i for i, state in enumerate(machine.ends)}
        self.nodes: list[list[Any]] = []  # input, break, mode, true, true is leaf, false, false is leaf, missing is true
        self.leaves: list[float] = []
        self.sets: list[float] = []
        pending = [(machine.first, -1, True)]
        if isinstance(machine.states[machine.first], End):  # a tree must have a node
            self.leaves = [0.0]
            self.nodes.append([0, 0.0, _NOT_ABOVE, 0, 1, 0, 1, 0])
            pending = []
        while pending:
            state, node, side = pending.pop()
            place, is_leaf = self._place(state)
            if node >= 0:
                self.nodes[node][3 if side else 5] = place
                self.nodes[node][4 if side else 6] = int(is_leaf)
            if not is_leaf:
                # A node that is not true goes on with the next one, as onnxruntime wants it: false sides come first.
                pending += reversed(self._look(state))

    def _place(self, state: int) -> tuple[int, bool]:
        if isinstance(self.machine.states[state], Look):
            return len(self.nodes), False
        self.leaves.append(float(self.rank[state]))
        return len(self.leaves) - 1, True

    def _look(self, state: int) -> list[tuple[int, int, bool]]:
        """Writes the nodes of a look; what is left to be written: (state, node, whether it is the true side)."""
        look = self.machine.states[state]
        assert isinstance(look, Look)
        if look.above is not None:
            low, high, missing = look.arcs
            left = []
            if missing not in (low, high):
                self._node(look.input, np.inf, _NOT_ABOVE, 0)
                at = len(self.nodes)
                self.nodes[at - 1][3:5] = [at, 0]
                left = [(missing, at - 1, False)]
            self._node(look.input, look.above, _NOT_ABOVE, int(missing == low and missing != high))
            node = len(self.nodes) - 1
            return [(high, node, False), (low, node, True), *left]
        targets = list(dict.fromkeys(look.arcs))
        left = []
        for target in targets[:-1] or targets:
            self._node(look.input, 0.0, _IN_SET, 0)
            self.sets += [*(float(code) for code, arc in enumerate(look.arcs) if arc == target), np.nan]
            node = len(self.nodes) - 1
            left.append((target, node, True))
            if node and target != targets[0]:
                self.nodes[node - 1][5:7] = [node, 0]
        return [(targets[-1], len(self.nodes) - 1, False), *left]

    def _node(self, column: int, at: float, mode: int, missing: int) -> None:
        self.nodes.append([column, at, mode, 0, 0, 0, 0, missing])

    def settings(self) -> dict[str, Any]:
        column, at, mode, true, true_leaf, false, false_leaf, missing = map(list, zip(*self.nodes, strict=True))
        more = {"membership_values": np.array(self.sets)} if self.sets else {}
        return {
            "nodes_featureids": column,
            "nodes_splits": np.array(at, np.float64),
            "nodes_modes": np.array(mode, np.uint8),
            "nodes_truenodeids": true,
            "nodes_trueleafs": true_leaf,
            "nodes_falsenodeids": false,
            "nodes_falseleafs": false_leaf,
            "nodes_missing_value_tracks_true": missing,
            "tree_roots": [0],
            "leaf_targetids": [0] * len(self.leaves),
            "leaf_weights": np.array(self.leaves, np.float64),
            "n_targets": 1,
            "aggregate_function": 1,
            "post_transform": 0,
            **more,
        }


# --- the loop ---------------------------------------------------------------------------------------------------------


class _Tables:
    """The machine as flat tables in the graph: what each state looks at, and its arcs."""

    def __init__(self, graph: Graph, machine: Machine) -> None:
        states = machine.states
        looks = [state if isinstance(state, Look) else None for state in states]
        arcs = [look.arcs if look else (i, i, i) for i, look in enumerate(looks)]  # others stay where they are
        start = np.cumsum([0, *(len(each) for each in arcs)])[:-1]
        self.input = graph.table([look.input if look else 0 for look in looks], np.int64)
        self.above = graph.table([look.above if look and look.above is not None else 0.0 for look in looks], np.float64)
        self.levels = graph.table([bool(look and look.above is None) for look in looks], np.bool_)
        self.start = graph.table(start, np.int64)
        self.arcs = graph.table([arc for each in arcs for arc in each], np.int64)
        forks = [state if isinstance(state, Fork) else None for state in states]
        width = max([len(fork.arcs) for fork in forks if fork] or [0])
        self.forks = graph.table([fork is not None for fork in forks], np.bool_) if width else ""
        if width:
            # Only forks have rows in the wide tables; all other states share one row that is never read.
            places = np.cumsum([fork is not None for fork in forks])
            wide = [fork for fork in forks if fork]
            self.place = graph.table([place if fork else 0 for fork, place in zip(forks, places, strict=True)], np.int64)
            self.ways = graph.table(
                [[0] * width, *([*fork.arcs, *[0] * (width - len(fork.arcs))] for fork in wide)], np.int64
            )
            self.share = graph.table(
                [[0.0] * width, *([*fork.share, *[0.0] * (width - len(fork.share))] for fork in wide)], np.float64
            )
        rank = {state: i for i, state in enumerate(machine.ends)}
        self.rank = graph.table([rank.get(i, 0) for i in range(len(states))], np.int64)


def _stepped(graph: Graph, tables: _Tables, flat: str, offset: str, state: str) -> str:
    """The state after one look; `offset` is where the row begins in the flat matrix."""
    column = graph.put("Gather", tables.input, state)
    value = graph.put("Gather", flat, graph.put("Add", offset, column))
    above = graph.cast(graph.put("Greater", value, graph.put("Gather", tables.above, state)), "INT64")
    number = graph.put("Where", graph.put("IsNaN", value), graph.table(2, np.int64), above)
    arc = graph.put("Where", graph.put("Gather", tables.levels, state), graph.cast(value, "INT64"), number)
    return str(graph.put("Gather", tables.arcs, graph.put("Add", graph.put("Gather", tables.start, state), arc)))


def _begun(graph: Graph, rows: str, n_inputs: int) -> tuple[str, str, str]:
    """The matrix laid flat, the number of rows, and the row numbers."""
    flat = graph.put("Reshape", rows, graph.table([-1], np.int64))
    count = graph.put("Gather", graph.put("Shape", rows), graph.table(0, np.int64))
    numbers = graph.put("Range", graph.table(0, np.int64), count, graph.table(1, np.int64))
    return flat, count, numbers


def _filled(graph: Graph, like: str, value: Any, kind: Any) -> str:
    return str(graph.put("ConstantOfShape", graph.put("Shape", like), value=np.array([value], kind)))


def route_by_loop(graph: Graph, machine: Machine, rows: str, n_inputs: int) -> str:
    """The number of each row's end, int64 [rows], where one row has one path."""
    tables = _Tables(graph, machine)
    flat, _, numbers = _begun(graph, rows, n_inputs)
    offset = graph.put("Mul", numbers, graph.table(n_inputs, np.int64))
    body = graph.child()
    names = [graph.name(what) for what in ("turn", "going", "state")]
    going = body.put("Identity", names[1])
    after = _stepped(body, tables, flat, offset, names[2])
    loop = body.body(
        [graph.described(names[0], "INT64", []), graph.described(names[1], "BOOL", []),
         graph.described(names[2], "INT64", [None])],
        [graph.described(going, "BOOL", []), graph.described(after, "INT64", [None])],
    )  # fmt: skip
    start = _filled(graph, numbers, machine.first, np.int64)
    state = graph.put("Loop", graph.table(machine.longest, np.int64), "", start, body=loop)
    return str(graph.put("Gather", tables.rank, state))


def route_by_forking_loop(graph: Graph, machine: Machine, rows: str, n_inputs: int) -> tuple[str, str, str]:
    """Where paths fork: row numbers, ends and weights, one of each per path, ordered by row and end."""
    tables = _Tables(graph, machine)
    flat, _, numbers = _begun(graph, rows, n_inputs)
    body = graph.child()
    turn, going, row, state, weight = (graph.name(what) for what in ("turn", "going", "row", "state", "weight"))
    again = body.put("Identity", going)
    offset = body.put("Mul", row, graph.table(n_inputs, np.int64))
    parts = _forked(body, tables, row, _stepped(body, tables, flat, offset, state), weight)
    loop = body.body(
        [graph.described(turn, "INT64", []), graph.described(going, "BOOL", []), graph.described(row, "INT64", ["a"]),
         graph.described(state, "INT64", ["a"]), graph.described(weight, "DOUBLE", ["a"])],
        [graph.described(again, "BOOL", []), graph.described(parts[0], "INT64", ["b"]),
         graph.described(parts[1], "INT64", ["b"]), graph.described(parts[2], "DOUBLE", ["b"])],
    )  # fmt: skip
    start, ones = _filled(graph, numbers, machine.first, np.int64), _filled(graph, numbers, 1.0, np.float64)
    ended = graph.put("Loop", graph.table(machine.longest, np.int64), "", numbers, start, ones, outputs=3, body=loop)
    end = graph.put("Gather", tables.rank, ended[1])
    key = graph.put("Add", graph.put("Mul", ended[0], graph.table(len(machine.ends), np.int64)), end)
    _, order = graph.put("TopK", key, graph.put("Shape", key), outputs=2, largest=0)
    return tuple(graph.put("Gather", part, order) for part in (ended[0], end, ended[2]))  # type: ignore[return-value]


def _forked(graph: Graph, tables: _Tables, row: str, state: str, weight: str) -> list[str]:
    """Rows that stand at a fork replaced by one for each of its ways."""
    forks = graph.put("Gather", tables.forks, state)
    others = graph.put("Not", forks)
    at = graph.put("Gather", tables.place, graph.put("Compress", state, forks, axis=0))
    share = graph.put("Gather", tables.share, at)  # [forked, ways]
    one = graph.table([1], np.int64)
    zero = graph.table(0.0, np.float64)
    taken = graph.put("Reshape", graph.put("Greater", share, zero), graph.table([-1], np.int64))
    wide = {
        "row": graph.put("Expand", graph.put("Unsqueeze", graph.put("Compress", row, forks, axis=0), one),
                         graph.put("Shape", share)),
        "state": graph.put("Gather", tables.ways, at),
        "weight": graph.put("Mul", graph.put("Unsqueeze", graph.put("Compress", weight, forks, axis=0), one), share),
    }  # fmt: skip
    parts = []
    for before, name in ((row, "row"), (state, "state"), (weight, "weight")):
        new = graph.put("Compress", graph.put("Reshape", wide[name], graph.table([-1], np.int64)), taken, axis=0)
        parts.append(str(graph.put("Concat", graph.put("Compress", before, others, axis=0), new, axis=0)))
    return parts
