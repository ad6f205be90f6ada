"""Test one table in every format that can be read, and how formats are detected."""

import gzip
import lzma

import pandas as pd
import pytest

from tests.commands import refused
from tests.try_table.own_tables import customers, line_of, shown, written


def text_of(sep=",", end="\n"):
    """Return the customers as delimited text, with a name that is written in more than ASCII."""
    return customers().rename(columns={"age": "âge"}).to_csv(index=False, sep=sep, lineterminator=end)


def assert_customers(text, age="âge"):
    assert line_of("id", text) == "id left out a different value in every row, like an id or free text"
    assert line_of(age, text) == f"{age} number 18 to 79"
    assert line_of("country", text) == "country left out constant: NL"
    assert line_of("plan", text).startswith("plan category 3 values:")
    assert "<- positive, the rarer" in text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("c.csv", text_of(sep).encode()) for sep in (",", ";", "\t", "|", "^", " ")),
        *(("c.csv", text_of().encode(encoding)) for encoding in ("utf-8-sig", "utf-16", "cp1252")),
        *(("c.csv", text_of(end=end).encode()) for end in ("\r\n", "\r")),
        ("c.csv", f"sep=;\n{text_of(';')}".encode()),
        ("c.csv.gz", gzip.compress(text_of().encode())),
        ("c.tsv.xz", lzma.compress(text_of().encode())),
    ],
)
def test_text_of_every_program_is_read(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert_customers(shown(tmp_path / name))


def test_parquet_is_detected_without_its_extension(tmp_path):
    customers().to_parquet(tmp_path / "customers.data")
    text = shown(tmp_path / "customers.data")
    assert_customers(text, "age")
    assert "a Parquet file" in text


def test_types_of_parquet_columns_are_used(tmp_path):
    frame = customers()
    frame.assign(
        since=pd.to_datetime(frame["since"]),
        paid=frame["spend"] > 50,
        plan=frame["plan"].astype("category"),
        small=frame["age"].astype("Int8").where(frame["age"] > 30),
        tags=[["a", "b"]] * len(frame),
    ).to_parquet(tmp_path / "c.parquet")
    text = shown(tmp_path / "c.parquet")
    assert line_of("since", text) == "since date 2020-01-01 to 2020-04-29, as days since 1970"
    assert line_of("paid", text).startswith("paid category 2 values: ")
    assert "missing)" in line_of("small", text)
    assert line_of("tags", text) == "tags left out values of a type that is not read, such as lists"


def test_arff_declares_its_categories(tmp_path):
    rows = "".join(f"{i % 7}.5, {i % 3}, '{'yes' if i % 4 == 0 else 'no'}'\n" for i in range(60))
    head = "% a comment\n@relation t\n@attribute a real\n@attribute grade {0,1,2}\n@attribute left {yes,no}\n@data\n"
    (tmp_path / "t.arff").write_text(head + rows)
    text = shown(tmp_path / "t.arff")
    assert line_of("grade", text) == "grade category 3 values: 0, 1, 2"
    assert line_of("a", text) == "a number 0.5 to 6.5"


def test_quotes_delimiters_and_line_breaks_may_be_in_fields(tmp_path):
    lines = [f'{i},"a ""b"", c\nd{i % 3}",{"yes" if i % 4 == 0 else "no"}' for i in range(50)]
    (tmp_path / "q.csv").write_text("n, text,left\n" + "\n".join(lines) + "\n\n")
    assert line_of("text", shown(tmp_path / "q.csv")).startswith('text category 3 values: a "b", c d0, a "b", c d1')


def test_notation_of_missing_values_is_reported(tmp_path):
    frame = customers()
    frame["plan"] = frame["plan"].where(frame["age"] > 40, "?")
    text = shown(written(frame, tmp_path / "c.csv"))
    assert "missing values written as '?'" in text
    assert "missing)" in line_of("plan", text)


def test_ambiguous_column_names_are_replaced(tmp_path):
    body = "".join(f"{i % 5},{i % 7},{i % 3},{i % 4},{i % 2}\n" for i in range(40))
    (tmp_path / "n.csv").write_text("a,a,,x1..x3,left\n" + body)
    text = shown(tmp_path / "n.csv")
    for name in ("a", "a (2)", "column 3", "x1.x3"):
        assert line_of(name, text).startswith(f"{name} number 0 to ")
    assert "note: 3 columns have another name here than in the table, so that each" in text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,left\n", "has 0 rows: only a line of names (a, left)"),
        (b"a,left\n1,2\n1,2,3\n", "t.csv:3: 3 fields where the first line has 2; give every line as many"),
        (b'a,left\n1,"2\n', "unexpected end of data; is a quotation mark not closed?"),
        (b"PK\x03\x04\0\0", "is not a table of text (an Excel file or another archive; save the table as CSV)"),
        (b"PAR1 and no more", "is not a sound Parquet file"),
        (b"\x7fELF\0\0", "is not a table of text; CSV, TSV, ARFF and Parquet files are read"),
        (b"Dear reader,\nthis is a letter.\n", "fields where the first line has"),
        (b"one\ntwo\nthree\n", 'there is no column "left" (it has: one)'),
        (b"@relation r\n@attribute a nonsense\n@data\n1\n", "is not sound ARFF"),
    ],
)
def test_file_that_is_no_table_is_rejected_in_one_line(tmp_path, content, reason):
    (tmp_path / "t.csv").write_bytes(content)
    said = refused("try", tmp_path / "t.csv", "--target", "left")
    assert reason in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("openml:adult", "an OpenML id is a number, such as openml:31"),
        ("none.csv", "there is no such file"),
        (".", "is a folder; give one file of it"),
        ("https://example.org/a.csv", "is an address; download the file first"),
        ("a.csv.gz", "cannot be unpacked"),
    ],
)
def test_sources_without_a_file_are_rejected(tmp_path, monkeypatch, source, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv.gz").write_bytes(b"no gzip")
    assert reason in refused("try", source, "-t", "a")


def test_file_beyond_the_size_limit_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "1")
    (tmp_path / "a.csv").write_bytes(b"a,left\n" + b"1,2\n" * 300_000)
    assert "is larger than 1 MB unpacked" in refused("try", tmp_path / "a.csv", "-t", "left")
