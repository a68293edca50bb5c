"""The lesson "titanic": CHAID merges levels that do not differ, then tests columns by their p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from treewright import criteria
from treewright.data.grid import Grid
from treewright.data.number_text import figure, p_text, percent
from treewright.errors import DataError
from treewright.inspection.derivation.blocks import Steps
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.derivation.score_steps import derive
from treewright.inspection.derivation.split_counts import Division
from treewright.inspection.ranking import Candidate, Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Listed, Note, Part, Printed, Shown, Text
from treewright.lessons.phrases import (
    branch_words,
    checked,
    counts_of,
    data_source,
    joined,
    n_rows,
    right,
    shares_grid,
    spelled,
)
from treewright.lessons.tables import TITANIC, Columns
from treewright.recipes.branching import Merge
from treewright.recipes.criterion import ChiSquare
from treewright.recipes.named import CHAID
from treewright.training.learn import learn
from treewright.tree.tree import Node, Tree

Group = tuple[str, ...]


@dataclass(frozen=True)
class Round:
    """One round of merging: the p-value of every pair of groups, and the pair merged (None in the last round)."""

    tests: Mapping[tuple[Group, Group], criteria.ChiSquareResult]
    merged: tuple[Group, Group] | None

    @property
    def groups(self) -> list[Group]:
        return sorted({group for pair in self.tests for group in pair})

    @property
    def most_similar(self) -> tuple[Group, Group]:
        """The pair with the largest p-value, the first of equals."""
        return max(self.tests, key=lambda pair: self.tests[pair].p)


def titanic(data: Columns = TITANIC) -> Lesson:
    """CHAID by hand: chi-square tests of pairs, merging, Bonferroni's correction, and the tree."""
    merge = CHAID.branching
    assert isinstance(merge, Merge)
    tree = learn(checked(data, TITANIC, "Survived", classes=("no", "yes")), "Survived", CHAID)
    if None in data["Class"] or len(set(data["Class"])) < 3:
        raise DataError("the lesson needs a Class in every row, and at least three levels of it")
    counts: dict[Group, list[int]] = {(level,): n for level, n in sorted(counts_of(data, "Survived", "Class").items())}
    rounds = merging(counts, merge.alpha_merge)
    ranked = rank_splits(data, "Survived", recipe=CHAID)
    good, whole = right(tree, data)
    most_frequent = max(data["Survived"].count(label) for label in ("no", "yes"))
    return Lesson(
        "titanic",
        "Titanic: which groups differ?",
        f"{n_rows(data):,} people were aboard. CHAID splits on a column only if a test finds its groups different.",
        data,
        (
            shares_grid("Survivors", data, "Survived", ("people", "survived", "share")),
            *(_source() if data == TITANIC else []),
            Text(
                "The criteria of the other lessons measure how much purer a split makes the nodes. CHAID "
                "(chi-squared automatic interaction detection) tests **whether a difference this large could be "
                "chance**. It first merges the levels of a column that do not differ, then compares the columns by "
                "p-value."
            ),
            Heading("Do two levels differ?"),
            *_first_test(rounds[0], counts),
            Heading("Merge the most similar pair, and repeat"),
            Text(
                f"CHAID tests every pair of levels and merges the pair with the largest p-value, if that is above "
                f"{merge.alpha_merge}. The merged levels count as one group in the next round. (The levels of an "
                "ordered column merge with their neighbours only.)"
            ),
            *(_round_grid(i, one) for i, one in enumerate(rounds, 1)),
            Text(_merged_text(rounds, counts, merge.alpha_merge)),
            Heading("The p-value of the column"),
            *_column_test(tree, data, ranked.of("Class"), len(counts), len(rounds[-1].groups)),
            Heading("All columns side by side"),
            Code(
                f"import treewright as tw\n\n{data_source('titanic', data, TITANIC)}\n"
                'print(tw.rank_splits(data, "Survived", recipe=tw.CHAID))'
            ),
            Printed(str(ranked), "every column ranked"),
            Text(_chosen_text(tree, ranked, merge.alpha_split)),
            *_elsewhere(tree),
            Heading("The tree"),
            Code('tree = tw.learn(data, "Survived", tw.CHAID)\nprint(tree)'),
            Shown(tree),
            Text(
                f"The tree predicts {good:,} of {whole:,} rows correctly; the majority class alone is right for "
                f"{most_frequent:,}. CHAID needs no pruning, because it stops by itself: where no column has an "
                f"adjusted p-value of {merge.alpha_split} or less, in a node of fewer than "
                f"{CHAID.stopping.min_samples_split} rows, and at depth {CHAID.stopping.max_depth}. A group of fewer "
                f"than {merge.min_child} rows joins the group it is most similar to."
            ),
        ),
    )


def merging(counts: Mapping[Group, Sequence[int]], alpha: float) -> list[Round]:
    """Merge the most similar pair of groups while its p-value is above `alpha` and more than two groups are left."""
    groups = {group: np.array(n) for group, n in counts.items()}
    rounds: list[Round] = []
    while True:
        tests = {(a, b): criteria.chi_square([groups[a], groups[b]]) for a, b in combinations(groups, 2)}
        best = max(tests, key=lambda pair: tests[pair].p)
        if len(groups) <= 2 or not tests[best].p > alpha:
            return [*rounds, Round(tests, None)]
        rounds.append(Round(tests, best))
        a, b = best
        joint = {tuple(sorted(a + b)): groups.pop(a) + groups.pop(b)}
        groups = dict(sorted((groups | joint).items()))


def _source() -> list[Part]:
    return [
        Note(
            "The counts are those of the British Board of Trade's inquiry, as Dawson printed them in the Journal of "
            "Statistics Education."
        )
    ]


def _first_test(first: Round, counts: Mapping[Group, Sequence[int]]) -> list[Part]:
    """Return the test of the most similar pair, worked out."""
    pair = first.most_similar
    table = np.array([counts[one] for one in pair], dtype=np.float64)
    division = Division(table.sum(axis=0), table, table, float(table.sum()), 0.0, tuple(map(int, table.sum(axis=1))))
    derived = derive(ChiSquare(), division, [_name(one) for one in pair])
    assert derived.expected is not None
    cells = zip(pair, derived.expected.observed, derived.expected.expected, strict=True)
    rows = tuple(
        (_name(one), *(f"{o:.0f} ({figure(e)})" for o, e in zip(observed, expected, strict=True)))
        for one, observed, expected in cells
    )
    shares = joined([f"{percent(n[1] / sum(n))} of {_name(one)}" for one, n in zip(pair, table.tolist(), strict=True)])
    return [
        Text(
            f"{shares} survived. If the two did not differ, each would have the share of both together: these are "
            "the expected counts."
        ),
        Grid("Observed (and expected: row × column / all)", ("", "no", "yes"), rows),
        Steps("The chi-square test", derived.steps[:-1]),
        Text(
            "The p-value is the probability of a difference this large, or larger, between two groups that do not "
            f"differ in truth. Here it is {figure(first.tests[pair].p)}."
        ),
    ]


def _name(group: Group) -> str:
    return group[0] if len(group) == 1 else f"{{{', '.join(group)}}}"


def _round_grid(number: int, one: Round) -> Grid:
    ordered = sorted(one.tests.items(), key=lambda item: -item[1].p)
    rows = tuple(
        (_name(a), _name(b), figure(test.statistic), figure(test.p), "merged" if (a, b) == one.merged else "")
        for (a, b), test in ordered
    )
    return Grid(f"Round {number}: every pair of groups", ("", "", "chi-square", "p", ""), rows, words=2)


def _merged_text(rounds: Sequence[Round], counts: Mapping[Group, Sequence[int]], alpha: float) -> str:
    last = rounds[-1]
    groups = last.groups
    largest = last.tests[last.most_similar].p
    stops = (
        f"every p-value is {alpha} or less"
        if largest <= alpha
        else f"two groups are left, which are not merged even at p = {figure(largest)}"
    )
    names = joined([_name(group) for group in groups])
    if len(rounds) == 1:
        return f"Nothing is merged, because {stops}: {names} stay as they are."
    return (
        f"{spelled(len(counts)).capitalize()} levels have become {spelled(len(groups))} groups: {names}. Now {stops}."
    )


def _column_test(tree: Tree, data: Columns, candidate: Candidate, levels: int, merged_groups: int) -> list[Part]:
    """Return the test of the merged groups, adjusted for the search."""
    split = candidate.split
    assert split is not None
    groups = split.n_children
    ways = round(math.exp(split.log_multiplier or 0.0))
    adjusted = (
        f" {spelled(levels).capitalize()} levels form {spelled(groups)} groups in {spelled(ways)} ways, and the one "
        "tested was picked by looking at the data. Bonferroni's correction multiplies the p-value by that number."
        if ways > 1
        else ""
    )
    small = (
        " Groups with too few rows have joined the group they are most similar to." if groups != merged_groups else ""
    )
    explained = explain_node(tree, 0, data, column=candidate.column)
    return [
        Text(f"The merged groups are tested once more, all together.{small}{adjusted}"),
        Steps(f"The test of {candidate.column}", explained.steps),
        Text(
            "The last step takes the logarithm because p-values may be too small for a floating-point number: the "
            "smaller p, the larger the score."
        ),
    ]


def _chosen_text(tree: Tree, ranked: Ranking, alpha: float) -> str:
    best = ranked[0]
    p = p_text(-(best.score or 0.0))
    if (best.score or 0.0) < max(one.score or 0.0 for one in ranked):  # its small groups were joined after it had won
        return (
            f"The root splits on **{best.column}**, which had the smallest adjusted p-value before groups were joined."
        )
    smallest = f"{best.column} has the smallest adjusted p-value, {p}"
    if tree.root.split is not None:
        return f"{smallest}. That is not above {alpha}, so the root splits on **{best.column}**."
    reason = f"above {alpha}" if best.score is None or best.score < -math.log(alpha) else tree.root.stop
    return f"{smallest}, but the tree is a single leaf: {reason}."


def _elsewhere(tree: Tree) -> list[Part]:
    """Return the groups of Class at the nodes below the root, which merge their own rows."""
    found = {
        _path(node): [_name(tuple(map(str, group))) for group in node.split.groups]
        for node in tree.walk()
        if node.id and node.split is not None and node.split.column == "Class" and node.split.groups
    }
    if not found:
        return []
    differ = len({tuple(groups) for groups in found.values()}) > 1
    return [
        Heading("Merging again in each branch"),
        Text(
            "Every node merges the levels anew, with its own rows."
            + (" The groups of Class differ from branch to branch:" if differ else " The groups of Class:")
        ),
        Listed(tuple(f"{path}: {joined(groups, 'and')}" for path, groups in found.items())),
    ]


def _path(node: Node) -> str:
    """Return the conditions from the root to a node."""
    conditions: list[str] = []
    while node.parent is not None:
        conditions.insert(0, branch_words(node))
        node = node.tree[node.parent]
    return " and ".join(conditions)
