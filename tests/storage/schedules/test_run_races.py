"""Those who change the same run records at once: each step has one end, and nobody waits in a ring."""

import random
from datetime import UTC, datetime, timedelta
from functools import partial

import trio
from tests.storage.conftest import WAITS

from motorpool.storage.devices import commands
from motorpool.storage.records import QueuedCommand
from motorpool.storage.schedules import edge_occurrences, runs, scheduled_commands
from motorpool.storage.schedules.edge_occurrences import EdgeOccurrence, Portion
from motorpool.storage.schedules.runs import Outcome

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


async def queued(world):
    """A scheduled command, one run of it that waits in the queue, and its place there."""
    device = await world.device()
    schedule = await world.schedule(device, start=[(await world.command(), 0)])
    await world.fire(schedule, NOW + MINUTE)
    (run,) = await world.runs()
    return schedule, run, await world.queue(run, expires=NOW + 9 * MINUTE)


async def test_what_is_taken_first_is_not_cancelled(world, meanwhile):
    schedule, run, waiting = await queued(world)
    async with meanwhile(partial(runs.cancel, world.database, schedule.id, NOW)) as transaction:
        assert await commands.claim(transaction, waiting.id, NOW) is not None
    assert [each.status for each in await world.runs()] == ["delivering"]
    await runs.store_outcomes(world.database, [Outcome(run.id, "delivered")], NOW)
    assert [(each.status, each.reason) for each in await world.runs()] == [("delivered", None)]


async def test_what_is_cancelled_first_is_not_taken(world, meanwhile):
    schedule, _, waiting = await queued(world)
    taken = []

    async def take():
        taken.append(await commands.claim(world.database, waiting.id, NOW))

    async with meanwhile(take) as transaction:
        await runs.cancel(transaction, schedule.id, NOW)
    assert taken == [None]
    assert [(each.status, each.reason) for each in await world.runs()] == [("skipped", "schedule_inactive")]


async def test_what_begins_first_hears_of_a_cancellation_and_the_other_way_round(world, meanwhile):
    for begins_first in (True, False):
        device = await world.device()
        schedule = await world.schedule(device, start=[(await world.command(), 0)])
        await world.fire(schedule, NOW + MINUTE)
        (run,) = await world.runs(schedule)
        begin = partial(edge_occurrences.start_steps, world.database, [run.id], NOW + MINUTE)
        cancel = partial(runs.cancel, world.database, schedule.id, NOW + MINUTE)
        async with meanwhile(cancel if begins_first else begin) as transaction:
            if begins_first:
                await edge_occurrences.start_steps(transaction, [run.id], NOW + MINUTE)
            else:
                await runs.cancel(transaction, schedule.id, NOW + MINUTE)
        (after,) = await world.runs(schedule)
        assert after.status == ("sending" if begins_first else "skipped")
        assert after.reason == "schedule_inactive"


async def test_a_step_that_was_tried_since_the_statement_began_has_its_row_in_the_log(world):
    database = world.database
    schedule = await world.schedule(
        await world.device(), await world.device(), start=[(await world.command(), 0)]
    )
    await world.fire(schedule, NOW + MINUTE)
    first, second = sorted(run.id for run in await world.runs())
    begun = []

    async def begin():
        begun.extend(await edge_occurrences.start_steps(database, [first, second], NOW + MINUTE))

    async with trio.open_nursery() as nursery, database.transaction() as transaction:
        await transaction.execute("select from scheduled_command_runs where id = $1 for update", first)
        nursery.start_soon(begin)
        while not await database.fetch_value(WAITS):
            await trio.lowlevel.checkpoint()
        (tried,) = await edge_occurrences.start_steps(database, [second], NOW + MINUTE)
        await runs.store_outcomes(database, [Outcome(second, "pending")], NOW + MINUTE)
    rows = await database.fetch("select run_id, id from command_log order by run_id")
    assert [(step.run_id, step.log_id) for step in begun] == [tuple(row.values()) for row in rows]
    assert tried.log_id == begun[1].log_id


async def test_an_edge_and_a_deactivation_end_in_one_of_two_ways(world, meanwhile):
    """Whoever is first at the schedule's row: its edge is fired and cancelled, or not fired."""
    for fires_first in (True, False):
        device, command = await world.device(), await world.command()
        schedule = await world.schedule(device, start=[(command, 0)])
        turn = EdgeOccurrence(schedule.id, schedule.calendar_id, NOW + MINUTE, "start", "start")

        async def deactivate(transaction, schedule_id=schedule.id):
            await transaction.execute(
                "update scheduled_commands set active = false where id = $1", schedule_id
            )
            await runs.cancel(transaction, schedule_id, NOW + MINUTE)

        async def alone(change):
            async with world.database.transaction() as own:
                await change(own)

        async def fire(transaction, turn=turn):
            for firing in await edge_occurrences.fire(transaction, [turn]):
                await edge_occurrences.make_runs(transaction, [Portion(firing, 9)], NOW + MINUTE)

        first, second = (fire, deactivate) if fires_first else (deactivate, fire)
        async with meanwhile(partial(alone, second)) as transaction:
            await first(transaction)
        assert [(each.status, each.reason) for each in await world.runs(schedule)] == (
            [("skipped", "schedule_inactive")] if fires_first else []
        )


async def test_a_deactivation_against_the_records_of_further_devices(world, meanwhile):
    """Whoever is first at the schedule's row: the records are made and cancelled, or not made."""
    for makes_first in (True, False):
        vehicles, command = [await world.device() for _ in range(2)], await world.command()
        schedule = await world.schedule(*vehicles, start=[(command, 0)])
        turn = EdgeOccurrence(schedule.id, schedule.calendar_id, NOW + MINUTE, "start", "start")
        async with world.database.transaction() as own:
            (firing,) = await edge_occurrences.fire(own, [turn])
            made = await edge_occurrences.make_runs(own, [Portion(firing, 1)], NOW + MINUTE)
        assert made.unfinished == {firing.id}

        async def deactivate(transaction, schedule_id=schedule.id):
            await transaction.execute(
                "update scheduled_commands set active = false where id = $1", schedule_id
            )
            await runs.cancel(transaction, schedule_id, NOW + MINUTE)

        async def alone(change):
            async with world.database.transaction() as own:
                await change(own)

        async def make(transaction, firing=firing):
            await edge_occurrences.make_runs(transaction, [Portion(firing, 1)], NOW + MINUTE)

        first, second = (make, deactivate) if makes_first else (deactivate, make)
        async with meanwhile(partial(alone, second)) as transaction:
            await first(transaction)
        reasons = [(each.status, each.reason) for each in await world.runs(schedule)]
        assert reasons == [("skipped", "schedule_inactive")] * (2 if makes_first else 1)
        assert await edge_occurrences.unfinished(world.database) == []


async def test_steps_that_follow_are_locked_with_those_that_ended(world, lock_waits):
    """A cancellation that comes between the two statements of the dispatcher waits for both."""
    command = await world.command()
    vehicles = [await world.device(), await world.device()]
    schedule = await world.schedule(*vehicles, start=[(command, 0), (command, 60)])
    await world.fire(schedule, NOW + MINUTE)
    begun = [run.id for run in await world.runs(schedule) if run.step == 0]
    # The one was taken from its queue already, where a cancellation does not touch it.
    await world.put(begun[:1], "delivering")
    await world.put(begun[1:], "sending")
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery, world.database.transaction() as transaction:
            await runs.lock_with_later_steps(transaction, begun)
            await runs.store_outcomes(
                transaction, [Outcome(begun[0], "queued"), Outcome(begun[1], "sent")], NOW
            )
            nursery.start_soon(partial(runs.cancel, world.database, schedule.id, NOW))
            while not await lock_waits():
                await trio.lowlevel.checkpoint()
            await runs.schedule_next_steps(transaction, begun)
    assert [run.status for run in await world.runs(schedule)] == ["delivering", "skipped", "sent", "skipped"]


class Struggle:
    """One round: two schedules over some devices, steps in every state, and all who may change them."""

    def __init__(self, world, schedules, chance):
        self.world, self.schedules, self.chance = world, schedules, chance
        self.database = world.database
        self.taken, self.sent = set(), set()
        self.dispatcher = trio.Lock()

    async def prepare(self, at):
        turns = [EdgeOccurrence(each.id, each.calendar_id, at, "start", "start") for each in self.schedules]
        await self.world.fire_many(*turns, now=at)
        self.runs = [run for run in await self.world.runs() if run.status == "pending"]
        self.first = [run for run in self.runs if run.step == 0]
        self.chance.shuffle(self.first)
        half = len(self.first) // 2
        ids = [run.id for run in self.first[:half]]
        await self.world.put(ids, "queued")
        rows = await self.database.fetch(
            "insert into queued_commands (device_id, type, run_id) select device_id, 'custom', id"
            " from scheduled_command_runs where id = any($1::bigint[]) returning run_id, id",
            ids,
        )
        self.waiting = {row[0]: row[1] for row in rows}
        self.sending = [run.id for run in self.first[half:]]
        await self.world.put(self.sending, "sending")

    async def take(self):
        for run in self.first:
            if run.id in self.waiting:
                taken = await commands.claim(self.database, self.waiting[run.id], NOW)
                if taken is not None:
                    self.taken.add(taken.run_id)
                    await runs.store_outcomes(self.database, [Outcome(taken.run_id, "delivered")], NOW)

    async def queue(self):
        for run_id in self.sending[::2]:
            run = next(each for each in self.first if each.id == run_id)
            order = QueuedCommand(device_id=run.device_id, type="custom")
            await runs.queue_step(self.database, run_id, order, now=NOW, minutes=5)

    async def settle(self):
        came = [Outcome(run_id, "sent") for run_id in self.sending[1::2]]
        self.sent.update(outcome.run_id for outcome in came)
        came += [Outcome(run_id, "queued") for run_id in self.sending[::2]]
        async with self.dispatcher, self.database.transaction() as transaction:
            await runs.lock_with_later_steps(transaction, self.sending)
            await runs.store_outcomes(transaction, came, NOW)
            await runs.schedule_next_steps(transaction, self.sending)

    async def cancel(self):
        for schedule in self.schedules:
            async with self.database.transaction() as transaction:
                await transaction.execute(
                    "update scheduled_commands set name = 'x' where id = $1", schedule.id
                )
                await runs.cancel(transaction, schedule.id, NOW)

    async def expire(self):
        await commands.expire(self.database, NOW, [run.id for run in self.first[::2]])

    async def supersede(self, at):
        turns = [EdgeOccurrence(each.id, each.calendar_id, at, "end", "end") for each in self.schedules]
        async with self.dispatcher:
            await self.world.fire_many(*turns, now=at)

    async def forget(self):
        for device_id in {run.device_id for run in self.first[::2]}:
            async with self.database.transaction() as transaction:
                await runs.cancel_for_device(transaction, device_id, NOW)


async def test_everybody_at_once_many_times(world):
    chance = random.Random(5)
    command = await world.command()
    vehicles = [await world.device() for _ in range(3)]
    steps = [(command, 0), (command, 60)]
    schedules = [await world.schedule(*vehicles, start=steps, end=[(command, 0)]) for _ in range(2)]
    ends = set()
    for number in range(1, 81):
        at = NOW + number * MINUTE
        round_ = Struggle(world, schedules, chance)
        await round_.prepare(at)
        everybody = [
            round_.take,
            round_.queue,
            round_.settle,
            round_.cancel,
            round_.expire,
            round_.forget,
            partial(round_.supersede, at + SECOND),
        ]
        chance.shuffle(everybody)
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                for each in everybody[: chance.randint(2, 7)]:
                    nursery.start_soon(each)
        after = {run.id: run for run in await world.runs()}
        in_queue = {row[0] for row in await world.database.fetch("select run_id from queued_commands")}
        assert in_queue == {run.id for run in after.values() if run.status == "queued"}
        for run in round_.first:
            ended = after[run.id]
            ends.add((ended.status, ended.reason))
            assert (ended.status == "delivered") == (run.id in round_.taken)
            assert (ended.status == "sent") == (run.id in round_.sent)
        await world.database.execute("delete from queued_commands; delete from scheduled_command_runs")
    assert {
        ("delivered", None),
        ("sent", None),
        ("queued", None),
        ("sending", None),
        ("skipped", "superseded"),
        ("skipped", "schedule_inactive"),
        ("skipped", "queue_expired"),
        ("skipped", "device_not_found"),
    } <= ends


async def test_calendars_that_are_changed_as_their_edges_fire_wait_for_each_other(world):
    """Both change the rows of many scheduled commands."""
    command, device, calendar = await world.command(), await world.device(), await world.calendar()
    owner = await world.user(administrator=True)
    schedules = [
        await world.schedule(device, start=[(command, 0)], owner=owner, calendar_id=calendar.id)
        for _ in range(30)
    ]
    chance = random.Random(5)
    for number in range(1, 31):
        at = NOW + number * MINUTE
        turns = [EdgeOccurrence(each.id, calendar.id, at, "start", "start") for each in schedules]
        chance.shuffle(turns)
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(world.fire_many, *turns, now=at))
                nursery.start_soon(
                    scheduled_commands.WATCHED.restart_calendar, world.database, calendar.id, at - SECOND
                )
                nursery.start_soon(
                    scheduled_commands.WATCHED.restart_ahead_of_clock, world.database, at, -timedelta(days=9)
                )
