"""Small workbooks written by hand: the XML that a spreadsheet writes, and nothing else."""

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

Cell = str | float | int | bool | None | datetime.date
_NS = "http://schemas.openxmlformats.org"
_TYPES = (
    '<Types xmlns="{ns}/package/2006/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
    'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)
_STYLES = (
    '<styleSheet xmlns="{ns}/spreadsheetml/2006/main"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>'
    '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> bytes:
    """The bytes of an .xlsx file of these sheets."""
    listed = "".join(f'<sheet name="{escape(n)}" sheetId="{k}" r:id="rId{k}"/>' for k, n in enumerate(sheets, 1))
    related = "".join(
        f'<Relationship Id="rId{k}" Type="{_NS}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k, _ in enumerate(sheets, 1)
    )
    styles = f'<Relationship Id="rIdS" Type="{_NS}/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
    root = f'<Relationship Id="rId1" Type="{_NS}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>'
    relations = f'<Relationships xmlns="{_NS}/package/2006/relationships">'
    members = {
        "[Content_Types].xml": _TYPES.format(ns=_NS),
        "_rels/.rels": f"{relations}{root}</Relationships>",
        "xl/_rels/workbook.xml.rels": f"{relations}{related}{styles}</Relationships>",
        "xl/styles.xml": _STYLES.format(ns=_NS),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_NS}/spreadsheetml/2006/main" xmlns:r="{_NS}/officeDocument/2006/relationships">'
            f"<sheets>{listed}</sheets></workbook>"
        ),
    }
    for k, rows in enumerate(sheets.values(), 1):
        members[f"xl/worksheets/sheet{k}.xml"] = _sheet(rows)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return written.getvalue()


def _sheet(rows: Sequence[Sequence[Cell]]) -> str:
    body = "".join(
        f'<row r="{n}">' + "".join(_cell(f"{chr(64 + k)}{n}", cell) for k, cell in enumerate(row, 1)) + "</row>"
        for n, row in enumerate(rows, 1)
    )
    return f'<worksheet xmlns="{_NS}/spreadsheetml/2006/main"><sheetData>{body}</sheetData></worksheet>'


def _cell(place: str, cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
        case int() | float():
            return f'<c r="{place}"><v>{cell!r}</v></c>'
        case datetime.date():
            return f'<c r="{place}" s="1"><v>{(cell - datetime.date(1899, 12, 30)).days}</v></c>'
        case "#DIV/0!":
            return f'<c r="{place}" t="e"><v>{cell}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
