"""Compares a treewright tree with the tree of another program, node for node.

Pure functions; children are matched by the branch they are, never by their order. Below a node whose split or counts
differ nothing is compared: what is below follows from it.

What is accepted without being called a difference:
- a level that no training row has at the node may be in any child or in none (rpart and CHAID leave it open);
- Id3 predicts nothing in an empty branch, we predict the parent's majority class;
- a tie between classes goes to the lowest place, as in every program here;
- rpart with usesurrogate=0 lists surrogates that it never uses, we make none;
- CHAID: a missing value where training had missing values but not at this node (`nearest code`) follows a rule that
  chaidr's own notes call an accident.
How rpart's numbers come from ours: `improve` is weight x gain for gini, weight x gain x ln 2 for information (natural
logarithm there, bits here), gain / impurity for anova (share of the node's sum of squares). `dev` is what the
cheapest answer costs, or the sum of squares. With priors the rows carry weights, `n` and `dist` are still rows; with
costs the weight of `improve` is the one that growing saw, a class weighing what errors on it cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from golden_predictions import class_of, shares_of

Golden = dict[str, Any]
Match = list[int]  # golden child -> our child
Wrong = tuple[str, object, object]  # what, ours, theirs


class Difference(NamedTuple):
    """One thing that is not the same."""

    path: str
    what: str
    ours: object
    theirs: object

    @property
    def place(self) -> str:
        return f"{self.path}: {self.what}"

    def __str__(self) -> str:
        return f"{self.place}: ours {self.ours}, theirs {self.theirs}"


@dataclass(frozen=True)
class Closeness:
    """How near two numbers must be: `cut` and `figure` are relative; counts are near by either of their two."""

    cut: float = 0.0
    count: float = 1e-9
    count_absolute: float = 1e-6
    figure: float = 1e-9


def closeness(golden: Golden) -> Closeness:
    """rpart prints 15 digits of a midpoint, the others store a value of the table; single precision blurs weights."""
    if golden["program"] == "rpart":
        return Closeness(cut=1e-12)
    if golden.get("single_precision"):
        return Closeness(count=2e-6, count_absolute=2e-5)
    return Closeness(count_absolute=1e-9)


def near(ours: float | None, theirs: float | None, relative: float, absolute: float = 0.0) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(float(ours), float(theirs), rel_tol=relative, abs_tol=absolute)


# --- splits: which of our children is which of theirs -----------------------------------------------------------------


def conditions(split: Golden) -> list[str]:
    """One readable condition per golden child."""
    column = split["column"]
    if "cut" in split:
        below, above = ("<=", ">") if split["closed"] else ("<", ">=")
        words = [f"{column} {above} {split['cut']!r}"] * 2
        words[split["low"]] = f"{column} {below} {split['cut']!r}"
        return words
    if "bins" in split:
        return [f"{column} in bins {bins}" for bins in split["bins"]]
    return [f"{column} in {{{', '.join(levels)}}}" for levels in split["groups"]]


def route(split: Any, value: float) -> int:
    """The child of a number."""
    closed = split.test == "<="
    place = sum(cut < value if closed else cut <= value for cut in split.breaks)
    return int(split.child_of_bin[place])


def missing_child(split: Any) -> int | None:
    """Our child for a missing value; None: no single child."""
    return split.missing if isinstance(split.missing, int) and split.missing >= 0 else None


def match_cut(split: Any, theirs: Golden, close: Closeness) -> tuple[Match | None, list[Wrong]]:
    if split.threshold is None:
        return None, [("kind", split.groups or "many intervals", conditions(theirs))]
    wrong: list[Wrong] = []
    if not near(split.threshold, theirs["cut"], close.cut):
        wrong.append(("cut", split.threshold, theirs["cut"]))
    if (split.test == "<=") != theirs["closed"]:
        wrong.append(("test", split.test, "<=" if theirs["closed"] else "<"))
    low, high = (int(child) for child in split.child_of_bin)
    return ([low, high] if theirs["low"] == 0 else [high, low]), wrong


def match_parts(held: list[set[int]], split: Any, theirs: Golden) -> Match | None:
    """`held`: our children that hold something of each golden child. None unless each has one and it is its own."""
    for place, children in enumerate(held):
        if theirs.get("missing_how") == "trained" and theirs.get("missing") == place:
            children.add(-1 if missing_child(split) is None else missing_child(split) or 0)
    if any(len(children) != 1 for children in held):
        return None
    match = [next(iter(children)) for children in held]
    return match if len(set(match)) == len(match) and -1 not in match else None


def match_groups(split: Any, theirs: Golden) -> tuple[Match | None, list[Wrong]]:
    if split.groups is None:
        return None, [("kind", f"cut at {split.threshold}", conditions(theirs))]
    child_of = {level: child for child, levels in enumerate(split.groups) for level in levels}
    held = [{child_of.get(level, -1) for level in levels} for levels in theirs["groups"]]
    match = match_parts(held, split, theirs)
    return (match, []) if match else (None, [("groups", described(split), described_golden(theirs))])


def match_bins(split: Any, theirs: Golden, bounds: list[float]) -> tuple[Match | None, list[Wrong]]:
    """Each bin goes where its upper end goes; our breaks must be ends of bins. Without breaks, all known values are one
    child and the missing ones the other.
    """
    if split.groups is not None:
        return None, [("kind", described(split), conditions(theirs))]
    held = [{route(split, bounds[place - 1]) for place in bins} for bins in theirs["bins"]]
    match = match_parts(held, split, theirs)
    odd = [cut for cut in split.breaks if cut not in bounds]
    wrong: list[Wrong] = [("ends of bins", odd, bounds)] if odd else []
    return match, wrong if match else [*wrong, ("groups", described(split), described_golden(theirs))]


def described(split: Any) -> str:
    """Our split in one line."""
    if split.groups is not None:
        parts = " | ".join("{" + ", ".join(map(str, levels)) + "}" for levels in split.groups)
    else:
        parts = f"{split.test} {list(split.breaks)} -> {list(split.child_of_bin)}"
    return f"{parts}, missing {split.missing}"


def described_golden(split: Golden) -> str:
    missing = f", missing {split['missing']} ({split.get('missing_how', 'candidate')})" if "missing" in split else ""
    return " | ".join(conditions(split)) + missing


def match(split: Any, theirs: Golden, close: Closeness, bins: dict[str, list[float]]) -> tuple[Match | None, list[Any]]:
    """Golden child -> our child (None: not the same division), and what is not the same."""
    if split.column != theirs["column"]:
        return None, [("column", f"{split.column} {described(split)}", described_golden(theirs))]
    if "cut" in theirs:
        return match_cut(split, theirs, close)
    if "bins" in theirs:
        return match_bins(split, theirs, bins[theirs["column"]])
    return match_groups(split, theirs)


# --- what is at a node ------------------------------------------------------------------------------------------------


def row_counts(node: Any, class_weights: Sequence[float] | None) -> list[float]:
    """Rows per class: weights per class, without the weights that stand for priors."""
    weights = class_weights or [1.0] * len(node.counts)
    return [float(count) / weight for count, weight in zip(node.counts, weights, strict=True)]


def node_differences(
    node: Any, theirs: Golden, close: Closeness, weights: Sequence[float] | None, costs: list[list[float]] | None
) -> Iterator[Wrong]:
    if "dist" in theirs:
        counts = row_counts(node, weights)
        pairs = zip(counts, theirs["dist"], strict=True)
        if not all(near(a, b, close.count, close.count_absolute) for a, b in pairs):
            yield "counts", counts, theirs["dist"]
        if bool(theirs.get("empty")) != (node.rows == 0):
            yield "empty", f"{node.rows} rows", theirs["dist"]
        if "dev" in theirs:
            risk = cheapest(node.counts, costs)
            if not near(risk, theirs["dev"], close.figure, 1e-9):
                yield "dev", risk, theirs["dev"]
        return
    if node.rows != theirs["n"]:
        yield "rows", node.rows, theirs["n"]
    if not near(node.mean, theirs["mean"], close.figure):
        yield "mean", node.mean, theirs["mean"]
    squares = theirs["dev"] if "dev" in theirs else theirs["sd"] ** 2 * (theirs["n"] - 1)
    if not near(node.weight * node.impurity, squares, 1e-8, 1e-8):
        yield "sum of squares", node.weight * node.impurity, squares


def answer_differences(
    node: Any, theirs: Golden, above: Golden | None, program: str, classes: Sequence[Any], close: Closeness
) -> Iterator[Wrong]:
    """What the node answers by itself, inner nodes and empty leaves too, and the share of each class."""
    wanted = classes[class_of(theirs, above)]
    if node.prediction != wanted:
        yield "answer", node.prediction, wanted
    shares = shares_of(theirs, above, program)
    pairs = zip(node.probabilities, shares, strict=True)
    if not all(near(a, b, close.count, close.count_absolute) for a, b in pairs):
        yield "probabilities", list(node.probabilities), shares


def cheapest(counts: Sequence[float], costs: list[list[float]] | None) -> float:
    """What the cheapest answer costs; one per wrong row, if nothing is said."""
    if costs is None:
        return float(sum(counts)) - float(max(counts))
    return min(sum(n * row[answer] for n, row in zip(counts, costs, strict=True)) for answer in range(len(counts)))


def growing_weight(node: Any, options: Golden) -> float:
    """The node's weight while the tree grew: a class weighs what errors on it cost, the whole weight is the same."""
    if "loss" not in options:
        return float(node.weight)
    each = [sum(row) for row in options["loss"]]
    seen, whole = (sum(n * cost for n, cost in zip(x, each, strict=True)) for x in (node.counts, options["prior"]))
    return float(seen / whole)


# --- figures of a split, program by program ---------------------------------------------------------------------------


def improve(node: Any, split: Any, options: Golden) -> float:
    """rpart's `improve` from our gain (see the top of this file)."""
    if options["method"] == "anova":
        return float(split.gain) / float(node.impurity)
    return (
        float(split.gain) * growing_weight(node, options) * (math.log(2) if options["split"] == "information" else 1.0)
    )


def j48_figures(split: Any, theirs: Golden, order: Match) -> Iterator[Wrong]:
    if not near(split.gain, theirs["gain"], 1e-9, 1e-12):
        yield "gain", split.gain, theirs["gain"]
    if not near(split.score, theirs["gain_ratio"], 1e-9, 1e-12):
        yield "gain ratio", split.score, theirs["gain_ratio"]
    if "shares" in theirs:
        shares = [float(split.share[child]) for child in order]
        if not all(near(a, b, 1e-9, 1e-12) for a, b in zip(shares, theirs["shares"], strict=True)):
            yield "shares", shares, theirs["shares"]


def surrogate_differences(node: Any, theirs: list[Golden], order: Match, close: Closeness) -> Iterator[Wrong]:
    """In order of use; each must send the same way, to the same child."""
    names = [surrogate.column for surrogate in node.surrogates]
    if names != [surrogate["column"] for surrogate in theirs]:
        figures = [(s.column, round(float(s.score), 6)) for s in node.surrogates]
        yield "surrogates", figures, [(s["column"], round(s["agree"], 6)) for s in theirs]
        return
    for place, (ours, golden) in enumerate(zip(node.surrogates, theirs, strict=True)):
        what = f"surrogate {place + 1} ({golden['column']})"
        found, wrong = match(ours, golden, close, {})
        yield from ((f"{what} {part}", a, b) for part, a, b in wrong)
        if found is not None and found != order:
            yield f"{what} direction", described(ours), described_golden(golden)
        if not near(ours.score, golden["agree"], close.figure):
            yield f"{what} agree", ours.score, golden["agree"]
        if not near(ours.adjusted, golden["adj"], close.figure):
            yield f"{what} adj", ours.adjusted, golden["adj"]


def rpart_figures(node: Any, theirs: Golden, order: Match, golden: Golden, close: Closeness) -> Iterator[Wrong]:
    split, options = theirs["split"], golden["options"]
    use = options["control"]["usesurrogate"]
    if not near(improve(node, node.split, options), split["improve"], close.figure, close.figure):
        yield "improve", improve(node, node.split, options), split["improve"]
    if "surrogates" not in split:
        return
    if use > 0:
        yield from surrogate_differences(node, split["surrogates"], order, close)
    first, second = (sum(child["dist"]) if "dist" in child else child["n"] for child in theirs["children"])
    larger = None if use < 2 or first == second else order[0] if first > second else order[1]
    if missing_child(node.split) != larger:
        yield "missing", node.split.missing, "stop" if larger is None else larger


def chaid_figures(ours: Any, theirs: Golden) -> Iterator[Wrong]:
    """Statistic, degrees of freedom, p and multiplier; p as a logarithm, for it can be too small for a number."""
    degrees = theirs["dof"][0] if isinstance(theirs["dof"], list) else theirs["dof"]
    multiplier = math.log(theirs["multiplier"]) if theirs["multiplier"] > 0 else -math.inf
    for what, mine, golden in (
        ("statistic", ours.statistic, theirs["statistic"]),
        ("degrees", ours.degrees, degrees),
        ("log p", ours.log_p, theirs["log_p"]),
        ("log multiplier", ours.log_multiplier, multiplier),
    ):
        if golden is not None and not near(mine, golden, 1e-9, 1e-9):
            yield what, mine, golden


CHAID_STOPS = {
    "pure": "pure",
    "max_depth": "depth",
    "min_parent": "too few rows",
    "no_predictor": "no column",
    "not_significant": "not significant",
    "min_child": "children too small",
}


# --- the walk ---------------------------------------------------------------------------------------------------------


def tree_differences(tree: Any, golden: Golden, class_weights: Sequence[float] | None = None) -> list[Difference]:
    """Every difference between our tree and the golden's."""
    found = list(_walk(tree, golden, class_weights))
    found += [Difference("root", *parts) for parts in _root(tree.root, golden, closeness(golden))]
    if not found and tree.n_nodes != golden["nodes"]:
        found.append(Difference("root", "nodes", tree.n_nodes, golden["nodes"]))
    return found


def _walk(tree: Any, golden: Golden, weights: Sequence[float] | None) -> Iterator[Difference]:
    close, options = closeness(golden), golden["options"]
    costs = options.get("loss") if isinstance(options, dict) else None
    open_nodes: list[tuple[Any, Golden, Golden | None, str]] = [(tree.root, golden["tree"], None, "root")]
    while open_nodes:
        node, theirs, above, path = open_nodes.pop()
        here = list(node_differences(node, theirs, close, weights, costs))
        here += _leaf(node, theirs)
        if "dist" in theirs:
            answers = answer_differences(node, theirs, above, golden["program"], tree.schema.target.classes, close)
            yield from (Difference(path, *parts) for parts in answers)
        order: Match | None = None
        if not node.is_leaf and "split" in theirs:
            order, wrong = match(node.split, theirs["split"], close, golden.get("bins", {}))
            here += wrong
        if order is not None:
            if len(node.children) != len(order):
                here.append(("children", described(node.split), described_golden(theirs["split"])))
            if not here:
                ours = [tree[node.children[child]] for child in order]
                paths = [f"{path} / {condition}" for condition in conditions(theirs["split"])]
                below = [(*pair, theirs, way) for *pair, way in zip(ours, theirs["children"], paths, strict=True)]
                open_nodes += reversed(below)
                here += _figures(node, theirs, order, golden, close)
        yield from (Difference(path, *parts) for parts in here)


def _leaf(node: Any, theirs: Golden) -> Iterator[Wrong]:
    if not node.is_leaf and "split" not in theirs:
        yield "leaf", f"split on {node.split.column}: {described(node.split)}", "leaf"
    elif node.is_leaf and "split" in theirs:
        yield "leaf", f"leaf ({node.stop})", described_golden(theirs["split"])
    elif node.is_leaf and "stop" in theirs and node.stop != CHAID_STOPS[theirs["stop"]]:
        yield "stop", node.stop, theirs["stop"]


def _figures(node: Any, theirs: Golden, order: Match, golden: Golden, close: Closeness) -> Iterator[Wrong]:
    split = theirs["split"]
    if golden.get("without_figures"):
        return
    if golden["program"] == "J48":
        yield from j48_figures(node.split, split, order)
    elif golden["program"] == "rpart":
        yield from rpart_figures(node, theirs, order, golden, close)
    elif golden["program"] == "chaidr":
        yield from chaid_figures(node.split, split)
        if split["missing_how"] != "nearest code" and missing_child(node.split) != order[split["missing"]]:
            yield "missing", node.split.missing, f"{order[split['missing']]} ({split['missing_how']})"


def _root(root: Any, golden: Golden, close: Closeness) -> Iterator[Wrong]:
    """The root's beaten splits: rpart's competitors and surrogates, CHAID's candidates."""
    if golden["program"] == "rpart" and "split" in golden["tree"] and not root.is_leaf:
        rivals, theirs = list(root.rivals), golden["root"]["competitors"]
        for place, rival in enumerate(theirs):
            what = f"rival {place + 1} ({rival['column']})"
            if place >= len(rivals):
                yield what, None, described_golden(rival)
                continue
            _, wrong = match(rivals[place], rival, close, {})
            yield from ((f"{what} {part}", a, b) for part, a, b in wrong)
            ours = improve(root, rivals[place], golden["options"])
            if not wrong and not near(ours, rival["improve"], close.figure, close.figure):
                yield f"{what} improve", ours, rival["improve"]
        order, _ = match(root.split, golden["tree"]["split"], close, {})
        if order is not None and golden["options"]["control"]["usesurrogate"] > 0:
            yield from surrogate_differences(root, golden["root"]["surrogates"], order, close)
    if golden["program"] == "chaidr":
        yield from _chaid_candidates(root, golden, close)


def _chaid_candidates(root: Any, golden: Golden, close: Closeness) -> Iterator[Wrong]:
    """Every beaten predictor tested at the root, except those with too small a group, which chaidr shows unmerged."""
    ours = {split.column: split for split in root.rivals}
    chosen = None if root.is_leaf else root.split.column
    for candidate in golden["candidates"]:
        column = candidate["column"]
        if column == chosen or candidate["too_small"]:
            continue
        what = f"candidate {column}"
        if column not in ours:
            yield what, None, described_golden(candidate)
            continue
        theirs = candidate | {"missing_how": "trained" if candidate["missing"] is not None else "none"}
        _, wrong = match(ours[column], theirs, close, golden["bins"])
        yield from ((f"{what} {part}", a, b) for part, a, b in wrong)
        if not wrong:
            yield from ((f"{what} {part}", a, b) for part, a, b in chaid_figures(ours[column], candidate))


def path_differences(path: Any, steps: Sequence[tuple[float, int | None, float]], unit: float) -> list[Difference]:
    """Our pruning path against (alpha, leaves or None, risk) from the whole tree down to the root, in units of ours.

    The first alpha is where they stop growing, ours is 0.
    """
    ours = list(zip(path.alpha, path.leaves, path.risk, strict=True))
    if len(ours) != len(steps):
        return [Difference("path", "steps", len(ours), len(steps))]
    found = []
    for i, ((alpha, leaves, risk), (alpha_theirs, leaves_theirs, risk_theirs)) in enumerate(
        zip(ours, steps, strict=True)
    ):
        if i > 0 and not near(alpha / unit, alpha_theirs, 1e-9, 1e-12):
            found.append(Difference("path", f"alpha {i}", alpha / unit, alpha_theirs))
        if leaves_theirs is not None and leaves != leaves_theirs:
            found.append(Difference("path", f"leaves {i}", leaves, leaves_theirs))
        if not near(risk / unit, risk_theirs, 1e-9, 1e-12):
            found.append(Difference("path", f"risk {i}", risk / unit, risk_theirs))
    return found


def prediction_differences(ours: Sequence[Any], golden: Golden, classes: Sequence[str] | None) -> list[Difference]:
    """One difference for all rows that get another answer; it names each. `ours`: class labels, or numbers."""
    theirs = golden["predictions"]
    if classes is None:
        wrong = [row for row, (a, b) in enumerate(zip(ours, theirs, strict=True)) if not near(a, b, 1e-9, 1e-12)]
        shown = [(row, float(ours[row]), theirs[row]) for row in wrong[:5]]
    else:
        wrong = [row for row, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != classes[b]]
        shown = [(row, str(ours[row]), classes[theirs[row]]) for row in wrong[:5]]
    if not wrong:
        return []
    rows = ", ".join(map(str, wrong))
    return [Difference("predictions", f"rows {rows}", f"{len(wrong)} of {len(theirs)} differ", shown)]
