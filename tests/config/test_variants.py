"""Test the variants of an entry, each of which is a component with its own parameters and cells."""

from __future__ import annotations

import pytest

from probcal.errors import ProbcalError
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
