"""Actors that look, sleep, and are woken."""

import logging

import trio
from tests.runtime.actor_testing import open_tree
from trio.testing import wait_all_tasks_blocked

from motorpool.actors.work.polling import PollingActor
from motorpool.runtime import ActorStopped, ChildSpec, Kind
from motorpool.storage.errors import StorageUnavailable

POLLER: Kind[None, str] = Kind("poller")


class Poller(PollingActor[str]):
    """Does one entry of `script` in each look, then sleeps for 100 s: an error is raised."""

    FAILURE = "nothing is polled"

    def __init__(self, script):
        super().__init__()
        self._script = script
        self.looked_at = []

    def handle(self, message):
        self.wake()

    async def look(self):
        self.looked_at.append(trio.current_time())
        step = self._script.pop(0) if self._script else None
        if isinstance(step, Exception):
            raise step
        if step is not None:
            await step()
        return 100.0


def polling(*script):
    actor = Poller(list(script))
    return actor, open_tree(ChildSpec(kind=POLLER, factory=lambda: actor))


async def test_it_looks_again_after_its_sleep_or_when_it_is_woken(autojump_clock):
    actor, tree = polling()
    async with tree as system:
        await trio.sleep(110)
        await system.ref(POLLER).tell("wake")
        await trio.sleep(110)
    assert actor.looked_at == [0, 100, 110, 210]


async def test_who_wakes_it_while_it_looks_has_it_look_again(autojump_clock):
    async def take_a_second():
        await trio.sleep(1)

    actor, tree = polling(take_a_second)
    async with tree as system:
        await wait_all_tasks_blocked()
        await system.ref(POLLER).tell("wake")
        await trio.sleep(50)
    assert actor.looked_at == [0, 1]


async def test_errors_are_logged_and_delay_the_next_look_more_each_time(autojump_clock, caplog):
    away = StorageUnavailable("away")
    actor, tree = polling(away, away, ActorStopped("gone"), away, None, away, None)
    async with tree as system:
        for _ in range(20):
            # Messages of others are no reason to ask a database that is away more often.
            await system.ref(POLLER).tell("wake")
            await trio.sleep(0.01)
        await trio.sleep(150)
    first, *later, last = [b - a for a, b in zip(actor.looked_at, actor.looked_at[1:], strict=False)]
    assert 0.05 <= first <= 0.1
    assert all(0.1 * 2**place / 2 <= pause <= 0.1 * 2**place for place, pause in enumerate(later[:3], 1))
    assert (later[3], 0.05 <= last <= 0.1) == (100, True)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 5
    assert {record.getMessage() for record in caplog.records} == {
        "poller: nothing is polled: away",
        "poller: nothing is polled: gone has stopped",
    }
