"""
Calibrate a model, and see that it helped
=========================================

A forest of 40 trees predicts from nuclei of cells whether a tumour is malignant. Its probabilities are too close to one
half. A sigmoid map on five folds corrects them.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from probcal import ReliabilityDisplay, SigmoidClassifier
from probcal.metrics import cross_entropy

X, y = load_breast_cancer(return_X_y=True)
malignant = 1 - y
forest = RandomForestClassifier(40, min_samples_leaf=20, random_state=0)
models = {"forest": forest, "calibrated forest": SigmoidClassifier(forest, random_state=0)}

# %%
# All predictions are of rows that the model has not seen.
display = None
for name, model in models.items():
    p = cross_val_predict(model, X, malignant, cv=5, method="predict_proba")[:, 1]
    print(f"{name}: log loss {cross_entropy(malignant, p):.3f} bits")
    display = ReliabilityDisplay.from_predictions(malignant, p, name=name, ax=display and display.ax_)
