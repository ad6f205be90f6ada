"""Test that the folder of a paper holds all that is the paper's own, and that its README says what each file is."""

import re

import pytest

from probcal.papers.published import PAPERS, folder_of, paper_names

FOLDERS = sorted(path.parent for path in PAPERS.glob("*/README.md"))


def test_each_paper_lies_in_a_folder_of_its_name():
    folders = {name: folder_of(name).name for name in paper_names()}
    assert {name for name, folder in folders.items() if not name.replace("-", "_").startswith(folder)} == set()
    assert {*folders.values()} <= {folder.name for folder in FOLDERS}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_readme_has_a_line_for_each_file(folder):
    lines = re.findall(r"^\| `([\w.-]+)` \|", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    files = {path.name for path in folder.iterdir() if path.is_file()} - {"README.md", "__init__.py"}
    assert len(lines) == len(set(lines)) and set(lines) == files
