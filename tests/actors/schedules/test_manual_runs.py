"""Replies to runs that users ask for: when the first steps have an outcome, or after three seconds."""

from collections.abc import Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
import trio

from motorpool.actors.schedules.manual_runs import REPLY_SECONDS, ManualRuns
from motorpool.runtime import Deferred, Failure, Signal
from motorpool.storage.errors import StorageUnavailable

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


class Answer(Deferred):
    """Keeps what it was answered."""

    def __init__(self):
        super().__init__()
        self.came = []

    def answer(self, value):
        self.came.append(value)

    @property
    def statuses(self):
        """Of the one answer."""
        (records,) = self.came
        return [record.status for record in records]


class Outcomes:
    """Stands for the outcomes of steps."""

    def __init__(self):
        self.in_flight = set()
        self.changed = Signal()

    def commit(self, *run_ids):
        self.in_flight -= set(run_ids)
        self.changed.set()


class Running:
    """The part, answering."""

    def __init__(self, database, nursery):
        self.outcomes = Outcomes()
        self._runs = ManualRuns(database, self.outcomes)
        self._nursery = nursery

    def answer(self, reply, run_ids: Iterable[int], in_flight: Iterable[int] = ()):
        self.outcomes.in_flight |= set(in_flight)
        self._nursery.start_soon(self._runs.answer, reply, list(run_ids))


@pytest.fixture
def running(database):
    """`async with running() as its:`"""

    @asynccontextmanager
    async def open_nursery():
        async with trio.open_nursery() as nursery:
            yield Running(database, nursery)
            nursery.cancel_scope.cancel()

    return open_nursery


@pytest.fixture
async def run_ids(database):
    """Four runs that are being sent."""
    rows = await database.fetch(
        "insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id,"
        " command_id, delay_seconds, followed, time, status)"
        " select 1, 1, 'manual', 0, device, 1, 0, false, $1, 'sending' from generate_series(1, 4) as device"
        " returning id",
        NOW,
    )
    return [row[0] for row in rows]


async def settle(database, run_id, status="sent"):
    await database.execute("update scheduled_command_runs set status = $2 where id = $1", run_id, status)


async def test_the_answer_comes_when_the_last_first_step_is_settled(database, running, run_ids, time):
    answer = Answer()
    async with running() as its:
        its.answer(answer, run_ids, run_ids[:2])
        await time.settle()
        for run_id in run_ids[:2]:
            assert answer.came == []
            await settle(database, run_id)
            its.outcomes.commit(run_id)
            await time.settle()
        # What waits for its time is told as it is.
        assert answer.statuses == ["sent", "sent", "pending", "pending"]
        its.outcomes.commit(run_ids[0], 999)
        await time.settle()
        assert len(answer.came) == 1


async def test_where_nothing_is_being_sent_it_comes_at_once(running, run_ids, time):
    known, nothing = Answer(), Answer()
    async with running() as its:
        its.answer(known, run_ids[:1])
        its.answer(nothing, [])
        await time.settle()
    assert known.statuses == ["pending"]
    assert nothing.came == [[]]


async def test_after_three_seconds_it_is_told_as_it_stands_and_never_again(database, running, run_ids, time):
    answer = Answer()
    async with running() as its:
        its.answer(answer, run_ids[:2], run_ids[:2])
        await settle(database, run_ids[0])
        its.outcomes.commit(run_ids[0])
        await time.passes(REPLY_SECONDS - 0.5)
        assert answer.came == []
        await time.passes(1)
        assert answer.statuses == ["sent", "pending"]
        its.outcomes.commit(run_ids[1])
        await time.passes(REPLY_SECONDS + 1)
        assert len(answer.came) == 1


async def test_several_wait_each_for_its_own(database, running, run_ids, time):
    answers = [Answer() for _ in run_ids]
    async with running() as its:
        for answer, each in zip(answers, run_ids, strict=True):
            its.answer(answer, [each], [each])
        await time.settle()
        for index in (2, 0, 3, 1):
            assert answers[index].came == []
            await settle(database, run_ids[index], "failed")
            its.outcomes.commit(run_ids[index])
            await time.settle()
            assert answers[index].statuses == ["failed"]
        assert [len(answer.came) for answer in answers] == [1] * 4


async def test_without_the_database_that_is_the_answer_and_the_next_one_is_told(
    running, run_ids, time, outage
):
    first, second = Answer(), Answer()
    async with running() as its:
        with outage():
            its.answer(first, run_ids)
            await time.settle()
        its.answer(second, run_ids)
        await time.settle()
    (failure,) = first.came
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, StorageUnavailable)
    assert second.statuses == ["pending"] * 4
