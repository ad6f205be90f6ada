"""
A map as SQL
============

The scores are in a database. Take the map there: one SQL expression, which DuckDB or SQLite computes.
"""

import sqlite3

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from probcal import BetaCalibrator
from probcal.deploy import map_to_sql

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression(C=1e-4))
p = cross_val_predict(model, X, 1 - y, cv=5, method="predict_proba")[:, 1]
beta = BetaCalibrator().fit(p, 1 - y)
print(beta.interpret())

# %%
expression = map_to_sql(beta, ["p"])
print(expression[:160], "...")
database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE scored (p REAL)")
database.executemany("INSERT INTO scored VALUES (?)", [[value] for value in p])
calibrated = [value for (value,) in database.execute(f"SELECT {expression} FROM scored")]
print("largest difference to Python:", abs(beta.predict_proba(p)[:, 1] - calibrated).max())

# %%
figure, axes = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
axes.plot(sorted(p), sorted(calibrated))
axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
axes.set(xlabel="Probability of the model", ylabel="Calibrated by SQL")
