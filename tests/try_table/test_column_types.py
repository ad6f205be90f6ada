"""Test the type of a column, and why a column is left out."""

import numpy as np
import pyarrow as pa
import pytest

from probcal.errors import DataError
from probcal.reading.decimal_mark import decimal_marks
from probcal.reading.text_column import TextColumn
from probcal.try_table.column_types import ColumnChoices, FileFacts, infer_column
from tests.try_table.own_tables import customers, line_of, shown, written

NOTHING = ColumnChoices()


def column(values, choices=NOTHING, name="c"):
    """Return the inferred column of these values as text, as in a CSV file."""
    text = pa.chunked_array([[None if value is None else str(value) for value in values]], pa.large_string())
    marks = decimal_marks({0: TextColumn(text)})
    return infer_column(name, text, choices, FileFacts(marks[0], marks.undecided.get(0, "")))


def kind_and_about(values, **more):
    inferred = column(values, **more)
    return inferred.kind, inferred.about


@pytest.mark.parametrize(
    ("values", "kind", "about"),
    [
        ([1.5, -2, "3e2", ".5"] * 10, "number", "-2 to 300"),
        (["0", "1"] * 20, "number", "0 to 1"),
        (["true", "false", "true"] * 10, "category", "2 values: true, false"),
        (["a", "b", None] * 10, "category", "2 values: a, b"),
        (["01234", "00501"] * 10, "category", "2 values: 01234, 00501"),
        (["1,5", "2,25"] * 10, "number", "1.5 to 2.25; decimal comma"),
        (["1,500", "2,250,000"] * 10, "number", "1,500 to 2,250,000; commas separate thousands"),
        (["10%", "5.5 %", "-2%"] * 10, "number", "-0.02 to 0.1; per cent as parts of 1"),
        (["$1,234.50", "-$5", "$20"] * 10, "number", "-5 to 1234; without $; commas separate thousands"),
        (["1'250.5", "3"] * 10, "number", "3 to 1250; apostrophes separate thousands"),
        (["1 234,5 €", "20 €"] * 10, "number", "20 to 1234; without €; blanks separate thousands, decimal comma"),
        (["1.500,5", "-20,25", "900"] * 10, "number", "-20.25 to 1500; points separate thousands, decimal comma"),
        (["1.500.000", "2.000", "900"] * 10, "number", "900 to 1,500,000; points separate thousands"),
        (["1.500", "2.25"] * 10, "number", "1.5 to 2.25"),
        (["1.500", "900"] * 10, "category", "2 values: 1.500, 900"),
        (["1.500", "1"] * 10, "category", "2 values: 1.500, 1"),
        (["1.500", "0.725"] * 10, "number", "0.725 to 1.5"),
        ([*range(3, 60), 59, "unknown"], "number", "3 to 59; unknown read as missing, with an indicator"),
        (["2026-01-05", "2026-02-01"] * 10, "date", "2026-01-05 to 2026-02-01, as days since 1970"),
        (["2026-01-05T10:00:00Z", "2026-02-01T00:00:00Z"] * 10, "date", "2026-01-05 to 2026-02-01, as days since 1970"),
        (["13/02/2026", "01/03/2026"] * 10, "date", "2026-02-13 to 2026-03-01, as days since 1970"),
        (["02/13/2026", "03/01/2026"] * 10, "date", "2026-02-13 to 2026-03-01, as days since 1970"),
        (["02/03/2026", "03/01/2026"] * 10, "left out", "dates, but day and month are ambiguous; write 2026-11-21"),
        (["13.2.2026", "1.3.2026"] * 10, "date", "2026-02-13 to 2026-03-01, as days since 1970"),
        (["13.2.26", "1.3.26"] * 10, "category", "2 values: 13.2.26, 1.3.26"),
        (["2022-01", "2022-11"] * 10, "date", "2022-01-01 to 2022-11-01, the first day of each as days since 1970"),
        (["2022Q1", "2022-Q3"] * 10, "date", "2022-01-01 to 2022-07-01, the first day of each as days since 1970"),
        (["9999-12-31", "2020-01-02"] * 10, "date", "2020-01-02 to 9999-12-31, as days since 1970"),
        (
            ["0000-00-00", "2020-01-02", "1492-10-12"] * 10,
            "date",
            "1492-10-12 to 2020-01-02, as days since 1970; 0000-00-00 read as missing",
        ),
        (
            [*["2020-01-02", "2020-01-03"] * 20, "open"],
            "date",
            "2020-01-02 to 2020-01-03, as days since 1970; open read as missing, with an indicator",
        ),
        (["13 Feb 2026", "1 March 2026"] * 10, "date", "2026-02-13 to 2026-03-01, as days since 1970"),
        (["Feb 13, 2026", "Sept. 1, 2026"] * 10, "date", "2026-02-13 to 2026-09-01, as days since 1970"),
        (["13-FEB-2026 10:30", "01-MAR-2026 11:00"] * 10, "date", "2026-02-13 to 2026-03-01, as days since 1970"),
        (["12 marbles 20", "13 marbles 20"] * 10, "category", "2 values: 12 marbles 20, 13 marbles 20"),
        (["\uff14", "\uff11\uff12"] * 10, "number", "4 to 12"),
        (["x"] * 20, "left out", "constant: x"),
        (["7", None] * 20, "left out", "constant: 7 or missing"),
        ([str(10**25 + n) for n in range(40)], "left out", "numbers too large to tell apart; --category keeps them"),
        ([None] * 20, "left out", "empty"),
        (range(100, 160), "left out", "a running number of the rows"),
        ([f"user{i}" for i in range(60)], "left out", "a different value in every row, like an id or free text"),
        (
            [f"user{i}" for i in range(60)] + ["user1"] * 10,
            "left out",
            "60 different values in 70 rows, like ids or free text",
        ),
        (
            [f"town{i % 300}" for i in range(3000)],
            "left out",
            "300 different values, more than 200; --category keeps it",
        ),
    ],
)
def test_column_type_follows_from_its_values(values, kind, about):
    assert kind_and_about(values) == (kind, about)


def test_distinct_integers_are_an_id_only_by_name():
    values = [i * i for i in range(60)]
    assert kind_and_about(values, name="customer_id") == ("left out", "an id: a different number in every row")
    for name in ("CustomerID", "patientid", "Kundennummer", "accountNumber", "MRN"):
        assert kind_and_about(values, name=name)[0] == "left out"
    for name in ("income", "paid", "Amount_Paid", "casino"):
        assert kind_and_about(values, name=name)[0] == "number"


def test_options_override_the_guessed_type():
    ids = [f"user{i}" for i in range(60)]
    assert column(ids, ColumnChoices(category=["c"])).kind == "category"
    assert column(range(60), ColumnChoices(number=["c"])).kind == "number"
    assert kind_and_about(["a", "b"] * 20, choices=ColumnChoices(drop=["c"])) == ("left out", "by --drop")
    grades = column(["1", "2"] * 20, ColumnChoices(category=["c"]))
    assert list(grades.values.cat.categories) == ["1", "2"]


def test_number_option_reads_words_as_missing():
    mixed = [*range(10), "low", "high"] * 5
    assert column(mixed).kind == "category"
    declared = column(mixed, ColumnChoices(number=["c"]))
    about = "0 to 9; low, high read as missing, with an indicator"
    assert (declared.kind, declared.missing, declared.about) == ("number", 10, about)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        (["a", "b"], "row 0: --number: column \"c\" holds 'a'"),
        (["80-100K", "75K", "120K"], "row 0: --number: column \"c\" holds '80-100K'"),
        (["1", "10-20", "3"], "row 1: --number: column \"c\" holds '10-20'"),
        (["0.10", "0.2", "0.3", "10%"], "row 3: --number: column \"c\" holds '10%'"),
        ([True, False], '--number: column "c" is of the type bool, not of numbers'),
    ],
)
def test_number_option_refuses_what_reads_in_no_single_way(values, fault):
    with pytest.raises(DataError) as refused:
        infer_column("c", pa.chunked_array([values * 10]), ColumnChoices(number=["c"]))
    assert fault in str(refused.value)


def test_infinite_numbers_are_read_as_missing():
    infinite = infer_column("c", pa.chunked_array([[1.0, np.inf, -np.inf, 2.0]]), NOTHING)
    assert (infinite.missing, infinite.about) == (2, "1 to 2; 2 infinite values read as missing")
    assert np.isnan(infinite.values.to_numpy()).sum() == 2


def test_dates_are_days_with_fractions():
    assert column(["1970-01-02 12:00", "1970-01-01 00:00"]).values.tolist() == [1.5, 0.0]


def texts_shown(tmp_path, values, *options):
    """Return what is printed of a table with the column ``v`` of these values."""
    frame = customers(120).assign(v=[values[i % len(values)] for i in range(120)])
    return shown(written(frame, tmp_path / "c.csv"), "left", *options)


UNLIKE, SHORT_YEARS = "which are not plain numbers written alike", "which are dates with years of two digits"


@pytest.mark.parametrize(
    ("values", "first", "other", "fault"),
    [
        (["10%", "0.10", "5.5%", "0.02563"], "10%", "0.10", UNLIKE),
        (["2 days", "3", "5 days", "1"], "2 days", "3", UNLIKE),
        (["5'10\"", "180", "6'1\"", "175"], "5'10\"", "180", UNLIKE),
        (["1.2B", "350M", "980K", "2.5B"], "1.2B", "350M", UNLIKE),
        (["1.5kg", "20k", "4.0kg", "7k"], "1.5kg", "20k", UNLIKE),
        (["80-100K", "75K", "120K"], "80-100K", "75K", UNLIKE),
        (["$5", "€7", "$9"], "$5", "€7", UNLIKE),
        (["$5", "7", "$9"], "$5", "7", UNLIKE),
        (["14:30", "9:15"], "14:30", "9:15", UNLIKE),
        (["1 1/2", "2"], "1 1/2", "2", UNLIKE),
        (["1,250", "1300", "1.5"], "1,250", "1300", UNLIKE),
        (["70.5 kg", "80 kg"], "70.5 kg", "80 kg", UNLIKE),
        (["5 km", "700 m"], "5 km", "700 m", UNLIKE),
        (["1", "2", "3", "4+"], "1", "4+", UNLIKE),
        (["\u20135", "3", "4"], "3", "\u20135", UNLIKE),
        (["inf", "1", "2"], "1", "inf", UNLIKE),
        (["unknown", "2026-01-01", "2026-01-02", "2026-01-03"], "2026-01-01", "unknown", UNLIKE),
        (["0.5", "100.5", "5%"], "0.5", "5%", UNLIKE),
        (["R$12", "R$13"], "R$12", "R$13", UNLIKE),
        (["%5", "%7"], "%5", "%7", UNLIKE),
        (["kr 12", "12 kr"], "kr 12", "12 kr", UNLIKE),
        (["3/13/52", "3/14/55"], "3/13/52", "3/14/55", SHORT_YEARS),
        (["13-Mar-52", "14-Mar-55"], "13-Mar-52", "14-Mar-55", SHORT_YEARS),
    ],
)
def test_text_of_other_forms_stays_text_with_a_note(tmp_path, values, first, other, fault):
    text = texts_shown(tmp_path, values)
    assert line_of("v", text).startswith("v category")
    said = " ".join(text.split())
    assert f'note: "v" holds {first!r} and {other!r}, {fault}, and is a category' in said
    assert '--drop "v" leaves it out' in said


@pytest.mark.parametrize(
    ("values", "fault", "remedy"),
    [
        (["02/03/2026", "03/01/2026"], "where day and month can be exchanged in every date", "write 2026-11-21"),
        (["2026-01-01 10:00", "2026-01-01 10:00+02:00"], "where some times have a time zone", "write 2026-11-21"),
        (
            [f"{i}.5 kg" if i % 2 else f"{i} lb" for i in range(120)],
            "which are not plain numbers written alike",
            '--category "v" keeps the texts',
        ),
    ],
)
def test_doubtful_columns_are_left_out_with_a_note(tmp_path, values, fault, remedy):
    text = texts_shown(tmp_path, values)
    assert line_of("v", text).startswith("v left out")
    said = " ".join(text.split())
    assert f'"v" holds {values[0]!r} and {values[1]!r}, {fault}' in said and remedy in said


def test_note_on_words_among_numbers_names_the_option(tmp_path):
    values = [*range(1, 10), "unknown"]
    said = " ".join(texts_shown(tmp_path, values).split())
    assert "note: \"v\" holds numbers such as '1' and 'unknown', and is a category; --number \"v\" reads" in said
    said = " ".join(texts_shown(tmp_path, values, "--number", "v").split())
    assert "\"v\" holds 'unknown' between its numbers, which are missing values there with a column" in said
    assert '"v" holds' not in texts_shown(tmp_path, values, "--category", "v")


@pytest.mark.parametrize(
    ("values", "first", "other"),
    [
        ([f"<{i}" if i % 9 == 0 else str(i) for i in range(1, 200)], "1", "<9"),
        (
            [f"${i}.50" if i % 5 else ("free", "gift", "void", "lost")[i // 5 % 4] for i in range(1, 200)],
            "$1.50",
            "gift",
        ),
        ([f"{i},5" if i % 5 else ("free", "gift", "void", "lost")[i // 5 % 4] for i in range(1, 200)], "1,5", "gift"),
    ],
)
def test_a_note_names_the_option_wherever_it_reads_the_column(tmp_path, values, first, other):
    said = " ".join(texts_shown(tmp_path, values).split())
    assert f"note: \"v\" holds numbers such as '{first}' and '{other}', " in said
    assert '--number "v" reads the numbers and takes all else as missing' in said
    assert line_of("v", texts_shown(tmp_path, values, "--number", "v")).startswith("v number")


def test_few_texts_between_numbers_get_an_indicator(tmp_path):
    values = ["<10" if i % 40 == 0 else "n.a." if i % 50 == 1 else f"{i * 7 % 101}.5" for i in range(120)]
    text = texts_shown(tmp_path, values)
    assert line_of("v", text).startswith("v number 1.5 to 100.5; <10, n.a. read as missing, with")
    assert line_of("v is <10 or n.a.", text) == "v is <10 or n.a. number 1 in 6 rows, 0 in all others"
