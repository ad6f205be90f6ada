"""A sheet of Excel is the same table as its CSV file. What could fill the memory is refused before it is read."""

import datetime
import zipfile

import pytest

from probcal.errors import DataError
from probcal.reading.reading_options import ReadingOptions
from probcal.reading.table import read_table
from tests.reading.frames import frame_of_table
from tests.reading.workbook import write_workbook

pytest.importorskip("python_calamine", reason="reads Excel files: the extra excel")

NAMES = ["age", "income", "city", "code", "member", "joined"]
ROWS = [
    [30 + n, n / 4, ["Rome", "Bonn", None][n % 3], f"0{n}", n % 2 == 0, datetime.datetime(2024, 1, 1 + n)]  # noqa: DTZ001
    for n in range(20)
]


def as_csv(rows) -> str:
    texts = [["" if cell is None else str(cell).removesuffix(" 00:00:00") for cell in row] for row in rows]
    return "\n".join(",".join(row) for row in texts) + "\n"


def test_a_sheet_is_the_same_table_as_csv(tmp_path):
    sheet = read_table(str(write_workbook(tmp_path / "staff.xlsx", {"Staff": [NAMES, *ROWS]})))
    (tmp_path / "staff.csv").write_text(as_csv([NAMES, *ROWS]))
    text = read_table(str(tmp_path / "staff.csv"))
    assert sheet.names == text.names
    assert [[str(value) for value in row] for row in frame_of_table(sheet)[["age", "city", "code"]].values] == [
        [str(value) for value in row] for row in frame_of_table(text)[["age", "city", "code"]].values
    ]
    assert [str(column.type) for column in sheet.columns] == [
        "int64", "double", "large_string", "large_string", "bool", "timestamp[us]",
    ]  # fmt: skip
    assert sheet.where(0) == "staff.xlsx:2"


def test_title_rows_are_proposed_to_be_skipped(tmp_path):
    path = str(write_workbook(tmp_path / "staff.xlsx", {"Staff": [["Staff of 2024"], [], NAMES, *ROWS]}))
    with pytest.raises(DataError, match="if the names are in line 3, add --skip-lines 2"):
        read_table(path)
    table = read_table(path, ReadingOptions(skip_lines=2))
    assert table.names == NAMES
    assert table.n_rows == 20


def test_several_sheets_need_a_name(tmp_path):
    path = str(write_workbook(tmp_path / "two.xlsx", {"Old": [NAMES, *ROWS], "New": [NAMES, *ROWS[:5]], "Empty": []}))
    with pytest.raises(DataError, match=r"has 2 sheets \(Old, New\); name one with --sheet"):
        read_table(path)
    assert read_table(path, ReadingOptions(sheet="New")).n_rows == 5
    with pytest.raises(DataError, match='no sheet "Nwe"; did you mean "New"'):
        read_table(path, ReadingOptions(sheet="Nwe"))


def test_a_cell_far_away_is_refused_before_it_is_read(tmp_path):
    row = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path = write_workbook(tmp_path / "far.xlsx", {"Far": [NAMES]}, sheet1=row)
    with pytest.raises(DataError, match="larger than 4,000 MB unpacked"):
        read_table(str(path))


def test_a_long_text_in_many_cells_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "5")
    path = write_workbook(tmp_path / "long.xlsx", {"Long": [["a", "b"], *[["z" * 30_000, "y"]] * 1_000]})
    assert path.stat().st_size < 50_000
    with pytest.raises(DataError, match="larger than 5 MB unpacked"):
        read_table(str(path))


def test_a_damaged_workbook_is_refused(tmp_path):
    path = write_workbook(tmp_path / "bad.xlsx", {"Bad": [NAMES]}, sheet1='<row r="1"><c r="A1"')
    with pytest.raises(DataError, match="cannot be read as a spreadsheet"):
        read_table(str(path))
    old = tmp_path / "old.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_000))
    with pytest.raises(DataError, match="cannot be read as a spreadsheet"):
        read_table(str(old))


def write_ods(path, rows: str) -> str:
    namespaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<office:document-content {namespaces} office:version="1.3"><office:body><office:spreadsheet>'
        f'<table:table table:name="Staff">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return str(path)


def ods_cell(value, more="") -> str:
    kind = (
        f'office:value-type="float" office:value="{value}"'
        if not isinstance(value, str)
        else 'office:value-type="string"'
    )
    return f"<table:table-cell {kind}{more}><text:p>{value}</text:p></table:table-cell>"


def test_a_sheet_of_opendocument_is_a_table(tmp_path):
    rows = [["age", "city"], *([30 + n, ["Rome", "Bonn"][n % 2]] for n in range(20))]
    text = "".join(f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows)
    # what an office program writes below and beside the cells
    empty = '<table:table-cell table:number-columns-repeated="16384"/>'
    text += f'<table:table-row table:number-rows-repeated="1048555">{empty}</table:table-row>'
    table = read_table(write_ods(tmp_path / "staff.ods", text))
    assert (table.names, table.n_rows, table.notes) == (["age", "city"], 20, ['sheet "Staff"'])
    assert [str(column.type) for column in table.columns] == ["int64", "large_string"]


@pytest.mark.parametrize(
    "cell",
    [
        ods_cell(1, ' table:number-columns-repeated="16384"'),
        ods_cell("x" * 10_000, ' table:number-columns-repeated="900"'),
    ],
)
def test_repeated_cells_of_opendocument_are_refused_before_they_are_read(cell, tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "100")
    rows = f'<table:table-row table:number-rows-repeated="900">{cell}</table:table-row>'
    with pytest.raises(DataError, match="is larger than 100 MB unpacked"):
        read_table(write_ods(tmp_path / "far.ods", rows))
