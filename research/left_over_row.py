"""How one row in the last mini-batch stops the network of Kull, Silva Filho & Flach (2017, EJS) on waveform-5000.

    python -m research.left_over_row --data-dir DIR

scikit-learn's network takes mini-batches of 200 rows. With 4,000 rows all batches are full, and with 4,001 rows the
last batch is one row. The authors' folds leave 3,999, 4,000 or 4,001 training rows, the folds of today always 4,000.
Writes results/boosting-of-2016/left-over-row.md: epochs, log loss (nats) and accuracy on other rows. Half a minute.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier
from tabulate import tabulate

from probcal.data.card import find_card, read_card
from probcal.data.load import load, obtain

OUT = Path("results/boosting-of-2016/left-over-row.md")
DRAWS = 10
TEST = 900


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", required=True, type=Path)
    card = read_card(find_card("kull-waveform-5000"))
    obtain(card, parser.parse_args().data_dir)
    dataset = load(card)
    X, y = np.asarray(dataset.X, dtype=float), np.asarray(dataset.y == 1)
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # of all rows, as the authors did
    rows = [_results(X, y, n) for n in (3_999, 4_000, 4_001)]
    header = ["training rows", "rows in the last batch", "epochs (median)", "log loss", "accuracy"]
    text = (
        "# One row in the last mini-batch\n\n`python -m research.left_over_row --data-dir DIR` writes this table. "
        f"waveform-5000, means of {DRAWS} random draws of training rows and {TEST} test rows.\n\n"
    )
    OUT.write_text(text + tabulate(rows, header, tablefmt="github", floatfmt=("", "", ".0f", ".3f", ".3f")) + "\n")


def _results(X: np.ndarray, y: np.ndarray, n: int) -> list[float]:
    rng, results = np.random.default_rng(0), []
    for draw in range(DRAWS):
        order = rng.permutation(len(y))
        train, test = order[:n], order[-TEST:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 200 epochs are what the authors' network had
            network = MLPClassifier(n_iter_no_change=2, random_state=draw).fit(X[train], y[train])
        p = network.predict_proba(X[test])
        results.append((network.n_iter_, log_loss(y[test], p), np.mean((p[:, 1] > 0.5) == y[test])))
    epochs, loss, right = np.transpose(results)
    return [n, n % 200 or 200, float(np.median(epochs)), float(loss.mean()), float(right.mean())]


if __name__ == "__main__":
    main()
