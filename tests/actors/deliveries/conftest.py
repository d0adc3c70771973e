"""Names and certificates, as for outgoing HTTP."""

from tests.actors.http.conftest import authority, names

__all__ = ["authority", "names"]
