"""The state of the rules, rebuilt from stored rows (docs/positions.md#state)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.events_of_position import limit_of
from motorpool.actors.rules.fold import UNKNOWN_FIX_TIME, FoldState
from motorpool.actors.rules.overspeed import OverspeedState, check_speed
from motorpool.actors.rules.trip_detection import TrackPoint, TripSettings, TripState, advance
from motorpool.storage.fold_rows import Motion, PointRow, SpeedRow
from motorpool.storage.records import Position

__all__ = ["is_speeding", "rebuild_overspeed", "rebuild_state", "window_start"]

FARTHEST: Final = timedelta(hours=24)
"""Positions from before that are not read; what they would tell makes no event."""
NUMBER: Final = (int, float)


def window_start(latest: Position, settings: TripSettings) -> datetime:
    """Return the fix time from which on positions are needed to rebuild the state."""
    return latest.fix_time - min(FARTHEST, timedelta(seconds=min(settings.min_duration, 1e6)))


def rebuild_state(
    latest: Position | None,
    settings: TripSettings,
    *,
    points: Iterable[PointRow] = (),
    motion: Motion | None = None,
    stored_that_day: int = 0,
    overspeed: OverspeedState = OverspeedState(),  # noqa: B008 - immutable
) -> FoldState:
    """Return the state after the stored positions of a device.

    `points` are those since `window_start` and one from before, in the order in which they were stored;
    `stored_that_day` is how many positions have the day of the latest.
    """
    if latest is None:
        return FoldState()
    return FoldState(
        latest=latest,
        trip=_trip(points, motion, settings),
        day=latest.fix_time.toordinal(),
        stored_that_day=stored_that_day,
        overspeed=overspeed,
    )


def is_speeding(latest: Position, rules: DeviceRules) -> bool:
    """Whether a device is above its limit, so that `rebuild_overspeed` needs the positions before."""
    limit = limit_of(latest, rules).knots
    return bool(limit) and latest.speed > limit * rules.settings.event_overspeed_threshold_multiplier


def rebuild_overspeed(speeds: Iterable[SpeedRow], rules: DeviceRules) -> OverspeedState:
    """Return the episode after the positions of the last day, in the order in which they were stored."""
    state, newest = OverspeedState(), UNKNOWN_FIX_TIME
    for row in speeds:
        if row.fix_time >= newest:
            newest = row.fix_time
            position = Position(
                fix_time=row.fix_time,
                outdated=row.outdated,
                speed=row.speed,
                geofence_ids=row.geofence_ids,
                attributes={} if row.speed_limit is None else {"speedLimit": row.speed_limit},
            )
            _, state = check_speed(
                position,
                limit_of(position, rules),
                state,
                minimal_duration=rules.settings.event_overspeed_minimal_duration,
                multiplier=rules.settings.event_overspeed_threshold_multiplier,
            )
    return state


def _trip(points: Iterable[PointRow], motion: Motion | None, settings: TripSettings) -> TripState:
    newest = UNKNOWN_FIX_TIME
    state = TripState()
    for row in points:
        # A late position was no input of the machine, nor was one of a device that never had a location.
        if row.fix_time >= newest and row.fix_time != UNKNOWN_FIX_TIME:
            newest = row.fix_time
            state, _ = advance(state, _track_point(row), settings)
    if motion is None:
        return TripState(False, state.anchor, state.window)
    return TripState(motion.is_moving, _track_point(motion.point), state.window)


def _track_point(row: PointRow) -> TrackPoint:
    distance = row.distance if isinstance(row.distance, NUMBER) else 0.0
    return TrackPoint(row.id, row.fix_time, row.latitude, row.longitude, distance)
