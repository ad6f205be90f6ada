"""
An alarm when calibration drifts
================================

A model predicts whether a digit is odd. From row 600 of the stream on, even digits become rare. The monitor sees predictions
and labels one after the other. Its alarm is valid however often you look.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from probcal import SigmoidClassifier
from probcal.protection import CalibrationMonitor

X, digit = load_digits(return_X_y=True)
order = np.random.default_rng(1).permutation(len(digit))  # at first, the world does not change
X, digit = X[order], digit[order]
y = digit % 2
model = SigmoidClassifier(LogisticRegression(C=1e-4, max_iter=500), random_state=0).fit(X[:600], y[:600])

# %%
# The stream: after 600 rows, seven of ten even digits stay away.
stream = np.arange(600, len(y))
leaves = (np.arange(len(stream)) >= 600) & (y[stream] == 0) & (np.random.default_rng(0).random(len(stream)) < 0.7)
stream = stream[~leaves]
monitor = CalibrationMonitor().update(model.predict_proba(X[stream])[:, 1], y[stream])
print(f"alarm after row {monitor.alarm_}, and it began about row {monitor.onset_}, between {monitor.onset_interval_}")

# %%
rows, evidence = monitor.path_.T
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(rows, evidence)
axes.axhline(2, color="black", linestyle="--", label="alarm: at most 1 % false ones, ever")
axes.axvspan(*monitor.onset_interval_, color="orange", alpha=0.3, label="the change began here")
axes.set(xlabel="Row", ylabel="Evidence (log10)")
axes.legend()
