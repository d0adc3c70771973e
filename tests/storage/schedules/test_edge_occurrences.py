"""What a turn makes: whose records, with which times, and what it ends of the opposite phase."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.storage.accounts import links
from motorpool.storage.devices import commands
from motorpool.storage.records import QueuedCommand, ScheduledCommandRun
from motorpool.storage.schedules import edge_occurrences, runs, scheduled_commands
from motorpool.storage.schedules.edge_occurrences import MISSED_AFTER, EdgeOccurrence, Portion

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def command(world):
    return await world.command()


@pytest.fixture
async def device(world):
    return await world.device()


class TestTurns:
    async def test_an_edge_is_fired_once_and_none_before_it_any_more(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)])
        assert len(await world.fire(schedule, NOW + MINUTE)) == 1
        assert await world.watched_from(schedule) == NOW + MINUTE
        assert await world.fire(schedule, NOW + MINUTE) == []
        assert await world.fire(schedule, NOW + MINUTE - SECOND) == []
        assert await world.watched_from(schedule) == NOW + MINUTE
        assert len(await world.fire(schedule, NOW + MINUTE + SECOND)) == 1
        assert len(await world.runs()) == 2

    async def test_an_edge_at_the_moment_that_watching_began_is_none_of_its_business(
        self, world, command, device
    ):
        schedule = await world.schedule(device, start=[(command, 0)], watched_from=NOW)
        assert await world.fire(schedule, NOW) == []

    @pytest.mark.parametrize("why", ["inactive", "another calendar", "deleted", "no start"])
    async def test_what_is_not_its_edge_makes_nothing_and_leaves_no_trace(self, world, command, device, why):
        schedule = await world.schedule(device, start=[(command, 0)], active=why != "inactive")
        calendar_id = schedule.calendar_id + (1 if why == "another calendar" else 0)
        if why == "deleted":
            await scheduled_commands.TABLE.delete(world.database, schedule.id)
        if why == "no start":
            # As a row stands that was stored, and not yet owned and watched.
            await world.database.execute("update scheduled_commands set watched_from = default")
        before = await world.watched_from(schedule)
        assert await world.fire(schedule, NOW + MINUTE, calendar_id=calendar_id) == []
        assert await world.runs() == []
        assert await world.watched_from(schedule) == before
        if why != "deleted":
            assert await world.last_run(schedule) is None

    @pytest.mark.parametrize("active", [True, False])
    async def test_a_person_runs_it_in_any_case_and_moves_no_edge(self, world, command, device, active):
        schedule = await world.schedule(device, start=[(command, 0)], active=active)
        for _ in range(2):
            ((made, step),) = await world.fire(schedule, NOW - MINUTE, "manual")
            assert (made.phase, made.status, step) == ("manual", "pending", 0)
        assert await world.watched_from(schedule) == NOW

    async def test_each_phase_has_its_list_and_a_person_has_the_choice(self, world, device):
        opening, closing = await world.command(), await world.command()
        schedule = await world.schedule(device, start=[(opening, 0)], end=[(closing, 0)])
        for number, (phase, steps) in enumerate(
            [("start", "start"), ("end", "end"), ("manual", "start"), ("manual", "end")], 1
        ):
            ((made, _),) = await world.fire(schedule, NOW + number * MINUTE, phase, steps=steps)
            assert made.phase == phase
            assert made.command_id == (opening if steps == "start" else closing).id

    async def test_an_empty_list_makes_no_records_and_is_no_run_but_has_fired(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)])
        assert await world.fire(schedule, NOW + MINUTE, "end") == []
        assert await world.last_run(schedule) is None
        assert await world.watched_from(schedule) == NOW + MINUTE

    async def test_a_record_tells_what_was_made_of_it(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)])
        ((made, _),) = await world.fire(schedule, NOW + MINUTE)
        (stored,) = await world.runs()
        assert made == ScheduledCommandRun(
            stored.id, schedule.id, "start", device.id, command.id, NOW + MINUTE, "pending"
        )
        assert await runs.fetch(world.database, [stored.id]) == [made]


class TestSteps:
    async def test_delays_add_up_and_the_first_does_not_count(self, world, device):
        one, two, three = [await world.command() for _ in range(3)]
        schedule = await world.schedule(device, start=[(one, 600), (two, 20), (three, 400)])
        made = await world.fire(schedule, NOW + MINUTE, now=NOW + 2 * MINUTE)
        assert [(record.command_id, step) for record, step in made] == [
            (one.id, 0),
            (two.id, 1),
            (three.id, 2),
        ]
        # From the edge, not from when anybody noticed it.
        assert [record.time - NOW - MINUTE for record, _ in made] == [0 * SECOND, 20 * SECOND, 420 * SECOND]
        assert [run.followed for run in await world.runs()] == [True, True, False]

    async def test_the_same_command_may_stand_in_a_list_twice(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0), (command, 0)])
        assert [step for _, step in await world.fire(schedule, NOW + MINUTE)] == [0, 1]

    async def test_a_step_without_a_delay_in_its_row_has_none(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)])
        await world.database.execute(
            "update scheduled_commands set on_start = $1", [{"commandId": command.id}] * 2
        )
        made = await world.fire(schedule, NOW + MINUTE)
        assert [record.time for record, _ in made] == [NOW + MINUTE] * 2

    async def test_steps_of_one_device_in_one_firing_belong_together_and_to_nobody_else(self, world, command):
        devices = [await world.device() for _ in range(2)]
        schedules = [await world.schedule(*devices, start=[(command, 0), (command, 9)]) for _ in range(2)]
        turns = [
            EdgeOccurrence(each.id, each.calendar_id, NOW + MINUTE, "start", "start") for each in schedules
        ]
        await world.fire_many(*turns, now=NOW + MINUTE)
        await world.fire(schedules[0], NOW + 2 * MINUTE)
        made = await world.runs()
        chains = {(run.firing, run.device_id) for run in made}
        assert len(chains) == 6
        for chain in chains:
            assert [run.step for run in made if (run.firing, run.device_id) == chain] == [0, 1]
        assert len({run.firing for run in made}) == 3


class TestTargets:
    async def test_each_device_is_a_target_once_however_often_it_is_linked(self, world, command):
        chain = [await world.group()]
        for _ in range(4):
            chain.append(await world.group(chain[-1]))
        inside = [await world.device(group) for group in chain]
        direct, outside = await world.device(), await world.device(await world.group())
        schedule = await world.schedule(direct, inside[1], chain[0], chain[1], start=[(command, 0)])
        made = await world.fire(schedule, NOW + MINUTE)
        # Children included, at any depth.
        assert [record.device_id for record, _ in made] == sorted(
            [direct.id, *(device.id for device in inside)]
        )
        assert outside.id not in {record.device_id for record, _ in made}

    async def test_nothing_above_a_linked_group_is_a_target(self, world, command):
        above = await world.group()
        below = await world.group(above)
        await world.device(above)
        inside = await world.device(below)
        schedule = await world.schedule(below, start=[(command, 0)])
        assert [record.device_id for record, _ in await world.fire(schedule, NOW + MINUTE)] == [inside.id]

    async def test_targets_are_those_at_the_moment_it_fires(self, world, command, device):
        group = await world.group()
        schedule = await world.schedule(device, group, start=[(command, 0)])
        await world.fire(schedule, NOW + MINUTE)
        later = await world.device(group)
        await links.remove_many(world.database, links.DEVICE_SCHEDULED_COMMAND, [(device.id, schedule.id)])
        await world.fire(schedule, NOW + 2 * MINUTE)
        assert [run.device_id for run in await world.runs()] == [device.id, later.id]

    async def test_without_links_it_has_nothing_to_send(self, world, command):
        schedule = await world.schedule(start=[(command, 0)])
        await links.add(world.database, links.GROUP_SCHEDULED_COMMAND, (await world.group()).id, schedule.id)
        assert await world.fire(schedule, NOW + MINUTE) == []
        assert await world.fire(schedule, NOW + MINUTE, "manual") == []
        assert await world.last_run(schedule) is None

    async def test_many_have_their_turn_at_once_and_each_sends_to_its_own(self, world, command):
        devices = [await world.device() for _ in range(4)]
        schedules = [await world.schedule(each, start=[(command, 0)]) for each in devices]
        quiet = await world.schedule(devices[0], start=[(command, 0)], active=False)
        turns = [
            EdgeOccurrence(each.id, each.calendar_id, NOW + MINUTE, "start", "start")
            for each in (*schedules, quiet)
        ]
        made = await world.fire_many(*turns, now=NOW + MINUTE)
        assert {(record.scheduled_command_id, record.device_id) for record, _ in made} == {
            (schedule.id, device.id) for schedule, device in zip(schedules, devices, strict=True)
        }
        assert await world.fire_many(now=NOW) == []


class TestPortions:
    """Records that are made for some devices after the others."""

    async def made(self, world, *firings, devices, now=NOW + MINUTE):
        """Make portions of this many devices; (schedule, device) of each step, and unfinished firings."""
        async with world.database.transaction() as transaction:
            portions = [Portion(firing, devices) for firing in firings]
            made = await edge_occurrences.make_runs(transaction, portions, now)
        stored = {run.id: run for run in await world.runs()}
        steps = [(stored[each].schedule_id, stored[each].device_id) for each in made.run_ids]
        assert made.first_steps == [each for each in made.run_ids if stored[each].step == 0]
        return steps, made.unfinished

    async def fired(self, world, *schedules, phase="start", at=NOW + MINUTE):
        turns = [EdgeOccurrence(each.id, each.calendar_id, at, phase, phase) for each in schedules]
        async with world.database.transaction() as transaction:
            return await edge_occurrences.fire(transaction, turns)

    async def test_each_device_has_all_its_steps_in_one_portion_and_none_has_them_twice(self, world, command):
        above = await world.group()
        below = await world.group(above)
        vehicles = [await world.device(group) for group in (below, above, None, above, below)]
        schedule = await world.schedule(above, vehicles[2], vehicles[4], start=[(command, 0), (command, 5)])
        (firing,) = await self.fired(world, schedule)
        assert (firing.schedule_id, firing.steps) == (schedule.id, 2)
        assert await edge_occurrences.unfinished(world.database) == [firing]
        ids = [vehicle.id for vehicle in vehicles]
        seen = []
        for some, rest in ((ids[:2], {firing.id}), (ids[2:4], {firing.id}), (ids[4:], set())):
            steps, unfinished = await self.made(world, firing, devices=2)
            assert (steps, unfinished) == ([(schedule.id, each) for each in some for _ in range(2)], rest)
            seen += some
        assert seen == ids
        assert await edge_occurrences.unfinished(world.database) == []
        assert await self.made(world, firing, devices=2) == ([], set())
        made = await world.runs()
        assert {run.firing for run in made} == {firing.id}
        assert {(run.step, run.time) for run in made} == {
            (0, NOW + MINUTE),
            (1, NOW + MINUTE + 5 * SECOND),
        }

    async def test_the_last_portion_may_be_full(self, world, command):
        vehicles = [await world.device() for _ in range(4)]
        schedule = await world.schedule(*vehicles, start=[(command, 0)])
        (firing,) = await self.fired(world, schedule)
        assert [len((await self.made(world, firing, devices=2))[0]) for _ in range(3)] == [2, 2, 0]

    async def test_a_device_that_is_linked_meanwhile_has_them_if_it_comes_after_the_others(
        self, world, command
    ):
        early = await world.device()
        vehicles = [await world.device() for _ in range(2)]
        schedule = await world.schedule(*vehicles, start=[(command, 0)])
        (firing,) = await self.fired(world, schedule)
        await self.made(world, firing, devices=1)
        for vehicle in (early, late := await world.device()):
            await links.add(world.database, links.DEVICE_SCHEDULED_COMMAND, vehicle.id, schedule.id)
        await links.remove_many(
            world.database, links.DEVICE_SCHEDULED_COMMAND, [(vehicles[1].id, schedule.id)]
        )
        steps, unfinished = await self.made(world, firing, devices=5)
        assert (steps, unfinished) == ([(schedule.id, late.id)], set())

    async def test_firings_of_several_schedules_go_on_by_themselves(self, world, command):
        vehicles = [await world.device() for _ in range(3)]
        large = await world.schedule(*vehicles, start=[(command, 0)])
        small = await world.schedule(vehicles[1], start=[(command, 0)])
        empty = await world.schedule(start=[(command, 0)])
        firings = await self.fired(world, large, small, empty)
        assert [firing.schedule_id for firing in firings] == [large.id, small.id, empty.id]
        steps, unfinished = await self.made(world, *firings, devices=1)
        assert steps == [(large.id, vehicles[0].id), (small.id, vehicles[1].id)]
        assert unfinished == {firings[0].id}
        assert await edge_occurrences.unfinished(world.database) == [firings[0]]

    async def test_the_opposite_phase_is_superseded_device_by_device(self, world, command):
        vehicles = [await world.device() for _ in range(3)]
        schedule = await world.schedule(*vehicles, start=[(command, 0)], end=[(command, 0)])
        await world.fire(schedule, NOW + MINUTE)
        (firing,) = await self.fired(world, schedule, phase="end", at=NOW + 2 * MINUTE)
        for count in range(1, 4):
            await self.made(world, firing, devices=1, now=NOW + 2 * MINUTE)
            ended = [run.device_id for run in await world.runs() if run.reason == "superseded"]
            assert ended == [vehicle.id for vehicle in vehicles[:count]]

    async def test_of_firings_that_are_too_many_the_oldest_are_left_out(self, world, command, device):
        crowded, other = [await world.schedule(device, start=[(command, 0)]) for _ in range(2)]
        firings = [(await self.fired(world, crowded, at=NOW + number * MINUTE))[0] for number in range(1, 5)]
        (kept,) = await self.fired(world, other)
        left_out = await edge_occurrences.leave_out(world.database, [crowded.id, other.id], 3)
        assert left_out == {firings[0].id: crowded.id}
        assert await edge_occurrences.unfinished(world.database) == [*firings[1:], kept]

    async def test_nothing_is_made_for_what_is_gone(self, world, command, device):
        for end in ("cancelled", "deleted"):
            schedule = await world.schedule(device, start=[(command, 0)])
            (firing,) = await self.fired(world, schedule)
            if end == "deleted":
                await scheduled_commands.TABLE.delete(world.database, schedule.id)
            else:
                await runs.cancel(world.database, schedule.id, NOW)
            assert await self.made(world, firing, devices=1) == ([], set())
            assert await edge_occurrences.unfinished(world.database) == []


class TestLastRun:
    async def test_it_is_when_the_edge_was_fired_and_never_goes_back(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)], watched_from=NOW - 60 * MINUTE)
        await world.fire(schedule, NOW, now=NOW + MISSED_AFTER)
        assert await world.last_run(schedule) == NOW + MISSED_AFTER
        await world.fire(schedule, NOW + MINUTE, now=NOW + 2 * MINUTE)
        assert await world.last_run(schedule) == NOW + MISSED_AFTER
        await world.fire(schedule, NOW + 10 * MINUTE, "manual")
        assert await world.last_run(schedule) == NOW + 10 * MINUTE

    async def test_a_missed_edge_is_no_run(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)])
        assert len(await world.fire(schedule, NOW + MINUTE, now=NOW + MINUTE + MISSED_AFTER + SECOND)) == 1
        assert await world.last_run(schedule) is None


class TestSuperseding:
    """The opposite phase of the same schedule and device ends what still waits."""

    async def waiting(self, world, schedule, phase="start"):
        """A run of each kind for the one device: pending, queued, and one in sending."""
        await world.fire(schedule, NOW + MINUTE, phase)
        sending, queued, pending = await world.runs(schedule)
        await world.put([sending.id], "sending")
        return sending, queued, pending, await world.queue(queued)

    @pytest.fixture
    async def schedule(self, world, command, device):
        steps = [(command, 0), (command, 60), (command, 60)]
        return await world.schedule(device, start=steps, end=steps)

    @pytest.mark.parametrize(("first", "then"), [("start", "end"), ("end", "start")])
    async def test_what_is_pending_or_queued_ends_and_leaves_the_queue(
        self, world, schedule, device, first, then
    ):
        sending, queued, pending, _ = await self.waiting(world, schedule, first)
        by_hand = await commands.enqueue(world.database, QueuedCommand(device_id=device.id, type="custom"))
        await world.fire(schedule, NOW + 2 * MINUTE, then)
        ended = {run.id: run for run in await world.runs() if run.phase == first}
        for run in (queued, pending):
            assert (ended[run.id].status, ended[run.id].reason) == ("skipped", "superseded")
            assert ended[run.id].time == NOW + 2 * MINUTE
        assert [run.status for run in await world.runs() if run.phase == then] == ["pending"] * 3
        assert await commands.queued_for(world.database, device.id) == [by_hand]
        assert ended[sending.id].status == "sending"
        assert ended[sending.id].time == NOW + MINUTE

    async def test_what_is_being_sent_is_not_queued_any_more(self, world, schedule, device):
        sending, *_ = await self.waiting(world, schedule)
        await world.fire(schedule, NOW + 2 * MINUTE, "end")
        order = QueuedCommand(device_id=device.id, type="custom")
        assert (
            await runs.queue_step(world.database, sending.id, order, now=NOW + 2 * MINUTE, minutes=5) is None
        )
        assert await commands.queued_for(world.database, device.id) == []
        outcome = runs.Outcome(sending.id, "skipped", "not_sent")
        await runs.store_outcomes(world.database, [outcome], NOW + 3 * MINUTE)
        ended = (await world.runs())[0]
        assert (ended.status, ended.reason) == ("skipped", "superseded")

    async def test_what_went_out_all_the_same_is_sent(self, world, schedule):
        sending, *_ = await self.waiting(world, schedule)
        await world.fire(schedule, NOW + 2 * MINUTE, "end")
        (shown,) = await runs.fetch(world.database, [sending.id])
        assert (shown.status, shown.reason) == ("pending", None)
        await runs.store_outcomes(world.database, [runs.Outcome(sending.id, "sent")], NOW + 3 * MINUTE)
        ended = (await world.runs())[0]
        assert (ended.status, ended.reason, ended.time) == ("sent", None, NOW + 3 * MINUTE)

    async def test_nobody_else_is_touched(self, world, command, device):
        other = await world.device()
        both = [(command, 0)]
        schedule = await world.schedule(device, other, start=both, end=both)
        neighbour = await world.schedule(device, start=both, end=both)
        await world.fire(schedule, NOW + MINUTE)
        await world.fire(neighbour, NOW + MINUTE)
        await world.fire(schedule, NOW + MINUTE, "manual")
        # Of what had its turn, another window and a person's wish end nothing, nor is a wish ended.
        await world.fire(schedule, NOW + 2 * MINUTE, "start")
        await world.fire(schedule, NOW + 2 * MINUTE, "manual", steps="end")
        assert {run.status for run in await world.runs()} == {"pending"}
        await links.remove_many(world.database, links.DEVICE_SCHEDULED_COMMAND, [(other.id, schedule.id)])
        await world.fire(schedule, NOW + 3 * MINUTE, "end")
        ended = [run for run in await world.runs() if run.reason == "superseded"]
        # For a device that has left the schedule meanwhile the opposite phase does not fire.
        assert {(run.schedule_id, run.device_id, run.phase) for run in ended} == {
            (schedule.id, device.id, "start")
        }
        assert len(ended) == 2

    async def test_what_has_ended_stays_as_it_is(self, world, schedule):
        await self.waiting(world, schedule)
        for run, status in zip(await world.runs(), ("delivering", "failed", "delivered"), strict=True):
            await world.put([run.id], status)
        before = await world.runs()
        await world.fire(schedule, NOW + 2 * MINUTE, "end")
        assert (await world.runs())[:3] == before

    @pytest.mark.parametrize(("first", "then"), [("start", "end"), ("end", "start")])
    async def test_a_phase_without_steps_does_not_fire_and_ends_nothing(
        self, world, command, device, first, then
    ):
        schedule = await world.schedule(device, **{first: [(command, 0), (command, 60), (command, 60)]})
        *_, waiting = await self.waiting(world, schedule, first)
        before = await world.runs()
        assert await world.fire(schedule, NOW + 2 * MINUTE, then) == []
        assert await world.runs() == before
        assert await commands.queued_for(world.database, device.id) == [waiting]

    async def test_a_phase_without_devices_ends_nothing(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)], end=[(command, 0)])
        await world.fire(schedule, NOW + MINUTE)
        await links.remove_many(world.database, links.DEVICE_SCHEDULED_COMMAND, [(device.id, schedule.id)])
        assert await world.fire(schedule, NOW + 2 * MINUTE, "end") == []
        assert [run.status for run in await world.runs()] == ["pending"]

    async def test_of_several_schedules_that_fire_together_each_ends_its_own(self, world, command, device):
        other = await world.device()
        step = [(command, 0)]
        one = await world.schedule(device, other, start=step, end=step)
        two = await world.schedule(device, other, start=step, end=step)
        both, at = (one, two), NOW + MINUTE
        await world.fire_many(
            *(EdgeOccurrence(each.id, each.calendar_id, at, "start", "start") for each in both), now=at
        )
        for device_id, schedule in ((device.id, one), (other.id, two)):
            await links.remove_many(
                world.database, links.DEVICE_SCHEDULED_COMMAND, [(device_id, schedule.id)]
            )
        at += MINUTE
        await world.fire_many(
            *(EdgeOccurrence(each.id, each.calendar_id, at, "end", "end") for each in both), now=at
        )
        ended = {(run.schedule_id, run.device_id) for run in await world.runs() if run.reason == "superseded"}
        assert ended == {(one.id, other.id), (two.id, device.id)}

    async def test_a_run_by_hand_without_steps_ends_nothing(self, world, command, device):
        schedule = await world.schedule(device, start=[(command, 0)])
        await world.fire(schedule, NOW + MINUTE)
        assert await world.fire(schedule, NOW + 2 * MINUTE, "manual", steps="end") == []
        assert [run.status for run in await world.runs()] == ["pending"]
