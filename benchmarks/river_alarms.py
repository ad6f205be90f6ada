"""Print the first alarm of river's detectors on each stream, as JSON. monitor_peers.py runs it in a Python with river.

Reads a file of NumPy: an array of streams, (n_streams, n_rows). Prints detector -> parameter -> rows, or null.
"""

import json
import sys

import numpy as np
from river import drift

DETECTORS = {
    "ADWIN": (lambda value: drift.ADWIN(delta=value), (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)),
    "Page-Hinkley": (lambda value: drift.PageHinkley(threshold=value), (10, 20, 35, 50, 75, 100, 150, 200, 300, 500)),
}


def first_alarm(detector, stream):
    for row, value in enumerate(stream):
        detector.update(value)
        if detector.drift_detected:
            return row
    return None


streams = np.load(sys.argv[1]).tolist()
print(
    json.dumps(
        {
            name: {value: [first_alarm(new(value), stream) for stream in streams] for value in values}
            for name, (new, values) in DETECTORS.items()
        }
    )
)
