"""Who wants to see what came of a run: answered once, when it is known or at the latest when he is tired."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
import trio

from motorpool.actors.schedules.pending_run_replies import PendingRunReplies
from motorpool.runtime import Deferred, Failure
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


@pytest.fixture
def wanted(database):
    """`async with wanted() as its:` the part, working."""

    @asynccontextmanager
    async def working():
        its = PendingRunReplies(database)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(its.run)
            yield its
            nursery.cancel_scope.cancel()

    return working


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


async def test_the_answer_comes_when_the_last_first_step_is_settled(database, wanted, run_ids, time):
    answer = Answer()
    async with wanted() as its:
        its.add(answer, run_ids, run_ids[:2])
        await time.settle()
        for run_id in run_ids[:2]:
            assert answer.came == []
            await settle(database, run_id)
            its.step_committed(run_id)
            await time.settle()
        # What waits for its time is told as it is.
        assert answer.statuses == ["sent", "sent", "pending", "pending"]
        its.step_committed(run_ids[0])
        its.step_committed(999)
        await time.settle()
        assert len(answer.came) == 1


async def test_where_nothing_is_being_sent_it_comes_at_once(wanted, run_ids, time):
    known, nothing = Answer(), Answer()
    async with wanted() as its:
        its.add(known, run_ids[:1], [])
        its.add(nothing, [], [])
        await time.settle()
    assert known.statuses == ["pending"]
    assert nothing.came == [[]]


async def test_after_a_while_it_is_told_as_it_stands_and_never_again(database, wanted, run_ids, time):
    answer = Answer()
    async with wanted() as its:
        number = its.add(answer, run_ids[:2], run_ids[:2])
        await settle(database, run_ids[0])
        its.step_committed(run_ids[0])
        its.expire(number)
        await time.settle()
        assert answer.statuses == ["sent", "pending"]
        its.expire(number)
        its.step_committed(run_ids[1])
        await time.settle()
        assert len(answer.came) == 1


async def test_several_wait_each_for_his_own(database, wanted, run_ids, time):
    answers = [Answer() for _ in run_ids]
    async with wanted() as its:
        numbers = {its.add(answer, [each], [each]) for answer, each in zip(answers, run_ids, strict=True)}
        assert len(numbers) == len(run_ids)
        for index in (2, 0, 3, 1):
            await settle(database, run_ids[index], "failed")
            its.step_committed(run_ids[index])
            await time.settle()
            assert answers[index].statuses == ["failed"]
        assert [len(answer.came) for answer in answers] == [1] * 4


async def test_without_the_database_he_hears_of_that_and_the_next_one_is_answered(
    wanted, run_ids, time, outage
):
    first, second = Answer(), Answer()
    async with wanted() as its:
        with outage():
            its.add(first, run_ids, [])
            await time.settle()
        its.add(second, run_ids, [])
        await time.settle()
    (failure,) = first.came
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, StorageUnavailable)
    assert second.statuses == ["pending"] * 4
