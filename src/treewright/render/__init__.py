"""Trees to look at. Comes in: a `Tree`. Goes out: text or a picture.

Always holds: nothing here needs the compiled core; drawing never changes what is drawn. matplotlib is loaded only by
the functions that draw with it.
"""

from treewright.render.boundary import boundary, curve
from treewright.render.charts import depth_scores, path_plot
from treewright.render.cuts import cuts
from treewright.render.html import html
from treewright.render.plot import plot
from treewright.render.svg import svg
from treewright.render.text import show, text

__all__ = ["boundary", "curve", "cuts", "depth_scores", "html", "path_plot", "plot", "show", "svg", "text"]
