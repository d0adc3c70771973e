"""Keeps the rows that say which server of a cluster each device is connected to (docs/servers.md#devices).

A device that connects here while it seems to be connected elsewhere is announced to the other servers, which
close the connection that they still have: the device has given it up. A server that was frozen may announce a
device that has gone on to another one meanwhile; what it wrote is set right by the server of the device.
"""

from itertools import islice
from typing import assert_never

import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import ApplyChanges, DeviceMoved, EverythingChanged
from motorpool.actors.messages.homes import DeviceConnected, DeviceDisconnected, HomesMessage
from motorpool.actors.messages.live_stream import STREAM, MoveStream
from motorpool.actors.messages.uplink import DEVICE, ConnectedElsewhere
from motorpool.runtime import Actor, Signal
from motorpool.storage.cluster import homes
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError
from motorpool.storage.video import stream_marks

BATCH = 1_000
"""Devices of one statement."""
RETRY_SECONDS = 1.0


class Homes(Actor[HomesMessage]):
    """Writes connections and disconnections in batches, the last of each device."""

    def __init__(self, database: Database, node: int, *, moves_streams: bool = False) -> None:
        """`moves_streams`: live streams that other servers have of a device that connects go on here."""
        self._database = database
        self._node = node
        self._moves_streams = moves_streams
        self._unwritten: dict[int, bool] = {}
        """Whether each device is connected, oldest change first."""
        self._connected: set[int] = set()
        self._datagrams: set[int] = set()
        """Those of them that send datagrams."""
        self._moved: set[int] = set()
        """Devices whose rows other servers have written, or may have."""
        self._filled = Signal()

    def handle(self, message: HomesMessage) -> None:
        """Note a home to write or look up; never waits."""
        match message:
            case DeviceConnected():
                self._connected.add(message.device_id)
                if message.is_datagram:
                    self._datagrams.add(message.device_id)
                else:
                    self._datagrams.discard(message.device_id)
                self._unwritten[message.device_id] = True
            case DeviceDisconnected():
                self._connected.discard(message.device_id)
                self._datagrams.discard(message.device_id)
                self._unwritten[message.device_id] = False
            case ApplyChanges():
                for change in message.changes:
                    if isinstance(change, DeviceMoved):
                        self._moved.add(change.device_id)
                    elif isinstance(change, EverythingChanged):
                        self._moved |= self._connected
            case _:
                assert_never(message)
        self._filled.set()

    async def run(self) -> None:
        """Write until cancelled; during an outage of the database the last state of each device waits."""
        while True:
            while not (self._unwritten or self._moved):
                await self._filled.wait()
            try:
                await self._write()
                await self._settle_moved()
            except StorageError as error:
                self.context.log.warning("where devices are connected is not stored, trying again: %s", error)
                await trio.sleep(RETRY_SECONDS)

    async def _write(self) -> None:
        batch = dict(islice(self._unwritten.items(), BATCH))
        connected = [device_id for device_id, is_connected in batch.items() if is_connected]
        gone = [device_id for device_id, is_connected in batch.items() if not is_connected]
        # What changes meanwhile is written later, even if it changes back: another server may have written.
        for device_id in batch:
            del self._unwritten[device_id]
        moved: list[int] = []
        try:
            if connected:
                moved = await homes.claim(
                    self._database, self._node, connected, self._datagrams.intersection(connected)
                )
            if gone:
                await homes.release(self._database, self._node, gone)
        except StorageError:
            self._unwritten = batch | self._unwritten
            raise
        if moved:
            await publish_changes(self.context.system, *map(DeviceMoved, moved))
        if connected and self._moves_streams:
            for stream in await stream_marks.servers(self._database, self._node, connected):
                self.context.system.ref(STREAM, stream).offer(MoveStream())

    async def _settle_moved(self) -> None:
        """Close the connections of devices that are connected elsewhere, and claim those that are not."""
        # What is not written yet is claimed or released first.
        moved = set(islice(self._moved - self._unwritten.keys(), BATCH))
        self._moved -= moved
        if not moved:
            return
        try:
            # A device may have come back here since it was announced.
            kept = moved & self._connected
            elsewhere = await homes.claim_free(
                self._database, self._node, moved, kept, self._datagrams & kept
            )
            for device_id in elsewhere - self._unwritten.keys():
                device = self.context.system.ref(DEVICE, device_id)
                if device.alive:
                    device.offer(ConnectedElsewhere())
        except StorageError:
            self._moved |= moved
            raise
