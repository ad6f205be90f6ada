"""A writer of small Excel files for tests: an archive of XML, with dates, shared texts and sheets."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
# Excel counts days from here, and takes 1900 for a leap year.
DAY_ZERO = datetime.datetime(1899, 12, 30)  # noqa: DTZ001  # Excel knows no zones
Cell = str | float | bool | datetime.datetime | None


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Cell]]], **replaced: str) -> Path:
    """Write ``sheets`` to ``path``. ``replaced`` is the XML of a sheet, such as ``sheet1``, in place of its rows."""
    texts = list(dict.fromkeys(cell for rows in sheets.values() for row in rows for cell in row if type(cell) is str))
    members = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{DOCUMENT}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n, _ in enumerate(sheets, 1)
        )
        + f'<Relationship Id="t" Type="{DOCUMENT}/sharedStrings" Target="sharedStrings.xml"/>'
        f'<Relationship Id="s" Type="{DOCUMENT}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs>'
        "</styleSheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">'
        + "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        + "</sst>",
    }
    for n, rows in enumerate(sheets.values(), 1):
        lines = (
            "".join(_cell(place, number, cell, texts) for place, cell in enumerate(row))
            for number, row in enumerate(rows, 1)
        )
        body = "".join(f'<row r="{number}">{cells}</row>' for number, cells in enumerate(lines, 1))
        body = replaced.get(f"sheet{n}", body)
        members[f"xl/worksheets/sheet{n}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def _cell(place: int, number: int, cell: Cell, texts: Sequence[str]) -> str:
    if cell is None:
        return ""
    where = f'r="{chr(ord("A") + place)}{number}"'
    if isinstance(cell, str):
        return f'<c {where} t="s"><v>{texts.index(cell)}</v></c>'
    if isinstance(cell, bool):
        return f'<c {where} t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, datetime.datetime):
        return f'<c {where} s="1"><v>{(cell - DAY_ZERO) / datetime.timedelta(days=1)!r}</v></c>'
    return f"<c {where}><v>{cell!r}</v></c>"
