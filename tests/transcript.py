"""Sessions in documents, replayed.

Files shown in blocks of ```text file=NAME are there before the first command; commands of one document share a
folder. Run as a script, it writes what is printed now into the document.

    python tests/transcript.py docs/command-line.md
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from treewright.cli import main

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^```text file=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    command: str
    printed: str


def steps(block: str) -> Iterator[Step]:
    """The commands of a block, each with what stands below it."""
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        if part.startswith("$ "):
            command, _, printed = part[2:].partition("\n")
            yield Step(command, printed.rstrip("\n"))


def blocks(document: str) -> list[list[Step]]:
    return [list(steps(found[1])) for found in _BLOCK.finditer(document)]


def write_files(document: str, folder: Path) -> None:
    for found in _FILE.finditer(document):
        (folder / found[1]).write_text(found[2], encoding="utf-8")
    shim = folder / "bin" / "treewright"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m treewright "$@"\n')
    shim.chmod(0o755)


def run(command: str, folder: Path) -> str:
    """What a command prints, errors too: in this process, or by a shell where it has a pipe."""
    words = shlex.split(command)
    if words[0] == "treewright" and not {"|", "<", ">"} & set(words):
        before = Path.cwd()
        os.chdir(folder)
        try:
            return CliRunner(env={"NO_COLOR": "1"}).invoke(main, words[1:]).output.rstrip("\n")
        finally:
            os.chdir(before)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    return (done.stdout + done.stderr).rstrip("\n")


def rewritten(document: str, folder: Path) -> str:
    """The document with what its commands print now."""
    write_files(document, folder)

    def again(found: re.Match[str]) -> str:
        parts = [f"$ {step.command}\n{run(step.command, folder)}".rstrip("\n") for step in steps(found[1])]
        return "```console\n" + "\n\n".join(parts) + "\n```"

    return _BLOCK.sub(again, document)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(rewritten(path.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
