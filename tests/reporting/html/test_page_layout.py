"""Test in Chromium that every page fits its window at four widths, in light and in dark colours."""

from __future__ import annotations

import pytest

from tests.commands import probcal
from tests.measure.prediction_files import three_classes, two_classes, written
from tests.reporting.html.test_in_a_browser import findings

WIDTHS = (400, 800, 1100, 1600)
FAULTS = """() => {
  const wide = document.documentElement.clientWidth, faults = [];
  const words = (one) => one.textContent.trim();
  const tell = (fault, one) => faults.push(`${fault}: ${one.tagName} ${one.className} ${words(one).slice(0, 40)}`);
  const scrolls = (one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
  const boxed = (one) => (one = one.parentElement) && one !== document.body && (scrolls(one) || boxed(one));
  const isNumber = (text) => /\\d/.test(text) && /^[-+\u2212\u00b1\u2013\u221e\\d.,%* ]*( to [-+\\d., ]+)?$/.test(text);
  if (document.documentElement.scrollWidth > wide) faults.push("the page scrolls sideways");
  for (const one of document.body.querySelectorAll("*")) {
    if (!one.checkVisibility() || one.closest(".hidden, .skip")) continue;
    const box = one.getBoundingClientRect();
    if (box.width && !boxed(one) && (box.left < -1 || box.right > wide + 1)) tell("outside the window", one);
    if (one.matches("main, .plot") && box.width < 0.6 * Math.min(wide, 900)) tell("squeezed", one);
    if (one.matches("img") && box.width < 0.85 * Math.min(one.width, wide - 40)) tell("shrunk", one);
    const parent = one.parentElement;
    if (one.matches("img") && one.width < 0.9 * wide && parent.scrollWidth > parent.clientWidth + 1) tell("cut", one);
    if (!one.matches("td, th") || !isNumber(words(one))) continue;
    const ends = new Set(), texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      for (const line of range.getClientRects()) if (line.width) ends.add(Math.round(line.bottom / 8));
    }
    if (ends.size > 1) tell("a broken number", one);
  }
  return faults;
}"""
"""Function of a page that returns its faults. What scrolls within a box of its own may be wider than the window."""


def faults_of(path, opened):
    """Open all folded parts, and return the faults at every width and in both schemes."""
    faults = []
    for width in WIDTHS:
        with opened(path, {"width": width, "height": 900}) as page:
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                faults += [f"{width}, {scheme}: {fault}" for fault in page.evaluate(FAULTS)]
    return faults


def measured(folder, frame, *words):
    """Write the page of a measurement."""
    result = probcal("measure", written(frame, folder / "a.csv"), "-t", "y", "--draws", 20, "--report",
                     folder / "a.html", *words)  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder / "a.html"


def calibrated_groups(folder):
    return measured(folder, two_classes(), "-p", "p", "-g", "sex", "-c", "sigmoid")


def test_the_measured_page_fits_its_window(tmp_path, opened):
    assert faults_of(calibrated_groups(tmp_path), opened) == []


@pytest.mark.slow
def test_tables_of_calibrated_classes_fit_their_panels(tmp_path, opened):
    path = measured(tmp_path, three_classes(), "-p", "p_*", "-c", "temperature")
    for width in (1200, 1280, 1600):
        with opened(path, {"width": width, "height": 900}) as page:
            cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
            assert page.eval_on_selector_all(".panels .scroll", cut) == 0
            tops = "all => all.map(one => one.querySelector('img').getBoundingClientRect().top)"
            assert len(set(page.eval_on_selector_all(".panels > div", tops)[:2])) == 1


@pytest.mark.slow
def test_measured_pages_of_other_kinds_fit(tmp_path, opened):
    assert faults_of(measured(tmp_path, two_classes(), "-p", "p"), opened) == []
    long_names = three_classes().rename(columns={"p_cow": "p_" + "a long name " * 8})
    long_names["y"] = long_names.y.replace("cow", ("a long name " * 8).strip())
    assert faults_of(measured(tmp_path, long_names, "-p", "p_*", "--force", "-g", "y"), opened) == []


@pytest.mark.slow
def test_the_report_of_an_experiment_fits(the_page, opened):
    assert faults_of(the_page, opened) == []


@pytest.mark.slow
def test_a_report_of_several_experiments_with_many_columns_fits(everything, report, ten_columns, opened):
    wide = everything(name="wide", columns=(*ten_columns, *(f"forest.m{number}" for number in range(12))))
    assert faults_of(report(wide, everything(name="other", paper=None)), opened) == []


@pytest.mark.slow
def test_the_report_of_our_results_fits_in_windows_and_three_megabytes(committed, report, opened):
    path = report(committed)
    assert path.stat().st_size < 3_000_000
    assert faults_of(path, opened) == []


@pytest.mark.slow
def test_the_page_of_tables_fits(the_page, tmp_path, opened):
    done = probcal("table", the_page.parent / "small", "-f", "html")
    (tmp_path / "tables.html").write_text(done.stdout, encoding="utf-8")
    assert done.exit_code == 0 and faults_of(tmp_path / "tables.html", opened) == []


@pytest.mark.slow
def test_the_page_of_a_trial_fits(tmp_path, opened):
    words = ("-t", "y", "--splits", 2, "-l", "nb", "-l", "logistic", "-m", "direct", "-m", "isotonic")
    done = probcal("try", written(two_classes(), tmp_path / "a.csv"), *words, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert faults_of(tmp_path / "out" / "report.html", opened) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_measured_page_has_enough_contrast(tmp_path, opened, scheme):
    path = calibrated_groups(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("default-src 'none'; ", ""), encoding="utf-8")  # for axe
    with opened(path, scheme=scheme) as page:
        assert findings(page) == []
