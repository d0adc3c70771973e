"""Whether the device moves (docs/positions.md#pipeline)."""

from typing import Any

from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

__all__ = ["add_motion"]

MOTION_KNOTS = 0.01


def add_motion(report: PositionReport, last: Position | None, attributes: dict[str, Any]) -> None:
    """Add `motion` unless the device sent it; a message without a location repeats the last speed."""
    if "motion" not in attributes:
        speed = report.speed if report.located else (last.speed if last is not None else 0.0)
        attributes["motion"] = speed > MOTION_KNOTS
