"""Test the limits on the size and on the name of a data file, packed or not."""

import gzip
import lzma

import pytest

from probcal.data.sources.files import read_original_files
from probcal.data.sources.formats import join_pieces, largest_data
from probcal.errors import DataError
from tests.data.small_cards import make_card, put

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
