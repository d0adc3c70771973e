import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Broken

from motorpool.runtime.deferred import Envelope


def test_the_first_outcome_counts() -> None:
    answered = Envelope("request")
    answered.answer(1)
    answered.answer(2)
    answered.fail(Broken("late"))
    assert (answered.pending, answered.value, answered.error) == (False, 1, None)
    failed = Envelope("request")
    error = Broken("first")
    failed.fail(error)
    failed.answer(3)
    assert (failed.pending, failed.value, failed.error) == (False, None, error)


async def test_an_outcome_wakes_the_asker() -> None:
    envelope = Envelope("request")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(envelope.wait)
        await trio.testing.wait_all_tasks_blocked()
        envelope.answer("now")
    assert envelope.value == "now"


async def test_an_asker_that_gives_up_is_not_answered_any_more() -> None:
    envelope = Envelope("request")
    with trio.CancelScope() as scope:
        scope.cancel()
        await envelope.wait()
    envelope.answer("late")
    assert (envelope.pending, envelope.value) == (False, None)


@pytest.mark.parametrize("value", [None, False, 0, ""])
def test_an_empty_answer_is_an_answer(value: object) -> None:
    envelope = Envelope("request")
    envelope.answer(value)
    assert not envelope.pending
