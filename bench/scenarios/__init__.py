"""One module a scenario, named as in the tasks; `motorpool bench --list` shows those with a TITLE."""

import importlib
import pkgutil
from typing import cast

from motorpool.bench.options import Scenario

__all__ = ["names", "scenario"]


def names() -> list[str]:
    """All scenarios, in the order of the alphabet."""
    return sorted(
        module.name for module in pkgutil.iter_modules(__path__) if hasattr(_load(module.name), "TITLE")
    )


def scenario(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        KeyError: there is none.
    """
    if name not in names():
        raise KeyError(name)
    return cast("Scenario", _load(name))


def _load(name: str) -> object:
    return importlib.import_module(f"{__name__}.{name}")
