// SHAP values of one row, as core/predict/shap.hpp defines them: exact Shapley values of the columns, where an unknown
// column sends the row to every child by its training weight.
//
// The value at the end of a path counts with one factor per column on it: `one` (the row's own weight) where the column
// is known, `zero` (the training weight) where it is not. Column i gets (one_i - zero_i) times the integral over t from 0
// to 1 of the product over the other columns of (one_j t + zero_j (1 - t)), a polynomial, so that a Gauss-Legendre sum
// is exact.

import { destination, sharesOf } from "../../../export/route.js";

/**
 * @param {(node: number) => boolean} isLeaf of the tree as it is shown
 * @returns {{base: number[], values: Map<number, number[]>}} per column that matters, what it adds to each class
 *   probability, or to the number
 */
export function shapValues(tree, row, isLeaf) {
  const base = new Array(tree.width).fill(0);
  const values = new Map();
  const stack = [{ node: 0, path: [], weight: 1 }];
  while (stack.length) {
    const { node, path, weight } = stack.pop();
    if (isLeaf(node)) {
      addEnd(tree, node, path, values);
      for (let k = 0; k < tree.width; k++) base[k] += weight * tree.values[node * tree.width + k];
      continue;
    }
    const [child, how, split] = destination(tree, node, row);
    const column = tree.splits.column[split];
    if (how === "stop") addEnd(tree, node, extended(path, column, 1, 0), values); // as if it had one more child
    const children = tree.children.subarray(tree.firstChild[node], tree.firstChild[node + 1]);
    let total = 0;
    for (const next of children) total += tree.nodes.weight[next];
    const several = how === "fractional" || how === "random" || how === "soft";
    const shares = several ? sharesOf(tree, split, row, child, children.length) : null;
    children.forEach((next, c) => {
      const one = shares === null ? Number(c === child) : shares[c];
      const zero = total > 0 ? tree.nodes.weight[next] / total : 1 / children.length;
      if (one + zero > 0) stack.push({ node: next, path: extended(path, column, one, zero), weight: weight * zero });
    });
  }
  return { base, values };
}

/** The factors of a path with one more step. */
function extended(path, column, one, zero) {
  const at = path.findIndex((factor) => factor.column === column);
  if (at < 0) return [...path, { column, one, zero }];
  const before = path[at];
  return path.with(at, { column, one: before.one * one, zero: before.zero * zero });
}

/** Add what a path that ends at `node` gives to each of its columns. */
function addEnd(tree, node, path, values) {
  if (path.some(({ one, zero }) => one + zero <= 1e-290)) return; // no row comes here
  const sums = new Array(path.length).fill(0);
  for (const [t, weight] of legendre(Math.ceil(path.length / 2))) {
    const factors = path.map(({ one, zero }) => one * t + zero * (1 - t));
    const product = factors.reduce((a, b) => a * b, weight);
    path.forEach(({ one, zero }, i) => (sums[i] += ((one - zero) * product) / factors[i]));
  }
  path.forEach(({ column }, i) => {
    const sum = values.get(column) ?? values.set(column, new Array(tree.width).fill(0)).get(column);
    for (let k = 0; k < tree.width; k++) sum[k] += sums[i] * tree.values[node * tree.width + k];
  });
}

const LEGENDRE = new Map();

/** Points and weights of Gauss-Legendre on (0, 1), exact up to the degree 2 count - 1. */
function legendre(count) {
  if (!LEGENDRE.has(count)) LEGENDRE.set(count, Array.from({ length: count }, (_, i) => legendrePoint(count, i)));
  return LEGENDRE.get(count);
}

function legendrePoint(count, i) {
  let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
  let slope = 1;
  for (let step = 0; step < 100; step++) { // Newton's method on the Legendre polynomial
    let [before, here] = [1, x];
    for (let k = 2; k <= count; k++) [before, here] = [here, ((2 * k - 1) * x * here - (k - 1) * before) / k];
    slope = (count * (x * here - before)) / (x * x - 1);
    const move = here / slope;
    x -= move;
    if (Math.abs(move) < 1e-16) break;
  }
  return [(1 - x) / 2, 1 / ((1 - x * x) * slope * slope)];
}
