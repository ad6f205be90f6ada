"""Check that the files of "Numbers of your own" in docs/check.md run as shown, and that validate finds their faults."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from probcal.papers.published import PublishedPaper
from tests.commands import contents, probcal, refused

PAGE = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Numbers of your own\n")[2].partition("\n## ")[0]
FILES = dict(re.findall(r"```(?:yaml|toml)\n# (\S+)\n(.*?)```", SECTION, re.DOTALL))
PUBLISHED, SUMMARY, ACCEPTED = re.findall(r"```text\n(.*?)```", SECTION, re.DOTALL)
FOLDER = "numbers/my_numbers"
PAPER, DEVIATIONS, TABLE = (
    f"{FOLDER}/{name}" for name in ("my-report-2024.yaml", "my-report-2024-deviations.yaml", "published.csv")
)
FILES[TABLE] = PUBLISHED


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that writes the files, with one text replaced, and installs their package as pip does."""

    def written(file="", old="", new=""):
        for name, text in FILES.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            assert name != file or old in text
            path.write_text(text.replace(old, new) if name == file else text, encoding="utf-8")
        (tmp_path / FOLDER / "__init__.py").touch()
        project = tomllib.loads(FILES["numbers/pyproject.toml"])["project"]
        info = tmp_path / "numbers" / f"my_numbers-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
        )
        [(group, entries)] = project["entry-points"].items()
        lines = [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "numbers")
    PublishedPaper.read.cache_clear()
    yield written
    sys.modules.pop("my_numbers", None)
    PublishedPaper.read.cache_clear()


def test_numbers_of_your_own_are_checked_as_shown(install):
    install()
    commands = re.findall(r"^\$ probcal (.*)$", SECTION, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["validate", "run", "check"]
    for command in commands:
        done = probcal(*command.split())
        assert done.exit_code == 0, done.output
    assert done.stdout.endswith(f"\n{SUMMARY}")
    assert Path("results/mine/accepted.csv").read_text(encoding="utf-8") == ACCEPTED


FAULTS = {
    "path": (PAPER, "file: published.csv", "file: publishd.csv", "publishd.csv: cannot be read: No such file"),
    "column of the file": (TABLE, ",mean,sd", ",mean,spread", "published.csv:1: lacks the columns sd"),
    "number": (TABLE, "0.190,0.030", "0.19O,0.030", "published.csv:4: the columns mean and sd hold numbers"),
    "repeated line": (
        TABLE, "\nWine,tree,sigmoid", "\nWine,tree,direct,rms,0.191,0.030\nWine,tree,sigmoid",
        "published.csv:5: Wine, tree, direct, rms is in line 4 already",
    ),
    "row": (
        TABLE, "Wine,tree,direct", "Wine,forest,direct",
        "published.csv: has no line of the metric rms for Wine, tree, direct",
    ),
    "metric": (PAPER, "rms: {", "rmss: {", "published.csv: has no line of the metric rmss for Wisconsin"),
    "metric of rows": (
        PAPER, "rms: {number: 1, tolerance: 0.005, file: published.csv}",
        "rmss: {number: 1, tolerance: 0.005, rows: {wisconsin: [0.2, 0.3]}}",
        'my-report-2024.yaml:9: there is no metric "rmss"; did you mean "rms"?',
    ),
    "learner of a deviation": (
        DEVIATIONS, "learner: tree", "learner: forest",
        'my-report-2024-deviations.yaml:4: the paper has no learner "forest"',
    ),
    "metric of a deviation": (
        DEVIATIONS, "metrics: rms", "metrics: rmse",
        'my-report-2024-deviations.yaml:6: the paper has no metric "rmse"; did you mean "rms"?',
    ),
    "key of a deviation": (
        DEVIATIONS, "reason:", "reasons:", 'my-report-2024-deviations.yaml:7: unknown key "reasons"',
    ),
    "metric of the experiment": (
        "mine.yaml", "[rms]", "[auc]",
        "mine.yaml:9: my-report-2024 has no table of auc (it has: rms), so probcal check",
    ),
    "data set": (
        "mine.yaml", "[wisconsin, wine-first]", "[adult]",
        "mine.yaml:4: my-report-2024 has none of these data sets",
    ),
    "learner": (
        "mine.yaml", "{paper: tree}", "{}", "mine.yaml:6: no learner has the key paper, its name in my-report-2024",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_validate_finds_faults_of_published_numbers_and_deviations(install, tmp_path, fault):
    *how, said = FAULTS[fault]
    install(*how)
    before = contents(tmp_path)
    assert said in refused("validate", "mine.yaml")
    assert {name for name in contents(tmp_path).keys() - before.keys() if "__pycache__" not in name} == set()
