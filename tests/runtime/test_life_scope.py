from motorpool.runtime.envelope import Envelope
from motorpool.runtime.life_scope import LifeScope
from motorpool.runtime.testing import Broken
from motorpool.runtime.timer_heap import Timer, TimerHeap


def test_closing_cancels_timers_and_fails_pending_requests() -> None:
    life_scope, heap = LifeScope(), TimerHeap()
    timers = [Timer(lambda: None) for _ in range(3)]
    for timer in timers:
        heap.push(timer, 1.0)
        life_scope.add_timer(timer)
    life_scope.remove_timer(timers[0])
    open_request, answered = Envelope("open"), Envelope("answered")
    life_scope.add_pending(open_request)
    life_scope.add_pending(answered)
    answered.answer(1)
    assert repr(life_scope) == "<LifeScope: 2 timers, 2 answers pending>"
    life_scope.close(lambda: Broken("the end"))
    assert [timer.armed for timer in timers] == [True, False, False]
    assert str(open_request.error) == "the end"
    assert answered.error is None
    assert repr(life_scope) == "<LifeScope: 0 timers, 0 answers pending>"


def test_requests_that_ended_do_not_pile_up() -> None:
    life_scope = LifeScope()
    kept = [Envelope(number) for number in range(40)]
    for envelope in kept:
        life_scope.add_pending(envelope)
    for number in range(10_000):
        envelope = Envelope(number)
        life_scope.add_pending(envelope)
        envelope.answer(None)
    owed = int(repr(life_scope).split(", ")[1].split()[0])
    assert owed <= 2 * len(kept)
    life_scope.close(lambda: Broken("the end"))
    assert all(envelope.error for envelope in kept)
