"""Events are taken once, in batches; one that fails holds back no others, and none waits for the poll."""

import logging
from collections.abc import Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from motorpool.actors.work.event_consumer import BATCH, LOCKED_SECONDS, MAX_ATTEMPTS, EventConsumer
from motorpool.runtime import ActorLog
from motorpool.storage.errors import StatementRejected, StorageUnavailable

POLL_SECONDS = 60.0


class Table:
    """Events that wait in a list."""

    def __init__(self, *events: int) -> None:
        self.events = list(events)
        self.taken: list[list[int]] = []
        self.discarded: list[int] = []
        self.looks = 0
        self.is_locked = False
        self.before_commit: Callable[[list[int]], object] = lambda _: None

    async def is_waiting(self) -> bool:
        self.looks += 1
        await trio.lowlevel.checkpoint()
        return bool(self.events)

    async def take(self, limit: int) -> int | None:
        await trio.lowlevel.checkpoint()
        if self.is_locked:
            return None
        events = self.events[:limit]
        self.before_commit(events)
        del self.events[: len(events)]
        self.taken.append(events)
        return len(events)

    async def discard_first(self) -> None:
        self.discarded.append(self.events.pop(0))


def consume(table: Table, nursery: trio.Nursery) -> EventConsumer:
    consumer = EventConsumer(table, undone="nothing made", poll_seconds=POLL_SECONDS)
    nursery.start_soon(consumer.run, ActorLog(logging.getLogger("test"), {"actor": "consumer"}))
    return consumer


async def test_all_that_wait_are_taken_in_batches(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    table = Table(*range(BATCH + 5))
    consume(table, nursery)
    await trio.sleep(1)
    assert [len(batch) for batch in table.taken] == [BATCH, 5]


async def test_what_is_stored_is_taken_at_once_and_without_looking_for_it(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    table = Table()
    consumer = consume(table, nursery)
    await trio.sleep(1)
    begin, looks = trio.current_time(), table.looks
    takes = []

    def store_another(events: list[int]) -> None:
        takes.append((events, table.looks, trio.current_time()))
        if events == [1]:
            table.events.append(2)
            consumer.wake()

    table.before_commit = store_another
    table.events.append(1)
    consumer.wake()
    await wait_all_tasks_blocked()
    assert takes == [([1], looks, begin), ([2], looks, begin)]


async def test_what_another_server_stored_is_taken_with_the_next_poll(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    table = Table()
    consume(table, nursery)
    await trio.sleep(1)
    table.events.append(1)
    await trio.sleep(POLL_SECONDS - 2)
    assert table.taken == []
    await trio.sleep(2)
    assert table.taken == [[1]]


async def test_while_another_server_works_it_looks_every_second(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    table = Table(1)
    table.is_locked = True
    consume(table, nursery)
    await trio.sleep(3.5 * LOCKED_SECONDS)
    assert table.looks == 4
    table.is_locked = False
    await trio.sleep(LOCKED_SECONDS)
    assert table.taken == [[1]]


@pytest.mark.parametrize("error", [StatementRejected("gone"), ValueError("a mistake")])
async def test_an_event_that_fails_is_discarded_and_the_others_are_taken(
    nursery: trio.Nursery, autojump_clock: MockClock, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    table = Table(1, 2, 3)
    attempts = []

    def fail(events: list[int]) -> None:
        attempts.append(len(events))
        if 2 in events:
            raise error

    table.before_commit = fail
    consume(table, nursery)
    await trio.sleep(1)
    assert (table.taken, table.discarded) == ([[1], [3]], [2])
    assert attempts == [3, 1, 2] + [1] * MAX_ATTEMPTS + [1]
    assert "consumer: nothing made" in caplog.text


async def test_an_outage_discards_nothing_and_is_waited_for(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    table = Table(1)
    attempts = []

    def fail(events: list[int]) -> None:
        attempts.append(trio.current_time())
        raise StorageUnavailable("away")

    table.before_commit = fail
    consume(table, nursery)
    await trio.sleep(60)
    assert 12 < len(attempts) < 40, "longer pauses each time, up to 5 s"
    table.before_commit = lambda _: None
    await trio.sleep(5)
    assert (table.taken, table.discarded) == ([[1]], [])


async def test_a_wake_during_an_attempt_that_finds_nothing_is_not_lost(nursery: trio.Nursery) -> None:
    table = Table()
    consumer = consume(table, nursery)
    await wait_all_tasks_blocked()
    table.before_commit = lambda events: events == [] and (table.events.append(1), consumer.wake())
    consumer.wake()
    while not any(table.taken):
        await trio.lowlevel.checkpoint()
    assert table.taken == [[], [1]]
