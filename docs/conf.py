"""How the site is built: `make docs`.

The pages load nothing from other hosts. The library draws pictures and derivations during the build, outside the
repository.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
#: What is made for the site: pictures, whole pages, styles.
MADE = HERE.parent / "build" / "gallery"
for folder in ("pages", "static"):
    (MADE / folder).mkdir(parents=True, exist_ok=True)
sys.path.insert(0, str(HERE / "_extension"))

from shown import theme_rules  # noqa: E402

import treewright as tw  # noqa: E402

project = "treewright"
author = "the treewright authors"
version = release = tw.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "plain_docstrings",
    "shown",
]
exclude_patterns = ["_extension"]
myst_heading_anchors = 3

# Docstrings are plain prose in which a word between backticks is code.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# Names that say more than what they stand for.
_KEPT = "ArrayLike Branching Criterion ClassificationCriterion RegressionCriterion KindChoice Level Missing Numeric"
autodoc_type_aliases = {name: name for name in f"{_KEPT} Pruner Simplify Want".split()}
autosummary_generate = False
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # names that end in _ stay what they are
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False

html_theme = "furo"
html_title = "treewright"
html_logo = html_favicon = "_static/treewright.svg"
html_static_path = ["_static", str(MADE / "static")]
html_css_files = ["treewright.css", "pictures.css"]
html_extra_path = [str(MADE / "pages")]
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "native"
_BLUE, _LIGHT_BLUE = "#005f99", "#6bbcf0"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": _BLUE, "color-brand-content": _BLUE},
    "dark_css_variables": {"color-brand-primary": _LIGHT_BLUE, "color-brand-content": _LIGHT_BLUE},
    "navigation_with_keys": True,
}


def _make(_app: Any) -> None:
    """The pictures of the gallery, the page to click on, and the colours of pictures."""
    gallery = [sys.executable, str(HERE.parent / "examples" / "gallery.py"), str(MADE)]
    subprocess.run(gallery, check=True, stdout=subprocess.DEVNULL)
    simulation = [sys.executable, str(HERE.parent / "bench" / "scale_simulation.py"), "--picture"]
    subprocess.run([*simulation, str(MADE / "scale.png")], check=True)
    (MADE / "pages" / "interactive.html").write_text(_interactive(), encoding="utf-8")
    (MADE / "static" / "pictures.css").write_text(theme_rules(), encoding="utf-8")


def _interactive() -> str:
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True)
    table = wine.frame
    table["cultivar"] = wine.target_names[table.pop("target")]
    return tw.render.html(tw.learn(table, "cultivar", tw.C45), table, title="Wine by C4.5")


def setup(app: Any) -> None:
    app.connect("builder-inited", _make)
