"""The page on which a tree grows: one picture, buttons, keys, and a caption for each step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from treewright.render.svg_writer import FONT

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d5dae0; --paper: #ffffff;
  --accent: #0a5f96; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e9edf1; --soft: #a3adb8; --line: #3a424b; --paper: #15191e; --accent: #7cc4f4; }
}
html { background: var(--paper); color: var(--ink); font: 17px/1.5 FONT; }
body { margin: 0 auto; padding: 1rem; max-width: 110rem; }
h1 { font-size: 1.3rem; line-height: 1.25; margin: 0 0 .7rem; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; }
button { font: inherit; color: inherit; min-width: 2.9rem; min-height: 2.75rem; padding: .3rem .9rem;
  background: transparent; border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
button:hover { border-color: var(--accent); }
button:disabled { color: var(--soft); cursor: default; opacity: .55; border-color: var(--line); }
input { flex: 1 1 8rem; max-width: 26rem; min-height: 2.75rem; accent-color: var(--accent); }
output { min-width: 5.5rem; text-align: center; font-variant-numeric: tabular-nums; }
#caption { min-height: 3.2em; margin: .8rem 0; max-width: 70rem; }
.picture { overflow: auto; max-height: max(20rem, calc(100vh - 13rem)); }
.picture svg { display: block; margin: 0 auto; height: auto;
  width: clamp(var(--natural), min(100%, 1.3 * (100vh - 13rem) * var(--aspect)), 1.7 * var(--natural)); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media print { .controls { display: none; } .picture { max-height: none; } .picture svg { width: 100%; } }
""".replace("FONT", FONT)

_SCRIPT = """
const captions = JSON.parse(document.getElementById("captions").textContent);
const last = captions.length - 1;
const groups = [...document.querySelectorAll("[data-from]")];
const at = (id) => document.getElementById(id);
const picture = document.querySelector(".picture");
let step = 0;
let timer = null;

function show(wanted) {
  step = Math.max(0, Math.min(last, wanted));
  for (const group of groups) {
    const shown = group.dataset.from <= step && step <= group.dataset.to;
    group.style.visibility = shown ? "visible" : "hidden";
  }
  at("caption").textContent = captions[step];
  at("count").textContent = `${step} of ${last}`;
  at("slider").value = step;
  at("first").disabled = at("back").disabled = step === 0;
  at("next").disabled = at("last").disabled = step === last;
  follow(groups.filter((group) => Number(group.dataset.from) === step && "node" in group.dataset));
}

// Scrolls a picture larger than the screen to what is new in it.
function follow(fresh) {
  if (!fresh.length) return;
  const boxes = fresh.map((group) => group.getBoundingClientRect());
  const view = picture.getBoundingClientRect();
  const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
  if (bottom > view.bottom) picture.scrollTop += bottom - view.bottom + 8;
  else if (top < view.top) picture.scrollTop += top - view.top - 8;
  const [left, right] = [view.left, view.left + picture.clientWidth];
  if (boxes.some((box) => box.left >= left && box.right <= right)) return;
  picture.scrollLeft += boxes[0].left + boxes[0].width / 2 - (left + right) / 2;
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => (step < last ? show(step + 1) : play(false)), 1500) : null;
  at("play").textContent = on ? "Pause" : "Play";
}

function move(wanted) {
  play(false);
  show(wanted);
}

at("first").onclick = () => move(0);
at("back").onclick = () => move(step - 1);
at("next").onclick = () => move(step + 1);
at("last").onclick = () => move(last);
at("slider").oninput = (event) => move(Number(event.target.value));
at("play").onclick = () => {
  const on = timer === null;
  if (on) show(step === last ? 0 : step + 1);
  play(on && step < last);
};
document.addEventListener("keydown", (event) => {
  if (event.target.id === "slider" || event.ctrlKey || event.metaKey || event.altKey) return;
  const moves = { ArrowRight: step + 1, PageDown: step + 1, ArrowLeft: step - 1, PageUp: step - 1, Home: 0, End: last };
  if (!(event.key in moves)) return;
  event.preventDefault();
  move(moves[event.key]);
});
show(0);
// A picture wider than the screen starts with the root in the middle.
const root = document.querySelector('[data-node="0"]').getBoundingClientRect();
const shown = picture.getBoundingClientRect();
picture.scrollLeft += root.left + root.width / 2 - shown.left - picture.clientWidth / 2;
picture.scrollTop += Math.max(0, root.bottom - shown.top - picture.clientHeight / 2);
"""


def page(title: str, svg: str, captions: Sequence[str], size: tuple[float, float]) -> str:
    """Return the page; `svg` holds groups with `data-from` and `data-to`, the steps at which they are shown.

    `size` is the natural width and height: the picture grows to the screen, and is not drawn smaller.
    """
    width, height = size
    size_rule = f"--natural:{width:.0f}px;--aspect:{width / height:.4f}"
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    written = json.dumps(list(captions), ensure_ascii=False).replace("<", "\\u003c")
    last = len(captions) - 1
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<div class="controls" role="group" aria-label="Steps">
<button id="first" title="First step (Home)" aria-label="First step">|◀</button>
<button id="back" title="Previous step (left arrow)" aria-label="Previous step">◀</button>
<button id="next" title="Next step (right arrow)" aria-label="Next step">▶</button>
<button id="last" title="Last step (End)" aria-label="Last step">▶|</button>
<button id="play">Play</button>
<input id="slider" type="range" min="0" max="{last}" value="0" aria-label="Step">
<output id="count" for="slider"></output>
</div>
<p id="caption" aria-live="polite">{escape(captions[-1])}</p>
<div class="picture" style="{size_rule}" tabindex="0" role="region" aria-label="The tree">
{svg}
</div>
<script type="application/json" id="captions">{written}</script>
<script>{_SCRIPT}</script>
</body>
</html>
"""
