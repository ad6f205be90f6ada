"""Test ``--dry-run`` and ``status``: what would run, why and how long. They write nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.runner.plan import plan_lines
from probcal.runner.time_left import RunningCell, TimeEstimates, duration, seconds_left, useful_worker_count
from probcal.store.folder import Store
from tests.runner.planned import planned
from tests.stored_rows import write_rows


def everything_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_dry_run_writes_nothing(bench):
    before = everything_in(bench.folder)
    said = bench.run("--dry-run").said
    assert "to run   wine-first/0/dummy/direct" in said and "8 cells: 8 to run" in said
    assert everything_in(bench.folder) == before
    bench.run("-l", "dummy")
    before = everything_in(bench.folder)
    bench.run("--dry-run", "--seed", "3")
    assert everything_in(bench.folder) == before


@pytest.mark.slow
def test_dry_run_lists_every_cell_with_state_and_reason(bench):
    bench.run("-l", "tree")
    rows = bench.rows()
    rows[0] |= {"status": "failed", "error_type": "ValueError", "message": "no"}
    rows[1]["key"]["learner"] = "0"
    write_rows(bench.results, rows)
    lines = [line.strip() for line in bench.run("--dry-run").said.splitlines()]
    assert "failed   wine-first/0/tree/direct  (ValueError: no)" in lines
    assert "stale    wine-first/0/tree/probing  (the settings of tree changed)" in lines
    assert "done     wine-first/1/tree/direct" in lines
    assert "to run   wine-first/0/dummy/direct" in lines
    assert "8 cells: 2 done, 1 failed, 1 stale, 4 to run" in lines
    assert bench.run("--dry-run").code == 0


@pytest.mark.slow
def test_dry_run_predicts_time_from_earlier_cells(bench):
    bench.run("-l", "tree", "-m", "direct")
    rows = [row | {"seconds": 100.0} for row in bench.rows()]
    write_rows(bench.results, rows)
    bench.config(repeats=5)
    assert "about 5 min 0 s of work, and 15 cells never timed" in bench.run("--dry-run").said


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.2, "less than 1 s of work"), (1.0, "about 1 s of work"), (42.0, "about 42 s of work")]
)
def test_plan_states_the_remaining_work(seconds, told):
    assert plan_lines(planned(seconds))[-1] == f"  {told}"


def test_cells_never_timed_are_judged_by_other_data_sets():
    timed, untimed = planned(100.0), planned(None, dataset="digits-odd")
    ratio = untimed[0].cell.card.expect.rows / timed[0].cell.card.expect.rows
    assert plan_lines([*timed, *untimed])[-2:] == [
        "  about 1 min 40 s of work, and 1 cell never timed",
        f"  1 cell never timed may take about {duration(100 * ratio)}, judged by other data sets",
    ]
    assert "never timed" not in "".join(plan_lines(untimed))


@pytest.mark.slow
def test_quick_run_is_a_separate_smaller_experiment(bench):
    bench.config(
        datasets=["digits-odd"],
        learners=["tree"],
        methods={
            "direct": {},
            "probing": {"params": {"n_probes": 40}},
            "few": {"type": "probing", "params": {"n_probes": 2}},
        },
    )
    assert bench.run("--quick").code == 0
    kept = Store(bench.folder / "results" / "small-quick")
    assert kept.experiment()["name"] == "small-quick"
    assert not bench.results.exists()
    results = kept.results().values()
    assert [result.repetition for result in results] == [0, 0, 0]
    assert all(result.n_train == 1000 for result in results)
    levels = {result.method: len(np.unique(kept.predictions(result)[1][:, 1])) for result in results}
    assert levels["few"] <= 3 < levels["probing"] <= 11
    assert "3 cells: 3 done" in bench.probcal("status", "results/small-quick").said


def test_selection_restricts_status_and_dry_run(bench):
    bench.run()
    for said in (
        bench.probcal("status", str(bench.results), "-l", "tree", "-m", "direct", "--cells").said,
        bench.run("--dry-run", "-l", "tree", "-m", "direct").said,
    ):
        assert "2 cells: 2 done" in said
        assert "wine-first/0/tree/direct" in said and "dummy" not in said and "probing" not in said
    path = bench.results / "experiment.json"
    path.write_text(path.read_text().replace("sklearn.dummy.DummyClassifier", "missing.NoClassifier"))
    said = bench.probcal("status", str(bench.results), "-l", "tree").said
    assert "4 cells stored: 4 done; whether they are stale is unknown" in said


class TestDataThatAreMissing:
    def test_other_data_run_and_message_names_missing_files(self, bench):
        bench.config(datasets=[bench.coins(), "wine-first"])
        (bench.folder / "coins" / "coins.csv").unlink()
        done = bench.run("--data-dir", ".")
        assert done.code == 1
        assert "8 to run, 8 no data" in done.said and "8 cells without data" in done.said
        assert "coins: has no data files here. Put these files in place: coins/coins.csv" in done.said
        assert {row["dataset"] for row in bench.rows()} == {"wine-first"}

    @pytest.mark.slow
    def test_cells_run_once_their_data_are_present(self, bench):
        bench.config(datasets=[bench.coins(), "wine-first"])
        (bench.folder / "coins").rename(bench.folder / "elsewhere")
        assert "; or name another folder with --data-dir or PROBCAL_DATA_DIR" in bench.run().said
        (bench.folder / "data").mkdir()
        (bench.folder / "elsewhere").rename(bench.folder / "data" / "coins")
        done = bench.run("--data-dir", "data")
        assert done.code == 0
        assert "8 done, 8 to run" in done.said
        assert bench.runs()[-1]["data"]["coins"]["source"] == "original files"


def ids(plan):
    return [one.cell.id for one in plan]


def test_without_times_no_duration_is_predicted():
    plan = planned(None, None)
    assert TimeEstimates(plan).expected_seconds(ids(plan)[0]) is None
    assert seconds_left([], None, 0.0, 2) is None
    assert seconds_left([RunningCell("a", 3600.0, None)], 0.0, 0.0, 2) is None


def test_predicted_times_adapt_to_a_slower_machine():
    plan = planned(90.0, 100.0)
    estimates = TimeEstimates(plan)
    estimates.record_end(ids(plan)[0], 190.0)
    assert estimates.expected_seconds(ids(plan)[1]) == 100.0 * (190 + 10) / (90 + 10)


def test_time_scales_with_rows_and_prefers_similar_cells():
    wine, digits = planned(None), planned(None, dataset="digits-odd")
    bayes, sigmoid = planned(None, learner="gaussian_nb"), planned(None, method="sigmoid")
    estimates = TimeEstimates([*wine, *digits, *bayes, *sigmoid])
    rows = wine[0].cell.card.expect.rows
    estimates.record_end(*ids(bayes), rows * 1.0)
    assert estimates.expected_seconds(*ids(wine)) == pytest.approx(rows)
    assert estimates.expected_seconds(*ids(sigmoid)) == pytest.approx(rows)
    estimates.record_end(*ids(wine), rows * 3.0)
    assert estimates.expected_seconds(*ids(digits)) == pytest.approx(3.0 * digits[0].cell.card.expect.rows)


def test_work_is_divided_among_workers_except_the_longest_cell():
    running = [RunningCell("a", 5.0, 15.0), RunningCell("b", 5.0, 15.0)]
    assert seconds_left(running, 100.0, 20.0, 2) == 60.0
    assert seconds_left(running, 100.0, 90.0, 2) == 90.0
    assert seconds_left([RunningCell("a", 10.0, 3600.0)], 0.0, 0.0, 4) == 3590.0


def test_overdue_cell_is_not_predicted_to_end_at_once():
    assert seconds_left([RunningCell("a", 3600.0, 10.0)], 0.0, 0.0, 2) == 3600.0


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=4),
    st.lists(st.floats(0, 1e6), max_size=5),
    st.integers(1, 8),
)
@settings(derandomize=True, deadline=None)
def test_time_left_covers_the_longest_cell(running, waiting, workers):
    under = [RunningCell(str(n), *times) for n, times in enumerate(running)]
    left = seconds_left(under, sum(waiting), max(waiting, default=0.0), workers)
    assert left >= max([*waiting, *(one.remaining_seconds for one in under)], default=0.0)


@pytest.mark.parametrize(
    ("expected", "jobs", "workers"),
    [
        ([0.1] * 8, 4, 1),
        ([0.5] * 3, 4, 2),
        ([30.0] * 3, 2, 2),
        ([30.0], 2, 1),
        ([None, 0.1], 2, 2),
        ([None], 2, 1),
    ],
)
def test_worker_count_follows_the_predicted_work(expected, jobs, workers):
    assert useful_worker_count(planned(*expected), jobs) == workers
