"""Test each known difficulty of original data files on a small file that has only this one, and the limits of size."""

from __future__ import annotations

import gzip
import hashlib
import lzma

import numpy as np
import pytest

from probcal.data.sources.files import missing_files, read_original_files
from probcal.data.sources.formats import join_pieces, largest_data
from probcal.errors import DataError
from tests.data.small_cards import make_card, put

XY = {"x": "numeric", "colour": "nominal", "y": "target"}


def values(rows):
    """Return the rows as lists, with None for missing values."""
    return [[None if v is np.nan or v != v else v for v in row] for row in rows.astype(object).to_numpy().tolist()]


def read(folder, text, columns=XY, **more):
    return read_original_files(make_card(columns, "f.data", **more), put(folder, "f.data", text))


TEXTS = {
    "fields are read as they are spelled": (
        "1.50,007,yes\n-0,1e3,no\n", {}, [["1.50", "007", "yes"], ["-0", "1e3", "no"]],
    ),
    "a question mark and an empty field are missing": (
        "?,,yes\n1, ? ,no\n", {}, [[None, None, "yes"], ["1", None, "no"]],
    ),
    "words that pandas takes for missing are values": (
        "1,NA,yes\n2,None,no\n", {}, [["1", "NA", "yes"], ["2", "None", "no"]],
    ),
    "only the marks of the card are missing": ("-,?,yes\n", {"missing": ["-"]}, [[None, "?", "yes"]]),
    "blanks around a field are ignored": ("1, red , yes\n2,red, yes\n", {}, [["1", "red", "yes"], ["2", "red", "yes"]]),
    "only the label ends at a dot": (
        "1.5,a.b,yes.|2059\n2.5,a.c,no.\n", {"label_until": "."}, [["1.5", "a.b", "yes"], ["2.5", "a.c", "no"]],
    ),
    "a run of blanks or tabs separates": (
        "  1   red\tyes  \n2 red no\n", {"separator": "whitespace"}, [["1", "red", "yes"], ["2", "red", "no"]],
    ),
    "tabs separate and carriage returns are removed": (
        "1\t\tyes\r\n2\tred\tno\r\n", {"separator": "\t"}, [["1", None, "yes"], ["2", "red", "no"]],
    ),
    "quotation marks are removed and protect the separator": (
        '"x";"colour";"y"\n1;"light; red";"yes"\n', {"separator": ";", "header": True}, [["1", "light; red", "yes"]],
    ),
    "values are renamed in their column only": (
        "1,1,no\n2,2,yes\n", {"rename": {"colour": {1: "red", 2: "blue"}}}, [["1", "red", "no"], ["2", "blue", "yes"]],
    ),
}  # fmt: skip


class TestText:
    @pytest.mark.parametrize(("text", "more", "rows"), TEXTS.values(), ids=TEXTS)
    def test_the_rules_of_a_card_give_these_values(self, tmp_path, text, more, rows):
        assert values(read(tmp_path, text, **more)) == rows

    def test_comments_and_blank_lines_are_not_rows(self, tmp_path):
        text = "|1x3 Cross validator\n1,red,yes\n\n2,red,no\n\n\n"
        assert len(read(tmp_path, text, comment="|")) == 2

    def test_the_target_may_be_the_first_column(self, tmp_path):
        rows = read(tmp_path, "yes,1\n", {"y": "target", "x": "numeric"})
        assert rows["y"].tolist() == ["yes"]

    def test_columns_of_a_header_are_found_by_name(self, tmp_path):
        rows = read(tmp_path, "y,shade,x\nyes,red,1\n", header=True, column_names={"shade": "colour"})
        assert rows.loc[0, ["x", "colour", "y"]].tolist() == ["1", "red", "yes"]

    def test_a_star_selects_all_other_columns_of_the_header(self, tmp_path):
        rows = read(tmp_path, "p,y,q\n1,yes,2\n", {"y": "target", "*": "infer"}, header=True)
        assert list(rows) == ["p", "y", "q"]

    def test_a_byte_order_mark_is_removed(self, tmp_path):
        assert list(read(tmp_path, "\ufeffx,colour,y\n1,red,yes\n", header=True)) == ["x", "colour", "y"]

    def test_a_latin_1_letter_does_not_stop_the_reading(self, tmp_path):
        assert read(tmp_path, b"1,caf\xe9,yes\n")["colour"].tolist() == [r"caf\xe9"]

    def test_only_the_first_rows_are_taken(self, tmp_path):
        assert len(read(tmp_path, "1,a,yes\n2,a,no\n3,a,no\n", first_rows=2)) == 2

    def test_files_follow_each_other_in_the_order_of_the_card(self, tmp_path):
        put(tmp_path, "b", "3,red,yes\n")
        put(tmp_path, "a", "1,blue,no\n2,red,no\n")
        rows = read_original_files(make_card(XY, "b", "a"), tmp_path)
        assert values(rows) == [["3", "red", "yes"], ["1", "blue", "no"], ["2", "red", "no"]]

    def test_rows_of_several_chunks_stay_in_order(self, tmp_path):
        rows = read(tmp_path, "".join(f"{i},c{i % 7},yes\n" for i in range(50_000)))
        assert rows["x"].tolist() == [str(i) for i in range(50_000)]
        assert rows["colour"].tolist() == [f"c{i % 7}" for i in range(50_000)]


MALFORMED = {
    "a short line": ("|head\n1,red,yes\n\n2,red\n", {"comment": "|"}, "small/f.data:4: 2 fields where 3 are expected"),
    "a way to skip it": ("1,red,yes\n2,red\n", {}, "skip_lines"),
    "a long line": ("1,red,yes\n2,red,no,\n", {}, "f.data:2: 4 fields where 3"),
    "a short line of blanks": ("1 red yes\n2\n", {"separator": "whitespace"}, "f.data:2: 1 field where"),
    "an open quotation mark": ('1,red,yes\n2,"red,no\n3,red",no\n', {}, "f.data:2: a quotation mark"),
    "an empty file": ("", {}, "f.data: holds no data"),
    "blank lines only": ("\n\n", {}, "f.data: holds no data"),
    "a comment only": ("|only a comment\n", {"comment": "|"}, "f.data: holds no data"),
    "a header only": ("x,colour,y\n", {"header": True}, "f.data: holds no data"),
    "the nearest column": (
        "x,color,y\n1,red,yes\n", {"header": True}, "has no column 'colour'; did you mean \"color\"?",
    ),
    "a column unknown to the card": (
        "x,colour,y,z\n1,red,yes,2\n", {"header": True}, "has a column 'z' unknown to the card",
    ),
    "two columns of one name": ("x,x,y\n1,2,yes\n", {"header": True}, "f.data:1: two columns are called 'x'"),
}  # fmt: skip


class TestMalformedText:
    @pytest.mark.parametrize(("text", "more", "message"), MALFORMED.values(), ids=MALFORMED)
    def test_message_names_the_fault_and_its_line(self, tmp_path, text, more, message):
        with pytest.raises(DataError) as caught:
            read(tmp_path, text, **more)
        assert message in str(caught.value)

    def test_skip_lines_removes_a_malformed_line(self, tmp_path):
        card = make_card(XY, {"name": "f.data", "skip_lines": [2]})
        rows = read_original_files(card, put(tmp_path, "f.data", "1,red,yes\n,?,2,?\n3,red,no\n"))
        assert rows["x"].tolist() == ["1", "3"]


class TestPackingAndChecksums:
    TEXT = b"1,red,yes\n"

    @pytest.mark.parametrize(("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])
    def test_the_checksum_is_of_the_unpacked_content(self, tmp_path, ending, pack):
        put(tmp_path, f"f.data{ending}", pack(self.TEXT))
        card = make_card(XY, {"name": "f.data", "sha256": hashlib.sha256(self.TEXT).hexdigest()})
        assert values(read_original_files(card, tmp_path)) == [["1", "red", "yes"]]

    def test_a_file_called_gz_on_its_card_is_not_unpacked(self, tmp_path):
        card = make_card(XY, "f.gz")
        assert len(read_original_files(card, put(tmp_path, "f.gz", self.TEXT))) == 1

    def test_message_for_a_wrong_checksum_names_both_hashes(self, tmp_path):
        card = make_card(XY, {"name": "f.data", "sha256": "0" * 64})
        with pytest.raises(DataError) as caught:
            read_original_files(card, put(tmp_path, "f.data", self.TEXT))
        for part in ("small/f.data", "0" * 64, hashlib.sha256(self.TEXT).hexdigest()):
            assert part in str(caught.value)

    @pytest.mark.parametrize(
        ("ending", "content"),
        [
            (".gz", b"not gzip at all"),
            (".gz", gzip.compress(b"1,red,yes\n", mtime=0)[:-6]),
            (".gz", gzip.compress(b"1,red,yes\n" * 9, mtime=0)[:14] + b"\xff" * 20),
            (".xz", b"not xz at all"),
            (".xz", lzma.compress(b"1,red,yes\n")[:-9]),
        ],
    )
    def test_message_names_a_damaged_archive(self, tmp_path, ending, content):
        with pytest.raises(DataError, match=rf"f\.data\{ending}: cannot be unpacked"):
            read_original_files(make_card(XY, "f.data"), put(tmp_path, f"f.data{ending}", content))

    def test_the_checksum_of_a_label_file_is_checked(self, tmp_path):
        put(tmp_path, "x", "1,red\n")
        put(tmp_path, "t", "yes\n")
        card = make_card(XY, {"name": "x", "labels": {"name": "t", "sha256": "0" * 64}})
        with pytest.raises(DataError, match="small/t: is not the file"):
            read_original_files(card, tmp_path)


class TestMissingFiles:
    def test_message_names_the_path_of_each_missing_file(self, tmp_path):
        card = make_card(XY, "a", {"name": "b", "labels": {"name": "c"}}, folder="elsewhere")
        wanted = [str(tmp_path / "elsewhere" / name) for name in "abc"]
        assert missing_files(card, tmp_path) == wanted
        with pytest.raises(DataError, match="put these files in place.*" + ", ".join(wanted)):
            read_original_files(card, tmp_path)

    def test_one_complete_source_is_enough(self, tmp_path):
        card = make_card(XY, "a")
        sources = [*card.model_dump()["files"], {"format": "delimited", "files": [{"name": "b"}]}]
        card = make_card(XY, files=sources)
        put(tmp_path, "b", "1,red,yes\n")
        assert missing_files(card, tmp_path) == []
        assert values(read_original_files(card, tmp_path)) == [["1", "red", "yes"]]

    def test_the_source_with_the_fewest_missing_files_is_named(self, tmp_path):
        sources = [{"format": "delimited", "files": [{"name": n} for n in names]} for names in ("ab", "cd")]
        card = make_card(XY, files=sources)
        assert missing_files(card, put(tmp_path, "d", "")) == [str(tmp_path / "small" / "c")]

    def test_a_packed_file_counts_as_present(self, tmp_path):
        assert missing_files(make_card(XY, "a"), put(tmp_path, "a.xz", b"")) == []


COLUMNS = {"y": "target", "a": "numeric"}


@pytest.mark.parametrize(("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])
def test_message_for_a_large_file_names_the_setting(tmp_path, monkeypatch, ending, pack):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "2")
    put(tmp_path, f"f.data{ending}", pack(b"0,1\n" * 600_000))
    with pytest.raises(DataError, match=rf"f\.data{ending}: is larger than 2 MB unpacked; .* set PROBCAL_LARGEST_MB"):
        read_original_files(make_card(COLUMNS, "f.data", expect={"rows": 4, "columns": 1}), tmp_path)


def test_unpacking_stops_at_the_size_limit(monkeypatch):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "1")
    taken = []
    pieces = (taken.append(1) or bytes(600_000) for _ in range(1000))
    with pytest.raises(DataError, match="x: is larger"):
        join_pieces(pieces, "x")
    assert len(taken) == 2


def test_the_default_limit_is_4_gb(monkeypatch):
    monkeypatch.delenv("PROBCAL_LARGEST_MB", raising=False)
    assert largest_data() == 4_000_000_000
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "9000")
    assert largest_data() == 9_000_000_000


@pytest.mark.parametrize("said", ["0", "-1", "1.5", "x", "1e3", "9" * 10, "٣"])
def test_a_limit_that_is_not_a_number_is_rejected(monkeypatch, said):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", said)
    with pytest.raises(DataError, match="must be a whole number of megabytes"):
        largest_data()


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "C:\\x", "..\\x", "\\\\host\\x", "a\0b", ""])
def test_a_file_outside_the_data_folder_is_rejected(name):
    with pytest.raises(ValueError, match=r"must lie below the folder|at least 1 character"):
        make_card(COLUMNS, name, expect={"rows": 4, "columns": 1})


def test_a_file_name_that_is_too_long_is_rejected():
    with pytest.raises(ValueError, match="is too long for the name of a file"):
        make_card(COLUMNS, "x" * 300, expect={"rows": 4, "columns": 1})


@pytest.mark.parametrize("name", ["x.data", "sub/x.data", "a..b", "...", "x y"])
def test_a_name_below_the_data_folder_is_accepted(name):
    assert make_card(COLUMNS, name, expect={"rows": 4, "columns": 1}).files[0].files[0].name == name
