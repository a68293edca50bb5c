// Coded values of a row as text and as an input field holds them.

import { many } from "./numbers.js";

const DAY = 86_400_000_000;

/** A coded value of a column as text. */
export function valueText(column, value) {
  if (value === null || value === undefined) return "missing";
  if (column.levels) return value >= 0 ? column.levels[value] : "an unseen level";
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

/** The coded value of what an input field holds; null where that is nothing or invalid. */
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
