"""Identifies the devices of connections (docs/decisions/0021), and registers unknown ones if that is enabled.

After an outage all terminals of a fleet log in at once: their look-ups share statements, as the registrations
of unknown ones share a transaction and a publication.
"""

import itertools
from collections.abc import Sequence

import msgspec
import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.gateway.settings import RegisterSettings
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.actors.words.printable import unfit
from motorpool.actors.work.batching import BatchingActor
from motorpool.runtime import Kind, Request
from motorpool.storage.accounts import users
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.records import Device


class Identify(msgspec.Struct, Request[Device | None], frozen=True, gc=False):
    """Return the device with one of these identities, preferring the first; None for an unknown one.

    The ask raises StorageError while devices cannot be looked up.
    """

    unique_ids: tuple[str, ...]
    """From the form that the device sent to the shortest; a device that is registered gets the last."""


IDENTIFICATION: Kind[None, Identify] = Kind("identification")


class Identification(BatchingActor[Identify, Device | None]):
    """Answers the logins of all connections. Each connection has one at a time."""

    def __init__(self, database: Database, settings: RegisterSettings) -> None:
        super().__init__()
        self._database = database
        self._settings = settings
        self._is_full = False
        """Whether the last registration was refused because of `max_devices`."""

    async def answer_all(self, requests: Sequence[Identify]) -> list[Device | None]:
        """Look up all, and register those that are unknown if that is enabled."""
        known = await self._identify([request.unique_ids for request in requests])
        return [devices.first_known(known, request.unique_ids) for request in requests]

    async def _identify(self, logins: Sequence[tuple[str, ...]]) -> dict[str, Device]:
        known = await devices.all_by_unique_ids(self._database, list(itertools.chain(*logins)))
        if not self._settings.unknown:
            return known
        unknown = [
            unique_ids
            for unique_ids in logins
            if devices.first_known(known, unique_ids) is None and not unfit(unique_ids[-1], one_line=True)
        ]
        if unknown:
            known |= await self._register(unknown)
        return known

    async def _register(self, logins: Sequence[tuple[str, ...]]) -> dict[str, Device]:
        """Create devices named like their identities and linked to the oldest administrator.

        Another server, or a user, may have created some of them since: those are looked up again.
        """
        async with self._database.transaction() as transaction:
            administrator = await users.oldest_administrator(transaction)
            if administrator is None:
                return {}
            room = self._settings.max_devices - await devices.TABLE.count(transaction)
            self._log_limit(is_full=room < len(logins))
            registered = await devices.register(
                transaction, [unique_ids[-1] for unique_ids in logins[: max(0, room)]], administrator.id
            )
        if registered:
            with trio.CancelScope(shield=True):
                await publish_changes(
                    self.context.system, *(DeviceChanged(device.id, "created") for device in registered)
                )
        found = {device.unique_id: device for device in registered}
        missing = [each for unique_ids in logins if unique_ids[-1] not in found for each in unique_ids]
        return found | (await devices.all_by_unique_ids(self._database, missing) if missing else {})

    def _log_limit(self, *, is_full: bool) -> None:
        if is_full and not self._is_full:
            self.context.log.warning(
                "no unknown device is registered any more: register.max_devices is %d",
                self._settings.max_devices,
            )
        self._is_full = is_full
