"""Stores events that come at an instant and not with a position (docs/decisions/0156-timed-events.md).

Its rules know the instants: one timer waits for the earliest. The events of an instant are stored with a mark
in one transaction, so that each is stored once, over restarts and by one of several servers.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import assert_never

import trio

from motorpool.actors.messages.changes import ApplyChanges, Change
from motorpool.actors.messages.rule_cache import RULE_CACHE, GetRules
from motorpool.actors.messages.timed_events import InstantReached, ReloadDue, TimedEventsMessage
from motorpool.actors.messages.topics import DEVICES, EVENTS, UNMATCHED_EVENTS, DeviceStatus, publish_events
from motorpool.actors.rules.device_rules import UNCONFIGURED
from motorpool.actors.rules.rule_settings import DEFAULTS, RuleSettings
from motorpool.actors.rules.severity import grade
from motorpool.actors.timed_events.driver_hours import DriverHours
from motorpool.actors.timed_events.geofence_calendars import GeofenceCalendars
from motorpool.actors.timed_events.inactivity import ASK_SECONDS, DEVICES_PER_READ, Inactivity
from motorpool.actors.timed_events.overdue_maintenance import OverdueMaintenance
from motorpool.actors.timed_events.timed_rule import Batch, TimedRule
from motorpool.actors.work.storage_retry import BACK_OFF, StorageRetry
from motorpool.runtime import Actor, ActorError, Signal, Timer
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event
from motorpool.storage.rules import timed_events

RELOAD_SECONDS = 1.0
"""Delay between a configuration change and reading it; changes in between are read together."""


class TimedEvents(Actor[TimedEventsMessage]):
    """The handler notes what has changed; a task of its own reads, waits and stores."""

    def __init__(
        self, database: Database, configuration: RuleSettings = DEFAULTS, *, clustered: bool = False
    ) -> None:
        """`configuration` is the last place where settings are looked up.

        `clustered` says that devices may be connected to other servers.
        """
        self._database = database
        self._configuration = configuration
        self._clustered = clustered
        self._rules: tuple[TimedRule, ...] = ()
        self._changed: set[TimedRule] = set()
        self._stale: set[TimedRule] = set()
        self._work_arrived = Signal()
        self._timer: Timer | None = None

    async def start(self) -> None:
        """Begin to follow the messages of devices."""
        system = self.context.system
        self._inactivity = Inactivity(
            self._database, system, self._configuration, self._follow_devices, looks_again=self._clustered
        )
        self._geofence_calendars = GeofenceCalendars(self._database, system, self._work_arrived.set)
        hours = DriverHours(self._database, system, self._configuration)
        self._rules = (self._inactivity, OverdueMaintenance(self._database), self._geofence_calendars, hours)
        self._stale = set(self._rules)
        self.context.listen(EVENTS, lambda events: hours.seen(events, self.context.clock.now()))

    def _follow_devices(self) -> None:
        self.context.listen(DEVICES, self._devices_seen)

    def _devices_seen(self, statuses: Sequence[DeviceStatus]) -> None:
        if self._inactivity.seen(statuses):
            self._work_arrived.set()

    def handle(self, message: TimedEventsMessage) -> None:
        """Note what has changed; the task reads it."""
        match message:
            case ApplyChanges():
                self._apply(message.changes)
                return
            case ReloadDue():
                self._stale |= self._changed
                self._changed.clear()
            case InstantReached():
                pass
            case _:
                assert_never(message)
        self._work_arrived.set()

    def _apply(self, changes: Iterable[Change]) -> None:
        changed = {rule for rule in self._rules for change in changes if rule.note(change)}
        if changed and not self._changed:
            self.context.after(RELOAD_SECONDS, ReloadDue())
        self._changed |= changed

    async def run(self) -> None:
        """Work while there is any work, then sleep until the next instant."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._geofence_calendars.find_edges)
            await self._work_forever()

    async def _work_forever(self) -> None:
        retry = StorageRetry(on_retry=self._warn)
        attempt = 0
        while True:
            self._work_arrived.clear()
            try:
                while await self._work(retry):
                    attempt = 0
            except (ActorError, StorageError) as error:
                # What was collected is collected again.
                self._warn(error)
                attempt += 1
                await trio.sleep(BACK_OFF.delay(attempt))
                continue
            self._arm()
            await self._work_arrived.wait()

    def _warn(self, error: Exception) -> None:
        self.context.log.warning("events that are due cannot be stored, another attempt follows: %s", error)

    async def _work(self, retry: StorageRetry) -> bool:
        """Do one piece of work; return whether there was any."""
        now = self.context.clock.now()
        for rule in self._rules:
            if rule in self._stale:
                self._stale.discard(rule)
                try:
                    await rule.load(now)
                except (ActorError, StorageError):
                    self._stale.add(rule)
                    raise
                return True
            instant = rule.instants.first()
            if instant is not None and instant <= now:
                batch = await rule.collect(now)
                if batch.due:
                    await self._grade(batch.events)
                    self._publish(await retry.call(partial(self._store, rule, batch)))
                    await rule.settle(batch, now)
                return True
        return False

    async def _grade(self, events: Sequence[tuple[int, Event]]) -> None:
        """Say how severe the events are, by what is configured for their devices."""
        rule_cache = self.context.system.ref(RULE_CACHE)
        for first in range(0, len(events), DEVICES_PER_READ):
            found = [event for _, event in events[first : first + DEVICES_PER_READ]]
            device_ids = tuple({event.device_id for event in found})
            rules = await rule_cache.ask(GetRules(device_ids), ASK_SECONDS)
            for event in found:
                grade((event,), rules.get(event.device_id, UNCONFIGURED).severities)

    async def _store(self, rule: TimedRule, batch: Batch) -> list[Event]:
        return await timed_events.claim_and_store(
            self._database, batch.kind or rule.kind, batch.due, batch.events, now=self.context.clock.now()
        )

    def _publish(self, events: Sequence[Event]) -> None:
        if events:
            publish_events(self.context.system, tuple(events))
            self.context.system.topic(UNMATCHED_EVENTS).publish(len(events))

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        instants = [instant for rule in self._rules if (instant := rule.instants.first()) is not None]
        if instants:
            self._timer = self.context.at(min(instants), InstantReached())
