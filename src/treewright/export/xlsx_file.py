"""A file for Excel and LibreOffice, from the cells of its sheets; written with the standard library."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_BOLD = 1


class Formula(str):
    """The text of a formula, "#" for the number of its row."""

    __slots__ = ()

    def at(self, row: int) -> Formula:
        return Formula(self.replace("#", str(row)))


#: A cell: nothing, a value, a value with its format, or a formula.
Cell = Any


def letters(column: int) -> str:
    """Return the name of a column, counted from 0."""
    found = ""
    while column >= 0:
        found = chr(65 + column % 26) + found
        column = column // 26 - 1
    return found


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font/><font><b/></font></fonts>'
    "<fills count='1'><fill/></fills><borders count='1'><border/></borders>"
    "<cellStyleXfs count='1'><xf/></cellStyleXfs><cellXfs count='5'><xf/><xf fontId='1' applyFont='1'/>"
    + "".join(f"<xf numFmtId='{n}' applyNumberFormat='1'/>" for n in (14, 22, 46))
    + "</cellXfs></styleSheet>"
)


def xlsx(sheets: Mapping[str, list[list[Cell]]]) -> bytes:
    """Return the sheets as an .xlsx file; the same sheets give the same bytes."""
    numbers = range(1, len(sheets) + 1)
    kinds = [("workbook.xml", "sheet.main"), ("styles.xml", "styles")]
    kinds += [(f"worksheets/sheet{i}.xml", "worksheet") for i in numbers]
    overrides = "".join(f'<Override PartName="/xl/{part}" ContentType="{_TYPE}.{kind}+xml"/>' for part, kind in kinds)
    links = [(f"worksheets/sheet{i}.xml", "worksheet") for i in numbers] + [("styles.xml", "styles")]
    names = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>' for i, name in zip(numbers, sheets, strict=True)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/>{overrides}</Types>',
        "_rels/.rels": _relations([("xl/workbook.xml", "officeDocument")]),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets>'
        '<calcPr fullCalcOnLoad="1"/></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(links),
        "xl/styles.xml": _STYLES,
        **{f"xl/worksheets/sheet{i}.xml": _sheet(table) for i, table in zip(numbers, sheets.values(), strict=True)},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in parts.items():
            archive.writestr(zipfile.ZipInfo(path), _HEAD + text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _relations(links: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{i}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for i, (target, kind) in enumerate(links, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _sheet(table: Sequence[Sequence[Cell]]) -> str:
    pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    lines = [
        f'<row r="{r}">{"".join(_cell(f"{letters(c)}{r}", cell, r == 1) for c, cell in enumerate(row))}</row>'
        for r, row in enumerate(table, 1)
    ]
    return (
        f'<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">{pane}</sheetView></sheetViews>'
        f'<sheetFormatPr baseColWidth="14" defaultRowHeight="15"/><sheetData>{"".join(lines)}</sheetData></worksheet>'
    )


def _cell(place: str, cell: Cell, is_head: bool) -> str:
    style = f' s="{_BOLD}"' if is_head else ""
    if isinstance(cell, tuple):
        cell, style = cell[0], f' s="{cell[1]}"'
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}"{style} t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, (int, float)):
        return f'<c r="{place}"{style}><v>{cell!r}</v></c>'
    if isinstance(cell, Formula):
        return f'<c r="{place}"{style}><f>{escape(cell, quote=False)}</f></c>'
    # A workbook writes characters as _xHHHH_, so what looks like that is escaped; XML would make \r a \n.
    text = re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", cell).replace("\r", "_x000D_")
    return f'<c r="{place}"{style} t="inlineStr"><is><t xml:space="preserve">{escape(text, quote=False)}</t></is></c>'
