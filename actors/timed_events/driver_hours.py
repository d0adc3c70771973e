"""Events of drivers who near or exceed a limit of driving or resting time (docs/drivers.md#events).

When devices drove is read of the events of motion, which all servers store: at first those of four weeks,
then each minute the newest, and all again each hour, since what was entered by hand or came late may concern
them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import NamedTuple

import trio

from motorpool.actors.messages.changes import (
    Change,
    DeviceChanged,
    DriverChanged,
    EverythingChanged,
    GroupChanged,
    ServerChanged,
)
from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.messages.rule_cache import RULE_CACHE, GetRules
from motorpool.actors.rules.assigned_drivers import assigned_driver
from motorpool.actors.rules.driver_hours import LOOK_BACK, Breach, Span, hours_at, joined
from motorpool.actors.rules.rule_settings import RULE_KEYS, RuleSettings, read_rule_settings
from motorpool.actors.timed_events.timed_rule import Batch, TimedRule
from motorpool.runtime import System
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import driver_assignments
from motorpool.storage.devices.driver_assignments import DriverAssignment
from motorpool.storage.plain_tables import DRIVERS
from motorpool.storage.records import Driver, Event
from motorpool.storage.rules import driver_hours, timed_events
from motorpool.storage.rules.driver_hours import MARKS, Motion

DEVICES_PER_READ = 100
DEVICES_AT_ONCE = 10
"""Devices after which others get their turn: each may have hundreds of drives."""
DRIVERS_AT_ONCE = 5
"""Drivers after whom others get their turn."""
ASK_SECONDS = 30.0
EVERY = timedelta(minutes=1)
"""Interval at which is looked who drives."""
NEWEST = timedelta(hours=2)
"""Events of motion that are read again each time."""
REREAD = timedelta(hours=1)
"""Interval at which all are."""
MAX_AGE = timedelta(days=1)
"""What was exceeded longer ago, while no server ran, makes no event."""
HORIZON = timedelta(hours=1)
"""A driver of whom nothing is new is looked at after this time at the latest."""
SILENCE = timedelta(minutes=10)
"""A device that drives and has reported nothing for longer warns of nothing."""
KEYS = tuple(sorted(key for key in RULE_KEYS if key.startswith("driverHours.")))
_FIELDS = frozenset({f"attributes.{key}" for key in KEYS})


class _Drive(NamedTuple):
    """A device drove."""

    start: datetime
    end: datetime | None
    """None: it drives."""
    reported: str | None


class _Driven(NamedTuple):
    """A driver drove a device."""

    span: Span
    device_id: int
    is_reported: bool
    """Whether the device told who drove, and not a user by hand."""
    goes_on: bool


class _Waiting(NamedTuple):
    """Until when a driver need not be looked at."""

    known: list[tuple[_Drive, list[DriverAssignment] | None]]
    """Of each device the last drive, and the assignments."""
    until: datetime


class DriverHours(TimedRule):
    """Knows when devices drove, and who drove them, if there are limits anywhere."""

    kind = "driverHours"

    def __init__(self, database: Database, system: System, configuration: RuleSettings) -> None:
        super().__init__()
        self._database = database
        self._system = system
        self._configuration = configuration
        self._drives: dict[int, list[_Drive]] = {}
        """By device, in order."""
        self._assigned: dict[int, list[DriverAssignment]] = {}
        """By device, in order."""
        self._drivers: dict[int, Driver] = {}
        self._ids: dict[str, int] = {}
        """Ids of drivers by their unique ids."""
        self._of_driver: dict[int, set[int]] = {}
        """The devices that each driver drove."""
        self._watched: dict[int, datetime] = {}
        """Since when each driver is watched: what was exceeded before makes no event."""
        self._marks: dict[tuple[str, int], datetime] = {}
        self._waits: dict[int, _Waiting] = {}
        """By driver."""
        self._due: dict[str, dict[int, tuple[datetime, Event]]] = {}
        """By type of mark and driver, what is to be stored."""
        self._reread_at: datetime | None = None
        """When all events of motion are read again; None: now."""
        self._since = MAX_AGE
        """Who drove this long before now is looked at next."""

    def note(self, change: Change) -> bool:
        """Return whether drivers, or limits, may be others."""
        match change:
            case EverythingChanged():
                self._reread_at = None
                return True
            case DriverChanged():
                return True
            case DeviceChanged() | GroupChanged():
                return change.affects_visibility or not _FIELDS.isdisjoint(change.fields)
            case ServerChanged():
                return not _FIELDS.isdisjoint(change.fields)
            case _:
                return False

    async def load(self, now: datetime) -> None:
        """Read drivers, and who drove what in four weeks, if there are limits."""
        self._due.clear()
        self._waits.clear()
        self._since = MAX_AGE
        is_limited = self._configuration.driver_hours.any or await timed_events.has_attribute(
            self._database, KEYS
        )
        rows = await DRIVERS.list(self._database, ListQuery()) if is_limited else []
        self._drivers = {row.id: row for row in rows}
        self._ids = {row.unique_id: row.id for row in rows}
        self._watched = await timed_events.watch(self._database, self.kind, list(self._drivers), now)
        self._marks = await driver_hours.marks(self._database, list(self._drivers))
        if not rows:
            self._forget()
            self.instants.discard(0)
            return
        if self._reread_at is None or now >= self._reread_at:
            self._forget()
            last, since = 0, now - LOOK_BACK
            while ids := await timed_events.device_ids_after(self._database, last, DEVICES_PER_READ):
                last = ids[-1]
                await self._read(ids, since, now)
            self._reread_at = now + REREAD
        else:
            self._of_driver.clear()
            for index, device_id in enumerate(self._drives):
                if index % DEVICES_AT_ONCE == 0:
                    await trio.lowlevel.checkpoint()
                self._note_drivers(device_id, now)
        self.instants.put(0, now)

    def _forget(self) -> None:
        self._reread_at = None
        self._drives.clear()
        self._assigned.clear()
        self._of_driver.clear()

    async def _read(self, device_ids: Sequence[int], since: datetime, now: datetime) -> None:
        """Read the starts and stops of devices since an instant, in place of those that are known."""
        found: dict[int, list[Motion]] = {}
        for motion in await driver_hours.motions(self._database, device_ids, since):
            found.setdefault(motion.device_id, []).append(motion)
        assigned = await driver_assignments.of_devices(self._database, device_ids, now - LOOK_BACK, now)
        for device_id in device_ids:
            self._assigned.pop(device_id, None)
        for each in assigned:
            self._assigned.setdefault(each.device_id, []).append(each)
        for index, (device_id, motions) in enumerate(found.items()):
            if index % DEVICES_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            drives = _continued(self._drives.get(device_id, ()), motions, since, now - LOOK_BACK)
            if drives:
                # The last one says whether the device drives; others are of use if it is known who drove.
                known = [each for each in drives[:-1] if self._driver_of(device_id, each, now) is not None]
                self._drives[device_id] = [*known, drives[-1]]
                self._note_drivers(device_id, now)

    def _note_drivers(self, device_id: int, now: datetime) -> None:
        for drive in self._drives[device_id]:
            driver_id = self._driver_of(device_id, drive, now)
            if driver_id is not None:
                self._of_driver.setdefault(driver_id, set()).add(device_id)

    def _driver_of(self, device_id: int, drive: _Drive, now: datetime) -> int | None:
        by_hand = assigned_driver(drive.start, drive.end or now, self._assigned.get(device_id, ()))
        return self._ids.get(drive.reported or "") if by_hand is None else by_hand

    async def collect(self, now: datetime) -> Batch:
        """Return what drivers have reached of one kind."""
        if not self._due and self.instants.due(now, 1):
            if self._reread_at is None or now >= self._reread_at:
                await self.load(now)
                if not self._drivers:
                    return Batch({}, ())
            await self._look(now)
            self.instants.put(0, now + EVERY)
        for mark, due in self._due.items():
            events = [(driver_id, event) for driver_id, (_, event) in due.items()]
            return Batch({driver_id: at for driver_id, (at, _) in due.items()}, events, mark)
        return Batch({}, ())

    async def settle(self, batch: Batch, now: datetime) -> None:
        """Remember what has had its event, here or by another server, and go on with what is left."""
        for driver_id, at in batch.due.items():
            self._marks[batch.kind, driver_id] = at
        self._due.pop(batch.kind, None)
        self.instants.put(0, now if self._due else now + EVERY)

    async def _look(self, now: datetime) -> None:
        """Find what drivers have reached who drive or drove of late."""
        device_ids = await driver_hours.moved_since(self._database, now - NEWEST)
        for first in range(0, len(device_ids), DEVICES_PER_READ):
            await self._read(device_ids[first : first + DEVICES_PER_READ], now - NEWEST, now)
        since = now - self._since
        active = {
            driver_id
            for device_id, drives in self._drives.items()
            for drive in takewhile(lambda each: each.end is None or each.end >= since, reversed(drives))
            if (driver_id := self._driver_of(device_id, drive, now)) is not None
        }
        for index, driver_id in enumerate(sorted(active)):
            if index % DRIVERS_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            await self._look_at(driver_id, now)
        self._since = NEWEST

    async def _look_at(self, driver_id: int, now: datetime) -> None:
        """Find what a driver has reached, unless nothing can have changed since the last look."""
        row = self._drivers.get(driver_id)
        device_ids = sorted(self._of_driver.get(driver_id, ()))
        known = [(self._drives[number][-1], self._assigned.get(number)) for number in device_ids]
        waits = self._waits.get(driver_id)
        if row is None or (waits is not None and waits.known == known and now < waits.until):
            return
        self._waits[driver_id] = _Waiting(known, await self._reach(row, device_ids, now))

    async def _reach(self, row: Driver, device_ids: Sequence[int], now: datetime) -> datetime:
        """Note what a driver has reached; return when there may be more if the driver goes on as now."""
        driven = sorted(await self._driven(row, device_ids, now))
        if not driven:
            return now + EVERY
        latest = max(driven, key=lambda each: (each.span.end, each.goes_on))
        rules = await self._system.ref(RULE_CACHE).ask(GetRules((latest.device_id,)), ASK_SECONDS)
        if latest.device_id not in rules:
            return now + EVERY
        settings = read_rule_settings((row.attributes,), rules[latest.device_id].settings)
        limits, warning = settings.driver_hours, timedelta(seconds=min(settings.driver_hours_warning, 86_400))
        if not limits.any:
            return now + HORIZON
        known_until, until = latest.span.end, now + HORIZON + warning
        spans = [each.span for each in driven]
        if latest.goes_on:
            spans.append(Span(latest.span.start, until))
        nexts = [now + HORIZON]
        for breach in hours_at(joined(spans), limits, until).breaches:
            if breach.at <= known_until:
                event = _event("driverHoursExceeded", row, breach, breach.at, driven)
                self._add(f"{MARKS}{breach.rule}", row.id, breach, event, now)
                continue
            at = max(breach.at - warning, latest.span.start)
            if warning and at <= now and now - known_until <= SILENCE:
                event = _event("driverHoursWarning", row, breach, at, [latest])
                self._add(f"{MARKS}{breach.rule}.warning", row.id, breach, event, now)
            nexts += [each if each > now else now + EVERY for each in (at, breach.at)]
        return min(nexts)

    def _add(self, mark: str, driver_id: int, breach: Breach, event: Event, now: datetime) -> None:
        """Note an event, unless the time that the limit is of has had it."""
        settled, at = self._marks.get((mark, driver_id)), event.event_time
        is_new = self._watched.get(driver_id, now) < at and now - MAX_AGE < at
        if is_new and (settled is None or settled < breach.since):
            self._due.setdefault(mark, {})[driver_id] = at, event

    async def _driven(self, row: Driver, device_ids: Sequence[int], now: datetime) -> list[_Driven]:
        """Return when a driver drove in four weeks."""
        driving = tuple(number for number in device_ids if self._drives[number][-1].end is None)
        latest = await self._system.ref(DIRECTORY).ask(GetLatestPositions(driving), ASK_SECONDS)
        seen = {position.device_id: position.fix_time for position in latest}
        return [
            _Driven(Span(drive.start, end), device_id, drive.reported == row.unique_id, drive.end is None)
            for device_id in device_ids
            for drive in self._drives[device_id]
            if (end := drive.end or min(now, seen.get(device_id, drive.start))) > now - LOOK_BACK
            and end > drive.start
            and self._driver_of(device_id, drive, now) == row.id
        ]


def _event(kind: str, driver: Driver, breach: Breach, at: datetime, driven: Sequence[_Driven]) -> Event:
    """Return an event of the device that was driven at an instant.

    It names the driver if the device did: not all who see the device may see who drove it by hand.
    """
    of = max((each for each in driven if each.span.start <= breach.at), key=lambda each: each.span.start)
    attributes: dict[str, object] = {"rule": breach.rule, "driverId": driver.id}
    if of.is_reported:
        attributes["driverUniqueId"] = driver.unique_id
    if breach.at > at:
        attributes["left"] = round((breach.at - at) / timedelta(milliseconds=1))
    return Event(type=kind, event_time=at, device_id=of.device_id, attributes=attributes)


def _continued(
    known: Sequence[_Drive], motions: Sequence[Motion], since: datetime, oldest: datetime
) -> list[_Drive]:
    """Return the drives of a device: those known, with what began or ended since an instant read anew."""
    drives = [drive for drive in known if drive.start < since and (drive.end is None or drive.end > oldest)]
    if drives and drives[-1].end is not None and drives[-1].end >= since:
        drives[-1] = drives[-1]._replace(end=None)
    for motion in motions:
        drives_now = bool(drives) and drives[-1].end is None
        if motion.is_moving and not drives_now:
            drives.append(_Drive(motion.time, None, motion.reported))
        elif not motion.is_moving and drives_now:
            drives[-1] = drives[-1]._replace(end=motion.time, reported=drives[-1].reported or motion.reported)
    return drives
