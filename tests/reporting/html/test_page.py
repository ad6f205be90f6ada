"""Test the file that ``probcal report`` writes, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections import Counter
from itertools import pairwise

import pytest

from probcal.reporting.grid import Grid, Text
from probcal.reporting.html import write_report
from probcal.reporting.html.charts import line_groups, sort_value
from probcal.store.folder import CellResult, Store
from tests.commands import probcal, refused
from tests.reporting.html.conftest import CONFIG, TRACEBACK
from tests.reporting.html.pages import HOSTILE, by_id, dangling, headings, parsed, text_of


@pytest.fixture
def light(small, cxe):
    """Return a function that stores one cell, for what the content of a page does not change."""
    return lambda name="small": small(name).write({("adult", "j48.direct"): cxe(0.5)})


def tables(root):
    return [one for one in root.iter("table") if one.get("class") == "sortable"]


@pytest.mark.slow
def test_page_is_valid_html_without_broken_references(everything, light, report):
    root = parsed(report(everything(), light("other")))
    assert [id for id, n in Counter(one.get("id") for one in root.iter()).items() if id and n > 1] == []
    levels = headings(root)
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert dangling(root) == []
    assert all(one.get("alt") for one in root.iter("img"))


@pytest.mark.slow
def test_page_has_every_section(the_page):
    root = parsed(the_page)
    parts = ["summary", "charts", "tables", "reliability", "ranks", "chance", "figures", "check"]
    parts += ["failures", "provenance", "again"]
    assert [by_id(root, f"e1-{part}").tag for part in parts] == ["h2"] * len(parts)
    assert [one.get("href") for one in next(root.iter("nav")).iter("a")] == [f"#e1-{part}" for part in parts]


def test_sub_rows_share_a_table_body_with_their_mean(the_page):
    table = tables(parsed(the_page))[1]
    bodies = [[text_of(row[0]) for row in body] for body in table.findall("tbody")]
    assert bodies == [["Adult", "± sd", "[paper]"], ["Sick", "± sd", "[paper]"], ["Liver", "± sd", "[paper]"]]
    assert [one.get("data-v") for one in table.findall("tbody")[0][0].findall("td")] == [
        "0.302", "0.312", "0.322", "0.332", "0.342", "0.350",
    ]  # fmt: skip


def test_unnamed_line_stays_with_the_line_above():
    lines = [[Text("a"), Text("1")], [Text(""), Text("2")], [Text("b"), Text("3")]]
    groups = line_groups(Grid("Name", "how to read it", ["", "x"], lines))
    assert [[kind for kind, _ in group] for group in groups] == [["main", "more"], ["main"]]


@pytest.mark.parametrize(
    ("shown", "sorted_by"),
    [("0.326", "0.326"), ("∞", "Infinity"), ("∞ (5/10)", "Infinity"), ("\N{EN DASH}", ""), ("failed", ""), ("n/a", ""),
     ("ProbJ48/J48", "ProbJ48/J48"), ("3 trees", "3"), ("-1.2", "-1.2"), ("", "")],
)  # fmt: skip
def test_a_cell_is_sorted_by_its_number(shown, sorted_by):
    assert sort_value(shown) == sorted_by


def test_failed_cell_is_shown_with_message_and_traceback(the_page):
    root = parsed(the_page)
    [fault] = [one for one in root.iter("div") if one.get("class") == "fault"]
    assert text_of(fault.find("p")) == "ValueError in 1 cell"
    assert text_of(fault.find("pre")) == "singular" and "adult/1/log/direct" in text_of(fault)
    assert [one.text for one in fault.iter("pre")][1] == TRACEBACK


def test_cells_that_fail_alike_share_one_entry(small, report):
    store = small(datasets={"adult": 3}).write({("adult", "j48.direct"): ["no", "no", "other"]})
    root = parsed(report(store))
    assert [text_of(one.find("p")) for one in root.iter("div") if one.get("class") == "fault"] == [
        "ValueError in 2 cells", "ValueError in 1 cell",
    ]  # fmt: skip


def test_page_shows_the_provenance_of_its_numbers(the_page):
    root = parsed(the_page)
    section = text_of(next(one for one in root.iter("section") if one.get("aria-labelledby") == "e1-provenance"))
    for told in ("4c5ea3194ae9bdf0d1c6427e1ccb60e644581007 and changes", "scikit-learn 1.9.1", "1c831bff34c305ba",
                 "2026-01-02 03:04:05 UTC",
                 " 7 ", "Linux x86_64, 2 processors", "probcal run 'small file.yaml'", "a4026a720125"):  # fmt: skip
        assert told in section


def test_page_shows_the_experiment_and_its_commands(the_page):
    root = parsed(the_page)
    assert by_id(root, "e1-config").text == CONFIG
    assert by_id(root, "e1-commands").text.splitlines() == [
        "probcal run small.yaml", "probcal table results/small", "probcal check results/small",
        "probcal report results/small",
    ]  # fmt: skip


def test_content_policy_allows_only_the_embedded_scripts(the_page):
    root = parsed(the_page)
    [policy] = [one.get("content") for one in root.iter("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';") and "unsafe-eval" not in policy
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    scripts = [one.text for one in root.iter("script") if one.get("type") != "application/json"]
    assert {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts} == allowed
    assert not [one for one in root.iter() if one.get("src") and not one.get("src").startswith("data:")]
    assert {one.get("rel"): one.get("href") for one in root.iter("link")} == {"icon": "data:,"}


def test_text_from_a_folder_is_never_markup(everything, report):
    path = report(everything(title=HOSTILE, titles={"adult": HOSTILE, "sick": "]]>"}, config=HOSTILE, message=HOSTILE,
                             traceback=HOSTILE, paper=None))  # fmt: skip
    root = parsed(path)
    assert not [one for one in root.iter("img") if one.get("onerror")]
    scripts = list(root.iter("script"))
    assert len(scripts) == 5 and not [one for one in scripts if one.text and one.text.startswith("alert")]
    kept = json.loads(by_id(root, "data").text)["e1"]["datasets"][0]
    assert kept.startswith("</script>") and "\u202e" not in path.read_text(encoding="utf-8")
    assert "\\u202e\\x1b[31m" in text_of(next(root.iter("h1")))


@pytest.mark.slow
def test_copied_folder_gives_the_same_page(the_page, tmp_path):
    copied = shutil.copytree(the_page.parent / "small", tmp_path / "else where")
    assert write_report([Store(copied)], tmp_path / "page.html").read_bytes() == the_page.read_bytes()


def test_failed_cells_alone_make_a_page(small, report):
    root = parsed(report(small().write({("adult", "j48.direct"): ["no memory"]})))
    assert "no memory" in text_of(root) and "e1-charts" not in {one.get("id") for one in root.iter()}


def test_empty_folder_is_rejected(small):
    store = small().write({})
    said = f"nothing has been run yet in {store.folder}; probcal run fills a folder of results"
    assert refused("report", store.folder) == said
    assert not (store.folder / "report.html").exists()


def test_folder_with_an_incomplete_line_is_shown(light, report):
    store = light()
    with (store.folder / "cells.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"dataset": "adult", "repetition": 0, "lear')
    assert "1 of 3" in text_of(parsed(report(store)))


def test_page_lies_in_its_folder_and_allows_new_results(light):
    store = light()
    path = store.folder / "report.html"
    assert probcal("report", store.folder).output == f"{path}\n"
    with Store(store.folder).writing("small") as again:
        again.add(CellResult("adult", 0, "j48", "direct", "done", "run1", 1.0, metrics={"rms": 0.25}))
    assert path.is_file() and probcal("report", store.folder).exit_code == 0, "its own page is overwritten"


def test_several_experiments_make_one_page_in_current_folder(light, tmp_path, monkeypatch):
    one, other = light(), light("other")
    monkeypatch.chdir(tmp_path)
    assert probcal("report", one.folder, other.folder).output == "report.html\n"
    root = parsed(tmp_path / "report.html")
    assert [text_of(one) for one in root.iter("h2")] == ["A small experiment"] * 2
    assert text_of(next(root.iter("h1"))) == "Results of small, other"


@pytest.mark.parametrize(
    ("place", "said"),
    [("folder", "is a folder; name a file with -o"), ("nowhere/a.html", "does not exist; create it first")],
)
def test_impossible_output_place_is_rejected(light, tmp_path, place, said):
    (tmp_path / "folder").mkdir()
    assert said in refused("report", light().folder, "-o", tmp_path / place)


@pytest.mark.parametrize("name", ["cells.parquet", "cells.jsonl"])
def test_file_that_is_no_page_is_not_overwritten(light, name):
    folder = light().folder
    before = (folder / name).read_bytes()
    assert "is no web page, so it is kept" in refused("report", folder, "-o", folder / name)
    assert (folder / name).read_bytes() == before


def test_link_out_of_the_folder_is_rejected(light, tmp_path):
    store = light()
    (store.folder / "report.html").symlink_to(tmp_path / "precious")
    assert "is a link that leads out of the folder" in refused("report", store.folder)


def test_page_reports_a_broken_accepted_file(light, report):
    store = light()
    (store.folder / "accepted.csv").write_text("no such header\n", encoding="utf-8")
    assert "accepted.csv" in text_of(parsed(report(store)))


def test_a_folder_named_twice_is_shown_once(light, tmp_path, monkeypatch):
    folder = light().folder
    monkeypatch.chdir(tmp_path)
    assert probcal("report", folder, folder.parent, folder / ".").stdout == f"{folder / 'report.html'}\n"


def test_insignificant_first_place_is_stated(small, cxe, report):
    cells = {(name, column): cxe(0.5) for name in ("adult", "sick") for column in ("j48.direct", "log.direct")}
    store = small(datasets={"adult": 1, "sick": 1}, columns=("j48.direct", "log.direct")).write(cells)
    said = text_of(parsed(report(store)))
    assert "Best mean rank over 2 data sets: J48 and Log (1.50, no significant difference) by CXE." in said


def test_too_many_pairs_are_replaced_by_the_command(small, cxe, report, monkeypatch):
    cells = {(name, column): cxe(0.5) for name in ("adult", "sick") for column in ("j48.direct", "log.direct")}
    store = small(datasets={"adult": 1, "sick": 1}, columns=("j48.direct", "log.direct")).write(cells)
    assert "Wilcoxon" in text_of(parsed(report(store)))
    monkeypatch.setattr("probcal.reporting.html.sections._MOST_COMPARED", 1)
    said = text_of(parsed(report(store)))
    assert "2 columns of learner and method have 1 pairs, too many" in said and "Wilcoxon" not in said
    assert f"probcal compare {store.folder} -l j48" in said
