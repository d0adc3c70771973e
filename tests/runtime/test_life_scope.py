from tests.runtime.actor_testing import Broken

from motorpool.runtime.deferred import Envelope
from motorpool.runtime.life_scope import LifeScope
from motorpool.runtime.timer_heap import Timer, TimerHeap


def test_closing_cancels_timers_and_fails_pending_requests() -> None:
    life_scope, heap = LifeScope(), TimerHeap()
    timers = [Timer() for _ in range(3)]
    for timer in timers:
        heap.push(timer, 1.0)
        life_scope.add_timer(timer)
    life_scope.remove_timer(timers[0])
    open_request, answered = Envelope("open"), Envelope("answered")
    life_scope.add_pending(open_request)
    life_scope.add_pending(answered)
    answered.answer(1)
    assert repr(life_scope) == "<LifeScope: 2 timers, 1 answers pending>"
    life_scope.close(lambda: Broken("the end"))
    assert [timer.armed for timer in timers] == [True, False, False]
    assert str(open_request.error) == "the end"
    assert answered.error is None
    assert repr(life_scope) == "<LifeScope: 0 timers, 0 answers pending>"


def test_requests_that_ended_are_forgotten_at_once() -> None:
    life_scope = LifeScope()
    kept = [Envelope(number) for number in range(40)]
    for envelope in kept:
        life_scope.add_pending(envelope)
    for number in range(1000):
        envelope = Envelope(number)
        life_scope.add_pending(envelope)
        if number % 2:
            envelope.answer(None)
        else:
            envelope.fail(Broken("refused"))
    assert repr(life_scope) == "<LifeScope: 0 timers, 40 answers pending>"
    life_scope.close(lambda: Broken("the end"))
    assert all(envelope.error for envelope in kept)


def test_one_timer_and_many_are_kept_and_forgotten_alike() -> None:
    life_scope, heap = LifeScope(), TimerHeap()
    timers = [Timer() for _ in range(3)]
    for count, timer in enumerate(timers, 1):
        heap.push(timer, 1.0)
        life_scope.add_timer(timer)
        life_scope.add_timer(timer)
        assert repr(life_scope) == f"<LifeScope: {count} timers, 0 answers pending>"
    for count, timer in enumerate(timers, 1):
        life_scope.remove_timer(timer)
        life_scope.remove_timer(timer)
        assert repr(life_scope) == f"<LifeScope: {3 - count} timers, 0 answers pending>"
    life_scope.add_timer(timers[0])
    life_scope.remove_timer(timers[1])
    life_scope.remove_timer(timers[0])
    life_scope.cancel_timers()
    assert all(timer.armed for timer in timers)
