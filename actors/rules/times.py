"""Corrections of the times and coordinates that a device sent (docs/positions.md#pipeline)."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from motorpool.actors.rules.distance import great_circle
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

UNKNOWN_FIX_TIME: Final = datetime.fromisoformat("1980-01-06T00:00:00+00:00")
"""Fix time of a message without a location from a device that never had one
(docs/protocols/common.md#messages-without-a-location).
"""
ROLLOVER: Final = timedelta(weeks=1024)
"""GPS counts weeks in ten bits: an old receiver takes a date for one of 1,024 weeks before
(https://www.gps.gov/support/user/rollover/)."""
ROLLOVER_AGE: Final = ROLLOVER - timedelta(days=90)
"""A fix that seems older than this is one of a receiver whose count has rolled over."""


def unroll(moment: datetime, now: datetime) -> datetime:
    """Return the time, with as many times 1,024 weeks added as it takes to be no older than ROLLOVER_AGE."""
    age = now - moment
    if age <= ROLLOVER_AGE:
        return moment
    return moment + ROLLOVER * -((ROLLOVER_AGE - age) // ROLLOVER)


def override_times(
    device_time: datetime, fix_time: datetime, now: datetime, settings: RuleSettings
) -> tuple[datetime, datetime]:
    """Return both times, with those replaced that `time.override` says."""
    match settings.time_override:
        case "serverTime":
            return now, now
        case "deviceTime":
            return device_time, device_time
        case _:
            return device_time, fix_time


def correct_coordinates(
    report: PositionReport, latest: Position | None, settings: RuleSettings
) -> PositionReport:
    """Apply the hemispheres and the filter of jitter to a report with a location."""
    if settings.location_latitude_hemisphere or settings.location_longitude_hemisphere:
        report = msgspec.structs.replace(
            report,
            latitude=_signed(report.latitude, settings.location_latitude_hemisphere),
            longitude=_signed(report.longitude, settings.location_longitude_hemisphere),
        )
    return _without_jitter(report, latest, settings) if settings.coordinates_filter else report


def _signed(degrees: float, hemisphere: str | None) -> float:
    if not hemisphere:
        return degrees
    return abs(degrees) if hemisphere in {"N", "E"} else -abs(degrees)


def _without_jitter(
    report: PositionReport, latest: Position | None, settings: RuleSettings
) -> PositionReport:
    """Return the report with the coordinates of the latest position if the step from there is no movement.

    It is none if it is shorter than `coordinates.minError`, or longer than `coordinates.maxError` from a
    valid position.
    """
    if latest is None or (latest.latitude == 0 == latest.longitude):
        return report
    metres = great_circle(latest.latitude, latest.longitude, report.latitude, report.longitude)
    is_jump = latest.valid and 0 < settings.coordinates_max_error < metres
    if metres >= settings.coordinates_min_error and not is_jump:
        return report
    return msgspec.structs.replace(report, latitude=latest.latitude, longitude=latest.longitude)
