"""The gallery of the documentation: every picture is written, and every svg is well-formed."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "examples" / "gallery.py"


@pytest.mark.slow
def test_gallery(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(GALLERY), str(tmp_path)], check=True)
    pictures = sorted(tmp_path.iterdir())
    assert len(pictures) == 23
    for picture in pictures:
        if picture.suffix == ".svg":
            ET.parse(picture)
        else:
            assert picture.read_bytes().startswith(b"\x89PNG")
