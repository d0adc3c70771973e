"""The versions of the HTTP interface and of the program (docs/decisions/0007)."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

INTERFACE = "8.20.0"
"""Version of the interface that the server implements."""


@cache
def program_version() -> str:
    """Return the version of the program; "0" if it is not installed."""
    try:
        return version("motorpool")
    except PackageNotFoundError:
        return "0"
