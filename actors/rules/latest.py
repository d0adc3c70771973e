"""Which position is a device's latest."""

from datetime import timedelta
from typing import Final

from motorpool.storage.records import Position

__all__ = ["is_latest"]

FUTURE: Final = timedelta(days=1)
"""A fix that far ahead of its arrival is kept but never the latest (docs/decisions/0022)."""


def is_latest(position: Position, last: Position | None) -> bool:
    """Whether `position` takes the place of `last`; of two with one fix time the later to come does."""
    is_newer = last is None or position.fix_time >= last.fix_time
    return is_newer and position.fix_time - position.server_time <= FUTURE
