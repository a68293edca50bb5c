"""Check that includes between the folders of core/ point one way and that no headers include each other in a circle.

Usage: python tools/check_includes.py
Prints every include that breaks the order and returns 1 if there is one.
"""

import re
import sys
from pathlib import Path

# A folder includes only itself and folders that stand before it.
ORDER = [
    "base",
    "target",
    "criterion",
    "binning",
    "linear",
    "split",
    "threshold",
    "rows",
    "remote",
    "predict",
    "prune",
    "grow",
    "optimal",
    "bind",
]
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def find_breaks(core: Path) -> list[str]:
    """Return one line for every include that points the wrong way, leads nowhere or closes a circle."""
    includes = {
        path.relative_to(core).as_posix(): INCLUDE.findall(path.read_text(encoding="utf-8"))
        for path in sorted(core.rglob("*.?pp"))
    }
    rank = {folder: place for place, folder in enumerate(ORDER)}
    found = []
    for name, named in includes.items():
        folder = name.rpartition("/")[0]
        if folder not in rank:
            found.append(f"core/{name}: folder {folder or 'core'!r} has no place in ORDER (tools/check_includes.py)")
            continue
        for other in named:
            above = other.rpartition("/")[0]
            if other not in includes:
                found.append(f"core/{name}: there is no core/{other}")
            elif rank.get(above, 0) > rank[folder]:
                found.append(f"core/{name}: {folder} stands before {above}, so it cannot include {other}")
    return found + find_circles(includes)


def find_circles(includes: dict[str, list[str]]) -> list[str]:
    """Return one line for every header that includes itself by way of others."""
    done: set[str] = set()
    path: list[str] = []
    found = []

    def visit(name: str) -> None:
        if name in path:
            found.append(f"core/{name}: includes itself: " + " -> ".join([*path[path.index(name) :], name]))
        if name in done or name in path:
            return
        path.append(name)
        for other in includes.get(name, []):
            visit(other)
        done.add(path.pop())

    for name in includes:
        visit(name)
    return found


if __name__ == "__main__":
    breaks = find_breaks(Path(__file__).resolve().parent.parent / "core")
    sys.stdout.write("\n".join(breaks or ["core: includes point one way"]) + "\n")
    sys.exit(1 if breaks else 0)
