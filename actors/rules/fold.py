"""The position pipeline: one report and the latest position in, a new position and its events out.

Pure: no actor, no clock, no SQL. `fold` calls the rules in the order of docs/positions.md#pipeline. To add a
rule (a filter, geofences, engine hours, computed attributes), write it as a function in this package, call it
in `fold`, and make what it must know beside the report and the latest position a field of `FoldContext`.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from motorpool.actors.rules.distance import add_distance
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Event, Position

__all__ = ["UNKNOWN_FIX_TIME", "FoldContext", "FoldResult", "add_motion", "fold", "is_latest"]

UNKNOWN_FIX_TIME = datetime.fromisoformat("1980-01-06T00:00:00+00:00")
"""Fix time of a message without a location from a device that never had one
(docs/protocols/common.md#messages-without-a-location).
"""
FUTURE: Final = timedelta(days=1)
"""A fix that is further ahead of its arrival is stored but never the latest (docs/decisions/0022)."""
MOTION_KNOTS: Final = 0.01
"""A device that is faster moves."""
_NO_LOCATION = PositionReport({}, located=False)


class FoldContext(msgspec.Struct, frozen=True, gc=False):
    """What the rules know beside the report and the latest position."""

    device_id: int
    protocol: str
    server_time: datetime
    """When the report arrived."""
    events: tuple[Event, ...] = ()
    """Events that the report itself stands for: a command's result, an uploaded file. Default none."""


class FoldResult(msgspec.Struct, frozen=True, gc=False):
    """What one report amounts to."""

    position: Position
    """To be stored, with id 0."""
    events: tuple[Event, ...]
    """To be stored in the same transaction, those of the context first."""
    latest: Position | None
    """What the next report is folded onto: this position, or still the one before where that is newer."""


def fold(report: PositionReport, latest: Position | None, context: FoldContext) -> FoldResult:
    """Apply the rules to `report`; `latest` is the device's latest position, None where it has none."""
    attributes = dict(report.attributes)
    add_distance(report, latest, attributes)
    add_motion(report, latest, attributes)
    if report.archived:
        attributes["archive"] = True
    server_time = context.server_time
    device_time = report.device_time or server_time
    place: PositionReport | Position
    if report.located:
        place = report
        fix_time = report.fix_time or device_time
        # A device that sent no time at all may have sent the report from its memory.
        outdated = report.device_time is None and report.fix_time is None and not report.valid
    else:
        place = latest or _NO_LOCATION
        fix_time = latest.fix_time if latest is not None else UNKNOWN_FIX_TIME
        outdated = True
    position = Position(
        device_id=context.device_id,
        protocol=context.protocol,
        server_time=server_time,
        device_time=device_time,
        fix_time=fix_time,
        outdated=outdated,
        valid=place.valid,
        latitude=place.latitude,
        longitude=place.longitude,
        altitude=place.altitude,
        speed=place.speed,
        course=place.course,
        accuracy=place.accuracy,
        network=dict(report.network) if report.network is not None else None,
        attributes=attributes,
    )
    return FoldResult(position, context.events, position if is_latest(position, latest) else latest)


def add_motion(report: PositionReport, latest: Position | None, attributes: dict[str, Any]) -> None:
    """Add `motion` unless the device sent it; a message without a location repeats the latest speed."""
    if "motion" not in attributes:
        speed = report.speed if report.located else (latest.speed if latest is not None else 0.0)
        attributes["motion"] = speed > MOTION_KNOTS


def is_latest(position: Position, latest: Position | None) -> bool:
    """Whether `position` replaces `latest`; of two with one fix time the one that arrived later does."""
    is_newer = latest is None or position.fix_time >= latest.fix_time
    return is_newer and position.fix_time - position.server_time <= FUTURE
