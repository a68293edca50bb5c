"""The site: it is built without a warning, its reference has every public name, its code pages every module.

The examples on its pages are tests of their own (`testpaths` in pyproject.toml).
"""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import treewright as tw
from treewright import _core

DOCS = Path(__file__).parents[1] / "docs"
SOURCE = DOCS.parent / "src" / "treewright"
CORE = DOCS.parent / "core"


def test_the_reference_has_every_public_name() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    described = set(re.findall(r"^\.\. (?:auto\w+|py:data):: (?:treewright\.)?([\w.]+)$", pages, re.MULTILINE))
    modules = {
        name: getattr(tw, name).__all__
        for name in (
            "branching",
            "criterion",
            "leaves",
            "missing",
            "numeric",
            "pruning",
            "stopping",
            "render",
            "export",
            "edit",
        )
    }
    wanted = {name for name in tw.__all__ if name not in {*modules, "criteria", "__version__"}}
    wanted |= {f"{module}.{name}" for module, names in modules.items() for name in names}
    wanted -= {"export.save", "export.load"}  # described as treewright.save and treewright.load
    assert wanted <= described, f"describe {sorted(wanted - described)} on a page of docs/api"


def _listed(page: Path, column: int = 0) -> list[list[str]]:
    """Return the names in backticks of one column of a page's tables, row by row."""
    rows = [line.split("|")[1:-1] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return [re.findall(r"`([\w/]+)`", cells[column]) for cells in rows]


def _first_cells(page: Path, heading: str) -> list[list[str]]:
    """Return the names in the first column of the tables between a heading and the next."""
    section = re.split(r"^#", page.read_text(encoding="utf-8").partition(heading)[2], maxsplit=1, flags=re.MULTILINE)[0]
    return [re.findall(r"`(\w+)`", line.split("|")[1]) for line in section.splitlines() if line.startswith("| `")]


PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_of_a_package_lists_exactly_its_modules(package: str) -> None:
    folder = SOURCE / package
    modules = (path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.py"))
    there = sorted(name for name in modules if not name.endswith("__init__"))
    listed = _listed(DOCS / "rooms" / f"{package}.md")
    assert sorted(name for row in listed for name in row) == there


def test_the_page_of_the_core_lists_exactly_its_files() -> None:
    page = DOCS / "rooms" / "core.md"
    listed = {folder: files for (folder,), files in zip(_listed(page), _listed(page, 2), strict=True)}
    folders = [folder for folder in CORE.iterdir() if folder.is_dir()]
    assert listed == {folder.name: sorted({path.stem for path in folder.glob("*.?pp")}) for folder in folders}


@pytest.mark.parametrize(("page", "heading"), [("design.md", "### core/"), ("rooms/core.md", "# the core")])
def test_the_folders_of_the_core_are_listed_in_the_order_of_includes(page: str, heading: str) -> None:
    checker = (CORE.parent / "tools" / "check_includes.py").read_text(encoding="utf-8")
    order = re.search(r"^ORDER = \[(.*?)\]", checker, re.MULTILINE | re.DOTALL)
    assert order is not None
    assert _first_cells(DOCS / page, heading) == [[folder] for folder in re.findall(r'"(\w+)"', order[1])]


def test_the_design_lists_the_packages_in_the_layers_of_the_import_contract() -> None:
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    listed = _first_cells(DOCS / "design.md", "### src/treewright/")
    assert [sorted(row) for row in listed] == [sorted(layer.split(" | ")) for layer in layers]
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert {name for row in listed for name in row} == {*PACKAGES, *modules}


def test_the_walk_of_the_design_has_twelve_files() -> None:
    walk = (DOCS / "design.md").read_text(encoding="utf-8").partition("## A walk")[2].partition("\n## ")[0]
    files = re.findall(r"^\| \d+ \| `([\w/.]+)`", walk, re.MULTILINE)
    assert len(files) == 12
    assert [name for name in files if not any((folder / name).exists() for folder in (SOURCE, DOCS.parent))] == []


def test_the_files_named_for_contributors_exist() -> None:
    page = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files = set(re.findall(r"`((?:\w+/)+\w+\.\w+)`", page))
    assert files
    assert [name for name in sorted(files) if not any((at / name).exists() for at in (SOURCE, DOCS.parent))] == []


#: Metaphors of earlier versions; the glossary has the words of the field.
_RETIRED = "telling|yardstick|estate|stretch|ladder|rung|wishes|strangers|breathe|commonest|heard"


def test_retired_words_stay_away() -> None:
    files = [path for top in (CORE, SOURCE) for path in top.rglob("*") if path.suffix in (".py", ".cpp", ".hpp", ".js")]
    retired = re.compile(rf"\b({_RETIRED})\b", re.IGNORECASE)
    found = {path.name: retired.findall(path.read_text(encoding="utf-8")) for path in files}
    assert {name: words for name, words in found.items() if words} == {}


def test_the_boundary_describes_every_function_of_the_core() -> None:
    page = (DOCS / "boundary.md").read_text(encoding="utf-8")
    names = [name for name in dir(_core) if not name.startswith("_")]
    assert [name for name in names if f"_core.{name}" not in page] == []
    assert set(re.findall(r"_core\.(\w+)", page)) <= set(names)


@pytest.mark.parametrize("page", sorted((DOCS / "api").glob("*.md")), ids=lambda page: page.stem)
def test_the_reference_names_what_exists(page: Path) -> None:
    for name in re.findall(
        r"^\.\. auto(?:class|function|exception):: ([\w.]+)", page.read_text(encoding="utf-8"), re.MULTILINE
    ):
        pkgutil.resolve_name(name)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(tmp_path / "read"), str(DOCS)]
    built = subprocess.run([*command, str(tmp_path / "site")], check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "index.html").exists()
