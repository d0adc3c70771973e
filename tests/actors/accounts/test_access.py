"""Who may see which device, compared with SQL on random histories."""

import random

import pytest
import trio

from motorpool.actors.accounts.access import Access
from motorpool.actors.change_feed import publish_changes
from motorpool.actors.devices.directory import Directory
from motorpool.actors.messages.access import ACCESS, GetMembers, GetViewers, GetVisible, MaySee
from motorpool.actors.messages.changes import (
    DeviceChanged,
    EverythingChanged,
    GroupChanged,
    LinkChanged,
    UserChanged,
)
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.runtime import ChildSpec
from motorpool.storage.accounts import access, links, users
from motorpool.storage.database.conditions import all_of
from motorpool.storage.devices import devices, groups
from motorpool.storage.errors import Conflict, NotFound, StatementRejected, StorageUnavailable
from motorpool.storage.records import Device, Group, User


@pytest.fixture
def running_system(database, neighbours, tree):
    return lambda: tree(
        ChildSpec(kind=ACCESS, factory=lambda: Access(database)),
        ChildSpec(kind=DIRECTORY, factory=lambda: Directory(database, {}, None)),
        neighbours.devices_spec,
    )


async def visible_by_sql(database, user_id):
    return set(await access.device_ids(database, user_id))


async def assert_exact(database, system, *, user_ids, device_ids, group_ids):
    ref = system.ref(ACCESS)
    existing = {row[0] for row in await database.fetch("select id from devices")}
    seen = {}
    for user_id in user_ids:
        seen[user_id] = await visible_by_sql(database, user_id)
        assert await ref.ask(GetVisible(user_id)) == seen[user_id]
    for device_id in device_ids:
        viewers = {user_id for user_id in user_ids if device_id in seen[user_id]}
        assert await ref.ask(GetViewers(device_id)) == viewers
        assert await ref.ask(MaySee(0, device_id)) is (device_id in existing)
        for user_id in user_ids:
            assert await ref.ask(MaySee(user_id, device_id)) is (user_id in viewers)
    for group_id in group_ids:
        held = await devices.TABLE.ids(database, devices_in(group_id))
        assert await ref.ask(GetMembers(group_id)) == set(held)


def devices_in(group_id):
    from motorpool.storage.database.tables import ListQuery

    return ListQuery(conditions=(all_of(access.devices_of_group(group_id)),))


class History:
    """Random changes by several concurrent writers, each published after its commit."""

    def __init__(self, database, system, seed):
        self.database, self.system, self.random = database, system, random.Random(seed)
        self.user_ids, self.device_ids, self.group_ids = [], [], []

    async def populate(self):
        for number in range(4):
            user = await users.TABLE.insert(self.database, User(email=f"u{number}@example.org"))
            self.user_ids.append(user.id)
        for number in range(6):
            group = await groups.TABLE.insert(self.database, Group(name=str(number)))
            self.group_ids.append(group.id)
        for number in range(12):
            await self.make_device(number)

    async def make_device(self, number):
        row = Device(unique_id=f"d{number}", group_id=self.random.choice([0, *self.group_ids]))
        device = await devices.TABLE.insert(self.database, row)
        self.device_ids.append(device.id)
        await publish_changes(self.system, DeviceChanged(device.id, "created"))

    async def write(self, count):
        steps = (
            (self.link_device, 5),
            (self.link_group, 5),
            (self.move_device, 4),
            (self.move_group, 4),
            (self.delete_device, 1),
            (self.delete_group, 1),
            (self.delete_user, 1),
        )
        for _ in range(count):
            step = self.random.choices([s for s, _ in steps], [w for _, w in steps])[0]
            # What another writer has deleted meanwhile is a refusal as in the API.
            try:
                await step()
            except (Conflict, NotFound, StatementRejected):
                continue

    async def link_device(self):
        user_id, device_id = self.random.choice(self.user_ids), self.random.choice(self.device_ids)
        change = self.random.choice([links.add_many, links.add_many, links.remove_many])
        try:
            await change(self.database, links.USER_DEVICE, [(user_id, device_id)])
        finally:
            await publish_changes(self.system, LinkChanged("user", user_id, "device", device_id))

    async def link_group(self):
        user_id, group_id = self.random.choice(self.user_ids), self.random.choice(self.group_ids)
        change = self.random.choice([links.add_many, links.add_many, links.remove_many])
        try:
            await change(self.database, links.USER_GROUP, [(user_id, group_id)])
        finally:
            await publish_changes(self.system, LinkChanged("user", user_id, "group", group_id))

    async def move_device(self):
        device_id, group_id = self.random.choice(self.device_ids), self.random.choice([0, *self.group_ids])
        sql = "update devices set group_id = nullif($2, 0) where id = $1"
        try:
            await self.database.execute(sql, device_id, group_id)
        finally:
            await publish_changes(self.system, DeviceChanged(device_id, "updated", ("group_id",)))

    async def move_group(self):
        group_id, above = self.random.choice(self.group_ids), self.random.choice([0, *self.group_ids])
        if above and group_id in await groups.with_ancestors(self.database, above):
            return
        sql = "update groups set group_id = nullif($2, 0) where id = $1"
        try:
            await self.database.execute(sql, group_id, above)
        finally:
            await publish_changes(self.system, GroupChanged(group_id, "updated", ("group_id",)))

    async def delete_device(self):
        device_id = self.random.choice(self.device_ids)
        await devices.TABLE.delete(self.database, device_id)
        await publish_changes(self.system, DeviceChanged(device_id, "deleted"))

    async def delete_group(self):
        group_id = self.random.choice(self.group_ids)
        await groups.TABLE.delete(self.database, group_id)
        await publish_changes(self.system, GroupChanged(group_id, "deleted"))

    async def delete_user(self):
        user_id = self.random.choice(self.user_ids)
        await users.TABLE.delete(self.database, user_id)
        await publish_changes(self.system, UserChanged(user_id, "deleted"))


async def test_after_any_history_memory_agrees_with_the_tables(database, running_system, seed):
    async with running_system() as system:
        history = History(database, system, seed)
        await history.populate()
        every = {
            "user_ids": history.user_ids,
            "device_ids": history.device_ids,
            "group_ids": history.group_ids,
        }
        await assert_exact(database, system, **every)
        for _ in range(4):
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(history.write, 6)
            await assert_exact(database, system, **every)


async def test_each_change_takes_effect_with_its_publication(database, running_system):
    async with running_system() as system:
        user = await users.TABLE.insert(database, User(email="a@example.org"))
        device = await devices.TABLE.insert(database, Device(unique_id="1"))
        ref = system.ref(ACCESS)
        assert not await ref.ask(MaySee(user.id, device.id))
        await links.add(database, links.USER_DEVICE, user.id, device.id)
        await publish_changes(system, LinkChanged("user", user.id, "device", device.id))
        assert await ref.ask(MaySee(user.id, device.id))
        await links.remove_many(database, links.USER_DEVICE, [(user.id, device.id)])
        assert await ref.ask(MaySee(user.id, device.id))
        await publish_changes(system, EverythingChanged())
        assert not await ref.ask(MaySee(user.id, device.id))


async def test_a_change_drops_only_the_sets_of_the_users_it_concerns(database, running_system):
    async with running_system() as system:
        ref = system.ref(ACCESS)
        ann, ben, eve = [
            (await users.TABLE.insert(database, User(email=f"{name}@example.org"))).id
            for name in ("ann", "ben", "eve")
        ]
        above = (await groups.TABLE.insert(database, Group(name="above"))).id
        below = (await groups.TABLE.insert(database, Group(name="below", group_id=above))).id
        hers = (await devices.TABLE.insert(database, Device(unique_id="1"))).id
        his = (await devices.TABLE.insert(database, Device(unique_id="2", group_id=below))).id
        await links.add(database, links.USER_DEVICE, ann, hers)
        await links.add(database, links.USER_GROUP, ben, above)
        known = {user: await ref.ask(GetVisible(user)) for user in (ann, ben, eve)}
        assert known == {ann: {hers}, ben: {his}, eve: set()}

        async def recomputed(*changes):
            """The users whose set is another object after the changes."""
            await publish_changes(system, *changes)
            now = {user: await ref.ask(GetVisible(user)) for user in (ann, ben, eve)}
            found = {user for user in now if now[user] is not known[user]}
            known.update(now)
            return found

        assert (
            await recomputed(DeviceChanged(his, "updated", ("name",)), UserChanged(ann, "updated")) == set()
        )
        await links.add(database, links.USER_DEVICE, eve, hers)
        assert await recomputed(LinkChanged("user", eve, "device", hers)) == {ann, eve}
        await database.execute("update groups set group_id = null where id = $1", below)
        assert await recomputed(GroupChanged(below, "updated", ("group_id",))) == {ben}
        await links.add(database, links.USER_GROUP, eve, below)
        assert await recomputed(LinkChanged("user", eve, "group", below)) == {eve}
        await devices.TABLE.delete(database, hers)
        assert await recomputed(DeviceChanged(hers, "deleted")) == {ann, eve}
        assert known == {ann: set(), ben: set(), eve: {his}}


async def test_without_the_database_questions_fail(database, running_system, outage):
    user = await users.TABLE.insert(database, User(email="a@example.org"))
    device = await devices.TABLE.insert(database, Device(unique_id="1"))
    await links.add(database, links.USER_DEVICE, user.id, device.id)
    async with running_system() as system:
        ref = system.ref(ACCESS)
        with outage(), pytest.raises(StorageUnavailable):
            await ref.ask(MaySee(user.id, device.id))
        assert await ref.ask(MaySee(user.id, device.id))
        await links.remove_many(database, links.USER_DEVICE, [(user.id, device.id)])
        with outage():
            await publish_changes(system, LinkChanged("user", user.id, "device", device.id))
            with pytest.raises(StorageUnavailable):
                await ref.ask(MaySee(user.id, device.id))
        assert not await ref.ask(MaySee(user.id, device.id))
