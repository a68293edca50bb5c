"""A lesson as one HTML page, or as a fragment for a notebook. Nothing is loaded and no script runs."""

from __future__ import annotations

from html import escape
from itertools import count

from treewright.data.number_text import many
from treewright.inspection.derivation.html import html as blocks_html
from treewright.lessons.content import Code, Drawn, Heading, Lesson, Listed, Note, Part, Printed, Shown, Text, pieces
from treewright.render.picture.picture import picture
from treewright.render.svg_writer import FONT, write
from treewright.tree.text import name_text
from treewright.tree.tree import Tree

_STYLE = (
    """
.tw-lesson { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d5dae0; --chip: #f3f5f7;
  --accent: #0a5f96; --note: #fff7e0; --note-line: #e0b000; color: var(--ink); line-height: 1.6;
  max-width: 46rem; margin: 0 auto; padding: 1.5rem 1.1rem 4rem; font-family: FONT; font-size: 17px; }
.tw-lesson h1 { font-size: 1.9em; line-height: 1.2; margin: 0 0 .2em; text-wrap: balance; }
.tw-lesson h2 { font-size: 1.25em; margin: 2.2em 0 .5em; }
.tw-lesson h3, .tw-lesson h4 { font-size: 1em; margin: 1.2em 0 .3em; }
.tw-lesson p { margin: .8em 0; text-wrap: pretty; }
.tw-lesson .question { font-size: 1.15em; color: var(--soft); margin: 0 0 1.6em; }
.tw-lesson .note { border-left: 4px solid var(--note-line); background: var(--note); padding: .6em 1em; margin: 1.2em 0;
  border-radius: 0 6px 6px 0; }
.tw-lesson code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .88em; }
.tw-lesson :is(p, .note) code { background: var(--chip); padding: .1em .3em; border-radius: 4px; }
.tw-lesson pre { font: .78em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-x: auto;
  margin: .8em 0; padding: .7em 1em; border-radius: 8px; tab-size: 4; }
.tw-lesson pre.code { background: var(--chip); border: 1px solid var(--line); margin-bottom: 0; }
.tw-lesson pre.code + pre.printed { margin-top: 0; border-top: 0; border-radius: 0 0 8px 8px; }
.tw-lesson pre.code:has(+ pre.printed, + .shown) { border-radius: 8px 8px 0 0; }
.tw-lesson pre.printed { border: 1px solid var(--line); }
.tw-lesson .wide { overflow-x: auto; margin: 1em 0; }
.tw-lesson table { border-collapse: collapse; font-size: .88em; margin: .6em 0; font-variant-numeric: tabular-nums; }
.tw-lesson caption { text-align: left; white-space: nowrap; color: var(--soft); padding: 0 0 .4em; }
.tw-lesson th, .tw-lesson td { padding: .22em .9em .22em 0; border-bottom: 1px solid var(--line); font-weight: 400; }
.tw-lesson [align="right"] { white-space: nowrap; }
.tw-lesson thead th { font-weight: 600; white-space: nowrap; border-bottom: 2px solid var(--line); }
.tw-lesson ol.tw-steps { padding-left: 1.6em; margin: .4em 0; }
.tw-lesson ol.tw-steps li { margin: .5em 0; font-size: .93em; }
.tw-lesson ol.tw-steps strong { font-weight: 600; }
.tw-lesson math { font-size: 1.08em; }
.tw-lesson figure { margin: 1.4em 0; }
.tw-lesson figure svg { max-width: 100%; height: auto; display: block; }
.tw-lesson figure:is(.chart, .tw-curve) svg { width: 100%; }
.tw-lesson figure.tree svg { max-width: max(100%, 36rem); }
.tw-lesson .shown { border: 1px solid var(--line); border-radius: 8px; padding: .8em 1em; margin: .8em 0;
  overflow-x: auto; }
.tw-lesson .shown .tw-results { font-size: .85em; max-width: none; }
.tw-lesson pre.code + .shown { margin-top: 0; border-top: 0; border-radius: 0 0 8px 8px; }
.tw-lesson figcaption { color: var(--soft); font-size: .88em; margin-top: .4em; }
.tw-lesson .tw-remark, .tw-lesson footer { color: var(--soft); font-size: .88em; }
.tw-lesson footer { border-top: 1px solid var(--line); margin-top: 3em; padding-top: 1em; }
.tw-lesson :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media screen and (prefers-color-scheme: dark) {
  .tw-lesson { --ink: #e9edf1; --soft: #a3adb8; --line: #3a424b; --chip: #1e242b; --accent: #7cc4f4; --note: #2a2512;
    --note-line: #b08b10; }
}
@media print {
  .tw-lesson { font-size: 11pt; max-width: none; padding: 0; }
  .tw-lesson pre, .tw-lesson table, .tw-lesson figure, .tw-lesson .note, .tw-lesson li { break-inside: avoid; }
  .tw-lesson pre { white-space: pre-wrap; overflow: visible; }
  .tw-lesson h2 { break-after: avoid; }
  .tw-lesson figure.tree svg { max-width: 100%; }
}
"""
).replace("FONT", FONT)

#: Of a larger tree only the heaviest nodes are drawn; a picture wider than this, in pixels, turns to the right.
_MOST_NODES, _WIDEST = 150, 750.0

_GROUND = (
    "html { background: #ffffff; } body { margin: 0; } "
    "@media screen and (prefers-color-scheme: dark) { html { background: #15191e; } } "
    # On a wide screen or a projector text is larger, and figures are wider than a column of text.
    "@media screen and (min-width: 60rem) { body .tw-lesson { font-size: clamp(17px, 1.06vw, 24px); } "
    "body .tw-lesson figure:not(.tw-curve) { width: min(94vw, 100rem); margin-left: 50%; "
    "transform: translateX(-50%); } body .tw-lesson figure.tree svg { width: min(100%, 1.7 * var(--natural)); "
    "max-width: none; margin: 0 auto; } body .tw-lesson figure.chart svg { max-width: 70rem; margin: 0 auto; } "
    "body .tw-lesson figcaption { text-align: center; } "
    "body .tw-lesson pre { box-sizing: border-box; width: max-content; min-width: 100%; "
    "max-width: calc(50vw + 50% - 2rem); } "
    "body .tw-lesson pre.code + pre.printed { border-top: 1px solid var(--line); margin-top: -1px; } }"
)


def page(lesson: Lesson) -> str:
    """Return the whole page."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="description" content="{escape(lesson.question)}">\n'
        f"<title>{escape(lesson.title)} · treewright</title>\n<style>{_GROUND}</style>\n</head>\n<body>\n"
        f"{fragment(lesson)}\n</body>\n</html>\n"
    )


def fragment(lesson: Lesson) -> str:
    """Return the lesson as one element with its own style."""
    numbers = count(1)
    parts = "\n".join(_part(part, numbers) for part in lesson.parts)
    return (
        f'<article class="tw-lesson"><style>{_STYLE}</style>\n<header><h1>{_words(lesson.title)}</h1>\n'
        f'<p class="question">{_words(lesson.question)}</p></header>\n{parts}\n'
        "<footer>Every number on this page was computed from its table when the page was written.</footer>\n</article>"
    )


def _part(part: Part, numbers: count[int]) -> str:
    match part:
        case Heading(words):
            return f"<h2>{_words(words)}</h2>"
        case Text(words):
            return f"<p>{_words(words)}</p>"
        case Note(words):
            return f'<p class="note" role="note">{_words(words)}</p>'
        case Listed(items):
            return "<ul>" + "".join(f"<li>{_words(item)}</li>" for item in items) + "</ul>"
        case Code(source):
            return f'<pre class="code" tabindex="0" aria-label="Python code"><code>{escape(source)}</code></pre>'
        case Printed(_, _, fragment) if fragment:
            return f'<div class="shown">{fragment}</div>'
        case Printed(words, name):
            return f'<pre class="printed" tabindex="0" aria-label="{escape(name)}">{escape(words)}</pre>'
        case Drawn(drawn, _, caption):
            words = f"<figcaption>Figure {next(numbers)}. {_words(caption)}</figcaption>"
            return f'<figure class="chart">{drawn}{words}</figure>'
        case Shown(tree):
            about = escape(f"The tree for {name_text(tree.schema.target.name)}")
            size = f"{many(tree.n_leaves, 'leaf')}, depth {tree.depth}"
            drawn, width = _picture(tree)
            return (
                f'<figure class="tree" style="--natural:{width:.0f}px">'
                f'<div class="wide" tabindex="0" role="region" aria-label="{about}">'
                f"{drawn}</div><figcaption>Figure {next(numbers)}. {about}: {size}.</figcaption></figure>"
            )
        case _:
            return f'<div class="wide">{blocks_html([part])}</div>'


def _picture(tree: Tree) -> tuple[str, float]:
    """Draw the tree downward, or to the right if that is too wide; return the picture and its width in pixels."""
    drawn = picture(tree, _MOST_NODES)
    if drawn.width > _WIDEST:
        drawn = picture(tree, _MOST_NODES, direction="right")
    return write(drawn), drawn.width


def _words(words: str) -> str:
    return "".join(f"<{mark}>{escape(piece)}</{mark}>" if mark else escape(piece) for piece, mark in pieces(words))
