"""Events of devices that travel together (docs/events.md#linked-devices)."""

from collections.abc import Iterable, Mapping

from motorpool.actors.rules.distance import great_circle
from motorpool.actors.rules.position_event import position_event
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.storage.records import Event, Position


def proximity_events(
    position: Position,
    near: Mapping[int, bool],
    linked: Iterable[Position],
    *,
    enter_distance: float,
    exit_distance: float,
) -> tuple[list[Event], Mapping[int, bool]]:
    """Return an event for each linked device that came close or moved away, and which are close now.

    `near` tells of each linked device whether it was close; of one that is missing that is not known, which
    makes no event. `linked` are the latest positions of the linked devices. A device comes close within
    `enter_distance` metres, and is no longer close beyond `exit_distance`; where one of them is 0 it makes no
    event, and the other one counts for both.
    """
    is_near: dict[int, bool] = {}
    found: list[Event] = []
    enter, leave = enter_distance or exit_distance, exit_distance or enter_distance
    for other in linked:
        was = near.get(other.device_id)
        now = _metres(position, other) <= (max(enter, leave) if was else enter)
        is_near[other.device_id] = now
        if was is None or now == was or not (enter_distance if now else exit_distance):
            continue
        kind = "proximityEnter" if now else "proximityExit"
        found.append(position_event(kind, position, {"linkedDeviceId": other.device_id}))
    return found, is_near


def rebuild_near(
    latest: Position, near: Mapping[int, bool], linked: Iterable[Position], settings: RuleSettings
) -> Mapping[int, bool]:
    """Return which linked devices are close: by the last events, `near`, and of others by their positions."""
    enter, leave = settings.proximity_enter_distance, settings.proximity_exit_distance
    others = [other for other in linked if other.device_id not in near]
    if not (enter or leave) or not (others or near):
        return {}
    _, by_distance = proximity_events(latest, {}, others, enter_distance=enter, exit_distance=leave)
    return {**by_distance, **near}


def unaccompanied_events(
    position: Position, last: Position | None, linked: Iterable[Position], *, distance: float
) -> list[Event]:
    """Return an event if the device starts to move while no linked device is within `distance` metres."""
    if position.attributes.get("motion") is not True:
        return []
    if last is None or last.attributes.get("motion") is not False:
        return []
    if any(_metres(position, other) <= distance for other in linked):
        return []
    return [position_event("unaccompaniedMotion", position)]


def _metres(position: Position, other: Position) -> float:
    return great_circle(position.latitude, position.longitude, other.latitude, other.longitude)
