"""Test that a test which hangs or ends its process fails by name, with the options of ``make test``, and no other."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has neither make nor these signals")
ROOT = Path(__file__).parents[1]

BAD = """
import ctypes, itertools, os, signal, time
import pytest

def test_exits():
    os._exit(1)

def test_exits_as_if_all_were_well():
    os._exit(0)

def test_sleeps_for_ever():
    time.sleep(1e6)

def test_never_lets_another_thread_run():
    sum(itertools.repeat(0))

def test_ignores_every_exception():
    while True:
        try:
            time.sleep(1e6)
        except BaseException:
            pass

def test_kills_itself():
    os.kill(os.getpid(), signal.SIGKILL)

@pytest.fixture
def early():
    sum(itertools.repeat(0))

def test_hangs_in_its_setup(early):
    pass

@pytest.fixture
def late():
    yield
    sum(itertools.repeat(0))

def test_fails_and_hangs_in_its_teardown(late):
    assert False
"""

WITH_JAVA = """
import ctypes
import pytest
pytestmark = pytest.mark.java
from probcal.learners.weka.jvm import java_class

def test_java_adds():
    assert java_class("java.lang.Math").addExact(1, 2) == 3

def test_java_crashes():
    java_class("java.lang.Math")
    ctypes.string_at(0)

def test_java_ends_its_process():
    java_class("java.lang.Runtime").getRuntime().halt(0)

def test_java_starts_again():
    test_java_adds()

def test_a_wrong_claim_about_java():
    assert java_class("java.lang.Math").addExact(1, 2) == 4

@pytest.mark.xfail
def test_a_known_fault_of_java():
    raise ValueError

def test_a_skipped_one():
    pytest.skip("for a reason")
"""

GOOD = """
import sys
import pytest

@pytest.mark.parametrize("number", range(30))
def test_good(number):
    assert "jpype" not in sys.modules
"""


def options_of(target: str) -> list[str]:
    """Return the words after ``python -m pytest`` in a recipe of the Makefile."""
    shown = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    line = next(line for line in shown.splitlines() if " -m pytest " in line)
    return shlex.split(line.partition(" -m pytest ")[2])


def outcomes(folder: Path, *words: str, **files: str) -> tuple[int, dict[str, set[str]], str]:
    """Run the test files as make test does. Return the exit code, the outcomes of each test and all text."""
    (folder / "tests").mkdir()
    for name in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy(ROOT / name, folder / name)
    for name, text in files.items():
        (folder / "tests" / f"test_{name}.py").write_text(text)
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST_", "PROBCAL_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options_of("test"), *words, "-rA", "--color=no"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    found: dict[str, set[str]] = {}
    for outcome, name in re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b.*?::(\w+)", done.stdout, re.MULTILINE):
        found.setdefault(name, set()).add(outcome)
    return done.returncode, found, done.stdout


@pytest.mark.slow
def test_tests_that_hang_or_end_their_process_fail_by_name_and_no_others(tmp_path):
    code, found, text = outcomes(tmp_path, "--timeout", "4", bad=BAD, good=GOOD)
    bad = re.findall(r"def (test_\w+)", BAD)
    assert code == 1, text
    assert found == {name: {"FAILED"} for name in bad} | {"test_good": {"PASSED"}}, text
    assert text.count("PASSED") == 30
    assert "was lost (signal 9)" in text and "Failed: Timeout (>4.0s)" in text
    assert re.search(r"Timeout \(0:00:14\)!\nThread .*\n(.*\n)+?.*in test_never_lets_another_thread_run", text)


@pytest.mark.slow
def test_a_java_that_ends_its_process_fails_one_test(tmp_path):
    code, found, text = outcomes(tmp_path, java=WITH_JAVA, good=GOOD)
    assert code == 1, text
    assert found == {
        "test_java_adds": {"PASSED"},
        "test_java_crashes": {"FAILED"},
        "test_java_ends_its_process": {"FAILED"},
        "test_java_starts_again": {"PASSED"},
        "test_a_wrong_claim_about_java": {"FAILED"},
        "test_a_known_fault_of_java": {"XFAIL"},
        "test_good": {"PASSED"},
    }, text
    assert "lost in this test: SIGSEGV" in text and " in test_java_crashes\n" in text
    assert "lost in this test: exit code 0" in text
    assert "assert 3 == 4" in text and "was lost (" not in text and "for a reason" in text


@pytest.mark.slow
def test_a_test_that_starts_java_among_other_tests_is_named(tmp_path):
    unmarked = WITH_JAVA.replace("pytestmark = pytest.mark.java\n", "")
    code, found, text = outcomes(tmp_path, "-k", "adds or good", java=unmarked, good=GOOD)
    assert (code, found["test_java_adds"]) == (1, {"PASSED", "ERROR"}), text
    assert "it starts Java in the process of other tests; mark it with pytest.mark.java" in text
