"""The device's end of the protocols of small trackers, for `simulate --protocol` and `bench codecs`.

Every subclass of `Tracker` with a `protocol` that is defined in a module of this folder is listed.
"""

import importlib
import pkgutil

from motorpool.bench.vehicles.trackers.tracker import Tracker

__all__ = ["TRACKERS", "Tracker", "new_tracker"]


def _find_trackers() -> dict[str, type[Tracker]]:
    found: dict[str, type[Tracker]] = {}
    for module_info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for candidate in vars(module).values():
            if (
                isinstance(candidate, type)
                and issubclass(candidate, Tracker)
                and candidate.__module__ == module.__name__
                and "protocol" in vars(candidate)
            ):
                found[candidate.protocol] = candidate
    return found


TRACKERS: dict[str, type[Tracker]] = _find_trackers()
"""The device's ends by the name of the protocol."""


def new_tracker(protocol: str, unique_id: str, model: str = "") -> Tracker:
    """Return the device's end of a new connection; `model` is one of the tracker's, or empty."""
    tracker = TRACKERS[protocol](unique_id)
    tracker.model = model
    return tracker
