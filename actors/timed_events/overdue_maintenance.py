"""Events of maintenance that is due at an instant (docs/events.md#maintenance)."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from motorpool.actors.messages.changes import Change, EverythingChanged, MaintenanceChanged
from motorpool.actors.rules.maintenance_due import TIME_TYPES
from motorpool.actors.timed_events.timed_rule import (
    MIN_PERIOD,
    Batch,
    TimedRule,
    instant_of,
    newest_instant,
)
from motorpool.storage.accounts import access
from motorpool.storage.accounts.links import DEVICE_MAINTENANCE, GROUP_MAINTENANCE
from motorpool.storage.database.database import Database
from motorpool.storage.records import Event
from motorpool.storage.rules import timed_events

MAX_PERIOD_MILLISECONDS = 1e14


class _Timed(msgspec.Struct, frozen=True):
    type: str
    first: datetime
    period: timedelta


class OverdueMaintenance(TimedRule):
    """Knows the maintenances of the types `serverTime`, `deviceTime` and `fixTime`."""

    kind = "maintenance"

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._rows: Mapping[int, _Timed] = {}

    def note(self, change: Change) -> bool:
        """Return whether it is one of a maintenance."""
        return isinstance(change, MaintenanceChanged | EverythingChanged)

    async def load(self, now: datetime) -> None:
        """Read the rows; one that is new is watched from now on."""
        rows = {}
        for row in await timed_events.maintenance_of_types(self._database, sorted(TIME_TYPES)):
            first = instant_of(row.start)
            if first is not None and row.period < MAX_PERIOD_MILLISECONDS:
                rows[row.id] = _Timed(row.type, first, timedelta(milliseconds=row.period))
        marks = await timed_events.watch(self._database, self.kind, list(rows), now)
        for number in self._rows.keys() - rows.keys():
            self.instants.discard(number)
        self._rows = rows
        for number, timed in rows.items():
            self.instants.put(number, _next(timed, marks.get(number, now)))

    async def collect(self, now: datetime) -> Batch:
        """Return the events of one maintenance, for all devices that it applies to."""
        for number in self.instants.due(now, 1):
            row = self._rows[number]
            instant = newest_instant(row.first, row.period, now)
            if instant is None:
                self.instants.put(number, row.first)
                continue
            attributes = {row.type: round(instant.timestamp() * 1000)}
            device_ids = await access.devices_linked_to(
                self._database, DEVICE_MAINTENANCE, GROUP_MAINTENANCE, number
            )
            events = [
                Event(
                    type="maintenance",
                    event_time=instant,
                    device_id=device_id,
                    maintenance_id=number,
                    attributes=attributes,
                )
                for device_id in device_ids
            ]
            return Batch({number: instant}, [(number, event) for event in events])
        return Batch({}, ())

    async def settle(self, batch: Batch, now: datetime) -> None:
        """Await the next period."""
        del now
        for number, instant in batch.due.items():
            row = self._rows.get(number)
            if row is not None:
                self.instants.put(number, _next(row, instant))


def _next(row: _Timed, after: datetime) -> datetime:
    """Return the first instant after `after`."""
    newest = newest_instant(row.first, row.period, after)
    return row.first if newest is None else newest + max(row.period, MIN_PERIOD)
