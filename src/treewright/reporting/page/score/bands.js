// Small pictures in table cells: a share as a bar, cuts and limits as bands on a scale.

import { draw, make } from "../base/elements.js";
import { percent } from "../base/numbers.js";

const WIDTH = 220;
const HEIGHT = 14;
const PAD = 3;

/** A share as a bar with its text; `low` marks one that is small for what it is. */
export function track(share, text, low = false) {
  const bar = make("i", { style: `width:${100 * share}%`, class: low ? "tw-low" : null });
  return make("div", { class: "tw-share" }, make("div", { class: "tw-track" }, bar), make("span", {}, text));
}

/** The cuts of the refits as a band on the scale of their column, and the tree's own cut as a line. */
export function cutBand({ at, bands, low, high }, [from, to]) {
  const x = (value) => PAD + ((value - from) / (to - from || 1)) * (WIDTH - 2 * PAD);
  const text = low === high ? low : `${low} to ${high}`;
  return figure(x, [bands[0], bands[4]], [bands[1], bands[3]], at, text);
}

/** The limits of a probability as a band from 0 to 1, the observed share and the prediction. */
export function shareBand({ low, high, stated }) {
  const x = (value) => PAD + value * (WIDTH - 2 * PAD);
  return figure(x, [low, high], null, stated, `${percent(low)} to ${percent(high)}`);
}

function figure(x, outer, inner, at, text) {
  const rect = ([low, high], kind) => draw("rect", {
    class: kind, x: x(low) - 1, y: 3, width: Math.max(2, x(high) - x(low) + 2), height: HEIGHT - 6, rx: 2,
  });
  const picture = draw(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, class: "tw-band", role: "img", "aria-label": text },
    draw("path", { class: "tw-band-axis", d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
    rect(outer, "tw-band-outer"),
    inner ? rect(inner, "tw-band-inner") : null,
    draw("path", { class: "tw-band-at", d: `M${x(at)} 0V${HEIGHT}` }),
  );
  return make("div", { class: "tw-band-figure" }, picture, make("span", {}, make("bdi", {}, text)));
}
