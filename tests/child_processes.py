"""Python programs that are run beside a test, and ended by a signal in the middle of their work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def started(script: str, folder: Path, first: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline().strip() == first
    return child


def ended(child: subprocess.Popen[str], number: int) -> tuple[int, str, str]:
    child.send_signal(number)
    out, err = child.communicate(timeout=30)
    return child.returncode, out, err
