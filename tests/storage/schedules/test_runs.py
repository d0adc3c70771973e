"""Run records from their turn to their end, and the history that they make."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.storage.database import nodes
from motorpool.storage.devices import commands, devices
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import QueuedCommand
from motorpool.storage.schedules import edge_occurrences, runs, scheduled_commands
from motorpool.storage.schedules.runs import DelayedStep, Outcome

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
OPEN = ["pending", "sending", "queued", "delivering"]
ENDED = ["sent", "delivered", "skipped", "failed"]


@pytest.fixture
async def device(world):
    return await world.device()


@pytest.fixture
async def command(world):
    return await world.command()


@pytest.fixture
def fired(world, device, command):
    """`schedule, runs = await fired(0, 60)`: one with these delays, and its runs for one device."""

    async def fire(*delays, **fields):
        schedule = await world.schedule(
            device, start=[(command, seconds) for seconds in delays], watched_from=NOW - MINUTE, **fields
        )
        await world.fire(schedule, NOW)
        return schedule, await world.runs(schedule)

    return fire


def order(device):
    return QueuedCommand(device_id=device.id, type="custom", attributes={"n": 1})


class TestSettling:
    async def test_what_came_of_a_step_is_written_down(self, world, fired):
        _, made = await fired(0, 0, 0, 0)
        await world.put([run.id for run in made[:3]], "sending")
        await world.put([made[3].id], "delivering")
        came = [
            Outcome(made[3].id, "delivered"),
            Outcome(made[0].id, "sent"),
            Outcome(made[2].id, "failed", "DeviceCrashed: it broke"),
            Outcome(made[1].id, "skipped", "not_sent", "in its own words"),
        ]
        await runs.store_outcomes(world.database, came, NOW + MINUTE)
        assert [(run.status, run.reason, run.detail) for run in await world.runs()] == [
            ("sent", None, None),
            ("skipped", "not_sent", "in its own words"),
            ("failed", "DeviceCrashed: it broke", None),
            ("delivered", None, None),
        ]
        assert {run.time for run in await world.runs()} == {NOW + MINUTE}

    async def test_only_what_is_on_its_way_is_settled(self, world, fired):
        statuses = ["pending", "queued", *ENDED]
        _, made = await fired(*[0] * len(statuses))
        for run, status in zip(made, statuses, strict=True):
            await world.put([run.id], status, reason="before")
        before = await world.runs()
        await runs.store_outcomes(world.database, [Outcome(run.id, "sent") for run in made], NOW + MINUTE)
        assert await world.runs() == before

    async def test_one_cancelled_while_it_was_sent_tells_that_unless_it_went_out(self, world, fired):
        _, made = await fired(0, 0)
        await world.put([run.id for run in made], "sending", reason="superseded")
        came = [Outcome(made[0].id, "sent"), Outcome(made[1].id, "skipped", "offline")]
        await runs.store_outcomes(world.database, came, NOW)
        assert [(run.status, run.reason) for run in await world.runs()] == [
            ("sent", None),
            ("skipped", "superseded"),
        ]


class TestPlanning:
    @pytest.mark.parametrize("status", ["sent", "queued", "skipped", "failed"])
    async def test_the_wait_begins_when_the_step_before_was_done_with(self, world, fired, status):
        schedule, made = await fired(0, 60, 5)
        await world.put([made[0].id], status, time=NOW + 2 * MINUTE)
        due = NOW + 3 * MINUTE
        assert await runs.schedule_next_steps(world.database, [made[0].id]) == [
            DelayedStep(schedule.id, made[1].id, due)
        ]
        # Twice does no harm.
        assert await runs.schedule_next_steps(world.database, [made[0].id]) == [
            DelayedStep(schedule.id, made[1].id, due)
        ]
        stored = await world.runs()
        assert stored[1].time == due
        assert stored[1].status == "pending"

    async def test_a_missed_step_puts_nothing_off(self, world, fired):
        schedule, made = await fired(0, 600)
        await world.put([made[0].id], "skipped", reason="missed", time=NOW + 8 * MINUTE)
        planned = await runs.schedule_next_steps(world.database, [made[0].id])
        assert planned == [DelayedStep(schedule.id, made[1].id, NOW + 10 * MINUTE)]

    async def test_a_missed_step_that_had_been_put_off_hands_that_on(self, world, fired):
        schedule, made = await fired(0, 600, 240)
        # The device took two minutes for the first; so all that follows is two minutes later.
        await world.put([made[0].id], "sent", time=NOW + 2 * MINUTE)
        assert await runs.schedule_next_steps(world.database, [made[0].id]) == [
            DelayedStep(schedule.id, made[1].id, NOW + 12 * MINUTE)
        ]
        (missed,) = await edge_occurrences.start_steps(world.database, [made[1].id], NOW + 18 * MINUTE)
        assert missed.reason == "missed"
        assert await runs.schedule_next_steps(world.database, [made[1].id]) == [
            DelayedStep(schedule.id, made[2].id, NOW + 16 * MINUTE)
        ]

    async def test_nothing_follows_the_last_one_and_nothing_that_has_ended_waits_again(self, world, fired):
        _, made = await fired(0, 60)
        await world.put([made[0].id], "sent")
        assert await runs.schedule_next_steps(world.database, [made[1].id]) == []
        await world.put([made[1].id], "skipped")
        assert await runs.schedule_next_steps(world.database, [made[0].id]) == []

    async def test_devices_go_their_own_ways(self, world, command):
        devices_here = [await world.device() for _ in range(3)]
        schedule = await world.schedule(*devices_here, start=[(command, 0), (command, 30)])
        await world.fire(schedule, NOW + MINUTE)
        first = [run for run in await world.runs() if run.step == 0]
        for number, run in enumerate(first):
            await world.put([run.id], "sent", time=NOW + (2 + number) * MINUTE)
        planned = await runs.schedule_next_steps(world.database, [run.id for run in first[:2]])
        assert {(step.run_id - 1, step.due) for step in planned} == {
            (first[0].id, NOW + 2 * MINUTE + 30 * SECOND),
            (first[1].id, NOW + 3 * MINUTE + 30 * SECOND),
        }


class TestQueueing:
    async def test_a_step_waits_as_long_as_it_may(self, world, fired, device):
        _, (run,) = await fired(0)
        await world.put([run.id], "sending")
        waiting = await runs.queue_step(world.database, run.id, order(device), now=NOW + MINUTE, minutes=3)
        assert waiting is not None
        assert (waiting.device_id, waiting.type, waiting.attributes) == (device.id, "custom", {"n": 1})
        assert await commands.queued_for(world.database, device.id) == [waiting]
        row = await world.database.fetch_row("select run_id, created, expires from queued_commands")
        assert tuple(row.values()) == (run.id, NOW + MINUTE, NOW + 4 * MINUTE)
        (stored,) = await world.runs()
        assert (stored.status, stored.time) == ("queued", NOW + MINUTE)

    @pytest.mark.parametrize(
        ("status", "reason"),
        [("sending", "schedule_inactive"), ("failed", "unknown"), ("pending", None), ("queued", None)],
    )
    async def test_one_that_is_not_being_sent_any_more_is_not_queued(
        self, world, fired, device, status, reason
    ):
        _, (run,) = await fired(0)
        await world.put([run.id], status, reason=reason)
        assert await runs.queue_step(world.database, run.id, order(device), now=NOW, minutes=3) is None
        assert await commands.queued_for(world.database, device.id) == []
        assert (await world.runs())[0].status == status

    async def test_a_full_queue_and_a_device_that_is_gone_are_told_and_change_nothing(
        self, world, fired, device
    ):
        _, (run,) = await fired(0)
        await world.put([run.id], "sending")
        await world.database.execute(
            "insert into queued_commands (device_id, type) select $1, 'custom' from generate_series(1, $2)",
            device.id,
            commands.MAX_QUEUED,
        )
        with pytest.raises(StatementRejected, match="1000 commands wait"):
            await runs.queue_step(world.database, run.id, order(device), now=NOW, minutes=3)
        assert (await world.runs())[0].status == "sending"
        await devices.TABLE.delete(world.database, device.id)
        with pytest.raises(StatementRejected, match="deviceId"):
            await runs.queue_step(world.database, run.id, order(device), now=NOW, minutes=3)
        assert (await world.runs())[0].status == "sending"


class TestCancelling:
    async def test_what_waits_ends_and_what_is_on_its_way_only_hears_of_it(self, world, fired, device):
        schedule, made = await fired(*[0] * 8)
        other, _ = await fired(0)
        for run, status in zip(made, [*OPEN, *ENDED], strict=True):
            await world.put([run.id], status)
        await world.queue(made[2])
        by_hand = await commands.enqueue(world.database, order(device))
        before = await world.runs(schedule)
        await runs.cancel(world.database, schedule.id, NOW + MINUTE)
        after = await world.runs(schedule)
        for number in (0, 2):
            assert (after[number].status, after[number].reason) == ("skipped", "schedule_inactive")
            assert after[number].time == NOW + MINUTE
        assert (after[1].status, after[1].reason) == ("sending", "schedule_inactive")
        assert after[1].time == before[1].time
        assert after[3:] == before[3:]
        assert [run.status for run in await world.runs(other)] == ["pending"]
        assert await commands.queued_for(world.database, device.id) == [by_hand]

    async def test_of_a_deleted_device_what_is_queued_ends(self, world, command, device):
        other = await world.device()
        schedule = await world.schedule(device, other, start=[(command, 0), (command, 0)])
        await world.fire(schedule, NOW + MINUTE)
        made = await world.runs()
        for run in made:
            if run.step == 0:
                await world.queue(run)
        async with world.database.transaction() as transaction:
            await runs.cancel_for_device(transaction, device.id, NOW + 2 * MINUTE)
            await devices.TABLE.delete(transaction, device.id)
        after = {(run.device_id, run.step): run for run in await world.runs()}
        gone = after[(device.id, 0)]
        assert (gone.status, gone.reason, gone.time) == (
            "skipped",
            "device_not_found",
            NOW + 2 * MINUTE,
        )
        # Its next step is told so when it has its turn.
        assert after[(device.id, 1)].status == "pending"
        assert after[(other.id, 0)].status == "queued"
        assert len(await commands.queued_for(world.database, other.id)) == 1

    async def test_of_a_device_that_is_deleted_as_a_step_begins_to_wait_for_it_nothing_waits_for_ever(
        self, world, fired, device, meanwhile
    ):
        _, (run,) = await fired(0)
        await world.put([run.id], "sending")

        async def delete():
            async with world.database.transaction() as transaction:
                await runs.cancel_for_device(transaction, device.id, NOW + MINUTE)
                await devices.TABLE.delete(transaction, device.id)

        async with meanwhile(delete) as transaction:
            assert await runs.queue_step(transaction, run.id, order(device), now=NOW, minutes=3) is not None
        (stored,) = await world.runs()
        assert (stored.status, stored.reason) == ("skipped", "device_not_found")


class TestRestarts:
    async def test_what_nobody_knows_of_has_failed(self, world, fired):
        _, made = await fired(*[0] * 8)
        for run, status in zip(made, [*OPEN, *ENDED], strict=True):
            await world.put([run.id], status)
        unknown = [made[1].id, made[3].id]
        # What follows one that was queued has its time already.
        now = NOW + MINUTE
        spared = {"delivering_before": made[3].time, "sending": False}
        assert await runs.fail_interrupted(world.database, now, "who knows", **spared) == {}
        every = {"delivering_before": now, "sending": True}
        assert await runs.fail_interrupted(world.database, now, "who knows", **every) == {
            made[1].id: True,
            made[3].id: False,
        }
        for before, after in zip(made, await world.runs(), strict=True):
            if after.id in unknown:
                assert (after.status, after.reason, after.time) == ("failed", "who knows", NOW + MINUTE)
            else:
                assert after.time == before.time
        assert await runs.fail_interrupted(world.database, now, "who knows", **every) == {}

    async def test_what_was_handed_to_nobody_is_pending_again(self, world, fired):
        _, made = await fired(*[0] * 5)
        await world.put([run.id for run in made[:3]], "sending")
        await world.put([made[2].id], "sending", reason="schedule_inactive")
        await world.put([made[3].id], "sent")
        await runs.revert_unsent(world.database, [made[0].id], NOW + MINUTE)
        after = await world.runs()
        assert [run.status for run in after] == ["sending", "pending", "skipped", "sent", "pending"]
        assert (after[1].time, after[1].reason) == (NOW, None)
        assert (after[2].time, after[2].reason) == (NOW + MINUTE, "schedule_inactive")
        await runs.revert_unsent(world.database, [], NOW + MINUTE)
        assert (await world.runs())[0].status == "pending"

    async def test_steps_of_another_server_are_its_own_until_it_is_dead(self, world, fired):
        _, made = await fired(*[0] * 5)
        ids = [run.id for run in made]
        await world.put(ids[:2], "sending")
        await world.put(ids[2:4], "delivering")
        database = world.database
        async with database.session() as session:
            other = await nodes.join(session, "north", "b", "0")
        await database.execute(
            "update scheduled_command_runs set sent_by = $1 where id = any($2::bigint[])", other, ids[1:3]
        )
        mine = other + 1
        await database.execute(
            "update scheduled_command_runs set sent_by = $1 where id = any($2::bigint[])",
            mine,
            [ids[0], ids[3]],
        )
        # This server's dispatcher crashed and starts anew; what the other sends and delivers is its own.
        now = NOW + MINUTE
        start = {"delivering_before": now, "delivering_elsewhere_before": NOW, "sending": True, "node": mine}

        async def statuses():
            return [run.status for run in await world.runs()]

        await runs.revert_unsent(database, [ids[0]], now, mine)
        assert await statuses() == ["sending", "sending", "delivering", "delivering", "pending"]
        assert await runs.fail_interrupted(database, now, "who knows", **start) == {
            ids[0]: True,
            ids[3]: False,
        }
        assert await statuses() == ["failed", "sending", "delivering", "failed", "pending"]
        # A device of the other took it from its queue, and said nothing for too long.
        look = {"delivering_before": now, "sending": False, "node": mine}
        assert await runs.fail_interrupted(database, now, "who knows", **look) == {ids[2]: False}
        await nodes.leave(database, other)
        assert await runs.fail_interrupted(database, now, "who knows", **look) == {ids[1]: True}
        assert await statuses() == ["failed"] * 4 + ["pending"]

    async def test_the_server_that_starts_a_step_is_stored(self, world, fired):
        _, (run,) = await fired(0)
        (step,) = await edge_occurrences.start_steps(world.database, [run.id], NOW, 17)
        assert step.reason is None
        assert await world.database.fetch_value("select sent_by from scheduled_command_runs") == 17

    async def test_steps_that_wait_for_their_time_alone_are_told(self, world, fired):
        one, first = await fired(0, 60, 60)
        two, second = await fired(0, 60)
        waiting = await runs.delayed(world.database)
        assert sorted(waiting, key=lambda step: step.run_id) == [
            DelayedStep(one.id, first[0].id, NOW),
            DelayedStep(two.id, second[0].id, NOW),
        ]
        for status in ("pending", "sending"):
            await world.put([first[0].id], status)
            assert first[1].id not in {step.run_id for step in await runs.delayed(world.database)}
        for status in ("queued", "delivering", *ENDED):
            await world.put([first[0].id], status)
            waiting = await runs.delayed(world.database)
            assert [step for step in waiting if step.schedule_id == one.id] == [
                DelayedStep(one.id, first[1].id, NOW + MINUTE)
            ]

    async def test_what_is_overdue_is_told_oldest_first(self, world, fired):
        schedule, first = await fired(0, 60, 60)
        await world.put([first[0].id], "sent")
        await world.fire(schedule, NOW + 2 * SECOND)
        again = (await world.runs())[3:]
        assert await runs.overdue(world.database, NOW + 2 * SECOND, 10) == []
        assert await runs.overdue(world.database, NOW + 3 * SECOND, 10) == [again[0].id]
        assert await runs.overdue(world.database, NOW + 2 * MINUTE, 10) == [again[0].id, first[1].id]
        assert await runs.overdue(world.database, NOW + 2 * MINUTE, 1) == [again[0].id]


class TestHistory:
    async def test_it_lists_what_has_been_done_newest_first(self, world, fired):
        schedule, made = await fired(*[0] * 8)
        await fired(0)
        for number, (run, status) in enumerate(zip(made, [*OPEN, *ENDED], strict=True)):
            await world.put([run.id], status, time=NOW + number * SECOND, reason="why")
        found = await runs.history(world.database, schedule.id, limit=100)
        assert [run.id for run in found] == [run.id for run in reversed(made) if run not in made[:2]]
        assert [run.status for run in reversed(found)] == ["queued", "queued", *ENDED]
        # A reason is why it was skipped or what failed; of what is open nobody is told what comes.
        assert [run.reason for run in reversed(found)] == [None] * 4 + ["why", "why"]
        assert [run.id for run in await runs.history(world.database, schedule.id, limit=2)] == [
            made[7].id,
            made[6].id,
        ]

    async def test_of_the_same_time_the_last_made_comes_first(self, world, fired):
        schedule, made = await fired(0, 0, 0)
        await world.put([run.id for run in made], "sent", time=NOW)
        found = await runs.history(world.database, schedule.id, limit=100)
        assert [run.id for run in found] == [run.id for run in reversed(made)]

    async def test_its_span_includes_both_ends_and_a_device_is_picked_out(self, world, command, device):
        other = await world.device()
        schedule = await world.schedule(device, other, start=[(command, 0)])
        for minute in range(1, 5):
            await world.fire(schedule, NOW + minute * MINUTE)
        await world.put([run.id for run in await world.runs()], "sent")

        async def minutes(**query):
            found = await runs.history(world.database, schedule.id, limit=100, **query)
            return [(run.time - NOW) / MINUTE for run in found]

        assert await minutes(start=NOW + 2 * MINUTE, end=NOW + 3 * MINUTE, device_id=other.id) == [3, 2]
        assert await minutes(start=NOW + 3 * MINUTE, device_id=other.id) == [4, 3]
        assert await minutes(end=NOW + 2 * MINUTE) == [2, 2, 1, 1]
        assert await minutes(device_id=other.id + 1) == []

    async def test_records_asked_for_are_told_whatever_they_are(self, world, fired):
        _, made = await fired(*[0] * 8)
        for run, status in zip(made, [*OPEN, *ENDED], strict=True):
            await world.put([run.id], status, reason="why", detail="more")
        asked = [run.id for run in reversed(made)]
        found = await runs.fetch(world.database, [*asked, 10_000])
        assert [run.id for run in found] == [run.id for run in made]
        assert [run.status for run in found] == ["pending", "pending", "queued", "queued", *ENDED]
        assert [run.reason for run in found] == [None] * 6 + ["why", "why"]

    async def test_what_is_old_and_has_ended_goes_and_what_is_open_stays(self, world, fired):
        _, made = await fired(*[0] * 8)
        _, fresh = await fired(0)
        for run, status in zip(made, [*OPEN, *ENDED], strict=True):
            await world.put([run.id], status)
        await world.put([fresh[0].id], "sent", time=NOW + SECOND)
        assert await runs.delete_before(world.database, NOW + SECOND) == 4
        assert [run.status for run in await world.runs()] == [*OPEN, "sent"]
        assert await runs.delete_before(world.database, NOW + SECOND) == 0

    async def test_the_history_outlives_the_schedule_its_device_and_its_command(
        self, world, fired, device, command
    ):
        schedule, (run,) = await fired(0)
        await world.put([run.id], "sent")
        await scheduled_commands.TABLE.delete(world.database, schedule.id)
        await devices.TABLE.delete(world.database, device.id)
        await commands.TABLE.delete(world.database, command.id)
        (kept,) = await runs.fetch(world.database, [run.id])
        assert (kept.scheduled_command_id, kept.device_id, kept.command_id) == (
            schedule.id,
            device.id,
            command.id,
        )
