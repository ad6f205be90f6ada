"""Protection of a probabilistic forecaster against a changing distribution, by test martingales."""

from probcal.protection.calibrating_functions import Cox, Quadratic
from probcal.protection.forecaster import ProtectedForecaster
from probcal.protection.guarantees import first_alarm, regret_bound
from probcal.protection.jumpers import CompositeJumper, SimpleJumper
from probcal.protection.monitor import CalibrationMonitor

__all__ = [
    "CalibrationMonitor",
    "CompositeJumper",
    "Cox",
    "ProtectedForecaster",
    "Quadratic",
    "SimpleJumper",
    "first_alarm",
    "regret_bound",
]
