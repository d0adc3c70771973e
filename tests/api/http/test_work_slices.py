import time

import trio
import trio.testing

from motorpool.api.http.time_slices import SLICE_SECONDS, TimeSlices


async def test_many_that_are_ready_together_let_others_run_between_them() -> None:
    slices = TimeSlices()
    start = trio.Event()
    order: list[str] = []

    async def work() -> None:
        await start.wait()
        await slices.begin()
        time.sleep(SLICE_SECONDS / 4)  # noqa: ASYNC251 - it is work
        order.append("work")
        slices.end()

    async def other() -> None:
        await start.wait()
        while order.count("work") < 40:
            order.append("other")
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(work)
        nursery.start_soon(other)
        await trio.testing.wait_all_tasks_blocked()
        start.set()
    runs = [len(run.split()) for run in " ".join(order).split("other")]
    # About five pieces fit into a slice; without slices all forty ran in one go.
    assert max(runs) <= 10
    assert sum(runs) == 40


async def test_a_single_connection_never_waits() -> None:
    slices = TimeSlices()
    for _ in range(3):
        with trio.CancelScope() as scope:
            scope.cancel()  # any checkpoint would end this block
            await slices.begin()
            slices.end()
            time.sleep(SLICE_SECONDS)  # noqa: ASYNC251
        assert not scope.cancelled_caught
