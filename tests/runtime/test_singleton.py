from typing import Any

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import Broken, Probe, open_tree
from trio.testing import MockClock

from motorpool.runtime import Actor, ActorFailed, ActorStopped, ChildSpec, Kind, System

EARLY: Kind[None, Any] = Kind("early")
LATE: Kind[None, Any] = Kind("late")


class Eager(Actor[Any]):
    """Speaks to one that starts after it."""

    async def start(self) -> None:
        await self.context.system.ref(LATE).tell("before you were there")


async def test_a_mailbox_is_there_before_its_actor() -> None:
    late: Probe[Any] = Probe()
    async with open_tree(
        ChildSpec(kind=EARLY, factory=Eager), ChildSpec(kind=LATE, factory=lambda: late)
    ) as system:
        await system.ref(LATE).tell("afterwards")
        await trio.testing.wait_all_tasks_blocked()
        assert late.messages == ["before you were there", "afterwards"]


async def test_there_is_only_one() -> None:
    async with open_tree(ChildSpec(kind=LATE, factory=Probe)) as system:
        assert system.keys(LATE) == [None]
        wrong: Any = system
        with pytest.raises(KeyError, match="there is only one late"):
            await wrong.ref(LATE, 5).tell("nobody")


async def test_the_last_state_of_one_that_has_stopped_stays_in_the_picture() -> None:
    async with open_tree(ChildSpec(kind=LATE, factory=Probe)) as system:
        await system.ref(LATE).tell("one")
        await system.ref(LATE).stop()
        state = system.snapshot()[0].children[0]
        assert (state.state, state.handled, state.alive) == ("stopped", 1, 0)
        with pytest.raises(ActorStopped):
            await system.ref(LATE).ask(Any)


async def test_a_crash_right_after_its_start_is_a_crash_and_not_a_failed_start(
    autojump_clock: MockClock,
) -> None:
    lives: list[int] = []

    class Brief(Actor[Any]):
        async def start(self) -> None:
            lives.append(1)

        async def run(self) -> None:
            if len(lives) < 3:
                raise Broken("at once")
            await trio.sleep_forever()

    for _ in range(10):  # whoever runs first, the body or the one who waits for the start
        lives.clear()
        async with open_tree(
            ChildSpec(kind=EARLY, factory=Brief), ChildSpec(kind=LATE, factory=Probe)
        ) as system:
            assert isinstance(system, System)
            await trio.sleep(1)
            assert len(lives) == 3
            assert system.ref(EARLY).alive


async def test_a_start_that_takes_too_long_fails_the_tree(autojump_clock: MockClock) -> None:
    class Endless(Probe[Any]):
        async def start(self) -> None:
            await trio.sleep_forever()

    begin = trio.current_time()
    with pytest.raises(ActorFailed) as caught:
        async with open_tree(ChildSpec(kind=EARLY, factory=Endless, start_seconds=12)):
            pytest.fail("the body must not run")
    assert isinstance(caught.value.__cause__, trio.TooSlowError)
    assert trio.current_time() - begin == 12
