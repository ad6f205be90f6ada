"""Test the file of known deviations: its entries, and error messages with line numbers."""

import pytest

from probcal.errors import FileProblems
from probcal.papers.deviations import known_deviations

PAPER = "langford-zadrozny-2005"


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / f"{PAPER}-deviations.yaml").write_text(text, encoding="utf-8")
        return known_deviations(PAPER, tmp_path)

    return read


def test_paper_without_a_deviations_file_has_no_deviations(tmp_path):
    assert known_deviations(PAPER, tmp_path) == []


def test_one_entry_can_explain_several_cells(read):
    [one] = read("""
deviations:
  - {kind: [number, difference], datasets: [coil, adult], learner: NB, metrics: cxe, reason: because}
""")
    assert one.explains("uci", "number", "coil", ("NB", "sigmoid"), "cxe")
    assert one.explains("uci", "difference", "adult", ("NB", "direct"), "cxe")
    assert not one.explains("uci", "number", "coil", ("NB", "sigmoid"), "rms")
    assert not one.explains("uci", "number", "sick", ("NB", "sigmoid"), "cxe")


def test_deviation_can_apply_to_one_experiment_only(read):
    [one] = read("deviations: [{kind: claim, claims: best-methods, experiments: uci, reason: because}]")
    assert one.explains_claim("uci", "best-methods")
    assert not one.explains_claim("uci-native", "best-methods")


def test_all_unknown_names_are_reported_with_their_lines(read):
    with pytest.raises(FileProblems) as caught:
        read("""deviations:
  - kind: number
    datasets: [adult, coyl]
    learner: J48
    method: sigmoid
    reason: because
  - kind: claim
    claims: probing-wins
    reason: because
""")
    told = [(one.line, one.message.partition(" (")[0]) for one in caught.value.problems]
    assert told == [
        (3, 'the paper has no data set "coyl"; did you mean "coil"?'),
        (5, 'the paper has no method of J48 "sigmoid"'),
        (8, 'the paper has no claim "probing-wins"; did you mean "probing-wins-20"?'),
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{kind: number, learner: J48, reason: because}", "would explain everything"),
        ("{kind: claim, reason: because}", "give labels of claims"),
        ("{kind: numbr, datasets: adult, learner: J48, reason: because}", "number"),
        ("{kind: number, datasets: adult, learner: J48}", "reason"),
        ("{kind: number, datasets: adult, lerner: J48, reason: x}", 'did you mean "learner"'),
    ],
)
def test_invalid_entry_is_rejected_with_its_line(read, entry, said):
    with pytest.raises(FileProblems, match=said) as caught:
        read(f"deviations:\n  - {entry}\n")
    assert caught.value.problems[0].line == 2
