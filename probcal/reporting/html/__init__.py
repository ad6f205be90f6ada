"""``probcal report``: experiments as one web page that needs nothing but itself."""

from probcal.reporting.html.page import write_report

__all__ = ["write_report"]
