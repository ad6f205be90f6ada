"""Check that the Python examples of the pages print the shown output."""

import re
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

import probcal

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "library.md").read_text(encoding="utf-8")
PAGES = ("index", "library", "performance", "calibrate", "calibration-data", "rare-classes", "groups-and-time")
PAGES += ("measure-predictions", "isoprobability", "metrics", "protection")
PAGES += ("calibrated", "plots", "../README")
SHOWN = re.compile(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = {
    f"{name}-{number}": example
    for name in PAGES
    for number, example in enumerate(SHOWN.findall((DOCS / f"{name}.md").read_text(encoding="utf-8")))
}


def test_every_page_has_an_example():
    assert {name.rpartition("-")[0] for name in EXAMPLES} == set(PAGES)


@pytest.mark.slow
@pytest.mark.parametrize(("code", "shown"), EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_examples_print_the_shown_output(code, shown, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)  # one example reads our results
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_shown_error_messages_equal_the_real_messages():
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    page = (DOCS / "calibrate.md").read_text(encoding="utf-8")
    for call in (
        lambda: probcal.ProbingClassifier(frozen).fit(X, y),
        lambda: probcal.SigmoidClassifier(frozen).fit(X[y < 2], y[y < 2]),
        lambda: probcal.SigmoidCalibrator().fit([-1.2, 3.4], [0, 1]),
    ):
        with pytest.raises(ValueError) as raised:
            call()
        assert f"ValueError: {raised.value}\n" in page


def test_every_public_class_is_in_the_table():
    classes = [name for name in probcal.__all__ if isinstance(getattr(probcal, name), type)]
    assert classes and [name for name in classes if f"| `{name}` |" not in PAGE] == []


@pytest.mark.slow
def test_production_page_trains_and_predicts_as_shown(tmp_path, monkeypatch, capsys):
    page = (DOCS / "production.md").read_text(encoding="utf-8")
    [writing] = re.findall(r'^\$ python -c "(.*)"$', page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    exec(writing, {})
    examples = SHOWN.findall(page)
    assert len(examples) == 2
    for code, shown in examples:
        exec(code, {})
        assert capsys.readouterr().out == shown
