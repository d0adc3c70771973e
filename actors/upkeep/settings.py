"""Settings of what is kept, and for how long."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from motorpool.actors.files.settings import Days


@dataclass(frozen=True, kw_only=True)
class PositionSettings:
    """The history of positions."""

    retention_days: Days = None
    """Positions are deleted this long after they were received, except the latest of each device.
    0: never; unset: 730 in a new installation, 0 in a database made before there was this default."""
    most: Annotated[int, Meta(ge=0, extra={"unit": "positions"})] = 0
    """GET /positions rejects requests that select more positions; 0: no limit."""


@dataclass(frozen=True, kw_only=True)
class EventSettings:
    """The history of events."""

    retention_days: Days = None
    """Events are deleted after this time. 0: never; unset: 730 in a new installation, else 0."""


@dataclass(frozen=True, kw_only=True)
class AuditSettings:
    """The audit log."""

    retention_days: Days = None
    """Rows of the audit log are deleted after this time. 0: never; unset: 730 in a new installation,
    else 0."""


@dataclass(frozen=True, kw_only=True)
class StatisticsSettings:
    """The statistics of the server, a row for each day."""

    retention_days: Days = None
    """Statistics are deleted after this time. 0: never; unset: 730 in a new installation, else 0."""
