"""
Several classes
===============

With ten digits, a matrix that scales the log-probabilities of naive Bayes makes them useful. Its penalty keeps it near a
temperature where rows are few.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from probcal import MatrixScalingClassifier, ReliabilityDisplay, TemperatureClassifier
from probcal.metrics import cross_entropy

X, y = load_digits(return_X_y=True)
models = {
    "naive Bayes": GaussianNB(),
    "temperature": TemperatureClassifier(GaussianNB(), random_state=0),
    "matrix": MatrixScalingClassifier(GaussianNB(), penalty="structured", random_state=0),
}

# %%
# The likeliest digit of each row: how often is it right?
figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
for name, model in models.items():
    p = cross_val_predict(model, X, y, cv=5, method="predict_proba")
    print(f"{name}: log loss {cross_entropy(y, p):.2f} bits, {(p.argmax(axis=1) == y).mean():.0%} right")
    is_right, confidence = (p.argmax(axis=1) == y).astype(int), p.max(axis=1)
    ReliabilityDisplay.from_predictions(is_right, confidence, name=name, ax=axes)
