"""Checks of what every learner and method guarantees, also for your own components."""

from __future__ import annotations

from probcal.contract.subject import DoesNotApply, Failed
from probcal.contract.suite import Check, contract_checks

__all__ = ["Check", "DoesNotApply", "Failed", "contract_checks"]
