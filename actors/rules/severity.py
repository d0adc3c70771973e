"""How severe events are, and whether somebody has to look at them (docs/events.md#severity). Pure.

Attributes `event.severity.NAME` of a device, its groups and the server go before the table: NAME is a type of
events, or `alarm.` and an alarm or what it is exactly, with or without its level. The most exact name that is
configured counts; of one that is configured several times, the value nearest to the device.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, get_args

import msgspec

from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.codecs.devices.attributes import with_mark
from motorpool.storage.records import Event, Review, Severity

PREFIX: Final = "event.severity."
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
"""The most severe first."""
INFO: Final[Severity] = "INFO"
ALARM: Final = "alarm"

_OF_TYPES: Final[Mapping[Severity, str]] = {
    "WARNING": """
        alarm deviceOverspeed deviceFuelDrop sensorOutOfRange unaccompaniedMotion driverHoursExceeded
        deviceInactive deviceLoginRefused queuedCommandFailed maintenance
    """,
}
_OF_ALARMS: Final[Mapping[Severity, str]] = {
    "CRITICAL": """
        sos accident fallDown tow jamming powerCut tampering removing fatigueDriving
        dangerWarning unauthorizedIgnition unauthorizedMovement unauthorizedDoor
    """,
    "WARNING": "collisionWarning fatigueWarning",
    "INFO": """
        vibration lowspeed powerOn powerRestored lock unlock geofenceEnter idle highRpm hardAcceleration
        hardBraking hardCornering laneChange parking footBrake longIdling coasting engineOverspeed
    """,
}
DEFAULTS: Final[Mapping[str, Severity]] = {
    **{name: severity for severity, names in _OF_TYPES.items() for name in names.split()},
    **{f"{ALARM}.{name}": severity for severity, names in _OF_ALARMS.items() for name in names.split()},
}
"""By the name as in attributes; types that are missing are INFO, alarms as the type `alarm`."""

Severities = Mapping[str, Severity]
"""What is configured for a device, by the name."""
UNCONFIGURED: Final[Severities] = {}
_UNREVIEWED: Final = Review()
_NAME: Final = re.compile(r"[^\s,@]{1,100}")


def severity_fault(key: str, value: object) -> str:
    """Return what is wrong with an attribute whose key begins with PREFIX; empty if nothing is."""
    kind, separator, alarm = key.removeprefix(PREFIX).partition(".")
    if separator and (kind != ALARM or not _NAME.fullmatch(alarm)):
        return f"is none of {PREFIX}<type> and {PREFIX}{ALARM}.<alarm>"
    if kind not in EVENT_TYPES:
        return "there is no such type of events"
    return "" if value in SEVERITIES else f"is none of {', '.join(SEVERITIES)}"


def read_severities(layers: Sequence[Mapping[str, Any]]) -> Severities:
    """Look up all severities in `layers`, which are attributes of the device, its groups and the server.

    Values that cannot be read count as absent.
    """
    found: dict[str, Severity] = {}
    for layer in layers:
        for key, value in layer.items():
            if key.startswith(PREFIX) and value in SEVERITIES:
                found.setdefault(key.removeprefix(PREFIX), value)
    return found or UNCONFIGURED


def severity_of(kind: str, attributes: Mapping[str, Any], configured: Severities) -> Severity:
    """Return the severity of an event. An alarm with several details is as severe as its worst one."""
    if kind != ALARM:
        return configured.get(kind) or DEFAULTS.get(kind, INFO)
    alarm, details = attributes.get("alarm"), attributes.get("alarmDetail")
    exact = details.split(",") if isinstance(details, str) else ("",)
    found = (_first(tuple(_names(str(alarm), detail.strip())), configured) for detail in exact)
    return min(found, key=SEVERITIES.index)


def is_as_severe(severity: Severity | None, least: Severity | None) -> bool:
    """Whether an event of this severity, None is INFO, is at least as severe as `least`; with None any is."""
    return least is None or SEVERITIES.index(severity or INFO) <= SEVERITIES.index(least)


def read_severity(value: object) -> Severity | None:
    """Return the severity that a value names; None if it names none."""
    return next((each for each in SEVERITIES if each == value), None)


def grade(events: Iterable[Event], configured: Severities) -> None:
    """Set severity and review of events that were just made, in place.

    Only for events that no other part has seen yet: elsewhere they are immutable values.
    """
    for event in events:
        severity = severity_of(event.type, event.attributes, configured)
        msgspec.structs.force_setattr(event, "severity", severity)
        if severity != INFO:
            msgspec.structs.force_setattr(event, "review", _UNREVIEWED)


def _names(alarm: str, detail: str) -> Iterator[str]:
    """Yield the names of an alarm, the most exact first."""
    if detail:
        name = detail.partition(":")[0]
        yield f"{ALARM}.{detail}"
        yield f"{ALARM}.{name}"
        yield f"{ALARM}.{with_mark(name)[0]}"
    yield f"{ALARM}.{alarm}"
    yield ALARM


def _first(names: Sequence[str], configured: Severities) -> Severity:
    for table in (configured, DEFAULTS):
        for name in names:
            if (found := table.get(name)) is not None:
                return found
    raise AssertionError("the type `alarm` has a severity")
