"""Fixtures of the tests of results folders."""

import pytest

from probcal.store.folder import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")
