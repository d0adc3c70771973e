"""One module for each scenario; `motorpool bench --list` shows those with a TITLE."""

import importlib
import pkgutil
from typing import cast

from motorpool.bench.options import Scenario

__all__ = ["DEFAULT", "DEFAULT_SECONDS", "names", "scenario"]

DEFAULT = (
    *("mailbox", "codecs", "ingest", "api", "events", "websocket", "registration", "storm", "mixed"),
    *("live", "tickets", "idle"),
)
"""What `motorpool bench` measures if it is not told, as far as DEFAULT_SECONDS go."""
DEFAULT_SECONDS = 600.0
"""After which no further one of the default set begins, so that it ends within 15 minutes on a slow machine,
too: the longest one takes five."""


def names() -> list[str]:
    """Return the names of all scenarios in alphabetical order."""
    return sorted(
        module.name for module in pkgutil.iter_modules(__path__) if hasattr(_load(module.name), "TITLE")
    )


def scenario(name: str) -> Scenario:
    """Return a scenario by name.

    Raises:
        KeyError: there is none.
    """
    if name not in names():
        raise KeyError(name)
    return cast("Scenario", _load(name))


def _load(name: str) -> object:
    return importlib.import_module(f"{__name__}.{name}")
