"""
Promise a recall
================

Nobody can name costs, but nine of ten malignant tumours must be found. ``GuaranteedRateClassifier`` chooses the threshold
on held-out rows, so that the promise holds with confidence .95.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from probcal import GuaranteedRateClassifier

X, y = load_breast_cancer(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X[:, :4], 1 - y, test_size=0.7, random_state=0)
X_held_out, X_test, y_held_out, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
model = FrozenEstimator(GaussianNB().fit(X_train, y_train))

# %%
decide = GuaranteedRateClassifier(model, rate="recall", at_least=0.9).fit(X_held_out, y_held_out)
print(decide.guarantee_)
print(
    f"recall on test rows {recall_score(y_test, decide.predict(X_test)):.2f}, at .5 {recall_score(y_test, model.predict(X_test)):.2f}"
)

# %%
figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
p = model.predict_proba(X_test)[:, 1]
axes.hist([p[y_test == 0], p[y_test == 1]], bins=20, label=["benign", "malignant"])
axes.axvline(decide.threshold_, color="black", linestyle="--", label="threshold")
axes.set(xlabel="Predicted probability", ylabel="Rows")
axes.legend()
