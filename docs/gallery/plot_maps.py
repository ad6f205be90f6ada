"""
Which map suits my scores?
==========================

Maps from scores to probabilities differ in what they assume. Compare them on held-out rows, with the same scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from probcal import BetaCalibrator, IsotonicCalibrator, SigmoidCalibrator, SplineCalibrator
from probcal.metrics import cross_entropy

X, y = load_digits(return_X_y=True)
odd = y % 2
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = cross_val_predict(GaussianNB(var_smoothing=0.1), X, odd, cv=folds, method="predict_proba")[:, 1]

# %%
# Each map is fitted on four fifths of the scores, and judged on the last fifth.
maps = {
    "isotonic": IsotonicCalibrator(),
    "sigmoid": SigmoidCalibrator(),
    "beta": BetaCalibrator(),
    "spline": SplineCalibrator(),
}
grid = np.linspace(0.001, 0.999, 500)
figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
print(f"naive Bayes: {cross_entropy(odd, scores):.3f} bits")
for name, calibrator in maps.items():
    p = np.empty(len(odd))
    for train, test in folds.split(X, odd):
        p[test] = calibrator.fit(scores[train], odd[train]).predict_proba(scores[test])[:, 1]
    axes.plot(grid, calibrator.predict_proba(grid)[:, 1], label=f"{name}: {cross_entropy(odd, p):.3f} bits")
axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
axes.set(xlabel="Probability of naive Bayes", ylabel="Calibrated probability")
axes.legend()
