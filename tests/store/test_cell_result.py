"""Test the bounds of a stored result: the last accepted value and the first rejected one."""

import json
import math

import pytest

from probcal import __version__
from probcal.store.cell_result import (
    CellResult,
    ImpossibleValueError,
    RowFaultError,
    curves_fault,
    key_digest,
    refuse_impossible_values,
)
from tests.store.small_store import result

MOST = 10**15
PLACE = {"at": 0, "rows": 2, "digest": "ab"}
LINE = {"x": [0.0], "y": [1.0]}


def read(**changes):
    return CellResult.from_json(json.dumps(json.loads(result().to_json()) | changes))


def fault(**changes):
    """Return why a line with these changes is rejected, or None."""
    try:
        read(**changes)
    except RowFaultError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", ["repetition", "n_train", "n_test"])
def test_a_count_is_a_whole_number_from_0_to_1e15(name):
    assert [fault(**{name: one}) for one in (0, 1, MOST)] == [None] * 3
    assert all(fault(**{name: one}).startswith(f"{name}: ") for one in (-1, MOST + 1, True, 1.5, "1"))
    assert fault(warnings={"UserWarning": -1}).startswith("warnings.UserWarning: ")


def test_seconds_lie_between_0_and_1e15():
    assert [fault(seconds=one) for one in (0, 0.5, float(MOST))] == [None] * 3
    assert all(fault(seconds=one).startswith("seconds: ") for one in (-0.5, 1.1 * MOST, math.nan, True))


def test_every_part_of_a_key_is_a_text():
    assert fault(key={"data": "ab", "code": "cd"}) is None
    assert fault(key={"data": "ab", "code": 1}).startswith("key.code: ")
    assert fault(key=["data"]).startswith("key: ")


@pytest.mark.parametrize("change", [{"at": -1}, {"at": None}, {"rows": 1.5}, {"rows": MOST + 1}, {"digest": 1}])
def test_a_place_of_predictions_is_two_counts_and_a_digest(change):
    assert fault(predictions=PLACE) is None
    assert fault(predictions=PLACE | change) == "predictions: does not name a place in predictions.bin"


def test_predictions_hold_at_most_1e15_numbers():
    for shape in ({}, {"columns": 3}, {"labels": 1}, {"columns": MOST // 2}, {"columns": 5 * 10**7, "labels": 10**7}):
        assert fault(predictions=PLACE | shape) is None
    for shape in ({"columns": 0}, {"labels": 0}, {"columns": MOST // 2 + 1}, {"columns": 10**8, "labels": 10**7}):
        assert fault(predictions=PLACE | shape) == "predictions: does not have a possible shape"


GOOD_CURVES = [
    {"roc": [{"x": [1e100, -1e100], "y": [0, 1]}]},
    {"iso_probability": [LINE | {"level": level, "positive": False} for level in (0.001, 0.999)]},
    {"roc": [], "training_rows": [LINE | {"label": "no"}], "of another version": [LINE | {"more": [None]}]},
]
BAD_CURVES = [
    {"roc": LINE},
    {"roc": [[0.0, 1.0]]},
    {"roc": [{"x": [0.0]}]},
    {"roc": [LINE, {"x": [0.0, 1.0], "y": [0.0]}]},
    {"roc": [{"x": [], "y": []}]},
    {"roc": [{"x": 0.0, "y": 0.0}]},
    {"roc": [{"x": "ab", "y": "ab"}]},
    *({"roc": [{"x": [0.0, one], "y": [0.0, 1.0]}]} for one in ("1", None, True, [1.0], {}, 10**400)),
    *({"roc": [{"x": [0.0], "y": [one]}]} for one in (math.nan, math.inf, -math.inf, 1.1e100, -1.1e100)),
    {"iso_probability": [LINE]},
    *({"iso_probability": [{**LINE, "level": one}]} for one in ("0.5", True, None, math.nan, 0, 1, 2.0, -0.1)),
    {"iso_probability": [{**LINE, "level": 0.5, "positive": 1}]},
    {"iso_probability": "x"},
    {"training_rows": [LINE]},
    {"training_rows": [{**LINE, "label": ["no"]}]},
]


def test_a_curve_is_lines_of_equally_many_finite_numbers():
    for curves in GOOD_CURVES:
        assert read(curves=curves).curves == curves
    for curves in BAD_CURVES:
        with pytest.raises(ValueError, match=r"a line of the curve|should be a valid (list|dictionary)"):
            read(curves=curves)
    assert "and its level, a number within (0, 1)" in curves_fault({"iso_probability": [LINE]})
    assert fault(curves=[]).startswith("curves: ")


def test_impossible_value_is_rejected_with_its_stage():
    refuse_impossible_values({"rms": 0.5}, {"rms": [0.5, math.nan]})
    with pytest.raises(ImpossibleValueError, match=r"^rms after stage 2 is 1\.5, but rms lies between 0 and 1$"):
        refuse_impossible_values({"rms": 0.5}, {"rms": [0.5, 1.5]})
    with pytest.raises(ImpossibleValueError, match=r"^rms is 1\.5, but"):
        refuse_impossible_values({"rms": 1.5}, {})
    refuse_impossible_values({"of another version": 7.0}, {"of another version": [7.0]})


def test_line_names_its_version_and_omits_empty_fields():
    line = json.loads(result(later_failure=result()).to_json())
    assert line.pop("probcal") == __version__
    assert sorted(line) == ["dataset", "learner", "method", "repetition", "run", "seconds", "status"]


def test_a_number_beyond_1e100_is_read_as_infinite():
    found = read(metrics={"cxe": 1e100, "mine": 1e101, "yours": -1e101, "text": "-inf"}).metrics
    assert found == {"cxe": 1e100, "mine": math.inf, "yours": -math.inf, "text": -math.inf}
    assert read(stages={"mine": [1, "inf"]}).stages == {"mine": [1.0, math.inf]}


@pytest.mark.parametrize("value", [True, "1", None, [1.0], "infinity"])
def test_metric_that_is_no_number_is_rejected(value):
    with pytest.raises(RowFaultError, match=r"^metrics\.mine: is no number$"):
        read(metrics={"mine": value})
    with pytest.raises(RowFaultError, match=r"^stages\.mine\.1: is no number$"):
        read(stages={"mine": [1.0, value]})


def test_any_values_option_reads_impossible_numbers():
    line = result(metrics={"rms": 1.5}).to_json()
    assert CellResult.from_json(line, any_values=True).metrics == {"rms": 1.5}
    with pytest.raises(ImpossibleValueError):
        CellResult.from_json(line)


def test_equality_ignores_failed_since_and_results_are_immutable():
    assert result(later_failure=result()) == result() != result(n_test=3)
    assert "later_failure" not in repr(result(later_failure=result()))
    with pytest.raises(AttributeError):
        result().run = "run2"


def test_key_digest_ignores_stages_and_curves():
    key = {"data": "ab", "method": "cd"}
    assert key_digest(key | {"stages": "1", "curves": "2"}) == key_digest(dict(reversed(key.items())))
    assert key_digest(key) != key_digest(key | {"method": "ce"})
    assert len(key_digest(key)) == 12
