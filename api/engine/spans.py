"""Spans of time as queries name them: `from` and `to`, or `updatedFrom` and `updatedTo`."""

import re
from datetime import datetime
from functools import cache
from typing import Annotated

import msgspec

from motorpool.api.http.errors import BadRequest
from motorpool.codecs.calendars.time_zones import find_zone

Instant = Annotated[datetime, msgspec.Meta(tz=True)]


class Span(msgspec.Struct, rename={"start": "from", "end": "to"}):
    """A span of time, both ends included."""

    start: Instant
    end: Instant


def require_spans(sent: msgspec.Struct) -> None:
    """Raise BadRequest where a span in a query ends before it begins."""
    for (start, first), (end, last) in _spans(type(sent)):
        begins, ends = getattr(sent, start), getattr(sent, end)
        if begins is not None and ends is not None and ends < begins:
            raise BadRequest(f"{last}: lies before {first}")


def check_timezone(name: str) -> None:
    """Raise BadRequest where a query names a time zone that does not exist; empty is none."""
    if name and find_zone(name) is None:
        raise BadRequest("timezone: there is no such time zone")


@cache
def _spans(shape: type[msgspec.Struct]) -> tuple[tuple[tuple[str, str], tuple[str, str]], ...]:
    """Return the fields that begin and end the spans of a query, each with its name in the URL."""
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(shape)}
    ends = {first: re.sub("From$", "To", "to" if first == "from" else first) for first in fields}
    return tuple(
        ((fields[first], first), (fields[last], last))
        for first, last in ends.items()
        if first != last and last in fields
    )
