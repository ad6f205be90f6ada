"""Test what ``probcal validate`` says of a paper's tolerance that decides nothing."""

from __future__ import annotations

import pytest

from tests.commands import probcal

EXPERIMENT = """\
name: mine
paper: langford-zadrozny-2005
datasets: [adult, coil, breast, liver]
learners:
  log: {type: logistic, paper: Log}
methods: [direct]
metrics: [cxe]
"""


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ("repeats: 1\n", "breast, liver"),
        ("repeats: 3\n", "breast, liver"),
        ("repeats: 3\nrepeat_fixed_splits: true\n", "adult, coil, breast, liver"),
        ("split: {kind: holdout, train_fraction: 0.5}\n", "adult, coil, breast, liver"),
    ],
)
def test_validate_names_data_sets_on_which_the_tolerance_has_no_effect(tmp_path, more, names):
    path = tmp_path / "mine.yaml"
    path.write_text(EXPERIMENT + more, encoding="utf-8")
    result = probcal("validate", path)
    assert result.exit_code == 0
    assert result.stderr == (
        f"note: the tolerance of langford-zadrozny-2005 has no effect on {names}: it is for the paper's own split. With"
        " random or repeated splits, the spread of your splits decides whether a published number agrees\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        EXPERIMENT.replace(", breast, liver", ""),
        EXPERIMENT.replace("paper: langford-zadrozny-2005\n", "").replace(", paper: Log", ""),
    ],
)
def test_validate_says_nothing_where_the_tolerance_counts_or_no_paper_is_named(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    result = probcal("validate", path)
    assert (result.exit_code, result.stderr) == (0, "")
