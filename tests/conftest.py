"""What tests in more than one folder share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def original_files() -> Path:
    """The folder of original data files: PROBCAL_DATA_DIR, or ``shared/data`` beside the repository."""
    named = os.environ.get("PROBCAL_DATA_DIR")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the original data files are not at hand: {folder} is not a folder")
    return folder
