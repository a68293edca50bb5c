"""A table of results: one value, written as text, as HTML or as a data frame.

Rankings, importances, rules, paths and derivations show themselves through it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from treewright.errors import ExportError

FrameKind = Literal["pandas", "polars", "arrow", "dict"]

_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Bar:
    """A bar in a cell: a share of the longest, from -1 to 1 where `signed` (it then starts in the middle)."""

    share: float
    signed: bool = False
    muted: bool = False

    def __str__(self) -> str:
        if self.signed:
            bar = "█" * max(1, round(abs(self.share) * 12))
            return f"{'':>12}│{bar}" if self.share > 0 else f"{bar:>12}│"
        eighths = round(max(0.0, self.share) * 24 * 8)
        return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")

    def html(self) -> str:
        length = 100 * abs(self.share) / (2 if self.signed else 1)
        start = 0.0 if not self.signed else 50.0 - (length if self.share < 0 else 0.0)
        kind = "tw-bar tw-against" if self.share < 0 else "tw-bar tw-muted" if self.muted else "tw-bar"
        return (
            f'<span class="tw-track"><span class="{kind}" style="left:{start:.2f}%;width:{length:.2f}%"></span></span>'
        )


Cell = str | Bar


@dataclass(frozen=True)
class Grid:
    """A table for reading.

    The first `words` columns hold words and are aligned left, the others numbers, aligned right; `align` ("<" or ">"
    for each column) overrides that. `notes` stand below the table.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int = 1
    align: str = ""
    notes: tuple[str, ...] = ()

    def side(self, column: int) -> str:
        """Return "<" or ">": the alignment of a column."""
        return self.align[column] if self.align else "<" if column < self.words else ">"

    def text(self, indent: str = "  ") -> str:
        """Return the caption, the header, aligned rows and the notes; `indent` stands before rows."""
        header = [self.header] if any(self.header) else []
        caption = [self.caption] if self.caption else []
        return "\n".join([*caption, *aligned([*header, *self.rows], self.side, indent), *self.notes])

    def html(self) -> str:
        """Return a table element and the notes; readable without a style sheet."""
        head = "".join(f'<th scope="col"{self._align(i)}>{escape(name)}</th>' for i, name in enumerate(self.header))
        head = f"<thead><tr>{head}</tr></thead>\n" if any(self.header) else ""
        body = "\n".join(self._row(row) for row in self.rows)
        caption = escape(self.caption).replace("\n", "<br>")
        caption = f"<caption>{caption}</caption>\n" if caption else ""
        notes = "".join(f'\n<p class="tw-remark">{escape(note)}</p>' for note in self.notes)
        if not self.rows:
            return f"<p><strong>{escape(self.caption)}</strong></p>{notes}"
        table = f'<table class="tw-table" cellpadding="3">\n{caption}{head}<tbody>\n{body}\n</tbody>\n'
        return f"{table}</table>{notes}"

    def _row(self, row: Sequence[Cell]) -> str:
        cells = [
            f'<th scope="row"{self._align(i)}>{_html(cell)}</th>'
            if i == 0
            else f"<td{self._align(i)}>{_html(cell)}</td>"
            for i, cell in enumerate(row)
        ]
        return f"<tr>{''.join(cells)}</tr>"

    def _align(self, column: int) -> str:
        return f' align="{"left" if self.side(column) == "<" else "right"}"'


def _html(cell: Cell) -> str:
    return escape(cell) if isinstance(cell, str) else cell.html()


def aligned(rows: Sequence[Sequence[Cell]], side: Any, indent: str = "", gap: str = "  ") -> list[str]:
    """Return one line per row, columns under each other; `side(i)` is the alignment of column i."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*texts, strict=True)]
    lines = []
    for row in texts:
        padded = [
            " " * (width - cells(text)) + text if side(i) == ">" else text + " " * (width - cells(text))
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + gap.join(padded)).rstrip())
    return lines


def cells(text: str) -> int:
    r"""Return the columns a terminal needs: two for a wide character, none for one that combines with its neighbour.

    >>> cells("abc"), cells("天気"), cells("e\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(cell_width, text))


def cell_width(character: str) -> int:
    """Return the columns a terminal needs for one character."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


# --- results that are tables ------------------------------------------------------------------------------------------

#: For a notebook, light or dark: colours are inherited or translucent, and every rule is bound to the class.
STYLE = """
.tw-results { font: 14px/1.45 system-ui, sans-serif; max-width: 60rem; color: inherit; overflow-x: auto; }
.tw-results h3 { font-size: 1.15em; margin: 0 0 .4em; }
.tw-results h4, .tw-results caption { font-size: 1em; font-weight: 600; margin: .8em 0 .3em; }
.tw-results caption { caption-side: top; text-align: left; padding: .4em 0; color: inherit; }
.tw-results caption { min-width: min(36rem, 90vw); }
.tw-results table { border-collapse: collapse; margin: 0; font-size: 1em; color: inherit; }
.tw-results th, .tw-results td { padding: .2em .9em .2em 0; vertical-align: top; border: 0; }
.tw-results td { font-variant-numeric: tabular-nums; }
.tw-results thead th, .tw-results [align="right"] { white-space: nowrap; }
.tw-results tbody th { font-weight: 400; }
.tw-results tr { border-top: 1px solid rgba(128, 128, 128, .25); background: none; }
.tw-results thead tr { border-top: 0; }
.tw-results .tw-track { position: relative; display: block; width: 14rem; height: .8em; margin-top: .3em; }
.tw-results .tw-track { background: rgba(128, 128, 128, .15); }
.tw-results .tw-bar { position: absolute; top: 0; bottom: 0; background: #2a78b5; }
.tw-results .tw-against { background: #d0652f; }
.tw-results .tw-muted { background: rgba(128, 128, 128, .6); }
.tw-results .tw-remark { opacity: .75; margin: .4em 0 0; }
.tw-results ul { margin: 0; padding-left: 1.2em; }
"""


class Results:
    """Forms of a result that is a table: HTML for notebooks, and frames. A subclass has `grid` and `_columns`."""

    def grid(self) -> Grid:
        """Return the table as it is read: rounded numbers, shortened lists."""
        raise NotImplementedError

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the table in full: exact values, None where there is none."""
        raise NotImplementedError

    def text(self) -> str:
        """Return the table as text.

        Returns
        -------
        str
            The table as it is printed.
        """
        return self.grid().text()

    def __str__(self) -> str:
        return self.text()

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """Return the results as a data frame, with exact values.

        Parameters
        ----------
        kind : {"pandas", "polars", "arrow", "dict"}, default="pandas"
            The package of the frame; "dict" returns a dict of lists and needs none.

        Returns
        -------
        DataFrame, Table or dict
            One row per result.

        Raises
        ------
        ExportError
            If the package is not installed or `kind` is unknown.
        """
        return framed(self._columns(), kind)

    def to_pandas(self) -> Any:
        """Return the results as a pandas data frame, with exact values.

        Returns
        -------
        pandas.DataFrame
            One row per result.
        """
        return self.to_frame("pandas")

    def _repr_html_(self) -> str:
        return page_fragment(self.grid().html())


def page_fragment(body: str) -> str:
    """Return HTML with the style of results, for any page."""
    return f'<div class="tw-results"><style>{STYLE}</style>{body}</div>'


def framed(columns: Mapping[str, Sequence[Any]], kind: str = "pandas") -> Any:
    """Return columns as a frame of pandas, polars or Arrow, or as a dict of lists."""
    lists = {name: list(values) for name, values in columns.items()}
    if kind == "dict":
        return lists
    try:
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame(lists)
        if kind == "polars":
            import polars as pl

            return pl.DataFrame(lists, strict=False)
        if kind == "arrow":
            import pyarrow as pa

            return pa.table(lists)
    except ImportError as error:
        raise ExportError(f"{kind} is not installed; install it, or use kind='dict'") from error
    raise ExportError(f"kind must be 'pandas', 'polars', 'arrow' or 'dict', not {kind!r}")
