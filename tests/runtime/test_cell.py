import gc
import tracemalloc
from typing import Any

import trio
import trio.testing
from tests.runtime.actor_testing import open_tree

from motorpool.runtime import Actor, DynamicSpec, Kind, Ref, System

DEVICE: Kind[int, Any] = Kind("device")


class Small(Actor[Any]):
    """As a device's actor would be, without what it knows."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def handle(self, message: Any) -> None:
        self.count += 1


async def test_an_idle_actor_on_demand_costs_at_most_a_kilobyte() -> None:
    number = 4_000

    def meet(system: System) -> list[Ref[Any]]:
        refs = [system.ref(DEVICE, key) for key in range(1000, 1000 + number)]
        for ref in refs:
            ref.tell_nowait("hello")
        return refs

    spec = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Small(), idle_seconds=3600)
    async with open_tree(spec) as system:
        meet(system)[0].tell_nowait("warm up")
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            refs = [system.ref(DEVICE, key) for key in range(1_000_000, 1_000_000 + number)]
            for ref in refs:
                ref.tell_nowait("hello")
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (after - before) / number <= 1024


async def test_a_queue_that_was_worked_off_is_given_up() -> None:
    class Waiting(Small):
        async def handle(self, message: Any) -> None:
            await trio.lowlevel.checkpoint()

    async with open_tree(DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Waiting())) as system:
        ref = system.ref(DEVICE, 1)
        for number in range(1000):
            await ref.tell(number)
        assert ref.statistics().depth == 1000 - 1  # one is in the worker's hands
        while ref.statistics().depth:
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked()
        mailbox = ref._group.cells[1].mailbox
        assert mailbox.incoming is None
        assert sum(isinstance(each, list) for each in gc.get_referents(mailbox)) == 0
