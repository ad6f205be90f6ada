"""
A probability from a classifier that only predicts labels
=========================================================

A linear SVM with the hinge loss has no probabilities. Probing fits it with a hundred class weights. Each copy votes whether
the probability is above one threshold (Langford & Zadrozny 2005).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from probcal import ProbingClassifier
from probcal.metrics import cross_entropy

X, y = load_breast_cancer(return_X_y=True)
split = train_test_split(X, 1 - y, test_size=0.5, random_state=0)
X_train, X_test, y_train, y_test = split
svm = make_pipeline(StandardScaler(), LinearSVC(C=0.01, dual=False, tol=1e-8, max_iter=100_000))
probing = ProbingClassifier(svm, random_state=0).fit(X_train, y_train)
p = probing.predict_proba(X_test)[:, 1]
print(f"log loss {cross_entropy(y_test, p):.3f} bits, from labels alone")

# %%
# Three patients: how the votes fall as positive rows weigh less.
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for row in np.argsort(np.abs(p - 0.5))[[0, 20, 60]]:
    votes = [model.predict(X_test[[row]])[0] for model in probing.estimators_]
    axes.step(probing.thresholds_, votes, where="mid", label=f"P(malignant) = {p[row]:.2f}, is {y_test[row]}")
axes.set(xlabel="Threshold of the probability", ylabel="Predicted label")
axes.legend()
