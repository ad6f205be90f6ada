"""Test the results folder: each result is stored when its cell ends, and broken files are rejected."""

import json
import math
import struct

import numpy as np
import pytest

from probcal.errors import StoreError
from probcal.metrics import all_metrics
from probcal.store.folder import CellResult, Store
from tests.stored_rows import unpack

Y, P = np.array([0, 1, 1], dtype=np.int8), np.array([0.1, 0.7, np.nextafter(1, 0)])


def result(repetition=0, run="run1", **more):
    return CellResult("adult", repetition, "j48", "probing", "done", run, 1.5, metrics={"rms": 0.3}, **more)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def test_added_result_is_on_disk_at_once(store):
    with store.writing("small"):
        store.add(result(), Y, P)
        assert list(Store(store.folder).results()) == ["adult/0/j48/probing"]
        assert np.array_equal(Store(store.folder).predictions(store.results()["adult/0/j48/probing"])[1], P)


def test_stored_result_is_read_back_unchanged(store):
    odd = result(
        key={"data": "ab"},
        n_train=3,
        warnings={"UserWarning": 2},
        message="two\nlines\u2028and \x85 more",
        error_type="ValueError",
        traceback="",
    )
    with store.writing("small"):
        store.add(odd)
    assert store.results()[odd.id] == odd


@pytest.mark.parametrize(
    ("metric", "value"), [("cxe", float("inf")), ("auc", float("nan")), ("cxe", 0.1 + 0.2), ("cxe", 5e-324)]
)
def test_stored_metric_is_read_back_exactly(store, metric, value):
    with store.writing("small"):
        store.add(CellResult("adult", 0, "j48", "probing", "done", "run1", 1.0, metrics={metric: value}))
        in_the_log = store.results()["adult/0/j48/probing"].metrics[metric]
        for line in (store.folder / "cells.jsonl").read_text().splitlines():
            json.loads(line, parse_constant=pytest.fail)
    in_the_table = store.results()["adult/0/j48/probing"].metrics[metric]
    assert [struct.pack("<d", one) for one in (in_the_log, in_the_table)] == [struct.pack("<d", value)] * 2


def test_the_last_result_of_a_cell_counts(store):
    with store.writing("small"):
        store.add(result(run="run1"))
        store.add(result(run="run2"))
    assert store.results()["adult/0/j48/probing"].run == "run2"


@pytest.mark.parametrize("torn", ['{"dataset": "adu', '{"dataset": "adult"}', '{"dataset": "adult", "rep\xff'])
def test_incomplete_last_line_is_ignored_and_then_removed(store, torn):
    with store.writing("small"):
        store.add(result(0))
    with (store.folder / "cells.jsonl").open("a", encoding="latin-1") as file:
        file.write(torn)
    assert list(store.results()) == ["adult/0/j48/probing"]
    with store.writing("small"):
        store.add(result(1))
    assert list(store.results()) == ["adult/0/j48/probing", "adult/1/j48/probing"]
    assert len((store.folder / "cells.jsonl").read_bytes().splitlines()) == 1


def test_broken_line_is_rejected_with_its_number(store):
    with store.writing("small"):
        store.add(result(0))
    path = unpack(store.folder)
    path.write_text("nonsense\n" + path.read_text())
    with pytest.raises(StoreError, match=r"cells\.jsonl:1: is not the result of a cell; remove this line"):
        store.results()


LINE = {"x": [0.0, 1.0], "y": [0, -2.5]}
LEVEL, LABEL = {**LINE, "level": 0.5}, {**LINE, "label": "no"}


def test_stored_curves_are_read_back_unchanged(store):
    curves = {"martingale": [LINE], "roc": [], "iso_probability": [LEVEL, LEVEL], "training_rows": [LABEL]}
    with store.writing("small"):
        store.add(result(curves=curves))
    assert store.results()["adult/0/j48/probing"].curves == curves


@pytest.mark.parametrize(
    "curves",
    [
        [],
        {"roc": LINE},
        {"roc": [[0.0, 1.0]]},
        {"roc": [{"x": [0.0]}]},
        {"roc": [{"y": [0.0]}]},
        {"roc": [LINE, {"x": [0.0, 1.0], "y": [0.0]}]},
        {"roc": [{"x": [], "y": []}]},
        {"roc": [{"x": 0.0, "y": 0.0}]},
        {"roc": [{"x": "ab", "y": "ab"}]},
        *({"roc": [{"x": [0.0, one], "y": [0.0, 1.0]}]} for one in ("1", None, True, [1.0], {}, 10**400)),
        *({"roc": [{"x": [0.0, 1.0], "y": [one, 1.0]}]} for one in (math.nan, math.inf, -math.inf, 1e308)),
        {"iso_probability": [LINE]},
        *({"iso_probability": [{**LINE, "level": one}]} for one in ("0.5", True, None, math.nan, 0, 1, 2.0, -0.1)),
        {"iso_probability": [{**LEVEL, "positive": 1}]},
        {"iso_probability": "x"},
        {"training_rows": [LINE]},
        {"training_rows": [{**LINE, "label": ["no"]}]},
    ],
)
def test_malformed_curves_make_a_broken_line(store, curves):
    with store.writing("small"):
        store.add(result(curves={"roc": [LINE]}))
    path = unpack(store.folder)
    path.write_text(path.read_text() + json.dumps(json.loads(path.read_text()) | {"curves": curves}) + "\n")
    with pytest.raises(StoreError, match=r"cells\.jsonl:2: is not the result of a cell.*; remove this line"):
        store.results()


@pytest.mark.slow
def test_stored_predictions_reproduce_the_metrics(bench):
    bench.run()
    kept = Store(bench.results)
    for found in kept.results().values():
        y, p = kept.predictions(found)
        assert len(y) == found.n_test
        assert all_metrics(y, p) == found.metrics


def test_predictions_of_all_runs_are_read_back_exactly(store):
    with store.writing("small"):
        store.add(result(0), Y, P)
    with store.writing("small"):
        store.add(result(1), Y[:2], P[:2])
    for number, (y, p) in enumerate([(Y, P), (Y[:2], P[:2])]):
        found = store.predictions(store.results()[f"adult/{number}/j48/probing"])
        assert (found[0].tobytes(), found[1].tobytes()) == (y.tobytes(), p.tobytes())


def test_predictions_of_several_classes_are_read_back_exactly(store):
    estimates = np.array([[0.1, 0.9, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]])
    with store.writing("small"):
        store.add(result(0), Y, P)
        store.add(result(1), np.array([1, 0, 2], dtype=np.int8), estimates)
        store.add(result(2), Y, P)
    found = [store.predictions(one) for one in store.results().values()]
    assert [p.tolist() for _, p in found] == [P.tolist(), estimates.tolist(), P.tolist()]
    assert found[1][0].tolist() == [1, 0, 2]


def test_two_class_predictions_keep_their_file_format(store):
    # An int8 label and a little-endian float64 probability, 9 bytes: files of earlier versions stay readable.
    with store.writing("small"):
        store.add(result(), Y, P)
    kept = (store.folder / "predictions.bin").read_bytes()
    assert kept == b"".join(struct.pack("<bd", y, p) for y, p in zip(Y.tolist(), P.tolist(), strict=True))


@pytest.mark.parametrize("left", [0, 1, 26])
def test_truncated_predictions_are_rejected(store, left):
    with store.writing("small"):
        store.add(result(), Y, P)
    path = store.folder / "predictions.bin"
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(StoreError, match=r"predictions\.bin does not hold the predictions behind adult/0/j48/probing"):
        store.predictions(store.results()["adult/0/j48/probing"])


def test_second_writer_is_rejected(store):
    with store.writing("small"), pytest.raises(StoreError, match="another probcal run is writing"):
        Store(store.folder).writing("small").__enter__()
    with store.writing("small"):
        pass


def test_folder_of_another_experiment_is_rejected(store):
    with store.writing("small"):
        store.write_experiment({"name": "small"})
    with pytest.raises(StoreError, match='holds the results of experiment "small", not of "large"; choose another'):
        store.writing("large").__enter__()


def test_folder_with_other_files_is_rejected_and_unchanged(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(StoreError, match=r"is not a results folder \(it holds 'thesis\.tex'\)"):
        Store(tmp_path).writing("small").__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_file_in_place_of_the_folder_is_rejected(tmp_path):
    (tmp_path / "results").write_text("")
    with pytest.raises(StoreError, match="is a file; choose a folder with -o"):
        Store(tmp_path / "results").writing("small").__enter__()
