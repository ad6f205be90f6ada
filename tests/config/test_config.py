"""Test that an experiment file is read or rejected with all its faults, each reported once with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from probcal.config.experiment import read_experiment
from probcal.data.card import read_card
from probcal.errors import FileProblems, ProbcalError
from probcal.metrics.registry import NAMED
from tests.commands import probcal, refused
from tests.small_config import experiment, faults, the_fault


def test_a_sound_file_is_read_with_every_name_resolved(tmp_path):
    sound = experiment(tmp_path)
    assert [card.name for card in sound.cards] == ["wine-first"]
    pairs = [(column.learner.name, column.method.name, column.method.params) for column in sound.columns]
    assert pairs == [
        ("tree", "direct", {}),
        ("tree", "probing", {"weighting": "rejection"}),
        ("nb", "direct", {}),
        ("nb", "probing", {}),
    ]
    assert sound.columns[0].learner.params == {"criterion": "entropy", "min_samples_leaf": 2, "max_depth": 3}


def test_message_names_all_faults_with_their_lines(tmp_path):
    found = faults(
        tmp_path,
        ("name: small", "nmae: small"),
        ("[wine-first]", "[wine-frist]"),
        ("max_depth: 3", "max_dept: 3"),
        ("type: kernel_nb", "type: kernel_bn"),
        ("{weighting: rejection}", "{weightng: rejection}"),
        ("[rms, auc]", "[rsm, auc]"),
        more="seed: x\n",
    )
    assert [line for line, _ in found] == [1, 1, 2, 4, 5, 8, 9, 10]
    said = "\n".join(message for _, message in found)
    for near in ("name", "wine-first", "max_depth", "kernel_nb", "weighting", "rms"):
        assert f'did you mean "{near}"?' in said


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("[wine-first]", "[wine-fist]"), 2, 'no data set "wine-fist"; did you mean "wine-first"?'),
        (("type: kernel_nb", "type: kernelnb"), 5, 'no learner "kernelnb"; did you mean "kernel_nb"?'),
        (("nb: {type: kernel_nb}", "linear_swm:"), 5, 'no learner "linear_swm"; did you mean "linear_svm"?'),
        (("[direct, probing]", "[direct, probing, baging]"), 6, 'no method "baging"; did you mean "bagging"?'),
        (("[rms, auc]", "[RMSE, auc]"), 9, 'no metric "RMSE"; did you mean "rms"?'),
        (("type: kernel_nb", "type: kernel_nb, encoding: nativ"), 5, 'no encoding "nativ"; did you mean "native"?'),
        (("[rms, auc]", "[rms, auc]\npaper: langford"), 10, 'did you mean "langford-zadrozny-2005"?'),
        (("  tree: [", "  tre: ["), 8, '"tre" is not one of the learners; did you mean "tree"?'),
        (("[direct, {", "[drect, {"), 8, '"drect" is not one of the methods; did you mean "direct"?'),
    ],
)
def test_a_near_miss_of_a_name_gets_a_suggestion(tmp_path, change, line, message):
    found, said = the_fault(tmp_path, change)
    assert found == line and message in said


def test_the_learner_of_the_paper_is_checked(tmp_path):
    change = ("type: kernel_nb", "type: kernel_nb, paper: NBB")
    assert the_fault(tmp_path, change, more="paper: langford-zadrozny-2005\n") == (
        5,
        'the paper has no learner "NBB"; did you mean "NB"? (it has: J48, SVM, NB, Log)',
    )


def test_the_paper_method_of_each_variant_is_checked(tmp_path):
    methods = (
        "methods:\n  direct: {paper: drect}\n  probing:\n    paper:\n      fine: probing\n      coarse: prbing\n"
        "    variants: {fine: {n_probes: 50}, coarse: {n_probes: 5}}"
    )
    combinations = "combinations:\n  tree: [direct, {probing: {weighting: rejection}}]"
    changes = ("methods: [direct, probing]", methods), (combinations, "")
    assert faults(tmp_path, *changes, more="paper: langford-zadrozny-2005\n") == [
        (7, 'the paper has no method "drect"; did you mean "direct"? (it has: direct, bagging, probing, sigmoid)'),
        (11, 'the paper has no method "prbing"; did you mean "probing"? (it has: direct, bagging, probing, sigmoid)'),
    ]


def test_message_lists_all_names_if_none_is_near(tmp_path):
    assert the_fault(tmp_path, ("[rms, auc]", "[f1]")) == (
        9,
        f'there is no metric "f1" (there are: {", ".join(NAMED)}); write an expected cost as cost(0.05); '
        "if a plugin adds this name, install its package",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[wine-first]", "[wine-first, wine-first]"), 'the data set "wine-first" is listed twice'),
        (("[rms, auc]", "[rms, auc, rms]"), 'the metric "rms" is listed twice'),
        (("[direct, probing]", "[direct, probing, direct]"), 'the method "direct" is listed twice'),
        (("[direct, {", "[direct, direct, {"), "tree with direct is listed twice"),
        (("  nb: {", "  tree: {"), 'the key "tree" is already given on line 4'),
    ],
)
def test_message_names_a_name_given_twice(tmp_path, change, message):
    assert the_fault(tmp_path, change)[1].startswith(message)


def test_two_cards_of_one_name_are_rejected(tmp_path):
    shipped = Path(__file__).parents[2] / "datasets" / "wine-first.yaml"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "wine-first.yaml").write_text(shipped.read_text())
    line, message = the_fault(tmp_path, ("[wine-first]", "\n  - wine-first\n  - mine/wine-first.yaml"))
    assert line == 4 and 'are both called "wine-first"; rename one' in message


@pytest.mark.parametrize("name", ["../up", "a b", "", "-x", "x" * 101, "a/b", ".hidden"])
def test_a_name_that_cannot_name_a_folder_is_rejected(tmp_path, name):
    line, message = the_fault(tmp_path, ("name: small", f'name: "{name}"'))
    assert line == 1 and "cannot name a folder of results" in message


@pytest.mark.parametrize("name", ["a/b", "a b", "a+b", "x" * 101, "..", ""])
def test_a_learner_name_unfit_for_a_file_is_rejected(tmp_path, name):
    line, message = the_fault(tmp_path, ("  nb: {", f'  "{name}": {{'))
    assert line == 5 and "cannot name a learner: only letters, digits" in message


@pytest.mark.parametrize("name", ["no", "on", "null_", "1e3x", "naïve"])
def test_a_name_that_looks_like_a_yaml_value_is_accepted(tmp_path, name):
    columns = experiment(tmp_path, ("  nb: {", f"  {name}: {{")).columns
    assert columns[-1].learner.name == name


@pytest.mark.parametrize(
    "change",
    [
        ("[rms, auc]", f"[{', '.join(f'rm{n}' for n in range(2000))}]"),
        ("[direct, probing]", f"[{', '.join(f'bogus{n}' for n in range(2000))}]"),
    ],
    ids=["metrics", "methods"],
)
def test_at_most_101_of_thousands_of_faults_are_reported(tmp_path, change):
    assert len(faults(tmp_path, change, more="".join(f"k{n}: 1\n" for n in range(2000)))) <= 101


# --- types ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("name: small", "name: 5"), 1, "name must be text, not 5; put it in quotes"),
        (("name: small", "name:"), 1, "name must be text, not nothing"),
        (("[wine-first]", "wine-first"), 2, "datasets must be a list, as in [a, b], not 'wine-first'"),
        (("[wine-first]", ""), 2, "datasets must be a list, as in [a, b], not nothing"),
        (("[wine-first]", "[]"), 2, "datasets must not be empty"),
        (("{max_depth: 3}", "[3]"), 4, "learners.tree.params must be a mapping, as in {a: b}, not [3]"),
        (("{max_depth: 3}", "{3: 3}"), 4, "the key 3 must be text; put it in quotes"),
        (("type: kernel_nb", "type: [kernel_nb]"), 5, "learners.nb.type must be text, not ['kernel_nb']"),
        (("type: kernel_nb", "tpye: kernel_nb"), 5, 'unknown key "tpye"; did you mean "type"?'),
        (("[direct, probing]", "[direct, probing, {bagging: }]"), 6, "methods: a list may hold only names"),
        (("tree: [direct, {probing: {weighting: rejection}}]", "tree: []"), 8, "combinations.tree must not be empty"),
        (("[direct, {probing: {weighting: rejection}}]", "[direct, 5]"), 8, "combinations: a method stands alone"),
        (("[direct, {probing: {weighting: rejection}}]", "[{direct: 5}]"), 8, "must be a mapping, as in {a: b}"),
        (("[rms, auc]", "[rms]\nseed: true"), 10, "seed must be a whole number, not true"),
        (("[rms, auc]", "[rms]\nseed: -1"), 10, "seed must be at least 0, not -1"),
        (("[rms, auc]", "[rms]\nrepeats: 0"), 10, "repeats must be at least 1, not 0"),
        (("[rms, auc]", "[rms]\nrepeats: 1000000000"), 10, "repeats must be at most 10000, not 1000000000"),
    ],
)  # fmt: skip
def test_message_names_a_wrong_type_once_with_its_line(tmp_path, change, line, message):
    found, said = the_fault(tmp_path, change)
    assert found == line and message in said


@pytest.mark.parametrize(
    "section", ["", "5", "[]", "{tree: 5, nb: {type: kernel_nb}}", "{tree: {type: []}, nb: {type: kernel_nb}}"]
)
def test_a_malformed_section_is_reported_once_despite_combinations(tmp_path, section):
    entries = "\n  tree: {params: {max_depth: 3}}\n  nb: {type: kernel_nb}"
    line, message = the_fault(tmp_path, (f"learners:{entries}", f"learners: {section}"))
    assert line == 3 and message.startswith("learners")


def test_message_names_each_empty_section(tmp_path):
    path = tmp_path / "hollow.yaml"
    path.write_text("name: hollow\ndatasets:\nlearners:\nmethods:\ncombinations:\nmetrics:\n")
    with pytest.raises(FileProblems) as caught:
        read_experiment(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 6]


# --- choosing a part -----------------------------------------------------------------------------


def test_a_selection_without_cells_is_rejected(tmp_path):
    change = ("[direct, {probing: {weighting: rejection}}]", "[direct]")
    with pytest.raises(ProbcalError, match="small does not combine tree with probing"):
        experiment(tmp_path, change).select((), ("tree",), ("probing",))


@pytest.mark.parametrize("name", ["quickstart", "uci-2004", "hepatitis"])
def test_a_shipped_file_that_is_shown_can_be_copied(tmp_path, name):
    shown = probcal("show", name).stdout
    assert "yaml-language-server" not in shown
    path = tmp_path / f"{name}.yaml"
    path.write_text(shown, encoding="utf-8")
    read = read_card if name == "hepatitis" else read_experiment
    assert read(path).name == name


def test_an_unknown_shipped_file_is_named_with_the_nearest():
    assert 'no shipped experiment or data set "quikstart"; did you mean "quickstart"?' in refused("show", "quikstart")
