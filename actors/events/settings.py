"""Settings of notifications."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta


@dataclass(frozen=True, kw_only=True)
class NotificationSettings:
    """Notifications of events."""

    max_age_seconds: Annotated[float, Meta(ge=0, le=30 * 86400, extra={"unit": "s"})] = 900.0
    """Nobody is notified of an event that was older than this when it was stored, such as one of a position
    from a device's buffer."""
