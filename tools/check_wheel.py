"""Install a built wheel into empty environments, run the README's examples there, and open the studio.

Usage: python tools/check_wheel.py [--dist dist] [PYTHON ...]

For each interpreter, once with the oldest supported dependencies that it has wheels for and once with the newest.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Where the oldest supported version has no wheel for a Python, the first one that does.
FIRST = {
    ("numpy", 13): "2.1.0",
    ("numpy", 14): "2.3.2",
    ("scipy", 13): "1.14.1",
    ("scipy", 14): "1.16.1",
    ("scikit-learn", 14): "1.7.2",
}

#: What the studio needs besides.
STUDIO = ("starlette", "uvicorn")


def page_files() -> list[str]:
    """Return the files of the studio's page, as the source tree has them."""
    source = ROOT / "src" / "treewright"
    return sorted(str(path.relative_to(source)) for path in (source / "interactive" / "page").rglob("*.*"))


def oldest(minor: int) -> list[str]:
    """Return the dependencies, and those of the studio, at their lower limits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = []
    for each in (*project["dependencies"], *project["optional-dependencies"]["studio"]):
        name, version = each.split(">=")
        pins.append(f"{name}=={FIRST.get((name, minor), version)}")
    return pins


def check(python: str, dist: Path, pins: list[str]) -> str:
    """Run the README's examples against a wheel and return the installed versions."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)  # noqa: S603
        inside = str(Path(folder) / "bin" / "python")
        quiet = [inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:"]
        wheels = ["--find-links", str(dist), "treewright"]
        own = [pin for pin in pins if pin.split("==")[0] not in STUDIO]
        subprocess.run([*quiet, *wheels, *own], check=True)  # noqa: S603
        examples = [inside, "-W", "error", "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", str(ROOT / "README.md")]
        subprocess.run(examples, check=True, cwd=folder)  # noqa: S603
        subprocess.run([*quiet, *wheels[:-1], "treewright[studio]", *pins], check=True)  # noqa: S603
        listing = Path(folder) / "files.txt"
        listing.write_text("\n".join(page_files()))
        subprocess.run([inside, str(ROOT / "tools" / "studio_probe.py"), str(listing)], check=True, cwd=folder)  # noqa: S603
        listed = subprocess.run([inside, "-m", "pip", "list"], check=True, capture_output=True, text=True).stdout  # noqa: S603
    wanted = ("treewright", "numpy", "scipy", "scikit-learn", "narwhals", *STUDIO)
    return ", ".join(re.sub(r"\s+", " ", line.strip()) for line in listed.splitlines() if line.split()[0] in wanted)


def main() -> None:
    """Check every interpreter twice; the first failure ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    options = parser.parse_args()
    for python in options.pythons:
        ask = [python, "-c", "import sys; print(*sys.version_info[:3], sep='.')"]
        version = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603
        for pins in (oldest(int(version.split(".")[1])), []):
            sys.stdout.write(f"Python {version}: {check(python, options.dist.resolve(), pins)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
