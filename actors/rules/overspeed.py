"""Events of speeding (docs/events.md#overspeed)."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from motorpool.actors.rules.device_rules import DeviceRules
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


def limit_of(position: Position, rules: DeviceRules) -> Limit:
    """Return the limit that counts at a position.

    It is that of the geofences around it, the highest unless `event.overspeed.preferLowest`, else the
    position's attribute `speedLimit`, else that of the device. A limit of 0 or less counts as none.
    """
    settings = rules.settings
    if position.geofence_ids:
        geofences = map(rules.geofences.get, position.geofence_ids)
        limits = [Limit(each.speed_limit, each.id) for each in geofences if each and each.speed_limit > 0]
        if limits:
            choose = min if settings.event_overspeed_prefer_lowest else max
            return choose(limits, key=lambda limit: limit.knots)
    sent = read_number(position.attributes.get("speedLimit"))
    if sent is not None and sent > 0:
        return Limit(sent)
    return Limit(max(0.0, settings.speed_limit))


def check_speed(
    position: Position, rules: DeviceRules, state: OverspeedState
) -> tuple[list[Event], OverspeedState]:
    """Return an event if `position` shows that an episode has lasted for its minimal duration.

    An episode lasts while the speed is above the limit times the multiplier, and has one event. A position
    that repeats an earlier location changes nothing.
    """
    if position.outdated:
        return _NO_EVENTS, state
    settings, limit = rules.settings, limit_of(position, rules)
    if not limit.knots or position.speed <= limit.knots * settings.event_overspeed_threshold_multiplier:
        return _NO_EVENTS, (state if state.since is None else _NO_EPISODE)
    if state.is_reported:
        return _NO_EVENTS, state
    since = state.since or position.fix_time
    if (position.fix_time - since).total_seconds() < settings.event_overspeed_minimal_duration:
        return _NO_EVENTS, (state if state.since is not None else OverspeedState(since))
    attributes = {"speed": position.speed, "speedLimit": limit.knots}
    event = position_event("deviceOverspeed", position, attributes, geofence_id=limit.geofence_id)
    return [event], OverspeedState(since, is_reported=True)


def rebuild_overspeed(points: Iterable[Position], rules: DeviceRules) -> OverspeedState:
    """Return the state after the positions of a device."""
    state = _NO_EPISODE
    for point in points:
        _, state = check_speed(point, rules, state)
    return state
