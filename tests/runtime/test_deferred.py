import trio
import trio.testing

from motorpool.runtime import Deferred
from motorpool.runtime.deferred import Envelope


def test_a_deferred_answer_may_come_before_or_after_the_handler_returns() -> None:
    early: Deferred[int] = Deferred()
    early.answer(1)
    first = Envelope("request")
    first.answer(early)
    assert (first.pending, first.value) == (False, 1)
    late: Deferred[int] = Deferred()
    second = Envelope("request")
    second.answer(late)
    assert second.pending
    late.answer(2)
    assert (second.pending, second.value) == (False, 2)


def test_the_first_answer_counts() -> None:
    deferred: Deferred[int] = Deferred()
    envelope = Envelope("request")
    envelope.answer(deferred)
    deferred.answer(1)
    deferred.answer(2)
    assert envelope.value == 1


def test_a_deferred_answer_without_an_asker_is_harmless() -> None:
    reply: Deferred[int] = Deferred()
    reply.answer(1)


async def test_a_deferred_answer_is_awaited_until_the_asker_has_one_or_is_cancelled() -> None:
    answered: Deferred[int] = Deferred()
    assert answered.is_awaited
    Envelope("request").answer(answered)
    assert answered.is_awaited
    answered.answer(1)
    assert not answered.is_awaited
    abandoned: Deferred[int] = Deferred()
    envelope = Envelope("request")
    envelope.answer(abandoned)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(envelope.wait)
        await trio.testing.wait_all_tasks_blocked()
        assert abandoned.is_awaited
        nursery.cancel_scope.cancel()
    assert not abandoned.is_awaited
