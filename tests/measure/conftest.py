"""Make the calibration curves of all tests of this folder coarse, because they take most of the time."""

import pytest

from probcal.metrics import metric


@pytest.fixture(autouse=True)
def coarse_loess(monkeypatch):
    """Compute a loess curve at 60 points instead of hundreds: rows and their summary have the same one."""
    monkeypatch.setattr(metric, "LOESS_POINTS", 60)
    monkeypatch.setattr(metric, "COARSE", 60)
