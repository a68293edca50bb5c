// A chart of two shares: both axes go from 0 to 100 %, and on the diagonal they agree.

import { draw, make } from "../base/elements.js";
import { percent } from "../base/numbers.js";

const SIZE = 220;
const FRAME = { left: 44, top: 8, right: 8, bottom: 40 };

export const x = (share) => FRAME.left + share * SIZE;
export const y = (share) => FRAME.top + (1 - share) * SIZE;

/** A line through points, pairs of shares. */
export function lineThrough(points) {
  return points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
}

/** The chart with these marks; `kind` is its class, `axis` names what goes from left to right. */
export function unitSquare({ kind, label, caption, axis }, ...marks) {
  const words = (text, at, properties) => {
    const element = draw("text", { x: at[0], y: at[1], ...properties });
    element.textContent = text;
    return element;
  };
  const ticks = [0, 0.5, 1].flatMap((share) => [
    draw("path", { class: "tw-grid", d: `M${x(0)} ${y(share)}H${x(1)}M${x(share)} ${y(0)}V${y(1)}` }),
    words(percent(share), [x(share), y(0) + 16], { "text-anchor": "middle" }),
    words(percent(share), [x(0) - 6, y(share) + 4], { "text-anchor": "end" }),
  ]);
  const [width, height] = [FRAME.left + SIZE + FRAME.right, FRAME.top + SIZE + FRAME.bottom];
  return make(
    "figure",
    { class: kind },
    make("figcaption", {}, ...caption),
    draw(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, class: "tw-chart", role: "img", "aria-label": label },
      ...ticks,
      draw("path", { class: "tw-diagonal", d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }),
      ...marks,
      words(axis, [x(0.5), y(0) + 34], { "text-anchor": "middle" }),
    ),
  );
}
