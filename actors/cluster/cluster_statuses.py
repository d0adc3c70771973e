"""The status of devices as the other servers of a cluster see it (docs/servers.md#watching).

A device counts as online if it is online at any server. Otherwise the status that changed last counts, unless
it came from a server that has since lost the device to another one.
"""

from collections.abc import Mapping, MutableMapping
from datetime import datetime
from typing import NamedTuple

import msgspec

from motorpool.actors.messages.remote import ApplyRemoteUpdates
from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.rules.fold import is_latest
from motorpool.storage.records import Position

ONLINE = "online"


class _Remote(NamedTuple):
    server: int
    status: str


class ClusterStatuses:
    """What this server and the others say of each device; there is none where a server is alone."""

    def __init__(self) -> None:
        self.here: dict[int, str] = {}
        """The status of each device that this server has heard from since it started."""
        self._remote: dict[int, _Remote] = {}
        """Device id -> the server that last had it online, or else last reported a status."""
        self._servers: set[int] = set()
        """Servers in `_remote`, and perhaps others."""
        self._living: frozenset[int] = frozenset()
        self._missing: set[int] = set()
        """Servers that were not in `_living`."""

    def clear(self) -> None:
        """Forget everything."""
        self.here.clear()
        self._remote.clear()
        self._servers.clear()

    def forget(self, device_id: int) -> None:
        """Forget a device that was deleted."""
        self.here.pop(device_id, None)
        self._remote.pop(device_id, None)

    def is_online(self, device_id: int) -> bool:
        """Whether the device is online at another server."""
        remote = self._remote.get(device_id)
        return remote is not None and remote.status == ONLINE

    def set_here(self, device_id: int, status: str) -> str:
        """Note the status at this server; return the one to show."""
        self.here[device_id] = status
        return ONLINE if self.is_online(device_id) else status

    def set_remote(self, device_id: int, server: int, status: str) -> str | None:
        """Note the status at another server; return the one to show, None if that has not changed."""
        known = self._remote.get(device_id)
        if known is not None and status != ONLINE and known.status == ONLINE and known.server != server:
            # It has lost the device to a server that has it.
            return None
        if known is None or known.server != server or known.status != status:
            self._servers.add(server)
            self._remote[device_id] = _Remote(server, status)
        return ONLINE if self.here.get(device_id) == ONLINE else status

    def only_here(self, statuses: Mapping[int, DeviceStatus]) -> dict[int, DeviceStatus]:
        """Return these with the status at this server."""
        return {
            device_id: msgspec.structs.replace(status, status=self.here.get(device_id, "offline"))
            for device_id, status in statuses.items()
        }

    def keep(self, servers: frozenset[int]) -> dict[int, str]:
        """Forget what servers said that are not among those that live, `servers`.

        Return the status to show of each of their devices. A server that never lived, as far as is known, is
        forgotten when that is found for the second time.
        """
        missing = {server for server in self._servers if server not in servers}
        # A server that was not there before may have joined since `servers` were read.
        gone = missing & (self._living | self._missing)
        self._living, self._missing = servers, missing - gone
        if not gone:
            return {}
        self._servers -= gone
        lost = [device_id for device_id, remote in self._remote.items() if remote.server in gone]
        for device_id in lost:
            del self._remote[device_id]
        return {device_id: self.here.get(device_id, "offline") for device_id in lost}


def apply_updates(
    message: ApplyRemoteUpdates,
    cluster_statuses: ClusterStatuses,
    shown: MutableMapping[int, str],
    last_update: MutableMapping[int, datetime],
    latest: MutableMapping[int, Position | None],
) -> tuple[Position, ...]:
    """Apply updates of another server to these tables; return the positions that are now the latest.

    Neither a last update nor a latest position is replaced by an earlier one, and a latest position only
    where the table has the device.
    """
    found: list[Position] = []
    for update in message.updates:
        device_id, position, moment = update.device_id, update.position, update.last_update
        if update.status is not None:
            status = cluster_statuses.set_remote(device_id, message.server, update.status)
            if status is not None:
                shown[device_id] = status
        if position is not None:
            moment = position.server_time if moment is None else max(moment, position.server_time)
            if device_id in latest and _replaces(position, latest[device_id]):
                latest[device_id] = position
                found.append(position)
        known = last_update.get(device_id)
        if moment is not None and (known is None or moment > known):
            last_update[device_id] = moment
    return tuple(found)


def _replaces(position: Position, latest: Position | None) -> bool:
    """As `is_latest`, where positions may arrive in either order."""
    if latest is not None and position.fix_time == latest.fix_time and position.id < latest.id:
        return False
    return is_latest(position, latest)
