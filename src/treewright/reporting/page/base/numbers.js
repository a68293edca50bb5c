// Numbers as text, by the rules of treewright.data.number_text; only separators of thousands are added.

/** Four significant digits, from 1000 on one decimal, whole numbers in full: `amount` in Python. */
export function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "";
  const size = Math.abs(x);
  if (isWhole(x) || size === Infinity) return grouped(String(x + 0));
  if (size < 1e-4 || size >= 1e15) return exponential(x, size < 1 ? 4 : 6);
  const digits = size >= 1000 ? 1 : 3 - Number(size.toExponential().split("e")[1]);
  return grouped(fixed(x, digits).replace(/\.?0+$/, ""));
}

/** Four decimals, or four digits where it is too small for that: `figure` in Python, as in derivations. */
export function figure(x) {
  const size = Math.abs(x);
  if (isWhole(x) || size < 1e-2) return number(x);
  return size < 1e12 ? grouped(fixed(x, size < 1e5 ? 4 : 1)) : exponential(x, 6);
}

/** A threshold: whole numbers in full, others with about six digits and never less than cents; `number_text` in Python. */
export function thresholdText(x) {
  const size = Math.abs(x);
  const exact = plainOrExponential(x, 15);
  if (isWhole(x) || exact.length <= 10) return exact;
  return size >= 1e4 && size < 1e15 ? fixed(x, 2).replace(/\.?0+$/, "") : plainOrExponential(x, 6);
}

/** Significant digits without trailing zeros, as Python's format g. */
function plainOrExponential(x, digits) {
  const size = Math.abs(x);
  if (isWhole(x)) return String(x + 0);
  return size < 1e-4 || size >= 10 ** digits ? exponential(x, digits) : String(Number(x.toPrecision(digits)));
}

function isWhole(x) {
  return Number.isInteger(x) && Math.abs(x) < 1e15;
}

/** A number to some decimals; a tie goes to the even digit, as in Python. */
export function fixed(x, decimals) {
  const exact = Math.abs(x).toFixed(decimals + 30);
  const shown = exact.slice(0, -30).replace(/\.$/, "");
  const isTie = /^50*$/.test(exact.slice(-30));
  return isTie && /[02468]$/.test(shown) ? (x < 0 ? "-" : "") + shown : x.toFixed(decimals);
}

function exponential(x, digits) {
  const [value, power] = x.toExponential(digits - 1).split("e");
  return `${value.replace(/\.?0+$/, "")}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

function grouped(text) {
  const [whole, ...rest] = text.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}

/** A number for little room, as beside an axis: 16M. */
export function shortNumber(x) {
  return Math.abs(x) < 1e4 ? number(x) : x.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 2 });
}

/** A number with its sign. */
export function signed(x) {
  return x > 0 ? `+${number(x)}` : number(x);
}

/** A share as a percentage; 0 % and 100 % only where it is exactly that. */
export function percent(share, digits = 0) {
  const whole = fixed(100 * share, digits);
  if (Number(whole) === 100 && share < 1 - 1e-12) return `>${(100 - 10 ** -digits).toFixed(digits)}\u00a0%`;
  if (Number(whole) === 0 && share > 1e-12) return `<${(10 ** -digits).toFixed(digits)}\u00a0%`;
  return `${whole}\u00a0%`;
}

export function many(count, what, plural = `${what}s`) {
  return `${number(count)} ${count === 1 ? what : plural}`;
}
