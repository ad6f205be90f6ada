"""Check the names and pictures of docs/measure-and-plot.md. test_library_page runs its code."""

import re
import runpy
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


def test_page_agrees_with_the_table_of_ties():
    table = (DOCS.parent / "results" / "kuiper-ties" / "table.md").read_text(encoding="utf-8")
    rows = {row[0]: row[3:6] for line in table.splitlines() if "%" in line and (row := re.split(r" *\| *", line)[1:])}
    shares = {name: [int(re.search(r"([+-]\d+) %", one)[1]) for one in row] for name, row in rows.items()}
    assert shares.pop("logistic regression") == [0, 0, 0]
    low, high, rounded, constant = map(
        int, re.search(r"(\d+) to (\d+) % larger.*: (\d+) % .*, (\d+) % ", PAGE).groups()
    )
    assert low == min(map(min, shares.values())) == min(shares["rounded to .01"]) == rounded
    assert high == max(map(max, shares.values())) == max(shares["true base rate"]) == constant


def test_script_draws_the_pictures_of_the_page(tmp_path):
    runpy.run_path(str(DOCS / "figures" / "displays.py"))["main"](tmp_path)
    drawn = {one.name for one in tmp_path.iterdir()}
    assert drawn == set(re.findall(r'src="figures/([\w.-]+)"', PAGE))
    assert all((DOCS / "figures" / one).exists() for one in drawn)
