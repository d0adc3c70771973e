"""The state of the rules, rebuilt from stored rows (docs/positions.md#state)."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import limit_of
from motorpool.actors.rules.fold import UNKNOWN_FIX_TIME
from motorpool.actors.rules.fold_state import NOTHING_STORED, FoldState
from motorpool.actors.rules.overspeed import OverspeedState, check_speed
from motorpool.actors.rules.proximity import proximity_events
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.rules.trip_detection import TripSettings, TripState, advance, track_point
from motorpool.storage.records import Position
from motorpool.storage.rules.fold_rows import Motion

MAX_LOOK_BACK: Final = timedelta(hours=24)
"""Positions from before that are not read; what they would tell makes no event."""


def window_start(latest: Position, settings: RuleSettings) -> datetime:
    """Return the fix time from which on positions are needed to rebuild the state."""
    seconds = max(settings.report_trip_min_duration, settings.event_overspeed_minimal_duration)
    return latest.fix_time - min(MAX_LOOK_BACK, timedelta(seconds=min(seconds, 1e6)))


def rebuild_state(
    latest: Position | None,
    rules: DeviceRules,
    *,
    points: Iterable[Position] = (),
    first: Position | None = None,
    motion: Motion | None = None,
    stored_that_day: int = 0,
    near: Mapping[int, bool] | None = None,
    linked: Iterable[Position] = (),
) -> FoldState:
    """Return the state after the stored positions of a device.

    `points` are those since `window_start` and a few from before, in the order in which they were stored;
    `first` is the first of the last 24 hours, for a device without a `motion`; `stored_that_day` is how many
    positions have the day of the latest; `near` tells by the last events which linked devices were close, and
    `linked` are the latest positions of the others.
    """
    if latest is None:
        return NOTHING_STORED
    inputs = list(_inputs(points))
    return FoldState(
        latest=latest,
        trip=_trip(inputs, first, motion, rules.settings.trips),
        day=latest.fix_time.toordinal(),
        stored_that_day=stored_that_day,
        overspeed=_overspeed(inputs, rules),
        near=_near(latest, near or {}, linked, rules.settings),
    )


def _inputs(points: Iterable[Position]) -> Iterator[Position]:
    """Yield the positions that became the latest: a late one was no input of the rules."""
    newest = UNKNOWN_FIX_TIME
    for point in points:
        if point.fix_time >= newest:
            newest = point.fix_time
            yield point


def _trip(
    points: Iterable[Position], first: Position | None, motion: Motion | None, settings: TripSettings
) -> TripState:
    state = TripState()
    for point in points:
        # What a device without a location sends leads nowhere.
        if point.fix_time != UNKNOWN_FIX_TIME:
            state, _ = advance(state, track_point(point), settings)
    if motion is not None:
        return TripState(motion.is_moving, track_point(motion.position), state.window)
    is_known = first is not None and first.fix_time != UNKNOWN_FIX_TIME
    return TripState(False, track_point(first) if first and is_known else state.anchor, state.window)


def _overspeed(points: Iterable[Position], rules: DeviceRules) -> OverspeedState:
    state = OverspeedState()
    settings = rules.settings
    for point in points:
        limit = limit_of(point, rules)
        if limit.knots or state.since is not None:
            _, state = check_speed(
                point,
                limit,
                state,
                minimal_duration=settings.event_overspeed_minimal_duration,
                multiplier=settings.event_overspeed_threshold_multiplier,
            )
    return state


def _near(
    latest: Position, near: Mapping[int, bool], linked: Iterable[Position], settings: RuleSettings
) -> Mapping[int, bool]:
    enter, leave = settings.proximity_enter_distance, settings.proximity_exit_distance
    others = [other for other in linked if other.device_id not in near]
    if not (enter or leave) or not (others or near):
        return {}
    _, by_distance = proximity_events(latest, {}, others, enter_distance=enter, exit_distance=leave)
    return {**by_distance, **near}
