"""Settings of scheduled commands."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings:
    """Scheduled commands."""

    retention_days: Annotated[int, Meta(ge=0, le=36_500, extra={"unit": "days"})] = 90
    """Runs of scheduled commands are deleted after this time; 0: never."""
    reconnect_grace_seconds: Annotated[float, Meta(ge=0.0, extra={"unit": "s"})] = 60.0
    """After startup, devices that were connected when the server stopped have this long to reconnect before a
    step treats them as offline."""
