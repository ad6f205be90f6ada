"""Test splits with folds in a run: their number, rows, fingerprints and tables."""

import numpy as np
import pytest

from probcal.config.experiment import read_experiment
from probcal.errors import FileProblems
from probcal.runner.cell import list_cells
from probcal.runner.cell_rows import load_rows
from probcal.runner.identity import Identities, used_components

FOLDS = {"kind": "stratified_k_fold", "folds": 5}
VISITS = """
name: visits
title: Visits
columns: {patient: numeric, day: nominal, weight: numeric, ill: target}
positive: "yes"
split: {kind: group_k_fold, folds: 3, group: patient}
expect: {rows: 60, columns: 3}
no_openml: these are a test's own
files:
  - {format: delimited, header: true, files: [{name: visits.csv}]}
"""


def cells(bench, **parts):
    bench.config(**{"learners": {"nb": {"type": "gaussian_nb"}}, "methods": ["direct"], **parts})
    return list_cells(read_experiment(bench.folder / "small.yaml"))


def problems(bench, **parts):
    with pytest.raises(FileProblems) as caught:
        cells(bench, **parts)
    return str(caught.value)


def visits(bench, split="{kind: group_k_fold, folds: 3, group: patient}"):
    text = VISITS.replace("{kind: group_k_fold, folds: 3, group: patient}", split)
    (bench.folder / "visits.yaml").write_text(text)
    (bench.folder / "visits").mkdir(exist_ok=True)
    lines = [f"{i % 12},2020-01-{i % 28 + 1:02},{i * 7 % 11},{'yes' if i * i % 7 > 2 else 'no'}" for i in range(60)]
    (bench.folder / "visits" / "visits.csv").write_text("\n".join(["patient,day,weight,ill", *lines]) + "\n")
    return "visits.yaml"


def test_ten_repetitions_of_five_folds_are_fifty_splits(bench):
    planned = cells(bench, repeats=10, split=FOLDS)
    assert [cell.repetition for cell in planned] == list(range(50))
    tested = [load_rows(cell).y_test for cell in planned[:5]]
    assert sum(map(len, tested)) == 178 and {len(y) for y in tested} == {35, 36}


def test_the_split_of_an_experiment_replaces_those_of_the_cards(bench):
    assert len(cells(bench, datasets=["iris", "wine-first"], repeats=3, split=FOLDS)) == 30
    [cell] = cells(bench, repeats=1, split={"kind": "holdout", "train_fraction": 0.9})
    assert len(load_rows(cell).y_test) == 18


def test_a_card_may_have_folds(bench):
    planned = cells(bench, datasets=[visits(bench)], repeats=2)
    assert len(planned) == 6
    assert bench.run().code == 0
    assert {one["status"] for one in bench.rows()} == {"done"}


@pytest.mark.parametrize(
    ("split", "left"),
    [
        ("{kind: group_k_fold, folds: 3, group: patient}", ["day", "weight"]),
        ("{kind: time_ordered, folds: 3, order: day}", ["patient", "weight"]),
    ],
)
def test_learners_do_not_get_the_column_of_the_split(bench, split, left):
    learners = {"nb": {"type": "gaussian_nb", "encoding": "native"}}
    cell = cells(bench, datasets=[visits(bench, split)], learners=learners)[0]
    bench.run("-j", "1")
    assert load_rows(cell).X_train.columns.tolist() == left


def test_all_methods_of_a_split_have_the_same_rows(bench):
    planned = cells(bench, repeats=1, split=FOLDS, methods=["direct", "sigmoid"])
    assert load_rows(planned[0]) is load_rows(planned[1])
    assert all(not load_rows(planned[0])[part].flags.writeable for part in (0, 1, 2, 3))


def test_a_quick_run_has_rows_of_every_class(bench):
    bench.config(datasets=["digits-odd"], split=FOLDS, learners=["tree"], methods=["direct"])
    assert bench.run("--quick", "-o", "results/small").code == 0
    assert [(one["n_train"], one["metrics"]["auc"] > 0.5) for one in bench.rows()] == [(1000, True)] * 5


def test_only_cells_with_folds_use_the_component_of_folds(bench):
    [plain] = cells(bench, repeats=1)
    folded = cells(bench, repeats=1, split=FOLDS)[0]
    assert set(used_components(folded)) - set(used_components(plain)) == {"folds"}


def test_other_number_of_folds_makes_results_stale(bench):
    keys = [Identities().key(cells(bench, split={**FOLDS, "folds": folds})[0]) for folds in (5, 4)]
    assert {part for part in keys[0] if keys[0][part] != keys[1][part]} == {"split"}


def test_folds_do_not_depend_on_order_or_process_count(bench):
    cells(bench, repeats=1, split=FOLDS, datasets=["wine-first", "iris"])
    bench.run("-o", "one")
    cells(bench, repeats=1, split=FOLDS, datasets=["iris", "wine-first"])
    bench.run("-o", "two", "-j", "2")
    assert bench.numbers(bench.folder / "one") == bench.numbers(bench.folder / "two")


def test_results_of_folds_are_stored_compared_and_shown(bench):
    from probcal.reporting.comparison.split_results import SplitNumbers
    from probcal.store.folder import Store
    from probcal.store.stored_experiment import StoredExperiment

    metrics = ["cxe", "accuracy", "log_loss", "brier"]
    cells(bench, repeats=2, split=FOLDS, methods=["direct", "sigmoid"], metrics=metrics)
    bench.run()
    store = Store(bench.results)
    stored = StoredExperiment.of(store)
    found = SplitNumbers.of(stored, store.results(), stored.datasets[0], stored.columns, "cxe")
    assert found.values.shape == (2, 10)
    # Nadeau & Bengio: 1 / 10 + 1 / 4, not 1 / 10
    assert found.test_shares == pytest.approx(np.full((2, 10), 1 / 5), abs=0.01)
    assert "mean ± sd over 10 splits: 2 times 5 folds" in bench.probcal("table", "results/small").said
    for one in bench.numbers().values():
        assert one["brier"] == pytest.approx(one["rms"] ** 2)
        assert one["log_loss"] == pytest.approx(one["cxe"] * np.log(2), rel=1e-6)


def test_a_replayed_stream_is_the_same_with_several_workers(bench):
    stream = "probcal.methods.legacy_stream.LegacyStreamClassifier"
    legacy = {"kind": "legacy_stratified_k_fold", "folds": 3}
    methods = {name: {"type": stream, "params": {"map": name}} for name in ("none", "beta")}
    learners = {"nb": {"type": "gaussian_nb", "encoding": "native"}}
    cells(bench, repeats=1, split=legacy, methods=methods, learners=learners)
    assert bench.run("-o", "one").code == bench.run("-o", "two", "-j", "2").code == 0
    assert len(bench.numbers(bench.folder / "one")) == 6
    assert bench.numbers(bench.folder / "one") == bench.numbers(bench.folder / "two")


def test_unsuitable_split_is_rejected_with_a_reason(bench):
    group = {"kind": "group_k_fold", "folds": 5, "group": "g"}
    assert 'coins: the split of the experiment does not fit: the column "g" does not exist' in problems(
        bench, datasets=[bench.coins()], split=group
    )
    assert "gaussians: the split of the experiment does not fit: its rows are drawn anew" in problems(
        bench, datasets=["gaussians"], split=FOLDS
    )
    assert "a standard split belongs to one data set; write it on its card" in problems(
        bench, split={"kind": "standard", "train": 5}
    )
    assert "9999 repetitions have 49,995 splits, at most 10,000 can be run" in problems(
        bench, repeats=9999, split=FOLDS
    )


def test_card_with_more_folds_than_rows_is_rejected(bench):
    name = visits(bench, "{kind: k_fold, folds: 61}")
    assert "60 rows are too few for 61 folds" in problems(bench, datasets=[name])
