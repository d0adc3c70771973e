"""Events, which are the same numbers in all kinds of records (docs/protocols/meitrack.md#events)."""

from collections.abc import Mapping
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms

DRIVER_EVENT: Final = 37
"""A driver's tag was read; the event data is its number."""
_ALARMS: Final[Mapping[int, str]] = {
    1: "sos",
    17: "lowBattery",
    18: "lowPower",
    19: "overspeed",
    20: "geofenceEnter",
    21: "geofenceExit",
    22: "powerRestored",
    23: "powerCut",
    36: "tow",
    44: "jamming",
    78: "accident",
    90: "hardCornering",
    91: "hardCornering",
    129: "hardBraking",
    130: "hardAcceleration",
    135: "fatigueDriving",
}


def add_event(attributes: dict[str, Any], event: int) -> None:
    """Add the number of an event, and the alarm that it stands for."""
    attributes["event"] = event
    if (alarm := _ALARMS.get(event)) is not None:
        add_alarms(attributes, (alarm,))
