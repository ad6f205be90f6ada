"""Test the columns of an experiment: variants of an entry, and overrides for single data sets with a reason."""

from __future__ import annotations

import pytest

from probcal.config.experiment import read_experiment
from probcal.errors import ProbcalError
from probcal.runner.cell import list_cells
from tests.commands import refused
from tests.small_config import experiment, faults, the_fault

TREE = ("{params: {max_depth: 3}}", "{params: {max_depth: 3}, variants: {small: {max_depth: 1}, big: }}")
BAGGING = (
    "[direct, probing]\n",
    "{direct: , bagging: {params: {n_estimators: 4}, variants: {votes: {voting: votes}, means: {voting: means}}}}\n",
)
LISTED = ("  tree: [direct, {probing: {weighting: rejection}}]", "  tree: [direct, {bagging: {n_estimators: 7}}]")


def columns(tmp_path, *changes, more: str = "") -> dict[tuple[str, str], tuple[dict, dict]]:
    found = experiment(tmp_path, *changes, more=more).columns
    return {(one.learner.name, one.method.name): (one.learner.params, one.method.params) for one in found}


def test_every_variant_inherits_the_parameters_of_its_entry(tmp_path):
    found = columns(tmp_path, TREE)
    assert list(found)[:4] == [
        ("tree.small", "direct"), ("tree.small", "probing"), ("tree.big", "direct"), ("tree.big", "probing")
    ]  # fmt: skip
    depths = [learner["max_depth"] for learner, _ in found.values() if "max_depth" in learner]
    assert depths == [1, 1, 3, 3]


def test_a_name_in_combinations_means_all_variants(tmp_path):
    found = columns(tmp_path, TREE, BAGGING, LISTED)
    of_tree = {pair: params["n_estimators"] for pair, (_, params) in found.items() if "bagging" in pair[1]}
    assert of_tree[("tree.big", "bagging.votes")] == of_tree[("tree.small", "bagging.means")] == 7
    assert of_tree[("nb", "bagging.means")] == 4
    assert len(found) == 2 * 3 + 3


def test_a_variant_listed_itself_uses_its_own_list(tmp_path):
    listed = (LISTED[0], "  tree: [bagging, {bagging.votes: {n_estimators: 9}}]\n  tree.big: [direct]")
    found = columns(tmp_path, TREE, BAGGING, listed)
    assert [pair for pair in found if pair[0] != "nb"] == [
        ("tree.small", "bagging.means"), ("tree.small", "bagging.votes"), ("tree.big", "direct")
    ]  # fmt: skip
    assert found[("tree.small", "bagging.votes")][1]["n_estimators"] == 9


def test_variants_share_the_published_column_and_have_own_labels(tmp_path):
    found = experiment(
        tmp_path, (TREE[0], TREE[1].replace("{params", "{paper: J48, params")), BAGGING, LISTED
    ).columns  # fmt: skip
    last = [one for one in found if one.learner.name == "tree.big"][-1]
    assert (last.label, last.group) == ("BagTree big means", "Tree big")
    assert (last.learner.paper, last.method.paper) == ("J48", "bagging")


@pytest.mark.parametrize(
    ("learners", "methods", "left"),
    [(("tree",), (), 6), (("tree.big",), (), 3), (("tree", "nb"), ("bagging",), 6), (("tree",), ("bagging.votes",), 2)],
)
def test_a_selection_names_a_variant_or_all_of_an_entry(tmp_path, learners, methods, left):
    sound = experiment(tmp_path, TREE, BAGGING, LISTED)
    assert len(sound.select(learners=learners, methods=methods).columns) == left


def test_message_suggests_the_nearest_variant(tmp_path):
    with pytest.raises(ProbcalError, match=r'did you mean "tree\.small"'):
        experiment(tmp_path, TREE).select(learners=("tree.smal",))


@pytest.mark.parametrize(
    ("variants", "line", "message"),
    [
        ("\n      a: {max_depth: 1}\n      b: {max_dept: 1}", 7, 'no parameter "max_dept"; did you mean "max_depth"?'),
        ("\n      a: {max_depth: -1}\n      b: {}", 6, "max_depth"),
        ("{}", 5, "learners.tree.variants must not be empty"),
        ("\n      a/b: {}", 6, '"a/b" cannot name a variant of tree: only letters, digits, . _ and -'),
        ("\n      3: {}", 6, "the key 3 must be text; put it in quotes"),
        ("\n      a: 3", 6, "learners.tree.variants.a must be a mapping"),
    ],
)
def test_message_names_the_line_of_a_wrong_variant(tmp_path, variants, line, message):
    found, said = the_fault(tmp_path, ("{params: {max_depth: 3}}", f"\n    variants: {variants}"))
    assert found == line and message in said


def test_a_fault_of_an_entry_is_reported_once(tmp_path):
    line, said = the_fault(tmp_path, (TREE[0], TREE[1].replace("params: {max_depth: 3}", "params: {criterion: bad}")))
    assert line == 4 and "criterion" in said


def test_a_fault_in_a_shared_list_is_reported_once(tmp_path):
    line, said = the_fault(tmp_path, TREE, ("weighting: rejection", "weightng: rejection"))
    assert line == 8 and said.startswith("tree with probing: ") and 'did you mean "weighting"?' in said


def test_a_variant_named_like_another_entry_is_rejected(tmp_path):
    clash = ("  nb: {type: kernel_nb}", "  tree.big: {type: kernel_nb}")
    [(line, said)] = faults(tmp_path, TREE, clash)
    assert line == 4 and 'the variant "big" of tree is called as the learner "tree.big" on line 5; rename one' in said


def test_only_some_variants_need_a_method_of_the_paper(tmp_path):
    named = BAGGING[1].replace("{params: {n_e", "{paper: {votes: bagging}, params: {n_e")
    found = experiment(
        tmp_path, (TREE[0], TREE[1].replace("{params", "{paper: J48, params")), (BAGGING[0], named), LISTED
    ).columns
    of = {one.method.name: one.method.paper for one in found if one.learner.name == "tree.big"}
    assert of == {"direct": "direct", "bagging.votes": "bagging", "bagging.means": None}


def test_an_unknown_variant_below_paper_is_rejected(tmp_path):
    named = BAGGING[1].replace("{params: {n_e", "{paper: {vote: bagging}, params: {n_e")
    line, said = the_fault(tmp_path, (BAGGING[0], named), LISTED, more="paper: langford-zadrozny-2005\n")
    assert (line, said) == (6, 'bagging has no variant "vote"; did you mean "votes"? (it has: votes, means)')


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


def test_two_equal_labels_are_refused(tmp_path):
    path = tmp_path / "small.yaml"
    learners = "one: {type: tree, label: T}\n  nb: {type: kernel_nb, label: T}"
    path.write_text(f"name: small\ndatasets: [wine-first]\nlearners:\n  {learners}\nmethods: [sigmoid]\n")
    message = 'one and nb have the same heading in tables, "SigT"; give one of them another label'
    assert refused("validate", path) == f"{path}:5: {message}"


def test_entries_of_one_type_have_their_names_in_the_headings(tmp_path):
    methods = "direct: {}\n  clipped: {type: direct, params: {clip: [0.1, 0.9]}}"
    text = f"name: small\ndatasets: [wine-first]\nlearners: [tree]\nmethods:\n  {methods}\n"
    (tmp_path / "small.yaml").write_text(text)
    columns = read_experiment(tmp_path / "small.yaml").columns
    assert [column.label for column in columns] == ["Tree", "Tree (clipped)"]
