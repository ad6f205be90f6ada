"""Test that ``--refit`` runs finished cells again, and what is told if they then fail."""

FRAIL = """
    import pathlib

    from sklearn.tree import DecisionTreeClassifier


    class Frail(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            if pathlib.Path({flag!r}).exists():
                raise ValueError("broken")
            return super().fit(X, y, sample_weight)
"""
"""A tree that fails while a file is there."""


def test_selected_cells_run_again_with_the_same_numbers(bench):
    bench.run("-l", "dummy", "-m", "direct")
    before, [first_run] = bench.numbers(), {row["run"] for row in bench.rows()}
    planned = bench.run("-l", "dummy", "-m", "direct", "--refit", "--dry-run").said
    assert "2 cells: 2 stale" in planned and "done, and run again as --refit asks" in planned
    assert bench.run("-l", "dummy", "-m", "direct", "--refit").code == 0
    assert bench.ran() == [2, 2] and bench.numbers() == before
    assert first_run not in {row["run"] for row in bench.rows()}
    assert "2 done" in bench.run("-l", "dummy", "-m", "direct").said and bench.ran() == [2, 2]


def test_a_failed_refit_is_told_and_can_be_repeated(bench):
    flag = bench.folder / "broken"
    bench.module("frail", FRAIL.format(flag=str(flag)))
    bench.config(learners={"own": {"type": "frail.Frail"}}, methods={"direct": {}}, repeats=1)
    bench.run()
    before = bench.numbers()
    flag.touch()
    failed = bench.run("--refit")
    assert failed.code == 1 and "1 cell failed (--retry-failed runs them again)" in failed.said
    assert bench.numbers() == before, "the finished result is kept"
    assert "failed when run again; the last finished result is kept" in bench.probcal("status", str(bench.results)).said
    flag.unlink()
    assert "failed before and runs again" in bench.run("--retry-failed").said
    assert bench.numbers() == before and bench.ran() == [1, 1, 1]
    assert "failed when" not in bench.probcal("status", str(bench.results)).said


def test_reason_of_a_failed_cell_names_its_state(bench):
    flag = bench.folder / "broken"
    bench.module("frail", FRAIL.format(flag=str(flag)))
    bench.config(learners={"own": {"type": "frail.Frail"}}, methods={"direct": {}}, repeats=1)
    flag.touch()
    bench.run()
    assert "failed, and run again as --refit asks" in bench.run("--refit", "--dry-run").said
