"""Write the files of docs/from-file-to-decision.md into the current folder: python five_files.py [fraud ...]."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd


def chance(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def intercept_for(rate, log_odds):
    """Return the number that, added to the log-odds, makes their mean probability the rate."""
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(log_odds + middle).mean() < rate else (low, middle)
    return low


def fraud():
    """Write payments.csv (60,000 rows, .2 % of them fraud) and payments-today.csv (2,000 rows without labels)."""
    rng = np.random.default_rng(1)
    n = 62_000
    amount = rng.lognormal(3.6, 1.1, n).round(2)
    rows = pd.DataFrame(
        {
            "payment": np.arange(1, n + 1) + 700_000,
            "amount": amount,
            "hour": rng.integers(0, 24, n),
            "country": rng.choice(["DE", "FR", "NL", "US", "BR"], n, p=[0.6, 0.15, 0.15, 0.07, 0.03]),
            "shop": rng.choice(["food", "travel", "electronics", "games", "clothes"], n),
            "account_days": rng.exponential(700, n).round(),
            "new_device": rng.choice(["no", "yes"], n, p=[0.9, 0.1]),
        }
    )
    log_odds = (
        0.9 * np.log(amount / 36)
        + 1.2 * (rows.hour < 6)
        + rows.country.map({"DE": 0, "FR": 0.3, "NL": 0.2, "US": 1.2, "BR": 1.8})
        + 1.0 * rows["shop"].isin(["electronics", "games"])
        - 0.8 * np.log1p(rows.account_days / 100)
        + 2.0 * (rows.new_device == "yes")
    )
    rows["fraud"] = rng.random(n) < chance(log_odds + intercept_for(0.002, log_odds))
    rows["fraud"] = np.where(rows.fraud, "yes", "no")
    rows[:60_000].to_csv("payments.csv", index=False)
    rows[60_000:].drop(columns="fraud").to_csv("payments-today.csv", index=False)


def credit():
    """Write loans-2025.csv (nine months), loans-recent.csv (the four months after) and loans-new.csv (no outcome)."""
    rng = np.random.default_rng(2)
    n = 14_000
    month = np.sort(rng.integers(0, 14, n))
    score = rng.normal(-3.3, 1.1, n)
    # from October on, more loans of each grade default
    defaulted = rng.random(n) < chance(score + np.where(month < 9, 0, 0.6))
    first = np.datetime64("2025-01", "M") + month
    rows = pd.DataFrame(
        {
            "loan": np.arange(1, n + 1),
            "decided": first.astype("datetime64[D]") + rng.integers(0, 28, n),
            "grade": pd.cut(chance(score), [0, 0.01, 0.03, 0.08, 0.2, 1], labels=list("ABCDE")),
            "pd": chance(score).round(5),
            "defaulted": defaulted.astype(int),
        }
    ).sort_values("decided")
    rows[rows.decided < "2025-10"].to_csv("loans-2025.csv", index=False)
    rows[(rows.decided >= "2025-10") & (rows.decided < "2026-02")].to_csv("loans-recent.csv", index=False)
    rows[rows.decided >= "2026-02"].drop(columns="defaulted").to_csv("loans-new.csv", index=False)


TOPICS = [
    "bank account", "credit card", "credit report", "debt collection", "mortgage", "student loan",
    "car loan", "money transfer", "payday loan", "prepaid card", "virtual currency", "other service",
]  # fmt: skip


def classes():
    """Write letters.csv (4,000 letters of 12 topics, typed with blanks) and letters-new.csv (200 letters)."""
    rng = np.random.default_rng(3)
    n = 4200
    topic = rng.choice(len(TOPICS), n, p=(shares := 0.8 ** np.arange(12)) / shares.sum())
    centres = rng.normal(0, 1, (12, 8))
    words = rng.poisson(np.exp(0.7 + 0.6 * centres[topic]))
    rows = pd.DataFrame(words, columns=["card", "loan", "fee", "account", "report", "call", "house", "school"])
    rows["channel"] = np.where(rng.random(n) < 0.2 + 0.6 * (topic % 3 == 0), "web", "post")
    rows["topic"] = np.array(TOPICS)[topic]
    rows.loc[rng.random(n) < 0.05, "topic"] += " "  # typed by hand
    rows.loc[rng.random(n) < 0.01, "topic"] = ""  # nobody has read these
    rows[:4000].to_csv("letters.csv", index=False)
    rows[4000:].drop(columns="topic").to_csv("letters-new.csv", index=False)


def patients():
    """Write visits.csv (3,000 visits of 600 patients) and visits-new.csv (of 40 other patients)."""
    rng = np.random.default_rng(4)
    patient = np.repeat(np.arange(640), rng.integers(1, 10, 640))
    age = rng.integers(20, 90, 640)
    own = rng.normal(0, 1.5, 640)  # what only the patient explains
    n = len(patient)
    rows = pd.DataFrame(
        {
            "patient": [f"P{i:03d}" for i in patient],
            "age": age[patient],
            "weight_kg": (78 + 12 * rng.normal(0, 1, 640)[patient]).round(),
            "pressure": (120 + 0.4 * (age[patient] - 50) + rng.normal(0, 12, n)).round(),
            "sugar": rng.lognormal(1.7, 0.25, n).round(1),
        }
    )
    log_odds = -1.5 + 0.03 * (rows.age - 55) + 0.04 * (rows.pressure - 120) + 0.25 * (rows.sugar - 6) + own[patient]
    rows["readmitted"] = np.where(rng.random(n) < chance(log_odds), "yes", "no")
    rows[patient < 600].to_csv("visits.csv", index=False)
    rows[patient >= 600].drop(columns="readmitted").to_csv("visits-new.csv", index=False)


def auditor():
    """Write booster.json, a fitted model of XGBoost, claims.csv (4,000 rows that are new to it) and claims-new.csv."""
    import xgboost
    from sklearn.datasets import make_classification

    X, y = make_classification(9000, n_features=8, n_informative=4, flip_y=0.08, weights=[0.9], random_state=5)
    rows = pd.DataFrame(X.round(4), columns=[f"x{i}" for i in range(1, 9)])
    settings = {"objective": "binary:logistic", "max_depth": 4, "eta": 0.1, "scale_pos_weight": 9, "nthread": 1}
    data = xgboost.DMatrix(rows[:4000], y[:4000])
    xgboost.train(settings, data, num_boost_round=100).save_model("booster.json")
    rows.assign(paid=y)[4000:8000].to_csv("claims.csv", index=False)
    rows[8000:].to_csv("claims-new.csv", index=False)


FILES = {one.__name__: one for one in (fraud, credit, classes, patients, auditor)}

if __name__ == "__main__":
    for name in sys.argv[1:] or FILES:
        before = {path: path.stat().st_mtime_ns for path in Path().iterdir()}
        FILES[name]()
        written = [path.name for path in Path().iterdir() if before.get(path) != path.stat().st_mtime_ns]
        print(f"{name}: {', '.join(sorted(written))}")
