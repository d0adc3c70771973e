"""Events of motion (docs/events.md#motion, docs/decisions/0155)."""

from collections.abc import Iterable

from msgspec.structs import replace

from motorpool.actors.rules.trip_detection import (
    TrackPoint,
    TripSettings,
    TripState,
    advance,
    track_point,
)
from motorpool.storage.records import Event, Position
from motorpool.storage.rules.fold_rows import Motion


def motion_events(
    position: Position, point: TrackPoint, state: TripState, settings: TripSettings
) -> tuple[list[tuple[Event, TrackPoint]], TripState]:
    """Return events of starts and stops, each with the point to which it is dated back, and the new state."""
    state, transitions = advance(state, point, settings, is_believed=True)
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
    inputs = [track_point(position) for position in points if not position.outdated]
    state = TripState()
    if motion is not None and inputs:
        # Before its last transition it was the other way round.
        at = track_point(motion.position)
        is_known = at.fix_time <= inputs[0].fix_time
        state = TripState(motion.is_moving is is_known, at if is_known else None)
    elsewhere = None
    for point in inputs:
        known = state.window
        state, transitions = advance(state, point, settings)
        if transitions:
            elsewhere = None
        elif known and state.window == (point,):
            elsewhere = point
    is_moving, since = (motion.is_moving, motion.position) if motion is not None else (False, first)
    anchor = track_point(since) if since is not None else state.anchor
    if elsewhere is not None and not is_moving:
        # It was found there without having been seen on the way.
        anchor = elsewhere
    return replace(state, is_moving=is_moving, anchor=anchor)
