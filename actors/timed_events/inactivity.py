"""The event `deviceInactive`: a device has been silent for too long (docs/events.md#inactivity)."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from motorpool.actors.messages.changes import (
    Change,
    DeviceChanged,
    EverythingChanged,
    GroupChanged,
    ServerChanged,
)
from motorpool.actors.messages.directory import DIRECTORY, GetLastUpdates
from motorpool.actors.messages.rule_cache import RULE_CACHE, GetRules
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.timed_events.timed_rule import MIN_PERIOD, Batch, TimedRule, newest_instant
from motorpool.runtime import ActorError, System
from motorpool.storage.database.database import Database
from motorpool.storage.devices import device_states
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event
from motorpool.storage.rules import timed_events

DEVICES_PER_READ = 500
ASK_SECONDS = 30.0
START = "deviceInactivityStart"
FIELDS = frozenset({f"attributes.{START}", "attributes.deviceInactivityPeriod"})
MAX_MILLISECONDS = 1e14
"""Longer times count as none: 3,000 years."""


class Inactivity(TimedRule):
    """Knows the devices for which a time of inactivity is configured, and when each becomes inactive."""

    kind = "deviceInactive"

    def __init__(
        self,
        database: Database,
        system: System,
        configuration: RuleSettings,
        follow_devices: Callable[[], None],
        *,
        looks_again: bool = False,
    ) -> None:
        """`follow_devices` is called once, before the first device is awaited: from then on `seen` has to be.

        `looks_again`: whether inactive devices may return without a message to this server.
        """
        super().__init__()
        self._follow_devices: Callable[[], None] | None = follow_devices
        self._looks_again = looks_again
        self._database = database
        self._system = system
        self._configuration = configuration
        self._spans: dict[int, tuple[timedelta, timedelta | None]] = {}
        """Device id -> (time until it is inactive, interval of repeated events or None)."""
        self._returning: set[int] = set()
        """Devices that were found inactive, or were never seen; their next message begins anew."""
        self._reads_all = True
        self._changed: set[int] = set()

    def note(self, change: Change) -> bool:
        """Note whose times may have changed; return whether any may have."""
        match change:
            case EverythingChanged():
                self._reads_all = True
            case DeviceChanged() | GroupChanged() | ServerChanged():
                is_moved = not isinstance(change, ServerChanged) and change.affects_visibility
                if not is_moved and FIELDS.isdisjoint(change.fields):
                    return False
                if isinstance(change, DeviceChanged):
                    self._changed.add(change.id)
                else:
                    self._reads_all = True
            case _:
                return False
        return True

    async def load(self, now: datetime) -> None:
        """Read the settings of the devices that were noted, or of all, unless there are none anywhere."""
        reads_all, self._reads_all = self._reads_all, False
        changed, self._changed = self._changed, set()
        try:
            await (self._read_all(now) if reads_all else self._read(sorted(changed), now))
        except (ActorError, StorageError):
            self._reads_all |= reads_all
            self._changed |= changed
            raise

    async def _read_all(self, now: datetime) -> None:
        known, last = set(self._spans), 0
        if self._configuration.device_inactivity_start > 0 or await timed_events.has_attribute(
            self._database, (START,)
        ):
            while ids := await timed_events.device_ids_after(self._database, last, DEVICES_PER_READ):
                last = ids[-1]
                known.difference_update(ids)
                await self._read(ids, now)
        for device_id in known:
            self._forget(device_id)

    async def _read(self, device_ids: Sequence[int], now: datetime) -> None:
        for first in range(0, len(device_ids), DEVICES_PER_READ):
            ids = device_ids[first : first + DEVICES_PER_READ]
            found = await self._read_spans(ids)
            seen = await self._last_updates(list(found))
            for device_id in ids:
                spans = found.get(device_id)
                if spans is None:
                    self._forget(device_id)
                    continue
                self._spans[device_id] = spans
                if device_id in seen:
                    self._returning.discard(device_id)
                    self.instants.put(device_id, seen[device_id] + spans[0])
                else:
                    self._await_message(device_id)
                    self._look_again(device_id, spans, now)

    def _await_message(self, device_id: int) -> None:
        if self._follow_devices is not None:
            # Not earlier: as long as nobody follows devices, their statuses are not made.
            self._follow_devices()
            self._follow_devices = None
        self._returning.add(device_id)

    def _look_again(self, device_id: int, spans: tuple[timedelta, timedelta | None], now: datetime) -> None:
        """Read later when the device was seen: its next message may reach another server."""
        if self._looks_again:
            self.instants.put(device_id, now + max(spans[0], MIN_PERIOD))

    def _forget(self, device_id: int) -> None:
        self._spans.pop(device_id, None)
        self._returning.discard(device_id)
        self.instants.discard(device_id)

    async def _read_spans(self, ids: Sequence[int]) -> dict[int, tuple[timedelta, timedelta | None]]:
        rules = await self._system.ref(RULE_CACHE).ask(GetRules(tuple(ids)), ASK_SECONDS)
        found = {}
        for device_id, each in rules.items():
            start, period = each.settings.device_inactivity_start, each.settings.device_inactivity_period
            if 0 < start < MAX_MILLISECONDS:
                repeats = timedelta(milliseconds=period) if 0 < period < MAX_MILLISECONDS else None
                found[device_id] = timedelta(milliseconds=start), repeats
        return found

    async def _last_updates(self, ids: list[int]) -> dict[int, datetime]:
        """Return when devices were last seen, by this server or another one."""
        if not ids:
            return {}
        stored = await device_states.last_updates(self._database, ids)
        known = await self._system.ref(DIRECTORY).ask(GetLastUpdates(tuple(ids)), ASK_SECONDS)
        return stored | {number: max(at, stored.get(number, at)) for number, at in known.items()}

    def seen(self, statuses: Sequence[DeviceStatus]) -> bool:
        """Follow devices that were inactive and are seen again; return whether there are any."""
        if not self._returning:
            return False
        found = False
        for status in statuses:
            if status.device_id in self._returning and status.last_update is not None:
                self._returning.discard(status.device_id)
                self.instants.put(status.device_id, status.last_update + self._spans[status.device_id][0])
                found = True
        return found

    async def collect(self, now: datetime) -> Batch:
        """Return the events of those that have been silent all the time."""
        ids = self.instants.due(now, DEVICES_PER_READ)
        seen = await self._last_updates(ids)
        due: dict[int, datetime] = {}
        events: list[tuple[int, Event]] = []
        for device_id in ids:
            spans, moment = self._spans.get(device_id), seen.get(device_id)
            if spans is None or moment is None:
                self.instants.discard(device_id)
                if spans is not None:
                    self._look_again(device_id, spans, now)
                continue
            instant = newest_instant(moment + spans[0], spans[1], now)
            if instant is None:
                self.instants.put(device_id, moment + spans[0])
                continue
            due[device_id] = instant
            attributes = {"lastUpdate": round(moment.timestamp() * 1000)}
            event = Event(
                type="deviceInactive", event_time=instant, device_id=device_id, attributes=attributes
            )
            events.append((device_id, event))
        return Batch(due, events)

    async def settle(self, batch: Batch, now: datetime) -> None:
        """Await the repetition, and the next message of the device."""
        for device_id, instant in batch.due.items():
            spans = self._spans.get(device_id)
            self.instants.discard(device_id)
            if spans is None:
                continue
            self._await_message(device_id)
            if spans[1] is not None:
                self.instants.put(device_id, instant + max(spans[1], MIN_PERIOD))
            else:
                self._look_again(device_id, spans, now)
