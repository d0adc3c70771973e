"""Subscribers of cuts: actors with room, without, and gone."""

import pytest
import trio

from motorpool.actors.messages.publishing import FragmentsReady, StreamEnded, StreamReplaced
from motorpool.actors.video.subscribers import Subscribers
from motorpool.codecs.media.fragments import MediaFragment
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
            takers, refs = Subscribers(), []
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


def fragment(number):
    return MediaFragment(number, number + 1, None, (), (), False, True, 0.0)


CUTS = tuple(fragment(number) for number in range(6))
OVER = StreamEnded("over", CUTS[5])


async def test_cuts_and_the_end_reach_each_taker_once(joined, time):
    async with joined(2, slow=False) as (takers, refs, actors):
        takers.add(refs[0], 50.0)  # again
        assert takers.send(CUTS[:1]) == []
        takers.remove(refs[1], StreamEnded("let go", CUTS[1]))
        takers.send(CUTS[1:3])
        takers.end(OVER)
        takers.end(StreamEnded("over again"))
        takers.send(CUTS)
        assert not takers
        assert actors[0].messages == [FragmentsReady(CUTS[:1]), FragmentsReady(CUTS[1:3]), OVER]
        assert actors[1].messages == [FragmentsReady(CUTS[:1]), StreamEnded("let go", CUTS[1])]


async def test_who_has_no_room_misses_cuts(joined, time):
    async with joined() as (takers, refs, (slow,)):
        assert takers.send(CUTS[:1]) == []
        assert takers.send(CUTS[1:2]) == []
        assert takers.send(CUTS[2:3]) == refs
        slow.free.set()
        await time.settle()
        takers.send(CUTS[3:])
        assert slow.messages == [
            FragmentsReady(CUTS[:1]),
            FragmentsReady(CUTS[1:2]),
            FragmentsReady(CUTS[3:]),
        ]


async def test_who_may_wait_waits_for_room_but_not_for_ever(joined, time):
    missed = []

    async def wait(fragments):
        missed.append(await takers.wait(takers.send(fragments), fragments))

    async with joined() as (takers, refs, (slow,)), trio.open_nursery() as nursery:
        takers.send(CUTS[:1])
        takers.send(CUTS[1:2])
        nursery.start_soon(wait, CUTS[2:3])
        await time.passes(9)
        slow.free.set()
        await time.settle()
        assert slow.messages == [FragmentsReady(CUTS[number : number + 1]) for number in range(3)]
        slow.free = trio.Event()
        takers.send(CUTS[:1])
        takers.send(CUTS[1:2])
        nursery.start_soon(wait, CUTS[3:4])
        await time.passes(10.1, step=1)
        assert missed == [[], refs]
        slow.free.set()
        await time.settle()
        takers.send(CUTS[4:5])
        assert FragmentsReady(CUTS[3:4]) not in slow.messages
        assert slow.messages[-1] == FragmentsReady(CUTS[4:5])


async def test_the_end_is_told_as_soon_as_there_is_room(joined, time):
    async with joined() as (takers, _, (slow,)):
        takers.send(CUTS[:1])
        takers.send(CUTS[1:2])
        takers.end(OVER)
        takers.send_ends()
        slow.free.set()
        await time.settle()
        takers.send_ends()
        takers.send_ends()
        assert slow.messages[2:] == [OVER]


async def test_another_playback_is_told_to_those_that_stay_and_the_end_to_the_others(joined, time):
    async with joined(3, slow=False) as (takers, _, actors):
        assert takers.joined_at == 2.0
        await takers.replace(OVER, 1.0)
        assert [actor.messages for actor in actors] == [[OVER], [OVER], [StreamReplaced()]]
        assert len(takers) == 1


async def test_who_has_no_room_for_another_playback_is_ended(joined, time):
    async with joined() as (takers, _, (slow,)):
        takers.send(CUTS[:1])
        takers.send(CUTS[1:2])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(takers.replace, OVER, -1.0)
            await time.passes(10.1, step=1)
        assert not len(takers)
        slow.free.set()
        await time.settle()
        takers.send_ends()
        assert slow.messages[2:] == [OVER]


async def test_one_that_has_gone_is_forgotten(joined, time):
    async with joined(3, slow=False) as (takers, refs, actors):
        await refs[0].stop()
        assert takers.send(CUTS) == []
        assert len(takers) == 2
        await refs[1].stop()
        assert await takers.wait(refs[1:2], CUTS) == []
        assert len(takers) == 1
        await refs[2].stop()
        takers.end(OVER)
        takers.send_ends()
        assert not actors[0].messages
