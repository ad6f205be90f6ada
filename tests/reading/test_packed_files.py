"""Packed tables are the table itself. Archives of several files, encrypted, damaged and huge ones are refused."""

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from probcal.errors import DataError
from probcal.reading.table import read_table
from tests.reading.frames import frame_of_table

TEXT = b"age,left\n" + b"".join(b"%d,%s\n" % (age, b"yes" if age % 3 else b"no") for age in range(20, 70))


def zstandard(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": zstandard}


def write_zip(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


def packed(folder: Path, ending: str) -> Path:
    path = folder / f"staff.csv{ending}"
    if ending == ".zip":
        return write_zip(path, data__staff=TEXT)
    path.write_bytes(PACKERS[ending](TEXT))
    return path


@pytest.mark.parametrize("ending", [*PACKERS, ".zip"])
def test_a_packed_table_is_the_table_itself(tmp_path, ending):
    plain = tmp_path / "plain.csv"
    plain.write_bytes(TEXT)
    table = read_table(str(packed(tmp_path, ending)))
    assert frame_of_table(table).equals(frame_of_table(read_table(str(plain))))
    assert table.name == "staff"


@pytest.mark.parametrize("ending", [*PACKERS, ".zip"])
def test_a_cut_packed_file_is_refused(tmp_path, ending):
    path = packed(tmp_path, ending)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"cannot be unpacked \(.+\); get the file again"):
        read_table(str(path))


@pytest.mark.parametrize("ending", [*PACKERS, ".zip"])
def test_few_packed_bytes_cannot_fill_the_memory(tmp_path, ending, monkeypatch):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "1")
    monkeypatch.setattr(f"{__name__}.TEXT", TEXT + b"0,no\n" * 1_000_000)
    path = packed(tmp_path, ending)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="larger than 1 MB unpacked"):
        read_table(str(path))


def test_a_zip_archive_of_several_files_names_them(tmp_path):
    path = write_zip(tmp_path / "both.zip", one=TEXT, two=TEXT)
    with pytest.raises(DataError, match=r"holds 2 files \(one, two\); unpack it, and give the path of one file"):
        read_table(str(path))


def test_what_macos_adds_to_an_archive_does_not_count(tmp_path):
    path = write_zip(tmp_path / "mac.zip", staff=TEXT)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/._staff", b"x")
        archive.writestr(".DS_Store", b"x")
    assert read_table(str(path)).n_rows == 50


def test_an_encrypted_zip_archive_is_refused(tmp_path):
    path = write_zip(tmp_path / "secret.zip", staff=TEXT)
    content = bytearray(path.read_bytes())
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of the member, twice
        content[content.index(header) + place] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="is encrypted; unpack it with its password"):
        read_table(str(path))


def test_a_changed_byte_in_a_zip_archive_is_noticed(tmp_path):
    path = write_zip(tmp_path / "bad.zip", staff=TEXT)
    content = bytearray(path.read_bytes())
    content[60] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_table(str(path))
