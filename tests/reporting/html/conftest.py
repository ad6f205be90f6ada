"""Provide results folders that fill every part of a report, and Chromium, which opens pages."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from probcal.reporting.html import write_report
from probcal.store.folder import CellResult, Store
from tests.reporting.conftest import Written

RUN = {"run": "run1", "started": "2026-01-02T03:04:05+00:00", "ended": "2026-01-02T03:05:05+00:00", "seed": 7,
       "command": ["probcal", "run", "small file.yaml"], "probcal": "0.1.0", "python": "3.11.7",
       "system": "Linux x86_64", "processors": 2,
       "git": {"commit": "4c5ea3194ae9bdf0d1c6427e1ccb60e644581007", "changed": True},
       "versions": {"scikit-learn": "1.9.1"}, "user_code": {"probcal.metrics": "a4026a720125"},
       "data": {"adult": {"source": "cache", "fingerprint": "1c831bff34c305ba"}}}  # fmt: skip
CONFIG = "name: small\nlearners: {tree: {}}  # <b>&amp;\n"
TRACEBACK = 'Traceback (most recent call last):\n  File "learner.py", line 3, in fit\nValueError: singular'
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 300_000
"""Milliseconds, for a machine that has much else to do. They only bound how long a failing test takes."""
DATASETS = {"adult": 2, "sick": 2, "liver": 2}
COLUMNS = ("j48.direct", "j48.bagging", "j48.probing", "svm.sigmoid", "nb.direct", "log.direct")
"""More than stand on one line with their spread."""


@pytest.fixture(scope="session")
def the_page(tmp_path_factory):
    """Return the page of a folder that fills every part."""
    folder = tmp_path_factory.mktemp("report")
    store = _everything(lambda **changes: Written(folder / "small", **changes))()
    return write_report([store], folder / "report.html")


@pytest.fixture
def everything(small):
    """Return a function that stores results of a paper, with predictions, stages, a failed cell and provenance."""
    return _everything(small)


def _everything(small):
    def write(config=CONFIG, message="singular", traceback=TRACEBACK, **changes):
        written = small(**{"datasets": DATASETS, "columns": COLUMNS, "paper": "langford-zadrozny-2005", **changes})
        store = written.write({})
        random = np.random.default_rng(0)
        with store.writing(written.name):
            store.write_experiment({**written.experiment(), "seed": 7, "config": config, "config_path": "small.yaml"})
            store.add_run(RUN)
            for place, (dataset, column) in enumerate((d, c) for d in written.datasets for c in written.columns):
                for repetition in range(2):
                    y = random.integers(0, 2, 60)
                    p = np.clip(0.6 * y + 0.4 * random.random(60), 0, 1)
                    numbers = {"rms": 0.3 + 0.01 * place + 0.004 * repetition, "auc": 0.8 - 0.01 * place,
                               "cxe": float("inf") if place == 0 else 0.5, "c_emp": 0.02}  # fmt: skip
                    cell = (dataset, repetition, *column.split("."))
                    if (dataset, repetition, column) == (next(iter(written.datasets)), 1, written.columns[-1]):
                        store.add(CellResult(*cell, "failed", "run1", 1.0, error_type="ValueError", message=message,
                                             traceback=traceback))  # fmt: skip
                    else:
                        stages = {"cxe": [0.9, 0.5]} if column == "j48.probing" else {}
                        done = CellResult(*cell, "done", "run1", 1.0, metrics=numbers, stages=stages, n_train=140,
                                          n_test=60)  # fmt: skip
                        store.add(done, y, p)
        return store

    return write


@pytest.fixture
def report(tmp_path):
    """Return a function: ``report(*stores)`` writes the page and gives its path."""
    return lambda *stores: write_report(stores, tmp_path / "report.html")


@pytest.fixture
def committed(tmp_path):
    """Return a copy of our results of the UCI experiment."""
    folder = Path(__file__).parents[3] / "results" / "uci-random"
    return Store(shutil.copytree(folder, tmp_path / "uci", ignore=shutil.ignore_patterns("predictions.bin")))


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, of the extra test")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        words = ["--no-sandbox", "--disable-gpu"]
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=words, timeout=PATIENCE)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser):
    """Return a context: ``with opened(path, size, scheme) as page``. It fails on console output, errors or requests."""

    @contextmanager
    def open_it(path, size=None, scheme="light"):
        viewport = size or {"width": 1280, "height": 900}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: said.append(request.url[:100]) if not _own(request.url, path) else None)
        page.goto(path.as_uri())
        yield page
        context.close()
        assert said == []

    return open_it


def _own(url: str, path: Path) -> bool:
    return url.startswith("data:") or url.partition("#")[0] == path.as_uri()
