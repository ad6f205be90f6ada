"""Test that J48 in several threads gives the trees of one thread and leaves no Java threads."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("jpype", reason="needs the extra weka")
pytest.importorskip("weka")

PROGRAM = """
import time
import jpype, numpy as np
from probcal import ProbingClassifier
from probcal.learners import WekaClassifier
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 4))
y = (X[:, 0] + rng.standard_normal(300) > 0).astype(int)
of, known = {}, []
def threads():
    return jpype.JClass("java.lang.Thread").getAllStackTraces().size()
for n_jobs in (2, 1, 2):  # Java is started by one of two threads
    fitted = ProbingClassifier(WekaClassifier("trees.J48"), 20, n_jobs=n_jobs, random_state=0).fit(X, y)
    of.setdefault(n_jobs, []).append(fitted.votes(X).tolist())
    known.append(threads())
print(of[1] == of[2][:1] == of[2][1:], sum(of[1][0]) > 0)
until = time.monotonic() + 300
while threads() > known[1] and time.monotonic() < until:
    time.sleep(0.05)  # Java hears of a thread's end a moment later
print(threads() <= known[1])
"""


@pytest.mark.slow
def test_j48_in_threads_equals_one_thread_and_the_process_ends():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=os.environ, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True", "True"]
