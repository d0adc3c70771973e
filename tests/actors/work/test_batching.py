"""Requests that wait for each other share a call, and one that is refused costs only its asker."""

import msgspec
import pytest
import trio
from tests.runtime.actor_testing import open_tree

from motorpool.actors.work.batching import BATCH, BatchingActor
from motorpool.runtime import ChildSpec, Kind, Request
from motorpool.storage.errors import StatementRejected, StorageUnavailable


class Double(msgspec.Struct, Request[int], frozen=True):
    number: int


REFUSED = 10_013
DOUBLER: Kind[None, Double] = Kind("doubler")


class Doubler(BatchingActor[Double, int]):
    """Doubles numbers; refuses REFUSED, and is unavailable for negative ones."""

    def __init__(self, calls):
        super().__init__()
        self._calls = calls

    async def answer_all(self, requests):
        numbers = [request.number for request in requests]
        self._calls.append(numbers)
        await trio.lowlevel.checkpoint()
        if REFUSED in numbers:
            raise StatementRejected("no column can hold it")
        if min(numbers) < 0:
            raise StorageUnavailable("away")
        return [2 * number for number in numbers]


async def ask_all(numbers):
    """The calls that were made, and the answer or error of each number, asked at once and in this order."""
    calls, answers = [], {}
    async with open_tree(ChildSpec(kind=DOUBLER, factory=lambda: Doubler(calls))) as system:
        ref = system.ref(DOUBLER)

        async def ask(number):
            try:
                answers[number] = await ref.ask(Double(number))
            except (StatementRejected, StorageUnavailable) as error:
                answers[number] = type(error)

        async with trio.open_nursery() as nursery:
            for number in numbers:
                nursery.start_soon(ask, number)
    return calls, answers


async def test_each_is_answered_and_no_call_has_more_than_a_batch():
    calls, answers = await ask_all(range(2 * BATCH + 1))
    assert answers == {number: 2 * number for number in range(2 * BATCH + 1)}
    assert sorted(number for call in calls for number in call) == list(range(2 * BATCH + 1))
    assert max(map(len, calls)) <= BATCH
    assert len(calls) <= 4


@pytest.mark.parametrize("number", [0, 5, 19])
async def test_the_one_that_is_refused_fails_alone(number):
    numbers = [100 + place for place in range(20)]
    numbers[number] = REFUSED
    _, answers = await ask_all(numbers)
    assert answers == {each: StatementRejected if each == REFUSED else 2 * each for each in numbers}


async def test_an_outage_fails_a_batch_and_not_the_next():
    calls, answers = await ask_all([-1, *range(1, 2 * BATCH)])
    failed = next(call for call in calls if -1 in call)
    assert answers[-1] is StorageUnavailable
    assert all(answers[number] is StorageUnavailable for number in failed)
    assert all(answers[number] == 2 * number for call in calls if call is not failed for number in call)
    assert len(failed) < 2 * BATCH
