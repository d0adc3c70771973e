"""Instants in the JSON of tickets: whole seconds, cut (docs/tickets.md)."""

from datetime import datetime

from motorpool.actors.words.record_json import format_time


def whole_second(instant: datetime) -> datetime:
    """Cut an instant to the second."""
    return instant.replace(microsecond=0)


def format_seconds(instant: datetime) -> str:
    """Format as ISO 8601 in UTC with `Z`, without a fraction."""
    return format_time(whole_second(instant))
