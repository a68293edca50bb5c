"""The command line. Comes in: arguments. Goes out: what the command makes."""

from __future__ import annotations

import click

from treewright.cli.lesson import lesson


@click.group()
def main() -> None:
    """Decision trees: learn, look, teach."""


main.add_command(lesson)
