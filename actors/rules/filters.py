"""Positions that are not stored (docs/positions.md#filters)."""

from datetime import datetime

from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.storage.records import Position

KNOTS = 3600 / 1852
"""Metres a second in knots."""
NUMBER = (int, float)


def is_dropped(
    position: Position, latest: Position | None, settings: RuleSettings, stored_that_day: int
) -> bool:
    """Whether a filter drops the position, whose server time is the present.

    `stored_that_day` is the number of positions stored so far that have the day of its fix time, in UTC.
    Filters that compare it with `latest` leave a late position alone: what came before it is not known.
    """
    if not settings.filter_enable:
        return False
    if _is_wrong(position, settings):
        return True
    if (settings.filter_past or settings.filter_future) and _is_out_of_time(
        position.fix_time, position.server_time, settings
    ):
        return True
    seconds = None if latest is None else (position.fix_time - latest.fix_time).total_seconds()
    if latest is None or seconds is None or seconds < 0:
        return settings.filter_static and position.speed == 0
    if seconds > 0 and (
        seconds < settings.filter_min_period
        or 0 < settings.filter_max_speed < _distance(position) / seconds * KNOTS
    ):
        return True
    limit = settings.filter_daily_limit
    if 0 < limit <= stored_that_day and not 0 < settings.filter_daily_limit_interval <= seconds:
        return True
    is_repeated = settings.filter_duplicate and seconds == 0
    if not (is_repeated or settings.filter_static or settings.filter_distance):
        return False
    return _is_unchanged(position, latest, seconds, settings) and not _is_exempt(position, latest, settings)


def _is_wrong(position: Position, settings: RuleSettings) -> bool:
    return (
        (settings.filter_invalid and not (position.valid and _is_on_earth(position)))
        or (settings.filter_zero and position.latitude == 0 and position.longitude == 0)
        or (settings.filter_outdated and position.outdated)
        or 0 < settings.filter_accuracy < position.accuracy
        or (settings.filter_approximate and position.attributes.get("approximate") is True)
    )


def _is_on_earth(position: Position) -> bool:
    return -90 <= position.latitude <= 90 and -180 <= position.longitude <= 180


def _is_out_of_time(fix_time: datetime, now: datetime, settings: RuleSettings) -> bool:
    age = (now - fix_time).total_seconds()
    return 0 < settings.filter_past < age or 0 < settings.filter_future < -age


def _is_unchanged(position: Position, latest: Position, seconds: float, settings: RuleSettings) -> bool:
    if settings.filter_static and position.speed == 0:
        return True
    if _distance(position) < settings.filter_distance:
        return True
    return (
        settings.filter_duplicate and seconds == 0 and position.attributes.keys() <= latest.attributes.keys()
    )


def _is_exempt(position: Position, latest: Position, settings: RuleSettings) -> bool:
    silence = (position.server_time - latest.server_time).total_seconds()
    if 0 < settings.filter_skip_limit < silence:
        return True
    return any(
        position.attributes.get(name) != latest.attributes.get(name)
        for name in settings.filter_skip_attributes
    )


def _distance(position: Position) -> float:
    distance = position.attributes.get("distance")
    return distance if distance.__class__ is float or isinstance(distance, NUMBER) else 0.0
