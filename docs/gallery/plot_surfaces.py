"""
Surfaces of equal probability
=============================

A support vector machine draws one line between two classes. With another class weight it draws another line. Together these
lines are where the probability is .1, .3, .5, .7 and .9 (Nalbantov & Ivanov 2019).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from probcal import WeightSweepClassifier

frame = load_breast_cancer(as_frame=True).frame
X, y = frame[["mean radius", "mean texture"]].to_numpy(), 1 - frame["target"].to_numpy()
svm = make_pipeline(StandardScaler(), SVC(C=1))
sweep = WeightSweepClassifier(svm, levels=[0.1, 0.3, 0.5, 0.7, 0.9], random_state=0).fit(X, y)

# %%
grid = np.meshgrid(
    np.linspace(*np.percentile(X[:, 0], [0, 100]), 120), np.linspace(*np.percentile(X[:, 1], [0, 100]), 120)
)
points = np.column_stack([axis.ravel() for axis in grid])
figure, axes = plt.subplots(figsize=(6, 4.6), layout="constrained")
for level, model in zip(sweep.thresholds_, sweep.estimators_, strict=True):
    lines = axes.contour(
        *grid, model.decision_function(points).reshape(120, 120), levels=[0], colors=[plt.cm.viridis(level)]
    )
    axes.clabel(lines, fmt={0: f"{level:.1f}"})
axes.scatter(*X.T, c=y, cmap="coolwarm", s=6, alpha=0.6)
axes.set(xlabel="Mean radius", ylabel="Mean texture")
print("P(malignant) at radius 14 and texture 20:", sweep.predict_proba([[14, 20]])[0, 1].round(2))
