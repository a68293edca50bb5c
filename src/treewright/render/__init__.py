"""Trees to look at. Comes in: a `Tree`. Goes out: text or a picture.

Always holds: nothing here needs the compiled core; drawing never changes what is drawn.
"""

from treewright.render.cuts import cuts
from treewright.render.svg import svg
from treewright.render.text import show, text

__all__ = ["cuts", "show", "svg", "text"]
