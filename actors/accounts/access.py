"""Caches in memory which users may see which devices (docs/permissions.md#access-to-devices).

The rule mirrors the SQL of `storage/accounts/access.py`; `tests/actors/accounts/test_access.py` compares the
two on random histories.

After each change the affected rows are read again before the writer gets its reply, so a reply is never older
than the last published change, whatever the order of the commits. If they cannot be read, the cache is
discarded and loaded again for the next request.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar, assert_never

from motorpool.actors.accounts.access_graph import AccessGraph
from motorpool.actors.messages.access import (
    AccessMessage,
    CoversGuest,
    GetMembers,
    GetViewers,
    GetVisible,
    MaySee,
)
from motorpool.actors.messages.changes import (
    ApplyChanges,
    Change,
    DeviceChanged,
    EverythingChanged,
    GroupChanged,
    LinkChanged,
    UserChanged,
)
from motorpool.runtime import Actor, Failure
from motorpool.storage.accounts import access
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

T = TypeVar("T")


class Access(Actor[AccessMessage]):
    """Answers requests from an `AccessGraph`, which the first request loads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._graph: AccessGraph | None = None
        """None until it is loaded, and after a change that could not be read."""

    def handle(self, message: AccessMessage) -> object:
        """Answer without waiting once the graph is loaded."""
        match message:
            case MaySee():
                return self._answer(lambda graph: graph.may_see(message.user_id, message.device_id))
            case CoversGuest():
                return self._answer(lambda graph: graph.covers(message.user_id, message.guest_id))
            case GetVisible():
                return self._answer(lambda graph: graph.visible_devices(message.user_id))
            case GetViewers():
                return self._answer(lambda graph: graph.viewers(message.device_id))
            case GetMembers():
                return self._answer(lambda graph: graph.devices_below(message.group_id))
            case ApplyChanges():
                return self._apply(message.changes)
            case _:
                assert_never(message)

    def _answer(self, find: Callable[[AccessGraph], T]) -> object:
        return find(self._graph) if self._graph is not None else self._load_then(find)

    async def _load_then(self, find: Callable[[AccessGraph], T]) -> T | Failure:
        try:
            self._graph = AccessGraph(await access.all_links(self._database))
        except StorageError as error:
            return Failure(error)
        return find(self._graph)

    def _apply(self, changes: Sequence[Change]) -> object:
        if self._graph is None:
            # The next request loads rows that are newer than these changes.
            return None
        group_ids: set[int] = set()
        device_ids: set[int] = set()
        user_ids: set[int] = set()
        for change in changes:
            match change:
                case EverythingChanged():
                    self._graph = None
                    return None
                case GroupChanged() if change.affects_visibility:
                    group_ids.add(change.id)
                case DeviceChanged() if change.affects_visibility:
                    device_ids.add(change.id)
                case LinkChanged(owner="user", property="device"):
                    device_ids.add(change.property_id)
                case LinkChanged(owner="user", property="group"):
                    user_ids.add(change.owner_id)
                case UserChanged(operation="deleted"):
                    user_ids.add(change.id)
                case _:
                    pass
        if not group_ids and not device_ids and not user_ids:
            return None
        # A deleted group takes itself out of the rows of the groups and devices below it.
        device_ids |= self._graph.direct_members(group_ids)
        group_ids |= self._graph.child_groups(group_ids)
        return self._read_again(self._graph, list(group_ids), list(device_ids), list(user_ids))

    async def _read_again(
        self, graph: AccessGraph, group_ids: list[int], device_ids: list[int], user_ids: list[int]
    ) -> None:
        try:
            if group_ids:
                graph.replace_groups(group_ids, await access.links_of_groups(self._database, group_ids))
            if device_ids:
                graph.replace_devices(device_ids, await access.links_of_devices(self._database, device_ids))
            if user_ids:
                graph.replace_users(user_ids, await access.links_of_users(self._database, user_ids))
        except StorageError as error:
            self.context.log.warning("links not read again, discarding the cache: %s", error)
            self._graph = None
