"""Statistical comparison of methods for ``probcal compare``: ranks, tests, bootstrap and support of claims."""
