"""Daily statistics of the server, counted in memory and saved once a minute (docs/server.md#statistics).

What was counted since the last save is added to the row of the day, which servers of one database share. The
users and devices counted in a day are stored as well, so that they are counted once across servers and
restarts. A crash loses at most a minute. Reading does not wait for a save: `UnsavedDays` returns what is in
memory beside the rows.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final, assert_never
from uuid import UUID, uuid4

import msgspec
import trio

from motorpool.actors.messages.counters import GEOCODER_REQUESTS, MAIL_SENT, MESSAGES_RECEIVED, SMS_SENT
from motorpool.actors.messages.topics import POSITIONS
from motorpool.runtime import Actor, Deferred, Failure, Kind, Request, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Position
from motorpool.storage.upkeep import statistics

SAVE_SECONDS: Final = 60.0
"""Interval between two saves."""
DAYS_KEPT: Final = 7
"""Most unsaved past days while the database is unavailable; older ones are discarded."""

COUNTERS: Final = {
    "messages_received": MESSAGES_RECEIVED,
    "mail_sent": MAIL_SENT,
    "sms_sent": SMS_SENT,
    "geocoder_requests": GEOCODER_REQUESTS,
}
"""Counters of the process that are included in the statistics."""


class RequestServed(msgspec.Struct, frozen=True, gc=False):
    """A logged-in user sent an API request."""

    user_id: int


class SaveNow(msgspec.Struct, Request[None], frozen=True, gc=False):
    """Save the counts, and answer when they are saved."""


class UnsavedDay(msgspec.Struct, frozen=True):
    """The counts of a day as memory has them."""

    date: date
    saver: UUID
    """Identifies in the database what was saved of these counts."""
    captured: datetime
    """The time up to which is counted."""
    counts: Mapping[str, int]
    """By the names of `statistics.COUNTS`; the stored row has those that were saved under `saver`."""
    users: frozenset[int]
    """Users who are not known to be stored."""
    devices: frozenset[tuple[int, str]]
    """Devices with their protocols that are not known to be stored."""


class UnsavedDays(msgspec.Struct, Request[tuple[UnsavedDay, ...]], frozen=True, gc=False):
    """Answer the days in which something was counted since the start and that are not over and saved."""


class _PositionsStored(msgspec.Struct, frozen=True, gc=False):
    positions: tuple[Position, ...]


class _SaveDue(msgspec.Struct, frozen=True, gc=False):
    pass


StatisticsMessage = RequestServed | SaveNow | UnsavedDays | _PositionsStored | _SaveDue
STATISTICS: Kind[None, StatisticsMessage] = Kind("statistics")


class Day:
    """The counts of one day since the counting started."""

    def __init__(self, day: date, begins: datetime, ends: datetime) -> None:
        self.date = day
        self.saver = uuid4()
        self.begins = begins
        self.ends = ends
        self.counts = dict.fromkeys(statistics.COUNTS, 0)
        self.users: set[int] = set()
        self.devices: dict[int, str] = {}
        """The protocol last used by each device."""
        self.new_users: set[int] = set()
        """Not known to be stored."""
        self.new_devices: set[tuple[int, str]] = set()
        """Not known to be stored, with their protocols."""
        self.changed = False

    def covers(self, now: datetime) -> bool:
        """Return whether the instant lies in this day."""
        return self.begins <= now < self.ends

    def captured(self, now: datetime) -> datetime:
        """Return the time of the day up to which is counted."""
        return min(max(now, self.begins), self.ends - timedelta(milliseconds=1))

    def unsaved(self, now: datetime) -> UnsavedDay:
        """Return a copy of the counts."""
        return UnsavedDay(
            date=self.date,
            saver=self.saver,
            captured=self.captured(now),
            counts=dict(self.counts),
            users=frozenset(self.new_users),
            devices=frozenset(self.new_devices),
        )


class DayStatistics(Actor[StatisticsMessage]):
    """Counts in memory, and saves once a minute and on request."""

    def __init__(self, database: Database, zone: tzinfo | None = None) -> None:
        """Days begin in `zone`; None is the time zone of the machine."""
        self._database = database
        self._zone = zone
        self._unsaved: list[Day] = []
        """Past days that are not saved yet."""
        self._waiting: list[Deferred[None]] = []
        """Requests for a save; one save answers all of them."""
        self._wake = Signal()
        self._saving = trio.Lock()
        self._counted = {name: counter.value for name, counter in COUNTERS.items()}

    async def start(self) -> None:
        """Subscribe to stored positions, and start the timer of saves."""
        self._today = self._day_of(self.context.clock.now())
        self.context.system.topic(POSITIONS).forward(self.context.ref, _PositionsStored)
        self.context.every(SAVE_SECONDS, _SaveDue())

    async def run(self) -> None:
        """Save when it is due or requested, while `handle` goes on counting."""
        while True:
            await self._wake.wait()
            waiting, self._waiting = self._waiting, []
            answer: Failure | None = None
            try:
                await self._save()
            except StorageError as error:
                answer = Failure(error)
                if not waiting:
                    self._warn(error)
            for reply in waiting:
                reply.answer(answer)

    async def stop(self) -> None:
        """Save the counts."""
        try:
            await self._save()
        except StorageError as error:
            self._warn(error)

    def handle(self, message: StatisticsMessage) -> object:
        """Count, or have the counts saved."""
        match message:
            case RequestServed():
                return self._request_served(message.user_id)
            case _PositionsStored():
                return self._positions_stored(message.positions)
            case SaveNow():
                reply: Deferred[None] = Deferred()
                self._waiting.append(reply)
                self._wake.set()
                return reply
            case _SaveDue():
                return self._wake.set()
            case UnsavedDays():
                return self._unsaved_days()
            case _:
                assert_never(message)

    def _unsaved_days(self) -> tuple[UnsavedDay, ...]:
        now = self.context.clock.now()
        today = self._current_day()
        self._add_counters()
        return tuple(day.unsaved(now) for day in (*self._unsaved, today) if any(day.counts.values()))

    def _request_served(self, user_id: int) -> None:
        day = self._current_day()
        day.counts["requests"] += 1
        day.changed = True
        if user_id not in day.users:
            day.users.add(user_id)
            day.new_users.add(user_id)

    def _positions_stored(self, stored: Sequence[Position]) -> None:
        day = self._current_day()
        day.counts["messages_stored"] += len(stored)
        day.changed = True
        devices = day.devices
        for position in stored:
            if devices.get(position.device_id) != position.protocol:
                devices[position.device_id] = position.protocol
                day.new_devices.add((position.device_id, position.protocol))

    def _current_day(self) -> Day:
        """Return the counts of today; at midnight the counts of the day before are queued for saving."""
        now = self.context.clock.now()
        if not self._today.covers(now):
            self._add_counters()
            self._unsaved = [*self._unsaved, self._today][-DAYS_KEPT:]
            self._today = self._day_of(now)
        return self._today

    def _add_counters(self) -> None:
        for name, counter in COUNTERS.items():
            increase = counter.value - self._counted[name]
            if increase:
                self._counted[name] += increase
                self._today.counts[name] += increase
                self._today.changed = True

    def _day_of(self, now: datetime) -> Day:
        day = now.astimezone(self._zone).date()
        # Without a zone the time zone of the machine applies.
        begins, ends = (
            datetime.combine(each, time(), tzinfo=self._zone).astimezone(now.tzinfo)
            for each in (day, day + timedelta(days=1))
        )
        return Day(day, begins, ends)

    def _warn(self, error: StorageError) -> None:
        self.context.log.warning("statistics not saved, retrying later: %s", error)

    async def _save(self) -> None:
        async with self._saving:
            today = self._current_day()
            self._add_counters()
            for day in tuple(self._unsaved):
                await self._save_day(day)
                self._unsaved = [each for each in self._unsaved if each is not day]
                # Other servers may still save the days before, and a day is not the same in all time zones.
                kept = timedelta(days=DAYS_KEPT + 1)
                await statistics.delete_before(self._database, today.date - kept)
            await self._save_day(today)

    async def _save_day(self, day: Day) -> None:
        if not day.changed:
            return
        counts = dict(day.counts)
        captured = day.captured(self.context.clock.now())
        # What is counted meanwhile is for the next save.
        users, devices = frozenset(day.new_users), frozenset(day.new_devices)
        day.changed = False
        try:
            await statistics.save(self._database, day.date, day.saver, captured, counts, users, devices)
        except BaseException:
            day.changed = True
            raise
        day.new_users -= users
        day.new_devices -= devices
