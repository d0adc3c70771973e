"""What a device's actor makes of reports: positions and events, by the rules of the device.

The base class of `actors/devices/device.py: DeviceActor`, which handles the messages.
"""

from collections.abc import Awaitable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from motorpool.actors.devices.device_loader import DEVICE_LOADER, LoadDevice
from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.devices.linked_positions import linked_positions
from motorpool.actors.devices.open_connections import OpenConnections
from motorpool.actors.devices.position_writer import Append, AppendEvents, WriterMessage
from motorpool.actors.devices.presence import Presence
from motorpool.actors.devices.rule_cache import RuleCache
from motorpool.actors.messages.changes import PositionsDeleted
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.actors.messages.uplink import DeviceMessage, SetAccumulators
from motorpool.actors.rules.computed import Failures
from motorpool.actors.rules.device_rules import UNCONFIGURED
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.fold_state import NOTHING_STORED
from motorpool.codecs.reports import PositionReport
from motorpool.runtime import Actor, ActorError, Deferred, MailboxFull, Ref
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event, Position

LOAD_SECONDS = 30.0
"""The actor does not start if its rows cannot be read within this time."""
RELOAD_SECONDS = 5.0
"""Delay before rows are read again after the database was unavailable."""


class BaseDevice(Actor[DeviceMessage]):
    """Folds reports onto the state of a device, and sends what comes of them to the position writer."""

    __slots__ = (
        "_connections",
        "_device_id",
        "_generation",
        "_latest",
        "_presence",
        "_rule_cache",
        "_rules",
        "_session",
        "_state",
        "_writer",
    )

    def __init__(self, device_id: int, rule_cache: RuleCache) -> None:
        self._device_id = device_id
        self._rule_cache = rule_cache
        self._session = DeviceSession()
        self._rules = UNCONFIGURED
        self._generation = -1
        """Of the rule cache, when the rules were last asked for."""
        self._state = NOTHING_STORED
        """What `fold` applies the next report to."""
        self._connections: OpenConnections
        self._latest: Mapping[int, Position | None]
        """The table of the directory."""
        self._presence: Presence
        self._writer: Ref[WriterMessage]

    def _store(
        self,
        report: PositionReport,
        protocol: str,
        connection: Ref[ConnectionMessage],
        events: tuple[Event, ...] = (),
    ) -> Awaitable[None] | None:
        now = self._now()
        session, rule_cache = self._session, self._rule_cache
        session.protocol = protocol
        if rule_cache.generation != self._generation:
            self._refresh_rules()
        rules = self._rules
        linked = (
            linked_positions(rules.linked_devices, self._latest, self.context) if rules.linked_devices else ()
        )
        result = fold(
            report,
            self._state,
            FoldContext(self._device_id, protocol, now, events, rules, session.row, linked),
        )
        self._state = result.state
        # Like Presence.mark_seen, but the stored position itself publishes the new last update.
        presence = self._presence
        presence.seen = True
        presence.last_update = now
        if presence.status != "online":
            presence.mark_online()
        if result.failures:
            self._log_failures(result.failures)
        if result.position is None:
            presence.mark_seen(now)
            return self._append(AppendEvents(result.events, connection, report.receipt))
        return self._append(
            Append(
                result.position,
                result.events,
                connection,
                report.receipt,
                result.point,
                result.dated_back,
            )
        )

    def _now(self) -> datetime:
        # Not kept as an attribute: a bound method for each device is memory.
        return self.context.clock.now()

    def _check_rules(self) -> None:
        if self._rule_cache.generation != self._generation:
            self._refresh_rules()

    def _refresh_rules(self) -> None:
        """Ask for the rules anew: the row or something else that they are made of has changed."""
        row = self._session.row
        self._generation = self._rule_cache.generation
        self._rules = UNCONFIGURED if row is None else self._rule_cache.rules_of(row)
        self._connections.timezone = self._rules.settings.decoder_timezone or ""
        self._connections.inherited = self._rules.protocol_attributes
        self._connections.configure()

    def _log_failures(self, failures: Failures) -> None:
        for failure in failures:
            if self._rule_cache.is_new(failure):
                self.context.log.warning("computed attribute %d has failed: %s", *failure)

    def _append(self, append: Append | AppendEvents) -> Awaitable[None] | None:
        try:
            self._writer.tell_nowait(append)
        except MailboxFull:
            return self._writer.tell(append)
        return None

    def _set_accumulators(self, message: SetAccumulators) -> object:
        state = self._state
        latest = state.latest
        if self._session.row is None or latest is None:
            return None
        values = {"totalDistance": message.total_distance, "hours": message.hours}
        attributes = latest.attributes | {name: value for name, value in values.items() if value is not None}
        position = msgspec.structs.replace(latest, id=0, server_time=self._now(), attributes=attributes)
        # The next report continues from these totals.
        self._state = msgspec.structs.replace(
            state, latest=position, stored_that_day=state.stored_that_day + 1
        )
        reply: Deferred[Position] = Deferred()
        waits = self._append(Append(position, reply=reply))
        return reply if waits is None else _reply_after(waits, reply)

    async def _reload_latest(self, change: PositionsDeleted) -> None:
        try:
            stored = await self.context.system.ref(DEVICE_LOADER).ask(
                LoadDevice(self._device_id), LOAD_SECONDS
            )
        except (StorageError, ActorError) as error:
            self.context.log.warning("cannot reload the latest position, will retry: %s", error)
            self.context.after(RELOAD_SECONDS, change)
        else:
            self._state = stored.state if stored is not None else NOTHING_STORED

    def _status_changed(self, status: str) -> None:
        self._check_rules()
        if self._rules.settings.event_status_enable:
            self._publish_event(f"device{status.capitalize()}", {})

    def _publish_event(self, kind: str, attributes: dict[str, Any]) -> None:
        event = self._event(kind, attributes)
        if not self._writer.offer(AppendEvents((event,))):
            self.context.log.warning("dropped an event: the writer is full")

    def _event(self, kind: str, attributes: dict[str, Any]) -> Event:
        return Event(type=kind, event_time=self._now(), device_id=self._device_id, attributes=attributes)


async def _reply_after(waits: Awaitable[None], reply: Deferred[Position]) -> Deferred[Position]:
    await waits
    return reply
