"""Experiments from Python and notebooks: ``probcal.run`` runs one, ``probcal.load_results`` reads its results."""

PUBLIC_FUNCTIONS = {
    "load": "probcal.deploy.model_folder",
    "load_results": "probcal.notebook.results",
    "run": "probcal.notebook.running",
}
"""Function that ``probcal`` offers -> its module."""
