"""What a device's actor makes of reports: positions and events, by the rules of the device.

Part of the device's actor. Everything goes to the position writer, which stores, acknowledges and publishes
it.
"""

from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import trio

from motorpool.actors.devices.device_loader import DEVICE_LOADER, LOAD_SECONDS, RELOAD_SECONDS, LoadDevice
from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.devices.online_status import OnlineStatus
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append, AppendEvents
from motorpool.actors.messages.changes import PositionsDeleted
from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.messages.downlink import ConnectionMessage, Settled
from motorpool.actors.messages.uplink import SetAccumulators
from motorpool.actors.rules.device_rules import WindowsMissing
from motorpool.actors.rules.event_rules import NOTHING_STORED, FoldResult, FoldState
from motorpool.actors.rules.expressions import WORK_HERE, TooMuchHere
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.rules.severity import grade
from motorpool.codecs.reports import PositionReport
from motorpool.runtime import ActorError, Deferred, MailboxFull, Ref
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Event, Position

_THREADS = trio.CapacityLimiter(2)
"""Threads in which computed attributes are computed that are much work."""


class DevicePositions:
    """Folds reports onto the state of a device, and sends what comes of them to the position writer."""

    __slots__ = ("_clock", "_latest", "_online_status", "_session", "_state", "_writer")

    def __init__(
        self,
        session: DeviceSession,
        online_status: OnlineStatus,
        latest: Mapping[int, Position | None],
        state: FoldState,
    ) -> None:
        """`latest` is the directory's table of latest positions, `state` what `fold` applies reports to."""
        self._clock = session.context.clock
        self._session = session
        self._online_status = online_status
        self._latest = latest
        self._state = state
        self._writer = session.context.system.ref(POSITION_WRITER)

    def store(
        self,
        report: PositionReport,
        protocol: str,
        connection: Ref[ConnectionMessage],
        events: tuple[Event, ...] = (),
    ) -> Awaitable[None] | None:
        """Store a report as a position, with `events` that it comes with and those that rules make of it.

        The `connection` acknowledges it after the commit. Return an awaitable if the writer has no room now,
        or if windows of calendars, or computed attributes that are much work, are computed elsewhere first.
        """
        context = self._context_of(protocol, events, WORK_HERE)
        try:
            result = fold(report, self._state, context)
        except (WindowsMissing, TooMuchHere) as reason:
            return self._prepare_and_store(reason, report, connection, context)
        return self._keep(report, connection, context, result)

    async def _prepare_and_store(
        self,
        reason: WindowsMissing | TooMuchHere,
        report: PositionReport,
        connection: Ref[ConnectionMessage],
        context: FoldContext,
    ) -> None:
        while True:
            work_here = None
            if isinstance(reason, WindowsMissing):
                await self._session.rule_cache.prepare(reason)
                work_here = WORK_HERE
            context = self._context_of(context.protocol, context.events, work_here)
            work = partial(fold, report, self._state, context)
            try:
                result = (
                    await trio.to_thread.run_sync(work, limiter=_THREADS) if work_here is None else work()
                )
            except (WindowsMissing, TooMuchHere) as another:
                reason = another
            else:
                break
        waits = self._keep(report, connection, context, result)
        if waits is not None:
            await waits

    def _context_of(self, protocol: str, events: tuple[Event, ...], work_here: int | None) -> FoldContext:
        """Return what the rules know now."""
        session = self._session
        session.protocol = protocol
        rules = session.current_rules()
        linked = self._linked_positions(rules.linked_devices) if rules.linked_devices else ()
        return FoldContext(
            session.device_id,
            protocol,
            self._clock.now(),
            events,
            rules,
            session.row,
            linked,
            work_here,
        )

    def _keep(
        self,
        report: PositionReport,
        connection: Ref[ConnectionMessage],
        context: FoldContext,
        result: FoldResult,
    ) -> Awaitable[None] | None:
        """Go on from the state after a report, and send what it made to the writer."""
        now = context.server_time
        self._state = result.state
        for failure in result.failures:
            if self._session.rule_cache.is_new(failure):
                self._session.context.log.warning("computed attribute %d has failed: %s", *failure)
        position, receipt = result.position, report.receipt
        if position is None:
            self._online_status.mark_seen(now)
            return self._append(AppendEvents(result.events, connection, receipt))
        self._online_status.note_position(now)
        return self._append(
            Append(position, result.events, connection, receipt, result.point, result.dated_back)
        )

    def tell_stored(self, connection: Ref[ConnectionMessage]) -> Awaitable[None] | None:
        """Tell the connection when all that was reported before is stored."""
        return self._append(AppendEvents((), connection, settled=Settled(self._session.device_id)))

    def _linked_positions(self, device_ids: Sequence[int]) -> tuple[Position, ...] | None:
        """Return the latest positions of devices, of those that have one; None until they are loaded.

        The directory's table is read without waiting, and the directory loads what is missing.
        """
        latest = self._latest
        missing = tuple(device_id for device_id in device_ids if device_id not in latest)
        if missing:
            self._session.context.system.ref(DIRECTORY).offer(GetLatestPositions(missing))
            return None
        found = (latest[device_id] for device_id in device_ids)
        return tuple(position for position in found if position is not None)

    def _append(self, append: Append | AppendEvents) -> Awaitable[None] | None:
        if append.events:
            grade(append.events, self._session.current_rules().severities)
        try:
            self._writer.tell_nowait(append)
        except MailboxFull:
            return self._writer.tell(append)
        return None

    def set_accumulators(self, message: SetAccumulators) -> object:
        """Store the latest position again with these totals, from which the next report continues."""
        state = self._state
        latest = state.latest
        if self._session.row is None or latest is None:
            return None
        values = {"totalDistance": message.total_distance, "hours": message.hours}
        attributes = latest.attributes | {name: value for name, value in values.items() if value is not None}
        now = self._clock.now()
        position = msgspec.structs.replace(latest, id=0, server_time=now, attributes=attributes)
        self._state = msgspec.structs.replace(
            state, latest=position, stored_that_day=state.stored_that_day + 1
        )
        reply: Deferred[Position] = Deferred()
        waits = self._append(Append(position, reply=reply))
        return reply if waits is None else _reply_after(waits, reply)

    def clear(self) -> None:
        """Forget stored positions: the device was deleted."""
        self._state = NOTHING_STORED

    async def reload(self) -> None:
        """Read the latest position again; later, if the database is unavailable."""
        context, device_id = self._session.context, self._session.device_id
        try:
            stored = await context.system.ref(DEVICE_LOADER).ask(LoadDevice(device_id), LOAD_SECONDS)
        except (StorageError, ActorError) as error:
            context.log.warning("cannot reload the latest position, will retry: %s", error)
            context.after(RELOAD_SECONDS, PositionsDeleted(device_id))
        else:
            self._state = stored.state

    def event(self, kind: str, attributes: dict[str, Any]) -> Event:
        """Return an event of the device, at present."""
        now = self._clock.now()
        return Event(type=kind, event_time=now, device_id=self._session.device_id, attributes=attributes)

    def publish_event(self, kind: str, attributes: dict[str, Any]) -> None:
        """Store an event that belongs to no position."""
        event = self.event(kind, attributes)
        grade((event,), self._session.current_rules().severities)
        if not self._writer.offer(AppendEvents((event,))):
            self._session.context.log.warning("dropped an event: the writer is full")


async def _reply_after(waits: Awaitable[None], reply: Deferred[Position]) -> Deferred[Position]:
    await waits
    return reply
