"""Events of motion (docs/events.md#motion, docs/decisions/0155)."""

from collections.abc import Iterable

from motorpool.actors.rules.times import UNKNOWN_FIX_TIME
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
    if motion is not None:
        anchor = track_point(motion.position)
        if not motion.is_moving and window and not is_within(anchor, window[0], settings.min_distance):
            # Since it stopped its receiver was found to have been wrong.
            anchor = window[0]
        return TripState(motion.is_moving, anchor, window, state.doubtful)
    is_known = first is not None and first.fix_time != UNKNOWN_FIX_TIME
    anchor = track_point(first) if first and is_known else state.anchor
    return TripState(False, anchor, window, state.doubtful)
