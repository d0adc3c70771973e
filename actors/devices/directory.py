"""The status, last update and latest position of all devices, in memory.

One actor keeps them, so that a list of a thousand devices takes one request. It follows the stored positions
and the status changes that device actors send. The latest position of a device is loaded when it is first
requested. Last updates are saved every SAVE_SECONDS, which is how much of them a crash loses.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import assert_never

from motorpool.actors.cluster.cluster_statuses import ClusterStatuses, apply_updates
from motorpool.actors.messages import directory as messages
from motorpool.actors.messages import topics
from motorpool.actors.messages.changes import ApplyChanges, Change, DeviceChanged, PositionsDeleted
from motorpool.actors.messages.directory import (
    DirectoryMessage,
)
from motorpool.actors.messages.homes import LivingServers
from motorpool.actors.messages.remote import ApplyRemoteUpdates, GetLoadedDevices
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.rules.fold import is_latest
from motorpool.runtime import Actor, Failure
from motorpool.storage.database.database import Database
from motorpool.storage.devices import device_states, positions
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Position

SAVE_SECONDS = 30.0
"""Time between two saves of the last updates."""


class Directory(Actor[DirectoryMessage]):
    """Answers requests from memory; reads the latest position of each device once."""

    def __init__(
        self, database: Database, latest: dict[int, Position | None], cluster_statuses: ClusterStatuses | None
    ) -> None:
        """`latest` is where it keeps the latest positions by device id, of those devices that were requested;
        others may read it at any time. `cluster_statuses` is where it keeps the status of devices at other
        servers of the cluster; None: there are none.
        """
        self._database = database
        self._cluster_statuses = cluster_statuses
        self._status: dict[int, str] = {}
        self._last_update: dict[int, datetime] = {}
        self._latest = latest
        self._unsaved: set[int] = set()

    async def start(self) -> None:
        """Load the last updates and subscribe to stored positions."""
        # What it held before a crash may be outdated.
        self._latest.clear()
        if self._cluster_statuses is not None:
            self._cluster_statuses.clear()
        try:
            self._last_update = await device_states.all_last_updates(self._database)
        except StorageError as error:
            self.context.log.warning("cannot load the last updates: %s", error)
        self.context.system.topic(topics.POSITIONS).forward(self.context.ref, messages.PositionsStored)
        self.context.system.topic(topics.ADDRESSED_POSITIONS).forward(
            self.context.ref, messages.PositionsAddressed
        )
        self.context.every(SAVE_SECONDS, messages.SaveDue())

    async def stop(self) -> None:
        """Save the last updates."""
        await self._save()

    def handle(self, message: DirectoryMessage) -> object:
        """Handle one message; waits only to read or save."""
        match message:
            case messages.PositionsStored():
                return self._positions_stored(message.positions)
            case messages.PositionsAddressed():
                return self._positions_addressed(message.positions)
            case messages.DeviceStatusChanged():
                return self._status_changed(message.status)
            case messages.GetDeviceStatuses():
                return self._when_loaded(message.device_ids, partial(self._statuses_of, message))
            case messages.GetLatestPositions():
                return self._when_loaded(message.device_ids, partial(self._known_latest, message.device_ids))
            case messages.GetLastUpdates():
                known = self._last_update
                return {number: known[number] for number in message.device_ids if number in known}
            case messages.GetDirectorySizes():
                return self._sizes()
            case ApplyChanges():
                return self._apply(message.changes)
            case messages.SaveDue():
                return self._save()
            case ApplyRemoteUpdates():
                return self._apply_remote(message)
            case LivingServers():
                return self._forget_servers(message.numbers)
            case GetLoadedDevices():
                return tuple(self._latest)
            case _:
                assert_never(message)

    def _positions_stored(self, stored: Sequence[Position]) -> None:
        latest, last_update = self._latest, self._last_update
        touched: dict[int, None] = {}
        for position in stored:
            device_id = position.device_id
            if device_id in latest and is_latest(position, latest[device_id]):
                latest[device_id] = position
            known_update = last_update.get(device_id)
            if known_update is None or position.server_time > known_update:
                last_update[device_id] = position.server_time
            touched[device_id] = None
        self._unsaved.update(touched)
        self._publish_statuses(touched)

    def _positions_addressed(self, addressed: Sequence[Position]) -> None:
        latest: list[Position] = []
        for position in addressed:
            known = self._latest.get(position.device_id)
            if known is not None and known.id == position.id:
                self._latest[position.device_id] = position
                latest.append(position)
        if latest:
            self.context.system.topic(topics.LATEST_POSITIONS).publish(tuple(latest))

    def _status_changed(self, status: DeviceStatus) -> None:
        device_id = status.device_id
        shown = status.status
        if self._cluster_statuses is not None:
            shown = self._cluster_statuses.set_here(device_id, shown)
            self.context.system.topic(topics.LOCAL_STATUSES).publish(status)
        self._status[device_id] = shown
        if status.last_update is not None:
            self._last_update[device_id] = status.last_update
            self._unsaved.add(device_id)
        self._publish_statuses((device_id,))

    def _apply_remote(self, message: ApplyRemoteUpdates) -> tuple[Position, ...]:
        assert self._cluster_statuses is not None
        found = apply_updates(message, self._cluster_statuses, self._status, self._last_update, self._latest)
        self._publish_statuses(update.device_id for update in message.updates)
        return found

    def _forget_servers(self, living: frozenset[int]) -> None:
        assert self._cluster_statuses is not None
        shown = self._cluster_statuses.keep(living)
        if shown:
            self._status |= shown
            # What the dead server had not saved yet.
            self._unsaved |= shown.keys()
            self._publish_statuses(shown)

    def _publish_statuses(self, device_ids: Iterable[int]) -> None:
        topic = self.context.system.topic(topics.DEVICES)
        # On many servers nobody is interested, for hours.
        if topic.is_followed:
            topic.publish(tuple(self._status_of(device_id) for device_id in device_ids))

    def _status_of(self, device_id: int) -> DeviceStatus:
        latest = self._latest.get(device_id)
        return DeviceStatus(
            device_id,
            self._status.get(device_id, "offline"),
            self._last_update.get(device_id),
            latest.id if latest is not None else 0,
        )

    def _sizes(self) -> dict[str, int]:
        return {
            "latest positions": sum(position is not None for position in self._latest.values()),
            "devices online": sum(status == "online" for status in self._status.values()),
            "last updates": len(self._last_update),
            "last updates not saved yet": len(self._unsaved),
        }

    def _when_loaded(self, device_ids: tuple[int, ...], answer: Callable[[], object]) -> object:
        """Answer at once if the latest positions of the devices are in memory, else after reading them."""
        is_loaded = self._latest.keys() >= set(device_ids)
        return answer() if is_loaded else self._load_then(device_ids, answer)

    async def _load_then(self, device_ids: tuple[int, ...], answer: Callable[[], object]) -> object:
        try:
            await self._load(device_ids)
        except StorageError as error:
            return Failure(error)
        return answer()

    def _statuses_of(self, asked: messages.GetDeviceStatuses) -> dict[int, DeviceStatus]:
        found = {device_id: self._status_of(device_id) for device_id in asked.device_ids}
        statuses = self._cluster_statuses if asked.here else None
        return found if statuses is None else statuses.only_here(found)

    def _known_latest(self, device_ids: tuple[int, ...]) -> list[Position]:
        found = map(self._latest.get, device_ids)
        return [position for position in found if position is not None]

    async def _load(self, device_ids: tuple[int, ...]) -> None:
        # Batches stored meanwhile wait in the mailbox and are applied right after, so none is missed.
        missing = [device_id for device_id in device_ids if device_id not in self._latest]
        loaded = {
            position.device_id: position for position in await positions.latest(self._database, missing)
        }
        for device_id in missing:
            self._latest[device_id] = loaded.get(device_id)

    def _apply(self, changes: Sequence[Change]) -> object:
        reloaded: list[int] = []
        for change in changes:
            match change:
                case DeviceChanged(operation="deleted"):
                    self._latest.pop(change.id, None)
                    self._status.pop(change.id, None)
                    self._last_update.pop(change.id, None)
                    self._unsaved.discard(change.id)
                    if self._cluster_statuses is not None:
                        self._cluster_statuses.forget(change.id)
                case PositionsDeleted():
                    self._latest.pop(change.device_id, None)
                    reloaded.append(change.device_id)
                case _:
                    pass
        return self._publish_latest(tuple(reloaded)) if reloaded else None

    async def _publish_latest(self, device_ids: tuple[int, ...]) -> None:
        """Load the newest positions that remain and publish them as the latest."""
        try:
            await self._load(device_ids)
        except StorageError as error:
            # The next request loads them; WebSocket clients get the next stored position.
            self.context.log.warning("cannot load the latest positions: %s", error)
            return
        self.context.system.topic(topics.LATEST_POSITIONS).publish(tuple(self._known_latest(device_ids)))
        self._publish_statuses(device_ids)

    async def _save(self) -> None:
        unsaved = {
            device_id: self._last_update[device_id]
            for device_id in self._unsaved
            if device_id in self._last_update
        }
        if not unsaved:
            return
        try:
            await device_states.save(self._database, unsaved)
        except StorageError as error:
            self.context.log.warning("cannot save the last updates, will retry: %s", error)
        else:
            self._unsaved.difference_update(unsaved)
