"""Sends each stored position and event to the server that the settings name (docs/forwarding.md).

It listens to what was stored, so nothing waits for it: what it cannot send in time waits in a bounded queue
in memory, whose oldest messages are dropped (docs/decisions/0175). A server forwards what it has stored
itself.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Never

import msgspec
import trio

from motorpool.actors.forwarding.delivery_log import DeliveryLog
from motorpool.actors.forwarding.destinations import Destinations
from motorpool.actors.forwarding.queue import ForwardMessage
from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.messages.changes import (
    COMMITTED_CHANGES,
    CalendarChanged,
    Change,
    DeviceChanged,
    EverythingChanged,
    GroupChanged,
)
from motorpool.actors.messages.directory import DIRECTORY, GetDeviceStatuses
from motorpool.actors.messages.topics import EVENTS, POSITIONS, DeviceStatus
from motorpool.actors.words.record_json import encode
from motorpool.actors.work.row_cache import RowCache
from motorpool.runtime import Actor, ActorError, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices, positions
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Device, Event, Position

BATCH = 250
"""Most positions and events that are made messages at once."""
STORAGE_SECONDS = 5.0
"""Delay before the next attempt when the database is unavailable."""
STOP_SECONDS = 2.0
"""Time for sending queued messages when the server stops."""
MAX_DEVICES = 50_000
"""Rows of devices that are remembered."""
DEVICE_MAX_AGE_SECONDS = 3600.0
"""Rows of devices are read again after this."""


class _Stored(msgspec.Struct, frozen=True, gc=False):
    """A position to forward, or an event, with its position if available."""

    position: Position | None
    event: Event | None = None

    @property
    def device_id(self) -> int:
        record = self.event or self.position
        assert record is not None
        return record.device_id


class Forwarder(Actor[Never]):
    """Follows the stored positions and events, encodes them, and hands them to the destinations."""

    def __init__(self, database: Database, http: OutgoingHttp, settings: ForwardSettings) -> None:
        self._database = database
        self._http = http
        self._settings = settings
        self._stored: deque[_Stored] = deque()
        self._arrived = Signal()
        self._last_positions: tuple[Position, ...] = ()
        self._encoding = 0
        """Positions and events of the batch that is being encoded."""
        self._number = 0

    async def start(self) -> None:
        """Listen to what is stored."""
        clock = self.context.clock
        self._devices = RowCache(
            self._fetch_devices,
            max_rows=MAX_DEVICES,
            max_age_seconds=DEVICE_MAX_AGE_SECONDS,
            monotonic=clock.monotonic,
        )
        self._destinations = Destinations(self._http, self._settings, self.context.log, clock.monotonic)
        self._log = DeliveryLog("all", self.context.log, clock.monotonic)
        self.context.listen(POSITIONS, self._add_positions)
        self.context.listen(EVENTS, self._add_events)
        self.context.listen(COMMITTED_CHANGES, self._apply)

    async def run(self) -> None:
        """Encode and send until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._destinations.run)
            while True:
                while not self._stored:
                    await self._arrived.wait()
                await self._encode_batch()
                await trio.lowlevel.checkpoint()

    async def stop(self) -> None:
        """Send queued messages for at most STOP_SECONDS."""
        with trio.move_on_after(STOP_SECONDS):
            while self._waiting:  # noqa: ASYNC110 - the queues have no event in common
                await trio.sleep(0.02)
        if self._waiting:
            self.context.log.warning("%d messages were not forwarded before the stop", self._waiting)

    @property
    def _waiting(self) -> int:
        return len(self._stored) + self._encoding + self._destinations.waiting

    def _add_positions(self, stored: tuple[Position, ...]) -> None:
        self._last_positions = stored
        if self._settings.positions:
            self._add(_Stored(position) for position in stored)

    def _add_events(self, stored: tuple[Event, ...]) -> None:
        if self._settings.events:
            # The writer publishes the positions of a batch and then their events.
            last = {position.id: position for position in self._last_positions}
            self._add(_Stored(last.get(event.position_id), event) for event in stored)

    def _add(self, stored: Iterable[_Stored]) -> None:
        self._stored.extend(stored)
        dropped = 0
        while len(self._stored) > self._settings.queue:
            self._stored.popleft()
            dropped += 1
        if dropped:
            self._log.dropped("full", dropped)
        self._arrived.set()

    def _apply(self, changes: tuple[Change, ...]) -> None:
        for change in changes:
            match change:
                case DeviceChanged():
                    self._devices.invalidate(change.id)
                case GroupChanged(operation="deleted") | CalendarChanged(operation="deleted"):
                    # Rows of devices lose a group or calendar that is deleted.
                    self._devices.clear()
                case EverythingChanged():
                    self._devices.clear()
                case _:
                    pass

    async def _encode_batch(self) -> None:
        batch = [self._stored.popleft() for _ in range(min(BATCH, len(self._stored)))]
        self._encoding = len(batch)
        try:
            rows = await self._devices.get_many({stored.device_id for stored in batch})
            earlier = await self._earlier_positions(batch)
        except StorageError as error:
            self._log.failed(error)
            self._stored.extendleft(reversed(batch))
            self._encoding = 0
            await trio.sleep(STORAGE_SECONDS)
            return
        statuses = await self._statuses(rows)
        rows |= {number: status.fill_in(rows[number]) for number, status in statuses.items()}
        texts = {row.id: msgspec.Raw(encode(row)) for row in rows.values()}
        for stored in batch:
            device = rows.get(stored.device_id)
            # A device that has been deleted meanwhile has no JSON.
            if device is not None:
                self._queue(stored, device, texts[device.id], earlier)
        self._encoding = 0

    def _queue(
        self, stored: _Stored, device: Device, text: msgspec.Raw, earlier: Mapping[int, Position]
    ) -> None:
        event, position = stored.event, stored.position
        content: dict[str, object] = {}
        if event is not None:
            content["event"] = event
            position = position or earlier.get(event.position_id)
        content |= {"position": position, "device": text}
        self._number += 1
        self._destinations.append(
            ForwardMessage(
                number=self._number,
                kind="position" if event is None else "event",
                device_id=device.id,
                unique_id=device.unique_id,
                content=encode(content),
                expires=self.context.clock.monotonic() + self._settings.give_up_seconds,
            ),
            device,
        )

    async def _earlier_positions(self, batch: Iterable[_Stored]) -> dict[int, Position]:
        """Return the positions of events that were not stored with them."""
        ids = {
            stored.event.position_id
            for stored in batch
            if stored.event is not None and stored.position is None and stored.event.position_id
        }
        if not ids:
            return {}
        return {
            position.id: position
            for position in await positions.TABLE.fetch_many(self._database, sorted(ids))
        }

    async def _statuses(self, device_ids: Iterable[int]) -> Mapping[int, DeviceStatus]:
        # The directory may have stopped before this actor, or be unable to read the database.
        with suppress(ActorError, StorageError):
            return await self.context.system.ref(DIRECTORY).ask(GetDeviceStatuses(tuple(device_ids)))
        return {}

    async def _fetch_devices(self, device_ids: tuple[int, ...]) -> dict[int, Device]:
        return {row.id: row for row in await devices.TABLE.fetch_many(self._database, device_ids)}
