"""Test that numbers with units, currencies and other notation are read as numbers."""

import pandas as pd
import pytest
from probcal.try_table.numbers_in_text import number
from probcal.try_table.written_numbers import plain_number, read_written_numbers

from tests.try_table.own_tables import customers, line_of, shown, written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$1,234.50", 1234.5),
        ("-$5", -5),
        ("($1,234)", -1234),
        ("(12)", -12),
        ("USD 1,200", 1200),
        ("12.5%", 12.5),
        ("$3M", 3e6),
        ("1.2k", 1200),
        ("$32K/yr", 32_000),
        ("€ 12.50 per hour", 12.5),
        ("\uff14\uff12\uff05", 42),
        ("14:30", 870),
        ("4h05", 245),
        ("2:30 pm", 870),
        ("12 am", 0),
        ("36:15:30", 2175.5),
        ("1h 30m", 90),
        ("2 days 3 hours", 3060),
        ("PT1H30M", 90),
        ("45 s", 0.75),
        ("70.5kg", 70.5),
        ("-12 °C", -12),
        ("12,000 km/h", 12000),
        ("5'10\"", 70),
        ("14.30 Uhr", 870),
        ("3 years", 3),
        ("18 months", 1.5),
        ("1 year 6 months", 1.5),
        ("₹40,29,366", 4029366),
    ],
)
def test_numbers_with_units_are_read(text, value):
    assert number(plain_number(text).text, ".") == pytest.approx(value)


@pytest.mark.parametrize("text", ["1 234,50 €", "1.234,50 EUR"])
def test_money_may_have_a_decimal_comma(text):
    assert number(plain_number(text).text, ",") == 1234.5


@pytest.mark.parametrize(
    "text", ["12", "1,5", "2026-11-21", "21.11.2026", "Level 1", "1.2.3", "007", "<5", "10-20", "a"]
)
def test_plain_numbers_dates_and_words_are_not_converted(text):
    assert plain_number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<5", 5),
        ("10-20", 15),
        ("65+", 65),
        ("10+ years", 10),
        ("~ $50", 50),
        ("about 3 kg", 3),
        ("23/50", 0.46),
        ("40,29,366", 4029366),
        ("< 1 year", 1),
        ("4 1/2", 4.5),
        ("1-3/4", 1.75),
        ("2½", 2.5),
        ("¾", 0.75),
    ],
)
def test_number_option_reads_limits_and_ranges(text, value):
    assert number(plain_number(text, loose=True).text, ".") == value


@pytest.mark.parametrize(
    "values", [["3 doors", "5 doors"], ["1 kg", "2 m", "3 s"], ["5 %", "low", "high", "mid", "none"]]
)
def test_column_with_mixed_notation_stays_text(values):
    assert read_written_numbers(pd.Series(values * 10), loose=False) is None
    assert read_written_numbers(pd.Series(values * 10), loose=True) is not None


def test_columns_with_units_become_numbers_with_a_note(tmp_path):
    frame = customers(200)
    frame["spend"] = [f"${100 * one:,.2f}" for one in frame["spend"]]
    frame["Height (cm)"] = [f"{150 + one % 40} cm" for one in range(200)]
    frame["score"] = [
        *["refused to answer this question", "the device was broken on that day"],
        *(str(one * 7 % 101) for one in range(198)),
    ]
    text = shown(written(frame, tmp_path / "c.csv"))
    assert "; without $" in " ".join(text.split())
    assert line_of("Height (cm)", text) == "Height (cm) number 150 to 189; without the unit cm"
    assert "refused to answer this question, the device was broken on that day read as missing" in " ".join(
        text.split()
    )
    assert max(map(len, text.splitlines())) <= 80


def test_number_option_reads_dates_and_durations(tmp_path):
    frame = customers(120)
    frame["lasted"] = [f"{one % 5}h {one % 60}m" if one % 3 else f"{one} min" for one in range(120)]
    text = shown(written(frame, tmp_path / "c.csv"), "left", "--number", "lasted", "--number", "since")
    assert line_of("lasted", text).startswith("lasted number 0 to")
    assert line_of("since", text).startswith("since date 2020-01-01")


def test_times_do_not_decide_the_decimal_mark_of_the_file(tmp_path):
    frame = customers(120)
    frame["at"] = [f"1{one % 10}:{one % 60:02d}:{one % 50:02d}" for one in range(120)]
    frame["weight"] = [f"1,2{one % 50 + 10}" for one in range(120)]
    frame["spend"] = range(120)
    text = shown(written(frame, tmp_path / "c.csv", sep=";"))
    assert line_of("weight", text).startswith("weight number 1.21 to 1.259; decimal comma")
    assert line_of("at", text) == "at number 600 to 1199; times, in minutes"
    assert 'column "at"' not in text


@pytest.mark.parametrize(
    ("values", "units"),
    [(["1.7 GB", "790 MB"], "GB and MB"), (["5 km", "700 m"], "km and m"), (["$ 7", "8 EUR", "9 USD"], "$ and €")],
)
def test_mixed_units_are_named_as_not_comparable(tmp_path, values, units):
    frame = customers(120).assign(size=[values[one % len(values)].replace("7", f"7{one}") for one in range(120)])
    path = written(frame, tmp_path / "c.csv")
    said = " ".join(shown(path, "left", "--number", "size").split())
    assert f'"size" mixes the units {units}, and its numbers are read as they stand, so they are not comparable' in said


def test_note_on_mixed_units_names_the_number_option(tmp_path):
    frame = customers(120).assign(size=[f"{one} {'GB' if one % 2 else 'MB'}" for one in range(120)])
    assert "--number reads its numbers" in " ".join(shown(written(frame, tmp_path / "c.csv")).split())
