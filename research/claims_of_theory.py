"""Numbers beside the claims that are tested in tests/theory: python -m research.claims_of_theory [-o FOLDER]

The tests hold the claims. These tables say how large their terms are, for Langford & Zadrozny (2005,
section 4) and for Gao, Parameswaran & Peng (2017, sections 2 and 3 and the appendix). Takes a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from math import e, log, sqrt
from pathlib import Path

import numpy as np
from scipy.special import expit, rel_entr
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression
from tabulate import tabulate

from probcal import IsotonicCalibrator
from probcal.metrics import empirical_calibration_error

CLIP = 0.001
COSTS = (1, 4)
"""What a false positive and a false negative cost."""
WAVES = 9.0
DRAWS = 20
Row = list[str]


def regret(q: float, p: float) -> float:
    """Return KL(q || p) of two Bernoulli distributions, in nats."""
    return float(rel_entr(q, p) + rel_entr(1 - q, 1 - p))


def cost_of_clip() -> list[Row]:
    """Return lines: epsilon, the printed bound, a half with D(1|x) = sqrt(epsilon) predicted .001 (and its mirror)."""
    rows = [["epsilon", "printed: 6.9 epsilon + .001", "sure rows, all wrong", "rows of D(1\\|x) = sqrt(epsilon)"]]
    for epsilon in (0.0, 0.0001, 0.001, 0.01, 0.1, 0.25):
        sure = -epsilon * log(CLIP) - (1 - epsilon) * log(1 - CLIP)
        worst = max(regret(sqrt(epsilon), CLIP), -log(1 - CLIP))
        rows.append([f"{epsilon:g}", *(f"{one:.4f}" for one in (-log(CLIP) * epsilon + CLIP, sure, worst))])
    return rows


def order() -> list[Row]:
    """Return lines of the example of section 4.3: n, AUC, epsilon and squared error.

    One x has D(1|x) = 1 and the prediction 0, and n have D(1|x) = 1/n and this prediction. p Z_p = p D(0) + (1-p) D(1).
    """
    rows = [["n", "AUC", "epsilon", "squared error of the probabilities"]]
    p = (np.arange(10**6) + 0.5) / 10**6
    for n in (10, 100, 1000, 10_000):
        positive = 2 / (n + 1)
        epsilon = np.mean((1 - p) / (p * (1 - positive) + (1 - p) * positive)) / (n + 1)
        rows.append([f"{n:,}", "0", f"{epsilon:.5f}", f"{1 / (n + 1):.5f}"])
    return rows


def worst_excess(c: float, rng: np.random.Generator, n_draws: int = 2000) -> tuple[float, float]:
    """Return the largest excess loss of Claim 1's rule, over all rules and over thresholds, of drawn f of this c.

    f has six values of equal probability. ``c`` is reached by predictions that are off by a common sign and scale.
    """
    a, b = COSTS
    t = a / (a + b)
    rules = np.array(list(product((False, True), repeat=6)))
    thresholds = np.tril(np.ones((7, 6), dtype=bool), -1)[:, ::-1]
    largest = [0.0, 0.0]
    for _ in range(n_draws):
        truth = np.sort(rng.random(6))
        off = rng.normal(size=6)
        sums = np.append(0, np.cumsum(off)) / 6
        f = truth - off * (c / np.ptp(sums) if c else 0)
        if (np.diff(f) <= 0).any() or f[0] < 0 or f[-1] > 1:
            continue
        gain = np.where(rules, a * (1 - truth), b * truth).mean(axis=1)
        own = np.where(f >= t, a * (1 - truth), b * truth).mean()
        of_thresholds = np.where(thresholds, a * (1 - truth), b * truth).mean(axis=1)
        largest = [max(old, own - new) for old, new in zip(largest, (gain.min(), of_thresholds.min()), strict=True)]
    return largest[0], largest[1]


def excess_losses() -> list[Row]:
    """Return lines of Claim 1: c, the largest excess over all rules and over other thresholds, the lemma's bound."""
    rng = np.random.default_rng(0)
    rows = [["c", "over all rules", "over thresholds", "bound (a + b) c"]]
    for c in (0.0, 0.01, 0.02, 0.05):
        rows.append([f"{c:g}", *(f"{one:.4f}" for one in (*worst_excess(c, rng, 20_000), sum(COSTS) * c))])
    return rows


def complexity(patterns: np.ndarray) -> float:
    """Return R_D over all signs. ``patterns``: (n_functions, n) of 0 and 1."""
    signs = np.array(list(product((-1, 1), repeat=patterns.shape[1])))
    return float((signs @ patterns.T).max(axis=1).mean() / patterns.shape[1])


def example_2() -> list[Row]:
    """Return lines of Example 2: n, the largest R_D and number of patterns of fixed thresholds, and those of H."""
    rows = [["n", "patterns, fixed thresholds", "R_D, fixed thresholds", "patterns of H", "R_D of H"]]
    for n in (2, 3, 4, 5, 6):
        subsets = np.array(list(product((0, 1), repeat=n)))
        f = np.arange(1, 2**n + 1)[:, None] / 2**n - subsets / 2 ** (n + 1)
        cuts = [-1.0, *np.unique(f)]
        fixed = {
            np.unique((low < f) & (f <= high), axis=0).astype(int).tobytes()
            for low in cuts
            for high in cuts
            if low < high
        }
        some = [np.frombuffer(one, dtype=int).reshape(-1, n) for one in fixed]
        whole = np.unique(np.vstack(some), axis=0)
        largest = max(complexity(one) for one in some)
        rows.append([f"{n}", f"{max(map(len, some))}", f"{largest:.3f}", f"{len(whole)}", f"{complexity(whole):.3f}"])
    return rows


def of_one_score(n: int, rng: np.random.Generator) -> float:
    """Return R_D of the intervals of n distinct predictions, by 4,000 drawn signs."""
    sums = np.cumsum(rng.choice((-1, 1), size=(4000, n)), axis=1)
    sums = np.column_stack([np.zeros(len(sums)), sums])
    return float((sums - np.minimum.accumulate(sums, axis=1)).max(axis=1).mean() / n)


def claim_4() -> list[Row]:
    """Return lines of Claim 4 for one classifier on n rows with n or 20 distinct predictions, d = 1."""
    rng = np.random.default_rng(0)
    rows = [["n", "R_D of H", "Claim 4, n values", "Massart's lemma for its intervals"]]
    for n in (100, 1000, 10_000):
        claim = sqrt((2 * log(e * n) + 4 * log(n + 1)) / n)
        massart = sqrt(2 * log(n * (n + 1) / 2 + 1) / n)
        rows.append([f"{n:,}", *(f"{one:.4f}" for one in (of_one_score(n, rng), claim, massart))])
    return rows


def integral(values: np.ndarray) -> np.ndarray:
    """Return the integrals from 0 of a function that is given on an even grid of [0, 1]."""
    return np.append(0, np.cumsum((values[1:] + values[:-1]) / 2)) / (len(values) - 1)


def lower_hull(y: np.ndarray) -> np.ndarray:
    """Return the greatest convex function below ``y`` on an even grid: integrate the isotonic slopes."""
    return np.append(y[0], y[0] + np.cumsum(isotonic_regression(np.diff(y))))


def claim_6() -> list[Row]:
    """Return lines of Claim 6: n, the mean and the 95 % point of the distance, that from G, and 2 eps."""
    grid = np.arange(20_001) / 20_000
    truths: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "rising": lambda t: 0.1 + 0.8 * t**2,
        "waves": lambda t: 0.5 + 0.3 * np.sin(WAVES * t),
    }
    rng = np.random.default_rng(0)
    rows = [["P(Y = 1 \\| score)", "n", "from the hull, mean", "95 % point", "from G, mean", "2 eps, delta .01"]]
    for name, truth in truths.items():
        g = integral(truth(grid))
        hull = lower_hull(g)
        for n in (100, 1000, 10_000):
            found = []
            for _ in range(200):
                score = rng.random(n)
                fitted = IsotonicCalibrator("score", clip=(0, 1)).fit(score, rng.random(n) < truth(score))
                g_e = integral(fitted.predict_proba(grid)[:, 1])
                found.append([np.abs(g_e - hull).max(), np.abs(g_e - g).max()])
            hulls, gs = np.array(found).T
            eps = 2 * (of_one_score(n, rng) + sqrt(2 * log(8 / 0.01) / n))
            values = (hulls.mean(), np.quantile(hulls, 0.95), gs.mean(), 2 * eps)
            rows.append([name, f"{n:,}", *(f"{one:.4f}" for one in values)])
    return rows


def isotonic(score: np.ndarray, y: np.ndarray) -> IsotonicCalibrator:
    """Return the paper's isotonic regression, c_emp = 0 on its rows."""
    return IsotonicCalibrator("score", clip=(0, 1)).fit(score, y)


def least_subject_to_c_emp_0() -> list[Row]:
    """Return lines of min L(f) subject to c_emp(f) = 0 over f = u(w x), u rising, with two columns.

    L is the squared error, as in Kakade's algorithm. 180 directions w are tried, and u is isotonic regression, the
    minimum for a direction (tests/theory/test_isotonic_limits.py). The truth is no function of any w x.
    """

    def truth(X: np.ndarray) -> np.ndarray:
        return expit(2 * X[:, 0] + X[:, 1] - 1.5 * X[:, 0] * X[:, 1])

    rows = [["rows", "f", "L, these rows", "c_emp, these rows", "L, new rows", "c_emp, new rows"]]
    angles = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    for n in (50, 500, 5000):
        found: dict[str, list[list[float]]] = {}
        for seed in range(DRAWS):
            rng = np.random.default_rng([seed, n])
            X, new = rng.normal(size=(n, 2)), rng.normal(size=(20_000, 2))
            y, y_new = (rng.random(len(one)) < truth(one) for one in (X, new))
            model = LogisticRegression(C=1e8).fit(X, y)
            own = model.coef_[0]
            maps = [isotonic(X @ w, y) for w in directions]
            errors = [
                np.mean((y - one.predict_proba(X @ w)[:, 1]) ** 2) for one, w in zip(maps, directions, strict=True)
            ]
            best = int(np.argmin(errors))
            after = isotonic(X @ own, y)
            p = {
                "logistic regression": [model.predict_proba(one)[:, 1] for one in (X, new)],
                "its w, u isotonic": [after.predict_proba(one @ own)[:, 1] for one in (X, new)],
                "least L with c_emp = 0": [maps[best].predict_proba(one @ directions[best])[:, 1] for one in (X, new)],
            }
            for name, pair in p.items():
                found.setdefault(name, []).append(
                    [f(labels, q) for labels, q in zip((y, y_new), pair, strict=True) for f in (squared_error, c_emp)]
                )
        for name, values in found.items():
            mean, sd = np.mean(values, axis=0), np.std(values, axis=0, ddof=1)
            rows.append([f"{n:,}", name, *(f"{m:.4f} ± {s:.4f}" for m, s in zip(mean, sd, strict=True))])
    return rows


def squared_error(y: np.ndarray, p: np.ndarray) -> float:
    """Return the mean squared error."""
    return float(np.mean((y - p) ** 2))


def c_emp(y: np.ndarray, p: np.ndarray) -> float:
    """Return the empirical calibration error, where rounding of an exact 0 is 0."""
    return round(empirical_calibration_error(y, p), 12)


TABLES: dict[str, Callable[[], list[Row]]] = {
    "clip.md": cost_of_clip,
    "order.md": order,
    "claim-1.md": excess_losses,
    "example-2.md": example_2,
    "claim-4.md": claim_4,
    "claim-6.md": claim_6,
    "least-loss.md": least_subject_to_c_emp_0,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=Path("results/theory"), metavar="FOLDER")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, table in TABLES.items():
        header, *body = table()
        text = tabulate(body, header, "github", disable_numparse=True)
        print(f"{name}\n{text}\n", flush=True)
        (args.out / name).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
