"""Trees to look at.

Nothing here needs the compiled core; drawing never changes what is drawn. matplotlib is loaded only by the functions
that draw with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from treewright.render.cut_text import cuts
from treewright.render.growth_steps import Growth, growth
from treewright.render.plots.decision_boundary import boundary, curve
from treewright.render.plots.size_charts import depth_scores, path_plot
from treewright.render.plots.tree_plot import plot
from treewright.render.svg_writer import svg
from treewright.render.tree_text import show, text

if TYPE_CHECKING:
    from treewright.reporting.html_page import html

__all__ = [
    "Growth", "boundary", "curve", "cuts", "depth_scores", "growth", "html", "path_plot", "plot", "show", "svg", "text",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """`html` is made by `reporting`, which draws with this package; so it is loaded by name, when it is first used."""
    if name == "html":
        return import_module("treewright.reporting.html_page").html
    raise AttributeError(f"module 'treewright.render' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
