from math import inf

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from motorpool.runtime.timer_heap import SPARE, Timer, TimerHeap

times = st.integers(0, 30)


class HeapModel(RuleBasedStateMachine):
    """The heap against a dict of due times. Numbers stand for timers."""

    def __init__(self) -> None:
        super().__init__()
        self.heap = TimerHeap()
        self.timers = [Timer() for _ in range(6)]
        self.due: dict[Timer, float] = {}
        self.now = 0

    @rule(number=st.integers(0, 5), wait=times)
    def push(self, number: int, wait: int) -> None:
        timer = self.timers[number]
        self.heap.push(timer, self.now + wait)
        self.due[timer] = self.now + wait

    @rule(number=st.integers(0, 5))
    def cancel(self, number: int) -> None:
        self.timers[number].cancel()
        self.due.pop(self.timers[number], None)

    @rule(wait=times)
    def let_time_pass(self, wait: int) -> None:
        self.now += wait
        popped = []
        while (timer := self.heap.pop_due(self.now)) is not None:
            popped.append(self.due.pop(timer))
        assert popped == sorted(popped)
        assert all(due <= self.now for due in popped)
        assert all(due > self.now for due in self.due.values())

    @invariant()
    def timers_know_whether_they_are_set(self) -> None:
        assert {timer for timer in self.timers if timer.armed} == set(self.due)
        assert bool(self.heap) is bool(self.due)
        assert self.heap.next_due <= min(self.due.values(), default=inf)


HeapModel.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestHeapModel = HeapModel.TestCase


def test_equal_times_fire_in_the_order_they_were_set() -> None:
    heap = TimerHeap()
    timers = [Timer() for _ in range(20)]
    for timer in timers:
        heap.push(timer, 5.0)
    assert [heap.pop_due(5.0) for _ in timers] == timers


def test_putting_off_leaves_one_entry() -> None:
    heap = TimerHeap()
    timer = Timer()
    for due in range(1000):
        heap.push(timer, due)
    assert len(heap) == 1
    assert heap.pop_due(998.0) is None
    assert heap.pop_due(999.0) is timer


def test_cancelled_entries_never_outweigh_the_live_ones_for_long() -> None:
    heap = TimerHeap()
    kept = [Timer() for _ in range(10)]
    for timer in kept:
        heap.push(timer, 1e9)
    for number in range(10_000):
        timer = Timer()
        heap.push(timer, number)
        timer.cancel()
        assert len(heap) <= 2 * (len(kept) + SPARE)
    assert [heap.pop_due(1e9) for _ in kept] == kept


def test_cancelling_twice_or_after_firing_is_harmless() -> None:
    heap = TimerHeap()
    timer = Timer()
    heap.push(timer, 1.0)
    timer.cancel()
    timer.cancel()
    heap.push(timer, 2.0)
    assert heap.pop_due(2.0) is timer
    timer.cancel()
    assert not heap
    assert repr(timer) == "<Timer due 2>"
