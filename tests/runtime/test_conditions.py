import pytest
import trio
from prometheus_client import CollectorRegistry, generate_latest
from tests.runtime.actor_testing import EPOCH, TestClock

from motorpool.runtime import ConditionKind, Conditions, ConditionsCollector

DISK = ConditionKind("disk", "the disk is nearly full", fails_health=True)
CLOCK = ConditionKind("clock", "the clock was set")


@pytest.fixture
def conditions():
    return Conditions(TestClock())


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


async def test_a_condition_is_said_once_once_a_minute_and_once_at_its_end(conditions, caplog, autojump_clock):
    for _ in range(150):
        conditions.enter(DISK, "12 MiB are free")
        await trio.sleep(1)
    conditions.leave(DISK)
    conditions.leave(DISK)
    assert said(caplog) == [
        "disk: 12 MiB are free",
        "disk: for 60 s, seen 61 times: 12 MiB are free",
        "disk: for 120 s, seen 121 times: 12 MiB are free",
        "disk: over after 150 s, seen 150 times",
    ]


async def test_another_reason_is_said_but_not_each_time_it_changes(conditions, caplog, autojump_clock):
    for number in range(21):
        conditions.enter(CLOCK, f"cause {number}", ("forward", "back")[number % 2])
        await trio.sleep(1)
    assert [line.partition(",")[0] for line in said(caplog)] == [
        "clock: cause 0",
        *(f"clock: for {seconds} s" for seconds in (5, 10, 15, 20)),
    ]


async def test_what_is_present_has_its_beginning_and_its_latest_cause(conditions, mock_clock):
    assert conditions.find(DISK) is None
    conditions.enter(DISK, "12 MiB are free")
    mock_clock.jump(5)
    conditions.enter(CLOCK, "by 60 s", "the clock was set forward")
    conditions.enter(DISK, "11 MiB are free")
    assert [(each.kind, each.cause, each.text) for each in conditions] == [
        (DISK, "11 MiB are free", "the disk is nearly full"),
        (CLOCK, "by 60 s", "the clock was set forward"),
    ]
    assert conditions.find(DISK).since == EPOCH
    conditions.leave(DISK)
    assert [each.kind for each in conditions] == [CLOCK]


async def test_who_follows_is_called_at_the_beginning_at_changes_and_at_the_end(conditions):
    calls = []
    conditions.leave(DISK)
    with conditions.followed_by(lambda: calls.append([each.cause for each in conditions])):
        conditions.enter(DISK, "a")
        conditions.enter(DISK, "a")
        conditions.enter(DISK, "b")
        conditions.leave(DISK)
        conditions.leave(DISK)
    conditions.enter(DISK, "c")
    assert calls == [["a"], ["b"], []]


async def test_metrics_show_all_kinds(conditions):
    registry = CollectorRegistry()
    registry.register(ConditionsCollector(conditions, (DISK, CLOCK), "fleet_condition"))
    conditions.enter(CLOCK, "by 60 s")
    text = generate_latest(registry).decode()
    assert 'fleet_condition{condition="disk"} 0.0' in text
    assert 'fleet_condition{condition="clock"} 1.0' in text
