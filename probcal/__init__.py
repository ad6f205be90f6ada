"""probcal: class probability estimation, as estimators and as an experiment runner."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probcal.methods.bagging import BaggedVoteClassifier
    from probcal.methods.beta import BetaCalibrationClassifier
    from probcal.methods.isotonic import IsotonicClassifier
    from probcal.methods.probing import ProbingClassifier
    from probcal.methods.protected import ProtectedClassifier
    from probcal.methods.relabelling import RelabelingClassifier
    from probcal.methods.rescaled import RescaledClassifier
    from probcal.methods.retrained import RetrainedClassifier
    from probcal.methods.sigmoid import SigmoidClassifier
    from probcal.methods.temperature import TemperatureClassifier
    from probcal.methods.venn_abers import VennAbersClassifier
    from probcal.methods.weight_sweep import WeightSweepClassifier
    from probcal.protection.composite import CompositeJumper
    from probcal.protection.simple import SimpleJumper

__version__ = "0.1.0"
_HOME = {
    "BaggedVoteClassifier": "probcal.methods.bagging",
    "BetaCalibrationClassifier": "probcal.methods.beta",
    "CompositeJumper": "probcal.protection.composite",
    "IsotonicClassifier": "probcal.methods.isotonic",
    "ProbingClassifier": "probcal.methods.probing",
    "ProtectedClassifier": "probcal.methods.protected",
    "RelabelingClassifier": "probcal.methods.relabelling",
    "RescaledClassifier": "probcal.methods.rescaled",
    "RetrainedClassifier": "probcal.methods.retrained",
    "SigmoidClassifier": "probcal.methods.sigmoid",
    "SimpleJumper": "probcal.protection.simple",
    "TemperatureClassifier": "probcal.methods.temperature",
    "VennAbersClassifier": "probcal.methods.venn_abers",
    "WeightSweepClassifier": "probcal.methods.weight_sweep",
}
__all__ = [
    "BaggedVoteClassifier",
    "BetaCalibrationClassifier",
    "CompositeJumper",
    "IsotonicClassifier",
    "ProbingClassifier",
    "ProtectedClassifier",
    "RelabelingClassifier",
    "RescaledClassifier",
    "RetrainedClassifier",
    "SigmoidClassifier",
    "SimpleJumper",
    "TemperatureClassifier",
    "VennAbersClassifier",
    "WeightSweepClassifier",
]


def __getattr__(name: str) -> object:
    # imported on first use: scikit-learn costs a second that `probcal --help` must not pay
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'probcal' has no attribute {name!r}")
