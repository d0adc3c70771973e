import pytest
import trio
from prometheus_client import CollectorRegistry, generate_latest
from tests.runtime.actor_testing import EPOCH, TestClock

from motorpool.runtime import ConditionKind, Conditions, ConditionsCollector
from motorpool.runtime.conditions import CAUSE_SECONDS

DISK = ConditionKind("disk", "the disk is nearly full", fails_health=True)
CLOCK = ConditionKind("clock", "the clock was set")


@pytest.fixture
def conditions():
    return Conditions(TestClock())


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


async def test_a_condition_is_said_once_and_once_at_its_end(conditions, caplog, autojump_clock):
    for number in range(300):
        conditions.enter(DISK, f"{300 - number} MiB are free")
        await trio.sleep(1)
    conditions.leave(DISK)
    conditions.leave(DISK)
    assert said(caplog) == ["disk: 300 MiB are free", "disk: over after 300 s, seen 300 times"]


async def test_each_other_reason_is_said_once(conditions, caplog, autojump_clock):
    for number in range(60):
        conditions.enter(CLOCK, f"cause {number}", ("forward", "back", "forward")[number // 20])
        await trio.sleep(1)
    conditions.leave(CLOCK)
    conditions.enter(CLOCK, "cause 60", "back")
    assert said(caplog) == [
        "clock: cause 0",
        "clock: for 20 s, and now: cause 20",
        "clock: over after 60 s, seen 60 times",
        "clock: cause 60",
    ]


async def test_what_is_present_has_its_beginning_and_a_late_cause(conditions, mock_clock):
    assert conditions.find(DISK) is None
    conditions.enter(DISK, "12 MiB are free")
    mock_clock.jump(CAUSE_SECONDS)
    conditions.enter(CLOCK, "by 60 s", "the clock was set forward")
    conditions.enter(DISK, "11 MiB are free")
    assert [(each.kind, each.cause, each.text) for each in conditions] == [
        (DISK, "11 MiB are free", "the disk is nearly full"),
        (CLOCK, "by 60 s", "the clock was set forward"),
    ]
    assert conditions.find(DISK).since == EPOCH
    conditions.leave(DISK)
    assert [each.kind for each in conditions] == [CLOCK]


async def test_who_follows_is_called_at_the_beginning_at_changes_and_at_the_end(conditions, mock_clock):
    calls = []
    conditions.leave(DISK)
    with conditions.followed_by(lambda: calls.append([each.cause for each in conditions])):
        conditions.enter(DISK, "a")
        mock_clock.jump(CAUSE_SECONDS)
        conditions.enter(DISK, "a")
        conditions.enter(DISK, "b")
        conditions.enter(DISK, "c", "another reason")
        conditions.leave(DISK)
        conditions.leave(DISK)
    conditions.enter(DISK, "d")
    assert calls == [["a"], ["b"], ["c"], []]


async def test_callers_with_causes_of_their_own_do_not_flood_who_follows(conditions, autojump_clock):
    calls = []
    with conditions.followed_by(lambda: calls.append(conditions.find(DISK).cause)):
        for number in range(240):
            conditions.enter(DISK, f"cannot execute {number}")
            await trio.sleep(0.25)
    assert calls == [f"cannot execute {number}" for number in range(0, 240, 40)]


async def test_metrics_show_all_kinds(conditions):
    registry = CollectorRegistry()
    registry.register(ConditionsCollector(conditions, (DISK, CLOCK), "fleet_condition"))
    conditions.enter(CLOCK, "by 60 s")
    text = generate_latest(registry).decode()
    assert 'fleet_condition{condition="disk"} 0.0' in text
    assert 'fleet_condition{condition="clock"} 1.0' in text
