"""probcal: class probability estimation, as estimators and as an experiment runner."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probcal.methods.bagging import BaggedVoteClassifier
    from probcal.methods.calibrators.beta import BetaCalibrationClassifier
    from probcal.methods.calibrators.isotonic import IsotonicClassifier
    from probcal.methods.calibrators.sigmoid import SigmoidClassifier
    from probcal.methods.calibrators.temperature import TemperatureClassifier
    from probcal.methods.calibrators.venn_abers import VennAbersClassifier
    from probcal.methods.direct import RescaledClassifier
    from probcal.methods.probing import ProbingClassifier
    from probcal.methods.protected import ProtectedClassifier, RetrainedClassifier
    from probcal.methods.relabeling import RelabelingClassifier
    from probcal.methods.weight_sweep import WeightSweepClassifier
    from probcal.protection.jumpers import CompositeJumper, SimpleJumper


__version__ = "0.1.0"
_HOME = {
    "BaggedVoteClassifier": "probcal.methods.bagging",
    "BetaCalibrationClassifier": "probcal.methods.calibrators.beta",
    "CompositeJumper": "probcal.protection.jumpers",
    "IsotonicClassifier": "probcal.methods.calibrators.isotonic",
    "ProbingClassifier": "probcal.methods.probing",
    "ProtectedClassifier": "probcal.methods.protected",
    "RelabelingClassifier": "probcal.methods.relabeling",
    "RescaledClassifier": "probcal.methods.direct",
    "RetrainedClassifier": "probcal.methods.protected",
    "SigmoidClassifier": "probcal.methods.calibrators.sigmoid",
    "SimpleJumper": "probcal.protection.jumpers",
    "TemperatureClassifier": "probcal.methods.calibrators.temperature",
    "VennAbersClassifier": "probcal.methods.calibrators.venn_abers",
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


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> object:
    # imported on first use: scikit-learn costs a second that `probcal --help` must not pay
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'probcal' has no attribute {name!r}")
