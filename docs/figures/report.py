"""docs/figures/report.png: the top of the page about results/uci-random. Needs the extra test and Chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from probcal.reporting.html import write_report
from probcal.store.folder import Store

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "results" / "uci-random"
SIZE = {"width": 1280, "height": 1330}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = write_report([Store(RESULTS)], Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(path.as_uri())
        page.locator("#e1-compare .points").wait_for(state="attached")
        page.screenshot(path=HERE / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
