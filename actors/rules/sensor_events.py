"""Events of sensors that leave and regain their range (docs/events.md#sensors).

What the rule remembers of a device stands in attributes of its latest position, which are stored with the
events: a server that starts goes on where another one was stopped, without reading anything else.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from motorpool.actors.rules.position_event import position_event, read_finite
from motorpool.actors.rules.sensor_limits import SensorLimits
from motorpool.storage.records import Event, Position

OUT_OF_RANGE: Final = "sensorsOutOfRange"
"""The attribute with the sensors whose event has come, separated by commas."""
PENDING: Final = "sensorsPending"
"""The attribute with those that were not out of range for long enough yet: sensor, `@`, and since when in
milliseconds since 1970, separated by commas."""
EVALUATED: Final = "sensorsEvaluated"
"""The attribute of a position that was older than what had been evaluated: up to when that was, in
milliseconds since 1970."""
_KEYS: Final = (OUT_OF_RANGE, PENDING, EVALUATED)
_MILLISECONDS: Final = re.compile(r"[0-9]{1,15}")
_NO_EVENTS: Final[list[Event]] = []


class SensorState(msgspec.Struct, frozen=True, gc=False):
    """Which sensors are out of range; the default is that of a device of which nothing was evaluated."""

    evaluated: int = 0
    """The instant up to which values were evaluated, in milliseconds since 1970."""
    reported: frozenset[str] = frozenset()
    """The sensors whose event has come."""
    pending: Mapping[str, int] = {}
    """The other sensors that are out of range, and since when, in milliseconds since 1970."""


NOTHING_EVALUATED: Final = SensorState()


def sensor_events(
    position: Position, limits: SensorLimits, state: SensorState
) -> tuple[list[Event], SensorState]:
    """Return an event for each sensor that has been out of range for long enough, or is back in it.

    A sensor that the position lacks stays as it was, and so do all at a position whose values are older than
    those evaluated: such as one without a fix that was sent from the memory of the device.
    """
    instant = instant_of(position)
    if instant < state.evaluated:
        return _NO_EVENTS, state
    attributes, reported = position.attributes, state.reported
    pending = state.pending
    if reported:
        reported = reported.intersection(limits)
    found: list[Event] = []
    for sensor, limit in limits.items():
        value = read_finite(attributes[sensor]) if sensor in attributes else None
        if value is None:
            continue
        if sensor in reported:
            if limit.is_back(value):
                found.append(position_event("sensorInRange", position, {"sensor": sensor, "value": value}))
                reported -= {sensor}
        elif (bound := limit.crossed(value)) is None:
            if sensor in pending:
                pending = {name: since for name, since in pending.items() if name != sensor}
        elif instant - (since := pending.get(sensor, instant)) < limit.seconds * 1000:
            if sensor not in pending:
                pending = {**pending, sensor: since}
        else:
            told = {"sensor": sensor, "value": value, "limit": bound}
            found.append(position_event("sensorOutOfRange", position, told))
            reported |= {sensor}
            pending = {name: since for name, since in pending.items() if name != sensor}
    if not limits.keys() >= pending.keys():
        pending = {name: since for name, since in pending.items() if name in limits}
    return found, SensorState(instant, reported, pending)


def instant_of(position: Position) -> int:
    """Return the instant of a position's values in milliseconds since 1970, never later than its arrival.

    That of the fix, or without one that of the device.
    """
    instant = position.device_time if position.outdated else position.fix_time
    return round(min(instant, position.server_time).timestamp() * 1000)


def put_state(attributes: dict[str, Any], state: SensorState, position: Position) -> None:
    """Put what the rule remembers into the attributes of the latest position; devices cannot send that."""
    for key in _KEYS:
        attributes.pop(key, None)
    if state.reported:
        attributes[OUT_OF_RANGE] = ",".join(sorted(state.reported))
    if state.pending:
        pending = sorted(state.pending.items())
        attributes[PENDING] = ",".join(f"{sensor}@{since}" for sensor, since in pending)
    if instant_of(position) < state.evaluated:
        attributes[EVALUATED] = state.evaluated


def rebuild_sensors(latest: Position, limits: SensorLimits) -> SensorState:
    """Return the state after the latest position of a device."""
    if not limits:
        return NOTHING_EVALUATED
    attributes = latest.attributes
    evaluated = attributes.get(EVALUATED)
    pending = dict(_pending(attributes.get(PENDING)))
    return SensorState(
        max(instant_of(latest), evaluated if isinstance(evaluated, int) else 0),
        frozenset(_names(attributes.get(OUT_OF_RANGE))).intersection(limits),
        {sensor: since for sensor, since in pending.items() if sensor in limits},
    )


def _names(value: object) -> list[str]:
    return value.split(",") if isinstance(value, str) else []


def _pending(value: object) -> list[tuple[str, int]]:
    parts = (part.rpartition("@") for part in _names(value))
    return [(sensor, int(since)) for sensor, _, since in parts if _MILLISECONDS.fullmatch(since)]
