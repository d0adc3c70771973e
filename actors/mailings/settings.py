"""Settings of mails about expirations."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta


@dataclass(frozen=True, kw_only=True)
class ExpirationSettings:
    """Mails about the expiration of users and devices."""

    users: bool = False
    """A user whose account has expired gets a mail."""
    devices: bool = False
    """Users who see a device that has expired get a mail."""
    reminder_days: Annotated[float, Meta(ge=0, le=365, extra={"unit": "days"})] = 0.0
    """So long before an expiration the same users get a reminder; 0: none."""
