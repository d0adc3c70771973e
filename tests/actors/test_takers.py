"""Takers of units: actors with room, without, and gone."""

import pytest
import trio

from motorpool.actors.publishing import StreamEnded, UnitsTaken
from motorpool.actors.takers import Takers
from motorpool.runtime import Actor, DynamicSpec, Kind, Restart

TAKER = Kind("taker")


class Slow(Actor):
    """Takes its time with each message, until it is let go."""

    def __init__(self):
        self.messages = []
        self.free = trio.Event()

    def handle(self, message):
        self.messages.append(message)
        return None if self.free.is_set() else self.wait()

    async def wait(self):
        await self.free.wait()


@pytest.fixture
def joined(tree):
    """`async with joined(count) as (takers, refs, actors):` takers with room for one message each."""

    class Opened:
        def __init__(self, count=1, slow=True):
            self.count, self.slow = count, slow

        async def __aenter__(self):
            self.running = tree(
                DynamicSpec(
                    kind=TAKER,
                    name="takers",
                    factory=None,
                    restart=Restart.TEMPORARY,
                    mailbox_size=1,
                    idle_seconds=None,
                )
            )
            system = await self.running.__aenter__()
            self.actors = [Slow() for _ in range(self.count)]
            takers, refs = Takers(), []
            for number, actor in enumerate(self.actors):
                if not self.slow:
                    actor.free.set()
                refs.append(await system.start(TAKER, number, lambda actor=actor: actor))
                takers.add(refs[-1], float(number))
            return takers, refs, self.actors

        async def __aexit__(self, *error):
            for actor in self.actors:
                actor.free.set()
            return await self.running.__aexit__(*error)

    return Opened


async def test_units_and_the_end_reach_each_taker_once(joined, film, time):
    units = film(1)
    async with joined(2, slow=False) as (takers, refs, actors):
        takers.add(refs[0], 50.0)  # again
        assert takers.pass_on(units[:2]) == []
        takers.discontinuity()
        assert takers.pass_on(units[2:3]) == []
        takers.remove(refs[1])
        takers.pass_on(units[3:])
        takers.end("over")
        takers.end("over again")
        takers.pass_on(units)
        assert not takers
        told = [UnitsTaken(units[:2]), UnitsTaken(units[2:3], lossy=True)]
        assert actors[0].messages == [*told, UnitsTaken(units[3:]), StreamEnded("over")]
        assert actors[1].messages == told


async def test_who_has_no_room_misses_units_and_is_told_so(joined, film, time):
    units = film(1)
    async with joined() as (takers, refs, (slow,)):
        takers.pass_on(units[:1])
        takers.pass_on(units[1:2])
        full = takers.pass_on(units[2:3])
        assert full == refs
        takers.missed(full)
        slow.free.set()
        await time.settle()
        takers.pass_on(units[3:])
        assert slow.messages == [
            UnitsTaken(units[:1]),
            UnitsTaken(units[1:2]),
            UnitsTaken(units[3:], lossy=True),
        ]


async def test_who_may_wait_waits_for_room_but_not_for_ever(joined, film, time):
    units = film(1)
    async with joined() as (takers, _, (slow,)), trio.open_nursery() as nursery:
        takers.pass_on(units[:1])
        takers.pass_on(units[1:2])
        nursery.start_soon(takers.wait, takers.pass_on(units[2:3]), units[2:3])
        await time.passes(9)
        slow.free.set()
        await time.settle()
        assert slow.messages == [UnitsTaken(units[number : number + 1]) for number in range(3)]
        slow.free = trio.Event()
        takers.pass_on(units[3:4])
        takers.pass_on(units[4:])
        nursery.start_soon(takers.wait, takers.pass_on(units[:1]), units[:1])
        await time.passes(10.1, step=1)
        assert not nursery.child_tasks
        slow.free.set()
        await time.settle()
        takers.pass_on(units[1:2])
        assert slow.messages[-1] == UnitsTaken(units[1:2], lossy=True)


async def test_the_end_is_told_as_soon_as_there_is_room(joined, film, time):
    async with joined() as (takers, _, (slow,)):
        takers.pass_on(film(1)[:1])
        takers.pass_on(film(1)[1:2])
        takers.end("over")
        takers.tell_ends()
        slow.free.set()
        await time.settle()
        takers.tell_ends()
        takers.tell_ends()
        assert slow.messages[2:] == [StreamEnded("over")]


async def test_the_end_may_be_told_to_the_older_ones_alone(joined, film, time):
    async with joined(3, slow=False) as (takers, _, actors):
        assert takers.joined_at == 2.0
        takers.end("over", lambda joined_at: joined_at < 2)
        assert [actor.messages for actor in actors] == [[StreamEnded("over")]] * 2 + [[]]
        assert len(takers) == 1


async def test_one_that_has_gone_is_forgotten(joined, film, time):
    async with joined(3, slow=False) as (takers, refs, actors):
        await refs[0].stop()
        assert takers.pass_on(film(1)) == []
        assert len(takers) == 2
        await refs[1].stop()
        await takers.wait(refs[1:2], film(1))
        assert len(takers) == 1
        await refs[2].stop()
        takers.end("over")
        takers.tell_ends()
        assert not actors[0].messages
