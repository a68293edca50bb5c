// Route a row through a tree: the one JavaScript router, of the report page and of export.javascript.
//
// A row is a list of coded values: a number, a level's code, null for missing, UNSEEN for a level the tree does not know.
// The rule is that of core/base/split.hpp and core/predict/predictor.cpp. A random child cannot be drawn again, as the
// draw depends on the whole row: all children are taken by share instead, which gives the expected prediction.

export const UNSEEN = -2;

const FRACTIONAL = -1;
const STOP_HERE = -2;
const RANDOM = -3;
const AS_MISSING = -4;
const BOTH_BINS = -5;
const NO_VALUE = -1;
const NO_CHILD = -2;

/**
 * @typedef {{node: number, weight: number}} End where a path ends, and the share of the row that ends there
 * @typedef {"known"|"surrogate"|"unseen"|"missing"|"fractional"|"random"|"stop"|"soft"} How
 * @typedef {{node: number, child: number, weight: number, how: How, split: number}} Step what happened at a node with
 *   a split; child -1: several, or none
 * @typedef {{nodes: object, splits: object, firstChild: Int32Array, children: Int32Array, values: Float64Array,
 *   width: number, costs: number[][]|null, classes: boolean, levels: boolean[], models: LinearModel[]|undefined}} Router
 * @typedef {{intercept: number, terms: Term[], low: number|undefined, high: number|undefined}} LinearModel
 * @typedef {{column: number, coefficient: number, fill: number, levels: number[]|undefined}} Term
 */

/** Prepare the lists `nodes`, `splits` and `schema` of a tree, and its linear models, for routing. @returns {Router} */
export function router({ nodes, splits, schema, models }) {
  const n = nodes.parent.length;
  const width = schema.target.classes ? schema.target.classes.length : 1;
  const [firstChild, children] = childLists(nodes.parent);
  return {
    nodes,
    splits,
    firstChild,
    children,
    values: valuesOf(nodes, n, width),
    width,
    costs: schema.target.costs,
    classes: schema.target.classes !== null,
    levels: schema.columns.map((column) => column.levels !== null),
    models,
  };
}

/** Children of node i: children[first[i]] up to, not including, children[first[i + 1]]. */
export function childLists(parent) {
  const n = parent.length;
  const first = new Int32Array(n + 1);
  for (let i = 1; i < n; i++) first[parent[i] + 1]++;
  for (let i = 0; i < n; i++) first[i + 1] += first[i];
  const next = first.slice();
  const children = new Int32Array(Math.max(0, n - 1));
  for (let i = 1; i < n; i++) children[next[parent[i]]++] = i;
  return [first, children];
}

/** Leaf values of all nodes, flat; without `value` they are the class shares of `stats`. */
function valuesOf(nodes, n, width) {
  if (nodes.value !== null) return Float64Array.from(nodes.value);
  const values = new Float64Array(n * width);
  for (let i = 0; i < values.length; i++) values[i] = nodes.stats[i] / nodes.weight[Math.floor(i / width)];
  return values;
}

/** The bin of a number: how many breaks lie below it; `closed`: a break belongs to the interval below it. */
function binOf(splits, split, x) {
  const begin = splits.break_start[split];
  let low = begin;
  let high = splits.break_start[split + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const below = splits.closed[split] ? splits.breaks[middle] < x : splits.breaks[middle] <= x;
    if (below) low = middle + 1;
    else high = middle;
  }
  return low - begin;
}

/** The child of the row's value; NO_VALUE where it is missing, NO_CHILD for a level that no child holds. */
function childOf(tree, split, row) {
  const { splits } = tree;
  const column = splits.column[split];
  const value = row[column];
  if (value === null || value === undefined || Number.isNaN(value)) return NO_VALUE;
  const begin = splits.bin_start[split];
  if (!tree.levels[column]) return splits.child_of_bin[begin + binOf(splits, split, value)];
  if (value < 0 || value >= splits.bin_start[split + 1] - begin) return NO_CHILD;
  const child = splits.child_of_bin[begin + value];
  return child < 0 ? NO_CHILD : child;
}

/** Whether a value lies within the band of a soft threshold; only trees that have some hold bands. */
function isWithinBand(splits, split, value) {
  return splits.band_low !== undefined && splits.band_low[split] < value && value < splits.band_high[split];
}

/** The part of a row within the band that goes to each child: from one bin to the other, a half at the threshold. */
function softShares(splits, split, value, nChildren) {
  const [low, high] = [splits.band_low[split], splits.band_high[split]];
  const middle = splits.breaks[splits.break_start[split]];
  const second =
    value <= middle ? 0.5 * ((value - low) / (middle - low)) : 1 - 0.5 * ((high - value) / (high - middle));
  const shares = new Array(nChildren).fill(0);
  shares[splits.child_of_bin[splits.bin_start[split]]] = 1 - second;
  shares[splits.child_of_bin[splits.bin_start[split] + 1]] = second;
  return shares;
}

/** The part of a row that goes to each child, where it goes to several. @returns {number[]} */
export function sharesOf(tree, split, row, goes, nChildren) {
  const { splits } = tree;
  if (goes === BOTH_BINS) return softShares(splits, split, row[splits.column[split]], nChildren);
  return splits.share.slice(splits.share_start[split], splits.share_start[split] + nChildren);
}

/**
 * Where a row goes at a node with a split: [child or FRACTIONAL, STOP_HERE, RANDOM, BOTH_BINS; how; the split that
 * decided].
 */
export function destination(tree, node, row) {
  const { splits } = tree;
  const own = splits.start[node];
  if (isWithinBand(splits, own, row[splits.column[own]] ?? NaN)) return [BOTH_BINS, "soft", own];
  const child = childOf(tree, own, row);
  if (child >= 0) return [child, "known", own];
  if (child === NO_CHILD && splits.unseen[own] !== AS_MISSING) return [splits.unseen[own], "unseen", own];
  for (let split = own + 1; split < splits.start[node + 1]; split++) {
    const other = childOf(tree, split, row);
    if (other >= 0) return [other, "surrogate", split];
  }
  const missing = splits.missing[own];
  const how =
    missing >= 0 ? "missing" : { [FRACTIONAL]: "fractional", [STOP_HERE]: "stop", [RANDOM]: "random" }[missing];
  return [missing, how, own];
}

/**
 * Follow all paths of a row, depth first. `isLeaf(node)`, where given, decides which nodes are leaves (of a pruned tree).
 * @returns {{ends: End[], steps: Step[]}}
 */
export function follow(tree, row, isLeaf = (node) => tree.firstChild[node] === tree.firstChild[node + 1]) {
  const ends = [];
  const steps = [];
  const stack = [{ node: 0, weight: 1 }];
  while (stack.length) {
    const { node, weight } = stack.pop();
    if (isLeaf(node)) {
      ends.push({ node, weight });
      continue;
    }
    const [child, how, split] = destination(tree, node, row);
    steps.push({ node, child: Math.max(child, -1), weight, how, split });
    if (child >= 0) {
      stack.push({ node: tree.children[tree.firstChild[node] + child], weight });
    } else if (child === STOP_HERE) {
      ends.push({ node, weight });
    } else {
      const shares = sharesOf(tree, split, row, child, tree.firstChild[node + 1] - tree.firstChild[node]);
      for (let c = shares.length - 1; c >= 0; c--) {
        const share = shares[c];
        if (share > 0) stack.push({ node: tree.children[tree.firstChild[node] + c], weight: weight * share });
      }
    }
  }
  return { ends, steps };
}

/** The number that a term multiplies; where the value is missing or a level is unseen, the mean of the node's rows. */
export function termValue({ column, fill, levels }, row) {
  const x = row[column];
  if (x === null || x === undefined || Number.isNaN(x)) return fill;
  if (levels === undefined) return x;
  return x < 0 ? fill : Number(levels.includes(x));
}

/** The prediction of a linear model: its terms added in order, as the core does, then kept within its limits. */
export function modelled({ intercept, terms, low = -Number.MAX_VALUE, high = Number.MAX_VALUE }, row) {
  let sum = intercept;
  for (const term of terms) sum += term.coefficient * termValue(term, row);
  return sum >= low ? Math.min(sum, high) : low;
}

/**
 * The weighted sum of the leaf values at the ends: class probabilities, or one number. Leaves with linear models need
 * the row; without one, the means of the nodes count.
 * @returns {number[]}
 */
export function valueAt(tree, ends, row = null) {
  if (tree.models && row) {
    if (ends.length === 1) return [modelled(tree.models[ends[0].node], row)];
    return [ends.reduce((sum, { node, weight }) => sum + weight * modelled(tree.models[node], row), 0)];
  }
  const sum = new Array(tree.width).fill(0);
  if (ends.length === 1) return Array.from(
    tree.values.subarray(ends[0].node * tree.width, (ends[0].node + 1) * tree.width)
  );
  for (const { node, weight } of ends) {
    for (let k = 0; k < tree.width; k++) sum[k] += weight * tree.values[node * tree.width + k];
  }
  return sum;
}

/** The index of the predicted class: the most probable or, with costs, the cheapest; ties go to the first. */
export function classAt(tree, probabilities) {
  const { costs } = tree;
  const loss = costs
    ? probabilities.map((_, predicted) => probabilities.reduce((sum, p, truth) => sum + p * costs[truth][predicted], 0))
    : probabilities.map((p) => -p);
  return loss.indexOf(Math.min(...loss));
}

/** The end that most of the row reaches; the first of equals. @returns {number} */
export function heaviestEnd(ends) {
  return ends.reduce((a, b) => (b.weight > a.weight ? b : a)).node;
}
