"""The dispatcher alone, with devices that record what they are sent, on a real database.

The test sends the edges; where they come from is the business of the timetable.
"""

import threading
from datetime import UTC, datetime, timedelta

import pytest
import trio

from motorpool.actors.messages.counters import STEPS_SETTLED
from motorpool.actors.messages.scheduling import DISPATCHER, EdgeReached, RunNow
from motorpool.actors.messages.uplink import DEVICE, CommandQueued, CommandRefused, CommandSent, SendCommand
from motorpool.actors.schedules import dispatcher as module
from motorpool.actors.schedules import edge_queue, firing_queue, manual_runs, step_sender
from motorpool.actors.schedules.dispatcher import Dispatcher
from motorpool.actors.schedules.step_recovery import OUTCOME_UNKNOWN
from motorpool.runtime import Actor, ChildSpec, DynamicSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import commands
from motorpool.storage.errors import StatementRejected, StorageUnavailable
from motorpool.storage.records import (
    Calendar,
    Command,
    QueuedCommand,
    ScheduledCommand,
    ScheduledStep,
    User,
)
from motorpool.storage.schedules import edge_occurrences, runs, scheduled_commands
from motorpool.storage.schedules.edge_occurrences import EdgeOccurrence, Portion

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
DECLINED = CommandRefused("it will not")


class Devices:
    """All devices: what they were handed, in order, and what each answers."""

    def __init__(self):
        self.handed = []
        """(device, run) pairs."""
        self.answers = {}
        """An event is waited for, what can be called is asked; without any, all is sent."""

    @property
    def spec(self):
        def factory(device_id):
            return _Device(self, device_id)

        return DynamicSpec(kind=DEVICE, name="devices", factory=factory, shutdown_seconds=0.1)

    def times(self):
        """How often each run was handed to a device."""
        runs_handed = [run_id for _, run_id in self.handed]
        return {run_id: runs_handed.count(run_id) for run_id in runs_handed}


class _Device(Actor):
    def __init__(self, all_devices, device_id):
        self.all_devices, self.device_id = all_devices, device_id

    async def handle(self, message):
        assert isinstance(message, SendCommand)
        self.all_devices.handed.append((self.device_id, message.run_id))
        answer = self.all_devices.answers.get(self.device_id, CommandSent())
        if isinstance(answer, trio.Event):
            await answer.wait()
            return CommandSent()
        return await answer(message) if callable(answer) else answer


class Harness:
    """Rows and a dispatcher."""

    def __init__(self, database, tree, make_device):
        self.database, self.tree, self.make_device = database, tree, make_device
        self.devices = Devices()

    def open(self, dispatcher=None):
        return self.tree(
            self.devices.spec,
            dispatcher
            or ChildSpec(kind=DISPATCHER, factory=lambda: Dispatcher(self.database, 0.0, 0.0, 0, None)),
        )

    async def planned(self, schedule):
        """(step, seconds after NOW) that wait for their time and for no other step."""
        steps = [step for step in await runs.delayed(self.database) if step.schedule_id == schedule.id]
        return sorted((step.run_id, (step.due - NOW).total_seconds()) for step in steps)

    async def rows(self, devices=1):
        """That many devices, one saved command and the owner of it all."""
        self.owner = await users.TABLE.insert(self.database, User(email="a@b.c", administrator=True))
        self.command = await commands.TABLE.insert(self.database, Command(type="custom"))
        self.calendar = await plain_tables.CALENDARS.insert(self.database, Calendar(name="c"))
        self.vehicles = [await self.make_device(f"v{number}") for number in range(devices)]
        return self

    async def schedule(self, *delays, to=None, **fields):
        """One that sends to all devices or to these, a step for each delay."""
        row = ScheduledCommand(
            name="s",
            calendar_id=self.calendar.id,
            on_start=[ScheduledStep(self.command.id, seconds) for seconds in delays or (0,)],
            on_end=[ScheduledStep(self.command.id)],
            **fields,
        )
        made = await scheduled_commands.TABLE.insert(self.database, row)
        await scheduled_commands.set_owner(self.database, made.id, self.owner.id, NOW - MINUTE)
        for vehicle in self.vehicles if to is None else to:
            await links.add(self.database, links.DEVICE_SCHEDULED_COMMAND, vehicle.id, made.id)
        return made

    def edge(self, schedule, at=NOW, phase="start"):
        return EdgeReached(self.calendar.id, at, phase, (schedule.id,))

    async def fire(self, schedule, at=NOW):
        """Make the records of an edge without a dispatcher."""
        occurrence = EdgeOccurrence(schedule.id, self.calendar.id, at, "start", "start")
        async with self.database.transaction() as transaction:
            (firing,) = await edge_occurrences.fire(transaction, [occurrence])
            await edge_occurrences.make_runs(transaction, [Portion(firing, 1000)], NOW)

    async def runs(self):
        """(run, device, status, reason) of all records."""
        rows = await self.database.fetch(
            "select id, device_id, status, reason from scheduled_command_runs order by id"
        )
        return [tuple(row.values()) for row in rows]

    async def states(self):
        return [status for _, _, status, _ in await self.runs()]

    async def put(self, status, *, where="true"):
        """Let runs stand so, however they came there."""
        await self.database.execute(f"update scheduled_command_runs set status = '{status}' where {where}")


async def passing(time, ask, *args):
    """The answer to a question that takes time, which passes meanwhile."""
    came = []

    async def wait():
        try:
            came.append(await ask(*args))
        except Exception as error:
            came.append(error)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        while not came:
            await time.passes(0.5)
    (answer,) = came
    if isinstance(answer, Exception):
        raise answer
    return answer


@pytest.fixture
def harness(database, tree, make_device):
    """Rows, devices that record, and the dispatcher between them."""
    return Harness(database, tree, make_device)


class TestTurns:
    async def test_a_turn_is_a_row_before_it_is_sent_and_settled_after(self, harness, time):
        await harness.rows(2)
        slow, quick = harness.vehicles
        free = harness.devices.answers[slow.id] = trio.Event()
        harness.devices.answers[quick.id] = DECLINED
        schedule = await harness.schedule()
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            first, second = await harness.runs()
            assert first[1:] == (slow.id, "sending", None)
            assert second[1:] == (quick.id, "skipped", "not_sent")
            assert sorted(harness.devices.handed) == [(slow.id, first[0]), (quick.id, second[0])]
            free.set()
            await time.settle()
            assert await harness.states() == ["sent", "skipped"]

    async def test_what_has_no_right_to_be_sent_reaches_no_device(self, harness, time):
        await harness.rows()
        schedule = await harness.schedule(0, 60)
        await harness.database.execute("update users set disabled = true")
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            first, second = await harness.runs()
            assert (first[2:], second[2:]) == (("skipped", "no_permission"), ("pending", None))
            assert harness.devices.handed == []
            # What follows has its turn all the same.
            assert await harness.planned(schedule) == [(second[0], 60)]

    async def test_turns_of_one_schedule_keep_their_order(self, harness, time):
        await harness.rows()
        schedule = await harness.schedule(60, 60)
        async with harness.open() as system:
            await time.settle()
            for number, phase in enumerate(("start", "end", "start")):
                system.ref(DISPATCHER).tell_nowait(harness.edge(schedule, NOW + number * SECOND, phase))
            await time.settle()
            rows = await harness.database.fetch(
                "select phase, status, reason from scheduled_command_runs where step = 1 order by id"
            )
            assert [tuple(row.values()) for row in rows] == [
                ("start", "skipped", "superseded"),
                ("start", "pending", None),
            ]

    async def test_one_that_cannot_be_stored_costs_only_itself(self, harness, time, caplog):
        await harness.rows()
        schedules = [await harness.schedule() for _ in range(5)]
        poisoned = schedules[2]
        await harness.database.execute(
            "update scheduled_commands set on_start = $2 where id = $1", poisoned.id, [{"commandId": "x"}]
        )
        async with harness.open() as system:
            await time.settle()
            for schedule in schedules:
                system.ref(DISPATCHER).tell_nowait(harness.edge(schedule))
            await time.settle()
            assert await harness.states() == ["sent"] * 4
        (logged,) = [record for record in caplog.records if record.levelname == "ERROR"]
        assert "dropped what cannot be stored" in logged.getMessage()
        assert f"schedule_id={poisoned.id}" in logged.getMessage()

    async def test_what_came_of_steps_is_counted(self, harness, time):
        def counted():
            samples = STEPS_SETTLED.collect()[0].samples
            return {each.labels["status"]: each.value for each in samples if each.name.endswith("_total")}

        await harness.rows(3)
        harness.devices.answers[harness.vehicles[0].id] = DECLINED
        schedule = await harness.schedule()
        before = counted()
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            await harness.database.execute("update users set disabled = true")
            await system.ref(DISPATCHER).tell(harness.edge(schedule, NOW + SECOND))
            await time.settle()
        after = counted()
        assert after["sent"] - before.get("sent", 0) == 2
        assert after["skipped"] - before.get("skipped", 0) == 4


class TestManyDevices:
    """Records that are made for some devices after the others."""

    @pytest.fixture(autouse=True)
    def portions(self, monkeypatch):
        monkeypatch.setattr(firing_queue, "PORTION_ROWS", 4)

    async def test_one_for_many_devices_does_not_hold_up_others(self, harness, time, monkeypatch):
        sizes = []
        make = edge_occurrences.make_runs

        async def counting(q, portions, now):
            made = await make(q, portions, now)
            sizes.append(len(made.run_ids))
            return made

        monkeypatch.setattr(edge_occurrences, "make_runs", counting)
        await harness.rows(20)
        large = await harness.schedule(0, 60)
        small = [await harness.schedule(to=harness.vehicles[:1]) for _ in range(2)]
        async with harness.open() as system:
            for schedule in (large, *small):
                system.ref(DISPATCHER).tell_nowait(harness.edge(schedule))
            await time.settle()
            assert await harness.states() == ["sent", "pending"] * 1 + ["sent"] * 2 + ["sent", "pending"] * 19
            assert max(sizes) == 4
            assert set(harness.devices.times().values()) == {1}

    async def test_its_firings_keep_their_order(self, harness, time):
        await harness.rows(6)
        schedule = await harness.schedule(60, 60)
        async with harness.open() as system:
            await time.settle()
            for number, phase in enumerate(("start", "end", "start")):
                system.ref(DISPATCHER).tell_nowait(harness.edge(schedule, NOW + number * SECOND, phase))
            await time.settle()
            rows = await harness.database.fetch(
                "select firing, device_id, phase, step, status from scheduled_command_runs order by id"
            )
        made = [tuple(row.values()) for row in rows]
        assert [each[0] for each in made] == sorted(each[0] for each in made)
        assert [each[4] for each in made if each[3] == 1] == ["skipped"] * 6 + ["pending"] * 6

    async def test_the_next_server_goes_on(self, harness, time):
        await harness.rows(3)
        schedule = await harness.schedule()
        occurrence = EdgeOccurrence(schedule.id, harness.calendar.id, NOW, "start", "start")
        async with harness.database.transaction() as transaction:
            (firing,) = await edge_occurrences.fire(transaction, [occurrence])
            await edge_occurrences.make_runs(transaction, [Portion(firing, 1)], NOW)
        async with harness.open():
            await time.passes(61, 1)
            assert await harness.states() == ["sent"] * 3
            assert set(harness.devices.times().values()) == {1}

    async def test_a_firing_by_a_commit_of_which_nobody_heard_is_found(self, harness, time):
        await harness.rows(2)
        schedule = await harness.schedule()
        async with harness.open():
            await time.settle()
            occurrence = EdgeOccurrence(schedule.id, harness.calendar.id, NOW, "start", "start")
            async with harness.database.transaction() as transaction:
                await edge_occurrences.fire(transaction, [occurrence])
            await time.passes(31, 1)
            assert await harness.states() == ["sent"] * 2

    async def test_one_that_fires_faster_than_its_steps_are_made_leaves_out_the_oldest(
        self, harness, time, monkeypatch, caplog
    ):
        monkeypatch.setattr(module, "MAX_UNFINISHED", 2)
        await harness.rows(5)
        schedule = await harness.schedule(0, 60)
        async with harness.open() as system:
            await time.settle()
            for number in range(6):
                system.ref(DISPATCHER).tell_nowait(harness.edge(schedule, NOW + number * SECOND))
            await time.settle()
            rows = await harness.database.fetch(
                "select count(*) from scheduled_command_runs group by firing order by firing"
            )
        devices = [row[0] // 2 for row in rows]
        assert devices[-2:] == [5, 5]
        assert sum(devices) < 30
        assert "fires faster than its steps can be made" in caplog.text

    async def test_when_it_is_deactivated_the_other_devices_get_none(self, harness, time):
        await harness.rows(6)
        schedule = await harness.schedule()
        occurrence = EdgeOccurrence(schedule.id, harness.calendar.id, NOW, "start", "start")
        async with harness.database.transaction() as transaction:
            (firing,) = await edge_occurrences.fire(transaction, [occurrence])
            await edge_occurrences.make_runs(transaction, [Portion(firing, 2)], NOW)
            await runs.cancel(transaction, schedule.id, NOW)
        async with harness.open():
            await time.passes(61, 1)
            assert await harness.states() == ["skipped"] * 2

    async def test_a_run_that_a_user_asks_for_has_only_so_many_steps(self, harness, time, monkeypatch):
        monkeypatch.setattr(module, "MAX_MANUAL_STEPS", 6)
        monkeypatch.setattr(module, "BATCH_ROWS", 2)
        monkeypatch.setattr(manual_runs, "READ_AT_ONCE", 2)
        await harness.rows(3)
        fits, exceeds = await harness.schedule(0, 60), await harness.schedule(0, 60, 60)
        async with harness.open() as system:
            made = await system.ref(DISPATCHER).ask(RunNow(fits.id))
            assert len(made) == 6
            await time.settle()
            assert await harness.states() == ["sent", "pending"] * 3
            with pytest.raises(StatementRejected, match="more than 6 steps"):
                await system.ref(DISPATCHER).ask(RunNow(exceeds.id))
            await time.passes(31, 1)
            assert len(await harness.runs()) == 6
            assert await edge_occurrences.unfinished(harness.database) == []


class TestSteps:
    async def test_the_wait_for_the_next_begins_when_one_is_settled(self, harness, time):
        await harness.rows(2)
        slow, quick = harness.vehicles
        free = harness.devices.answers[slow.id] = trio.Event()
        harness.devices.answers[quick.id] = DECLINED
        schedule = await harness.schedule(0, 60, 5)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.passes(7)
            ids = {(row[1], number % 3): row[0] for number, row in enumerate(await harness.runs())}
            assert await harness.planned(schedule) == [(ids[quick.id, 1], 60)]
            free.set()
            await time.settle()
            assert await harness.planned(schedule) == sorted([(ids[quick.id, 1], 60), (ids[slow.id, 1], 67)])
            await time.passes(53)
            assert await harness.planned(schedule) == sorted([(ids[quick.id, 2], 65), (ids[slow.id, 1], 67)])
            await time.passes(5)
            await time.passes(2)
            assert await harness.planned(schedule) == [(ids[slow.id, 2], 72)]
            await time.passes(5)
            assert await harness.planned(schedule) == []
            assert set(harness.devices.handed[:2]) == {
                (slow.id, ids[slow.id, 0]),
                (quick.id, ids[quick.id, 0]),
            }
            assert harness.devices.handed[2:] == [
                (quick.id, ids[quick.id, 1]),
                (quick.id, ids[quick.id, 2]),
                (slow.id, ids[slow.id, 1]),
                (slow.id, ids[slow.id, 2]),
            ]

    async def test_a_step_begins_once_however_often_it_is_due(self, harness, time):
        await harness.rows()
        schedule = await harness.schedule(0, 5)
        dispatcher = module.Dispatcher(harness.database)
        spec = ChildSpec(kind=DISPATCHER, factory=lambda: dispatcher)
        async with harness.open(spec) as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            first, second = [row[0] for row in await harness.runs()]
            for run_id in (first, second, second, 999):
                for seconds in (5, 6):
                    dispatcher._delayed.add(trio.current_time() + seconds, run_id)
            await time.passes(8, step=1)
            assert harness.devices.times() == {first: 1, second: 1}
            assert await harness.states() == ["sent", "sent"]

    async def test_delayed_steps_begin_when_they_are_due_in_the_order_of_their_times(self, harness, time):
        await harness.rows()
        delays = (30, 10, 20, 10, 86_400)
        schedules = [await harness.schedule(0, seconds) for seconds in delays]
        async with harness.open() as system:
            for schedule in schedules:
                await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            second = {
                (await harness.planned(schedule))[0][0]: number for number, schedule in enumerate(schedules)
            }

            def begun():
                return [second[run_id] for _, run_id in harness.devices.handed if run_id in second]

            seen = []
            for seconds in (9, 1, 9, 1, 9, 1):
                await time.passes(seconds)
                seen.append(begun())
            assert seen == [[], [1, 3], [1, 3], [1, 3, 2], [1, 3, 2], [1, 3, 2, 0]]
            await time.passes(86_369, step=3600)
            assert begun() == [1, 3, 2, 0]
            await time.passes(1)
            assert begun() == [1, 3, 2, 0, 4]

    async def test_a_wall_clock_that_is_put_back_neither_hastens_nor_delays_a_step(
        self, harness, time, clock
    ):
        await harness.rows()
        schedule = await harness.schedule(0, 30)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            clock.move_wall(-3600)
            await time.passes(29)
            assert await harness.states() == ["sent", "pending"]
            await time.passes(1)
            assert await harness.states() == ["sent", "sent"]

    async def test_many_steps_that_are_due_at_once_begin_in_several_transactions(
        self, harness, time, monkeypatch
    ):
        monkeypatch.setattr(module, "BATCH_ROWS", 5)
        begin, sizes = edge_occurrences.start_steps, []

        async def counting(q, run_ids, *more):
            sizes.append(len(run_ids))
            return await begin(q, run_ids, *more)

        await harness.rows(13)
        schedule = await harness.schedule(0, 5)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            monkeypatch.setattr(edge_occurrences, "start_steps", counting)
            await time.passes(5)
            assert sizes == [5, 5, 3]
            assert await harness.states() == ["sent"] * 26
            assert set(harness.devices.times().values()) == {1}

    async def test_a_step_that_was_cancelled_does_not_begin_and_the_others_do(self, harness, time):
        await harness.rows()
        cancelled, kept = await harness.schedule(0, 10), await harness.schedule(0, 20)
        async with harness.open() as system:
            for schedule in (cancelled, kept):
                await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            async with harness.database.transaction() as transaction:
                await scheduled_commands.TABLE.delete(transaction, cancelled.id)
                await runs.cancel(transaction, cancelled.id, NOW)
            ((last, _),) = await harness.planned(kept)
            await time.passes(30, step=5)
            assert sorted(await harness.states()) == ["sent", "sent", "sent", "skipped"]
            assert [run_id for _, run_id in harness.devices.handed[2:]] == [last]

    async def test_of_a_list_that_is_long_past_all_that_is_missed_goes_in_one(self, harness, time):
        await harness.rows()
        schedule = await harness.schedule(0, 60, 60, 240, 60)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule, NOW - 400 * SECOND))
            await time.settle()
            assert await harness.runs() == []
            await harness.database.execute(
                "update scheduled_commands set watched_from = $1", NOW - 500 * SECOND
            )
            await system.ref(DISPATCHER).tell(harness.edge(schedule, NOW - 400 * SECOND))
            await time.settle()
            # Due 400, 340 and 280 seconds ago; five minutes are allowed.
            assert [row[2:] for row in await harness.runs()] == [
                ("skipped", "missed"),
                ("skipped", "missed"),
                ("sent", None),
                ("pending", None),
                ("pending", None),
            ]
            assert [seconds for _, seconds in await harness.planned(schedule)] == [240]

    async def test_what_waits_for_its_device_expires_at_its_minute(self, harness, time):
        await harness.rows()
        device = harness.vehicles[0]
        schedule = await harness.schedule(0, 60, attributes={"queueMaxMinutes": 2})

        async def queue(message):
            assert (message.no_queue, message.queue_minutes) == (False, 2)
            waiting = QueuedCommand(device_id=device.id, type=message.type)
            queued = await runs.queue_step(
                harness.database, message.run_id, waiting, now=NOW + 7 * SECOND, minutes=2
            )
            return CommandQueued(queued)

        harness.devices.answers[device.id] = queue
        async with harness.open() as system:
            # Not when it looks around anyway.
            await time.passes(7)
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            assert await harness.states() == ["queued", "pending"]
            # Queued counts as sent for what follows.
            assert [seconds for _, seconds in await harness.planned(schedule)] == [67]
            await time.passes(119)
            assert (await harness.states())[0] == "queued"
            await time.passes(1)
            assert (await harness.runs())[0][2:] == ("skipped", "queue_expired")
            assert await commands.queued_for(harness.database, device.id) == []

    async def test_devices_that_never_answer_hold_others_up_for_ten_seconds_at_most(
        self, harness, time, monkeypatch
    ):
        monkeypatch.setattr(step_sender, "MAX_AWAITED", 2)
        await harness.rows(3)
        *silent, well = harness.vehicles
        for device in silent:
            harness.devices.answers[device.id] = trio.Event()
        schedule = await harness.schedule()
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.passes(9.9)
            assert await harness.states() == ["sending"] * 3
            assert well.id not in {device for device, _ in harness.devices.handed}
            await time.passes(0.2)
            assert await harness.states() == ["failed", "failed", "sent"]

    async def test_no_further_turn_is_taken_while_too_many_steps_wait_for_a_sender(
        self, harness, time, monkeypatch
    ):
        monkeypatch.setattr(step_sender, "MAX_AWAITED", 1)
        monkeypatch.setattr(module, "MAX_UNSENT_STEPS", 2)
        await harness.rows(3)
        free = trio.Event()
        for device in harness.vehicles:
            harness.devices.answers[device.id] = free
        schedule, later = await harness.schedule(), await harness.schedule()
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            await system.ref(DISPATCHER).tell(harness.edge(later))
            await time.settle()
            assert len(await harness.runs()) == 3
            free.set()
            await time.settle()
            assert await harness.states() == ["sent"] * 6


class TestFullQueues:
    @pytest.fixture
    def small(self, harness, monkeypatch):
        """A dispatcher of which three turns or steps may wait, and four messages in its mailbox."""
        monkeypatch.setattr(edge_queue, "MAX_QUEUED_EDGES", 3)
        return ChildSpec(
            kind=DISPATCHER,
            factory=lambda: module.Dispatcher(harness.database),
            mailbox_size=4,
        )

    async def test_tellers_wait_and_nothing_is_lost(self, harness, small, time, outage, until_full):
        await harness.rows()
        schedules = [await harness.schedule() for _ in range(20)]
        async with harness.open(small) as system:
            ref = system.ref(DISPATCHER)
            await time.settle()
            with outage():
                ref.tell_nowait(harness.edge(schedules[0]))
                await time.settle()
                told = 1
                while ref.offer(harness.edge(schedules[told])):
                    told += 1
                    await time.settle()
                # In hand, waiting, at the door, in the mailbox.
                assert told == 1 + 3 + 1 + 4
            await time.passes(12, 0.5)
            assert await harness.states() == ["sent"] * told

    async def test_turns_that_send_nothing_make_room_as_well(self, harness, small, time):
        await harness.rows()
        mute, schedule = await harness.schedule(to=()), await harness.schedule()
        async with harness.open(small) as system:
            ref = system.ref(DISPATCHER)
            await time.settle()
            for number in range(20):
                if not ref.offer(harness.edge(mute, NOW + number * SECOND)):
                    await time.settle()
            with trio.fail_after(30):
                await time.settle()
            assert ref.offer(harness.edge(schedule))
            await time.settle()
            assert await harness.states() == ["sent"]


class TestRunNow:
    async def test_he_sees_what_came_of_it(self, harness, time):
        await harness.rows(2)
        harness.devices.answers[harness.vehicles[1].id] = DECLINED
        schedule = await harness.schedule(0, 60, active=False)
        async with harness.open() as system:
            made = await system.ref(DISPATCHER).ask(RunNow(schedule.id))
            assert [(run.phase, run.device_id, run.status, run.reason) for run in made] == [
                ("manual", harness.vehicles[0].id, "sent", None),
                ("manual", harness.vehicles[0].id, "pending", None),
                ("manual", harness.vehicles[1].id, "skipped", "not_sent"),
                ("manual", harness.vehicles[1].id, "pending", None),
            ]
            assert len(await system.ref(DISPATCHER).ask(RunNow(schedule.id, "end"))) == 2
            for nothing in (await harness.schedule(to=()), ScheduledCommand(id=999)):
                assert await system.ref(DISPATCHER).ask(RunNow(nothing.id)) == []

    async def test_a_slow_device_is_waited_for_three_seconds(self, harness, time):
        await harness.rows(2)
        free = harness.devices.answers[harness.vehicles[0].id] = trio.Event()
        schedule = await harness.schedule()
        async with harness.open() as system:
            before = trio.current_time()
            made = await passing(time, system.ref(DISPATCHER).ask, RunNow(schedule.id))
            assert trio.current_time() - before == pytest.approx(3, abs=0.5)
            assert [run.status for run in made] == ["pending", "sent"]
            free.set()
            await time.settle()
            assert await harness.states() == ["sent", "sent"]

    async def test_during_an_outage_everybody_hears_of_it_and_nothing_is_run_later(
        self, harness, time, outage
    ):
        await harness.rows()
        schedule = await harness.schedule()
        async with harness.open() as system:
            ref = system.ref(DISPATCHER)
            await time.settle()
            with outage():
                for _ in range(2):
                    with pytest.raises(StorageUnavailable):
                        await passing(time, ref.ask, RunNow(schedule.id))
            await time.passes(60, 1)
            assert await harness.runs() == []
            assert len(await ref.ask(RunNow(schedule.id))) == 1
        assert harness.devices.times() == {1: 1}

    async def test_he_hears_of_an_outage_that_a_turn_is_waiting_out(self, harness, time, outage):
        await harness.rows()
        schedule = await harness.schedule()
        async with harness.open() as system:
            ref = system.ref(DISPATCHER)
            await time.settle()
            with outage():
                await ref.tell(harness.edge(schedule))
                await time.settle()
                with pytest.raises(StorageUnavailable):
                    await passing(time, ref.ask, RunNow(schedule.id))
            await time.passes(60, 1)
            # The turn alone.
            assert await harness.states() == ["sent"]

    async def test_one_whose_asker_has_left_meanwhile_is_not_run(self, harness, time, monkeypatch):
        monkeypatch.setattr(module, "MANUAL_RUN_SECONDS", -1)
        await harness.rows()
        schedule = await harness.schedule()
        async with harness.open() as system:
            with pytest.raises(StorageUnavailable, match="too late"):
                await system.ref(DISPATCHER).ask(RunNow(schedule.id))
            await time.passes(60, 10)
            assert await harness.runs() == []

    async def test_only_so_many_wait(self, harness, time, monkeypatch):
        monkeypatch.setattr(manual_runs, "MAX_QUEUED_RUNS", 2)
        await harness.rows()
        schedule = await harness.schedule()
        answers = []

        async def ask(system):
            answers.append(await system.ref(DISPATCHER).ask(RunNow(schedule.id)))

        async with harness.open() as system:
            await time.settle()
            async with trio.open_nursery() as nursery, harness.database.transaction() as transaction:
                await transaction.execute("lock table scheduled_commands")
                for _ in range(3):
                    nursery.start_soon(ask, system)
                    await trio.testing.wait_all_tasks_blocked(0.02)
                with pytest.raises(StorageUnavailable, match="too many runs"):
                    await system.ref(DISPATCHER).ask(RunNow(schedule.id))
            assert [[run.status for run in answer] for answer in answers] == [["sent"]] * 3

    async def test_of_one_user_two_wait_and_others_have_their_turn(self, harness, time):
        await harness.rows()
        schedule = await harness.schedule()
        answers = []

        async def ask(system, user_id):
            answers.append(await system.ref(DISPATCHER).ask(RunNow(schedule.id, user_id=user_id)))

        async with harness.open() as system:
            await time.settle()
            async with trio.open_nursery() as nursery, harness.database.transaction() as transaction:
                await transaction.execute("lock table scheduled_commands")
                # The first does not wait any more.
                for _ in range(3):
                    nursery.start_soon(ask, system, harness.owner.id)
                    await trio.testing.wait_all_tasks_blocked(0.02)
                with pytest.raises(StorageUnavailable, match="too many runs"):
                    await system.ref(DISPATCHER).ask(RunNow(schedule.id, user_id=harness.owner.id))
                nursery.start_soon(ask, system, 0)
            assert [[run.status for run in answer] for answer in answers] == [["sent"]] * 4


class TestOutages:
    async def test_a_turn_waits_for_the_database_and_is_fired_once(self, harness, time, outage):
        await harness.rows()
        schedule = await harness.schedule()
        async with harness.open() as system:
            await time.settle()
            with outage():
                await system.ref(DISPATCHER).tell(harness.edge(schedule))
                await time.passes(30, 1)
                assert harness.devices.handed == []
            await time.passes(60, 1)
            assert await harness.states() == ["sent"]
            assert list(harness.devices.times().values()) == [1]

    async def test_after_five_minutes_of_it_a_turn_is_missed(self, harness, time, outage):
        await harness.rows()
        schedule = await harness.schedule()
        async with harness.open() as system:
            await time.settle()
            with outage():
                await system.ref(DISPATCHER).tell(harness.edge(schedule))
                await time.passes(301, 10)
            await time.passes(10, 1)
            assert [row[2:] for row in await harness.runs()] == [("skipped", "missed")]
            assert harness.devices.handed == []

    async def test_a_step_whose_time_comes_waits_as_well(self, harness, time, outage):
        await harness.rows()
        schedule = await harness.schedule(0, 10)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.passes(5)
            with outage():
                await time.passes(25, 1)
                assert len(harness.devices.handed) == 1
            await time.passes(60, 1)
            assert await harness.states() == ["sent", "sent"]
            assert set(harness.devices.times().values()) == {1}

    async def test_an_outage_that_ends_in_time_delays_no_step(self, harness, time, outage):
        await harness.rows()
        schedule = await harness.schedule(0, 10)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            with outage():
                await time.passes(5, 1)
            await time.passes(4, 1)
            assert await harness.states() == ["sent", "pending"]
            await time.passes(1)
            assert await harness.states() == ["sent", "sent"]

    async def test_what_was_sent_as_the_database_left_is_settled_when_it_is_back(self, harness, time, outage):
        await harness.rows()
        schedule = await harness.schedule(0, 60)
        leaving = outage()

        async def last(_):
            leaving.__enter__()
            return CommandSent()

        harness.devices.answers[harness.vehicles[0].id] = last
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.passes(20, 1)
            leaving.__exit__(None, None, None)
            assert await harness.planned(schedule) == []
            await time.passes(10, 1)
            assert await harness.states() == ["sent", "pending"]
            assert len(await harness.planned(schedule)) == 1
            assert len(harness.devices.handed) == 1

    async def test_steps_that_were_begun_by_a_commit_of_which_nobody_heard_are_sent_once(
        self, harness, time, outage
    ):
        await harness.rows(2)
        slow, quick = harness.vehicles
        free = harness.devices.answers[slow.id] = trio.Event()
        in_hand, lost = await harness.schedule(to=[slow]), await harness.schedule(to=[quick])
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(in_hand))
            await time.settle()
            # As the rows stand when the connection breaks after the commit and before its answer.
            await harness.fire(lost)
            await harness.put("sending", where="status = 'pending'")
            with outage(), pytest.raises(StorageUnavailable):
                await passing(time, system.ref(DISPATCHER).ask, RunNow(lost.id))
            await time.passes(90, 1)
            assert await harness.states() == ["failed", "sent"]
            assert harness.devices.times() == {1: 1, 2: 1}
            free.set()

    async def test_at_the_start_it_waits_for_the_database(self, harness, time, outage):
        await harness.rows()
        schedule = await harness.schedule()
        with outage():
            opened = harness.open()
            system = await opened.__aenter__()
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.passes(20, 1)
        await time.passes(10, 1)
        assert await harness.states() == ["sent"]
        await opened.__aexit__(None, None, None)


class TestStops:
    async def test_what_was_handed_out_is_settled_and_the_rest_is_pending_again(
        self, harness, time, monkeypatch
    ):
        monkeypatch.setattr(step_sender, "MAX_AWAITED", 8)
        await harness.rows(100)
        free = trio.Event()
        for device in harness.vehicles:
            harness.devices.answers[device.id] = free
        schedule = await harness.schedule()
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            assert await harness.states() == ["sending"] * 100
            assert len(harness.devices.handed) == 8
            nursery_free = trio.lowlevel.current_trio_token()
            # The devices answer once the stop has begun.
            threading.Timer(0.2, nursery_free.run_sync_soon, [free.set]).start()
        assert sorted(await harness.states()) == ["pending"] * 92 + ["sent"] * 8
        assert len(harness.devices.handed) == 8

    @pytest.mark.parametrize("unsent", [2000, 2])
    async def test_a_device_that_does_not_answer_takes_nothing_from_the_others(
        self, harness, time, monkeypatch, unsent
    ):
        monkeypatch.setattr(module, "MAX_UNSENT_STEPS", unsent)
        monkeypatch.setattr(step_sender, "MAX_AWAITED", 2)
        monkeypatch.setattr(module, "STOP_SECONDS", 0.3)
        await harness.rows(5)
        silent = trio.Event()
        for device in harness.vehicles:
            harness.devices.answers[device.id] = silent
        schedule = await harness.schedule()
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
        assert sorted(await harness.states()) == ["pending"] * 3 + ["sending"] * 2
        harness.devices.answers.clear()
        async with harness.open():
            await time.settle()
            assert sorted(await harness.states()) == ["failed"] * 2 + ["sent"] * 3
        assert len(harness.devices.handed) == 5
        assert set(harness.devices.times().values()) == {1}


class TestRestarts:
    async def test_what_nobody_knows_of_has_failed_and_what_follows_waits_from_now(
        self, harness, time, caplog
    ):
        await harness.rows()
        schedule = await harness.schedule(0, 60)
        await harness.fire(schedule, NOW - 20 * SECOND)
        await harness.put("sending", where="step = 0")
        async with harness.open():
            await time.settle()
            first, second = await harness.runs()
            assert first[2:] == ("failed", OUTCOME_UNKNOWN)
            assert second[2:] == ("pending", None)
            assert await harness.planned(schedule) == [(second[0], 60)]
        assert f"step {first[0]} failed: {OUTCOME_UNKNOWN}" in caplog.text
        assert harness.devices.handed == []

    async def test_a_delivery_of_which_nobody_knows_puts_off_nothing(self, harness, time):
        """What follows it was planned when it began to wait for its device."""
        await harness.rows()
        schedule = await harness.schedule(0, 60)
        await harness.fire(schedule, NOW - 20 * SECOND)
        await harness.put("delivering", where="step = 0")
        async with harness.open():
            await time.settle()
            first, second = await harness.runs()
            assert first[2:] == ("failed", OUTCOME_UNKNOWN)
            assert await harness.planned(schedule) == [(second[0], 40)]

    async def test_a_delivery_of_this_life_is_its_devices_business_for_a_minute(self, harness, time):
        """A device may come back before the dispatcher has looked."""
        await harness.rows()
        schedule = await harness.schedule(0)
        await harness.fire(schedule, NOW)
        await harness.put("delivering", where="step = 0")
        async with harness.open():
            await time.passes(59, step=1)
            assert [run[2] for run in await harness.runs()] == ["delivering"]
            await time.passes(62, step=1)
            assert [run[2:] for run in await harness.runs()] == [("failed", OUTCOME_UNKNOWN)]

    async def test_after_a_crash_of_its_own_nothing_is_sent_twice_and_it_goes_on(self, harness, time):
        await harness.rows(2)
        free = trio.Event()
        for device in harness.vehicles:
            harness.devices.answers[device.id] = free
        schedule = await harness.schedule()
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.settle()
            system.ref(DISPATCHER).tell_nowait("nonsense")
            await time.passes(20, 1)
            assert await harness.states() == ["failed", "failed"]
            free.set()
            await system.ref(DISPATCHER).tell(harness.edge(schedule, NOW + 20 * SECOND))
            await time.settle()
            assert await harness.states() == ["failed", "failed", "sent", "sent"]
            assert set(harness.devices.times().values()) == {1}

    async def test_what_waits_begins_and_what_waited_too_long_has_expired(self, harness, time):
        await harness.rows(2)
        schedule = await harness.schedule(60)
        await harness.fire(schedule, NOW - 20 * SECOND)
        queued, waiting = [row[0] for row in await harness.runs()]
        await harness.put("queued", where=f"id = {queued}")
        order = QueuedCommand(device_id=harness.vehicles[0].id, type="custom")
        await commands.enqueue(harness.database, order, expires=NOW, run_id=queued)
        async with harness.open():
            await time.settle()
            assert (await harness.runs())[0][2:] == ("skipped", "queue_expired")
            assert (await harness.runs())[1][2:] == ("sent", None)
            assert harness.devices.times() == {waiting: 1}


class TestLooks:
    async def test_a_step_that_is_overdue_begins(self, harness, time, clock):
        """The machine was suspended: the wall clock went on and the monotonic clock did not."""
        await harness.rows()
        schedule = await harness.schedule(0, 65)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.passes(1)
            clock.move_wall(40)
            # At the first look it is not late enough to be told from one that is about to begin.
            await time.passes(33)
            assert await harness.states() == ["sent", "pending"]
            await time.passes(27)
            assert await harness.states() == ["sent", "sent"]
            # Its delay is over as well some time later.
            await time.passes(30)
            assert set(harness.devices.times().values()) == {1}

    async def test_a_step_that_waits_for_its_time_or_another_is_let_be(self, harness, time):
        await harness.rows()
        schedule = await harness.schedule(0, 3000, 0)
        async with harness.open() as system:
            await system.ref(DISPATCHER).tell(harness.edge(schedule))
            await time.passes(2900, 30)
            assert await harness.states() == ["sent", "pending", "pending"]

    async def test_commands_that_waited_too_long_leave_the_queue(self, harness, time):
        await harness.rows()
        order = QueuedCommand(device_id=harness.vehicles[0].id, type="custom")
        async with harness.open():
            await time.settle()
            for seconds in (20, 70):
                await commands.enqueue(harness.database, order, expires=NOW + seconds * SECOND)
            await commands.enqueue(harness.database, order)
            left = []
            for _ in range(3):
                await time.passes(31)
                left.append(len(await commands.queued_for(harness.database, harness.vehicles[0].id)))
            assert left == [2, 2, 1]
