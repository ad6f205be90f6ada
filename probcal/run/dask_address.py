"""The address of a Dask scheduler: refused before anything tries it, for to some Dask answers with pages of its own."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(?:([a-z]+)://)?(?:\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d+")
_USUAL = 'write "tcp://host:8786"'


def address_fault(address: str) -> str:
    """Why no scheduler can be reached at ``address`` from here, and what to do; empty when one can be tried."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return f"is not an address; {_USUAL}"
    scheme = found[1] or "tcp"
    return _scheme_fault(scheme) or _security_fault(scheme)


def _scheme_fault(scheme: str) -> str:
    from distributed.comm.registry import get_backend

    if scheme == "inproc":
        return f"is an address within one process; {_USUAL}"
    try:
        get_backend(scheme).get_connector()
    except Exception as error:  # of a package that brings this way: one that is not there fails as it likes
        return f"cannot be used: Dask here has no way of talking by {scheme}:// ({error}); {_USUAL}"
    return ""


def _security_fault(scheme: str) -> str:
    from distributed.security import Security

    try:
        known = Security().get_connection_args("client")
    except (OSError, ValueError) as error:
        return f"cannot be used: the certificates that Dask's configuration names cannot be read ({error})"
    if scheme == "tls" and known["ssl_context"] is None:
        return (
            "needs certificates: name them in Dask's configuration, as ca-file and client.cert and client.key of"
            " distributed.comm.tls"
        )
    if scheme == "tcp" and known["require_encryption"]:
        return "is without encryption, which Dask's configuration requires; write tls:// for tcp://"
    return ""
