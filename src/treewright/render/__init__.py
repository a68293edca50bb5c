"""Trees to look at. Comes in: a `Tree`. Goes out: text or a picture.

Always holds: nothing here needs the compiled core; drawing never changes what is drawn.
"""

from treewright.render.cuts import cuts
from treewright.render.html import html
from treewright.render.text import text

__all__ = ["cuts", "html", "text"]
