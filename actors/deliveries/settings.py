"""Settings of the outbox."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta


@dataclass(frozen=True, kw_only=True)
class OutboxSettings:
    """The queue of outgoing mails and text messages."""

    give_up_days: Annotated[float, Meta(ge=0.01, le=30, extra={"unit": "days"})] = 3.0
    """A message that could not be sent within this time is discarded."""
