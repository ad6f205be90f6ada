"""Test the checks in a user's own test suite and the example of docs/own-components.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

from probcal.contract import DoesNotApply, Failed, contract_checks
from probcal.contract.suite import PROMISES
from tests.commands import probcal
from tests.contract.broken import ReturnsNothing
from tests.contract.sound import Around, Centres

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
