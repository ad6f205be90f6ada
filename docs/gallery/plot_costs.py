"""
Decide when errors have costs
=============================

To miss a malignant tumour costs 20 times as much as a needless biopsy. From calibrated probabilities the best threshold is
known without a search: 1 / 21.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from probcal import BetaCalibrationClassifier, CostSensitiveClassifier, DecisionCurveDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :4], 1 - y, test_size=0.5, random_state=0)
model = BetaCalibrationClassifier(make_pipeline(StandardScaler(), LogisticRegression()), random_state=0)
decide = CostSensitiveClassifier(model, costs=(1, 20)).fit(X_train, y_train)

# %%
decisions = {
    "by costs": decide.predict(X_test),
    "at .5": decide.predict_proba(X_test)[:, 1] >= 0.5,
    "always": np.ones(len(y_test)),
}
for name, biopsy in decisions.items():
    cost = np.where(biopsy == 1, y_test == 0, 20 * y_test)
    print(f"{name}: {cost.mean():.3f} a patient, {int((y_test * (biopsy == 0)).sum())} missed of {y_test.sum()}")

# %%
# The net benefit for all costs: what the model is worth beside a biopsy for all, or for none.
DecisionCurveDisplay.from_predictions(y_test, decide.predict_proba(X_test)[:, 1], name="calibrated")
