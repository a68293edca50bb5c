"""The command `treewright`.

Exit codes: 0 done, 1 the data or a file cannot be used, 2 the command is not understood, 130 stopped by Ctrl-C.
Help loads no package but click; each command is loaded when it is called.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any, NoReturn

try:
    import click
except ImportError:  # pragma: no cover
    sys.exit("the command line needs click, rich and duckdb: pip install 'treewright[cli]'")

#: Every command and what it does, in the order of a first session.
COMMANDS = {
    "learn": "Learn a tree from a table.",
    "predict": "Predict the rows of a table of any size.",
    "show": "Show a tree as text, a picture or a page.",
    "rules": "Show a tree as rules.",
    "explain": "Explain the prediction for one row.",
    "prune": "Prune a tree.",
    "edit": "Edit a tree by a log of edits.",
    "studio": "Grow a tree by hand in the browser.",
    "export": "Export a tree to SQL, C, Python, ...",
    "compare": "Cross-validate all algorithms and pruning methods.",
    "lesson": "Show a worked example, step by step.",
}


class Commands(click.Group):
    """Commands that are loaded by name; errors are printed on one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [name for name in COMMANDS if importlib.util.find_spec(f"treewright.cli.{name}") is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = getattr(importlib.import_module(f"treewright.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            known = self.list_commands(ctx)
            close = difflib.get_close_matches(args[0], known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"commands are {', '.join(known)}"
            if args[0] == "report":  # the name in Python
                hint = "write one with 'learn --report FILE' or 'show TREE --html FILE'"
            ctx.fail(f"there is no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # before click sees it, which would print an empty line
            ctx.exit(130)

    def main(self, *args: Any, **settings: Any) -> NoReturn:
        settings |= {"standalone_mode": False, "prog_name": "treewright"}
        try:
            result = super().main(*args, **settings)
            sys.stdout.flush()
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except (KeyboardInterrupt, click.Abort):
            sys.exit(130)
        except BrokenPipeError:  # the reader of our output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)
        except (ValueError, OSError, RecursionError, MemoryError) as error:
            _print_error(error)
        sys.exit(result if isinstance(result, int) else 0)


def _print_error(error: Exception) -> NoReturn:
    """Print the error on one line; with --debug, or for an error of the program itself, raise it with its traceback."""
    from treewright.errors import RecipeError, TreewrightError

    if "--debug" in sys.argv or os.environ.get("TREEWRIGHT_DEBUG"):
        raise error
    if not isinstance(error, (TreewrightError, OSError, MemoryError)):
        raise error
    if isinstance(error, OSError):
        text = f"{error.filename or 'file'}: {(error.strerror or str(error)).lower()}"
    else:
        from treewright.cli.error_text import with_cli_options

        text = with_cli_options(str(error)) or type(error).__name__
    from treewright.render.tree_text import has_colour

    coloured = has_colour(sys.stderr.isatty(), os.environ)
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {' '.join(text.split())}", err=True, color=coloured)
    sys.exit(2 if isinstance(error, RecipeError) else 1)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"treewright {version('treewright')}")
        ctx.exit()


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Start with: treewright learn DATA --target COLUMN --save tree.json. "
    "DATA is a CSV, TSV, Parquet, JSON lines, Arrow, ARFF or C4.5 file, a database, a SQL query, or - for standard "
    "input. 'treewright COMMAND --help' lists its options.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit."
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from.")
def main() -> None:
    """Decision trees on the command line: learn, predict, inspect, prune and export."""
