"""Test what is read from prediction files, and that messages name the line of a fault."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from probcal.errors import DataError
from probcal.measure.measure import write_calibrated
from tests.measure.prediction_files import read, three_classes, two_classes, written

ROWS = "".join(f"0.{number},{number % 2}\n" for number in range(10))


def test_all_columns_are_read_as_they_are_written(tmp_path):
    frame = two_classes()
    found = read(written(frame, tmp_path / "a.csv"), weight="w", groups=("sex",))
    assert found.classes == ("0", "1")
    np.testing.assert_array_equal(found.p, frame.p)
    np.testing.assert_array_equal(found.y, frame.y)
    np.testing.assert_array_equal(found.weight, frame.w)
    np.testing.assert_array_equal(found.groups["sex"], frame.sex)


def test_decimal_commas_with_semicolons_give_the_same_numbers(tmp_path):
    frame = two_classes()
    european = read(written(frame, tmp_path / "e.csv", sep=";", decimal=","))
    np.testing.assert_array_equal(european.p, frame.p)
    assert european.mark == ","
    points = read(written(frame, tmp_path / "p.csv", sep=";"))
    np.testing.assert_array_equal(points.p, frame.p)


def test_a_parquet_file_gives_the_same_as_csv(tmp_path):
    frame = two_classes()
    frame.to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet", weight="w", groups=("sex",))
    np.testing.assert_array_equal(found.p, frame.p)
    np.testing.assert_array_equal(found.y, frame.y)
    assert found.line(0) == "row 1"


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("01", "1"), (["0.0", "1.0"], "1"), (["-1", "1"], "1"), (["yes", "no"], "yes"), (["True", "False"], "True")],
)
def test_the_usual_positive_labels_need_no_option(tmp_path, labels, positive):
    text = "p,y\n" + "".join(f"0.{number},{labels[number % 2]}\n" for number in range(10))
    assert read(written(text, tmp_path / "a.csv")).classes[1] == positive


def test_words_such_as_na_can_be_labels(tmp_path):
    path = written(
        "p,y\n" + "".join(f"0.{number},{('NA', 'low', 'high')[number % 3]}\n" for number in range(10)),
        tmp_path / "a.csv",
    )
    with pytest.raises(DataError, match="add --label NA"):
        read(path, positive="high")
    found = read(path, positive="high", label=("NA",))
    write_calibrated(tmp_path / "b.csv", found, "beta", np.column_stack([1 - found.p, found.p]))
    assert (tmp_path / "b.csv").read_text().count(",NA,") == 4
    assert read(path, positive="NA").classes == ("not NA", "NA")
    with pytest.raises(DataError, match='holds no "None"'):
        read(path, positive="high", label=("NA", "None"))


def test_the_more_frequent_label_may_be_the_positive_one(tmp_path):
    text = "p,y\n" + "".join(f"0.{number},{int(number > 1)}\n" for number in range(10))
    assert read(written(text, tmp_path / "a.csv")).classes == ("0", "1")


@pytest.mark.parametrize(("labels", "needed"), [("01", 4), ("011", 4), ("01234", 10)])
def test_message_says_that_there_are_too_few_rows(tmp_path, labels, needed):
    path = written("p,y\n" + "".join(f".5,{label}\n" for label in labels), tmp_path / "a.csv")
    said = rf'"y" holds \d different labels in {len(labels)} rows, which are too few \(at least {needed} are needed\)'
    with pytest.raises(DataError, match=said):
        read(path, positive="1")


def test_four_rows_of_two_labels_are_read(tmp_path):
    path = written("p,y\n.5,0\n.5,1\n.5,0\n.5,1\n", tmp_path / "a.csv")
    assert read(path).counts() == {"0": 2, "1": 2}


def test_other_labels_need_the_option_positive(tmp_path):
    path = written("p,y\n" + ROWS.replace(",0", ",good").replace(",1", ",bad"), tmp_path / "a.csv")
    with pytest.raises(DataError, match='holds bad, good; name the label whose probability "p" is with --positive'):
        read(path)
    assert read(path, positive="bad").classes == ("good", "bad")


@pytest.mark.parametrize(("first", "second"), [("1", "2"), ("0", "2"), ("1", "1.5")])
def test_labels_other_than_zero_and_one_need_the_option(tmp_path, first, second):
    path = written("p,y\n" + ROWS.replace(",1\n", f",{second}\n").replace(",0\n", f",{first}\n"), tmp_path / "a.csv")
    said = f'"y" holds {first}, {second}; name the label whose probability "p" is with --positive'
    with pytest.raises(DataError, match=said):
        read(path)
    assert read(path, positive=first).classes == (second, first)


def test_columns_that_name_both_labels_need_no_option(tmp_path):
    frame = pd.DataFrame({"p_1": [0.25, 0.75] * 3, "p_2": [0.75, 0.25] * 3, "y": [1, 2] * 3})
    found = read(written(frame, tmp_path / "a.csv"), "p_*")
    assert found.classes == ("1", "2")
    assert found.p[:, 1].tolist() == frame.p_2.to_list()


def test_one_of_several_labels_is_measured_against_the_rest(tmp_path):
    frame = three_classes()
    path = written(frame, tmp_path / "a.csv")
    found = read(path, "p_cow", positive="cow")
    np.testing.assert_array_equal(found.y, frame.y == "cow")
    with pytest.raises(DataError, match="holds 3 labels"):
        read(path, "p_cow")


@pytest.mark.parametrize("names", [("p_*",), ("p_dog", "p_cow", "p_cat")])
def test_columns_of_several_classes_find_their_labels(tmp_path, names):
    frame = three_classes()
    found = read(written(frame, tmp_path / "a.csv"), *names)
    assert found.columns == ("p_cat", "p_cow", "p_dog")
    assert found.classes == ("cat", "cow", "dog")
    assert [found.classes[code] for code in found.y] == frame.y.to_list()


def test_rows_of_rounded_probabilities_are_divided_by_their_sum(tmp_path):
    found = read(written(three_classes(), tmp_path / "a.csv"), "p_*")
    np.testing.assert_allclose(found.p.sum(axis=1), 1, atol=1e-12)
    assert "each row was divided by its sum, which is up to 0.001 away from 1" in found.notes


def test_two_columns_of_two_classes_are_both_read(tmp_path):
    frame = two_classes()[["p", "y"]].assign(q=lambda one: 1 - one.p).rename(columns={"p": "p1", "q": "p0"})
    found = read(written(frame, tmp_path / "a.csv"), "p1", "p0")
    assert found.columns == ("p0", "p1")
    np.testing.assert_allclose(found.p[:, 1], frame.p1)


def test_columns_that_name_no_label_are_rejected(tmp_path):
    path = written(three_classes(), tmp_path / "a.csv")
    with pytest.raises(DataError, match="do not name them; give one column for each label, named like p_LABEL"):
        read(path, "p_cat", "p_dog")


def test_missing_groups_are_a_group(tmp_path):
    frame = two_classes()
    frame.loc[:2, "sex"] = None
    found = read(written(frame, tmp_path / "a.csv"), groups=("sex",))
    assert found.groups["sex"][:3].tolist() == ["(missing)"] * 3


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("-3,1", 'a.csv:12: column "p" holds -3, and a probability lies from 0 to 1; the values reach from -3 to 0.9'),
        (",1", 'a.csv:12: column "p" has no value; give every row a number'),
        ("12 %,1", 'a.csv:12: column "p" holds "12 %", no number; give a number from 0 to 1 (for 12 %, write .12'),
        ("high,1", 'a.csv:12: column "p" holds "high", no number'),
        (".5,", 'a.csv:12: column "y" has no value; give every row a label, or remove such rows'),
        ("\n\n\n2,1", "a.csv:15: column"),
        ('1,"', "a.csv:12: "),
    ],
)
def test_message_names_the_line_of_a_bad_row(tmp_path, last, said):
    path = written("p,y\n" + ROWS + last + "\n", tmp_path / "a.csv")
    with pytest.raises(DataError) as refused:
        read(path)
    assert said in str(refused.value)


def test_line_numbers_count_quoted_breaks_and_the_separator_line(tmp_path):
    text = 'sep=,\r\np,y,note\r\n.5,1,"two\r\nlines"\r\n.4,0,a\r\n2,1,b\r\n.1,0,c\r\n'
    with pytest.raises(DataError, match=r'a.csv:6: column "p" holds 2,'):
        read(written(text, tmp_path / "a.csv"))


def test_message_says_that_values_look_like_percent(tmp_path):
    path = written(two_classes().assign(p=lambda one: one.p * 100), tmp_path / "a.csv")
    with pytest.raises(DataError, match="like percent; divide the column by 100"):
        read(path)


@pytest.mark.parametrize(
    ("how", "said"),
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
def test_message_for_a_wrong_option_names_the_remedy(tmp_path, how, said):
    from probcal.measure.prediction_file import PredictionsRequest, read_predictions

    frame = two_classes()
    frame.loc[0, "sex"] = "F"
    request = {"source": str(written(frame, tmp_path / "a.csv")), "probability": ("p",), "target": "y", **how}
    with pytest.raises(DataError) as refused:
        read_predictions(PredictionsRequest(**request))
    assert said in str(refused.value)


@pytest.mark.parametrize("text", [".25,1,F\n.75,0,M\n", "F;,75;0\nM;,25;1\n"])
def test_a_file_without_names_gets_a_hint(tmp_path, text):
    with pytest.raises(DataError, match='has no column "y"; the first line must hold the names of the columns'):
        read(written(text * 5, tmp_path / "a.csv"))


def test_a_wrong_name_beside_a_header_gets_no_hint(tmp_path):
    with pytest.raises(DataError) as refused:
        read(written(two_classes(), tmp_path / "a.csv"), "prob")
    assert "first line" not in str(refused.value)


def test_probabilities_that_do_not_sum_to_one_are_rejected(tmp_path):
    frame = three_classes()
    frame.loc[3, "p_cat"] = 0.9
    with pytest.raises(DataError, match=r"a.csv:5: the probabilities have the sum"):
        read(written(frame, tmp_path / "a.csv"), "p_*")


@pytest.mark.parametrize("weights", ["-1", "inf"])
def test_negative_and_infinite_weights_are_rejected(tmp_path, weights):
    path = written("p,y,w\n" + ROWS.replace("\n", ",1\n") + f".5,1,{weights}\n", tmp_path / "a.csv")
    with pytest.raises(DataError, match=r"a\.csv:12: column"):
        read(path, weight="w")


def test_float32_rounding_beyond_one_is_accepted(tmp_path):
    frame = pd.DataFrame({"p": [1 + 1e-7, -1e-8, 0.5, 0.5], "y": [1, 0, 1, 0]})
    content = io.BytesIO()
    frame.to_parquet(content)
    (tmp_path / "a.parquet").write_bytes(content.getvalue())
    assert read(tmp_path / "a.parquet").p.tolist() == [1, 0, 0.5, 0.5]
