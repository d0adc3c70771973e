import contextvars

import trio
from tests.runtime.actor_testing import TestClock

from motorpool.runtime.runtime_context import RuntimeContext

who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


async def test_tasks_run_under_the_systems_nursery_with_its_context_and_a_name() -> None:
    seen: list[tuple[str, str, int]] = []

    async def work(number: int) -> None:
        seen.append((who.get(), trio.lowlevel.current_task().name, number))

    async with trio.open_nursery() as nursery:
        who.set("the opener")
        machine = RuntimeContext(TestClock(), nursery)
        who.set("somebody else")
        machine.spawn(work, 1, name="devices/1")
        machine.spawn(work, 2, name="devices/2")
    assert sorted(seen) == [("the opener", "devices/1", 1), ("the opener", "devices/2", 2)]
