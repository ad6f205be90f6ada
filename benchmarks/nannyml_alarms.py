"""Print the first alarm of NannyML on each stream, as JSON. monitor_peers.py runs it in a Python with NannyML.

Reads a file of NumPy with predictions and labels, (n_streams, n_rows) each, and the number of rows that are the
reference. NannyML then judges chunks of 500 rows: the accuracy (with labels), and its estimate by CBPE (without).
Prints name -> number of standard deviations from the reference at which a chunk is an alarm -> rows, or null.
"""

import json
import sys

import nannyml
import numpy as np
import pandas as pd

CHUNK = 500
DEVIATIONS = (3, 3.5, 4, 4.5, 5, 6)
SETTINGS = {
    "y_pred_proba": "p", "y_pred": "label", "y_true": "y", "metrics": ["accuracy"], "chunk_size": CHUNK,
    "problem_type": "classification_binary",
}  # fmt: skip


def alarms(result, before):
    """Return the last row of the first chunk outside the reference, for each of ``DEVIATIONS``."""
    frame = result.filter(period="analysis").to_df()["accuracy"]
    value = frame["value" if "value" in frame else "realized"]
    middle = (frame["upper_threshold"] + frame["lower_threshold"]) / 2
    deviation = (frame["upper_threshold"] - frame["lower_threshold"]) / 6  # the thresholds are three deviations away
    distance = ((value - middle).abs() / deviation).to_numpy()
    first = {most: np.flatnonzero(distance > most) for most in DEVIATIONS}
    return {most: before + (int(chunks[0]) + 1) * CHUNK - 1 if len(chunks) else None for most, chunks in first.items()}


streams, before = np.load(sys.argv[1]), int(sys.argv[2])
found = {name: {most: [] for most in DEVIATIONS} for name in ("NannyML accuracy", "NannyML without labels")}
for p, y in zip(streams["p"], streams["y"], strict=True):
    frame = pd.DataFrame({"p": p, "y": y, "label": (p >= 0.5).astype(int)})
    reference, rows = frame[:before], frame[before:].reset_index(drop=True)
    with_labels = nannyml.PerformanceCalculator(**SETTINGS).fit(reference).calculate(rows)
    without = nannyml.CBPE(**SETTINGS).fit(reference).estimate(rows.drop(columns="y"))
    for name, result in zip(found, (with_labels, without), strict=True):
        for most, row in alarms(result, before).items():
            found[name][most].append(row)
print(json.dumps(found))
