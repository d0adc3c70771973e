"""Reads what the actors of devices start with, for many of them in a few statements."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from motorpool.actors.batching import BatchingActor
from motorpool.runtime import ChildSpec, Kind, Request
from motorpool.storage import commands, device_states, devices, positions
from motorpool.storage.database import Database
from motorpool.storage.records import Device, Position

__all__ = ["DEVICE_LOADER", "DeviceLoader", "LoadDevice", "StoredDevice", "device_loader_spec"]


class StoredDevice(msgspec.Struct, frozen=True):
    """The rows of a device that its actor holds in memory."""

    row: Device
    latest: Position | None
    has_queue: bool
    """Whether commands are queued for it."""
    last_update: datetime | None


class LoadDevice(msgspec.Struct, Request[StoredDevice | None], frozen=True, gc=False):
    """Return the rows of a device; None if there is none. The ask raises StorageError in an outage."""

    device_id: int


DEVICE_LOADER: Kind[None, LoadDevice] = Kind("device_loader")


class DeviceLoader(BatchingActor[LoadDevice, StoredDevice | None]):
    """Answers the devices that start."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    async def answer_all(self, requests: Sequence[LoadDevice]) -> list[StoredDevice | None]:
        """Read the rows of all."""
        ids = [request.device_id for request in requests]
        rows = {row.id: row for row in await devices.TABLE.fetch_many(self._database, ids)}
        latest = {
            position.device_id: position for position in await positions.latest(self._database, list(rows))
        }
        with_queue = await commands.devices_with_queue(self._database, list(rows))
        last_updates = await device_states.last_updates(self._database, list(rows))
        return [
            None
            if (row := rows.get(device_id)) is None
            else StoredDevice(
                row, latest.get(device_id), device_id in with_queue, last_updates.get(device_id)
            )
            for device_id in ids
        ]


def device_loader_spec(database: Database) -> ChildSpec[LoadDevice]:
    """Return the child spec of the loader, which the actors of devices need when they start."""
    return ChildSpec(
        kind=DEVICE_LOADER, factory=lambda: DeviceLoader(database), resident=False, mailbox_size=1_000
    )
