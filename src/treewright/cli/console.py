"""Output of all commands: text, tables, progress and JSON.

Colour appears on a terminal only (NO_COLOR is honoured); progress only for work longer than a second.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from treewright.cli.error_text import with_cli_options
from treewright.data.number_text import amount
from treewright.render.tree_text import has_colour, written
from treewright.tree.tree import Tree

#: Seconds before a progress bar appears.
PATIENCE = 1.0


def coloured() -> bool:
    """Return whether standard output is coloured."""
    return has_colour(sys.stdout.isatty(), os.environ)


def encodable(text: str) -> str:
    r"""Return text that any output can encode: half of a surrogate pair becomes an escape, which JSON reads back.

    >>> encodable("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def echo(text: str = "", **style: Any) -> None:
    """Print a line of text, styled where there is colour."""
    text = encodable(text)
    click.echo(click.style(text, **style) if style and coloured() else text, color=coloured())


def show_tree(tree: Tree, depth: int | None = None, lines: int = 200) -> None:
    """Print the tree in the width and colours of the terminal."""
    width = max(40, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None
    click.echo(written(tree, depth, lines, width, coloured(), with_cli_options), color=coloured())


def note(text: str) -> None:
    """Print a remark, dimmed."""
    echo(text, dim=True)


def echo_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(encodable(json.dumps(plain(value), ensure_ascii=False, indent=2)))


def plain(value: Any) -> Any:
    """Return a value as JSON has it: no NaN, no arrays, no tuples."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def score_text(measure: str, value: float) -> str:
    """Return a score as the page writes it: shares in percent, ROC AUC and R² with three decimals.

    >>> score_text("accuracy", 0.8166), score_text("ROC AUC", 0.8), score_text("mean absolute error", 3.14159265)
    ('81.7 %', '0.800', '3.142')
    """
    if math.isnan(value):
        return "-"
    if measure in ("accuracy", "balanced accuracy"):
        return f"{100 * value:.1f} %"
    return f"{value:.3f}" if measure in ("ROC AUC", "R²") else amount(value)


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = (), bold: int | None = None
) -> None:
    """Print a table; columns `right` are aligned right, the row `bold` is bold."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, name in enumerate(head):
        made.add_column(Text(name), justify="right" if place in right else "left", overflow="ellipsis", no_wrap=True)
    for place, row in enumerate(rows):
        made.add_row(*map(Text, row), style="bold green" if place == bold else None)
    terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout, no_color=not coloured(), force_terminal=coloured(), highlight=False,
        width=None if terminal else 200,
    )  # fmt: skip
    with console.capture() as captured:
        console.print(made)
    click.echo(encodable("\n".join(line.rstrip() for line in captured.get().splitlines())), color=coloured())


@contextmanager
def progress(label: str, total: float | None = 1.0) -> Iterator[Callable[[float], None]]:
    """Show a progress bar that the yielded function advances; without a total, a spinner and a count."""
    bar: Any = None
    task: Any = None
    begun = time.monotonic()
    watched = sys.stderr.isatty()

    def advance(done: float) -> None:
        nonlocal bar, task
        if bar is None and watched and time.monotonic() - begun > PATIENCE:
            bar = _bar(total)
            task = bar.add_task(label, total=total)
            bar.start()
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()


def steps(advance: Callable[[float], object]) -> Callable[[], None]:
    """Return a function that advances the progress by one step."""
    done = itertools.count(1)
    return lambda: (advance(next(done)), None)[1]


def _bar(total: float | None) -> Any:
    from rich import progress as parts
    from rich.console import Console

    console = Console(stderr=True)
    if total is None:
        shown: tuple[Any, ...] = (parts.SpinnerColumn(), parts.TextColumn("{task.completed:,.0f}"))
    else:
        shown = (parts.BarColumn(), parts.TaskProgressColumn(), parts.TimeRemainingColumn())
    return parts.Progress(parts.TextColumn("{task.description}"), *shown, console=console, transient=True)
