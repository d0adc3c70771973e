import asyncio  # noqa: TID251 - what the driver is written for
import contextvars
import random
import threading

import pytest
import trio

from motorpool.storage.database.driver import open_loop, run_coroutine


class Passes(trio.abc.Instrument):
    """Counts the passes of Trio's loop."""

    def __init__(self):
        self.count = 0

    def before_io_wait(self, timeout):
        self.count += 1


@pytest.fixture
async def loop():
    async with open_loop() as opened:
        yield opened


async def test_callbacks_that_are_ready_run_in_order_and_in_one_pass(loop):
    ran = []
    await trio.testing.wait_all_tasks_blocked()
    for number in range(50):
        loop.call_soon(ran.append, number)
    passes = Passes()
    trio.lowlevel.add_instrument(passes)
    await trio.testing.wait_all_tasks_blocked()
    trio.lowlevel.remove_instrument(passes)
    assert ran == list(range(50))
    assert passes.count < 5


async def test_callbacks_without_end_leave_other_tasks_their_turn(loop):
    ran = 0

    def once_more():
        nonlocal ran
        ran += 1
        if ran < 1_000_000:
            loop.call_soon(once_more)

    once_more()
    for _ in range(10):
        await trio.lowlevel.checkpoint()
    assert ran < 10_000
    ran = 1_000_000


async def test_a_coroutine_that_need_not_wait_takes_no_passes_of_its_own(loop):
    ran = []

    async def yield_often():
        for number in range(20):
            await asyncio.sleep(0)
            ran.append(number)
        return len(ran)

    await trio.testing.wait_all_tasks_blocked()
    passes = Passes()
    trio.lowlevel.add_instrument(passes)
    assert await run_coroutine(loop, yield_often()) == 20
    trio.lowlevel.remove_instrument(passes)
    assert passes.count < 5


async def test_a_coroutine_that_need_not_wait_leaves_other_tasks_their_turn(loop):
    turns = 0

    async def take_turns():
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async def answer():
        return 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_turns)
        for _ in range(50):
            assert await run_coroutine(loop, answer()) == 1
        assert turns >= 50
        nursery.cancel_scope.cancel()


async def test_an_exception_of_a_coroutine_reaches_its_caller(loop):
    async def fail(pauses):
        for _ in range(pauses):
            await asyncio.sleep(0)
        raise KeyError("mine")

    for pauses in (0, 3, 500):
        with pytest.raises(KeyError, match="mine"):
            await run_coroutine(loop, fail(pauses))


async def test_nothing_of_a_coroutine_runs_in_a_scope_that_is_cancelled(loop):
    ran = []

    async def note():
        ran.append("begun")

    with trio.CancelScope() as scope:
        scope.cancel()
        await run_coroutine(loop, note())
    assert scope.cancelled_caught
    assert ran == []


async def test_cancelling_the_caller_cancels_the_coroutine_and_waits_for_its_end(loop):
    ran = []

    async def wait():
        ran.append("begun")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.sleep(0)
            ran.append("ended")

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_coroutine, loop, wait())
            await trio.testing.wait_all_tasks_blocked()
            assert ran == ["begun"]
            scope.cancel()
    assert scope.cancelled_caught
    assert ran == ["begun", "ended"]


async def test_a_result_that_comes_with_the_cancellation_is_not_lost(loop):
    async def cancel_and_answer(scope):
        scope.cancel()
        return "answer"

    with trio.CancelScope() as scope:
        assert await run_coroutine(loop, cancel_and_answer(scope)) == "answer"


async def test_timers_that_begin_while_the_loop_waits_run_in_time(loop, autojump_clock):
    begun = trio.current_time()
    ended = []

    async def sleep(seconds):
        await asyncio.sleep(seconds)
        ended.append((seconds, trio.current_time() - begun))

    async def give_up():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.get_running_loop().create_future(), 4)
        ended.append((4, trio.current_time() - begun))

    async with trio.open_nursery() as nursery:
        for seconds in (9, 2, 600, 1):
            nursery.start_soon(run_coroutine, loop, sleep(seconds))
            # The loop waits for its first timer, which may not be the first for long.
            await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(run_coroutine, loop, give_up())
    assert [seconds for seconds, _ in ended] == [1, 2, 4, 9, 600]
    assert all(when == pytest.approx(seconds) for seconds, when in ended)


async def test_a_thread_that_a_coroutine_starts_hands_its_result_over(loop):
    async def compute():
        first = await asyncio.get_running_loop().run_in_executor(None, threading.get_ident)
        await asyncio.sleep(0)
        return first

    assert await run_coroutine(loop, compute()) != threading.get_ident()


async def test_cancelled_while_a_thread_is_started_the_call_waits_and_others_go_on(loop):
    async def compute(number):
        begun.add(number)
        try:
            return await asyncio.get_running_loop().run_in_executor(None, lambda: number)
        finally:
            ended.add(number)

    async def ask(number, answers):
        with trio.CancelScope() as scope:
            if number % 2:
                trio.lowlevel.current_trio_token().run_sync_soon(scope.cancel)
            answers.append(await run_coroutine(loop, compute(number)))
        # Nothing of it runs where its caller was cancelled before.
        assert (number in begun) == (number in ended)

    answers = []
    begun = set()
    ended = set()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(ask, number, answers)
    assert {number for number in answers if number % 2 == 0} == set(range(0, 20, 2))


async def test_the_loop_is_the_running_one_whatever_task_calls(loop):
    async def look():
        return asyncio.get_running_loop()

    async def look_later():
        await asyncio.sleep(0)
        return asyncio.get_running_loop()

    found = []

    async def call():
        found.extend([await run_coroutine(loop, look()), await run_coroutine(loop, look_later())])

    async def call_beside_another():
        async with open_loop() as other:
            assert other is not loop
            assert await run_coroutine(other, look()) is other
            await call()

    async with trio.open_nursery() as nursery:
        # Of tasks that do not know the loop.
        contextvars.Context().run(nursery.start_soon, call)
        contextvars.Context().run(nursery.start_soon, call_beside_another)
    assert found == [loop] * 4


async def test_a_loop_that_is_closed_takes_no_coroutine():
    async with open_loop() as loop:
        pass

    async def answer():
        return 1

    with pytest.raises(RuntimeError, match="closed"):
        await run_coroutine(loop, answer())


async def test_closing_the_loop_ends_what_still_waits():
    ended = []

    async def wait(loop):
        with pytest.raises(asyncio.CancelledError):
            await run_coroutine(loop, asyncio.Event().wait())
        ended.append("wait")

    async with trio.open_nursery() as nursery:
        with trio.fail_after(60):
            async with open_loop() as loop:
                nursery.start_soon(wait, loop)
                await trio.testing.wait_all_tasks_blocked()
    assert ended == ["wait"]


async def test_every_call_ends_once_whatever_is_cancelled_meanwhile(loop, autojump_clock, seed):
    chance = random.Random(seed)
    ended = {}

    async def step(pauses):
        for pause in pauses:
            await asyncio.sleep(pause)
        return sum(pauses)

    async def call(number, pauses, patience):
        begun = trio.current_time()
        with trio.move_on_after(patience) as scope:
            assert await run_coroutine(loop, step(pauses)) == sum(pauses)
        assert number not in ended
        ended[number] = scope.cancelled_caught, trio.current_time() - begun

    calls = {
        number: (
            chance.choices((0, 0, 0, 1, 2, 5), k=chance.randrange(8)),
            chance.choice((0, 1.5, 3.5, 1000)),
        )
        for number in range(100)
    }
    with trio.fail_after(1_000_000):
        async with trio.open_nursery() as nursery:
            for number, (pauses, patience) in calls.items():
                nursery.start_soon(call, number, pauses, patience)
                if chance.random() < 0.3:
                    await trio.sleep(chance.choice((0, 0, 0.5, 1)))
    for number, (pauses, patience) in calls.items():
        cancelled, seconds = ended[number]
        if sum(pauses) > patience:
            assert cancelled
            assert seconds == pytest.approx(patience)
        elif patience:
            assert not cancelled
            assert seconds == pytest.approx(sum(pauses))
