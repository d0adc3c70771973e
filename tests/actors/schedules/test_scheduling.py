"""Scheduled commands whole, from the edge of a calendar to the device, on a clock that the test moves.

Timetable and dispatcher are the real ones, and so is the database; devices are probes
that answer as they are told. What real devices do with steps is shown in test_device.py and in the journeys.
"""

from contextlib import asynccontextmanager
from datetime import timedelta

import msgspec
import pytest
import trio
from tests.actors.schedules.icalendar import NOW, encode_calendar

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import CalendarChanged, ScheduleChanged
from motorpool.actors.messages.scheduling import (
    DISPATCHER,
    RunNow,
)
from motorpool.actors.messages.uplink import DEVICE, CommandQueued, CommandRefused, CommandSent, SendCommand
from motorpool.actors.tree import schedule_spec
from motorpool.runtime import Actor, DynamicSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, server, users
from motorpool.storage.devices import commands, device_states, devices, groups
from motorpool.storage.records import (
    Calendar,
    Command,
    Device,
    Group,
    QueuedCommand,
    ScheduledCommand,
    ScheduledStep,
    User,
)
from motorpool.storage.schedules import runs, scheduled_commands


class Terminal(Actor):
    """A device that notes when it was sent what, and does what the test wants."""

    def __init__(self, device_id, world):
        self.device_id, self.world = device_id, world

    def handle(self, message):
        assert isinstance(message, SendCommand)
        world = self.world
        if self.device_id in world.offline:
            return self._offline(message)
        if self.device_id in world.declining:
            return CommandRefused("osmand devices do not know the command engineStop")
        if self.device_id in world.crashing:
            raise RuntimeError("broken terminal")
        world.sent.append((world.seconds, self.device_id, message.type))
        if self.device_id in world.slow:
            return self._late()
        return CommandSent()

    async def _late(self):
        await trio.sleep(self.world.slow[self.device_id])
        return CommandSent()

    async def _offline(self, message):
        await trio.sleep(self.world.slow.get(self.device_id, 0))
        if message.no_queue:
            return CommandRefused("the device is offline", offline=True)
        row = QueuedCommand(device_id=self.device_id, type=message.type)
        now, minutes = self.context.clock.now(), message.queue_minutes
        queued = await runs.queue_step(self.world.database, message.run_id, row, now=now, minutes=minutes)
        return CommandQueued(queued) if queued else CommandRefused("it was cancelled meanwhile")


class World:
    """Rows to begin with, and what happens to them, said as the API does it."""

    def __init__(self, database, clock):
        self.database, self.clock = database, clock
        self.sent = []
        self.offline, self.declining, self.crashing, self.slow = set(), set(), set(), {}
        self.system = None

    @property
    def seconds(self):
        return round((self.clock.now() - NOW).total_seconds(), 3)

    async def build(self):
        self.owner = await users.TABLE.insert(self.database, User(email="owner@example.org"))
        self.van = await self.device("van", self.owner)
        self.stop = await self.command("engineStop")
        self.go = await self.command("engineResume")

    async def device(self, name, *seen_by, group_id=0):
        row = await devices.TABLE.insert(self.database, Device(unique_id=name, group_id=group_id))
        for user in seen_by:
            await links.add(self.database, links.USER_DEVICE, user.id, row.id)
        return row.id

    async def command(self, kind):
        row = await commands.TABLE.insert(self.database, Command(type=kind))
        await links.add(self.database, links.USER_COMMAND, self.owner.id, row.id)
        return row.id

    async def calendar(self, *windows):
        return (
            await plain_tables.CALENDARS.insert(
                self.database, Calendar(name="c", data=encode_calendar(*windows))
            )
        ).id

    async def schedule(self, *windows, start=(), end=(), calendar_id=0, to=None, active=True, **attributes):
        """Steps are commands, or (command, delay)."""
        row = ScheduledCommand(
            name="s",
            calendar_id=calendar_id or await self.calendar(*windows),
            active=active,
            on_start=steps(start),
            on_end=steps(end),
            attributes=attributes,
        )
        row = await scheduled_commands.TABLE.insert(self.database, row)
        await scheduled_commands.set_owner(self.database, row.id, self.owner.id, self.clock.now())
        for device_id in [self.van] if to is None else to:
            await links.add(self.database, links.DEVICE_SCHEDULED_COMMAND, device_id, row.id)
        await self.tell(row.id)
        return row.id

    async def edit(self, number, **fields):
        async with self.database.transaction() as transaction:
            old = await scheduled_commands.TABLE.fetch(transaction, number)
            new = msgspec.structs.replace(old, **fields)
            await scheduled_commands.TABLE.update(transaction, new)
            if old.active and not new.active:
                await runs.cancel(transaction, number, self.clock.now())
            elif new.active != old.active or new.calendar_id != old.calendar_id:
                await scheduled_commands.WATCHED.watch_from(transaction, number, self.clock.now())
        await self.tell(number)

    async def delete(self, number):
        async with self.database.transaction() as transaction:
            await scheduled_commands.TABLE.delete(transaction, number)
            await runs.cancel(transaction, number, self.clock.now())
        await self.tell(number)

    async def rewrite(self, calendar_id, *windows):
        async with self.database.transaction() as transaction:
            row = Calendar(id=calendar_id, name="c", data=encode_calendar(*windows))
            await plain_tables.CALENDARS.update(transaction, row)
            await scheduled_commands.WATCHED.restart_calendar(transaction, calendar_id, self.clock.now())
        await publish_changes(self.system, CalendarChanged(calendar_id, "updated", ("data",)))

    async def tell(self, number):
        if self.system is not None:
            await publish_changes(self.system, ScheduleChanged(number, "updated"))

    async def run(self, number, which="start"):
        return await self.system.ref(DISPATCHER).ask(RunNow(number, which), seconds=30)

    async def history(self, number):
        """The records, oldest first: (seconds, phase, command, status or its reason)."""
        kinds = {self.stop: "stop", self.go: "go"}
        return [
            (
                round((each.time - NOW).total_seconds(), 1),
                each.phase,
                kinds.get(each.command_id, each.command_id),
                each.status if each.status != "skipped" else each.reason,
            )
            for each in reversed(await runs.history(self.database, number, limit=1000))
        ]


def steps(written):
    return [ScheduledStep(*step) if isinstance(step, tuple) else ScheduledStep(step) for step in written]


@pytest.fixture
async def world(database, clock):
    made = World(database, clock)
    await made.build()
    return made


@pytest.fixture
def running(database, tree, world, time):
    """`async with running():` the server runs."""

    @asynccontextmanager
    async def run(**settings):
        spec = DynamicSpec(kind=DEVICE, name="devices", factory=lambda number: Terminal(number, world))
        async with tree(spec, schedule_spec(database, **settings)) as world.system:
            await time.settle()
            yield
        world.system = None

    return run


# Windows and steps


async def test_lists_go_out_in_order_as_the_window_opens_and_shuts(world, running, time):
    number = await world.schedule((10, 20), start=[world.stop, world.go], end=[world.go])
    async with running():
        await time.passes(599)
        assert world.sent == []
        await time.passes(1)
        assert world.sent == [(600, world.van, "engineStop"), (600, world.van, "engineResume")]
        await time.passes(600)
    assert world.sent[2:] == [(1200, world.van, "engineResume")]
    assert await world.history(number) == [
        (600, "start", "stop", "sent"), (600, "start", "go", "sent"), (1200, "end", "go", "sent"),
    ]  # fmt: skip


async def test_events_that_touch_or_overlap_are_one_window(world, running, time):
    await world.schedule((10, 20), (20, 30), (25, 40), start=[world.stop], end=[world.go])
    async with running():
        await time.passes(3600, step=60)
    assert world.sent == [(600, world.van, "engineStop"), (2400, world.van, "engineResume")]


async def test_a_delay_counts_from_the_sending_of_the_step_before_and_not_for_the_first(world, running, time):
    world.slow[world.van] = 5
    number = await world.schedule((1, 9), start=[(world.stop, 300), (world.go, 10), (world.stop, 20)])
    async with running():
        await time.passes(120, step=1)
    assert [seconds for seconds, *_ in world.sent] == [60, 75, 100]
    assert [row[0] for row in await world.history(number)] == [65, 80, 105]


async def test_every_device_goes_its_own_way(world, running, time):
    bus = await world.device("bus", world.owner)
    world.slow[bus] = 8
    await world.schedule((1, 9), start=[world.stop, (world.go, 10)], to=[world.van, bus])
    async with running():
        await time.passes(120, step=1)
    assert sorted(world.sent) == sorted(
        [
            (60, world.van, "engineStop"),
            (70, world.van, "engineResume"),
            (60, bus, "engineStop"),
            (78, bus, "engineResume"),
        ]
    )


async def test_targets_are_resolved_when_it_fires_with_all_groups_below(world, running, time):
    fleet = (await groups.TABLE.insert(world.database, Group(name="fleet"))).id
    below = fleet
    for name in ("north", "east", "yard"):
        below = (await groups.TABLE.insert(world.database, Group(name=name, group_id=below))).id
    deep = await world.device("deep", world.owner, group_id=below)
    leaver = await world.device("leaver", world.owner, group_id=fleet)
    comer = await world.device("comer", world.owner)
    number = await world.schedule((10, 20), start=[world.stop, (world.stop, 60)], to=[deep])
    await links.add(world.database, links.GROUP_SCHEDULED_COMMAND, fleet, number)
    async with running():
        await time.passes(300)
        await world.database.execute("update devices set group_id = null where id = $1", leaver)
        await world.database.execute("update devices set group_id = $2 where id = $1", comer, below)
        await time.passes(300)
        assert sorted(device_id for _, device_id, _ in world.sent) == [deep, comer]
        # Who leaves now still gets the rest of what has begun.
        await world.database.execute("update devices set group_id = null where id = $1", comer)
        await time.passes(60)
    assert sorted(device_id for _, device_id, _ in world.sent[2:]) == [deep, comer]


async def test_without_links_or_with_an_empty_list_nothing_is_made(world, running, time):
    alone = await world.schedule((1, 2), start=[world.stop], to=[])
    empty = await world.schedule((1, 2), end=[])
    async with running():
        await time.passes(600, step=30)
    assert await world.history(alone) == await world.history(empty) == []
    assert (await scheduled_commands.links_of(world.database, [alone]))[alone].last_run is None


async def test_the_last_run_is_when_it_last_fired(world, running, time):
    number = await world.schedule((1, 2), (10, 20), start=[world.stop])
    async with running():
        for minutes, expected in ((2, 1), (11, 10), (15, 10)):
            await time.passes(minutes * 60 - world.seconds, step=60)
            found = await scheduled_commands.links_of(world.database, [number])
            assert found[number].last_run == NOW + timedelta(minutes=expected)
        await world.run(number)
        found = await scheduled_commands.links_of(world.database, [number])
        assert found[number].last_run == NOW + timedelta(minutes=15)


async def test_weeks_of_a_calendar_pass_in_seconds(world, running, time):
    number = await world.schedule((60, 120, "RRULE:FREQ=DAILY"), start=[world.stop], end=[world.go])
    async with running():
        for _ in range(28):
            await time.passes(7200, step=3600)
            await time.passes(86400 - 7200)
    assert len(world.sent) == 56
    assert [row[3] for row in await world.history(number)] == ["sent"] * 56
    assert world.sent[-1] == (27 * 86400 + 7200, world.van, "engineResume")


# What may come of a step


async def test_a_device_that_is_offline_is_passed_over_and_its_next_step_has_its_own_chance(
    world, running, time
):
    number = await world.schedule((1, 9), start=[world.stop, (world.go, 60)])
    zero = await world.schedule((1, 9), start=[world.stop], queueMaxMinutes=0)
    world.offline.add(world.van)
    async with running():
        await time.passes(60)
        assert await world.history(number) == [(60, "start", "stop", "offline")]
        assert await world.history(zero) == [(60, "start", "stop", "offline")]
        world.offline.clear()
        await time.passes(60)
    assert await world.history(number) == [
        (60, "start", "stop", "offline"), (120, "start", "go", "sent"),
    ]  # fmt: skip


async def test_a_queued_step_waits_no_longer_than_it_may(world, running, time):
    number = await world.schedule((1, 99), start=[world.stop, (world.go, 30)], queueMaxMinutes=5)
    world.offline.add(world.van)
    async with running():
        await time.passes(95, step=5)
        assert await world.history(number) == [(60, "start", "stop", "queued"), (90, "start", "go", "queued")]
        await time.passes(359 - 95)
        assert [row[3] for row in await world.history(number)] == ["queued", "queued"]
        await time.passes(2)
        assert {row[3] for row in await world.history(number)} == {"queued", "queue_expired"}
        await time.passes(30)
        assert [row[2:] for row in await world.history(number)] == [
            ("stop", "queue_expired"), ("go", "queue_expired"),
        ]  # fmt: skip
        assert await commands.queued_for(world.database, world.van) == []


async def test_the_queue_is_left_in_time_even_if_the_clock_is_put_back(world, running, time, clock):
    number = await world.schedule((1, 99), start=[world.stop], queueMaxMinutes=5)
    world.offline.add(world.van)
    async with running():
        await time.passes(60)
        clock.move_wall(-7200)
        await time.passes(301)
        assert [row[3] for row in await world.history(number)] == ["queue_expired"]


async def test_a_device_that_declines_and_one_that_breaks(world, running, time):
    bus = await world.device("bus", world.owner)
    world.declining.add(world.van)
    world.crashing.add(bus)
    number = await world.schedule((1, 9), start=[world.stop], to=[world.van, bus])
    async with running():
        await time.passes(61)
    found = {each.device_id: each for each in await runs.history(world.database, number, limit=9)}
    declined, broken = found[world.van], found[bus]
    assert (declined.status, declined.reason) == ("skipped", "not_sent")
    assert declined.detail == "osmand devices do not know the command engineStop"
    assert broken.status == "failed"
    assert "ActorFailed" in broken.reason


async def test_the_opposite_phase_supersedes_what_still_waits(world, running, time):
    bus = await world.device("bus", world.owner)
    number = await world.schedule(
        (1, 2), start=[world.stop, (world.stop, 600)], end=[world.go], to=[world.van, bus], queueMaxMinutes=60
    )
    world.offline.add(bus)
    async with running():
        await time.passes(60)
        await time.passes(59)
        assert len(await commands.queued_for(world.database, bus)) == 1
        await time.passes(1)
        assert [each.type for each in await commands.queued_for(world.database, bus)] == ["engineResume"]
        await time.passes(900, step=30)
    # Four of the start: the van's second, the bus' queued first and its second.
    assert sorted(row[1:] for row in await world.history(number)) == [
        ("end", "go", "queued"), ("end", "go", "sent"),
        ("start", "stop", "sent"), *[("start", "stop", "superseded")] * 3,
    ]  # fmt: skip
    assert world.sent == [(60, world.van, "engineStop"), (120, world.van, "engineResume")]


async def test_the_end_of_a_window_without_end_steps_takes_nothing_back(world, running, time):
    bus = await world.device("bus", world.owner)
    number = await world.schedule(
        (1, 2), start=[world.stop, (world.stop, 600)], to=[world.van, bus], queueMaxMinutes=60
    )
    world.offline.add(bus)
    async with running():
        for seconds, queued in ((60, 1), (60, 1), (540, 2)):
            await time.passes(seconds)
            assert len(await commands.queued_for(world.database, bus)) == queued
    assert sorted(await world.history(number)) == [
        (60, "start", "stop", "queued"), (60, "start", "stop", "sent"),
        (660, "start", "stop", "queued"), (660, "start", "stop", "sent"),
    ]  # fmt: skip
    assert world.sent == [(60, world.van, "engineStop"), (660, world.van, "engineStop")]


async def test_end_steps_take_nothing_back_from_a_device_that_has_left(world, running, time):
    bus = await world.device("bus", world.owner)
    number = await world.schedule(
        (1, 2), start=[world.stop], end=[world.go], to=[world.van, bus], queueMaxMinutes=60
    )
    world.offline |= {world.van, bus}
    async with running():
        await time.passes(61)
        await links.remove_many(world.database, links.DEVICE_SCHEDULED_COMMAND, [(bus, number)])
        await time.passes(60)
        for device_id, waits in ((bus, "engineStop"), (world.van, "engineResume")):
            assert [each.type for each in await commands.queued_for(world.database, device_id)] == [waits]


async def test_what_is_superseded_while_it_is_being_sent_is_not_queued_after_all(world, running, time):
    number = await world.schedule((1, 1.05), start=[world.stop], end=[world.go], queueMaxMinutes=60)
    world.offline.add(world.van)
    world.slow[world.van] = 5  # when it finds that it is offline the window has shut
    async with running():
        await time.passes(80, step=1)
    assert sorted(row[1:] for row in await world.history(number)) == [
        ("end", "go", "queued"), ("start", "stop", "superseded"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("delete from user_device", "no_permission"),
        ("delete from user_command", "no_permission"),
        ("update users set disabled = true", "no_permission"),
        ("update users set expiration_time = '2026-06-15 12:00:30Z'", "no_permission"),
        ("delete from users", "no_permission"),
        ("delete from devices", "device_not_found"),
        ("delete from commands", "command_not_found"),
    ],
)
async def test_each_step_is_sent_with_the_rights_that_its_owner_has_then(
    world, running, time, statement, reason
):
    number = await world.schedule((1, 9), start=[world.stop, (world.go, 60), (world.stop, 60)])
    async with running():
        await time.passes(60)
        await world.database.execute(statement)
        await time.passes(120, step=10)
    assert [row[0::3] for row in await world.history(number)] == [(60, "sent"), (120, reason), (180, reason)]
    assert len(world.sent) == 1


async def test_an_administrator_needs_no_links(world, running, time):
    await world.database.execute("delete from user_device")
    await world.database.execute("delete from user_command")
    await world.database.execute("update users set administrator = true")
    await world.schedule((1, 9), start=[world.stop])
    async with running():
        await time.passes(61)
    assert len(world.sent) == 1


# Active, deleted, changed


async def test_an_inactive_one_never_fires_by_itself_and_runs_when_it_is_told_to(world, running, time):
    number = await world.schedule((1, 9), start=[world.stop], active=False)
    async with running():
        await time.passes(600, step=30)
        assert await world.history(number) == []
        made = await world.run(number)
        assert [(each.phase, each.status) for each in made] == [("manual", "sent")]
    assert world.sent == [(600, world.van, "engineStop")]


async def test_deactivating_ends_what_is_pending_and_queued(world, running, time):
    bus = await world.device("bus", world.owner)
    number = await world.schedule(
        (1, 9), start=[world.stop, (world.go, 60)], end=[world.go], to=[world.van, bus], queueMaxMinutes=9
    )
    world.offline.add(bus)
    async with running():
        await time.passes(70)
        await world.edit(number, active=False)
        assert await commands.queued_for(world.database, bus) == []
        await time.passes(900, step=30)
    assert sorted(row[1:] for row in await world.history(number)) == [
        ("start", "go", "schedule_inactive"), ("start", "go", "schedule_inactive"),
        ("start", "stop", "schedule_inactive"), ("start", "stop", "sent"),
    ]  # fmt: skip
    assert len(world.sent) == 1


async def test_activating_watches_from_scratch_and_never_looks_back(world, running, time):
    number = await world.schedule((1, 9), (20, 30), start=[world.stop], end=[world.go], active=False)
    async with running():
        await time.passes(300, step=30)
        await world.edit(number, active=True)
        await time.passes(1500, step=30)
    assert world.sent == [
        (540, world.van, "engineResume"), (1200, world.van, "engineStop"), (1800, world.van, "engineResume"),
    ]  # fmt: skip


async def test_another_calendar_is_watched_from_scratch_and_what_waits_goes_on(world, running, time):
    number = await world.schedule((1, 9), start=[world.stop, (world.go, 240)])
    other = await world.calendar((0, 8), (20, 30))
    async with running():
        await time.passes(120, step=30)
        await world.edit(number, calendar_id=other)
        await time.passes(1200, step=30)
    assert [row[0:3:2] for row in world.sent] == [
        (60, "engineStop"), (300, "engineResume"), (1200, "engineStop"),
    ]  # fmt: skip


async def test_a_calendar_that_is_rewritten_is_watched_from_scratch(world, running, time):
    calendar_id = await world.calendar((10, 20))
    await world.schedule(calendar_id=calendar_id, start=[world.stop], end=[world.go])
    async with running():
        await time.passes(300, step=30)
        await world.rewrite(calendar_id, (2, 7), (15, 16))
        await time.passes(1200, step=30)
    assert [row[0] for row in world.sent] == [420, 900, 960]


async def test_deleting_ends_what_waits_and_keeps_the_history(world, running, time):
    number = await world.schedule((1, 9), start=[world.stop, (world.go, 60)], end=[world.go])
    async with running():
        await time.passes(70, step=10)
        await world.delete(number)
        await time.passes(900, step=30)
    assert await world.history(number) == [
        (60, "start", "stop", "sent"), (70, "start", "go", "schedule_inactive"),
    ]  # fmt: skip


async def test_steps_that_have_begun_go_on_as_they_were_when_it_fired(world, running, time):
    number = await world.schedule((1, 2), (10, 20), start=[world.stop, (world.go, 30)])
    async with running():
        await time.passes(70, step=10)
        await world.edit(number, on_start=steps([world.go]))
        await time.passes(600, step=10)
    assert [row[0:3:2] for row in world.sent] == [
        (60, "engineStop"), (90, "engineResume"), (600, "engineResume"),
    ]  # fmt: skip


# By hand


async def test_a_run_by_hand_answers_all_that_it_made_and_leaves_the_calendar_alone(world, running, time):
    number = await world.schedule((1, 9), start=[world.stop, (world.go, 60)], end=[world.go])
    async with running():
        made = await world.run(number)
        assert [(each.phase, each.command_id, each.status) for each in made] == [
            ("manual", world.stop, "sent"), ("manual", world.go, "pending"),
        ]  # fmt: skip
        assert made[1].time == NOW + timedelta(seconds=60)
        made = await world.run(number, "end")
        assert [(each.command_id, each.status) for each in made] == [(world.go, "sent")]
        await time.passes(600, step=10)
    assert (60, world.van, "engineStop") in world.sent
    assert (60, world.van, "engineResume") in world.sent
    # Neither phase takes what a person wanted for its opposite.
    assert "superseded" not in {row[3] for row in await world.history(number)}


async def test_a_run_by_hand_is_answered_in_time_whatever_a_device_does(world, running, time):
    bus = await world.device("bus", world.owner)
    world.slow[bus] = 8
    number = await world.schedule((1, 9), start=[world.stop], to=[world.van, bus])
    async with running(), trio.open_nursery() as nursery:
        made = []

        async def ask():
            made.extend(await world.run(number))

        nursery.start_soon(ask)
        await time.passes(2.9)
        assert made == []
        await time.passes(0.2)
        assert sorted(each.status for each in made) == ["pending", "sent"]
        await time.passes(6)
    assert [row[3] for row in await world.history(number)] == ["sent", "sent"]


async def test_a_run_of_nothing_answers_nothing(world, running):
    number = await world.schedule((1, 9), start=[world.stop], to=[])
    async with running():
        assert await world.run(number) == []
        assert await world.run(number, "end") == []
        assert await world.run(999) == []


# Restarts and clocks


async def test_what_is_at_most_five_minutes_late_is_sent_after_a_restart_and_the_rest_is_missed(
    world, running, time, clock
):
    late = await world.schedule((10, 99), start=[world.stop, (world.go, 240), (world.stop, 600)])
    young = await world.schedule((17, 99), start=[world.stop])
    async with running():
        await time.passes(300)
    clock.move_wall(16 * 60)  # the server was down until minute 21
    async with running():
        # Its second step was due at minute 14, its third is at 24.
        assert await world.history(late) == [
            (1260, "start", "stop", "missed"), (1260, "start", "go", "missed"),
        ]  # fmt: skip
        assert await world.history(young) == [(1260, "start", "stop", "sent")]
        await time.passes(300, step=10)
    assert [row[1:] for row in await world.history(late)][2:] == [("start", "stop", "sent")]
    assert [round(row[0], -1) for row in world.sent] == [1260, 1440]


async def test_exactly_five_minutes_are_not_missed(world, running, time, clock):
    number = await world.schedule((10, 99), start=[world.stop])
    clock.move_wall(15 * 60)
    async with running():
        await time.settle()
    assert [row[3] for row in await world.history(number)] == ["sent"]


async def test_pending_and_queued_steps_outlive_a_restart(world, running, time, clock):
    bus = await world.device("bus", world.owner)
    number = await world.schedule(
        (1, 99), start=[world.stop, (world.go, 120)], to=[world.van, bus], queueMaxMinutes=4
    )
    world.offline.add(bus)
    async with running():
        await time.passes(90, step=30)
    clock.move_wall(60)
    async with running():
        await time.passes(29)
        assert len(world.sent) == 1
        await time.passes(1)
        assert [(round(row[0]), row[2]) for row in world.sent[1:]] == [(180, "engineResume")]
        await time.passes(180, step=30)
    assert sorted(row[2:] for row in await world.history(number)) == [
        ("go", "queued"), ("go", "sent"), ("stop", "queue_expired"), ("stop", "sent"),
    ]  # fmt: skip


async def test_a_step_that_was_being_sent_when_all_ended_is_failed_and_not_sent_again(
    world, running, time, database, tree
):
    number = await world.schedule((1, 99), start=[world.stop, (world.go, 60)])
    async with running():
        await time.passes(60)
    # As a crash between the commit and the bytes leaves it.
    await database.execute("update scheduled_command_runs set status = 'sending' where step = 0")
    sent = len(world.sent)
    async with running():
        await time.passes(30)
        assert [row[3] for row in await world.history(number)] == ["failed"]
        await time.passes(60)
    record = (await runs.history(database, number, limit=9))[-1]
    assert "it was being sent" in record.reason
    # The next step has its own turn.
    assert [row[2] for row in world.sent[sent:]] == ["engineResume"]


async def test_devices_that_a_restart_cut_off_have_a_minute_to_come_back(world, running, time, clock):
    bus = await world.device("bus", world.owner)
    number = await world.schedule((1, 99), start=[world.stop, (world.go, 90)], to=[world.van, bus])
    world.offline.update({world.van, bus})
    await device_states.save(world.database, {world.van: NOW, bus: NOW - timedelta(seconds=600)})
    await server.mark_alive(world.database, NOW)
    clock.move_wall(180)  # the window opened two minutes ago
    async with running(reconnect_grace_seconds=60, status_seconds=600):
        await time.passes(20, step=5)
        assert await world.history(number) == []
        world.offline.remove(world.van)
        await time.passes(10, step=5)
        assert world.sent == [(210, world.van, "engineStop")]
        # By hand nobody waits.
        assert {each.status for each in await world.run(number, "start") if each.device_id == bus} == {
            "pending", "skipped",
        }  # fmt: skip
        await time.passes(300, step=5)
    of_bus = [each for each in await runs.history(world.database, number, limit=99) if each.device_id == bus]
    assert [((each.time - NOW).total_seconds(), each.reason) for each in of_bus if each.phase == "start"] == [
        (330, "offline"),
        (240, "offline"),
    ]


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_device_that_was_not_connected_when_the_server_stopped_is_offline_at_once(
    world, running, time, clock, is_known
):
    """Where it is not known when the server stopped, the newest message of any device stands for it."""
    bus = await world.device("bus", world.owner)
    new = await world.device("new", world.owner)
    number = await world.schedule((1, 99), start=[world.stop], to=[world.van, bus, new])
    world.offline.update({world.van, bus, new})
    await device_states.save(world.database, {world.van: NOW, bus: NOW - timedelta(seconds=601)})
    if is_known:
        await server.mark_alive(world.database, NOW)
    clock.move_wall(120)
    async with running(reconnect_grace_seconds=60, status_seconds=600):
        await time.passes(30, step=5)
        ended = await runs.history(world.database, number, limit=9)
        assert {each.device_id for each in ended} == {bus, new}
        assert {each.reason for each in ended} == {"offline"}
        await time.passes(60, step=5)
        assert len(await runs.history(world.database, number, limit=9)) == 3


async def test_a_running_server_writes_that_it_is_alive(world, running, time, clock):
    async with running():
        await time.passes(95, step=5)
        assert await server.last_alive(world.database) == NOW + timedelta(seconds=90)


async def test_what_is_nearly_too_late_does_not_wait_for_its_device(world, running, time, clock):
    number = await world.schedule((1, 99), start=[world.stop])
    world.offline.add(world.van)
    await device_states.save(world.database, {world.van: NOW})
    clock.move_wall(350)
    async with running(reconnect_grace_seconds=60, status_seconds=600):
        await time.settle()
        assert [row[3] for row in await world.history(number)] == ["offline"]


async def test_a_step_that_waits_for_its_device_to_come_back_ends_with_the_schedules_activity(
    world, running, time, clock
):
    number = await world.schedule((1, 99), start=[world.stop])
    world.offline.add(world.van)
    await device_states.save(world.database, {world.van: NOW})
    clock.move_wall(120)
    async with running(reconnect_grace_seconds=60, status_seconds=600):
        await time.passes(5)
        await world.edit(number, active=False)
        world.offline.clear()
        await time.passes(120, step=5)
    assert world.sent == []
    assert [row[3] for row in await world.history(number)] == ["schedule_inactive"]


async def test_an_orderly_stop_leaves_what_was_not_handed_out_for_the_next_start(world, running, time):
    many = [await world.device(f"d{number}", world.owner) for number in range(70)]
    world.slow = dict.fromkeys(many, 2)
    number = await world.schedule((1, 99), start=[world.stop], to=many)
    async with running():
        await time.passes(60)
        assert len(world.sent) == 64
    world.slow = {}
    async with running():
        await time.passes(31)
    assert sorted(device_id for _, device_id, _ in world.sent) == many
    assert {row[3] for row in await world.history(number)} == {"sent"}


async def test_a_suspended_machine_sends_what_is_not_too_late_as_it_wakes(world, running, time, clock):
    number = await world.schedule((10, 20), (60, 70), start=[world.stop, (world.go, 60)], end=[world.go])
    async with running():
        await time.passes(60)
        clock.move_wall(61 * 60)  # it wakes in minute 62
        await time.passes(1)
        history = [row[1:] for row in await world.history(number)]
        assert history.count(("start", "stop", "missed")) == 1
        assert history.count(("start", "stop", "sent")) == 1
        assert ("end", "go", "missed") in history
        await time.passes(60)
    assert [row[2] for row in world.sent] == ["engineStop", "engineResume"]


async def test_a_clock_put_back_fires_no_edge_twice_and_holds_up_no_delay(world, running, time, clock):
    await world.schedule((10, 20), start=[world.stop, (world.go, 120)], end=[world.go])
    async with running():
        await time.passes(600)
        clock.move_wall(-1800)
        await time.passes(120, step=10)
        assert [row[2] for row in world.sent] == ["engineStop", "engineResume"]
        await time.passes(3600, step=60)
    assert [row[2] for row in world.sent] == ["engineStop", "engineResume", "engineResume"]


async def test_ten_thousand_that_sleep_are_no_actors(world, running, time, database):
    await world.database.execute(
        "insert into scheduled_commands (name, calendar_id, watched_from) select 's', $1, $2"
        " from generate_series(1, 10000)",
        await world.calendar((600, 660, "RRULE:FREQ=DAILY")),
        NOW,
    )
    async with running():
        await time.passes(600, step=60)
        (system,) = world.system.snapshot()
    (schedule,) = [each for each in system.children if each.path.endswith("schedule")]
    assert [(each.kind, each.alive) for each in schedule.children] == [("dispatcher", 1), ("timetable", 1)]
