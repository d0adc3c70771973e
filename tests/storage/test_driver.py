import pytest
import trio

from motorpool.storage.driver import open_loop


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
