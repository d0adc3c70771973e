"""The two versions: the interface's release and our own (docs/decisions/0007)."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["INTERFACE", "program_version"]

INTERFACE = "8.20.0"
"""The release of the interface that the server speaks."""


def program_version() -> str:
    """Motorpool's own version."""
    try:
        return version("motorpool")
    except PackageNotFoundError:
        return "0"
