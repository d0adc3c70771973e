"""Who is notified of what: compared with a model in memory, over random links."""

import random
from datetime import UTC, datetime, timedelta

from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import devices, groups
from motorpool.storage.events import events, notifications
from motorpool.storage.events.notifications import Match
from motorpool.storage.records import Device, Event, Geofence, Group, Notification, User

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

    def matches(self, device_id, kind):
        found = []
        for notification_id, row in sorted(self.notifications.items()):
            user_ids = tuple(
                user_id
                for user_id, may_log_in in sorted(self.users.items())
                if may_log_in
                and (user_id, notification_id) in self.links["userId", "notificationId"]
                and self.sees(user_id, device_id)
            )
            if user_ids and row.type == kind and self.concerns(notification_id, device_id):
                found.append(Match(device_id, kind, notification_id, user_ids))
        return found


async def test_matches_are_those_of_the_model(database, seed):
    fleet = Fleet(seed)
    await fleet.make(database)
    subjects = [(device_id, kind) for device_id in fleet.group_of for kind in TYPES]
    expected = [match for device_id, kind in sorted(subjects) for match in fleet.matches(device_id, kind)]
    assert await notifications.find_matches(database, [*subjects, *subjects], now=NOW) == expected
    assert expected


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
    subject = (device.id, "alarm")
    assert await notifications.find_matches(database, [subject], now=NOW) == []
    await links.add(database, links.USER_DEVICE, user.id, device.id)
    assert len(await notifications.find_matches(database, [subject], now=NOW)) == 1


async def test_only_events_that_anybody_could_be_notified_of_wait(database):
    await plain_tables.NOTIFICATIONS.insert(database, Notification(type="alarm"))
    stored = [Event(id=1, type="deviceStopped", event_time=NOW), Event(id=2, type="alarm", event_time=NOW)]
    assert await events.insert_many(database, stored, now=NOW) == 1
    assert await events.insert_many(database, [Event(id=3, type="alarm", event_time=NOW)]) == 0
    assert await database.fetch_value("select event_id from unmatched_events") == 2


async def test_each_user_of_an_event_has_the_first_zone_that_they_are_linked_to(database):
    people = [(await users.TABLE.insert(database, User(email=f"{n}@x"))).id for n in range(3)]
    zones = [
        (await plain_tables.GEOFENCES.insert(database, Geofence(name=str(n), area="CIRCLE (1 1, 9)"))).id
        for n in range(3)
    ]
    await links.add_many(
        database,
        links.USER_GEOFENCE,
        [(people[0], zone) for zone in zones] + [(people[1], zones[1])],
    )
    found = await notifications.first_seen_zones(
        database,
        {1: [zones[2], zones[0], zones[1]], 2: [zones[0], zones[1]], 3: [zones[2]]},
        {1: people, 2: people, 3: people[1:]},
    )
    assert found == {
        (1, people[0]): zones[2],
        (1, people[1]): zones[1],
        (2, people[0]): zones[0],
        (2, people[1]): zones[1],
    }
    assert await notifications.first_seen_zones(database, {}, {1: people}) == {}
