"""The lesson "telehealth": a triage tree."""

from __future__ import annotations

from dataclasses import replace

from treewright import export
from treewright.inspection.explain_row import explain_row
from treewright.inspection.rules.rules import rules
from treewright.lessons.content import Code, Heading, Lesson, Listed, Note, Part, Printed, Shown, Text
from treewright.lessons.phrases import checked, data_source, joined, n_rows, right, rows_grid
from treewright.lessons.tables import PATIENTS, Columns
from treewright.pruning.prune import prune
from treewright.recipes.missing import Surrogates
from treewright.recipes.named import CART
from treewright.recipes.pruners import ErrorBased
from treewright.training.learn import learn
from treewright.tree.tree import Tree

#: A patient whose breathlessness is not known.
PATIENT = {"fever": 38.2, "cough": "dry", "oxygen": 91, "age": 70}


def telehealth(data: Columns = PATIENTS) -> Lesson:
    """Learn, prune, rules for a nurse, one patient's path, SQL."""
    recipe = replace(CART, missing=Surrogates(search="always"), pruning=None)
    grown = learn(checked(data, PATIENTS, "advice"), "advice", recipe)
    tree = prune(grown, ErrorBased(), data)
    explained = explain_row(tree, PATIENT)
    advice = joined(sorted(set(data["advice"])), "or")
    n_missing = sum(value is None for column in data.values() for value in column)
    unknown = [name for name in tree.schema.names if name not in PATIENT]
    good, whole = right(tree, data)
    return Lesson(
        "telehealth",
        "Telehealth: a triage tree",
        f"A patient calls. What should the nurse advise: {advice}?",
        data,
        (
            Note("The patients are made up, and so is the advice. This shows a way of working, not medicine."),
            rows_grid(data, "The calls"),
            Text(
                f"{n_rows(data)} calls, {n_missing} missing values. A tree suits such a task: its conditions are few "
                "and easy to follow."
            ),
            Heading("Learn"),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('telehealth', data, PATIENTS)}\n"
                'recipe = replace(tw.CART, missing=tw.missing.Surrogates(search="always"), pruning=None)\n'
                'grown = tw.learn(data, "advice", recipe)\n'
                "print(grown)"
            ),
            Shown(grown),
            Heading("Prune"),
            Text(
                "A split supported by a few calls may be chance. Error-based pruning (C4.5) estimates the error of "
                "each leaf by an upper confidence limit, and removes subtrees that do not lower it."
            ),
            Code("tree = tw.prune(grown, tw.pruning.ErrorBased(), data)\nprint(tree)"),
            Shown(tree),
            Text(f"{_pruned(grown, tree)}; {good} of {whole} calls are predicted correctly."),
            Heading("Rules a nurse can read"),
            Code('print(tw.rules(tree).text(style="plain"))'),
            *_rules(tree),
            Heading("One patient"),
            Text(
                f"Someone calls with {joined([f'{name} {value}' for name, value in PATIENT.items()])}. "
                f"{joined(unknown).capitalize()} is not known."
                + (" So a surrogate split on another column decides." if "surrogate" in str(explained) else "")
            ),
            Code(f"patient = {PATIENT!r}\n".replace("'", '"') + "print(tw.explain_row(tree, patient))"),
            Printed(str(explained), "the path of this patient", explained.html()),
            Heading("In the database"),
            Text("The tree as one SQL statement gives the same predictions in the database, for missing values too."),
            Code("print(tw.export.sql(tree))"),
            Printed(export.sql(tree), "the tree as SQL"),
        ),
    )


def _pruned(grown: Tree, tree: Tree) -> str:
    if tree.n_leaves == grown.n_leaves:
        return f"Nothing is pruned here, and all {grown.n_leaves} leaves stay"
    return f"{grown.n_leaves} leaves have become {tree.n_leaves}"


def _rules(tree: Tree) -> list[Part]:
    """Return the rules as a list, after the sentence about all of them."""
    lines = rules(tree).text(style="plain").splitlines()
    items = tuple(line for line in lines if line.startswith("If "))
    return [Text(lines[0] + ":"), Listed(items), *(Text(f"Also: {line}.") for line in lines[1:] if line not in items)]
