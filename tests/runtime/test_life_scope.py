from motorpool.runtime.envelope import Envelope
from motorpool.runtime.life_scope import LifeScope
from motorpool.runtime.testing import Broken
from motorpool.runtime.timer_heap import Timer, TimerHeap


def test_cutting_cancels_timers_and_fails_what_is_owed() -> None:
    ties, heap = LifeScope(), TimerHeap()
    timers = [Timer(lambda: None) for _ in range(3)]
    for timer in timers:
        heap.push(timer, 1.0)
        ties.bind(timer)
    ties.loose(timers[0])
    open_request, answered = Envelope("open"), Envelope("answered")
    ties.owe(open_request)
    ties.owe(answered)
    answered.answer(1)
    assert repr(ties) == "<LifeScope: 2 timers, 2 answers owed>"
    ties.cut(lambda: Broken("the end"))
    assert [timer.armed for timer in timers] == [True, False, False]
    assert str(open_request.error) == "the end"
    assert answered.error is None
    assert repr(ties) == "<LifeScope: 0 timers, 0 answers owed>"


def test_requests_that_ended_do_not_pile_up() -> None:
    ties = LifeScope()
    kept = [Envelope(number) for number in range(40)]
    for envelope in kept:
        ties.owe(envelope)
    for number in range(10_000):
        envelope = Envelope(number)
        ties.owe(envelope)
        envelope.answer(None)
    owed = int(repr(ties).split(", ")[1].split()[0])
    assert owed <= 2 * len(kept)
    ties.cut(lambda: Broken("the end"))
    assert all(envelope.error for envelope in kept)
