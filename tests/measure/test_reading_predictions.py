"""Test what is read from prediction files, and that messages name the line of a fault."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probcal.errors import DataError
from probcal.measure import many_files
from probcal.measure.measurement import measure_sections
from probcal.reading.output_file import delimited_with_columns
from probcal.reading.prediction_file import PredictionsRequest, read_predictions
from probcal.try_table.preparation import TableRequest, prepare
from tests.commands import probcal, refused
from tests.measure.prediction_files import read, read_table, three_classes, two_classes, written

ROWS = "".join(f"0.{number},{number % 2}\n" for number in range(10))
BIG = 2**53


def labelled(labels, n=10):
    """Return a table of ``n`` rows with these labels in turn."""
    return "p,y\n" + "".join(f"0.{row},{labels[row % len(labels)]}\n" for row in range(n))


def percent(frame, mark=".", sign="%"):
    return frame.assign(p=[f"{100 * p:.4f}{sign}".replace(".", mark) for p in frame.p])


def in_both_formats(frame, folder, **more):
    """Return what is read from the table as CSV and as Parquet."""
    frame.to_parquet(folder / "a.parquet")
    return [read_table(frame, folder, **more), read(folder / "a.parquet", **more)]


# --- the columns


def test_all_columns_are_read_as_they_are_written(tmp_path):
    frame = two_classes()
    for predictions in in_both_formats(frame, tmp_path, weight="w", groups=("sex",)):
        assert predictions.classes == ("0", "1")
        np.testing.assert_array_equal(predictions.p, frame.p)
        np.testing.assert_array_equal(predictions.y, frame.y)
        np.testing.assert_array_equal(predictions.weight, frame.w)
        np.testing.assert_array_equal(predictions.groups["sex"], frame.sex)
    assert predictions.line(0) == "row 1"


@pytest.mark.parametrize("decimal", [".", ","])
def test_decimal_marks_between_semicolons_give_the_same_numbers(tmp_path, decimal):
    frame = two_classes()
    predictions = read(written(frame, tmp_path / "a.csv", sep=";", decimal=decimal))
    np.testing.assert_array_equal(predictions.p, frame.p)
    assert predictions.mark == decimal


@pytest.mark.parametrize(("mark", "sep"), [(".", ","), (",", ";"), (",", ","), (".", ";")])
@pytest.mark.parametrize("sign", ["%", " %", "\N{NO-BREAK SPACE}%", "\N{FULLWIDTH PERCENT SIGN}"])
def test_a_sign_on_every_value_means_hundredths(tmp_path, mark, sep, sign):
    frame = two_classes()
    predictions = read(written(percent(frame, mark, sign), tmp_path / "a.csv", sep=sep))
    np.testing.assert_array_equal(predictions.p, frame.p)  # not one digit is lost


def test_per_cent_signs_in_parquet_and_in_several_columns(tmp_path):
    frame = two_classes()
    percent(frame).to_parquet(tmp_path / "a.parquet")
    np.testing.assert_array_equal(read(tmp_path / "a.parquet").p, frame.p)
    both = pd.DataFrame({"p0": [f"{100 - 100 * p:.4f}%" for p in frame.p], "p1": percent(frame).p, "y": frame.y})
    np.testing.assert_allclose(read_table(both, tmp_path, "p0", "p1").p[:, 1], frame.p)


def test_a_file_with_signs_is_written_with_fractions_beside_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(percent(two_classes()), tmp_path / "a.csv")
    done = probcal("measure", "a.csv", "-p", "p", "-t", "y", "-c", "sigmoid", "-o", "o.csv", "--draws", 20)
    assert done.exit_code == 0, done.output
    after = pd.read_csv("o.csv")
    assert after.p.str.endswith("%").all() and after.p_sigmoid.between(0, 1).all()


def test_float32_rounding_beyond_one_is_accepted(tmp_path):
    pd.DataFrame({"p": [1 + 1e-7, -1e-8, 0.5, 0.5], "y": [1, 0, 1, 0]}).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").p.tolist() == [1, 0, 0.5, 0.5]


# --- the labels


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("01", "1"), (["0.0", "1.0"], "1"), (["-1", "1"], "1"), (["yes", "no"], "yes"), (["True", "False"], "True"),
     ("0011111111", "1")],
)  # fmt: skip
def test_the_usual_positive_labels_need_no_option(tmp_path, labels, positive):
    assert read_table(labelled(labels), tmp_path).classes[1] == positive


@pytest.mark.parametrize(("first", "second"), [("bad", "good"), ("1", "2"), ("0", "2"), ("1", "1.5")])
def test_other_labels_need_the_option_positive(tmp_path, first, second):
    path = written(labelled([first, second]), tmp_path / "a.csv")
    with pytest.raises(DataError, match=f'holds {first}, {second}; name the label whose probability "p" is with --pos'):
        read(path)
    assert read(path, positive=first).classes == (second, first)


def test_words_such_as_na_can_be_labels(tmp_path):
    path = written(labelled(["NA", "low", "high"]), tmp_path / "a.csv")
    with pytest.raises(DataError, match="add --label NA"):
        read(path, positive="high")
    predictions = read(path, positive="high", label=("NA",))
    written_again = delimited_with_columns(predictions.table, ["p_beta"], predictions.p[:, None], ".")
    assert written_again.count(",NA,") == 4
    assert read(path, positive="NA").classes == ("not NA", "NA")
    with pytest.raises(DataError, match='holds no "None"'):
        read(path, positive="high", label=("NA", "None"))


@pytest.mark.parametrize(("labels", "needed"), [("01", 4), ("011", 4), ("01234", 10)])
def test_message_says_that_there_are_too_few_rows(tmp_path, labels, needed):
    said = rf'"y" holds \d different labels in {len(labels)} rows, which are too few \(at least {needed} are needed\)'
    with pytest.raises(DataError, match=said):
        read_table(labelled(labels, len(labels)), tmp_path, positive="1")


def test_four_rows_of_two_labels_are_read(tmp_path):
    assert read_table(labelled("01", 4), tmp_path).counts() == {"0": 2, "1": 2}


@pytest.mark.parametrize(
    ("labels", "positive"), [(("0", "1", "1.0"), "1"), (("false", "True", "true"), "true"), (("0", "1,0", "1"), "1")]
)
def test_spellings_of_one_label_are_one_label(tmp_path, labels, positive):
    rows = "".join(f"0,{row};{labels[row % 3]}\n" for row in range(9))
    assert read_table("p;y\n" + rows, tmp_path).counts()[positive] == 6


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_labels_of_large_whole_numbers_stay_apart(tmp_path, suffix):
    frame = two_classes().assign(y=lambda table: np.where(table.index % 3 == 2, BIG + 2, BIG + table.y))
    path = tmp_path / f"a.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    predictions = read(path, positive=str(BIG + 1))
    assert predictions.y.mean() == (frame.y == BIG + 1).mean() > 0.1
    assert predictions.classes == (f"not {BIG + 1}", str(BIG + 1))


@pytest.mark.parametrize("spelling", ["{:,}", "{}.0", "{:.17e}", "{:+}"])
def test_large_labels_stay_apart_in_every_spelling(tmp_path, spelling):
    exact = [Decimal(12345678901234567 + code) for code in range(2)]
    frame = two_classes().assign(y=lambda table: [spelling.format(exact[code]) for code in table.y])
    predictions = read(written(frame, tmp_path / "a.csv", sep=";"), positive=str(exact[1]))
    assert predictions.classes == tuple(map(str, exact))
    np.testing.assert_array_equal(predictions.y, two_classes().y)


@pytest.mark.parametrize(("dtype", "label"), [("float64", BIG), ("float32", 2**24)])
def test_labels_that_a_float_may_have_merged_are_refused(tmp_path, dtype, label):
    frame = two_classes().assign(y=lambda table: (label + 2 * table.y).astype(dtype))
    frame.to_parquet(tmp_path / "a.parquet")
    said = rf'row 1: column "y" holds the label {label + 2}, .* may be lost; write the labels as text or as whole num'
    with pytest.raises(DataError, match=said):
        read(tmp_path / "a.parquet", positive=str(label))
    with pytest.raises(DataError, match=said):
        prepare(TableRequest(str(tmp_path / "a.parquet"), target="y"))


# --- several columns of probabilities


def test_columns_that_name_both_labels_need_no_option(tmp_path):
    frame = pd.DataFrame({"p_1": [0.25, 0.75] * 3, "p_2": [0.75, 0.25] * 3, "y": [1, 2] * 3})
    predictions = read_table(frame, tmp_path, "p_*")
    assert predictions.classes == ("1", "2")
    assert predictions.p[:, 1].tolist() == frame.p_2.to_list()


def test_two_columns_of_two_classes_are_both_read(tmp_path):
    frame = two_classes()[["p", "y"]].assign(q=lambda table: 1 - table.p).rename(columns={"p": "p1", "q": "p0"})
    predictions = read_table(frame, tmp_path, "p1", "p0")
    assert predictions.columns == ("p0", "p1")
    np.testing.assert_allclose(predictions.p[:, 1], frame.p1)


def test_one_of_several_labels_is_measured_against_the_rest(tmp_path):
    frame = three_classes()
    np.testing.assert_array_equal(read_table(frame, tmp_path, "p_cow", positive="cow").y, frame.y == "cow")
    with pytest.raises(DataError, match="holds 3 labels"):
        read_table(frame, tmp_path, "p_cow")


@pytest.mark.parametrize("names", [("p_*",), ("p_dog", "p_cow", "p_cat")])
def test_columns_of_several_classes_find_their_labels(tmp_path, names):
    frame = three_classes()
    predictions = read_table(frame, tmp_path, *names)
    assert predictions.columns == ("p_cat", "p_cow", "p_dog")
    assert predictions.classes == ("cat", "cow", "dog")
    assert [predictions.classes[code] for code in predictions.y] == frame.y.to_list()


def test_rows_of_rounded_probabilities_are_divided_by_their_sum(tmp_path):
    predictions = read_table(three_classes(), tmp_path, "p_*")
    np.testing.assert_allclose(predictions.p.sum(axis=1), 1, atol=1e-12)
    assert "each row was divided by its sum, which is up to 0.001 away from 1" in predictions.notes


# --- groups and weights


def test_booleans_are_the_same_in_csv_and_parquet(tmp_path):
    frame = two_classes().assign(y=lambda table: table.y == 1, sex=lambda table: table.sex == "F")
    for predictions in in_both_formats(frame, tmp_path, groups=("sex",), positive="True"):
        np.testing.assert_array_equal(predictions.y, frame.y)
        assert set(predictions.groups["sex"]) == {"true", "false"}


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["2026-01", "2026-02"], ["2026-01", "2026-02"]),
        (["01", "10"], ["01", "10"]),
        ([202601, 202602], ["202601", "202602"]),
        (["01/2026", "02/2026"], ["01/2026", "02/2026"]),
        (pd.to_datetime(["2026-01-01", "2026-02-01"]), ["2026-01-01", "2026-02-01"]),
        (pd.to_datetime(["2026-01-01 00:00", "2026-01-01 12:30"]), ["2026-01-01 00:00:00", "2026-01-01 12:30:00"]),
        (pd.PeriodIndex(["2026-01", "2026-02"], freq="M"), ["2026-01", "2026-02"]),
        ([1.0, 2.0], ["1", "2"]),
        (["F", None], ["F", "(missing)"]),
    ],
)
def test_values_of_every_type_are_names_of_groups(tmp_path, values, names):
    frame = two_classes().assign(group=pd.Series(values).repeat(100).array)
    for predictions in in_both_formats(frame, tmp_path, groups=("group",)):
        assert predictions.groups["group"].tolist() == [names[0]] * 100 + [names[1]] * 100


def test_large_whole_numbers_with_missing_values_are_never_merged(tmp_path):
    ids = pa.array([BIG, BIG + 1, None, BIG] * 10, pa.int64())
    pq.write_table(pa.table({"p": [0.5] * 40, "y": [0, 1] * 20, "id": ids}), tmp_path / "a.parquet")
    groups = set(read(tmp_path / "a.parquet", groups=("id",)).groups["id"])
    assert groups == {str(BIG), str(BIG + 1), "(missing)"}


@pytest.mark.parametrize("scale", [1e308, 1e150, 1e-150, 5e-324])
def test_the_scale_of_the_weights_changes_nothing(tmp_path, scale, recwarn):
    frame = two_classes(60)
    plain, scaled = (read_table(frame.assign(w=w), tmp_path, weight="w") for w in (1.0, scale))
    [section], [other] = (measure_sections(predictions, None, 20, 0) for predictions in (plain, scaled))
    for line in section.lines:
        assert other.line(line.quantity.name).before.value == pytest.approx(line.before.value, nan_ok=True)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("column", "labels", "positive"),
    [
        ("p(no)", ("no", "yes"), "no"),
        ("p(yes)", ("no", "yes"), "yes"),
        ("p(0)", ("0", "1"), "0"),
        ("p(fraud)", ("fraud", "ok"), "fraud"),
        ("p(fraud)_beta", ("fraud", "ok"), "fraud"),
        ("p(a (b))", ("a (b)", "c"), "a (b)"),
        ("p(true)", ("False", "True"), "True"),
        ("p(other)", ("no", "yes"), "yes"),
    ],
)
def test_a_column_named_as_an_exported_model_writes_it_holds_its_label(tmp_path, column, labels, positive):
    frame = two_classes().rename(columns={"p": column})
    frame["y"] = np.where(frame["y"] == 1, *labels)
    frame.to_parquet(tmp_path / "b.parquet")
    for predictions in (read_table(frame, tmp_path, column), read(tmp_path / "b.parquet", column)):
        assert predictions.classes[1] == positive
        assert (predictions.y == (frame["y"] == positive)).all()
    assert read_table(frame, tmp_path, column, positive=labels[0]).classes[1] == labels[0]


@pytest.mark.parametrize("rows_at_once", [5_000_000, 10])  # read whole, or as a summary
def test_several_negative_labels_are_counted_in_a_note(tmp_path, monkeypatch, rows_at_once):
    monkeypatch.setattr(many_files, "EXACT_ROWS", rows_at_once)
    frame = two_classes().assign(y=lambda table: table.y.map({0: "fine", 1: "fraud"}))
    frame.to_parquet(tmp_path / "two.parquet")
    n_fine = int((frame.y == "fine").sum())
    frame.loc[frame.index[frame.y == "fine"][0], "y"] = "maybe"
    frame.to_parquet(tmp_path / "three.parquet")
    words = ("-p", "p", "-t", "y", "--positive", "fraud", "-g", "sex", "--draws", 0)
    note = f'note: labels other than "fraud" count as negative: fine ({n_fine - 1}), maybe (1)'
    assert note in " ".join(probcal("measure", tmp_path / "three.parquet", *words).stdout.split())
    assert "count as negative" not in probcal("measure", tmp_path / "two.parquet", *words).stdout


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_measure_leaves_rows_without_a_label_out_and_counts_them(tmp_path, suffix):
    frame = two_classes().assign(y=lambda table: table.y.map({0: "ok", 1: "fraud"}), id=lambda table: table.index // 3)
    holes = frame.assign(y=frame.y.where(frame.index % 10 != 3))
    kept = holes.dropna(subset="y")
    for name, one in (("holes", holes), ("kept", kept)):
        one.to_csv(tmp_path / f"{name}.csv", index=False)
        one.to_parquet(tmp_path / f"{name}.parquet")
    words = ("-p", "p", "-t", "y", "--positive", "fraud", "-w", "w", "-g", "sex", "--cluster", "id", "--draws", 20)
    found = [
        probcal("measure", tmp_path / f"{name}.{suffix}", *words, "-c", "beta", "-f", "json")
        for name in ("holes", "kept")
    ]
    assert [one.exit_code for one in found] == [0, 0], found[0].output
    of_holes, of_kept = (json.loads(one.stdout) for one in found)
    notes = [note for note in of_holes["data"]["notes"] if note not in of_kept["data"]["notes"]]
    assert notes == ["20 of 200 rows have no y and are left out"]
    for one in (of_holes, of_kept):
        del one["data"]
    assert str(of_holes) == str(of_kept)
    refusal = refused("measure", tmp_path / f"holes.{suffix}", *words, "-c", "beta", "-o", tmp_path / "o.csv")
    assert "has no value (and 19 more of 200 rows); give every row a label" in refusal


def test_a_file_without_any_label_is_refused(tmp_path):
    path = written("p,y\n.5,\n.4,\n", tmp_path / "a.csv")
    assert "column" in refused("measure", path, "-p", "p", "-t", "y")


# --- what is refused


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("-3,1", 'a.csv:12: column "p" holds -3, and a probability lies from 0 to 1; the values reach from -3 to 0.9'),
        (",1", 'a.csv:12: column "p" has no value; give every row a number'),
        ("12 %,1", 'a.csv:12: column "p" holds "12 %", no number; give a number from 0 to 1; write 12 % as .12'),
        ("high,1", 'a.csv:12: column "p" holds "high", no number'),
        (".5,", 'a.csv:12: column "y" has no value; give every row a label, or remove such rows'),
        ("\n\n\n2,1", "a.csv:15: column"),
        ('1,"', "a.csv:12: "),
    ],
)
def test_message_names_the_line_of_a_bad_row(tmp_path, last, said):
    with pytest.raises(DataError) as refused:
        read_table("p,y\n" + ROWS + last + "\n", tmp_path)
    assert said in str(refused.value)


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "1e999"])
def test_infinities_in_text_are_no_numbers(tmp_path, word):
    text = "p,y\n.5,1\n" + word + ",0\n" + ".4,0\n.6,1\n" * 20
    with pytest.raises(DataError, match=f'a.csv:3: column "p" holds "{word}", no number; give a number from 0 to 1'):
        read_table(text, tmp_path)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_typed_infinities_are_no_probabilities(tmp_path, kind):
    p = np.array([0.5, 0.25, 0.75, 0.5], kind)
    frame = pd.DataFrame({"p": p, "y": [0, 1, 1, 0]})
    frame.to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").p.tolist() == [0.5, 0.25, 0.75, 0.5]
    frame.assign(p=np.array([0.5, np.inf, 0.75, -np.inf], kind)).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r'a.parquet, row 2: column "p" holds inf, and a probability lies from 0 to 1'):
        read(tmp_path / "a.parquet")


def test_line_numbers_count_quoted_breaks_and_the_separator_line(tmp_path):
    text = 'sep=,\r\np,y,note\r\n.5,1,"two\r\nlines"\r\n.4,0,a\r\n2,1,b\r\n.1,0,c\r\n'
    with pytest.raises(DataError, match=r'a.csv:6: column "p" holds 2,'):
        read_table(text, tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("p", "0.5", 'column "p" holds "0.5" without the per-cent sign of 199 other rows; write all values'),
        ("p", "high", 'column "p" holds "high" without the per-cent sign'),
        ("p", "120%", 'column "p" holds 120%, and a probability lies from 0 to 1'),
        ("p", None, 'column "p" has no value'),
        ("w", "heavy", 'column "w" holds "heavy", no number'),
        ("w", "", 'column "w" has no value'),
        ("w", "nan", 'column "w" has no value'),
        ("w", "-1", 'column "w" holds the weight -1; give finite weights of at least 0'),
        ("w", "inf", 'column "w" holds "inf", no number'),
        ("w", "1e-300", 'column "w" holds the weight 1e-300 beside 3; give weights'),
    ],
)
def test_a_value_unlike_the_others_is_refused_with_its_line(tmp_path, column, value, said):
    frame = percent(two_classes()).astype({"w": object})
    frame.loc[7, column] = value
    with pytest.raises(DataError) as refused:
        read_table(frame, tmp_path, weight="w")
    assert f"a.csv:9: {said}" in str(refused.value)


@pytest.mark.parametrize(
    ("change", "columns", "said"),
    [
        ({"p": lambda table: table.p * 100}, ("p",), "like percent; divide the column by 100"),
        ({"w": 0.0}, ("p",), 'column "w" is 0 in every row; give a weight above 0'),
        (
            {"w": lambda table: 1.0 * (table.y == 1)},
            ("p",),
            'rows of which "w" is 0, column "y" holds only one class, "1"; two are needed',
        ),
        ({"p0": 0.9}, ("p", "p0"), "do not name them; give one column for each label, named like p_LABEL"),
        ({"p0": 0.9, "p1": 0.3}, ("p0", "p1"), "a.csv:2: the probabilities have the sum 1.2, not 1"),
    ],
)
def test_columns_that_do_not_fit_are_refused(tmp_path, change, columns, said):
    with pytest.raises(DataError) as refused:
        read_table(two_classes().assign(**change), tmp_path, *columns, weight="w")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"probability": ("prob",)}, '--probability: a.csv has no column "prob" (it has: id, p, y, sex, w)'),
        ({"target": "Y "}, '--target: a.csv has no column "Y "; did you mean "y"?'),
        ({"target": None}, "a.csv: name a column with --target; there are: id, p, y, sex, w"),
        ({"probability": ()}, "a.csv: name a column with --probability; there are: id"),
        ({"probability": ("p", "p")}, 'column "p" is given twice'),
        ({"target": "p"}, "as --target and as --probability"),
        ({"probability": ("q_*",)}, "no column of a.csv matches q_*"),
        ({"groups": ("id",)}, "has 200 different values, and at most 50 groups are measured"),
        ({"positive": "2"}, 'holds no "2"'),
        ({"weight": "sex"}, 'a.csv:2: column "sex" holds "F", no number'),
        ({"target": "z"}, 'a.csv has no column "z" (it has: id, p, y, sex, w)'),
        ({"target": "w"}, "holds 3 labels (1, 2, 3); give a --probability column for each of them"),
    ],
)
def test_message_for_a_wrong_option_names_the_remedy(tmp_path, options, said):
    frame = two_classes()
    frame.loc[0, "sex"] = "F"
    request = {"source": str(written(frame, tmp_path / "a.csv")), "probability": ("p",), "target": "y", **options}
    with pytest.raises(DataError) as refused:
        read_predictions(PredictionsRequest(**request))
    assert said in str(refused.value)


@pytest.mark.parametrize("text", [".25,1,F\n.75,0,M\n", "F;,75;0\nM;,25;1\n"])
def test_a_file_without_names_gets_a_hint(tmp_path, text):
    with pytest.raises(DataError, match='has no column "y"; the first line must hold the names of the columns'):
        read_table(text * 5, tmp_path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_labels_that_differ_by_blanks_are_one_label_and_a_note_counts_them(tmp_path, ending):
    labels = ["yes", "no", "no", "no ", " no", "no ", "yes", "yes\u00a0"] * 3
    frame = pd.DataFrame({"p": np.linspace(0, 1, 24).round(2), "y": labels})
    getattr(frame, f"to_{ending}")(path := tmp_path / f"a.{ending}", index=False)
    said = " ".join(probcal("measure", path, "-p", "p", "-t", "y", "--draws", 20).stdout.split())
    assert 'target y: "yes" is positive, 9 rows' in said
    assert 'note: labels that differ by blanks only are one label: "no" (9 of 15 rows with other blanks, such' in said
    assert 'such as "no "), "yes" (3 of 9 rows with other blanks, such as "yes' in said
    frame["x"] = np.arange(24) % 5
    getattr(frame, f"to_{ending}")(path, index=False)
    said = " ".join(probcal("try", path, "--target", "y", "--dry-run").stdout.split())
    assert 'note: labels that differ by blanks only are one label: "no" (9 of 15 rows with other blanks, such' in said


@pytest.mark.parametrize("labels", [["yes ", "no "], [" 1", "0"], ["a b", "c"]])
def test_labels_that_are_written_alike_need_no_note(tmp_path, labels):
    pd.DataFrame({"p": [0.5, 0.25] * 10, "y": labels * 10}).to_csv(tmp_path / "a.csv", index=False)
    positive = labels[0].strip()
    said = probcal("measure", tmp_path / "a.csv", "-p", "p", "-t", "y", "--positive", positive, "--draws", 20)
    assert said.exit_code == 0 and "blanks" not in said.stdout
