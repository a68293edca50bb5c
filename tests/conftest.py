"""What all tests share: a real browser, a disk that is soon full, and steady examples.

Where the browser or the disk cannot be had, the tests that need it are skipped and say so. hypothesis draws the same
examples every time, so that a change is judged by what it changes; `HYPOTHESIS_WANDER=1` lets it look for new ones.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize="HYPOTHESIS_WANDER" not in os.environ, deadline=None)
settings.load_profile("steady")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a shell: tests of Ctrl-C would not end
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from sql_engines import plain_environment

    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, which drives the browser")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs chromium, which opens the page")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"], env=plain_environment())
        yield opened
        opened.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)
