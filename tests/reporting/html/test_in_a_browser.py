"""Test the page in Chromium without a network, with mouse, keyboard and accessibility checks."""

from __future__ import annotations

from importlib import resources

import pytest

from tests.reporting.html.conftest import PATIENCE
from tests.reporting.html.pages import HOSTILE

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


def findings(page):
    """Return the serious or critical findings of axe-core: the name and the first element."""
    page.evaluate((resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]


def first_column(page):
    return page.eval_on_selector_all(
        "#e1-table2 tbody", "bodies => bodies.map(body => [...body.rows].map(row => row.cells[0].textContent))"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),
    ],
)
def test_axe_finds_no_serious_accessibility_fault(the_page, opened, size, scheme):
    with opened(the_page, size, scheme) as page:
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert findings(page) == []


@pytest.mark.slow
def test_keyboard_sorting_moves_rows_with_their_sub_rows(the_page, opened):
    with opened(the_page) as page:
        adult, sick, liver = first_column(page)
        assert adult == ["Adult", "± sd", "[paper]"]
        head = page.locator("#e1-table2 thead th").nth(1)
        head.locator("button").focus()
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending" and first_column(page) == [adult, sick, liver]
        page.keyboard.press("Space")
        assert head.get_attribute("aria-sort") == "descending" and first_column(page) == [liver, sick, adult]
        assert page.locator("#said").text_content() == "Sorted by J48, descending"
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "none" and first_column(page) == [adult, sick, liver]


@pytest.mark.slow
def test_sorting_puts_infinity_highest_and_missing_values_last(small, cxe, report, opened):
    numbers = {"adult": (float("inf"), 0.5), "sick": (), "liver": (0.25,), "coil": (10,)}
    written = small(datasets={name: max(len(of), 1) for name, of in numbers.items()}, columns=("j48.direct",))
    store = written.write({(name, "j48.direct"): cxe(*of) for name, of in numbers.items()})
    with opened(report(store)) as page:
        names = "all => all.map(one => one.rows[0].cells[0].textContent)"
        button = page.locator("#e1-table1 thead button").nth(1)
        button.click()
        assert page.eval_on_selector_all("#e1-table1 tbody", names) == ["Liver", "Coil", "Adult", "Sick"]
        button.click()
        assert page.eval_on_selector_all("#e1-table1 tbody", names) == ["Adult", "Coil", "Liver", "Sick"]


@pytest.mark.slow
def test_published_numbers_can_be_hidden(the_page, opened):
    with opened(the_page) as page:
        page.get_by_label("[published number]").uncheck()
        assert not page.locator("#e1-table2 tr.paper").first.is_visible()
        assert page.locator("#e1-table2 tr.spread").first.is_visible()


@pytest.mark.slow
def test_chart_follows_its_filters_and_the_keyboard(the_page, opened):
    with opened(the_page) as page:
        chart = page.locator("#e1-compare")
        points = chart.locator(".points > *")
        chart.get_by_label("Metric").select_option(label="Root mean squared error")
        assert points.count() == 18
        chart.get_by_role("button", name="None").click()
        assert points.count() == 0
        chart.get_by_role("button", name="All").click()
        assert points.count() == 18
        chart.get_by_label("Data set").select_option(label="Sick")
        assert points.count() == 6
        chart.get_by_label("BagJ48").uncheck()
        assert points.count() == 5
        chart.locator(".plot").focus()
        page.keyboard.press("ArrowRight")
        told = "Sick, J48; RMS 0.362 ± 0.003 over 2 splits; published 0.125"  # no verdict, since two splits are too few
        assert chart.locator(".readout").text_content() == told


def test_every_picture_is_drawn(the_page, opened):
    with opened(the_page) as page:
        page.wait_for_function("[...document.images].length > 4 && [...document.images].every(one => one.complete)")
        assert page.evaluate("[...document.images].every(one => one.naturalWidth > 0)")


@pytest.mark.slow
def test_the_reliability_diagram_has_a_band_and_a_table(the_page, opened):
    with opened(the_page) as page:
        chart = page.locator("#e1-reliable")
        chart.locator("summary").click()
        rows, marks = chart.locator("tbody tr").count(), chart.locator(".points > *").count()
        assert rows == marks > 10
        assert chart.locator("svg path[fill-opacity], svg g[fill-opacity]").count() > 0


@pytest.mark.slow
def test_chosen_colour_scheme_survives_a_reload(the_page, opened):
    with opened(the_page, scheme="dark") as page:
        background = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(background)
        filtered = "getComputedStyle(document.querySelector('figure img')).filter"
        assert page.evaluate(filtered) != "none"
        page.get_by_role("button", name="Light colours").click()
        assert page.evaluate(background) == "rgb(255, 255, 255)" != dark
        assert page.evaluate(filtered) == "none", "pictures follow the scheme"
        page.reload()
        assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_first_tab_stop_skips_to_the_results(the_page, opened):
    with opened(the_page) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.slow
def test_hostile_folder_runs_no_script(everything, report, opened):
    store = everything(title=HOSTILE, titles={"adult": HOSTILE}, config=HOSTILE, message=HOSTILE, traceback=HOSTILE)
    with opened(report(store)) as page:
        page.locator("#e1-compare").get_by_label("Data set").select_option(index=1)
        assert page.locator("img:not([src^='data:'])").count() == 0
        assert page.locator(".chart").count() == 3


def test_numbers_are_shown_without_scripts(browser, the_page):
    context = browser.new_context(java_script_enabled=False, offline=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(the_page.as_uri())
    assert page.locator("#e1-table2 tbody").count() == 3
    assert page.locator("button:visible").count() == 0
    context.close()


@pytest.mark.slow
def test_folded_parts_are_printed(the_page, opened):
    with opened(the_page) as page:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("article details:not([open])").count() == 0
        page.emulate_media(media="print")
        assert not page.locator("nav").first.is_visible() and page.locator(".fault pre").nth(1).is_visible()
        chart = page.locator("#e1-reliable")
        shown = [one.text_content() for one in chart.locator("fieldset label").all() if one.is_visible()]
        assert shown == ["J48", "BagJ48", "ProbJ48"] and chart.locator("select").is_visible()
        assert not chart.get_by_role("button", name="None").is_visible()
        assert len(page.pdf()) > 10_000


def test_chart_names_the_values_it_cannot_draw(the_page, opened):
    with opened(the_page) as page:
        chart = page.locator("#e1-compare")
        told = "Not drawn, since they are ∞ or have no number: J48 on Adult."
        assert chart.locator(".missing").text_content() == told
        chart.get_by_label("Metric").select_option(label="Root mean squared error")
        assert chart.locator(".missing").text_content() == ""


@pytest.mark.slow
def test_a_long_name_stays_in_its_column(everything, report, opened):
    with opened(report(everything(titles={"adult": "x" * 400}, paper=None))) as page:
        name = page.locator("#e1-table2 tbody th").first
        assert name.evaluate("one => one.scrollWidth <= one.clientWidth")
