"""Test that a file of ours that was cut off inside its last line is refused, since half a number looks like one."""

import shutil

import pytest

from probcal.errors import FileProblems
from probcal.papers import deviations, published
from probcal.papers.bands import read_distributions
from probcal.papers.published import PAPERS, PublishedPaper, folder_of
from probcal.yaml_file import YamlFile

LANGFORD, KULL = "langford-zadrozny-2005", "kull-silva-filho-flach-2017"


@pytest.fixture
def papers(tmp_path, monkeypatch):
    """Return a copy of the folder of published numbers, which is read instead of ours."""
    folder = tmp_path / "papers"
    shutil.copytree(PAPERS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.setattr(published, "PAPERS", folder)
    monkeypatch.setattr("probcal._io._PACKAGE", tmp_path)
    PublishedPaper.read.cache_clear()
    yield folder
    PublishedPaper.read.cache_clear()


def cut(path):
    """Remove the last line break and one character of a file."""
    path.write_bytes(path.read_bytes()[:-2])


@pytest.mark.parametrize(
    ("file", "paper"),
    [
        (f"{LANGFORD}.yaml", LANGFORD),
        (f"{LANGFORD}-drawn.csv", LANGFORD),
        (f"{KULL}.csv", KULL),
        (f"{KULL}-ejs.csv", f"{KULL}-ejs"),
    ],
)
def test_published_numbers_that_are_cut_off_are_refused(papers, file, paper):
    cut(folder_of(paper) / file)
    with pytest.raises(FileProblems, match=rf"{file}:\d+: is cut off"):
        PublishedPaper.read(paper)


def test_whole_published_numbers_are_read_from_the_copy(papers):
    assert PublishedPaper.read(LANGFORD).number("adult", "NB", "direct", "rms") == 0.335
    assert read_distributions(folder_of(LANGFORD) / f"{LANGFORD}-drawn.csv")


def test_known_deviations_that_are_cut_off_are_refused(papers):
    folder = folder_of(LANGFORD)
    cut(folder / f"{LANGFORD}-deviations.yaml")
    with pytest.raises(FileProblems, match="is cut off"):
        deviations.known_deviations(LANGFORD, folder)


@pytest.mark.parametrize("kind", ["datasets", "configs"])
def test_shipped_cards_and_experiments_that_are_cut_off_are_refused(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("probcal._io._PACKAGE", tmp_path)
    (tmp_path / kind).mkdir()
    file = tmp_path / kind / "x.yaml"
    file.write_text("name: x\nrows: 12\n")
    assert YamlFile.read(file).data["rows"] == 12
    cut(file)
    with pytest.raises(FileProblems, match=r"x\.yaml:2: is cut off"):
        YamlFile.read(file)


def test_a_users_file_may_end_without_a_line_break(tmp_path):
    (tmp_path / "mine.yaml").write_text("name: x")
    assert YamlFile.read(tmp_path / "mine.yaml").data == {"name": "x"}
