"""Protection of a probabilistic forecaster against a changing distribution: test martingales turned into estimates."""

from probcal.protection.alarm import first_alarm
from probcal.protection.calibrators import Cox, Quadratic
from probcal.protection.composite import CompositeJumper
from probcal.protection.regret import regret_bound
from probcal.protection.simple import SimpleJumper

__all__ = ["CompositeJumper", "Cox", "Quadratic", "SimpleJumper", "first_alarm", "regret_bound"]
