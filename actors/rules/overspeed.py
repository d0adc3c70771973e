"""Events of speeding (docs/events.md#overspeed)."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.actors.rules.position_event import position_event, read_number
from motorpool.storage.records import Event, Position


class Limit(msgspec.Struct, frozen=True, gc=False):
    """A speed limit."""

    knots: float
    """0: no limit."""
    geofence_id: int = 0
    """The geofence that sets it; 0: none does."""


class OverspeedState(msgspec.Struct, frozen=True, gc=False):
    """The present episode; the default is that of a device that keeps to its limit."""

    since: datetime | None = None
    """Fix time of the first position of the episode; None outside one."""
    is_reported: bool = False
    """Whether the episode has had its event."""


_NO_EPISODE = OverspeedState()
_NO_EVENTS: list[Event] = []


def speed_limit(
    position: Position, geofences: Sequence[Limit], device_limit: float, *, prefer_lowest: bool
) -> Limit:
    """Return the limit that counts at a position.

    It is that of the geofences around it, the highest unless `prefer_lowest`, else the position's attribute
    `speedLimit`, else `device_limit`. All are in knots; a limit of 0 or less counts as none.
    """
    if geofences:
        limits = [limit for limit in geofences if limit.knots > 0]
        if limits:
            choose = min if prefer_lowest else max
            return choose(limits, key=lambda limit: limit.knots)
    sent = read_number(position.attributes.get("speedLimit"))
    if sent is not None and sent > 0:
        return Limit(sent)
    return Limit(max(0.0, device_limit))


def check_speed(
    position: Position,
    limit: Limit,
    state: OverspeedState,
    *,
    minimal_duration: float,
    multiplier: float,
) -> tuple[list[Event], OverspeedState]:
    """Return an event if `position` shows that an episode has lasted for `minimal_duration` seconds.

    An episode lasts while the speed is above the limit times `multiplier`, and has one event. A position that
    repeats an earlier location changes nothing.
    """
    if position.outdated:
        return _NO_EVENTS, state
    if not limit.knots or position.speed <= limit.knots * multiplier:
        return _NO_EVENTS, (state if state.since is None else _NO_EPISODE)
    if state.is_reported:
        return _NO_EVENTS, state
    since = state.since or position.fix_time
    if (position.fix_time - since).total_seconds() < minimal_duration:
        return _NO_EVENTS, (state if state.since is not None else OverspeedState(since))
    attributes = {"speed": position.speed, "speedLimit": limit.knots}
    event = position_event("deviceOverspeed", position, attributes, geofence_id=limit.geofence_id)
    return [event], OverspeedState(since, is_reported=True)
