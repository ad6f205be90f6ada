"""Test that per-cent signs, dates, big whole numbers and weights of prediction files are read rightly or refused."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probcal.errors import DataError
from probcal.measure.measurement import measure_sections
from probcal.try_table.preparation import TableRequest, prepare
from tests.commands import probcal
from tests.measure.prediction_files import read, three_classes, two_classes, written


def percent(frame, mark=".", sign="%"):
    return frame.assign(p=[f"{100 * p:.4f}{sign}".replace(".", mark) for p in frame.p])


@pytest.mark.parametrize(("mark", "sep"), [(".", ","), (",", ";"), (",", ","), (".", ";")])
@pytest.mark.parametrize("sign", ["%", " %", "\N{NO-BREAK SPACE}%", "\N{FULLWIDTH PERCENT SIGN}"])
def test_a_sign_on_every_value_means_hundredths(tmp_path, mark, sep, sign):
    frame = two_classes()
    found = read(written(percent(frame, mark, sign), tmp_path / "a.csv", sep=sep))
    np.testing.assert_array_equal(found.p, frame.p)  # not one digit is lost


def test_per_cent_signs_in_parquet_and_in_several_columns(tmp_path):
    frame = two_classes()
    percent(frame).to_parquet(tmp_path / "a.parquet")
    np.testing.assert_array_equal(read(tmp_path / "a.parquet").p, frame.p)
    both = pd.DataFrame({"p0": [f"{100 - 100 * p:.4f}%" for p in frame.p], "p1": percent(frame).p, "y": frame.y})
    np.testing.assert_allclose(read(written(both, tmp_path / "a.csv"), "p0", "p1").p[:, 1], frame.p)


@pytest.mark.parametrize(
    ("line", "value", "said"),
    [
        (7, "0.5", r'a\.csv:9: column "p" holds "0\.5" without the per-cent sign of 199 other rows; write all values'),
        (7, "high", r'a\.csv:9: column "p" holds "high" without the per-cent sign'),
        (7, "120%", r'a\.csv:9: column "p" holds 120%, and a probability lies from 0 to 1'),
        (7, None, r'a\.csv:9: column "p" has no value'),
    ],
)
def test_a_value_unlike_the_others_is_refused_with_its_line(tmp_path, line, value, said):
    frame = percent(two_classes())
    frame.loc[line, "p"] = value
    with pytest.raises(DataError, match=said):
        read(written(frame, tmp_path / "a.csv"))


def test_a_single_sign_among_plain_numbers_is_refused(tmp_path):
    frame = two_classes().astype({"p": object})
    frame.loc[7, "p"] = "50%"
    with pytest.raises(DataError, match=r'a\.csv:9: column "p" holds "50%", no number'):
        read(written(frame, tmp_path / "a.csv"))


def test_a_file_with_signs_is_written_with_fractions_beside_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(percent(two_classes()), tmp_path / "a.csv")
    done = probcal("measure", "a.csv", "-p", "p", "-t", "y", "-c", "sigmoid", "-o", "o.csv", "--draws", 20)
    assert done.exit_code == 0, done.output
    after = pd.read_csv("o.csv")
    assert after.p.str.endswith("%").all() and after.p_sigmoid.between(0, 1).all()


BIG = 2**53


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_labels_of_large_whole_numbers_stay_apart(tmp_path, suffix):
    frame = two_classes().assign(y=lambda one: np.where(one.index % 3 == 2, BIG + 2, BIG + one.y))
    path = tmp_path / f"a.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    found = read(path, positive=str(BIG + 1))
    assert found.y.mean() == (frame.y == BIG + 1).mean() > 0.1
    assert found.classes == (f"not {BIG + 1}", str(BIG + 1))


def test_spellings_of_one_label_are_one_label(tmp_path):
    for labels, positive in ((("0", "1", "1.0"), "1"), (("false", "True", "true"), "true"), (("0", "1,0", "1"), "1")):
        rows = "".join(f"0,{number};{labels[number % 3]}\n" for number in range(9))
        assert read(written("p;y\n" + rows, tmp_path / "a.csv")).counts()[positive] == 6


def test_a_boolean_column_is_the_same_in_csv_and_parquet(tmp_path):
    frame = two_classes().assign(y=lambda one: one.y == 1, sex=lambda one: one.sex == "F")
    frame.to_parquet(tmp_path / "a.parquet")
    for path in (written(frame, tmp_path / "a.csv"), tmp_path / "a.parquet"):
        found = read(path, groups=("sex",), positive="True")
        np.testing.assert_array_equal(found.y, frame.y)
        assert set(found.groups["sex"]) == {"true", "false"}


MONTHS = {
    "text": (["2026-01", "2026-02"], ["2026-01", "2026-02"]),
    "codes": (["01", "10"], ["01", "10"]),
    "whole numbers": ([202601, 202602], ["202601", "202602"]),
    "slashes": (["01/2026", "02/2026"], ["01/2026", "02/2026"]),
    "dates": (pd.to_datetime(["2026-01-01", "2026-02-01"]), ["2026-01-01", "2026-02-01"]),
    "periods": (pd.PeriodIndex(["2026-01", "2026-02"], freq="M"), ["2026-01", "2026-02"]),
    "floats": ([1.0, 2.0], ["1", "2"]),
}


@pytest.mark.parametrize("kind", MONTHS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_months_and_dates_are_names_of_groups(tmp_path, kind, suffix):
    values, names = MONTHS[kind]
    frame = two_classes().assign(month=pd.Series(values).repeat(100).array)
    path = tmp_path / f"a.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    assert read(path, groups=("month",)).groups["month"].tolist() == [names[0]] * 100 + [names[1]] * 100


def test_times_of_day_are_kept_in_the_names_of_groups(tmp_path):
    frame = two_classes().assign(at=pd.to_datetime(["2026-01-01 00:00", "2026-01-01 12:30"] * 100))
    frame.to_parquet(tmp_path / "a.parquet")
    found = {path.suffix: set(read(path, groups=("at",)).groups["at"])
             for path in (written(frame, tmp_path / "a.csv"), tmp_path / "a.parquet")}  # fmt: skip
    assert found[".csv"] == found[".parquet"] == {"2026-01-01 00:00:00", "2026-01-01 12:30:00"}


def test_large_whole_numbers_with_missing_values_are_never_merged(tmp_path):
    ids = pa.array([BIG, BIG + 1, None, BIG] * 10, pa.int64())
    pq.write_table(pa.table({"p": [0.5] * 40, "y": [0, 1] * 20, "id": ids}), tmp_path / "a.parquet")
    try:
        groups = set(read(tmp_path / "a.parquet", groups=("id",)).groups["id"])
    except DataError as error:
        assert "a number whose last digits may be lost" in str(error)
    else:
        assert groups == {str(BIG), str(BIG + 1), "(missing)"}


@pytest.mark.parametrize("spelling", ["{:,}", "{}.0", "{:.17e}", "{:+}"])
def test_large_labels_stay_apart_in_every_spelling(tmp_path, spelling):
    exact = [Decimal(12345678901234567 + place) for place in range(2)]
    frame = two_classes().assign(y=lambda one: [spelling.format(exact[code]) for code in one.y])
    found = read(written(frame, tmp_path / "a.csv", sep=";"), positive=str(exact[1]))
    assert found.classes == tuple(map(str, exact))
    np.testing.assert_array_equal(found.y, two_classes().y)


@pytest.mark.parametrize(("dtype", "label"), [("float64", BIG), ("float32", 2**24)])
def test_labels_that_a_float_may_have_merged_are_refused(tmp_path, dtype, label):
    frame = two_classes().assign(y=lambda one: (label + 2 * one.y).astype(dtype))
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=rf'row 1: column "y" holds the label {label + 2}, .* may be lost'):
        read(tmp_path / "a.parquet", positive=str(label))
    with pytest.raises(DataError, match=r'column "y" holds the label .*; write the labels as text or as whole numbers'):
        prepare(TableRequest(str(tmp_path / "a.parquet"), target="y"))


@pytest.mark.parametrize("scale", [1e308, 1e150, 1e-150, 5e-324])
def test_the_scale_of_the_weights_changes_nothing(tmp_path, scale, recwarn):
    frame = two_classes(60)
    plain, scaled = (read(written(frame.assign(w=w), tmp_path / "a.csv"), weight="w") for w in (1.0, scale))
    [one], [other] = (measure_sections(predictions, None, 20, 0) for predictions in (plain, scaled))
    for line in one.lines:
        assert other.line(line.quantity.name).before.value == pytest.approx(line.before.value, nan_ok=True)
    assert not recwarn.list


def test_weights_that_no_sum_holds_together_are_refused(tmp_path):
    frame = two_classes(60).assign(w=1e300)
    frame.loc[4, "w"] = 1e-300
    with pytest.raises(DataError, match=r'a\.csv:6: column "w" holds the weight 1e-300 beside 1e\+300; give weights'):
        read(written(frame, tmp_path / "a.csv"), weight="w")


@pytest.mark.parametrize(("weight", "said"), [("heavy", "no number"), ("", "has no value"), ("nan", "has no value")])
def test_a_weight_that_is_no_number_is_refused(tmp_path, weight, said):
    frame = two_classes(60).astype({"w": object})
    frame.loc[4, "w"] = weight
    with pytest.raises(DataError, match=rf'a\.csv:6: column "w" .*{said}'):
        read(written(frame, tmp_path / "a.csv"), weight="w")


def test_a_class_of_weight_zero_is_refused(tmp_path):
    path = written(two_classes(60).assign(w=lambda one: 1.0 * (one.y == 1)), tmp_path / "a.csv")
    with pytest.raises(DataError, match='rows of which "w" is 0, column "y" holds only one class, "1"; two are needed'):
        read(path, weight="w")


def test_header_and_table_count_the_same_rows(tmp_path):
    frame = two_classes(60).assign(w=[0, 0, 1, 3] * 15)
    written(frame, tmp_path / "a.csv")
    text = probcal("measure", tmp_path / "a.csv", "-p", "p", "-t", "y", "-w", "w", "--draws", 20).stdout
    kept = frame[frame.w > 0]
    share = np.average(kept.y, weights=kept.w)
    assert f"{kept.y.sum()} rows ({100 * kept.y.mean():.3g} %), {100 * share:.3g} % of the weight" in text
    assert "note: left out: 30 rows of weight 0" in text
    assert f"base rate         {share:.4f}" in text and "rows                  30\n" in text


def test_a_class_without_rows_is_named(tmp_path):
    frame = three_classes()
    frame.loc[frame.y == "cow", "y"] = "dog"
    written(frame, tmp_path / "a.csv")
    done = probcal("measure", tmp_path / "a.csv", "-p", "p_*", "-t", "y", "--draws", 20)
    text = " ".join(done.stdout.split())
    assert done.exit_code == 0 and "log loss (bits)" in text and "AUC \N{EN DASH}" in text
    assert 'Where a class has no rows, the AUC has no value: all rows (no row of "cow").' in text
