"""Check the names of docs/measure-and-plot.md. test_examples runs its code."""

import re
from pathlib import Path

import probcal.metrics
from probcal.metrics import ASKED_METRICS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "measure-and-plot.md").read_text(encoding="utf-8")


def test_every_metric_on_the_page_exists():
    names = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert len(names) == 8 and all(hasattr(probcal.metrics, name) for name in names)


def test_every_optional_calibration_metric_is_on_the_page():
    named = set(re.findall(r"`(\w+)`", PAGE.partition("## In an experiment")[2]))
    assert set(ASKED_METRICS) - named == {"errors", "log10_loss", "l2", "l_max"}
