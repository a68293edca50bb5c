"""The session: a history, the snapshot that it leads to, and the journal that outlives it.

Reading takes the snapshot of the moment and never waits; changes happen one after the other. A change is in the journal
before it is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.data.schema import Schema
from treewright.editing.apply import apply_rows
from treewright.editing.edits import Grow, Prune
from treewright.editing.folds import score_by_folds
from treewright.errors import DataError
from treewright.growing.progress import Progress
from treewright.interactive.exports import Taken, forms, taken
from treewright.interactive.history import History, HistoryStep
from treewright.interactive.jobs import Jobs, giving_back
from treewright.interactive.journal import Journal
from treewright.interactive.snapshot import Snapshot
from treewright.interactive.start import Start, pruner_choices, read_recipe, recipe_choices, written_recipe
from treewright.interactive.table import Table, TableOrigin, encode_table, first_tree
from treewright.prediction.evaluation import score_on
from treewright.recipes.recipe import Recipe
from treewright.reporting.html_page import html
from treewright.reporting.report import report
from treewright.training.folds import Fold, random_folds
from treewright.training.learn import grow_and_prune
from treewright.tree.tree import Tree

_FOLDS = 5


class Session:
    """A tree that is being grown by hand.

    `folder`: where files are saved; None saves nothing.
    """

    def __init__(self, source: TableOrigin, start: Start, folder: Path | None = None, *, new: bool = False) -> None:
        self.source, self.folder, self.jobs = source, folder, Jobs()
        self._change = threading.RLock()
        self._tables: list[tuple[Start, Table]] = []
        self._trees: list[Tree] = []
        self.continued = 0
        table = self._table(start)
        self.journal = None if folder is None else Journal(folder / f"{source.stem}.studio.jsonl")
        earlier = None
        if self.journal is not None and new:
            self.journal.set_aside("a new session was wanted")
        elif self.journal is not None:
            earlier = self._continued(table, start)
        if earlier is None:
            self.history = History()
            if self.journal is not None:
                self.journal.begin(table.fingerprint, source.name)
            self.do(start)

    def _continued(self, table: Table, start: Start) -> History | None:
        """Take up an earlier session about the same rows."""
        assert self.journal is not None
        earlier = self.journal.read(table.fingerprint)
        if earlier is None:
            return None
        if earlier.steps[0] != start:
            self.journal.set_aside("this session starts from other settings")
            return None
        try:
            self.history = earlier
            self._snapshot = self._at(earlier)
        except DataError as error:
            self._trees = []
            self.journal.set_aside(str(error))
            return None
        self.continued = earlier.done - 1
        return earlier

    # --- changes ------------------------------------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """The tree of the moment."""
        return self._snapshot

    def do(self, step: HistoryStep) -> None:
        """Make an edit or begin anew; what cannot be done raises and changes nothing."""
        with self._change:
            name = "Reading the table" if isinstance(step, Start) else type(step).__name__

            def work(progress: Progress) -> Tree:
                return self._made(step, self._trees[self.history.done - 1] if self.history.done else None, progress)

            if self.history.done:
                self.snapshot.forget_rows()
            tree = self.jobs.run(name, work)
            if self.history.done and (why := _nothing_done(step, self.snapshot.tree, tree)) is not None:
                raise DataError(why)
            self._trees = [*self._trees[: self.history.done], tree]
            self._move(self.history.do(step), lambda journal: journal.done(step))

    def grow(self, node: int, recipe: object) -> None:
        """Grow a node by a recipe of its own, without pruning."""
        self.do(Grow(node, recipe=read_recipe(recipe).with_(pruning=None)))

    def undo(self) -> None:
        """Undo the last step."""
        with self._change:
            self._move(self.history.undo(), lambda journal: journal.moved("undo"))

    def redo(self) -> None:
        """Do the step again that was undone last."""
        with self._change:
            self._move(self.history.redo(), lambda journal: journal.moved("redo"))

    def _move(self, history: History, write: Callable[[Journal], None]) -> None:
        if self.history.done:
            self.snapshot.forget_rows()
        snapshot = self._at(history)
        if self.journal is not None:
            write(self.journal)
        self.history, self._snapshot = history, snapshot
        self.jobs.publish({"event": "changed", "done": history.done})

    def _at(self, history: History) -> Snapshot:
        """Return the snapshot of a history; trees of steps that were made before are not made again."""
        for i in range(len(self._trees), len(history.steps)):
            before = self._trees[i - 1] if i else None
            self._trees.append(self._made(history.steps[i], before, None, history.steps[:i]))
        return Snapshot(history.start, self._table(history.start), self._trees[history.done - 1], history.log)

    def _made(
        self,
        step: HistoryStep,
        before: Tree | None,
        progress: Progress | None,
        earlier: tuple[HistoryStep, ...] | None = None,
    ) -> Tree:
        if isinstance(step, Start):
            return first_tree(self._table(step), step)
        assert before is not None
        steps = self.history.steps[: self.history.done] if earlier is None else earlier
        start = next(one for one in reversed(steps) if isinstance(one, Start))
        return apply_rows(before, step, self._table(start).training, progress=progress)

    def _table(self, start: Start) -> Table:
        """Return the encoded table of a start; only the last one is kept."""
        for known, table in self._tables:
            if known.encodes_as(start):
                return table
        self._tables.clear()
        self._tables.append((start, encode_table(self.source, start)))
        return self._tables[0][1]

    # --- requests of the page ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the tree, the log and what can be done."""
        snapshot, history = self.snapshot, self.history
        return {
            "report": snapshot.shown,
            "start": snapshot.start.as_dict(),
            "classes": list(snapshot.tree.schema.target.classes or ()),
            "log": [edit.as_dict() for edit in snapshot.log],
            "undo": history.done - 1,
            "redo": len(history.steps) - history.done,
            "table": self.source.name,
            "columns": [vars(one) for one in snapshot.table.columns],
            "notes": [*snapshot.table.notes, *filter(None, [self.journal.aside if self.journal else None])],
            "continued": self.continued,
            "saves": None if self.journal is None else self.journal.path.name,
            "choices": recipe_choices(snapshot.tree.schema.target.task),
            "pruners": pruner_choices(),
            "forms": forms(),
            "rows": {"training": snapshot.table.n_training, "held_out": _size(snapshot.table)},
        }

    def compare(self, recipe: object) -> dict[str, Any]:
        """Return the tree that a recipe learns from the same rows, pruned as it says, and where the two differ."""
        chosen, snapshot = read_recipe(recipe), self.snapshot

        def work(progress: Progress) -> Tree:
            return grow_and_prune(snapshot.table.only_training(), snapshot.table.schema, chosen, 0, progress)

        tree = self.jobs.run(f"Learning by {chosen.name}", work)
        other = Snapshot(snapshot.start, snapshot.table, tree, ())
        return {"recipe": written_recipe(chosen), "report": other.shown, "differ": differing(snapshot.tree, tree)}

    def cross_validated(self, recipe: object = None) -> dict[str, Any]:
        """Return the score over five folds: of a recipe, or of the tree by hand, whose log is replayed on each."""
        history, trees, snapshot = self.history, list(self._trees), self.snapshot
        table, log = snapshot.table, history.log
        rows = table.all_rows()
        snapshot.forget_rows()
        folds = random_folds(rows, _FOLDS, 0)
        chosen = None if recipe is None else read_recipe(recipe)
        before = trees[history.done - 1 - len(log) : history.done - 1]

        def begin(training: Encoded) -> Tree:
            return first_tree(replace(table, training=training), history.start)

        def work(progress: Progress) -> list[dict[str, Any]]:
            if chosen is None:
                return score_by_folds(begin, before, log, rows, folds, giving_back(progress))
            return _recipe_by_folds(chosen, table.schema, rows, folds, giving_back(progress))

        name = "your steps" if chosen is None else chosen.name
        heads = self.jobs.run(f"Cross-validating {name}", work)
        values = [head["value"] for head in heads]
        return {
            "of": name,
            "measure": heads[0]["name"],
            "values": values,
            "mean": sum(values) / len(values),
            "baseline": sum(head["baseline"] for head in heads) / len(heads),
            "steps": len(log),
            "passed_over": [head.get("passed_over", 0) for head in heads],
        }

    def taken(self, form: str) -> Taken:
        """Return a form of the tree to take away."""
        snapshot, history = self.snapshot, self.history
        first = next(i for i in range(history.done - 1, -1, -1) if isinstance(history.steps[i], Start))

        def page() -> str:
            table = snapshot.table
            return html(
                report_of(snapshot.tree, table), title=f"{snapshot.start.target}, {self.source.name}, grown by hand"
            )

        return taken(form, snapshot.tree, self._trees[first], snapshot.log, snapshot.start, self.source, page)

    def save(self, form: str) -> str:
        """Write a form of the tree into the folder of the session; the file's name is made here."""
        from treewright.data.atomic_write import atomic_file

        if self.folder is None:
            raise DataError("this studio was started without a folder to save to; download instead")
        if form == "script":
            self.save("first")  # which the script begins with
        made = self.taken(form)
        with atomic_file(self.folder / made.name) as draft:
            draft.write_bytes(made.content)
        return made.name

    def close(self) -> None:
        """Close the journal."""
        self.jobs.cancel()
        if self.journal is not None:
            self.journal.close()


def _nothing_done(step: HistoryStep, before: Tree, after: Tree) -> str | None:
    """Return why a step is none, if it is none: nothing was pruned, or nothing grew."""
    if isinstance(step, Prune) and after is before:
        return f"{type(step.pruner).__name__} finds nothing to prune below node {step.node}"
    if not isinstance(step, Grow) or after.n_nodes > before.n_nodes:
        return None
    if before[step.node].is_leaf:
        return f"the recipe does not split node {step.node} ({after[step.node].stop}); split it by hand, under Splits"
    if step.keep:
        return f"the recipe grows none of the leaves below node {step.node}; split one by hand, under Splits"
    return None


def _recipe_by_folds(
    recipe: Recipe, schema: Schema, rows: Encoded, folds: Sequence[Fold], progress: Progress
) -> list[dict[str, Any]]:
    found = []
    for i, fold in enumerate(folds):

        def part(done: float, i: int = i) -> object:
            return progress((i + done) / len(folds))

        tree = grow_and_prune(take(rows, fold.training), schema, recipe, 0, part)
        found.append(score_on(tree, take(rows, fold.test))["headline"])
    return found


def _size(table: Table) -> int:
    return 0 if table.held_out is None else table.held_out.n_rows


def report_of(tree: Tree, table: Table) -> dict[str, Any]:
    """Return the report of a tree over rows that are encoded already."""
    return report(tree, table.only_training(), held_out=table.held_out)


def differing(ours: Tree, theirs: Tree) -> dict[str, list[int]]:
    """Return the nodes of each tree that the other does not have: another split, or a leaf instead of one.

    Nodes are compared along paths from the root as long as both trees split alike.
    """
    found: dict[str, list[int]] = {"ours": [], "theirs": []}
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        one, other = ours[a].split, theirs[b].split
        if one is None and other is None:
            continue
        same = one is not None and other is not None and _question(one) == _question(other)
        if same:
            waiting += zip(ours[a].children, theirs[b].children, strict=True)
        else:
            found["ours"].append(a)
            found["theirs"].append(b)
    return {name: sorted(nodes) for name, nodes in found.items()}


def _question(split: Any) -> tuple[Any, ...]:
    return split.column_index, split.breaks, split.child_of_bin, split.test
