"""``--missing`` compares typed values, and ``--skip-lines`` is proposed where a title stands above the names."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probcal.errors import DataError
from probcal.reading.reading_options import ReadingOptions, without_codes
from probcal.reading.table import read_table, table_of_frame
from tests.reading.frames import frame_of_table

ROWS = "age;income;city\n30;-99;Rome\n-99;1000;-99\n41;2000;Bonn\n"


def read(tmp_path, text: str, **options):
    path = tmp_path / "table.csv"
    path.write_text(text)
    return read_table(str(path), ReadingOptions(**options))


def missing_places(table) -> list[list[int]]:
    return [[row for row, value in enumerate(column.to_pylist()) if value is None] for column in table.columns]


def test_a_code_is_missing_in_every_column(tmp_path):
    table = read(tmp_path, ROWS, missing=("-99",))
    assert missing_places(table) == [[1], [0], [1]]
    assert "'-99' is a missing value in 3 fields" in table.notes
    assert missing_places(table.as_written) == [[], [], []]


@pytest.mark.parametrize("written", ["-99", "-99.0", "-99,0", " -99 ", "\N{MINUS SIGN}99"])
def test_a_number_is_the_same_code_in_every_spelling(written):
    [column], _ = without_codes([pa.chunked_array([["1", written, "3"]])], ["-99"])
    assert column.to_pylist() == ["1", None, "3"]


@pytest.mark.parametrize("other", ["-990", "-99 kg", "1-99", "x-99", "99"])
def test_other_texts_are_not_the_code(other):
    [column], notes = without_codes([pa.chunked_array([["1", other]])], ["-99"])
    assert column.null_count == 0
    assert notes == ["'-99' of --missing is in no field"]


def test_a_number_that_reads_in_two_ways_is_no_code():
    texts = ["1,250", "1.250", "1250", "007"]
    [column], _ = without_codes([pa.chunked_array([texts])], ["1250", "7"])
    assert column.to_pylist() == ["1,250", "1.250", None, "007"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, -99, 3], pa.int8()),
        pa.array([1, -99, 3], pa.float32()),
        pa.array([1, -99, 3], pa.decimal128(5, 1)),
        pa.array(["1", "-99", "3"]).dictionary_encode(),
    ],
    ids=str,
)
def test_a_code_is_found_in_every_type(array):
    [column], _ = without_codes([pa.chunked_array([array])], ["-99"])
    assert [value is None for value in column.to_pylist()] == [False, True, False]


def test_words_are_codes_too(tmp_path):
    table = read(tmp_path, ROWS.replace("Rome", "not asked"), missing=("not asked", "2000"))
    assert missing_places(table) == [[], [2], [0]]


def test_a_parquet_file_gives_the_same_missing_values_as_csv(tmp_path):
    numbers = {"a": [1.0, -99.0, 5.0], "b": ["x", "-99", "z"]}
    pq.write_table(pa.table(numbers), tmp_path / "table.parquet")
    table = read_table(str(tmp_path / "table.parquet"), ReadingOptions(missing=("-99",)))
    assert missing_places(table) == missing_places(read(tmp_path, "a,b\n1,x\n-99,-99\n5,z\n", missing=("-99",)))
    frame = frame_of_table(table.as_written)
    assert missing_places(table_of_frame(frame, ReadingOptions(missing=("-99",)))) == [[1], [1]]


TABLE = "a,b,c\n" + "1,2,3\n" * 9


@pytest.mark.parametrize(
    "title", ["Report\n", "Report 2024, all\n\n", "# one\n# two\n", "Report,,\n", ",,\nReport,,\n"]
)
def test_the_message_about_a_title_proposes_the_lines_to_skip(tmp_path, title):
    lines = title.count("\n")
    with pytest.raises(DataError, match=f"if the names are in line {lines + 1}, add --skip-lines {lines}"):
        read(tmp_path, title + TABLE)
    table = read(tmp_path, title + TABLE, skip_lines=lines)
    assert table.names == ["a", "b", "c"]
    assert table.lines[0] == lines + 2


def test_a_row_that_is_too_long_is_not_taken_for_names(tmp_path):
    with pytest.raises(DataError, match=r"table.csv:3: 4 fields .* give every line as many fields"):
        read(tmp_path, "a,b,c\n1,2,3\n1,2,3,4\n1,2,3\n")


def test_a_title_as_wide_as_the_table_is_found_by_the_name_of_the_target(tmp_path):
    table = read(tmp_path, "Report,of,2024\n" + TABLE)
    assert table.header_hint("b") == "; if the names are in line 2, add --skip-lines 1"
    assert "--skip-lines" not in table.header_hint("other")


@pytest.mark.parametrize("options", [{"sheet": "x"}, {"skip_lines": 1}])
def test_an_option_that_a_format_does_not_have_is_refused(tmp_path, options):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "table.parquet")
    with pytest.raises(DataError, match="leave the option out"):
        read_table(str(tmp_path / "table.parquet"), ReadingOptions(**options))
    of_training_rows = ReadingOptions(**options, is_of_another_file=True)
    assert read_table(str(tmp_path / "table.parquet"), of_training_rows).n_rows == 2


def test_the_unnamed_index_of_pandas_is_no_title(tmp_path):
    assert read(tmp_path, ",a\n0,5\n1,6\n").names == ["", "a"]
