"""Make the pictures of docs/howto/studio.md: `python tools/studio_pictures.py`. Needs playwright and chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import treewright as tw
from treewright.lessons.tables import TITANIC

PLACE = Path(__file__).parents[1] / "docs" / "_static" / "studio"


def titanic() -> dict[str, list[Any]]:
    """Return the passengers of the lesson, with an age in years that is drawn to fit "adult" and "child"."""
    table = {name.lower(): list(values) for name, values in TITANIC.items()}
    rng = np.random.default_rng(0)
    years = [rng.integers(18, 70) if age == "adult" else rng.integers(0, 18) for age in table["age"]]
    return {**table, "years": [float(x) for x in years]}


def steps(page: Any, n: int) -> None:
    """Wait for a number of steps."""
    page.wait_for_selector(f"#studio[data-steps='{n}']")
    page.wait_for_timeout(600)


def pictures(page: Any) -> None:
    """Drive the studio and take a picture of each station of the tour."""
    page.wait_for_selector("[data-apply]")
    page.keyboard.press("1")
    steps(page, 1)
    page.locator(".st-place [data-node='1']").click()
    page.wait_for_selector("[role=tabpanel] [data-node='1']")
    page.wait_for_timeout(300)
    page.screenshot(path=PLACE / "splits.png")
    page.keyboard.press("1")
    steps(page, 2)
    page.locator(".st-place [data-node='2']").click()
    page.keyboard.press("e")
    page.get_by_label("Column to split on").select_option("years")
    page.wait_for_timeout(500)
    page.mouse.move(5, 5)
    page.screenshot(path=PLACE / "cut.png")
    page.locator(".st-place [data-node='0']").click()
    page.keyboard.press("A")
    steps(page, 3)
    page.keyboard.press("P")
    page.get_by_role("button", name="Least held-out risk").click()
    page.wait_for_timeout(500)
    page.screenshot(path=PLACE / "prune.png")
    page.keyboard.press("u")
    steps(page, 2)
    page.get_by_role("tab", name="Arithmetic").click()
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Dark").click()
    page.screenshot(path=PLACE / "arithmetic.png")
    page.get_by_role("button", name="Light").click()
    page.get_by_role("group", name="Recipe").get_by_label("algorithm").select_option("chaid")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".st-compared .st-differs")
    page.wait_for_timeout(500)
    page.screenshot(path=PLACE / "compare.png")


def main() -> None:
    """Open a studio in the browser."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        table = Path(folder) / "titanic.csv"
        rows = titanic()
        lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
        table.write_text("\n".join(lines), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        with tw.studio(table, "survived", folder=folder, open_page=False) as studio:
            page.goto(studio.url)
            pictures(page)
        browser.close()


if __name__ == "__main__":
    main()
