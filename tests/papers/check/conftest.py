"""Provide small results folders, as in the tests of reporting."""

import math

import pytest

from tests.commands import probcal
from tests.reporting.conftest import cxe, small, ten_columns  # noqa: F401


@pytest.fixture
def accepted(small):  # noqa: F811
    """Return results of five splits without a paper, with accepted numbers."""
    store = small(datasets={"breast": 5}, columns=("j48.direct", "j48.probing"), metrics=("cxe", "rms")).write({
        ("breast", "j48.direct"): [{"cxe": math.inf if s == 2 else 0.5 + s / 7, "rms": 0.3} for s in range(5)],
        ("breast", "j48.probing"): [{"cxe": 0.4 + s / 7, "rms": 0.3} for s in range(5)],
    })  # fmt: skip
    result = probcal("check", store.folder, "--accept")
    assert result.exit_code == 0
    assert "accepted 4 numbers" in result.stderr
    return store
