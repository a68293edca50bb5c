"""The tree as a JavaScript module without dependencies: its lists as JSON, then the router that the report page uses.

The text is ASCII and may stand inside a page: it never ends a script element.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from treewright.export.program.plan import Plan, plan_of
from treewright.export.program.ranges import ranges
from treewright.export.program.tables import refuse_large
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.json_form import plain
from treewright.tree.shape import routing_splits
from treewright.tree.tree import Tree

_SPLIT_LISTS = (("break_start", "breaks"), ("bin_start", "child_of_bin"), ("share_start", "share"))


def javascript(tree: TreeLike) -> str:
    """Write the tree as an ES module.

    The module exports `predict(row)`, `predictProba(row)`, `leaf(row)` and `classes`; a row is an object with one
    value per column. A calibrated tree also has `predictInterval` or `predictSet`.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree to export.

    Returns
    -------
    str
        The source, in ASCII.

    Raises
    ------
    ExportError
        If JavaScript cannot represent the tree, for example where a child is drawn at random.
    """
    tree = as_tree(tree)
    plan = plan_of(tree)
    for spec in plan.inputs:
        refuse_large(spec.levels or (), f"column {spec.name!r}", "JavaScript")
    refuse_large(plan.target.classes or (), f"the target {plan.target.name!r}", "JavaScript")
    data = ",\n".join(f"  {_json(key)}: {_json(value)}" for key, value in _data(tree, plan).items())
    head = f"// A decision tree for {_json(plan.target.name)}: {len(plan.steps)} nodes."
    router = re.sub(r"^export ", "", router_source(), flags=re.MULTILINE)
    return f"{head}\nconst TREE = {{\n{data}\n}};\n\n{router}{_INTERFACE}{ranges(plan, 'javascript')}"


def split_lists(tree: Tree) -> dict[str, list[Any]]:
    """Return the split table of docs/boundary.md as `route.js` reads it: each node's split, then its surrogates."""
    arrays = tree.arrays
    start = arrays["split_start"]
    chosen = routing_splits(tree)
    table: dict[str, list[Any]] = {"start": np.searchsorted(chosen, start).tolist()}
    for name in ("column", "closed", "missing", "unseen"):
        table[name] = arrays[name][chosen].tolist()
    for begin, items in _SPLIT_LISTS:
        sizes = np.diff(arrays[begin])[chosen]
        table[begin] = np.append(0, np.cumsum(sizes)).tolist()
        parts = [arrays[items][arrays[begin][i] : arrays[begin][i + 1]] for i in chosen]
        table[items] = plain(np.concatenate(parts)) if parts else []
    if tree.soft is not None:
        table |= {name: plain(band[chosen]) for name, band in tree.soft.split_arrays(start).items()}
    return table


@cache
def router_source() -> str:
    """Return the text of `route.js`."""
    return (files("treewright.export") / "route.js").read_text(encoding="utf-8")


def _data(tree: Tree, plan: Plan) -> dict[str, Any]:
    """Return the lists of the tree, without unused columns and without values of nodes where no row ends."""
    splits = split_lists(tree)
    place = {spec.name: i for i, spec in enumerate(plan.inputs)}
    splits["column"] = [place[tree.schema.columns[column].name] for column in splits["column"]]
    ends = np.array([step.is_end for step in plan.steps])
    models = [step.model for step in plan.steps]
    return {
        "nodes": {
            "parent": tree.arrays["parent"].tolist(),
            "value": plain(np.where(ends[:, np.newaxis], tree.arrays["value"], 0).ravel()),
        },
        "splits": splits,
        "schema": {
            "columns": [{"name": spec.name, "kind": spec.kind, "levels": spec.levels} for spec in plan.inputs],
            "target": {"classes": plan.target.classes, "costs": plan.target.costs},
        },
        "required": plan.required,
        "strict": plan.strict,
        **({} if plan.limits is None else {"limits": plan.limits}),
        **({"models": [model and model.as_dict() for model in models]} if plan.models else {}),
    }


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


_INTERFACE = """
export const classes = TREE.schema.target.classes;
const COLUMNS = TREE.schema.columns;
const ROUTER = router(TREE);

/** The predicted class or number of a row. A row is an object with a value for every column of TREE.schema.columns;
 *  null, undefined and NaN are missing. Moments are Date objects, or microseconds (since 1970 in UTC, or since
 *  midnight). */
export function predict(row) {
  const values = valuesOfRow(row);
  return classes ? classes[classAt(ROUTER, values)] : values[0];
}

/** The probability of each class, in the order of `classes`. */
export function predictProba(row) {
  if (!classes) throw new TypeError("the target is a number and has no classes; use predict");
  return valuesOfRow(row);
}

/** The id of the node whose value is predicted; where a row takes several paths, the heaviest. */
export function leaf(row) {
  return heaviestEnd(endsOf(row));
}

function endsOf(row) {
  return follow(ROUTER, codedRow(row)).ends;
}

function valuesOfRow(row) {
  const values = codedRow(row);
  return valueAt(ROUTER, follow(ROUTER, values).ends, values);
}

function codedRow(row) {
  return COLUMNS.map((_, i) => coded(row, i));
}

const CODES = COLUMNS.map(({ levels }) => levels && new Map(levels.map((level, code) => [key(level), code])));

// true is 1, and no number is text.
function key(value) {
  return typeof value === "boolean" ? Number(value) : value;
}

/** The value of one column: a number or a level's code, null for a missing one, UNSEEN for an unknown level. */
function coded(row, i) {
  const { name, levels } = COLUMNS[i];
  if (!Object.hasOwn(row, name)) throw new TypeError(`the row has no column ${JSON.stringify(name)}`);
  const value = row[name];
  if (value === null || value === undefined || Number.isNaN(value)) {
    if (TREE.required.includes(i)) throw new RangeError(`${JSON.stringify(name)} is missing`);
    return null;
  }
  if (levels) {
    const code = CODES[i].get(key(value)) ?? UNSEEN;
    if (code === UNSEEN && TREE.strict) throw new RangeError(`${JSON.stringify(name)} has an unknown level`);
    return code;
  }
  if (typeof value === "string") throw new TypeError(`${JSON.stringify(name)} must be a number`);
  return value instanceof Date ? value.getTime() * 1000 : Number(value);
}
"""
