"""Pure functions on positions, folded in order by the device actor.

A rule reads what the device said and where it was last, and adds to the attributes of the position in
the making.
"""

from collections.abc import Callable
from typing import Any

from motorpool.actors.rules.distance import add_distance
from motorpool.actors.rules.motion import add_motion
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Position

__all__ = ["POSITION_RULES", "PositionRule"]

PositionRule = Callable[[PositionReport, Position | None, dict[str, Any]], None]

POSITION_RULES: tuple[PositionRule, ...] = (add_distance, add_motion)
"""In the order of the pipeline (docs/positions.md#pipeline)."""
