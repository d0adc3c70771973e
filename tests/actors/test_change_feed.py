"""The change feed: facts as values, the order of followers, and followers that are gone or fail."""

import msgspec
import pytest
import trio
from tests.runtime.actor_testing import Probe, open_tree

from motorpool.actors import change_feed
from motorpool.actors.change_feed import FOLLOWERS, publish_changes
from motorpool.actors.messages.access import ACCESS
from motorpool.actors.messages.changes import (
    CHANGES,
    COMMITTED_CHANGES,
    ApplyChanges,
    AttributeChanged,
    CalendarChanged,
    Change,
    CompanyChanged,
    DeviceChanged,
    DeviceMoved,
    DriverChanged,
    DutyReleased,
    EverythingChanged,
    GeofenceChanged,
    GroupChanged,
    LinkChanged,
    MaintenanceChanged,
    NotificationChanged,
    PositionsDeleted,
    QueueFilled,
    ScheduleChanged,
    ScheduledReportChanged,
    ServerChanged,
    ServerEnded,
    SessionEnded,
    SettingsChanged,
    TicketChanged,
    TicketPriorityChanged,
    TokenRevoked,
    UserChanged,
    changed_fields,
)
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.actors.messages.homes import HOMES
from motorpool.actors.messages.rule_cache import RULE_CACHE
from motorpool.actors.messages.scheduling import REPORT_TIMETABLE, TIMETABLE
from motorpool.actors.messages.uplink import DEVICE, GetCommandTypes
from motorpool.runtime import ChildSpec, DynamicSpec
from motorpool.storage.records import Device

EVERY_FACT = (
    DeviceChanged(1, "updated", ("name", "attributes.a")),
    GroupChanged(2, "created"),
    UserChanged(3, "deleted"),
    CalendarChanged(4, "updated", ("data",)),
    ScheduleChanged(5, "updated"),
    GeofenceChanged(10, "updated", ("area",)),
    AttributeChanged(11, "created"),
    MaintenanceChanged(12, "deleted"),
    DriverChanged(13, "updated", ("unique_id",)),
    NotificationChanged(14, "updated", ("type",)),
    ScheduledReportChanged(15, "updated"),
    TicketChanged(16, "updated", company_id=17, version=2),
    CompanyChanged(17, "updated", ("attributes.timezone",)),
    TicketPriorityChanged(19, "updated", ("resolution_minutes",)),
    LinkChanged("user", 6, "device", 7),
    PositionsDeleted(8),
    ServerChanged(("attributes.timezone",)),
    SettingsChanged(),
    SessionEnded("digest"),
    TokenRevoked("token", 9),
    QueueFilled(20),
    DeviceMoved(21),
    DutyReleased("schedule"),
    ServerEnded(22),
    EverythingChanged(),
)


def test_every_fact_is_a_value_that_can_be_packed():
    assert {type(fact) for fact in EVERY_FACT} == set(Change.__args__)
    message = ApplyChanges(EVERY_FACT)
    packed = msgspec.msgpack.encode(message)
    assert msgspec.msgpack.decode(packed, type=ApplyChanges) == message


def test_changed_fields_names_what_differs_and_keys_of_attributes():
    old = Device(id=1, name="a", unique_id="1", attributes={"kept": 1, "edited": 1, "removed": 1})
    new = Device(id=1, name="b", unique_id="1", attributes={"kept": 1, "edited": 2, "added": None})
    assert changed_fields(old, old) == ()
    assert changed_fields(old, new) == (
        "name",
        "attributes.added",
        "attributes.edited",
        "attributes.removed",
    )


class Recorder(Probe):
    """Notes its name in a list shared by all followers."""

    def __init__(self, name, order):
        super().__init__({ApplyChanges: None, GetCommandTypes: ()})
        self.name, self.order = name, order

    def handle(self, message):
        if not isinstance(message, GetCommandTypes):
            self.order.append((self.name, message))
        return super().handle(message)


class Tree:
    """All followers as recorders; `order` is what they were sent."""

    def __init__(self):
        self.order = []
        singles = (
            (ACCESS, "access"),
            (RULE_CACHE, "rules"),
            (DIRECTORY, "directory"),
            (HOMES, "homes"),
            (TIMETABLE, "timetable"),
            (REPORT_TIMETABLE, "report_timetable"),
        )
        self.specs = [
            ChildSpec(kind=kind, factory=lambda name=name: Recorder(name, self.order))
            for kind, name in singles
        ]
        self.specs.append(
            DynamicSpec(
                kind=DEVICE, name="devices", factory=lambda number: Recorder(f"device {number}", self.order)
            )
        )


async def test_followers_apply_a_commit_in_order_and_only_what_concerns_them():
    tree = Tree()
    async with open_tree(*tree.specs) as system:
        system.topic(COMMITTED_CHANGES).listen(lambda changes: tree.order.append(("caches", changes)))
        system.topic(CHANGES).listen(lambda changes: tree.order.append(("subscribers", changes)))
        await system.ref(DEVICE, 1).ask(GetCommandTypes())
        for commit, followers in (
            ((DeviceChanged(1, "updated", ("name",)),), ["device 1"]),
            ((DeviceChanged(1, "updated", ("group_id",)),), ["access", "device 1"]),
            ((DeviceChanged(1, "deleted"),), ["access", "rules", "device 1", "directory"]),
            ((DeviceChanged(2, "created"),), ["access"]),
            ((GroupChanged(1, "updated", ("name",)),), []),
            ((GroupChanged(1, "deleted"),), ["access", "rules"]),
            ((GroupChanged(1, "updated", ("attributes.speedLimit",)),), ["rules"]),
            ((GeofenceChanged(1, "updated"), AttributeChanged(1, "updated")), ["rules"]),
            ((MaintenanceChanged(1, "deleted"), DriverChanged(1, "updated")), ["rules"]),
            ((NotificationChanged(1, "updated"),), []),
            ((LinkChanged("group", 1, "geofence", 1),), ["rules"]),
            ((LinkChanged("device", 1, "command", 1),), []),
            ((ServerChanged(("attributes.speedLimit",)),), ["rules", "timetable", "report_timetable"]),
            ((ServerChanged(("map",)),), ["timetable", "report_timetable"]),
            ((PositionsDeleted(1),), ["device 1", "directory"]),
            ((UserChanged(1, "updated"), LinkChanged("user", 1, "device", 1)), ["access"]),
            ((ScheduleChanged(1, "created"),), ["timetable"]),
            ((ScheduledReportChanged(1, "created"),), ["report_timetable"]),
            ((CalendarChanged(1, "deleted"),), ["rules", "timetable", "report_timetable"]),
            ((SessionEnded("1"), TokenRevoked("1", 1)), []),
            ((DeviceMoved(1),), ["homes"]),
            ((EverythingChanged(),), ["access", "rules", "homes", "timetable", "report_timetable"]),
        ):
            tree.order.clear()
            await publish_changes(system, *commit)
            assert tree.order == [
                ("caches", commit),
                *((name, commit[0] if "device" in name else ApplyChanges(commit)) for name in followers),
                ("subscribers", commit),
            ]


async def test_followers_that_are_not_there_or_crash_do_not_fail_the_writer():
    crashing = Probe({})
    tree = open_tree(ChildSpec(kind=TIMETABLE, factory=lambda: crashing))
    async with tree as system, system.topic(CHANGES).subscribe() as published:
        await publish_changes(system, ScheduleChanged(7, "updated"), DeviceChanged(1, "deleted"))
        assert len(await published.receive_batch()) == 1
    assert [type(message) for message in crashing.messages] == [ApplyChanges]


async def test_the_writer_waits_until_a_follower_has_applied_the_commit(autojump_clock):
    class Slow(Probe):
        async def handle(self, message):
            await trio.sleep(5)
            super().handle(message)

    slow = Slow({ApplyChanges: None})
    async with open_tree(ChildSpec(kind=ACCESS, factory=lambda: slow)) as system:
        await publish_changes(system, UserChanged(1, "deleted"))
        assert slow.messages == [ApplyChanges((UserChanged(1, "deleted"),))]


async def test_a_follower_that_hangs_is_waited_for_no_longer_than_the_limit(autojump_clock, monkeypatch):
    class Hanging(Probe):
        async def handle(self, message):
            await trio.sleep_forever()

    async with open_tree(
        ChildSpec(kind=ACCESS, factory=Hanging, shutdown_seconds=0.1), Tree().specs[1]
    ) as system:
        began = trio.current_time()
        await publish_changes(system, DeviceChanged(1, "created"))
        assert trio.current_time() - began == pytest.approx(change_feed.FOLLOW_SECONDS)


def test_the_followers_that_publish_come_first_and_last():
    assert FOLLOWERS[0] is change_feed._cached_rows
    assert FOLLOWERS[-1] is change_feed._subscribers
