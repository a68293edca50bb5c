"""`treewright studio`: grow a tree by hand in the browser.

Help and mistakes load no server; only the files named here are read, and only this folder is written to.
"""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import click

from treewright.cli.console import echo, note
from treewright.cli.help_sections import Command
from treewright.cli.reading import data_options, kinds_of, reading_of
from treewright.cli.recipes import ALGORITHMS, Algorithm


@click.command(cls=Command, short_help="Grow a tree by hand in the browser.")
@click.argument("data", metavar="DATA")
@click.option("-t", "--target", required=True, metavar="COLUMN", help="Column to predict.")
@click.option(
    "-a",
    "--algorithm",
    type=Algorithm(),
    default="cart",
    show_default=True,
    help="The recipe that ranks splits and grows.",
)
@click.option("--held-out", metavar="DATA", help="Rows that score the tree, as a file of their own.")
@click.option(
    "--holdout", type=click.FloatRange(0, 1, max_open=True), default=0.25, metavar="SHARE",
    help="Share of the rows held out to score the tree; 0 holds out none. [0.25]",
)  # fmt: skip
@click.option("--weight", metavar="COLUMN", help="Column with the weights of the rows.")
@click.option("--kind", "kinds", multiple=True, metavar="NAME=KIND", help="Kind of a column, as for learn.")
@click.option("--new", is_flag=True, help="Begin anew; the journal of the last session is kept under another name.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port. [a free one]")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
@data_options
def studio(data: str, target: str, **settings: Any) -> None:
    """Open a page on this machine where a tree for DATA is grown by hand.

    What is done is kept in NAME.studio.jsonl in this folder; the next studio for the same rows goes on from there.
    """
    from treewright.data.sources import open_source
    from treewright.interactive.serve import opened
    from treewright.interactive.start import Start
    from treewright.interactive.table import TableOrigin

    reading = reading_of(settings)
    unseen = settings["held_out"]
    source = TableOrigin(
        lambda: open_source(data, reading),
        Path(data).name,
        data,
        None if unseen is None else lambda: open_source(unseen, reading),
    )
    start = Start(
        target,
        ALGORITHMS[settings["algorithm"]],
        settings["weight"],
        kinds_of(settings["kinds"]),
        holdout=None if unseen is not None else settings["holdout"] or None,
    )
    made = opened(source, start, Path.cwd(), settings["port"], new=settings["new"])
    if made.continued:
        note(f"continued after {made.continued} steps; --new begins anew")
    echo(f"Studio: {made.url}")
    note("the address opens the page once; Ctrl-C ends the studio")
    if not settings["no_browser"]:
        webbrowser.open(made.url)
    made.run()
