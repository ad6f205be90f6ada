"""Test overrides, which change the columns of an experiment for single data sets and give a reason."""

from __future__ import annotations

import pytest

from probcal.runner.cell import list_cells
from tests.small_config import experiment, faults, the_fault

TWO_SETS = ("[wine-first]", "[wine-first, wisconsin]")


def exceptions(*items: str) -> str:
    return "exceptions:\n" + "".join(f"  - {{{item}}}\n" for item in items)


def cells(tmp_path, *items: str) -> dict[str, tuple[str, dict, dict]]:
    """Return a mapping: cell -> (its card, parameters of the learner, parameters of the method)."""
    found = list_cells(experiment(tmp_path, TWO_SETS, more=exceptions(*items)))
    return {one.id: (one.card.name, one.column.learner.params, one.column.method.params) for one in found}


def test_an_override_reads_another_card_under_the_same_id(tmp_path):
    found = cells(tmp_path, "dataset: wine-first, learner: nb, card: digits-odd, why: a trial")
    assert {found[f"wine-first/0/nb/{method}"][0] for method in ("direct", "probing")} == {"digits-odd"}
    assert {found[f"wine-first/0/tree/{method}"][0] for method in ("direct", "probing")} == {"wine-first"}
    assert found["wisconsin/0/nb/direct"][0] == "wisconsin"
    assert len(found) == 8


def test_override_parameters_replace_those_of_the_column(tmp_path):
    _, learner, method = cells(
        tmp_path, "dataset: wisconsin, learner: tree, method: probing, params: {max_depth: 1}, "
        "method_params: {n_probes: 5}, why: small",
    )["wisconsin/0/tree/probing"]  # fmt: skip
    assert (learner["max_depth"], learner["criterion"]) == (1, "entropy")
    assert method == {"weighting": "rejection", "n_probes": 5}


def test_an_override_can_use_another_learner(tmp_path):
    item = "dataset: wisconsin, learner: nb, method: probing, use: linear_svm, params: {C: 2.0}, why: quicker"
    columns = {one.id: one.column for one in list_cells(experiment(tmp_path, TWO_SETS, more=exceptions(item)))}
    overridden, kept = (columns[f"{dataset}/0/nb/probing"].learner for dataset in ("wisconsin", "wine-first"))
    assert (overridden.path, overridden.encoding) == ("sklearn.svm.LinearSVC", "numeric")
    assert overridden.params == {"loss": "hinge", "C": 2.0, "intercept_scaling": 5.0, "max_iter": 500_000}
    assert (kept.path.rpartition(".")[2], kept.encoding) == ("KernelNaiveBayes", "native")


def test_a_skipped_cell_is_not_planned(tmp_path):
    found = cells(tmp_path, "datasets: [wine-first, wisconsin], learner: [nb], method: probing, skip: true, why: slow")
    assert len(found) == 6 and not [cell for cell in found if cell.endswith("nb/probing")]


def test_overrides_of_different_settings_are_combined(tmp_path):
    one = "dataset: wisconsin, learner: [tree, nb], card: wine-first, why: a"
    another = "dataset: wisconsin, learner: tree, params: {max_depth: 2}, why: b"
    card, learner, _ = cells(tmp_path, one, another)["wisconsin/0/tree/direct"]
    assert (card, learner["max_depth"]) == ("wine-first", 2)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("dataset: wine-fist, learner: nb, skip: true", '"wine-fist" is not one of the data sets; did you mean'),
        ("dataset: wine-first, learner: nbb, skip: true", '"nbb" is not one of the learners; did you mean "nb"?'),
        ("dataset: wine-first, learner: nb, method: probin, skip: true", 'methods; did you mean "probing"?'),
        ("learner: nb, skip: true", 'an exception has no data set; give its "dataset", or several "datasets"'),
        ("dataset: wine-first, learner: nb", "changes nothing; give card, use, params, method_params or skip: true"),
        ("dataset: wine-first, learner: nb, use: linear_svn", 'there is no learner "linear_svn"; did you mean'),
        ("dataset: wine-first, learner: nb, use: linear_svm, params: {c: 1}", 'LinearSVC takes no parameter "c"'),
        ("dataset: wine-first, learner: nb, skip: true, card: wisconsin", "skipped cells take no settings"),
        ("dataset: wine-first, learner: nb, card: wisconson", '"wisconson"; did you mean "wisconsin"?'),
        ("dataset: wine-first, learner: nb, card: coil", "coil has a standard split and wine-first a holdout one"),
        ("dataset: wine-first, learner: tree, params: {max_dept: 1}", 'did you mean "max_depth"?'),
        ("dataset: wine-first, learner: tree, params: {max_depth: -1}", "max_depth"),
        ("dataset: wine-first, learner: nb, method_params: {n_probe: 1}", '"n_probe"'),
        ("dataset: wine-first, learner: tree, mehtod: probing, skip: true", '"mehtod"; did you mean "method"?'),
    ],
)
def test_message_names_the_line_of_a_wrong_override(tmp_path, item, message):
    found = faults(tmp_path, more=exceptions(f"{item}, why: x"))
    assert {line for line, _ in found} == {11} and message in found[0][1]


def test_an_override_without_a_reason_is_rejected(tmp_path):
    item = "dataset: wine-first, learner: nb, skip: true"
    assert the_fault(tmp_path, more=exceptions(item)) == (11, 'the key "exceptions[1].why" is missing')


def test_two_overrides_of_one_setting_are_rejected(tmp_path):
    one = "dataset: wine-first, learner: [tree, nb], card: wisconsin, why: a"
    another = "dataset: wine-first, learner: tree, method: direct, card: digits-odd, why: b"
    line, message = the_fault(tmp_path, more=exceptions(one, another))
    assert line == 12 and message == 'the exception on line 11 sets "card" of wine-first with tree and direct already'


def test_an_override_of_an_unused_pair_is_rejected(tmp_path):
    item = "dataset: wine-first, learner: tree, method: probing, skip: true, why: x"
    line, message = the_fault(
        tmp_path, ("tree: [direct, {probing: {weighting: rejection}}]", "tree: [direct]"), more=exceptions(item)
    )
    assert line == 11 and message == "tree is not combined with probing"
