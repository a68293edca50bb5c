"""The lesson "by-hand": the weather tree grown split by split, as in the studio, and argued with."""

from __future__ import annotations

from treewright.editing.apply import apply
from treewright.editing.edits import Collapse, Grow, Split
from treewright.errors import DataError
from treewright.inspection.ranking import Candidate, Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Listed, Note, Part, Printed, Shown, Text
from treewright.lessons.phrases import checked, data_source, four_digits, right, rows_grid, spelled
from treewright.lessons.tables import TENNIS, Columns
from treewright.recipes.named import ID3
from treewright.training.learn import learn
from treewright.tree.text import level_text
from treewright.tree.tree import Node, Tree

#: A changed table may lead to more splits than anybody wants to read.
_MOST_STEPS = 6
#: Of so few days none is held out.
_COMMAND = "treewright studio weather.csv --target Play --algorithm id3 --holdout 0"


def by_hand(data: Columns = TENNIS) -> Lesson:
    """Return the weather tree grown by hand: rank, split, go on, argue, take away."""
    grown = learn(checked(data, TENNIS, "Play", classes=("No", "Yes")), "Play", ID3)
    if grown.root.is_leaf:
        raise DataError("the lesson grows a tree; it needs a table on which ID3 splits at least once")
    first = apply(grown, Collapse(0))
    ranked = rank_splits(data, "Play", tree=first)
    steps, tree, log = _steps(data, first)
    good, whole = right(tree, data)
    return Lesson(
        "by-hand",
        "By hand: the weather tree in the studio",
        f"{spelled(whole).capitalize()} days of weather again, but now you choose every split, and see what each "
        "choice costs.",
        data,
        (
            rows_grid(data, "The days", "Day"),
            Text(
                f"Save the days as `weather.csv` and run `{_COMMAND}`: a page opens in the browser, with one node that "
                "holds every day. Without a browser, the same is done by `tw.edit`, as below; the log that the studio "
                "keeps is made of the same edits."
            ),
            Heading("One node"),
            Text("Select it: the panel Splits ranks every column, best first, and shows what each child would hold."),
            Code(
                f"import treewright as tw\n\n{data_source('by-hand', data, TENNIS)}\n"
                'tree = first = tw.edit.apply(tw.learn(data, "Play", tw.ID3), tw.edit.Collapse(0))\n'
                'print(tw.rank_splits(data, "Play", tree=tree))'
            ),
            Printed(str(ranked), "every column ranked at the root"),
            Text(
                f"**{ranked[0].column}** gains {four_digits(ranked[0].gain or 0)} bits. Click Apply beside it, or "
                "press the number before its name."
            ),
            *steps,
            Heading("The tree"),
            Shown(tree),
            Text(f"It predicts {good} of {whole} days correctly. {_as_grown(tree, grown)}"),
            *_argument(data, first, ranked, grown),
            Heading("Take it away"),
            Text(
                "The panel Take away has the log of what was done, one line of JSON for each edit. Replayed on the "
                "first tree it gives the same tree, to the last bit:"
            ),
            Code(f"log = [\n{_written(log)}]\nprint(tw.edit.replay(first, log, data) == tree)"),
            Printed("True", "the same tree"),
            Note(
                "Close the browser or the laptop whenever you like: the studio keeps every step in a journal beside "
                "the table, and goes on from there."
            ),
        ),
    )


def _steps(data: Columns, tree: Tree) -> tuple[list[Part], Tree, list[Split]]:
    """Return the parts of every split, the tree they lead to, and the log."""
    parts: list[Part] = []
    log: list[Split] = []
    while len(log) < _MOST_STEPS and (found := _next(data, tree)) is not None:
        node, best = found
        edit = _edit(node.id, best)
        parts += [] if not log else [Heading(f"Node {node.id}"), Text(_why(node, best))]
        tree = apply(tree, edit, data)
        log.append(edit)
        parts += [
            Code(f"tree = tw.edit.apply(tree, {_call(edit)}, data)\nprint(tree)"),
            Printed(str(tree), "the tree so far"),
        ]
    return parts, tree, log


def _next(data: Columns, tree: Tree) -> tuple[Node, Candidate] | None:
    """Return the next leaf that a column divides, nearest to the root first, and its best split."""
    leaves = sorted((node for node in tree if node.is_leaf and node.rows), key=lambda node: (node.depth, node.id))
    for node in leaves:
        if node.impurity > 0:
            best = rank_splits(data, "Play", tree=tree, node=node.id)[0]
            if best.split is not None and (best.gain or 0) > 0 and len(_groups(best)) > 1:
                return node, best
    return None


def _groups(best: Candidate) -> list[list[str]]:
    """Return the levels of each child that holds a day."""
    assert best.split is not None
    groups = zip(best.split.groups or (), best.children, strict=True)
    return [[str(level) for level in group] for group, child in groups if child.rows]


def _edit(node: int, best: Candidate) -> Split:
    return Split(node, best.column, groups=tuple(tuple(group) for group in _groups(best)))


def _call(edit: Split) -> str:
    groups = [list(group) for group in edit.groups or ()]
    return f"tw.edit.Split({edit.node}, {edit.column!r}, groups={groups!r})"


def _written(log: list[Split]) -> str:
    return "".join(f"    {_call(edit)},\n" for edit in log)


def _why(node: Node, best: Candidate) -> str:
    counts = node.counts or ()
    classes = node.tree.schema.target.classes or ()
    mixed = " and ".join(f"{count:g} {level_text(name)}" for name, count in zip(classes, counts, strict=True))
    return (
        f"Select node {node.id}: {mixed}. Here **{best.column}** is best, with {four_digits(best.gain or 0)} bits; "
        "apply it."
    )


def _as_grown(tree: Tree, grown: Tree) -> str:
    questions = [[None if node.split is None else node.split.column for node in one] for one in (tree, grown)]
    if questions[0] == questions[1]:
        return "It asks the questions that ID3 asks: at every node you took the first of the ranking, and so does ID3."
    return f"Grown by itself, ID3 makes a tree of {grown.n_leaves} leaves; yours has {tree.n_leaves}."


def _argument(data: Columns, first: Tree, ranked: Ranking, grown: Tree) -> list[Part]:
    """Return what another column at the root costs, where there is one."""
    others = [one for one in ranked.candidates[1:] if one.split is not None and len(_groups(one)) > 1]
    if not others:
        return []
    other = others[0]
    tree = apply(first, _edit(0, other), data)
    children = list(reversed(tree.root.children))
    for child in children:
        tree = apply(tree, Grow(child), data)
    costs = (ranked[0].gain or 0) - (other.gain or 0)
    return [
        Heading(f"What if it were {other.column}?"),
        Text(
            f"Somebody in the room would rather begin with {other.column}. Undo everything with the key u, apply that "
            "split, and let the recipe grow the rest below each child."
        ),
        Code(
            f"other = tw.edit.apply(first, {_call(_edit(0, other))}, data)\n"
            f"for child in {children}:\n"
            "    other = tw.edit.apply(other, tw.edit.Grow(child), data)\n"
            "print(other)"
        ),
        Printed(str(tree), "the other tree"),
        Listed(
            (
                f"the first split gains {four_digits(costs)} bits less",
                f"the tree has {tree.n_leaves} leaves, and {grown.n_leaves} if {ranked[0].column} comes first",
                "the studio marks the split as made by hand, in pictures and in print",
            )
        ),
    ]
