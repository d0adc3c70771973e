"""Rows that follow a calendar, with the time up to which its occasions are done with.

An occasion is what the rows wait for: the edge of a window, or the end of an event.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.storage.database.queries import Queries


class WatchedRow(msgspec.Struct, frozen=True, gc=False):
    """A row that follows its calendar, and the time up to which the occasions of that are done with."""

    id: int
    calendar_id: int
    since: datetime


class WatchedRows:
    """Queries of one such table, which has the columns id, calendar_id and watched_from."""

    def __init__(self, table: str, *, condition: str = "true") -> None:
        """`condition` is true of the rows that follow their calendar now."""
        self._select = f"select id, calendar_id, watched_from from {table} where {condition}"  # noqa: S608 - constant names
        self._watch = f"update {table} set watched_from = $2 where id = $1"  # noqa: S608 - as above
        # Rows are locked in the order of their ids, as by all that change several.
        watch_anew = (
            f"update {table} set watched_from = $2 where id in"  # noqa: S608 - as above
            f" (select id from {table} where {{}} order by id for update)"
        )
        self._restart = watch_anew.format("$1::bigint is null or calendar_id = $1::bigint")
        self._turn_back = watch_anew.format(f"{condition} and watched_from > $1")
        # A row advances soon after an occasion was reported to it; one that lags missed the message.
        self._missing = (
            "select id, calendar_id, watched_from"  # noqa: S608 - as above
            " from unnest($1::bigint[], $2::timestamptz[]) as latest (calendar_id, at)"
            f" join {table} using (calendar_id) where {condition} and watched_from < latest.at"
        )

    async def watch_from(self, q: Queries, row_id: int, now: datetime) -> None:
        """Watch the calendar from `now` on; earlier occasions are ignored."""
        await q.execute(self._watch, row_id, now)

    async def restart_calendar(self, q: Queries, calendar_id: int | None, now: datetime) -> None:
        """Watch this calendar, or with None every calendar, from `now` on."""
        await q.execute(self._restart, calendar_id, now)

    async def restart_ahead_of_clock(self, q: Queries, now: datetime, patience: timedelta) -> int:
        """Watch from `now` on where the stored time is ahead of it by more than `patience`; return how many.

        That happens after the system clock was wrong.
        """
        tag = await q.execute(self._turn_back, now + patience, now)
        return int(tag.rpartition(" ")[2])

    async def active(self, q: Queries, ids: Sequence[int] | None = None) -> list[WatchedRow]:
        """Return the rows that follow their calendar, all or those with the given ids."""
        if ids is None:
            return await _watched(q, self._select)
        return await _watched(q, f"{self._select} and id = any($1::bigint[])", list(ids))

    async def active_of_calendars(self, q: Queries, calendar_ids: Iterable[int]) -> list[WatchedRow]:
        """Return the rows that follow these calendars."""
        return await _watched(q, f"{self._select} and calendar_id = any($1::bigint[])", list(calendar_ids))

    async def missing_edge(self, q: Queries, latest: Sequence[tuple[int, datetime]]) -> list[WatchedRow]:
        """Return the rows that are not done with the latest reported occasion of their calendar.

        `latest` holds pairs of a calendar and the time of that occasion.
        """
        return await _watched(q, self._missing, [each[0] for each in latest], [each[1] for each in latest])


async def _watched(q: Queries, sql: str, *arguments: object) -> list[WatchedRow]:
    return [WatchedRow(*row.values()) for row in await q.fetch(sql, *arguments)]
