// Counterfactuals of one row: the nearest changes that lead to another prediction, as treewright.counterfactuals finds
// them. Every end with another prediction gives a candidate; the router confirms each one that is shown.

import { classAt, destination, follow, valueAt } from "../../../export/route.js";

/**
 * Fewest columns first, then the smallest move; a change of more columns than a known one to the same prediction is left
 * out.
 * @param {number} farEnough how far a number must move to count as another prediction
 * @returns {{changes: {column: number, value: number, text: {sign: string, bound: number}|null}[], values: number[],
 *   node: number}[]}
 */
export function counterfactuals(tree, schema, row, isLeaf, farEnough, most = 3) {
  const now = valueAt(tree, follow(tree, row, isLeaf).ends);
  const groupOf = (values) => {
    if (tree.classes) return classAt(tree, values) === classAt(tree, now) ? null : classAt(tree, values);
    return Math.abs(values[0] - now[0]) >= farEnough ? Math.sign(values[0] - now[0]) : null;
  };
  const candidates = [];
  for (const { node, path } of endsOf(tree, row, isLeaf)) {
    if (groupOf(valueAt(tree, [{ node, weight: 1 }])) === null) continue;
    for (const bySurrogate of [false, true]) {
      const changes = changesTo(tree, schema, row, path, bySurrogate);
      if (!changes?.length) continue;
      candidates.push({ node, changes, distance: changes.reduce((sum, change) => sum + change.distance, 0) });
    }
  }
  candidates.sort((a, b) => a.changes.length - b.changes.length || a.distance - b.distance || a.node - b.node);
  const found = [];
  for (const { changes } of candidates) {
    const changed = row.slice();
    for (const { column, value } of changes) changed[column] = value;
    const { ends } = follow(tree, changed, isLeaf);
    const values = valueAt(tree, ends);
    const group = groupOf(values);
    const columns = new Set(changes.map(({ column }) => column));
    const known = found.some((other) => other.group === group && other.changes.every(({ column }) => columns.has(column)));
    if (group === null || known) continue;
    found.push({ changes, values, group, node: ends[0].node });
    if (found.length === most) break;
  }
  return found;
}

/** Where a row can end, with the path there ([node, child] per step): leaves, and nodes where its missing value stops. */
function* endsOf(tree, row, isLeaf) {
  const stack = [{ node: 0, path: [] }];
  while (stack.length) {
    const { node, path } = stack.pop();
    if (isLeaf(node)) {
      yield { node, path };
      continue;
    }
    if (destination(tree, node, row)[1] === "stop") yield { node, path };
    const first = tree.firstChild[node];
    for (let c = tree.firstChild[node + 1] - first - 1; c >= 0; c--) {
      stack.push({ node: tree.children[first + c], path: [...path, [node, c]] });
    }
  }
}

/**
 * What must change for the row to take a path; null where no value of a column can do it. Where a surrogate split
 * decides, `bySurrogate` changes its column and leaves the other one missing.
 */
function changesTo(tree, schema, row, path, bySurrogate) {
  const byColumn = new Map();
  let surrogates = 0;
  for (const [node, child] of path) {
    const [now, how, decided] = destination(tree, node, row);
    const split = bySurrogate && how === "surrogate" ? decided : tree.splits.start[node];
    const column = tree.splits.column[split];
    const steps = byColumn.get(column) ?? byColumn.set(column, { change: false, steps: [] }).get(column);
    steps.steps.push([split, child]);
    steps.change ||= now !== child;
    surrogates += split !== tree.splits.start[node];
  }
  if (bySurrogate && !surrogates) return null; // as without
  const changes = [];
  for (const [column, { change, steps }] of byColumn) {
    if (!change) continue;
    const spec = schema.columns[column];
    const found = spec.levels
      ? nearestLevel(tree, spec, steps, row[column])
      : nearestNumber(tree, spec, steps, row[column]);
    if (found === null) return null;
    changes.push({ column, ...found });
  }
  return changes;
}

/** The level that all steps accept: the nearest of an ordinal column, else the first. */
function nearestLevel(tree, { kind, levels }, steps, value) {
  const { splits } = tree;
  const accepted = (code) => steps.every(([split, child]) => splits.child_of_bin[splits.bin_start[split] + code] === child);
  const ordered = kind === "ordinal" && value !== null && value >= 0;
  let best = null;
  for (let code = 0; code < levels.length; code++) {
    if (code === value || !accepted(code)) continue;
    if (best === null || (ordered && Math.abs(code - value) < Math.abs(best - value))) best = code;
  }
  if (best === null) return null;
  return { value: best, distance: ordered ? Math.abs(best - value) / Math.max(1, levels.length - 1) : 1, text: null };
}

/** The number nearest to the row's that all steps accept. A numeric child holds one interval, or several in a row. */
function nearestNumber(tree, { kind, span: [lowest, highest] }, steps, value) {
  let intervals = [{ low: -Infinity, high: Infinity, lowIn: false, highIn: false }];
  for (const step of steps) intervals = intervals.flatMap((a) => intervalsOf(tree.splits, step).map((b) => common(a, b)));
  const unit = { date: 86_400_000_000, datetime: 1, time: 1, duration: 1 }[kind] ?? 0;
  const known = value !== null && value !== undefined;
  const scale = known ? Math.max(highest, value) - Math.min(lowest, value) : 0;
  let best = null;
  for (const interval of intervals) {
    const found = nearestIn(interval, value, known, unit);
    if (found === null) continue;
    const distance = known && scale > 0 ? Math.abs(found - value) / scale : 1;
    if (best !== null && distance >= best.distance) continue;
    const tidy = unit ? found : tidied(interval, found, (scale || highest - lowest) / 20);
    best = { value: tidy, distance, text: boundText(interval, value, known) };
  }
  return best;
}

/** The bound that was crossed, for words: "> 23.35". */
function boundText({ low, high, lowIn, highIn }, value, known) {
  const above = known ? value <= low : low > -Infinity;
  return above ? { sign: lowIn ? ">=" : ">", bound: low } : { sign: highIn ? "<=" : "<", bound: high };
}

function intervalsOf(splits, [split, child]) {
  const [first, closed] = [splits.break_start[split], Boolean(splits.closed[split])];
  const count = splits.break_start[split + 1] - first;
  const found = [];
  for (let i = 0; i <= count; i++) {
    if (splits.child_of_bin[splits.bin_start[split] + i] !== child) continue;
    const low = i > 0 ? splits.breaks[first + i - 1] : -Infinity;
    const high = i < count ? splits.breaks[first + i] : Infinity;
    found.push({ low, high, lowIn: !closed, highIn: closed });
  }
  return found;
}

function common(a, b) {
  const low = a.low > b.low || (a.low === b.low && !a.lowIn) ? a : b;
  const high = a.high < b.high || (a.high === b.high && !a.highIn) ? a : b;
  return { low: low.low, lowIn: low.lowIn, high: high.high, highIn: high.highIn };
}

function isInside({ low, high, lowIn, highIn }, x) {
  return (lowIn ? x >= low : x > low) && (highIn ? x <= high : x < high);
}

/** A number of few digits in the interval, at most `near` from the one that was found. */
function tidied(interval, found, near) {
  for (let digits = 1; digits < 17; digits++) {
    const x = Number(found.toPrecision(digits));
    if (isInside(interval, x) && Math.abs(x - found) <= near) return x;
  }
  return found;
}

/** The value in an interval closest to `value`, a whole number of units where there is one; null if there is none. */
function nearestIn(interval, value, known, unit) {
  const { low, high, lowIn, highIn } = interval;
  const inside = (x) => isInside(interval, x);
  const from = known ? value : low > -Infinity ? low : high < Infinity ? high : 0;
  let found = from;
  if (!inside(from)) found = from <= low ? (lowIn ? low : neighbour(low, 1)) : highIn ? high : neighbour(high, -1);
  if (unit) {
    found = (from <= low ? Math.ceil(found / unit) : Math.floor(found / unit)) * unit;
    if (!inside(found) && inside(found - unit)) found -= unit;
  }
  return inside(found) ? found : null;
}

/** The next float64 in a direction. */
function neighbour(x, way) {
  if (x === 0) return way * Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([x]).buffer);
  bits[0] += BigInt(x > 0 ? way : -way);
  return new Float64Array(bits.buffer)[0];
}
