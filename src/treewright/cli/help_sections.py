"""Help in sections: options under headings, those without a section last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated")


class _Option(click.Option):
    """An option with a section."""

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


def add_options(command: Decorated, options: Sequence[Any]) -> Decorated:
    """Decorate a command with options, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def section(title: str) -> Callable[..., Any]:
    """Return `click.option` for options of a section."""

    def option(*names: str, **settings: Any) -> Any:
        return click.option(*names, cls=_Option, section=title, **settings)

    return option
