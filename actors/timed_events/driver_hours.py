"""Events of drivers who near or exceed a limit of driving or resting time (docs/drivers.md#events).

When devices drove is read of the events of motion, which all servers store: at first those of four weeks,
then each minute the newest. When this server stores older events of a device, all events of that device are
read again; so they are once a day, since another server may have stored some. What was entered by hand is
looked up each hour.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
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
from motorpool.actors.timed_events.drives import (
    EPOCH,
    Drive,
    card_of,
    continued,
    drivers_in,
    pack,
    since,
    unpack,
)
from motorpool.actors.timed_events.timed_rule import Batch, TimedRule
from motorpool.runtime import System
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import driver_assignments
from motorpool.storage.devices.driver_assignments import DriverAssignment
from motorpool.storage.errors import StorageError
from motorpool.storage.plain_tables import DRIVERS
from motorpool.storage.records import Driver, Event
from motorpool.storage.rules import driver_hours, timed_events
from motorpool.storage.rules.driver_hours import MARKS, MOTIONS, Motion

DEVICES_PER_READ = 100
"""Devices of which the newest events, or what was entered by hand, are read in one statement."""
DEVICES_AT_ONCE = 10
"""Devices of which all are, and after which others get their turn: each may have hundreds of drives."""
DEVICES_LISTED = 10_000
"""Ids that are read in one statement."""
DRIVERS_AT_ONCE = 5
"""Drivers after whom others get their turn."""
ASK_SECONDS = 30.0
EVERY = timedelta(minutes=1)
"""Interval at which is looked who drives."""
NEWEST = timedelta(hours=2)
"""Events of motion that are read again each time."""
LATE = timedelta(hours=1)
"""Events that are stored so much later may have been missed by that."""
REASSIGN = timedelta(hours=1)
"""Interval at which is looked up who drove by hand."""
REREAD = timedelta(days=1)
"""Interval at which all events of a device are read again. The devices take turns, some each minute."""
MAX_AGE = timedelta(days=1)
"""What was exceeded longer ago, while no server ran, makes no event."""
HORIZON = timedelta(hours=1)
"""A driver of whom nothing is new is looked at after this time at the latest."""
SILENCE = timedelta(minutes=10)
"""A device that drives and has reported nothing for longer warns of nothing."""
KEYS = tuple(sorted(key for key in RULE_KEYS if key.startswith("driverHours.")))
_FIELDS = frozenset({f"attributes.{key}" for key in KEYS})


class _Driven(NamedTuple):
    """A driver drove a device."""

    span: Span
    device_id: int
    is_reported: bool
    """Whether the device told who drove, and not a user by hand."""
    goes_on: bool


class _Waiting(NamedTuple):
    """Until when a driver need not be looked at."""

    known: list[bytes]
    """The drives of each device."""
    until: datetime


class DriverHours(TimedRule):
    """Knows when devices drove, and who drove them, if there are limits anywhere."""

    kind = "driverHours"

    def __init__(self, database: Database, system: System, configuration: RuleSettings) -> None:
        super().__init__()
        self._database = database
        self._system = system
        self._configuration = configuration
        self._drives: dict[int, bytes] = {}
        """By device, as `drives.pack` makes them."""
        self._drivers: dict[int, Driver] = {}
        self._ids: dict[int, int] = {}
        """Ids of drivers by what stands for their unique ids."""
        self._of_driver: dict[int, set[int]] = {}
        """The devices that each driver drove."""
        self._watched: dict[int, datetime] = {}
        """Since when each driver is watched: what was exceeded before makes no event."""
        self._marks: dict[tuple[str, int], datetime] = {}
        self._waits: dict[int, _Waiting] = {}
        """By driver."""
        self._due: dict[str, dict[int, tuple[datetime, Event]]] = {}
        """By type of mark and driver, what is to be stored."""
        self._is_new = True
        """Whether the events of all devices are yet to be read."""
        self._unread: dict[int, None] = {}
        """Devices all of whose events are, in order."""
        self._changed: set[int] = set()
        """Devices whose drives are others than at the last look."""
        self._minute: int | None = None
        """The minute, since 1970, whose devices were the last to be read in turn."""
        self._assign_at: datetime | None = None
        """When is looked up who drove by hand; None: that was read with the events."""
        self._since = MAX_AGE
        """Who drove this long before now is looked at next."""

    def note(self, change: Change) -> bool:
        """Return whether drivers, or limits, may be others."""
        match change:
            case EverythingChanged():
                self._is_new = True
                return True
            case DriverChanged():
                return True
            case DeviceChanged() | GroupChanged():
                return change.affects_visibility or not _FIELDS.isdisjoint(change.fields)
            case ServerChanged():
                return not _FIELDS.isdisjoint(change.fields)
            case _:
                return False

    def seen(self, events: Sequence[Event], now: datetime) -> None:
        """Note devices whose events of motion were stored so late that they may have been missed."""
        for event in events:
            if event.type in MOTIONS and event.event_time < now - LATE and not self._is_new:
                self._unread[event.device_id] = None

    async def load(self, now: datetime) -> None:
        """Read drivers if there are limits, and which devices there are."""
        self._due.clear()
        self._waits.clear()
        self._since = MAX_AGE
        is_limited = self._configuration.driver_hours.any or await timed_events.has_attribute(
            self._database, KEYS
        )
        rows = await DRIVERS.list(self._database, ListQuery()) if is_limited else []
        self._drivers = {row.id: row for row in rows}
        self._ids = {card_of(row.unique_id): row.id for row in rows}
        self._watched = await timed_events.watch(self._database, self.kind, list(self._drivers), now)
        self._marks = await driver_hours.marks(self._database, list(self._drivers))
        if not rows:
            self._forget()
            self.instants.discard(0)
            return
        if self._is_new:
            self._forget()
            at = 0
            while ids := await timed_events.device_ids_after(self._database, at, DEVICES_LISTED):
                at = ids[-1]
                self._unread.update(dict.fromkeys(ids))
            self._is_new = False
        await self._note_all()
        self.instants.put(0, now)

    def _forget(self) -> None:
        self._is_new = True
        self._unread.clear()
        self._changed.clear()
        self._drives.clear()
        self._of_driver.clear()

    async def _note_all(self) -> None:
        self._of_driver.clear()
        for index, (device_id, packed) in enumerate(list(self._drives.items())):
            if index % DEVICES_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            self._note_drivers(device_id, packed)

    async def _read(self, device_ids: Sequence[int], begin: datetime, now: datetime) -> None:
        """Read the starts and stops of devices since an instant, in place of those that are known."""
        found: dict[int, list[Motion]] = {}
        for motion in await driver_hours.motions(self._database, device_ids, begin):
            found.setdefault(motion.device_id, []).append(motion)
        assigned = await self._assigned(device_ids, now)
        for index, device_id in enumerate(device_ids):
            if index % DEVICES_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            known = self._drives.get(device_id, b"")
            newest = since(known, begin)
            drives = continued(list(unpack(newest)), found.get(device_id, ()), begin)
            packed = pack(_entered(drives, assigned.get(device_id, ()), now))
            self._note_drivers(device_id, packed)
            if begin > now - LOOK_BACK:
                packed = known[: len(known) - len(newest)] + packed
            self._keep(device_id, packed)

    async def _assign(self, now: datetime) -> None:
        """Look up who drove by hand in four weeks."""
        device_ids = sorted(self._drives)
        for first in range(0, len(device_ids), DEVICES_PER_READ):
            some = device_ids[first : first + DEVICES_PER_READ]
            assigned = await self._assigned(some, now)
            for index, device_id in enumerate(some):
                if index % DEVICES_AT_ONCE == 0:
                    await trio.lowlevel.checkpoint()
                packed = self._drives[device_id]
                if device_id in assigned or any(by_hand for _, by_hand in drivers_in(packed)):
                    drives = _entered(unpack(packed), assigned.get(device_id, ()), now)
                    self._keep(device_id, pack(drives))
        await self._note_all()

    async def _assigned(self, device_ids: Sequence[int], now: datetime) -> dict[int, list[DriverAssignment]]:
        found: dict[int, list[DriverAssignment]] = {}
        for each in await driver_assignments.of_devices(self._database, device_ids, now - LOOK_BACK, now):
            found.setdefault(each.device_id, []).append(each)
        return found

    def _keep(self, device_id: int, packed: bytes) -> None:
        if not packed:
            self._drives.pop(device_id, None)
        elif self._drives.get(device_id) != packed:
            self._drives[device_id] = packed
            self._changed.add(device_id)

    def _note_drivers(self, device_id: int, packed: bytes) -> None:
        for card, by_hand in drivers_in(packed):
            driver_id = by_hand or self._ids.get(card)
            if driver_id is not None:
                self._of_driver.setdefault(driver_id, set()).add(device_id)

    async def collect(self, now: datetime) -> Batch:
        """Return what drivers have reached of one kind."""
        if not self._due and self.instants.due(now, 1):
            if self._unread:
                # Some at a time, so that other rules have their turn in between.
                some = list(islice(self._unread, DEVICES_AT_ONCE))
                for device_id in some:
                    del self._unread[device_id]
                try:
                    await self._read(some, now - LOOK_BACK, now)
                except StorageError:
                    self._unread.update(dict.fromkeys(some))
                    raise
                self.instants.put(0, now)
                return Batch({}, ())
            if self._assign_at is None or now >= self._assign_at:
                if self._assign_at is not None:
                    await self._assign(now)
                self._assign_at = now + REASSIGN
            await self._look(now)
            self._take_turns(now)
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

    def _take_turns(self, now: datetime) -> None:
        """Have all events of the next devices read again before the next look."""
        minutes, minute = REREAD // EVERY, (now - EPOCH) // EVERY
        begin, self._minute = max(self._minute or minute, minute - minutes), minute
        turns = {each % minutes for each in range(begin + 1, minute + 1)}
        self._unread.update((number, None) for number in self._drives if number % minutes in turns)

    async def _look(self, now: datetime) -> None:
        """Find what drivers have reached who drive or drove of late."""
        device_ids = await driver_hours.moved_since(self._database, now - NEWEST)
        for first in range(0, len(device_ids), DEVICES_PER_READ):
            await self._read(device_ids[first : first + DEVICES_PER_READ], now - NEWEST, now)
        active: set[int] = set()
        for index, (device_id, packed) in enumerate(list(self._drives.items())):
            if index % DEVICES_PER_READ == 0:
                await trio.lowlevel.checkpoint()
            age = MAX_AGE if device_id in self._changed else self._since
            for card, by_hand in drivers_in(since(packed, now - age)):
                driver_id = by_hand or self._ids.get(card)
                if driver_id is not None:
                    active.add(driver_id)
        for index, driver_id in enumerate(sorted(active)):
            if index % DRIVERS_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            await self._look_at(driver_id, now)
        self._since = NEWEST
        self._changed.clear()

    async def _look_at(self, driver_id: int, now: datetime) -> None:
        """Find what a driver has reached, unless nothing can have changed since the last look."""
        row = self._drivers.get(driver_id)
        device_ids = sorted(self._of_driver.get(driver_id, ()))
        known = [self._drives.get(number, b"") for number in device_ids]
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
        drives = {number: list(unpack(self._drives.get(number, b""))) for number in device_ids}
        driving = tuple(number for number, found in drives.items() if found and found[-1].end is None)
        latest = await self._system.ref(DIRECTORY).ask(GetLatestPositions(driving), ASK_SECONDS)
        seen = {position.device_id: position.fix_time for position in latest}
        card = card_of(row.unique_id)
        return [
            _Driven(Span(drive.start, end), device_id, drive.card == card, drive.end is None)
            for device_id, found in drives.items()
            for drive in found
            if (drive.by_hand or self._ids.get(drive.card)) == row.id
            and (end := drive.end or min(now, seen.get(device_id, drive.start))) > now - LOOK_BACK
            and end > drive.start
        ]


def _entered(drives: Iterable[Drive], assigned: Sequence[DriverAssignment], now: datetime) -> Iterable[Drive]:
    """Return drives with the drivers whom users entered."""
    return (
        drive._replace(by_hand=assigned_driver(drive.start, drive.end or now, assigned) or 0)
        for drive in drives
    )


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
