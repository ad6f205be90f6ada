"""Test the checks by ``probcal test`` and from a user's own test suite, as docs/own-components.md shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

from probcal.contract import DoesNotApply, Failed, contract_checks
from probcal.contract.suite import PROMISES
from tests.commands import probcal, refused
from tests.contract.broken import ReturnsNothing
from tests.contract.sound import Around, Centres

HERE = "tests.contract"


def lines(*words):
    """Return (exit code, the printed lines)."""
    result = probcal("test", *words)
    assert "Traceback" not in result.stderr
    return result.exit_code, result.stdout.splitlines()


@pytest.mark.parametrize("name", ["logistic", "direct", f"{HERE}.sound.Centres", f"{HERE}.sound.Around"])
def test_a_sound_component_gives_one_line_per_check(name):
    code, printed = lines(name)
    assert code == 0
    assert len(printed) == 1 + len(PROMISES) + 1
    assert {line.split("  ")[0] for line in printed[1:-1]} <= {"passed", "does not apply"}


@pytest.mark.slow
def test_the_command_tells_learners_from_methods():
    _, learner = lines("logistic")
    _, method = lines(f"{HERE}.sound.Bootstrap")
    _, foreign = lines("sklearn.calibration.CalibratedClassifierCV", "-p", "cv=2")
    assert learner[0].endswith("a learner")
    assert "does not apply  frames reach the learner unchanged: it is a learner" in learner
    for printed in (method, foreign):
        assert printed[0].endswith("a method")
        assert "LogisticRegression" in printed[0]
        assert "passed          frames reach the learner unchanged" in printed


def test_a_failed_check_names_expectation_result_and_remedy():
    code, printed = lines(f"{HERE}.broken.ReturnsNothing")
    assert code == 1
    assert printed[1] == (
        "failed          fit returns the estimator itself: expected self; fit returned None; end fit with `return self`"
    )
    assert printed[-1] == f"{len(PROMISES) - 5} passed, 1 failed, 4 do not apply"


def test_an_unexpected_error_is_a_failure_with_verbose_traceback():
    name = f"{HERE}.broken.CrashesOnOneClass"
    code, printed = lines(name)
    assert code == 1
    failed = "failed          one class is learned or rejected clearly: IndexError: index 1 is out of bounds"
    assert any(line.startswith(failed) for line in printed)
    assert not any("Traceback" in line for line in printed)
    _, verbose = lines(name, "-v")
    assert any("self.centres_[1]" in line for line in verbose)


def test_one_failure_among_several_names_gives_exit_code_1():
    code, printed = lines(f"{HERE}.broken.ReturnsNothing", "logistic")
    assert code == 1
    assert [line for line in printed if line.endswith(", a learner")] == [
        f"{HERE}.broken.ReturnsNothing: ReturnsNothing(), a learner",
        "logistic: LogisticRegression(C=100000000.0, solver='newton-cholesky', tol=1e-08), a learner",
    ]


@pytest.mark.slow
def test_parameters_are_yaml_and_the_default_has_few_probes():
    assert "n_probes=15" in lines("probing", "-l", "gaussian_nb")[1][0]
    assert "n_probes=3)" in lines("probing", "-l", "gaussian_nb", "-p", "n_probes=3", "-p", "clip=[0.1, 0.9]")[1][0]


def test_warnings_are_hidden_and_fail_no_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("learner_that_warns.py").write_text(
        "import warnings\nfrom sklearn.naive_bayes import GaussianNB\n"
        "class Warns(GaussianNB):\n    def predict(self, X):\n"
        "        warnings.warn('careful')\n        return super().predict(X)\n"
    )
    result = probcal("test", "learner_that_warns.Warns")
    assert "careful" not in result.output
    assert "passed          predict returns one label per row" in result.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["kernl_nb"], 'no learner or method "kernl_nb"; did you mean "kernel_nb"?'),
        (["probbing"], 'no learner or method "probbing"; did you mean "probing"?'),
        (["no_such_module.Mine"], '"no_such_module.Mine" cannot be imported'),
        (["tests.contract.sound.Center"], 'no class "Center" in tests.contract.sound; did you mean "Centres"?'),
        (["sklearn.cluster.KMeans"], "sklearn.cluster.KMeans is neither a learner nor a method: KMeans is not"),
        (["sklearn.ensemble.BaggingRegressor"], "neither a learner nor a method: BaggingRegressor"),
        (["pathlib.Path"], "neither a learner nor a method: Path is not a classifier: it has no fit and no predict"),
        (["direct", "-l", "logistc"], 'no learner "logistc"; did you mean "logistic"?'),
        (["direct", "-l", "linear_svm"], "linear_svm has only predict and direct needs predict_proba"),
        (["kernel_nb", "-l", "tree"], "kernel_nb is a learner; --learner"),
        (["probing", "-p", "n_probe=3"], 'no parameter "n_probe"; did you mean "n_probes"?'),
        (["probing", "-p", "n_probes=-3"], "n_probes must be a whole number from 1, not -3"),
        (["probing", "-p", "n_probes"], "'n_probes' is not NAME=VALUE"),
        (["probing", "-p", "clip=[0.1"], "the value of clip, '[0.1', cannot be read"),
        (["sklearn.model_selection.GridSearchCV"], "GridSearchCV cannot be made"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_message_names_the_mistake_in_the_call(words, told):
    assert told in refused("test", *words)


@pytest.mark.parametrize(
    ("module", "source", "told"),
    [
        (
            "no_base", "class Mine:\n    def __init__(self, estimator=None): self.estimator = estimator\n",
            ("Mine has no get_params and no set_params, so it cannot be copied; let it inherit from "
            "sklearn.base.BaseEstimator (a classifier from sklearn.base.ClassifierMixin too, named first)"),
        ),
        (
            "other_name", ("from sklearn.base import BaseEstimator\n"
            "class Mine(BaseEstimator):\n    def __init__(self, estimator=None): self.learner = estimator\n"),
            "get_params of Mine fails: 'Mine' object has no attribute 'estimator'; let __init__ name every parameter",
        ),
    ],
)  # fmt: skip
def test_message_says_why_a_class_cannot_be_copied(module, source, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    methods = "".join(f"    def {name}(self, *given): return self\n" for name in ("fit", "predict", "predict_proba"))
    Path(f"{module}.py").write_text(source + methods)
    assert told in refused("test", f"{module}.Mine")


pytest_plugins = "pytester"

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-components.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Yield a folder with the files that the page shows."""
    for name, text in EXAMPLES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("my_module", None)


def test_the_method_of_the_page_passes(example):
    result = probcal("test", "my_module.MyMethod", "-l", "gaussian_nb", "-p", "share=0.2")
    assert "MyMethod(estimator=GaussianNB(), share=0.2), a method" in result.stdout
    around_logistic = probcal("test", "my_module.MyMethod")
    assert around_logistic.exit_code == 0, around_logistic.output


@pytest.mark.slow
def test_the_test_file_of_the_page_tests_every_check(example):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "-c", "/dev/null"],
        cwd=example, env={"PYTHONPATH": f"{ROOT}:{example}"}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(PROMISES) - 2} passed, 2 skipped" in done.stdout


@pytest.mark.parametrize("check", contract_checks(Around(Centres())))
def test_a_check_that_passes_raises_nothing(check):
    assert check() is None


def test_a_check_that_fails_raises_its_reason():
    with pytest.raises(Failed, match=r"expected self; fit returned None; end fit with `return self`"):
        contract_checks(ReturnsNothing())[0]()


def test_a_check_that_does_not_apply_is_skipped_by_pytest(pytester):
    frames = next(check for check in contract_checks(Centres()) if str(check) == "frames reach the learner unchanged")
    with pytest.raises(DoesNotApply, match="it is a learner") as skipped:
        frames()
    pytester.makepyfile(
        "from probcal.contract import DoesNotApply\n"
        f"def test_frames():\n    raise DoesNotApply({str(skipped.value)!r})\n"
    )
    # faulthandler would take the signals over that a running Java needs, and leave them to nobody
    pytester.inline_run("-p", "no:cacheprovider", "-p", "no:faulthandler").assertoutcome(skipped=1)


def test_checks_have_plain_and_unique_names():
    names = [str(check) for check in contract_checks(Centres())]
    assert names[0] == "fit returns the estimator itself"
    assert len(set(names)) == len(PROMISES)


@pytest.mark.parametrize("given", [Centres, "probing", None], ids=str)
def test_anything_except_an_unfitted_estimator_is_rejected(given):
    with pytest.raises(ValueError, match="takes an unfitted scikit-learn estimator"):
        contract_checks(given)


def test_the_given_estimator_stays_unfitted():
    given = Around(LogisticRegression())
    for check in contract_checks(given):
        check.outcome()
    assert not hasattr(given, "estimator_")
    assert not hasattr(given.estimator, "classes_")
