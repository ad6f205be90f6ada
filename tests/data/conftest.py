"""What the tests of fetching from OpenML share."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from probcal.data.sources.openml import fetch_openml_rows
from tests.data.weather import ARFF, CARD, as_parquet
from tests.openml_server import OpenMLServer, Served


@pytest.fixture
def openml_server(monkeypatch):
    """A server of our own that fetch_openml_rows takes for OpenML's."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with OpenMLServer() as server:
        monkeypatch.setenv("PROBCAL_OPENML_SERVER", server.url)
        yield server


@pytest.fixture
def fetch(openml_server) -> Callable[..., pd.DataFrame]:
    """``fetch(served, card, **limits)`` registers a data set with the server and fetches it.

    Where the server is to fall silent, the client waits for two seconds; elsewhere a busy machine may take its time.
    """

    def fetch(served: Served, card: object = CARD, **limits: float) -> pd.DataFrame:
        openml_server.add(served)
        silent = served.fault is not None and served.fault.kind in ("hang", "stall")
        usual = {"timeout": 600, "stall": 2 if silent else 60, "attempts": 2}
        return fetch_openml_rows(card, **usual | limits)

    return fetch


@pytest.fixture
def parquet() -> bytes:
    return as_parquet(ARFF)
