"""Help in sections: so many options are found only where they stand under headings.

Comes in: options that say which section they belong to. Goes out: help with one list per section.
Always holds: options without a section come last, under "Options".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


class _Option(click.Option):
    """An option that knows its section."""

    def __init__(self, *args: Any, section: str = "Options", **settings: Any) -> None:
        self.section = section
        super().__init__(*args, **settings)


class Command(click.Command):
    """A command whose help has sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                found.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        last = found.pop("Options", [])
        for section, records in [*found.items(), ("Options", last)]:
            with formatter.section(section):
                formatter.write_dl(records)


def section(title: str) -> Callable[..., Any]:
    """`click.option` for options of this section."""

    def option(*names: str, **settings: Any) -> Any:
        return click.option(*names, cls=_Option, section=title, **settings)

    return option
