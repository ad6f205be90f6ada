"""Provide the fixtures for the tests that fetch data from OpenML."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from probcal.data.sources import openml_download
from probcal.data.sources.openml import fetch_openml_rows
from tests.data.weather import ARFF, CARD, as_parquet
from tests.openml_server import OpenMLServer, Served


@pytest.fixture
def openml_server(monkeypatch):
    """Start a local server and let fetch_openml_rows use it in place of OpenML."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "OPENML_SKIP_PARQUET"):
        monkeypatch.delenv(name, raising=False)
    with OpenMLServer() as server:
        monkeypatch.setenv("PROBCAL_OPENML_SERVER", server.url)
        yield server


@pytest.fixture
def fetch(openml_server) -> Callable[..., pd.DataFrame]:
    """Return ``fetch(served, card, **limits)``, which registers a data set with the server and fetches it.

    The client waits for two seconds where the fault is a silent server. In all other tests it waits much longer,
    because the machine may be busy.
    """

    def fetch(served: Served, card: object = CARD, **limits: float) -> pd.DataFrame:
        openml_server.add(served)
        silent = served.fault is not None and served.fault.kind in ("hang", "stall")
        usual = {"timeout": 600, "stall": 2 if silent else 60, "attempts": 2}
        return fetch_openml_rows(card, **usual | limits)

    return fetch


@pytest.fixture
def in_process(monkeypatch, tmp_path):
    """Run the download in this process. The import of openml takes 3 seconds, which is too long for each fault."""
    for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "OPENML_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("OPENML_SKIP_PARQUET", "false")
    import minio
    import openml
    import requests

    for module, name in (
        (requests, "Session"), (minio, "Minio"), (pd, "read_parquet"), (openml.config, "server")
    ):  # fmt: skip
        monkeypatch.setattr(module, name, getattr(module, name))  # monkeypatch restores it
    monkeypatch.setattr(openml.config, "_root_cache_directory", tmp_path)

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess:
        folder, order = command[-2:]
        openml.config.set_root_cache_directory(Path(folder) / "cache")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = openml_download.main(Path(folder), json.loads(order))
        return subprocess.CompletedProcess(command, code, said.getvalue().encode(), b"")

    monkeypatch.setattr("probcal.data.sources.openml.subprocess.run", run)


@pytest.fixture
def parquet(in_process, tmp_path) -> bytes:
    return as_parquet(ARFF, tmp_path)
