"""
Rare events need another axis
=============================

One digit in ten is an 8. Of these, half are left out, so that one row in twenty is positive. On an axis of probabilities all of
them are in one corner. In log-odds you see them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from probcal import ReliabilityDisplay

X, digit = load_digits(return_X_y=True)
keep = (digit != 8) | (np.random.default_rng(0).random(len(digit)) < 0.5)
X, eight = X[keep], (digit[keep] == 8).astype(int)
p = cross_val_predict(LogisticRegression(C=1e-4, max_iter=500), X, eight, cv=10, method="predict_proba")[:, 1]
print(f"{eight.mean():.1%} of the rows are positive, and the mean prediction is {p.mean():.1%}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
for axes, scale in zip(panels, ("linear", "logit"), strict=True):
    ReliabilityDisplay.from_predictions(eight, p, scale=scale, ax=axes)
