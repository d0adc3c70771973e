from typing import Any

import trio
from tests.runtime.actor_testing import Broken, open_tree, run_actor
from trio.testing import MockClock

from motorpool.runtime import Actor, DynamicSpec, Kind

DEVICE: Kind[int, Any] = Kind("device")


class Restarting(Actor[Any]):
    """Breaks when its timer comes, in each life."""

    lives = 0

    async def start(self) -> None:
        Restarting.lives += 1
        self.context.after(10, Broken("by its own timer"))

    def handle(self, message: Any) -> None:
        raise message


async def test_a_fatal_timer_crashes_its_actor_and_not_the_others_timers(autojump_clock: MockClock) -> None:
    Restarting.lives = 0
    called: list[float] = []
    async with run_actor(Restarting) as running:
        begin = trio.current_time()
        running.system.timers.after(60, lambda: called.append(trio.current_time() - begin))
        await trio.sleep(61)
    assert Restarting.lives == 6  # broken at 10, 20.1, 30.3, 40.7 and 51.5
    assert called == [60]


async def test_a_hundred_thousand_ticks_leave_nothing_behind(autojump_clock: MockClock) -> None:
    class Ticking(Actor[int]):
        count = 0

        def handle(self, message: int) -> None:
            Ticking.count += 1
            self.context.after(1, message + 1)

    async with open_tree(DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Ticking())) as system:
        await system.ref(DEVICE, 1).tell(0)
        await trio.sleep(1000.5)
        assert Ticking.count == 1001
        cell = system.ref(DEVICE, 1)._group.cells[1]
        assert repr(cell.life_scope) == "<LifeScope: 1 timers, 0 answers pending>"
