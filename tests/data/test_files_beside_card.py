"""Test that data files beside a user's card are found without a data directory."""

import gzip
import pickle
import shutil
import tarfile
import zipfile

import pytest

from probcal.data.card import read_card
from probcal.data.load import _load, find, load, obtain
from probcal.errors import DataError, MissingDataError

CARD = """\
name: mine
title: Mine
columns: {a: numeric, left: target}
positive: "yes"
split: {kind: holdout, train_fraction: 0.5}
expect: {rows: 4, columns: 1}
files:
  - {format: delimited, header: true, files: [{name: rows.csv}]}
"""
ROWS = "a,left\n1,yes\n2,no\n3,yes\n4,no\n"


@pytest.fixture
def card_file(tmp_path):
    (tmp_path / "cards" / "mine").mkdir(parents=True)
    (tmp_path / "cards" / "mine.yaml").write_text(CARD)
    (tmp_path / "cards" / "mine" / "rows.csv").write_text(ROWS)
    return tmp_path / "cards" / "mine.yaml"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))


def test_files_beside_a_card_need_no_data_directory(card_file):
    card = read_card(card_file)
    assert obtain(card) == "original files"
    assert load(card).X["a"].tolist() == [1, 2, 3, 4]


def test_files_beside_a_card_precede_the_data_directory(card_file, tmp_path):
    (tmp_path / "data" / "mine").mkdir(parents=True)
    (tmp_path / "data" / "mine" / "rows.csv").write_text(ROWS.replace("1,yes", "7,yes"))
    card = read_card(card_file)
    obtain(card, tmp_path / "data")
    assert load(card).X["a"].tolist() == [1, 2, 3, 4]


def test_the_data_directory_is_read_without_files_beside_the_card(card_file, tmp_path):
    shutil.move(tmp_path / "cards" / "mine", tmp_path / "data" / "mine")
    card = read_card(card_file)
    assert obtain(card, tmp_path / "data") == "original files"
    with pytest.raises(MissingDataError, match=r"Put these files in place: .*cards.mine.rows\.csv"):
        find(read_card(card_file).model_copy(update={"title": "another", "missing_codes": {"a": ["9"]}}))


def test_the_folder_of_the_data_set_is_not_the_data_directory(card_file, tmp_path):
    shutil.move(tmp_path / "cards" / "mine", tmp_path / "data" / "mine")
    with pytest.raises(MissingDataError, match=r"mine: its files lie in .*mine itself, .* name .*data$"):
        find(read_card(card_file), tmp_path / "data" / "mine")


def test_a_dot_means_the_folder_of_the_card(card_file, tmp_path):
    shutil.move(tmp_path / "cards" / "mine" / "rows.csv", tmp_path / "cards" / "rows.csv")
    card_file.write_text(CARD + 'folder: "."\n')
    assert obtain(read_card(card_file)) == "original files"


def test_a_pickled_card_loses_its_folder(card_file):
    card = read_card(card_file)
    assert card.own_folder == card_file.parent
    assert pickle.loads(pickle.dumps(card)).own_folder is None


def test_the_digest_ignores_the_path_of_a_card(card_file, tmp_path):
    shutil.copytree(tmp_path / "cards", tmp_path / "elsewhere")
    assert read_card(tmp_path / "elsewhere" / "mine.yaml").digest == read_card(card_file).digest


def test_a_bad_size_limit_is_rejected_despite_the_cache(card_file, monkeypatch):
    obtain(read_card(card_file))
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "much")
    with pytest.raises(DataError, match="must be a whole number of megabytes"):
        obtain(read_card(card_file))


@pytest.mark.parametrize("linked", ["mine", "mine/rows.csv"])
def test_link_out_of_the_data_directory_is_refused(card_file, tmp_path, linked):
    shutil.move(card_file.parent / "mine", tmp_path / "mine")
    (tmp_path / "data" / "mine").parent.mkdir()
    if linked != "mine":
        (tmp_path / "data" / "mine").mkdir()
    (tmp_path / "data" / linked).symlink_to(tmp_path / linked)
    card = read_card(card_file)
    for action in (find, obtain):
        with pytest.raises(DataError, match=r"rows\.csv leads by a link to .*, which is not below .*data"):
            action(card, tmp_path / "data")


def test_link_beside_the_card_is_refused(card_file, tmp_path):
    rows = card_file.parent / "mine" / "rows.csv"
    rows.rename(tmp_path / "elsewhere.csv")
    rows.symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(DataError, match="leads by a link to"):
        obtain(read_card(card_file))


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_link_to_a_label_file_elsewhere_is_refused(card_file, tmp_path, ending):
    card_file.write_text(CARD.replace("{name: rows.csv}", "{name: rows.csv, labels: {name: labels.csv}}"))
    secret = tmp_path / f"secret.csv{ending}"
    text = b"left\nyes\nno\nyes\nno\n"
    secret.write_bytes(gzip.compress(text) if ending else text)
    (card_file.parent / "mine" / "rows.csv").write_text("a\n1\n2\n3\n4\n")
    (card_file.parent / "mine" / f"labels.csv{ending}").symlink_to(secret)
    with pytest.raises(DataError, match=r"labels\.csv.* leads by a link to .*secret"):
        obtain(read_card(card_file))


def test_links_inside_and_to_the_whole_data_directory_are_followed(card_file, tmp_path):
    (tmp_path / "real" / "mine").mkdir(parents=True)
    shutil.move(card_file.parent / "mine" / "rows.csv", tmp_path / "real" / "rows.csv")
    (tmp_path / "real" / "mine" / "rows.csv").symlink_to("../rows.csv")
    (tmp_path / "data").symlink_to(tmp_path / "real")
    assert obtain(read_card(card_file), tmp_path / "data") == "original files"


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_archive_is_read_as_bytes_and_never_unpacked(card_file, tmp_path, kind):
    rows = card_file.parent / "mine" / "rows.csv"
    (tmp_path / "secret.csv").write_text(ROWS)
    (tmp_path / "link.csv").symlink_to(tmp_path / "secret.csv")
    if kind == "zip":
        with zipfile.ZipFile(rows, "w") as archive:
            member = zipfile.ZipInfo("../rows.csv")
            member.external_attr = 0o120777 << 16  # a symbolic link
            archive.writestr(member, str(tmp_path / "secret.csv"))
    else:
        with tarfile.open(rows, "w:gz" if kind == "tar.gz" else "w") as archive:
            archive.add(tmp_path / "link.csv", "../rows.csv")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError):
        obtain(read_card(card_file))
    assert [path for path in sorted(tmp_path.rglob("*")) if "cache" not in path.parts] == before


def test_links_among_the_files_of_the_cache_give_the_same_values_or_none(card_file, tmp_path):
    card = read_card(card_file)
    obtain(card)
    [folder] = (tmp_path / "cache" / "data").iterdir()
    (folder / "y.npy").rename(tmp_path / "y.npy")
    (folder / "y.npy").symlink_to(tmp_path / "y.npy")
    assert load(card).y.tolist() == [1, 0, 1, 0], "the fingerprint covers the bytes, wherever they lie"
    (folder / "y.npy").unlink()
    (tmp_path / "other.npy").write_bytes((tmp_path / "y.npy").read_bytes()[:-1] + b"\x01")
    (folder / "y.npy").symlink_to(tmp_path / "other.npy")
    _load.cache_clear()
    with pytest.raises(DataError, match="no longer holds the values"):
        load(card)
    obtain(card)  # the damaged data set is replaced, and nothing is written through the link
    assert (tmp_path / "other.npy").read_bytes() != (folder / "y.npy").read_bytes()
    assert load(card).y.tolist() == [1, 0, 1, 0]
