"""Who may see which device, in memory: the links of users, devices and groups
(docs/permissions.md#access-to-devices).

What changes is told after its commit, by name; the rows it names are read again before the teller goes on.
So an answer is never older than the last change that was told, whatever the order of two commits. Where the
rows cannot be read, everything is forgotten and read at the next question.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar, assert_never

import msgspec

from motorpool.actors.devices.directory import DIRECTORY, DevicesEdited
from motorpool.actors.messages.topics import ACCESS_CHANGES, AccessChanged
from motorpool.runtime import Actor, ActorError, ChildSpec, Failure, Kind, Request, System
from motorpool.storage import access
from motorpool.storage.database import Database
from motorpool.storage.errors import StorageError

__all__ = [
    "ACCESS",
    "Access",
    "AccessMessage",
    "GetMembers",
    "GetViewers",
    "GetVisible",
    "MaySee",
    "Reload",
    "access_spec",
    "tell_changed",
    "tell_edited",
]

T = TypeVar("T")

LEVELS = 3
"""A linked group, its children and its grandchildren."""
RELOAD_SECONDS = 30.0
"""Loading the links of a hundred thousand devices takes well under this."""


class MaySee(msgspec.Struct, Request[bool], frozen=True, gc=False):
    """Whether the device exists and the user sees it."""

    user_id: int
    """0 is an administrator: he sees all there are."""
    device_id: int


class GetVisible(msgspec.Struct, Request[frozenset[int]], frozen=True, gc=False):
    """The devices that a user sees by his own links and groups."""

    user_id: int


class GetViewers(msgspec.Struct, Request[frozenset[int]], frozen=True, gc=False):
    """The users who see a device by links."""

    device_id: int


class GetMembers(msgspec.Struct, Request[frozenset[int]], frozen=True, gc=False):
    """The devices in a group or below it."""

    group_id: int


class Reload(msgspec.Struct, Request[frozenset[int]], frozen=True, gc=False):
    """Read these again, or where none is named everything; answered when it is done.

    The answer is those of the devices that are gone.
    """

    user_ids: tuple[int, ...] = ()
    device_ids: tuple[int, ...] = ()
    group_ids: tuple[int, ...] = ()


AccessMessage = MaySee | GetVisible | GetViewers | GetMembers | Reload
ACCESS: Kind[None, AccessMessage] = Kind("access")


class Access(Actor[AccessMessage]):
    """Answers from memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loaded = False
        self._forget()

    def handle(self, message: AccessMessage) -> object:
        """One message; what is in memory is answered without waiting."""
        match message:
            case MaySee():
                return self._answer(lambda: self._may_see(message.user_id, message.device_id))
            case GetVisible():
                return self._answer(lambda: self._get_visible(message.user_id))
            case GetViewers():
                return self._answer(lambda: self._get_viewers(message.device_id))
            case GetMembers():
                return self._answer(lambda: self._get_members(message.group_id))
            case Reload():
                return self._reload(message)
            case _:
                assert_never(message)

    def _answer(self, find: Callable[[], T]) -> object:
        return find() if self._loaded else self._load_then(find)

    async def _load_then(self, find: Callable[[], T]) -> T | Failure:
        try:
            await self._load()
        except StorageError as error:
            return Failure(error)
        return find()

    def _forget(self) -> None:
        self._group_of: dict[int, int] = {}
        """Device -> its group, 0 without one: every device there is."""
        self._parent: dict[int, int] = {}
        """Group -> the group above it, 0 without one: every group there is."""
        self._members: dict[int, set[int]] = {}
        self._children: dict[int, set[int]] = {}
        self._devices_of_user: dict[int, set[int]] = {}
        self._users_of_device: dict[int, set[int]] = {}
        self._groups_of_user: dict[int, set[int]] = {}
        self._users_of_group: dict[int, set[int]] = {}
        self._visible: dict[int, frozenset[int]] = {}

    async def _load(self) -> None:
        self._forget()
        links = await access.all_links(self._database)
        self._set_groups(links.groups)
        self._set_devices(links.devices)
        for user_id, device_id in links.user_devices:
            self._devices_of_user.setdefault(user_id, set()).add(device_id)
            self._users_of_device.setdefault(device_id, set()).add(user_id)
        for user_id, group_id in links.user_groups:
            self._groups_of_user.setdefault(user_id, set()).add(group_id)
            self._users_of_group.setdefault(group_id, set()).add(user_id)
        self._loaded = True

    async def _reload(self, changed: Reload) -> frozenset[int]:
        if changed == Reload():
            self._loaded = False
            return frozenset()
        self._visible.clear()
        try:
            if self._loaded:
                await self._reload_named(changed)
            else:
                await self._load()
        except StorageError as error:
            self.context.log.warning("links not read again, forgotten: %s", error)
            self._loaded = False
            return frozenset()
        return frozenset(each for each in changed.device_ids if each not in self._group_of)

    async def _reload_named(self, changed: Reload) -> None:
        # Devices of a group that is gone have lost it, and so have the groups below.
        group_ids = {*changed.group_ids}.union(
            *(self._children.get(group_id, ()) for group_id in changed.group_ids)
        )
        device_ids = {*changed.device_ids}.union(
            *(self._members.get(group_id, ()) for group_id in changed.group_ids)
        )
        await self._reload_groups(group_ids)
        await self._reload_devices(device_ids)
        await self._reload_users(changed.user_ids)

    async def _reload_groups(self, group_ids: Iterable[int]) -> None:
        wanted = tuple(group_ids)
        if not wanted:
            return
        links = await access.links_of_groups(self._database, wanted)
        for group_id in wanted:
            parent = self._parent.pop(group_id, 0)
            self._children.get(parent, set()).discard(group_id)
        self._set_groups(links.groups)
        _replace(self._users_of_group, self._groups_of_user, wanted, ((g, u) for u, g in links.user_groups))

    async def _reload_devices(self, device_ids: Iterable[int]) -> None:
        wanted = tuple(device_ids)
        if not wanted:
            return
        links = await access.links_of_devices(self._database, wanted)
        for device_id in wanted:
            group_id = self._group_of.pop(device_id, 0)
            self._members.get(group_id, set()).discard(device_id)
        self._set_devices(links.devices)
        _replace(
            self._users_of_device, self._devices_of_user, wanted, ((d, u) for u, d in links.user_devices)
        )

    async def _reload_users(self, user_ids: Iterable[int]) -> None:
        wanted = tuple(user_ids)
        if not wanted:
            return
        links = await access.links_of_users(self._database, wanted)
        _replace(self._groups_of_user, self._users_of_group, wanted, links.user_groups)
        _replace(self._devices_of_user, self._users_of_device, wanted, links.user_devices)

    def _set_groups(self, rows: Iterable[tuple[int, int]]) -> None:
        for group_id, parent in rows:
            self._parent[group_id] = parent
            if parent:
                self._children.setdefault(parent, set()).add(group_id)

    def _set_devices(self, rows: Iterable[tuple[int, int]]) -> None:
        for device_id, group_id in rows:
            self._group_of[device_id] = group_id
            if group_id:
                self._members.setdefault(group_id, set()).add(device_id)

    def _may_see(self, user_id: int, device_id: int) -> bool:
        group_id = self._group_of.get(device_id)
        if group_id is None:
            return False
        if not user_id or user_id in self._users_of_device.get(device_id, ()):
            return True
        linked = self._groups_of_user.get(user_id)
        return linked is not None and not linked.isdisjoint(self._above(group_id))

    def _above(self, group_id: int) -> list[int]:
        """The group and those above it from which it is still seen."""
        chain: list[int] = []
        while group_id and len(chain) < LEVELS:
            chain.append(group_id)
            group_id = self._parent.get(group_id, 0)
        return chain

    def _get_members(self, group_id: int) -> frozenset[int]:
        found: set[int] = set()
        level = {group_id}
        for _ in range(LEVELS):
            found.update(*(self._members.get(each, ()) for each in level))
            level = set().union(*(self._children.get(each, ()) for each in level))
        return frozenset(found)

    def _get_visible(self, user_id: int) -> frozenset[int]:
        known = self._visible.get(user_id)
        if known is None:
            known = frozenset(self._devices_of_user.get(user_id, ())).union(
                *(self._get_members(group_id) for group_id in self._groups_of_user.get(user_id, ()))
            )
            self._visible[user_id] = known
        return known

    def _get_viewers(self, device_id: int) -> frozenset[int]:
        group_id = self._group_of.get(device_id)
        if group_id is None:
            return frozenset()
        return frozenset(self._users_of_device.get(device_id, ())).union(
            *(self._users_of_group.get(each, ()) for each in self._above(group_id))
        )


def _replace(
    there: dict[int, set[int]],
    back: dict[int, set[int]],
    keys: Iterable[int],
    pairs: Iterable[tuple[int, int]],
) -> None:
    """Put new pairs in place of all that the keys had, in both directions."""
    for key in keys:
        for other in there.pop(key, ()):
            left = back.get(other)
            if left is not None:
                left.discard(key)
                if not left:
                    del back[other]
    for key, other in pairs:
        there.setdefault(key, set()).add(other)
        back.setdefault(other, set()).add(key)


async def tell_changed(
    system: System,
    *,
    user_ids: tuple[int, ...] = (),
    device_ids: tuple[int, ...] = (),
    group_ids: tuple[int, ...] = (),
) -> None:
    """After a commit: who asks from now on hears of it; device actors and open sockets are told.

    Without names it is not known what was changed, so everything is read again.
    `user_ids`: their rows or links changed. `device_ids`: their rows or the links of users to them changed.
    `group_ids`: their rows changed or are gone.
    """
    gone: frozenset[int] = frozenset()
    # Where it has crashed or the server stops: a new one reads everything.
    with suppress(ActorError):
        gone = await system.ref(ACCESS).ask(Reload(user_ids, device_ids, group_ids), seconds=RELOAD_SECONDS)
    if device_ids:
        await system.ref(DIRECTORY).tell(DevicesEdited(device_ids, gone))
    system.topic(ACCESS_CHANGES).publish(AccessChanged(user_ids, device_ids, group_ids))


async def tell_edited(system: System, device_id: int) -> None:
    """After the commit of a change to a device's row that is no change of its group."""
    await system.ref(DIRECTORY).tell(DevicesEdited((device_id,)))
    system.topic(ACCESS_CHANGES).publish(AccessChanged(device_ids=(device_id,)))


def access_spec(database: Database) -> ChildSpec[AccessMessage]:
    """Its place in the tree."""
    return ChildSpec(kind=ACCESS, factory=lambda: Access(database), resident=False, mailbox_size=10_000)
