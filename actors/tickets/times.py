"""Instants in the JSON of tickets: whole seconds, cut (docs/tickets.md)."""

from datetime import datetime
from typing import TypeVar

import msgspec

from motorpool.actors.record_json import format_time

__all__ = ["format_seconds", "in_whole_seconds"]

R = TypeVar("R", bound=msgspec.Struct)


def format_seconds(instant: datetime) -> str:
    """Format as ISO 8601 in UTC with `Z`, without a fraction."""
    return format_time(instant.replace(microsecond=0))


def in_whole_seconds(record: R) -> R:
    """Return a record with its instants cut to whole seconds."""
    cut = {
        name: value.replace(microsecond=0)
        for name in record.__struct_fields__
        if isinstance(value := getattr(record, name), datetime) and value.microsecond
    }
    return msgspec.structs.replace(record, **cut) if cut else record
