"""
Predictions that follow a changing world
========================================

The same stream as in the example of the alarm. ``ProtectedForecaster`` corrects each prediction by the labels so far. It loses at
most one bit against the model over a whole stream.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from probcal.metrics import cross_entropy
from probcal.protection import ProtectedForecaster

X, digit = load_digits(return_X_y=True)
order = np.random.default_rng(1).permutation(len(digit))  # at first, the world does not change
X, digit = X[order], digit[order]
y = digit % 2
model = LogisticRegression(C=1e-4, max_iter=500).fit(X[:600], y[:600])
stream = np.arange(600, len(y))
leaves = (np.arange(len(stream)) >= 600) & (y[stream] == 0) & (np.random.default_rng(0).random(len(stream)) < 0.7)
stream = stream[~leaves]

# %%
p = model.predict_proba(X[stream])[:, 1]
protected, _ = ProtectedForecaster(truncation=0.01).protect(p, y[stream])
for name, values in {"model": p.clip(0.01, 0.99), "protected": protected}.items():
    print(f"{name}: {cross_entropy(y[stream], values):.3f} bits a row")

# %%
losses = {name: -np.log2(np.where(y[stream] == 1, q, 1 - q)) for name, q in (("model", p), ("protected", protected))}
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(np.cumsum(losses["model"] - losses["protected"]))
axes.axvline(600, color="black", linestyle="--", label="the world changes")
axes.set(xlabel="Row", ylabel="Bits saved so far")
axes.legend()
