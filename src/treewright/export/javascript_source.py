"""The tree as a JavaScript module without dependencies.

Comes in: a `Tree`. Goes out: the text of an ES module that exports `predict(row)`, `predictProba(row)`, `leaf(row)` and
`classes`, where a row is an object by column name.
Always holds: the tree is one JSON value and the router below it knows nothing about it, so that either can be replaced.
The text is ASCII and may stand inside a page: it never ends a script element.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from treewright.export.program.plan import Plan, plan_of
from treewright.export.program.tables import refuse_large, tables_of
from treewright.tree.as_tree import TreeLike, as_tree


def javascript(tree: TreeLike) -> str:
    """The tree as an ES module: `predict(row)`, `predictProba(row)`, `leaf(row)`; a row is an object."""
    tree = as_tree(tree)
    plan = plan_of(tree)
    for spec in plan.inputs:
        refuse_large(spec.levels or (), f"column {spec.name!r}", "JavaScript")
    refuse_large(plan.target.classes or (), f"the target {plan.target.name!r}", "JavaScript")
    data = ",\n".join(f"  {_json(key)}: {_json(value)}" for key, value in _data(plan).items())
    head = f"// A decision tree for {_json(plan.target.name)}: {len(plan.steps)} nodes."
    return f"{head}\nconst TREE = {{\n{data}\n}};\n{_ROUTER}"


def _data(plan: Plan) -> dict[str, Any]:
    return {
        "inputs": [{"name": spec.name, "kind": spec.kind, "levels": spec.levels} for spec in plan.inputs],
        "classes": plan.target.classes,
        "costs": plan.target.costs,
        "nValues": plan.n_values,
        "required": plan.required,
        "strict": plan.strict,
        **asdict(tables_of(plan)),
    }


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")


_ROUTER = """
export const classes = TREE.classes;

/** The answer to a row: a class, or a number. A row is an object with a value for every column of TREE.inputs; null,
 *  undefined and NaN are missing. Moments are Date objects, or microseconds (since 1970 in UTC, or since midnight). */
export function predict(row) {
  const answer = follow(row).answer;
  if (!TREE.classes) return answer[0];
  if (!TREE.costs) return TREE.classes[firstBest(answer, (a, b) => a > b)];
  const expected = TREE.classes.map((_, j) => answer.reduce((sum, share, i) => sum + share * TREE.costs[i][j], 0));
  return TREE.classes[firstBest(expected, (a, b) => a < b)];
}

/** The probability of each class, in the order of `classes`. */
export function predictProba(row) {
  if (!TREE.classes) throw new TypeError("the target is a number and has no classes; use predict");
  return follow(row).answer;
}

/** The id of the node that answers; where a row goes down several branches, the heaviest. */
export function leaf(row) {
  return follow(row).leaf;
}

const CODES = TREE.inputs.map(({ levels }) => levels && new Map(levels.map((level, code) => [key(level), code])));

// true is 1, and no number is text.
function key(value) {
  return typeof value === "boolean" ? Number(value) : value;
}

/** The row's values: numbers, NaN for a missing one; codes of levels, -1 for a missing one, -2 for one nobody knows. */
function read(row) {
  return TREE.inputs.map(({ name, levels }, i) => {
    if (!Object.hasOwn(row, name)) throw new TypeError(`the row has no column ${JSON.stringify(name)}`);
    const value = row[name];
    const missing = value === null || value === undefined || Number.isNaN(value);
    if (missing && TREE.required.includes(i)) throw new RangeError(`${JSON.stringify(name)} is missing`);
    if (levels) {
      const code = missing ? -1 : CODES[i].get(key(value)) ?? -2;
      if (code === -2 && TREE.strict) throw new RangeError(`${JSON.stringify(name)} has an unknown level`);
      return code;
    }
    if (missing) return NaN;
    if (typeof value === "string") throw new TypeError(`${JSON.stringify(name)} must be a number`);
    return value instanceof Date ? value.getTime() * 1000 : Number(value);
  });
}

/** The child of the row's value; -1 without an answer, -2 for a level that no child holds. */
function childOf(values, question) {
  const input = TREE.question_input[question];
  const first = TREE.bin_start[question];
  const x = values[input];
  if (TREE.n_levels[input] >= 0) {
    const child = x >= 0 ? TREE.child_of_bin[first + x] : -2;
    return x === -1 ? -1 : child >= 0 ? child : -2;
  }
  if (Number.isNaN(x)) return -1;
  let low = TREE.break_start[question];
  let high = TREE.break_start[question + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (TREE.closed[question] ? TREE.breaks[middle] < x : TREE.breaks[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return TREE.child_of_bin[first + low - TREE.break_start[question]];
}

/** The child the row takes; -1: every child by its share, -2: none. */
function destination(values, node) {
  let question = TREE.question_start[node];
  const end = TREE.question_start[node + 1];
  if (question === end) return -2;
  let child = childOf(values, question);
  if (child === -2 && TREE.unseen[node] >= 0) return TREE.unseen[node];
  while (child < 0 && ++question < end) child = childOf(values, question);
  return child >= 0 ? child : TREE.missing[node];
}

/** Follows every path of the row: the answer is their weighted sum, the leaf is where the heaviest ends. */
function follow(row) {
  const values = read(row);
  const waiting = [{ node: 0, weight: 1 }];
  const answer = new Array(TREE.nValues).fill(0);
  let leaf = -1;
  let heaviest = -1;
  while (waiting.length > 0) {
    let { node, weight } = waiting.pop();
    let child = destination(values, node);
    while (child >= 0) {
      node = TREE.children[TREE.child_start[node] + child];
      child = destination(values, node);
    }
    if (child === -1) {
      for (let i = TREE.child_start[node + 1] - 1; i >= TREE.child_start[node]; --i) {
        if (TREE.share[i] > 0) waiting.push({ node: TREE.children[i], weight: weight * TREE.share[i] });
      }
      continue;
    }
    if (weight > heaviest) [heaviest, leaf] = [weight, node];
    for (let i = 0; i < answer.length; ++i) answer[i] += weight * TREE.value[TREE.end[node] * answer.length + i];
  }
  return { answer, leaf };
}

function firstBest(numbers, better) {
  return numbers.reduce((best, number, i) => (better(number, numbers[best]) ? i : best), 0);
}
"""
