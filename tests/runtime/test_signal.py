"""Signals: each that is set is seen, whatever is woken, cancelled or busy at that moment."""

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from motorpool.runtime import Signal


async def test_a_signal_that_nobody_waits_for_is_kept_for_the_next_wait() -> None:
    signal = Signal()
    signal.set()
    signal.set()
    assert await signal.wait(0)
    assert not await signal.wait(0)


async def test_all_that_wait_are_woken_and_the_next_waits_again(nursery: trio.Nursery) -> None:
    signal, woken = Signal(), []

    async def wait(name: str) -> None:
        await signal.wait()
        woken.append(name)

    nursery.start_soon(wait, "a")
    nursery.start_soon(wait, "b")
    await wait_all_tasks_blocked()
    assert repr(signal) == "<Signal: not set, 2 waiting>"
    signal.set()
    await wait_all_tasks_blocked()
    assert sorted(woken) == ["a", "b"]
    assert not await signal.wait(0)


async def test_what_is_set_before_a_woken_task_runs_is_one_signal_with_the_first(
    nursery: trio.Nursery,
) -> None:
    signal, woken = Signal(), []

    async def wait() -> None:
        while True:
            await signal.wait()
            woken.append("woken")

    nursery.start_soon(wait)
    await wait_all_tasks_blocked()
    signal.set()
    signal.set()
    await wait_all_tasks_blocked()
    assert woken == ["woken"]
    signal.set()
    await wait_all_tasks_blocked()
    assert woken == ["woken", "woken"]


async def test_a_cleared_signal_is_not_seen() -> None:
    signal = Signal()
    signal.set()
    signal.clear()
    assert not await signal.wait(0)


async def test_a_wait_is_a_checkpoint_also_when_the_signal_is_set() -> None:
    signal = Signal()
    signal.set()
    with trio.CancelScope() as scope:
        scope.cancel()
        await signal.wait()
    assert scope.cancelled_caught
    assert await signal.wait(0), "the cancelled wait has not used the signal up"


async def test_a_wait_ends_in_time_by_the_virtual_clock(autojump_clock: MockClock) -> None:
    signal = Signal()
    begin = trio.current_time()
    assert not await signal.wait(7)
    assert trio.current_time() == begin + 7
    signal.set()
    assert await signal.wait(7)
    assert trio.current_time() == begin + 7


async def test_a_signal_right_after_the_time_is_up_is_seen_by_that_wait(autojump_clock: MockClock) -> None:
    signal = Signal()
    due = trio.current_time() + 1

    class SetsLate(trio.abc.Instrument):
        def before_task_step(self, task: trio.lowlevel.Task) -> None:
            # The wait is cancelled by now, but has not returned yet.
            if trio.current_time() >= due:
                signal.set()

    instrument = SetsLate()
    trio.lowlevel.add_instrument(instrument)
    came = await signal.wait(1)
    trio.lowlevel.remove_instrument(instrument)
    assert came


async def test_a_signal_that_comes_as_the_wait_is_cancelled_is_not_lost(nursery: trio.Nursery) -> None:
    """Whichever of them the scheduler takes first: the signal ends this wait or the next one."""
    for first in (True, False):
        signal, seen = Signal(), []
        scope = trio.CancelScope()

        async def wait(
            signal: Signal = signal, scope: trio.CancelScope = scope, seen: list[bool] = seen
        ) -> None:
            with scope:
                seen.append(await signal.wait())

        nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        for act in (signal.set, scope.cancel) if first else (scope.cancel, signal.set):
            act()
        await wait_all_tasks_blocked()
        assert seen == ([True] if first else [])
        assert await signal.wait(0) is not first


STEPS = st.lists(
    st.one_of(st.just("set"), st.just("turn"), st.tuples(st.just("cancel"), st.integers(0, 2))), max_size=30
)


@pytest.mark.parametrize("tasks", [1, 2, 3])
@given(steps=STEPS)
def test_every_value_is_handled_by_one_of_the_tasks_in_any_order_of_events(
    tasks: int, steps: list[str | tuple[str, int]]
) -> None:
    """Tasks that look at their condition before they wait share a signal, and are cancelled meanwhile."""
    trio.run(_handle_all, tasks, steps)


async def _handle_all(tasks: int, steps: list[str | tuple[str, int]]) -> None:
    signal = Signal()
    values: list[int] = []
    handled: list[int] = []
    scopes = [trio.CancelScope() for _ in range(tasks)]

    async def consume(place: int) -> None:
        while True:
            with scopes[place]:
                while True:
                    while not values:
                        await signal.wait()
                    handled.append(values.pop())
                    await trio.lowlevel.checkpoint()
            scopes[place] = trio.CancelScope()

    count = 0
    async with trio.open_nursery() as nursery:
        for place in range(tasks):
            nursery.start_soon(consume, place)
        for step in steps:
            if step == "set":
                values.append(count)
                count += 1
                signal.set()
            elif step == "turn":
                await trio.lowlevel.checkpoint()
            else:
                scopes[int(step[1]) % tasks].cancel()
        await wait_all_tasks_blocked()
        assert sorted(handled) == list(range(count))
        nursery.cancel_scope.cancel()


@given(steps=st.lists(st.sampled_from(["set", "turn", "cancel", "busy"]), max_size=30))
def test_one_task_that_looks_after_each_wait_misses_nothing(steps: list[str]) -> None:
    """A lone task need not look first: what is set while it is busy or cancelled ends the next wait."""
    trio.run(_follow, steps)


async def _follow(steps: list[str]) -> None:
    signal = Signal()
    state = seen = 0
    is_busy = False
    scope = trio.CancelScope()

    async def follow() -> None:
        nonlocal seen, scope
        while True:
            with scope:
                while True:
                    await signal.wait()
                    seen = state
                    while is_busy:
                        with trio.CancelScope(shield=True):
                            await trio.lowlevel.checkpoint()
            scope = trio.CancelScope()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(follow)
        for step in steps:
            if step == "set":
                state += 1
                signal.set()
            elif step == "turn":
                await trio.lowlevel.checkpoint()
            elif step == "busy":
                is_busy = not is_busy
            else:
                scope.cancel()
        is_busy = False
        await wait_all_tasks_blocked()
        assert seen == state
        nursery.cancel_scope.cancel()
