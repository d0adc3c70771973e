"""What the windows of calendars are determined by, without their texts."""

from collections.abc import Iterable
from typing import NamedTuple

from motorpool.storage.database.queries import Queries


class CalendarState(NamedTuple):
    """The state that determines a calendar's windows, unless a company has a time zone of its own."""

    version: int
    timezone: str | None
    """Of the calendar's attributes."""
    server_timezone: str | None
    """Of the server's attributes."""
    cost: int = 0
    """Steps of reading and evaluating it; 0 where that is not known, since it was stored before 0.5.0."""
    length: int = 0
    """Bytes of its text."""


async def set_cost(q: Queries, calendar_id: int, cost: int) -> None:
    """Store what a calendar costs."""
    await q.execute("update calendars set cost = $2 where id = $1 and cost <> $2", calendar_id, cost)


async def cost_of(q: Queries, calendar_id: int) -> int:
    """Return what a calendar costs, as far as that is known."""
    return await q.fetch_value("select cost from calendars where id = $1", calendar_id) or 0


_STATES = """
    select id, version, attributes ->> 'timezone',
        (select attributes ->> 'timezone' from server where id = 1), cost, octet_length(data)
    from calendars where id = any($1::bigint[])
"""


async def calendar_states(q: Queries, ids: Iterable[int]) -> dict[int, CalendarState]:
    """Return the states of calendars by id; unknown ids are left out."""
    rows = await q.fetch(_STATES, sorted(ids))
    return {row[0]: CalendarState(*tuple(row.values())[1:]) for row in rows}
