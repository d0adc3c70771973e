"""The form in which records of tickets are answered."""

import typing
from datetime import datetime
from functools import cache
from typing import TypeVar

import msgspec

from motorpool.actors.words.record_json import encode
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketEvent

S = TypeVar("S", bound=msgspec.Struct)


def json_of(record: Ticket | TicketEvent) -> bytes:
    """Return the JSON of a ticket or an entry, with times in whole seconds."""
    return encode(whole_seconds(record))


def whole_seconds(record: S) -> S:
    """Return the record with its instants cut to the second (docs/decisions/0008)."""
    changed = {}
    for name in _instants(type(record)):
        instant = getattr(record, name)
        if instant is not None and instant.microsecond:
            changed[name] = instant.replace(microsecond=0)
    return msgspec.structs.replace(record, **changed) if changed else record


@cache
def _instants(shape: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(
        name
        for name, kind in typing.get_type_hints(shape).items()
        if kind is datetime or datetime in typing.get_args(kind)
    )
