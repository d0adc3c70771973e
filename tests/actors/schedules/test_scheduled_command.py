from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.actors.messages.scheduling import (
    DISPATCHER,
    SCHEDULED_COMMAND,
    Begin,
    EdgeReached,
    Fire,
    ScheduleEdited,
    StepsPlanned,
)
from motorpool.actors.schedules.scheduled_command import IDLE_SECONDS, SLICE, scheduled_command_spec
from motorpool.runtime import ChildSpec
from motorpool.runtime.testing import Probe
from motorpool.storage.edge_occurrences import EdgeOccurrence
from motorpool.storage.runs import Planned

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def planned(*steps):
    """Steps of schedule 7: (run, seconds from NOW)."""
    return StepsPlanned(tuple(Planned(7, number, NOW + timedelta(seconds=due)) for number, due in steps))


@pytest.fixture
def dispatcher():
    return Probe()


@pytest.fixture
def schedule(database, tree, dispatcher):
    """`async with schedule() as (system, ref):` scheduled command 7 and a dispatcher that records."""
    spec = ChildSpec(kind=DISPATCHER, factory=lambda: dispatcher, resident=False)
    return lambda: tree(spec, scheduled_command_spec(database))


async def pend(database, number, seconds):
    """A record of schedule 7 that waits."""
    await database.execute(
        "insert into scheduled_command_runs (id, scheduled_command_id, firing, phase, step, device_id,"
        " command_id, delay_seconds, followed, time, status)"
        " values ($1, 7, $1, 'start', 0, 1, 1, 0, false, $2, 'pending')",
        number,
        NOW + timedelta(seconds=seconds),
    )


async def test_an_edge_is_its_turn(schedule, dispatcher):
    async with schedule() as system:
        ref = system.ref(SCHEDULED_COMMAND, 7)
        await ref.tell(EdgeReached(3, NOW, opens=True))
        await ref.tell(EdgeReached(3, NOW, opens=False))
    assert dispatcher.messages == [
        Fire(EdgeOccurrence(7, 3, NOW, "start", "start")),
        Fire(EdgeOccurrence(7, 3, NOW, "end", "end")),
    ]


async def test_steps_begin_when_they_are_due_in_the_order_of_their_times(schedule, dispatcher, time):
    async with schedule() as system:
        ref = system.ref(SCHEDULED_COMMAND, 7)
        await ref.tell(planned((1, 30), (2, 10)))
        await ref.tell(planned((3, 20), (4, 10), (5, -5)))
        await time.settle()
        assert dispatcher.messages == [Begin((5,))]
        await time.passes(30, step=5)
    assert dispatcher.messages[1:] == [Begin((2, 4)), Begin((3,)), Begin((1,))]


async def test_a_jump_of_the_wall_clock_neither_hastens_nor_delays_a_step(schedule, dispatcher, time, clock):
    async with schedule() as system:
        await system.ref(SCHEDULED_COMMAND, 7).tell(planned((1, 30)))
        clock.move_wall(-3600)
        await time.passes(29)
        assert dispatcher.messages == []
        await time.passes(1)
    assert dispatcher.messages == [Begin((1,))]


async def test_many_steps_come_in_several_messages(schedule, dispatcher, time):
    count = 2 * SLICE + 3
    async with schedule() as system:
        await system.ref(SCHEDULED_COMMAND, 7).tell(planned(*((number, 5) for number in range(count))))
        await time.passes(5)
    assert [len(message.run_ids) for message in dispatcher.messages] == [SLICE, SLICE, 3]
    assert {number for message in dispatcher.messages for number in message.run_ids} == {*range(count)}


async def test_it_stays_while_steps_wait_and_leaves_then(schedule, dispatcher, time):
    async with schedule() as system:
        ref = system.ref(SCHEDULED_COMMAND, 7)
        await ref.tell(planned((1, 86_400)))
        await time.passes(86_399, step=3600)
        assert ref.alive
        await time.passes(1 + 3 * IDLE_SECONDS, step=1)
        assert not ref.alive
    assert dispatcher.messages == [Begin((1,))]


async def test_an_edit_makes_it_forget_what_was_cancelled_and_keep_the_rest(
    schedule, dispatcher, time, database
):
    await pend(database, 2, 20)
    async with schedule() as system:
        ref = system.ref(SCHEDULED_COMMAND, 7)
        await ref.tell(planned((1, 10), (2, 20)))
        await ref.tell(ScheduleEdited())
        await time.settle()
        await time.passes(30, step=5)
    assert dispatcher.messages == [Begin((2,))]


async def test_an_edit_in_an_outage_forgets_nothing(schedule, dispatcher, time, outage):
    async with schedule() as system:
        ref = system.ref(SCHEDULED_COMMAND, 7)
        await ref.tell(planned((1, 10)))
        with outage():
            await ref.tell(ScheduleEdited())
            await time.settle()
        await time.passes(10)
    assert dispatcher.messages == [Begin((1,))]


async def test_it_waits_where_the_dispatcher_is_full(database, tree, time):
    class Slow(Probe):
        async def handle(self, message):
            await trio.sleep(1)
            return super().handle(message)

    slow = Slow()
    spec = ChildSpec(kind=DISPATCHER, factory=lambda: slow, resident=False, mailbox_size=1)
    async with tree(spec, scheduled_command_spec(database)) as system:
        for opens in (True, False) * 3:
            await system.ref(SCHEDULED_COMMAND, 7).tell(EdgeReached(3, NOW, opens=opens))
        await time.passes(10, step=1)
    assert [message.firing.phase for message in slow.messages] == ["start", "end"] * 3
