"""Who is notified of what: compared with a model in memory, over random links."""

import random
from datetime import UTC, datetime, timedelta

from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import devices, groups
from motorpool.storage.events import events, notifications
from motorpool.storage.records import Device, Event, Group, Notification, User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
TYPES = ("alarm", "deviceStopped", "deviceMoving")


class Fleet:
    """The rows, and the links as plain sets."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.parent = {}
        self.group_of = {}
        self.links = {}

    async def make(self, database):
        chance = self.random
        for number in range(8):
            above = chance.choice([0, *self.parent])
            row = await groups.TABLE.insert(database, Group(name=str(number), group_id=above))
            self.parent[row.id] = above
        for number in range(10):
            group_id = chance.choice([0, *self.parent])
            row = await devices.TABLE.insert(
                database, Device(name="d", unique_id=str(number), group_id=group_id)
            )
            self.group_of[row.id] = group_id
        self.users = {}
        for number in range(10):
            ends = chance.choice([None, None, NOW, NOW + timedelta(seconds=1)])
            row = User(name="u", email=f"{number}@x", disabled=chance.random() < 0.1, expiration_time=ends)
            row = await users.TABLE.insert(database, row)
            self.users[row.id] = not row.disabled and ends != NOW
        self.notifications = {}
        for _ in range(12):
            row = Notification(type=chance.choice(TYPES), always=chance.random() < 0.4)
            row = await plain_tables.NOTIFICATIONS.insert(database, row)
            self.notifications[row.id] = row
        for kind, owners, owned, count in (
            (links.USER_DEVICE, self.users, self.group_of, 8),
            (links.USER_GROUP, self.users, self.parent, 8),
            (links.USER_NOTIFICATION, self.users, self.notifications, 40),
            (links.DEVICE_NOTIFICATION, self.group_of, self.notifications, 12),
            (links.GROUP_NOTIFICATION, self.parent, self.notifications, 8),
        ):
            pairs = {(chance.choice([*owners]), chance.choice([*owned])) for _ in range(count)}
            self.links[kind.keys] = pairs
            await links.add_many(database, kind, pairs)

    def above(self, device_id):
        """The device's group and all above it, nearest first."""
        found, group_id = [], self.group_of[device_id]
        while group_id:
            found.append(group_id)
            group_id = self.parent[group_id]
        return found

    def sees(self, user_id, device_id):
        return (user_id, device_id) in self.links["userId", "deviceId"] or any(
            (user_id, group_id) in self.links["userId", "groupId"] for group_id in self.above(device_id)[:3]
        )

    def concerns(self, notification_id, device_id):
        return (
            self.notifications[notification_id].always
            or (device_id, notification_id) in self.links["deviceId", "notificationId"]
            or any(
                (group_id, notification_id) in self.links["groupId", "notificationId"]
                for group_id in self.above(device_id)
            )
        )

    def matches(self, event):
        return [
            (event.id, notification_id, user_id)
            for notification_id, row in sorted(self.notifications.items())
            for user_id, may_log_in in sorted(self.users.items())
            if row.type == event.type
            and may_log_in
            and (user_id, notification_id) in self.links["userId", "notificationId"]
            and self.sees(user_id, event.device_id)
            and self.concerns(notification_id, event.device_id)
        ]


async def test_matches_are_those_of_the_model(database, seed):
    fleet = Fleet(seed)
    await fleet.make(database)
    all_events = [
        Event(id=number, type=kind, device_id=device_id)
        for number, (kind, device_id) in enumerate(
            ((kind, device_id) for kind in TYPES for device_id in fleet.group_of), 1
        )
    ]
    expected = [match for event in all_events for match in fleet.matches(event)]
    found = await notifications.find_matches(database, all_events, now=NOW)
    assert [(each.event_id, each.notification_id, each.user_id) for each in found] == expected
    assert expected
    cut = await notifications.find_matches(database, all_events, now=NOW, limit=3)
    assert cut == found[:3]


async def test_deep_groups_pass_notifications_on_although_users_do_not_see_so_far(database):
    top = await groups.TABLE.insert(database, Group(name="1"))
    group_id = top.id
    for _ in range(4):
        group_id = (await groups.TABLE.insert(database, Group(name="below", group_id=group_id))).id
    device = await devices.TABLE.insert(database, Device(name="d", unique_id="1", group_id=group_id))
    user = await users.TABLE.insert(database, User(name="u", email="u@x"))
    row = await plain_tables.NOTIFICATIONS.insert(database, Notification(type="alarm"))
    await links.add(database, links.USER_NOTIFICATION, user.id, row.id)
    await links.add(database, links.GROUP_NOTIFICATION, top.id, row.id)
    await links.add(database, links.USER_GROUP, user.id, top.id)
    event = Event(id=1, type="alarm", device_id=device.id)
    assert await notifications.find_matches(database, [event], now=NOW) == []
    await links.add(database, links.USER_DEVICE, user.id, device.id)
    assert len(await notifications.find_matches(database, [event], now=NOW)) == 1


async def test_an_event_that_was_deleted_does_not_wait_any_more(database):
    await plain_tables.NOTIFICATIONS.insert(database, Notification(type="alarm"))
    stored = [Event(id=number, type="alarm", event_time=NOW, device_id=1) for number in (1, 2)]
    assert await events.insert_many(database, stored, now=NOW) == 2
    await database.execute("delete from events where id = 1")
    async with database.transaction() as transaction:
        locked = await notifications.lock_unmatched(transaction, 10)
    assert [each.event.id for each in locked] == [2]
    assert await database.fetch_value("select count(*) from unmatched_events") == 1


async def test_only_events_that_anybody_could_be_notified_of_wait(database):
    await plain_tables.NOTIFICATIONS.insert(database, Notification(type="alarm"))
    stored = [Event(id=1, type="deviceStopped", event_time=NOW), Event(id=2, type="alarm", event_time=NOW)]
    assert await events.insert_many(database, stored, now=NOW) == 1
    assert await events.insert_many(database, [Event(id=3, type="alarm", event_time=NOW)]) == 0
    assert await database.fetch_value("select event_id from unmatched_events") == 2
