"""Where rows end, in ONNX: a TreeEnsemble where that suffices, otherwise a loop over tables.

Numbers are compared as float64. A TreeEnsemble's nodes may not be reached in two ways, which surrogates need, and a row
has one path in it; other trees are looped over: a pass takes every row that has not ended one node further.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.export.onnx_graph import Graph
from treewright.export.program.state_machine import End, Fork, Look, Machine

_NOT_ABOVE, _IN_SET = 0, 6  # the modes of a node of a TreeEnsemble


def route_by_ensemble(graph: Graph, machine: Machine, rows: str) -> str:
    """Return the number of each row's end, int64 [rows], by one TreeEnsemble whose leaves are these numbers."""
    table = _Ensemble(machine)
    found = graph.put("TreeEnsemble", rows, **table.settings())
    return graph.cast(graph.put("Squeeze", found, graph.table([1], np.int64)), "INT64")


class _Ensemble:
    """The lists of a TreeEnsemble while states are written into them.

    A look is one or more nodes: a number that is missing and goes to a third place is tested first (nothing but a
    missing number is above infinity or not), and levels of several children are tested set by set.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.rank = {state: i for i, state in enumerate(machine.ends)}
        self.nodes: list[
            list[Any]
        ] = []  # input, break, mode, true, true is leaf, false, false is leaf, missing is true
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
        """Write the nodes of a look; return what is left to write: (state, node, whether it is the true side)."""
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


def route_by_loop(graph: Graph, machine: Machine, rows: str, n_inputs: int) -> str:
    """Return the number of each row's end, int64 [rows], where one row has one path."""
    row, end = _looped(graph, machine, rows, n_inputs, weighted=False)
    return str(graph.put("ScatterElements", _filled(graph, row, 0, np.int64), row, end, axis=0))


def route_by_forking_loop(graph: Graph, machine: Machine, rows: str, n_inputs: int) -> list[str]:
    """Return where paths fork: row numbers, ends and weights, one of each per path, ordered by row and end."""
    parts = _looped(graph, machine, rows, n_inputs, weighted=True)
    key = graph.put("Add", graph.put("Mul", parts[0], graph.table(len(machine.ends), np.int64)), parts[1])
    _, order = graph.put("TopK", key, graph.put("Shape", key), outputs=2, largest=0)
    return [str(graph.put("Gather", part, order)) for part in parts]


def _looped(graph: Graph, machine: Machine, rows: str, n_inputs: int, *, weighted: bool) -> list[str]:
    """Row numbers, ends and, if weighted, weights of all paths, in the order in which they ended."""
    tables = _Tables(graph, machine)
    flat = graph.put("Reshape", rows, graph.table([-1], np.int64))
    count = graph.put("Gather", graph.put("Shape", rows), graph.table(0, np.int64))
    numbers = graph.put("Range", graph.table(0, np.int64), count, graph.table(1, np.int64))
    begin = [numbers, _filled(graph, numbers, machine.first, np.int64)]
    begin += [_filled(graph, numbers, 1.0, np.float64)] if weighted else []
    none = [graph.table([], np.int64), graph.table([], np.int64), *([graph.table([], np.float64)] if weighted else [])]

    body = graph.child()
    kinds = ["INT64", "INT64", "DOUBLE"][: len(begin)]
    turn, going = graph.name("turn"), graph.name("going")
    here, done = [graph.name("here") for _ in kinds], [graph.name("done") for _ in kinds]
    offset = body.put("Mul", here[0], graph.table(n_inputs, np.int64))
    moved = [here[0], _stepped(body, tables, flat, offset, here[1]), *here[2:]]
    moved = _forked(body, tables, moved) if weighted else moved
    ended = body.put("Gather", tables.is_end, moved[1])
    after = [str(body.put("Concat", was, body.put("Compress", now, ended, axis=0), axis=0))
             for was, now in zip(done, moved, strict=True)]  # fmt: skip
    left = [str(body.put("Compress", now, body.put("Not", ended), axis=0)) for now in moved]
    again = body.put("Greater", body.put("Size", left[0]), graph.table(0, np.int64))
    taken = zip([*here, *done], [*kinds, *kinds], strict=True)
    given = zip([*left, *after], [*kinds, *kinds], strict=True)
    inner = body.body(
        [graph.described(turn, "INT64", []), graph.described(going, "BOOL", []),
         *(graph.described(name, kind, [None]) for name, kind in taken)],
        [graph.described(again, "BOOL", []), *(graph.described(name, kind, [None]) for name, kind in given)],
    )  # fmt: skip
    outputs = 2 * len(kinds)
    parts = graph.put("Loop", graph.table(machine.longest, np.int64), "", *begin, *none, outputs=outputs, body=inner)
    parts = parts[len(kinds) :]
    return [parts[0], str(graph.put("Gather", tables.rank, parts[1])), *parts[2:]]


class _Tables:
    """The machine as flat tables in the graph: what each state looks at, and its arcs.

    States that test a level have NaN where others have the number they test.
    """

    def __init__(self, graph: Graph, machine: Machine) -> None:
        states = machine.states
        looks = [state if isinstance(state, Look) else None for state in states]
        arcs = [look.arcs if look else (i, i, i) for i, look in enumerate(looks)]  # a lone leaf stays where it is
        start = np.cumsum([0, *(len(each) for each in arcs)])[:-1]
        above = [0.0 if look is None else np.nan if look.above is None else look.above for look in looks]
        rank = {state: i for i, state in enumerate(machine.ends)}
        self.input = graph.table([look.input if look else 0 for look in looks], np.int64)
        self.above = graph.table(above, np.float64)
        self.start = graph.table(start, np.int64)
        self.arcs = graph.table([arc for each in arcs for arc in each], np.int64)
        self.is_end = graph.table([i in rank for i in range(len(states))], np.bool_)
        self.rank = graph.table([rank.get(i, 0) for i in range(len(states))], np.int64)
        if machine.forks:
            self._add_forks(graph, machine)

    def _add_forks(self, graph: Graph, machine: Machine) -> None:
        """Wide tables with one row per fork; row 0 stands for all states that do not fork, and is never read."""
        forks = [state for state in machine.states if isinstance(state, Fork)]
        width = max(len(fork.arcs) for fork in forks)
        padded = [([*fork.arcs, *[0] * width], [*fork.share, *[0.0] * width]) for fork in forks]
        is_fork = [isinstance(state, Fork) for state in machine.states]
        self.is_fork = graph.table(is_fork, np.bool_)
        self.fork = graph.table(np.cumsum(is_fork), np.int64)
        self.ways = graph.table([[0] * width, *(ways[:width] for ways, _ in padded)], np.int64)
        self.share = graph.table([[0.0] * width, *(share[:width] for _, share in padded)], np.float64)


def _stepped(graph: Graph, tables: _Tables, flat: str, offset: str, state: str) -> str:
    """Return the state after one look; `offset` is where the row begins in the flat matrix."""
    value = graph.put("Gather", flat, graph.put("Add", offset, graph.put("Gather", tables.input, state)))
    above = graph.put("Gather", tables.above, state)
    high = graph.cast(graph.put("Greater", value, above), "INT64")
    number = graph.put("Where", graph.put("IsNaN", value), graph.table(2, np.int64), high)
    arc = graph.put("Where", graph.put("IsNaN", above), graph.cast(value, "INT64"), number)
    return str(graph.put("Gather", tables.arcs, graph.put("Add", graph.put("Gather", tables.start, state), arc)))


def _forked(graph: Graph, tables: _Tables, parts: list[str]) -> list[str]:
    """Return paths that stand at a fork replaced by one for each of its ways."""
    row, state, weight = parts
    forks = graph.put("Gather", tables.is_fork, state)
    others = graph.put("Not", forks)
    at = graph.put("Gather", tables.fork, graph.put("Compress", state, forks, axis=0))
    share = graph.put("Gather", tables.share, at)  # [forked, ways]
    one, flat = graph.table([1], np.int64), graph.table([-1], np.int64)
    taken = graph.put("Reshape", graph.put("Greater", share, graph.table(0.0, np.float64)), flat)

    def column(part: str) -> str:
        return str(graph.put("Unsqueeze", graph.put("Compress", part, forks, axis=0), one))

    wide = (
        graph.put("Expand", column(row), graph.put("Shape", share)),
        graph.put("Gather", tables.ways, at),
        graph.put("Mul", column(weight), share),
    )
    new = [graph.put("Compress", graph.put("Reshape", each, flat), taken, axis=0) for each in wide]
    old = [graph.put("Compress", part, others, axis=0) for part in parts]
    return [str(graph.put("Concat", *pair, axis=0)) for pair in zip(old, new, strict=True)]


def _filled(graph: Graph, like: str, value: Any, kind: Any) -> str:
    return str(graph.put("ConstantOfShape", graph.put("Shape", like), value=np.array([value], kind)))
