"""Test which cell a worker gets next. Cells that share the fits of a learner stay in one process."""

from collections import deque

import pytest

from probcal.config.experiment import read_experiment
from probcal.runner.cell import PlannedCell, cells_of
from probcal.runner.pool import take_next


def planned(bench, shared, **more):
    methods = {name: {"shared_seed": shared} for name in ("direct", "sigmoid", "beta")}
    bench.config(learners=["tree", "gaussian_nb", "logistic"], methods=methods, repeats=2, **more)
    return [PlannedCell(cell, {}, "to run") for cell in cells_of(read_experiment(bench.folder / "small.yaml"))]


def taken_in_turn(cells, workers):
    """Return the cells of each worker, where the workers take turns."""
    waiting, last, took = deque(cells), [None] * workers, [[] for _ in range(workers)]
    while waiting:
        for one in range(workers):
            if waiting:
                last[one] = take_next(waiting, last[one], last[:one] + last[one + 1 :])
                took[one].append(last[one].cell)
    return took


def test_worker_gets_cells_that_share_its_fits(bench):
    first, second = taken_in_turn(planned(bench, shared=True), 2)
    for cells in (first, second):
        fits = [(cell.repetition, cell.column.learner.name) for cell in cells]
        assert [fits.count(one) for one in dict.fromkeys(fits)] == [3, 3, 3]


def test_the_folds_of_a_random_stream_stay_with_one_worker(bench):
    split = {"kind": "legacy_stratified_k_fold", "folds": 4}
    took = taken_in_turn(planned(bench, shared=False, split=split), 2)
    streams = [[(cell.repetition // 4, cell.column.learner.name) for cell in cells] for cells in took]
    assert not set(streams[0]) & set(streams[1])
    for of_worker, cells in zip(streams, took, strict=True):
        for stream in dict.fromkeys(of_worker):
            folds = [cell.repetition for cell, one in zip(cells, of_worker, strict=True) if one == stream]
            assert folds == sorted(folds) and len(folds) == 12


def test_one_worker_takes_all_cells_in_their_order(bench):
    cells = planned(bench, shared=True)
    assert taken_in_turn(cells, 1) == [[one.cell for one in cells]]


def test_cells_without_shared_fits_are_taken_in_order(bench):
    cells = planned(bench, shared=False)
    assert taken_in_turn(cells, 2) == [[one.cell for one in cells[::2]], [one.cell for one in cells[1::2]]]


@pytest.mark.parametrize("workers", [2, 5, 40])
def test_every_cell_is_taken_once(bench, workers):
    cells = planned(bench, shared=True)
    took = [cell.id for of_worker in taken_in_turn(cells, workers) for cell in of_worker]
    assert sorted(took) == sorted(one.cell.id for one in cells)
