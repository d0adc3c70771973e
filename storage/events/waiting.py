"""Stored events that wait for something to be made of them, taken of each device in turn.

A device may have thousands that wait, and the few of another one are not to wait for these. Those of one
device are taken in the order of their ids.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.events.events import TABLE as EVENTS
from motorpool.storage.records import Event

PER_DEVICE: Final = 10
"""Most events of one device that are taken at once."""
_BEFORE_ALL: Final = -1


class WaitingEvent(msgspec.Struct, frozen=True):
    """A stored event of which nothing has been made yet."""

    event: Event
    stored: datetime
    place: int = 1
    """1 for the first of its device that was taken, 2 for the next."""


class WaitingEvents:
    """The events of a table with their ids, their devices, and when they were stored."""

    def __init__(self, table: str, *, skips_locked: bool) -> None:
        """With `skips_locked` those that another transaction has locked are left to that."""
        self._is_waiting = f"select exists (select from {table})"  # noqa: S608 - constant name
        self._take = _TAKE.format(table=table, skips=" skip locked" if skips_locked else "")
        self._after = _BEFORE_ALL
        """The device that had the last turn."""

    async def any(self, q: Queries) -> bool:
        """Return whether events wait."""
        return await q.fetch_value(self._is_waiting) is True

    async def lock(self, transaction: Queries, limit: int) -> list[WaitingEvent]:
        """Lock up to `limit` events: the first of each device, then the second ones, and so on.

        Rows whose event was deleted meanwhile are removed. Call `note` after the commit.
        """
        rows = await transaction.fetch(self._take, self._after, limit, PER_DEVICE)
        if not rows and self._after != _BEFORE_ALL:
            self._after = _BEFORE_ALL
            rows = await transaction.fetch(self._take, self._after, limit, PER_DEVICE)
        found = []
        for row in rows:
            values = dict(row.items())
            stored, place = values.pop("stored"), values.pop("place")
            found.append(WaitingEvent(EVENTS.from_row(values), stored, place))
        return found

    def note(self, taken: Sequence[WaitingEvent], handled: int, limit: int) -> None:
        """Note that the first of these were handled: the devices that had no turn yet are next."""
        if handled < len(taken) and taken[handled].place == 1:
            self._after = taken[handled - 1].event.device_id
        elif len(taken) >= limit:
            self._after = max(each.event.device_id for each in taken)
        else:
            self._after = _BEFORE_ALL


_TAKE = f"""
    with recursive device (id, number) as (
        select min(device_id), 1 from {{table}} where device_id > $1
        union all
        select (select min(device_id) from {{table}} where device_id > device.id), number + 1
        from device where device.id is not null and number < $2
    ),
    chosen as materialized (
        select event_id from device cross join lateral (
            select event_id, row_number() over (order by event_id) as place from (
                select event_id from {{table}} waiting where waiting.device_id = device.id
                order by event_id limit $3
            ) as of_device
        ) as first
        order by place, device.id limit $2
    ),
    locked as (
        select event_id, stored from {{table}} where event_id in (select event_id from chosen)
        order by event_id for update{{skips}}
    ),
    lost as (
        delete from {{table}} where event_id in (
            select event_id from locked where not exists (select from events where id = event_id))
    )
    select {EVENTS.select_list(of="events")}, stored,
        row_number() over (partition by events.device_id order by events.id) as place
    from locked join events on events.id = event_id
    order by place, events.device_id
"""  # noqa: S608 - constant names
