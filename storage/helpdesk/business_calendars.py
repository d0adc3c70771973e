"""Which version of a calendar, and which time zones, the business hours of priorities come from."""

from collections.abc import Iterable
from typing import NamedTuple

from motorpool.storage.database.queries import Queries


class CalendarState(NamedTuple):
    """The state that determines a calendar's windows, besides the company."""

    version: int
    timezone: str | None
    """Of the calendar's attributes."""
    server_timezone: str | None
    """Of the server's attributes."""


_STATES = """
    select id, version, attributes ->> 'timezone' as timezone,
        (select attributes ->> 'timezone' from server where id = 1) as server_timezone
    from calendars where id = any($1::bigint[])
"""


async def calendar_states(q: Queries, ids: Iterable[int]) -> dict[int, CalendarState]:
    """Return the states of calendars by id; unknown ids are left out."""
    rows = await q.fetch(_STATES, sorted(ids))
    return {row["id"]: CalendarState(row["version"], row["timezone"], row["server_timezone"]) for row in rows}
