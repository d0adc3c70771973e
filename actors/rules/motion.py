"""Events of motion (docs/events.md#motion, docs/decisions/0155)."""

from collections.abc import Iterable
from itertools import dropwhile

from msgspec.structs import replace

from motorpool.actors.rules.trip_detection import (
    TrackPoint,
    Transition,
    TripSettings,
    TripState,
    follow,
    is_within,
    track_point,
)
from motorpool.storage.records import Event, Position
from motorpool.storage.rules.fold_rows import Motion


def motion_events(transitions: Iterable[Transition], device_id: int) -> tuple[tuple[Event, TrackPoint], ...]:
    """Return the events of starts and stops of a device, each with the point to which it is dated back."""
    return tuple(
        (
            Event(
                type="deviceMoving" if transition.is_moving else "deviceStopped",
                event_time=transition.point.fix_time,
                device_id=device_id,
                position_id=transition.point.position_id,
            ),
            transition.point,
        )
        for transition in transitions
    )


def located_of(points: Iterable[Position]) -> list[Position]:
    """Return the positions that say where a device was, of some in a row."""
    located = [position for position in points if not position.outdated]
    # Whether those without a fix say anything is told by the one before them that has one.
    return list(dropwhile(lambda position: not _is_fix(position), located)) or located


def _is_fix(position: Position) -> bool:
    return position.valid and "implausible" not in position.attributes


def rebuild_trip(
    points: Iterable[Position], first: Position | None, motion: Motion | None, settings: TripSettings
) -> TripState:
    """Return the state after the positions of a device, whose last event was `motion`.

    Without one, the device stands where it was at `first`.
    """
    located = located_of(points)
    is_moving, since = (motion.is_moving, motion.position) if motion is not None else (False, first)
    anchor = track_point(since) if since is not None else None
    has_turned = anchor is not None and bool(located) and anchor.fix_time <= located[0].fix_time
    # Before its last transition it was the other way round.
    state = TripState(is_moving, anchor) if has_turned else TripState(motion is not None and not is_moving)
    for position in located:
        point = track_point(position)
        if "implausible" in position.attributes:
            state = state.doubting(point)
            continue
        before = state
        # Implausible ones from before the span that is read are missing.
        state, transitions = follow(state, point, settings, has_gaps=True)
        if has_turned and transitions:
            # Positions before these told otherwise: there was no event.
            state = replace(state, is_moving=is_moving, anchor=anchor, elsewhere=before.elsewhere)
        elif anchor is not None and position.id == anchor.position_id:
            has_turned = True
            state = state.turned(anchor, settings, is_moving=is_moving)
    if anchor is None:
        anchor = state.anchor
    elsewhere = None
    if not is_moving and state.window:
        elsewhere = state.elsewhere
        place = elsewhere or anchor
        if place is not None and not any(
            is_within(place, each, settings.min_distance) for each in state.window
        ):
            # It has been there for longer than these points tell.
            elsewhere = state.window[0]
    return replace(state, is_moving=is_moving, anchor=anchor, elsewhere=elsewhere)
