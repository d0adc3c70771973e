"""Events of motion (docs/events.md#motion, docs/decisions/0155)."""

from motorpool.actors.rules.trip_detection import TrackPoint, TripSettings, TripState, advance
from motorpool.storage.records import Event, Position


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
