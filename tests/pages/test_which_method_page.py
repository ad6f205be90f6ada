"""Check the recommendations of docs/which-method.md against the committed results of `defaults`.

If a test fails after a run, the numbers are right. Rewrite the page.
"""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def loss():
    """Return a function such as ``loss("few", "forest", "sigmoid")``: a mean log loss in bits, as on the page."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "benchmarks"))
        from reproduction_blocks import block_text

        def loss(*words):
            said = block_text("defaults", f"loss {' '.join(words)}")
            return float(said.replace("∞", "inf"))

        loss.asked = block_text
        yield loss
    for name in ("defaults", "reproduction_blocks", "reproduction_tables"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("rows", "learner", "recommended"),
    [
        ("few", "forest", "sigmoid"),
        ("many", "forest", "isotonic"),
        ("few", "boosting", "isotonic"),
        ("many", "boosting", "isotonic"),
        ("few", "nb", "venn_abers"),
        ("many", "nb", "venn_abers"),
        ("few", "logistic", "isotonic"),
        ("many", "logistic", "isotonic"),
        ("few", "svm", "isotonic"),
        ("many", "svm", "isotonic"),
        ("few", "mlp", "sigmoid"),
        ("many", "mlp", "isotonic"),
    ],
)
def test_recommended_map_is_within_three_thousandths_of_the_best(loss, rows, learner, recommended):
    maps = ("sigmoid", "isotonic", "beta", "quadratic", "venn_abers", "spline", "histogram", "temperature", "dirichlet")
    assert loss(rows, learner, recommended) <= min(loss(rows, learner, one) for one in maps) + 0.003
    if learner != "svm":
        assert loss(rows, learner, recommended) < loss(rows, learner, "direct")
