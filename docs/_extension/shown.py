"""The directive `shown`: the value of an expression, as a reader sees it.

The expression may use the names that the tested examples above it on the page define, and nothing else.
"""

from __future__ import annotations

import base64
import contextlib
import doctest
import html
import io
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
import matplotlib.pyplot as plt
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from treewright.render.colours import GROUND


class Shown(SphinxDirective):
    """`{shown} expression`, with `:alt:` for a chart and an optional caption as its content."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        names = _examples_above(Path(self.env.doc2path(self.env.docname)), self.lineno)
        value = eval(self.arguments[0], names)
        figure = nodes.container(classes=["shown"])
        figure += nodes.raw("", _markup(value, self.options.get("alt", "")), format="html")
        if self.content:
            caption = nodes.container(classes=["shown-caption"])
            caption += self.parse_content_to_nodes()
            figure += caption
        return [figure]


def _examples_above(page: Path, line: int) -> dict[str, Any]:
    """What the page's examples before a line leave behind."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        if example.lineno < line and not example.options.get(doctest.SKIP):
            expected = contextlib.suppress(Exception) if example.exc_msg else contextlib.nullcontext()
            with contextlib.redirect_stdout(io.StringIO()), expected:
                exec(compile(example.source, str(page), "single"), names)
    return names


def _markup(value: Any, alt: str) -> str:
    if hasattr(value, "html"):
        return str(value.html())
    if isinstance(value, str):
        return value
    picture = io.BytesIO()
    value.figure.savefig(picture, format="png", dpi=144)
    plt.close(value.figure)
    data = base64.b64encode(picture.getvalue()).decode("ascii")
    width = round(value.figure.get_figwidth() * 96)
    return f'<img src="data:image/png;base64,{data}" width="{width}" alt="{html.escape(alt)}">'


def theme_rules() -> str:
    """Pictures follow the reader's system by themselves; with these rules they follow the site's own switch too."""
    return "\n".join(
        f'body[data-theme="{theme}"] .treewright .f-{role} {{ fill: {colour} }}\n'
        f'body[data-theme="{theme}"] .treewright .s-{role} {{ stroke: {colour} }}'
        for theme, roles in GROUND.items()
        for role, colour in roles.items()
    )


def setup(app: Sphinx) -> dict[str, bool]:
    mpl.use("Agg")  # a site is built where there may be no screen
    app.add_directive("shown", Shown)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
