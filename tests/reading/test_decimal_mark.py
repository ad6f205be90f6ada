"""Test that tables with decimal points and with decimal commas read alike, and that ambiguous ones give a note."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.reading.decimal_mark import decimal_marks
from probcal.reading.number_form import plain_values, read_numbers
from probcal.reading.text_column import TextColumn
from probcal.try_table.experiment_files import rows_text
from probcal.try_table.preparation import TableRequest, prepare
from tests.commands import refused
from tests.try_table.own_tables import shown

LEFT = ["yes", "no", "no", "yes"]


def table(path, columns, separator=";", left=LEFT):
    """Write the columns ten times below each other. Each column is a list of texts as long as ``left``."""
    rows = list(zip(*columns.values(), left, strict=True)) * 10
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows([[*columns, "left"], *rows])
    return path


def read(path, **options):
    """Return the numbers of each column, without repetitions, and the notes on decimal marks."""
    prepared = prepare(TableRequest(str(path), "left", **options))
    numbers = {column.name: column.values.iloc[:4].tolist() for column in prepared.columns if column.kind == "number"}
    return numbers, [note for note in prepared.notes if "read " in note]


def marks_of(columns, separator=None, decimal=None):
    return decimal_marks({index: text_column(texts) for index, texts in enumerate(columns)}, separator, decimal)


def text_column(texts):
    return TextColumn(pa.array(texts, pa.large_string()))


def number(text, mark):
    return plain_values([text], mark)[0]


# --- one number


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("1,250", 1250, 1.25),
        ("1.250", 1.25, 1250),
        ("-12,500", -12500, -12.5),
        ("0,125", None, 0.125),
        ("0.125", 0.125, None),
        ("-0,125", None, -0.125),
        ("00,125", None, 0.125),
        ("012,345", None, 12.345),
        ("1,25", None, 1.25),
        ("1,2500", None, 1.25),
        ("1250,125", None, 1250.125),
        (",5", None, 0.5),
        ("5,", None, 5),
        ("5.", 5, None),
        ("1,234.5", 1234.5, None),
        ("1.234,5", None, 1234.5),
        ("1,234,567", 1234567, None),
        ("1.234.567", None, 1234567),
        ("1.234,567", None, 1234.567),
        ("1,234.567,8", None, None),
        ("1,23,456", None, None),
        ("1.2.3", None, None),
        ("1,5e3", None, 1500),
        ("1,250e3", None, 1250),
        ("1.250E-3", 0.00125, None),
        ("1,5e\u22123", None, 0.0015),
        ("1 250", 1250, 1250),
        ("1 234 567,5", None, 1234567.5),
        ("1\u00a0250,5", None, 1250.5),
        ("1\u202f250.5", 1250.5, None),
        ("1\u2009250", 1250, 1250),
        ("1'250.5", 1250.5, None),
        ("1\u2019250", 1250, 1250),
        ("1 250'000", None, None),
        ("1 25", None, None),
        ("020 123 456", None, None),
        ("\u22121,5", None, -1.5),
        ("\u22121.5", -1.5, None),
        ("+3", 3, 3),
        ("1e5", 100000, 100000),
        ("21.11.2026", None, None),
        ("12,5 %", None, None),
        ("€ 1.250", None, None),
        ("1012 AB", None, None),
        ("1e999", None, None),
        ("-", None, None),
        ("", None, None),
    ],
)
def test_number_of_a_text_depends_on_the_decimal_mark(text, point, comma):
    for mark, wanted in ((".", point), (",", comma)):
        value = number(text, mark)
        assert (None if np.isnan(value) else value) == wanted


@given(st.text("0123456789.,' +-eE", max_size=12))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_swapped_marks_give_the_same_number(text):
    swapped = text.translate(str.maketrans(".,", ",."))
    assert np.array_equal(number(text, "."), number(swapped, ","), equal_nan=True)


@pytest.mark.parametrize(("mark", "words"), [(".", ["1,5", "x"]), (",", ["2.5", "x"])])
def test_words_are_texts_that_are_no_numbers(mark, words):
    assert read_numbers(text_column(["1,5", "2.5", "x"]), mark, is_declared=True).words == words


# --- the marks of columns


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (["0,125", "0,250", "1", "2"], ","),
        (["1,250", "2,500", "0,5"], ","),
        (["1,250", "2,500", "0.5"], "."),
        (["1,250", "2,500,000"], "."),
        (["1.250", "2.500.000"], ","),
        (["1.250", "2.500,5"], ","),
        (["1 250", "3,125"], ","),
        (["1'250", "3.125"], "."),
        (["1,250", "2500"], ","),
        (["12.500", "2500", "1800"], "."),
        (["1,5e3", "2"], ","),
        (["3", "4"], "."),
        (["x", "y"], "."),
    ],
)
def test_values_of_a_single_column_decide_its_mark(texts, mark):
    assert marks_of([texts * 5])[0] == mark


@pytest.mark.parametrize(
    "texts",
    [["1,250", "900", "45"], ["1.250", "1", "2"], ["125,250", "340"], ["1,250", "2,500"], ["€ 1.250", "€ 900"]],
)
def test_column_with_two_readings_is_undecided(texts):
    marks = marks_of([texts * 5])
    assert marks.undecided == {0: texts[0]}
    assert marks_of([texts * 5], ";").undecided == marks_of([texts * 5], None, ".").undecided == {}


def test_separator_decides_between_equally_many_columns():
    columns = [["1,5", "2"], ["1.5", "2"], ["1,250", "900"]]
    assert [marks_of(columns, separator)[2] for separator in (";", ",")] == [",", "."]
    assert marks_of(columns, ";").doubts.keys() == {1, 2}


def test_columns_with_the_same_doubt_share_one_note():
    columns = [["1,250", "2"] for _ in range(7)]
    [line] = marks_of(columns, ";").notes({index: f"c{index}" for index in range(7)})
    assert line.startswith('columns "c0", "c1", "c2", "c3", "c4", …: "1,250" is read as 1.25, because')


@pytest.mark.parametrize(
    ("separator", "texts", "plain"),
    [
        (",", ["1,250", "2500"], "2500"),
        (",", ["$1,250", "$2500"], "$2500"),
        ("\t", ["1,250", "2500"], "2500"),
        (",", ["1,250", "2 500"], "2 500"),
        (";", ["1.250 €", "2500 €"], "2500 €"),
    ],
)
def test_thousands_that_only_some_values_separate_are_doubtful(tmp_path, separator, texts, plain):
    numbers, [note] = read(table(tmp_path / "t.csv", {"x": [*texts, *texts]}, separator))
    assert numbers["x"][0] == 1.25
    assert note == (
        f'column "x": "{texts[0]}" is read as 1.25, because "{plain}" does not separate its thousands so; if it is '
        "1250, write all numbers of the column alike"
    )


@pytest.mark.parametrize("other", [{}, {"w": ["1,5", "2,5", "3", "4"]}])
def test_decimal_commas_need_no_note_where_separator_or_columns_agree(tmp_path, other):
    assert read(table(tmp_path / "t.csv", {"x": ["1,250", "2500", "3", "4"], **other}, ";"))[1] == []


@pytest.mark.parametrize(
    ("other", "numbers"),
    [
        (["3,5", "12,25", "7", "1,5"], [1.25, 2.5, 3.125, 4.75]),
        (["3.5", "12.25", "7", "1.5"], [1250, 2500, 3125, 4750]),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_other_columns_decide_the_mark_for_every_separator(tmp_path, separator, other, numbers):
    path = table(tmp_path / "t.csv", {"x": ["1,250", "2,500", "3,125", "4,750"], "w": other}, separator)
    columns, notes = read(path)
    assert (columns["x"], notes) == (numbers, [])


@pytest.mark.parametrize(
    ("separator", "texts", "numbers", "other"),
    [
        (";", ["1,250", "2,500", "1", "2"], [1.25, 2.5, 1, 2], "1250, add --decimal ."),
        (";", ["1.250", "2.500", "900", "40"], [1250, 2500, 900, 40], "1.25, add --decimal ."),
        (",", ["1,250", "2,500", "900", "40"], [1250, 2500, 900, 40], "1.25, add --decimal ,"),
        (",", ["1.250", "2.500", "1", "2"], [1.25, 2.5, 1, 2], "1250, add --decimal ,"),
    ],
)
def test_separator_decides_ambiguous_marks_with_a_note(tmp_path, separator, texts, numbers, other):
    path = table(tmp_path / "t.csv", {"x": texts}, separator)
    columns, [note] = read(path)
    assert columns["x"] == numbers
    assert note.startswith(f'column "x": "{texts[0]}" is read as {numbers[0]:g}, because \'{separator}\' separates')
    assert note.endswith(f"if it is {other}")
    assert f"note: {note}" in " ".join(shown(path).split())
    columns, notes = read(path, decimal=other[-1])
    assert (columns["x"][0], notes) == (float(other.split(",")[0]), [])


def test_ambiguous_marks_between_tabs_stay_text_with_a_note(tmp_path):
    path = table(tmp_path / "t.tsv", {"x": ["1,250", "2,500", "900", "40"], "w": ["1", "2", "3", "4"]}, "\t")
    prepared = prepare(TableRequest(str(path), "left"))
    assert [column.kind for column in prepared.columns] == ["category", "number"]
    [note] = prepared.notes
    assert note.startswith("\"x\" holds '1,250' and '2,500', and nothing says whether the mark is a decimal mark")
    assert read(path, decimal=",")[0]["x"] == [1.25, 2.5, 900, 40]
    assert 'column "x" holds "1,250"' in refused("try", path, "-t", "left", "--number", "x")


def test_column_that_contradicts_the_file_gives_a_note(tmp_path):
    columns = {
        "x": ["1,5", "2,5", "3", "4"],
        "y": ["0,25", "2,5", "3", "4"],
        "version": ["3.10", "3.11", "3.9", "3.8"],
        "z": ["1.250", "2.500", "900", "800"],
    }
    path = table(tmp_path / "t.csv", columns, "\t")
    numbers, notes = read(path)
    assert numbers["version"] == [3.1, 3.11, 3.9, 3.8]
    assert numbers["z"] == [1250, 2500, 900, 800]
    assert any(note.startswith('column "version": read with a decimal point, unlike the rest') for note in notes)
    numbers, notes = read(path, category=("version",))
    assert (numbers["z"], notes) == ([1250, 2500, 900, 800], [])


@pytest.mark.parametrize(("decimal", "value"), [(".", 1250), (",", 1.25)])
def test_decimal_option_decides_unless_values_contradict_it(tmp_path, decimal, value):
    columns = {"x": ["1,250", "2,500", "900", "800"], "w": ["1,5", "2,5", "3", "4"], "v": ["1.5", "2.5", "3", "4"]}
    numbers, [note] = read(table(tmp_path / "t.csv", columns), decimal=decimal)
    assert numbers["x"][0] == value
    assert numbers["w"] == numbers["v"] == [1.5, 2.5, 3, 4]
    assert f"not as --decimal {decimal} says, because of" in note


def test_decimal_option_takes_only_point_or_comma(tmp_path):
    path = table(tmp_path / "t.csv", {"x": ["1,250", "2,500", "1", "2"]})
    assert "1 to 2,500; commas separate thousands" in shown(path, "left", "--decimal", ".")
    assert "--decimal" in refused("try", path, "-t", "left", "--decimal", ";")


# --- other kinds of columns, and the target


def test_codes_words_and_dates_beside_decimal_commas_are_no_numbers(tmp_path):
    columns = {
        "code": ["007", "008", "1250", "001"],
        "release": ["1.2.3", "1.10.0", "2.0", "1.5"],
        "post": ["114 55", "110 00", "114 55", "123 45"],
        "dutch": ["1012 AB", "1013 AB", "1012 AB", "1011 AA"],
        "on": ["21.11.2026", "22.11.2026", "01.02.2026", "13.02.2026"],
        "share": ["12,5 %", "7,5 %", "1,0 %", "0,5 %"],
        "price": ["€ 1.250", "€ 2.500", "€ 900", "€ 40"],
        "x": ["0,5", "1", "2", "3,25"],
        "gap": ["0,5", "NA", "2", "3,25"],
    }
    prepared = prepare(TableRequest(str(table(tmp_path / "t.csv", columns)), "left"))
    read_columns = {column.name: column for column in prepared.columns}
    kinds = ["category"] * 4 + ["date"] + ["number"] * 4
    assert [column.kind for column in prepared.columns] == kinds
    assert read_columns["price"].values.max() == 2500
    assert read_columns["code"].values.iloc[:4].tolist() == columns["code"]
    assert [column.missing for column in prepared.columns] == [0] * 8 + [10]
    assert not [note for note in prepared.notes if "read " in note]


def test_numeric_types_are_read_without_doubt(tmp_path):
    frame = pd.DataFrame(
        {
            "w": ["0,5", "1,5", "2", "3,25"] * 10,
            "d": [Decimal("1.250"), Decimal("2.500"), None, Decimal("3.125")] * 10,
            "c": pd.Categorical([1.125, 2.125, 3.5, 1.125] * 10),
            "f": [1.125, 2.5, 3.5, 4.5] * 10,
            "left": [1.125, 2.125, 2.125, 2.125] * 10,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    prepared = prepare(TableRequest(str(tmp_path / "t.parquet"), "left"))
    values = [column.values.iloc[:4].tolist() for column in prepared.columns]
    expected = [[0.5, 1.5, 2, 3.25], [1.25, 2.5, np.nan, 3.125], [1.125, 2.125, 3.5, 1.125], [1.125, 2.5, 3.5, 4.5]]
    np.testing.assert_array_equal(values, expected)
    assert prepared.target.counts == {"1.125": 10, "2.125": 30}


@pytest.mark.parametrize(("zero", "one"), [("0", "1"), ("0,0", "1,0"), ("0.0", "1.0"), ("0,000", "1,000")])
def test_numeric_labels_are_equal_in_every_spelling(tmp_path, zero, one):
    path = table(tmp_path / "t.csv", {"x": ["1", "2", "3", "4"]}, left=[zero, one, zero, zero])
    for positive in (None, "1", one, *(spelling for spelling in ("1,0", "1.0") if spelling[1] in one)):
        target = prepare(TableRequest(str(path), "left", positive)).target
        assert (target.counts, target.positive) == ({"0": 30, "1": 10}, "1")


def test_a_continuous_number_with_decimal_commas_is_no_target(tmp_path):
    left = [f"{row % 37},{row % 10}5" for row in range(200)]
    path = table(tmp_path / "t.csv", {"x": list(map(str, range(200)))}, left=left)
    assert "is a continuous number (" in refused("try", path, "-t", "left")


def test_ambiguous_target_gives_a_note(tmp_path):
    path = table(tmp_path / "t.csv", {"x": ["1", "2", "3", "4"]}, left=["1,250", "2,500", "2,500", "2,500"])
    [note] = read(path)[1]
    assert note.startswith('column "left": "1,250" is read as 1.25, because')


# --- one table written in several ways

US = {"mark": ".", "parts": (None, ",", " ", "'", "\u202f")}
EUROPE = {"mark": ",", "parts": (None, ".", " ", "\u2019", "\u00a0")}
decimals = st.builds(lambda whole, places: whole / 10**places, st.integers(-3_000_000, 3_000_000), st.integers(1, 4))
wholes = st.integers(-2_000_000, 2_000_000).map(float)
powers = st.builds(lambda digits, power: float(f"{digits / 10}e{power}"), st.integers(-99, 99), st.integers(-30, 30))
kinds_of_numbers = st.sampled_from([decimals, wholes, st.integers(0, 5000).map(float), powers])
texts = st.sampled_from(["basic", "plus", "007", "12 AB", "1.2.3", "a;b", "a,b", "21.11.2026", "5 %", "€ 3", "NA"])


@st.composite
def any_table(draw):
    """Draw columns as lists: numbers with None if missing, or texts. The numbers of one column show their mark."""
    rows = draw(st.integers(24, 30))
    columns = [[draw(st.sampled_from([0.5, 0.25, 12.5, 7.0])) for _ in range(rows - 1)] + [0.75]]
    for _ in range(draw(st.integers(1, 4))):
        one = draw(kinds_of_numbers) if draw(st.booleans()) else texts
        columns.append([draw(one | st.none()) if one is not texts else draw(one) for _ in range(rows)])
    labels = draw(st.sampled_from([["yes", "no"], [0.0, 1.0], [0.5, 1.5, 2.5]]))
    return [*columns, [labels[row % len(labels)] for row in range(rows)]]


def spelt(value, mark, part):
    """Return a number as people write it, with this decimal mark and with separated thousands."""
    if value is None or isinstance(value, str):
        return value or ""
    text = repr(value).removesuffix(".0")
    if "e" in text:
        return text.replace(".", mark)
    whole, _, rest = text.partition(".")
    if part:
        whole = f"{int(whole):,}".replace(",", part) if int(whole) else whole
    return whole + (mark + rest if rest else "")


def written(columns, how, part, separator, quoted):
    """Return the columns as delimited text in this notation."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerow([*(f"c{place}" for place in range(len(columns) - 1)), "left"])
    for row in zip(*columns, strict=True):
        writer.writerow([spelt(value, how["mark"], part) for value in row])
    return out.getvalue()


ways = st.tuples(st.sampled_from([",", ";", "\t", "|"]), st.booleans())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written two ways")


def as_prepared(text, folder):
    """Write the text to a file and return the prepared table."""
    (folder / "t.csv").write_text(text, encoding="utf-8", newline="")
    return prepare(TableRequest(str(folder / "t.csv"), "left"))


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=50)
@given(any_table(), ways, st.sampled_from(US["parts"]), ways, st.sampled_from(EUROPE["parts"]))
def test_american_and_european_notation_give_the_same_table(folder, columns, american, comma, european, point):
    first = as_prepared(written(columns, US, comma, *american), folder)
    second = as_prepared(written(columns, EUROPE, point, *european), folder)
    assert rows_text(first) == rows_text(second)
    assert (first.target.counts, first.target.positive) == (second.target.counts, second.target.positive)
    kinds, other_kinds = (
        [(column.name, column.kind, column.missing) for column in prepared.columns] for prepared in (first, second)
    )
    assert kinds == other_kinds
    for column, values in zip(first.columns, columns, strict=False):
        if column.kind == "number":
            wanted = np.array([np.nan if value is None else value for value in values], dtype=float)
            assert np.array_equal(column.values.to_numpy(), wanted, equal_nan=True)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.lists(st.integers(1000, 999_999) | st.integers(1, 999), min_size=20, max_size=30, unique=True), st.booleans())
def test_usual_separators_resolve_ambiguous_numbers_alike(folder, numbers, thousands):
    values = [float(one) if thousands or one < 1000 else one / 1000 for one in numbers]
    labels = [["yes", "no"][row % 2] for row in range(len(values))]

    def texts(mark, part):
        if thousands:
            return [f"{one:,.0f}".replace(",", part) for one in values]
        return [f"{one:.3f}".replace(".", mark) if one % 1 else f"{one:.0f}" for one in values]

    american = as_prepared(written([texts(".", ","), labels], US, None, ",", False), folder)
    european = as_prepared(written([texts(",", "."), labels], EUROPE, None, ";", False), folder)
    assert rows_text(american) == rows_text(european)
    assert [column.values.tolist() for column in american.inputs] in ([], [values])
