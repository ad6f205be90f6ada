"""From a map to a decision, beside other packages on the same rows: python benchmarks/decision_peers.py PYTHON

PYTHON is that of an environment with probcal (the other project of this name), skl2onnx, skops and mapie. It runs this
file again with --peer, because two packages of one name do not fit into one process. Takes half a minute.

Install the other project there by its name on the index, and skl2onnx, skops, mapie and onnxruntime beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

RESULTS = Path(__file__).parents[1] / "results" / "speed" / "decision_peers.md"
PEERS = ("probcal", "skl2onnx", "skops", "MAPIE", "scikit-learn")
PRECISIONS, CONFIDENCE, SAMPLES, ROWS = (0.7, 0.8), 0.95, 300, 1000
Answer = dict[str, float | str]


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose only column is the probability itself."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any) -> Given:
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        p = np.asarray(X)[:, 0]
        return np.column_stack([1 - p, p])

    def __sklearn_is_fitted__(self) -> bool:
        return True


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Overconfident probabilities and labels."""
    random = np.random.default_rng(seed)
    z = random.normal(size=n)
    return 1 / (1 + np.exp(-2 * z)), (random.random(n) < 1 / (1 + np.exp(-1.2 * z))).astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", nargs="?")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    parser.add_argument("--peer", action="store_true", help="measure the peers in this process, and print JSON")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.peer:
        print(json.dumps({"answers": peers(), "versions": {name: version(name) for name in PEERS}}))
        return
    # without PYTHONPATH, which may hold our package
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    call = [args.python, __file__, "--peer"]
    there = json.loads(subprocess.run(call, capture_output=True, text=True, check=True, env=environment).stdout)
    args.output.write_text(text_of(ours(), **there), encoding="utf-8")


def text_of(mine: dict[str, Answer], answers: dict[str, Answer], versions: dict[str, str]) -> str:
    from tabulate import tabulate

    named = ", ".join(f"{name} {number}" for name, number in versions.items())
    lines = [[one, name, mine[one][name], answers[one].get(name, "")] for one in mine for name in mine[one]]
    return (
        f"Written by `python benchmarks/decision_peers.py PYTHON`. Peers: {named}; `probcal` is the other project of "
        "this name. Both sides have the same rows. R, with `probably` of tidymodels, was not there.\n\n"
        + tabulate(lines, ["step", "question", "ours", "peer"], tablefmt="github", disable_numparse=True)
        + "\n"
    )


def per_call(call: Callable[[], Any]) -> str:
    """The median time of a call, in milliseconds."""
    times = []
    for _ in range(7):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return f"{1000 * statistics.median(times):.2f}"


def kept(precision: float, threshold_of: Callable[[float, np.ndarray, np.ndarray], float]) -> Answer:
    """How often a guaranteed precision fails on 400,000 other rows, and what the threshold leaves of the recall."""
    p_all, y_all = rows(400_000, 0)
    failed, recalls, begin = 0, [], time.process_time()
    for seed in range(1, SAMPLES + 1):
        threshold = threshold_of(precision, *rows(ROWS, seed))
        is_decided = p_all >= threshold
        failed += bool(is_decided.any() and y_all[is_decided].mean() < precision)
        recalls.append(float(y_all[is_decided].sum() / y_all.sum()))
    return {
        "fails, % of 300 samples (allowed: 5)": f"{100 * failed / SAMPLES:.1f}",
        "samples with a threshold, %": f"{100 * np.mean(np.array(recalls) > 0):.1f}",
        "mean recall": f"{np.mean(recalls):.3f}",
        "ms a sample": f"{1000 * (time.process_time() - begin) / SAMPLES:.1f}",
    }


def map_answers(one: Any, back: Any, text: str, inverse: Any) -> Answer:
    """Return the answers of a map, and of the one that was read ``back`` from its ``text``."""
    p, many = rows(2000, 0)[0], rows(1_000_000, 1)[0]
    return {
        "bytes": str(len(text)),
        "largest difference after reading": f"{np.abs(back.predict_proba(p) - one.predict_proba(p)).max():.0e}",
        "ms to calibrate a million rows": per_call(lambda: one.predict_proba(many)),
        "probability with a calibrated .3": f"{float(np.ravel(inverse)[0]):.4f}",
    }


def ours() -> dict[str, Answer]:
    from sklearn.frozen import FrozenEstimator

    from probcal import BetaCalibrator, GuaranteedRateClassifier
    from probcal.deploy import map_to_onnx, map_to_python, map_to_sql

    p, y = rows(2000, 0)
    one = BetaCalibrator().fit(p, y)
    text = one.to_json()
    back = BetaCalibrator.from_json(text)

    def threshold_of(precision: float, p: np.ndarray, y: np.ndarray) -> float:
        model = GuaranteedRateClassifier(FrozenEstimator(Given()), at_least=precision, confidence=CONFIDENCE)
        return float(model.fit(p[:, None], y).threshold_)

    return {
        "beta map as JSON": map_answers(one, back, text, one.inverse([0.3])),
        "map for another program": {
            "SQL": f"{len(map_to_sql(one))} letters", "Python": f"{len(map_to_python(one))} letters",
            "ONNX": f"{len(map_to_onnx(one))} bytes",
        },
    } | {f"precision of at least {one}, 1,000 rows": kept(one, threshold_of) for one in PRECISIONS}  # fmt: skip


def peers() -> dict[str, Answer]:
    import skops.io
    from mapie.risk_control import BinaryClassificationController
    from skl2onnx import to_onnx
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression

    import probcal

    p, y = rows(2000, 0)
    one = probcal.BetaCalibrator().fit(p, y)
    text = one.to_json()
    back = type(one).from_json(text)
    model = CalibratedClassifierCV(LogisticRegression(), ensemble=False).fit(p[:, None], y)
    try:
        graph = f"{len(to_onnx(model, p[:1, None].astype(np.float32)).SerializeToString())} bytes, with its model"
    except Exception as error:  # what it refuses is the answer
        graph = f"refused: {type(error).__name__}"
    with tempfile.TemporaryDirectory() as folder:
        skops.io.dump(model, Path(folder) / "m.skops")
        untrusted = skops.io.get_untrusted_types(file=Path(folder) / "m.skops")

    def threshold_of(precision: float, p: np.ndarray, y: np.ndarray) -> float:
        control = BinaryClassificationController(
            Given().predict_proba, "precision", target_level=precision, confidence_level=CONFIDENCE
        ).calibrate(p[:, None], y)
        best = control.best_predict_param
        return np.inf if best is None else float(best)

    return {
        "beta map as JSON": map_answers(one, back, text, one.point_inverse(np.array([0.3]))),
        "map for another program": {
            "SQL": "none", "Python": f"none; skops keeps the model, {len(untrusted)} types to trust", "ONNX": graph,
        },
    } | {f"precision of at least {one}, 1,000 rows": kept(one, threshold_of) for one in PRECISIONS}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
