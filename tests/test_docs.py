"""The site: it is built without a warning, and its reference leaves no public name out.

The examples on its pages are tests of their own (`testpaths` in pyproject.toml).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import treewright as tw

DOCS = Path(__file__).parents[1] / "docs"


def test_the_reference_has_every_public_name() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    described = set(re.findall(r"^\.\. (?:auto\w+|py:data):: (?:treewright\.)?([\w.]+)$", pages, re.MULTILINE))
    modules = {
        name: getattr(tw, name).__all__
        for name in ("branching", "criterion", "missing", "numeric", "pruning", "stopping", "render", "export")
    }
    wanted = {name for name in tw.__all__ if name not in {*modules, "criteria", "__version__"}}
    wanted |= {f"{module}.{name}" for module, names in modules.items() for name in names}
    wanted -= {"export.save", "export.load"}  # described as treewright.save and treewright.load
    assert wanted <= described, f"describe {sorted(wanted - described)} on a page of docs/api"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(tmp_path / "read"), str(DOCS)]
    built = subprocess.run([*command, str(tmp_path / "site")], check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "index.html").exists()
