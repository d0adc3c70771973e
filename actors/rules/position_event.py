"""The events of a position, as the rules make them."""

import math
from typing import Any, Final

from motorpool.storage.records import Event, Position

_NUMBERS: Final[frozenset[Any]] = frozenset({int, float})


def position_event(
    kind: str,
    position: Position,
    attributes: dict[str, Any] | None = None,
    *,
    geofence_id: int = 0,
    maintenance_id: int = 0,
) -> Event:
    """Return an event at the device time of `position`; its `position_id` is set when both are stored."""
    return Event(
        type=kind,
        event_time=position.device_time,
        device_id=position.device_id,
        geofence_id=geofence_id,
        maintenance_id=maintenance_id,
        attributes=attributes or {},
    )


def read_number(value: object) -> float | None:
    """Return the value of an attribute if it is a number, else None; booleans are none."""
    return value if value.__class__ in _NUMBERS else None  # type: ignore[return-value]


def read_finite(value: object) -> float | None:
    """Return the value of an attribute as a float if it is a finite number, else None."""
    try:
        number = float(value) if value.__class__ in _NUMBERS else math.nan  # type: ignore[arg-type]
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
