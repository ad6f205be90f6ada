"""Test that each format of a table can be read back, and that a user's text cannot break it."""
# ruff: noqa: RUF001  (the mark of a cell that was not run is an en dash)

import csv
import io
import math
import re
from xml.etree import ElementTree as ET

import pytest

from probcal.errors import ProbcalError
from probcal.reporting import FORMATS
from probcal.reporting.tables import tables_text

PAPER = "langford-zadrozny-2005"


@pytest.fixture
def store(small):
    return small(paper=PAPER, metrics=("cxe",), datasets={"adult": 1, "breast": 2}).write({
        ("adult", "j48.direct"): [{"cxe": math.inf}],
        ("adult", "j48.probing"): [{"cxe": 0.441}],
        ("breast", "j48.direct"): [{"cxe": 0.9}, {"cxe": 0.8}],
        ("breast", "j48.probing"): [{"cxe": 0.7}, "it broke"],
    })  # fmt: skip


HEADER = ["", "J48", "ProbJ48", "Log"]


def markdown_rows(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in rows if not set("".join(row)) <= set(":-")]


def latex_rows(text):
    tables = re.findall(r"\\begin\{tabular\}.*?\n(.*?)\\end\{tabular\}", text, re.DOTALL)
    body = "".join(tables).replace("\\hline", "")
    rows = [row for row in body.split("\\\\\n") if row.strip()]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", row)] for row in rows]


def html_tables(text):
    return [ET.fromstring(table) for table in re.findall(r"<table>.*?</table>", text, re.DOTALL)]


def html_rows(text):
    return [["".join(cell.itertext()).strip() for cell in row] for t in html_tables(text) for row in t.iter("tr")]


def test_markdown_reads_back(store):
    rows = markdown_rows(tables_text(store, format="markdown"))
    assert rows[:3] == [
        HEADER,
        ["Adult", "∞ [∞]", "**0.441** [0.436]", "– [∞]"],
        ["Breast", "0.850 ± 0.071 [∞]", "**0.700**† [0.791]", "– [1.070]"],
    ]


def test_latex_reads_back(store):
    rows = latex_rows(tables_text(store, format="latex"))
    assert rows[:3] == [
        HEADER,
        ["Adult", r"$\infty$ {[}$\infty$]", r"\textbf{0.441} {[}0.436]", r"-- {[}$\infty$]"],
        ["Breast", r"0.850 $\pm$ 0.071 {[}$\infty$]", r"\textbf{0.700}$\dagger$ {[}0.791]", r"-- {[}1.070]"],
    ]


def test_latex_leaves_the_numbering_to_latex(store):
    text = tables_text(store, format="latex")
    assert "Table 2" not in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2


def test_html_reads_back(store):
    text = tables_text(store, format="html")
    assert html_rows(text)[:3] == [
        HEADER,
        ["Adult", "∞ [∞]", "0.441 [0.436]", "– [∞]"],
        ["Breast", "0.850 ± 0.071 [∞]", "0.700† [0.791]", "– [1.070]"],
    ]
    assert [bold.text for bold in html_tables(text)[0].iter("b")] == ["0.441", "0.700"]


def test_html_is_one_page_that_fetches_nothing(store):
    text = tables_text(store, format="html")
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")
    assert not re.search(r"https?:|src=|<link|@import|url\(", text)


def test_csv_has_one_line_per_metric_data_set_and_column(store):
    lines = list(csv.DictReader(io.StringIO(tables_text(store, format="csv"))))
    header = "experiment,dataset,learner,method,label,metric,mean,sd,n,failed,stale,published,difference"
    assert ",".join(lines[0]) == header
    assert len(lines) == 6
    assert lines[0] | {"mean": "inf", "published": "inf", "difference": "", "sd": "", "n": "1"} == lines[0]
    assert lines[1] | {"mean": "0.441", "published": "0.436", "difference": "0.005"} == lines[1]
    assert lines[2] | {"mean": "", "sd": "", "n": "0", "failed": "0", "published": "inf"} == lines[2]
    assert lines[3] | {"dataset": "breast", "mean": "0.85", "sd": "0.0707107", "n": "2"} == lines[3]
    assert lines[4] | {"method": "probing", "label": "ProbJ48", "n": "1", "failed": "1"} == lines[4]


def test_several_experiments_make_one_csv_and_one_page(store, small):
    other = small(title="Other", datasets={"adult": 1}, columns=("log.direct",)).write({})
    assert tables_text(store, other, format="csv").count("experiment,dataset") == 1
    page = tables_text(store, other, format="html")
    assert page.count("<html") == 1
    assert page.count("<h1>") == 2


NASTY = r"""a|b *c* <i>d</i> & 50% of $x_1 {y} #\~^ [0] `e`"""


@pytest.fixture
def nasty(small):
    writer = small(title=NASTY, titles={"adult": NASTY}, metrics=("cxe",))
    return writer.write({("adult", "j48.direct"): [NASTY]})


def test_markdown_escapes_user_text(nasty):
    text = tables_text(nasty, format="markdown")
    assert [len(row) for row in markdown_rows(text)] == [4, 4, 2, 2]
    assert r"a\|b \*c\* \<i>d\</i>" in text


@pytest.mark.parametrize(
    "written", ["![x](http://a.b/c.png)", "[x](javascript:alert(1))", "![x][y]", "[y]: http://a.b"]
)
def test_markdown_of_user_text_has_no_link_or_image(small, written):
    text = tables_text(small(title=written, metrics=("cxe",)).write({}), format="markdown")
    assert not re.search(r"\][(\[:]", text.splitlines()[0])
    assert written.replace("](", r"]\(").replace("][", r"]\[").replace("]:", r"]\:") in text


def test_html_escapes_user_text(nasty):
    text = tables_text(nasty, format="html")
    assert html_rows(text)[1][0] == NASTY
    assert "<i>" not in text


def test_latex_escapes_user_text(nasty):
    text = tables_text(nasty, format="latex")
    assert [len(row) for row in latex_rows(text)] == [4, 4, 2, 2]
    escaped = (
        r"a|b {*}c{*} \textless{}i\textgreater{}d\textless{}/i\textgreater{} \& 50\% of \$x\_1 \{y\} "
        r"\#\textbackslash{}\textasciitilde{}\textasciicircum{} {[}0] `e`"
    )
    assert latex_rows(text)[1][0] == escaped
    assert f"\\caption{{{escaped}." in text


def test_a_title_of_two_lines_stays_in_its_cell(small):
    store = small(titles={"adult": "two\nlines"}, title="also\ntwo", metrics=("cxe",)).write({})
    assert markdown_rows(tables_text(store, format="markdown"))[1][0] == "two lines"
    assert tables_text(store, format="latex").startswith("% also two\n")


@pytest.mark.parametrize("format", FORMATS)
def test_an_experiment_without_results_still_has_its_tables(small, format):
    text = tables_text(small(datasets={"adult": 1}, columns=("log.direct",)).write({}), format=format)
    assert "Log" in text


def test_ten_columns_fit_on_160_characters(small, ten_columns):
    cells = [{"cxe": 0.5, "auc": 0.5}] * 9 + [{"cxe": math.inf, "auc": 0.6}]
    store = small(paper=PAPER, columns=ten_columns, datasets={"echocardiogram": 10}).write({
        ("echocardiogram", column): cells for column in ten_columns
    })  # fmt: skip
    tables = tables_text(store).split("**Table 4")[0]
    assert max(len(line) for line in tables.splitlines() if line.startswith("|")) <= 160


def test_unknown_paper_is_rejected(small):
    with pytest.raises(ProbcalError, match='no published numbers of a paper "nobody-1900"'):
        tables_text(small(paper="nobody-1900").write({}))
