"""The model of cost finds what a cost is made of, and says where it fails."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = [(10_000, 100), (30_000, 100), (100_000, 100), (300_000, 100), (1_000_000, 100)]
SETTINGS += [(30_000, 10), (30_000, 50), (30_000, 400), (10_000, 10), (100_000, 10)]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def found(name, *words):
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *map(str, words)])
        return import_module(name)

    return found


def runs(growth, learner, seconds):
    return [growth.Measurement(learner, "loop", n, k, k, 1, seconds(n, k), 0.0, 0.0) for n, k in SETTINGS]


def linear(n, k):
    return 0.2 + 3e-6 * n + 0.004 * k + 2e-7 * n * k + 1e-13 * n**2 * k


def test_coefficients_come_back_from_times_that_follow_the_model(script):
    growth, growth_model = script("growth"), script("growth_model")
    model = growth_model.fitted(runs(growth, "logistic", linear))
    assert model.coefficients == pytest.approx([0.2, 3e-6, 0.004, 2e-7, 1e-13], rel=1e-4)
    assert model.seconds(10**9, 100) == pytest.approx(linear(10**9, 100))


def test_of_trees_the_work_is_n_log_n(script):
    growth, growth_model = script("growth"), script("growth_model")
    model = growth_model.fitted(runs(growth, "tree", lambda n, k: 0.1 + 5e-8 * n * np.log2(n) * k))
    assert model.coefficients == pytest.approx([0.1, 0, 0, 5e-8, 0], abs=1e-9)


@pytest.mark.parametrize(("slower", "code", "verdict"), [(1, 0, "holds"), (1.5, 1, "FAILS")])
def test_the_report_says_whether_the_other_runs_are_predicted(script, tmp_path, slower, code, verdict):
    growth = script("growth")
    found = runs(growth, "logistic", lambda n, k: linear(n, k) * (slower if n == 300_000 else 1))
    growth.write(tmp_path / "growth.csv", found)
    out = tmp_path / "growth.md"
    with pytest.raises(SystemExit) as ended:
        script("growth_report", "--measurements", tmp_path / "growth.csv", "-o", out).main()
    assert ended.value.code == code
    [line] = [line for line in out.read_text().splitlines() if line.startswith("| logistic")]
    assert verdict in line
    assert (tmp_path / "growth.png").stat().st_size > 10_000
    assert "rows, 100 probes" in (tmp_path / "growth.svg").read_text()


@pytest.mark.slow
def test_what_was_measured_is_not_measured_again(script, tmp_path, monkeypatch):
    words = ["--learner", "gaussian_nb", "--rows", 300, "--probes", "--no-corners", "-o", tmp_path / "growth.csv"]
    growth = script("growth", *words)
    monkeypatch.setattr(growth, "DRAWS", 2)
    growth.main()
    first = (tmp_path / "growth.csv").read_text()
    script("growth", *words).main()
    assert (tmp_path / "growth.csv").read_text() == first
    found = script("growth").read(tmp_path / "growth.csv")
    assert [(one.way, one.rows, one.probes, one.fitted, one.draws) for one in found] == [
        ("probing", 300, 100, 100, 2),
        ("loop", 300, 100, 100, 2),
    ]
    assert all(one.cpu > 0 and one.peak > 50 for one in found)
