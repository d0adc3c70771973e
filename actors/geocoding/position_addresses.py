"""Gives stored positions their addresses, after they were acknowledged, where `[geocoder] positions` says so
(docs/server.md#addresses).

It listens to what was stored, so nothing waits for the geocoder. Positions that it has no time for keep no
address: the queue is bounded, and its oldest positions are dropped.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Never

import msgspec
import trio

from motorpool.actors.geocoding.geocoder import Geocoder
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError
from motorpool.actors.messages.counters import ADDRESSES_SKIPPED
from motorpool.actors.messages.topics import ADDRESSED_POSITIONS, POSITIONS
from motorpool.actors.rules.distance import great_circle
from motorpool.runtime import Actor, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.devices import positions
from motorpool.storage.errors import StatementRejected, StorageError
from motorpool.storage.records import Position

MAX_WAITING = 10_000
"""Most positions that wait for an address."""
MAX_DEVICES = 50_000
"""Most devices whose last address is remembered."""
MAX_CONCURRENT = 4
"""Most requests to the geocoder at once."""
BATCH = 250
"""Most rows of one update."""
WRITE_SECONDS = 1.0
"""Least time between two updates."""
FAILURE_SECONDS = 30.0
"""Delay after a failure of the geocoder or the database."""


class PositionAddresses(Actor[Never]):
    """Looks up addresses in the order of arrival, and writes them in batches."""

    def __init__(self, database: Database, geocoder: Callable[[], Geocoder | None]) -> None:
        """`geocoder` returns the one in use."""
        self._database = database
        self._geocoder = geocoder
        self._waiting: deque[Position] = deque()
        self._arrived = Signal()
        self._found: list[Position] = []
        self._is_found = Signal()
        self._last: OrderedDict[int, Position] = OrderedDict()
        """Device id -> its last position with an address, the one used last at the end."""
        self._failing = False

    async def start(self) -> None:
        """Listen to stored positions."""
        self.context.listen(POSITIONS, self._add)

    async def run(self) -> None:
        """Look up and write until cancelled."""
        async with trio.open_nursery() as nursery:
            for _ in range(MAX_CONCURRENT):
                nursery.start_soon(self._look_up_all)
            nursery.start_soon(self._write_all)

    def _add(self, stored: tuple[Position, ...]) -> None:
        geocoder = self._geocoder()
        if geocoder is None or not geocoder.service.positions:
            return
        # A device that never had a fix is at 0° 0°.
        self._waiting.extend(
            position
            for position in stored
            if position.address is None and (position.latitude or position.longitude)
        )
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            ADDRESSES_SKIPPED.value += 1
        self._arrived.set()

    async def _look_up_all(self) -> None:
        while True:
            # What was found waits for the database in memory: no more than a few batches.
            if not self._waiting or len(self._found) >= 4 * BATCH:
                await self._arrived.wait()
                continue
            position, geocoder = self._waiting.popleft(), self._geocoder()
            if geocoder is None:
                self._waiting.clear()
                continue
            address = self._reused(position, geocoder.service.reuse_metres)
            if address is None:
                address = await self._look_up(geocoder, position)
            if address:
                self._add_found(msgspec.structs.replace(position, address=address))
            await trio.lowlevel.checkpoint()

    def _reused(self, position: Position, metres: float) -> str | None:
        """Return the device's last address if that was close enough."""
        last = self._last.get(position.device_id)
        if last is None or metres <= 0:
            return None
        distance = great_circle(last.latitude, last.longitude, position.latitude, position.longitude)
        return last.address if distance <= metres else None

    async def _look_up(self, geocoder: Geocoder, position: Position) -> str | None:
        try:
            address = await geocoder.address(position.latitude, position.longitude)
        except DeliveryRefused as error:
            ADDRESSES_SKIPPED.value += 1
            self.context.log.debug("no address of position %d: %s", position.id, error)
            return None
        except OutgoingError as error:
            ADDRESSES_SKIPPED.value += 1
            if not self._failing:
                self._failing = True
                self.context.log.warning("positions get no address at present: %s", error)
            await trio.sleep(FAILURE_SECONDS)
            return None
        if self._failing:
            self._failing = False
            self.context.log.info("positions get addresses again")
        if address:
            self._last[position.device_id] = msgspec.structs.replace(position, address=address)
            self._last.move_to_end(position.device_id)
            if len(self._last) > MAX_DEVICES:
                self._last.popitem(last=False)
        return address

    def _add_found(self, position: Position) -> None:
        self._found.append(position)
        self._is_found.set()

    async def _write_all(self) -> None:
        while True:
            while not self._found:
                await self._is_found.wait()
            batch = self._found[:BATCH]
            try:
                written = await positions.set_addresses(self._database, batch)
            except StatementRejected as error:
                self.context.log.error("%d addresses cannot be written: %s", len(batch), error)
                written = set()
            except StorageError as error:
                self.context.log.warning("addresses are not written yet: %s", error)
                await trio.sleep(FAILURE_SECONDS)
                continue
            del self._found[: len(batch)]
            self._arrived.set()
            addressed = tuple(position for position in batch if position.id in written)
            if addressed:
                self.context.system.topic(ADDRESSED_POSITIONS).publish(addressed)
            await trio.sleep(WRITE_SECONDS)
