"""Events of motion (docs/events.md#motion, docs/decisions/0155)."""

from collections.abc import Iterable

from msgspec.structs import replace

from motorpool.actors.rules.trip_detection import (
    TrackPoint,
    TripSettings,
    TripState,
    advance,
    is_within,
    track_point,
)
from motorpool.storage.records import Event, Position
from motorpool.storage.rules.fold_rows import Motion


def motion_events(
    position: Position, point: TrackPoint, state: TripState, settings: TripSettings
) -> tuple[list[tuple[Event, TrackPoint]], TripState]:
    """Return events of starts and stops, each with the point to which it is dated back, and the new state."""
    state, transitions = advance(state, point, settings)
    if not transitions:
        return [], state
    return [
        (
            Event(
                type="deviceMoving" if transition.is_moving else "deviceStopped",
                event_time=transition.point.fix_time,
                device_id=position.device_id,
                position_id=transition.point.position_id,
            ),
            transition.point,
        )
        for transition in transitions
    ], state


def rebuild_trip(
    points: Iterable[Position], first: Position | None, motion: Motion | None, settings: TripSettings
) -> TripState:
    """Return the state after the positions of a device, whose last event was `motion`.

    Without one, the device stands where it was at `first`.
    """
    state = TripState()
    for point in points:
        if not point.outdated:
            state, _ = advance(state, track_point(point), settings)
    window = state.window
    is_moving, at = (motion.is_moving, motion.position) if motion is not None else (False, first)
    anchor = track_point(at) if at is not None else state.anchor
    if anchor is not None and not is_moving and window and not is_within(anchor, window[0], settings.min_distance):
        # Since it stopped it was found elsewhere.
        anchor = window[0]
    return replace(state, is_moving=is_moving, anchor=anchor)
