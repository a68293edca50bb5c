// Numbers, values and elements as people see them.
//
// Comes in: plain values. Goes out: short texts, and elements of the page.
// Always holds: text enters the page by textContent alone, so no name or level can become markup.

/** An element: `make("button", {class: "x", onclick: f}, "text", child)`. Properties that are null are left out. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The same for a drawing. */
export function draw(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

let made = 0;

/** A name that no other page in this document has, to begin the ids of its elements. */
export function freshId() {
  let id = `tw${made++}`;
  while (document.querySelector(`[id^="${id}-"]`)) id = `tw${made++}`; // another copy of this module may have been here
  return id;
}

/** About four digits, thousands apart. */
export function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "";
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return x.toLocaleString("en-US");
  const size = Math.abs(x);
  if (size >= 1e15 || size < 1e-4) return String(Number(x.toPrecision(4)));
  if (size >= 1000) return x.toLocaleString("en-US", { maximumFractionDigits: size >= 1e5 ? 0 : 1 });
  return String(Number(x.toPrecision(4)));
}

/** A number with room for few signs, as beside an axis: 16M. */
export function shortNumber(x) {
  return Math.abs(x) < 1e4 ? number(x) : x.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 2 });
}

/** A share as a percentage that never claims to be all or nothing unless it is. */
export function percent(share, digits = 0) {
  const whole = (100 * share).toFixed(digits);
  if (Number(whole) === 100 && share < 1 - 1e-12) return `>${(100 - 10 ** -digits).toFixed(digits)}\u00a0%`;
  if (Number(whole) === 0 && share > 1e-12) return `<${(10 ** -digits).toFixed(digits)}\u00a0%`;
  return `${whole}\u00a0%`;
}

export function many(count, what, plural = `${what}s`) {
  return `${number(count)} ${count === 1 ? what : plural}`;
}

const DAY = 86_400_000_000;

/** A coded value of a column as text. */
export function valueText(column, value) {
  if (value === null || value === undefined) return "missing";
  if (column.levels) return value >= 0 ? column.levels[value] : "unseen";
  if (column.kind === "numeric") return String(value);
  if (column.kind === "duration") return durationText(value);
  return inputText(column, value).replace("T", " ");
}

/** A coded number or moment as an input field holds it. */
export function inputText(column, value) {
  if (value === null || value === undefined) return "";
  if (column.kind === "date") return new Date(value / 1000).toISOString().slice(0, 10);
  if (column.kind === "datetime") return new Date(value / 1000).toISOString().slice(0, 19);
  if (column.kind === "time") return new Date((((value % DAY) + DAY) % DAY) / 1000).toISOString().slice(11, 19);
  if (column.kind === "duration") return String(value / 1e6);
  return String(value);
}

/** What was typed into an input field, coded; null for nothing or nonsense. */
export function inputValue(column, text) {
  if (text.trim() === "") return null;
  const microseconds = (iso) => Date.parse(`${iso}Z`) * 1000;
  let value = Number(text);
  if (column.kind === "date") value = microseconds(`${text}T00:00:00`);
  else if (column.kind === "datetime") value = microseconds(text);
  else if (column.kind === "time") value = microseconds(`1970-01-01T${text}`);
  else if (column.kind === "duration") value = value * 1e6;
  return Number.isFinite(value) ? value : null;
}

function durationText(microseconds) {
  const seconds = Math.abs(microseconds) / 1e6;
  const days = Math.floor(seconds / 86400);
  const clock = new Date((seconds % 86400) * 1000).toISOString().slice(11, 19);
  return `${microseconds < 0 ? "-" : ""}${days ? `${many(days, "day")} ` : ""}${clock}`;
}
