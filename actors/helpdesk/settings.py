"""Settings of tickets."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta


@dataclass(frozen=True, kw_only=True)
class TicketSettings:
    """Tickets of the helpdesk."""

    horizon_days: Annotated[int, Meta(ge=1, le=3660, extra={"unit": "days"})] = 1830
    """How far ahead of the present a due time is searched for in the business hours of a calendar; a ticket
    whose due time is not found has none, and is tried again once a day and when the calendar changes."""
    companies_per_user: Annotated[int, Meta(ge=0, extra={"unit": "companies"})] = 100
    """Companies that a user may have created; administrators may create more."""
    created_per_hour: Annotated[int, Meta(ge=0, extra={"unit": "tickets"})] = 20_000
    """Tickets that requests may create in a company within an hour; further ones get 429; 0: any number."""
    webhook_log_days: Annotated[int, Meta(ge=7, le=365, extra={"unit": "days"})] = 30
    """How long the log of messages to the webhooks of companies is kept."""
    capture_wait_hours: Annotated[int, Meta(ge=1, le=720, extra={"unit": "h"})] = 24
    """How long the recording that a ticket rule captures waits for its device to be connected."""
