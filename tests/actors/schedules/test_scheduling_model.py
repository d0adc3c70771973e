"""Scheduled commands against a plain model, over random histories.

Timetable, dispatcher, devices and database are the real ones; the clock is moved.
"""

from collections import Counter
from contextlib import nullcontext, suppress
from datetime import timedelta
from functools import wraps
from itertools import groupby
from typing import NamedTuple

import msgspec
import trio
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.actors.schedules.scheduling_actions import ModelActions
from tests.actors.schedules.scheduling_harness import Harness
from tests.actors.schedules.scheduling_model import Schedule, Seen, edges

from motorpool.actors.messages.scheduling import DISPATCHER, EdgeReached, RunNow
from motorpool.storage.accounts import links
from motorpool.storage.devices import commands
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.schedules import scheduled_commands

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
LANDINGS = 25
"""Moments at which anything happens that one rule lets pass at most."""

RECORDS = """
    select scheduled_command_id, dense_rank() over (partition by scheduled_command_id order by firing),
        device_id, step, phase, command_id, status, reason, time
    from scheduled_command_runs
"""
WAITING = """
    select q.device_id, r.scheduled_command_id, r.number, r.device_id, r.step
    from queued_commands q join (
        select id, scheduled_command_id, device_id, step,
            dense_rank() over (partition by scheduled_command_id order by firing) as number
        from scheduled_command_runs
    ) r on r.id = q.run_id order by q.id
"""


class Found(NamedTuple):
    """How it is."""

    records: dict
    waiting: list
    """(device, key of the record), first come first."""
    last_runs: dict


PICK = st.integers(0, 11)
STEPS = st.lists(st.tuples(PICK, st.sampled_from([400, 20, 0])), min_size=1, max_size=3)
MAYBE_STEPS = st.one_of(STEPS, STEPS, STEPS, st.just([]))
WINDOWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-5, 20), st.integers(-5, 20), st.integers(-1500, 1500)),
        st.sampled_from([1, 2, 4, 5, 7, 9, 60, 1500]),
        st.sampled_from([True, True, False]),
    ),
    min_size=1,
    max_size=4,
)
"""Minutes from now (None: when the one before ends), minutes long, daily."""
MINUTES = st.sampled_from([3, 60, 0])
SPANS = st.one_of(st.integers(1, 90), st.integers(60, 900))
HOURS = st.integers(1, 60).map(lambda hours: hours * 3600)
DOWN = st.sampled_from([500, 900, 30, 300, 301, 1500, 3, 3600, 200, 700, 100_000, 400_000])
THEN = st.sampled_from([1, 2, 0, 3, 5])
"""Moments that pass after something has been done."""


def action(**strategies):
    """A rule, after which some time passes: most of what goes wrong does so later."""

    def made(method):
        @rule(then=THEN, **strategies)
        @wraps(method)
        def done(self, then, **arguments):
            method(self, **arguments)
            if then:
                self.compare()
                self._pass(86400, then)

        return done

    return made


class ScheduledCommands(ModelActions, RuleBasedStateMachine):
    """What people, devices and time may do, done to server and model alike."""

    def __init__(self, harness):
        RuleBasedStateMachine.__init__(self)
        ModelActions.__init__(self, harness)
        self._is_compared = False
        """The rule looked last of all."""
        self._was_right = False

    def call(self, *args):
        return self.harness.call(*args)

    # Beginning and end

    @initialize(
        calendars=st.lists(WINDOWS, min_size=1, max_size=2),
        device_groups=st.lists(PICK, min_size=3, max_size=3),
        schedules=st.lists(
            st.tuples(PICK, PICK, STEPS, MAYBE_STEPS, MINUTES, PICK, PICK), min_size=2, max_size=3
        ),
        online=st.sets(PICK),
    )
    def begin(self, calendars, device_groups, schedules, online):
        self.call(self._begin, calendars, device_groups)
        for schedule in schedules:
            self._make(*schedule)
        for number in sorted(online):
            self._come_online(number)

    def teardown(self):
        if self.harness.server_run is not None:
            try:
                self._hear_of_all_edges_again()
            finally:
                self.call(self.harness.server_run.stop)
                self.harness.server_run = None

    def _hear_of_all_edges_again(self):
        """Nothing comes of it, unless something was wrong already."""
        if not self._was_right or self.model.cut_off:
            return
        for number, found in self.model.schedules.items():
            if found.exists:
                self._tell_edges(number, found, 3)
        self._is_compared = False
        self.compare()

    # Small things

    def _schedule(self, number):
        living = {key: each for key, each in self.model.schedules.items() if each.exists}
        waiting = {run.schedule for run in self.model.open} & living.keys()
        chosen = self._pick(sorted(waiting) if waiting and number < 8 else living, number)
        return chosen, living[chosen]

    @property
    def _has_schedule(self):
        return any(each.exists for each in self.model.schedules.values())

    # What people do

    @precondition(lambda self: sum(each.exists for each in self.model.schedules.values()) < 3)
    @action(
        calendar=PICK,
        owner=PICK,
        on_start=MAYBE_STEPS,
        on_end=STEPS,
        minutes=MINUTES,
        device=PICK,
        group=PICK,
    )
    def create(self, **choices):
        self._make(**choices)

    def _make(self, calendar, owner, on_start, on_end, minutes, device, group):
        model = self.model
        schedule = Schedule(
            self._pick(model.calendars, calendar),
            self._pick(model.owners, owner),
            {"start": self._steps(on_start), "end": self._steps(on_end)},
            minutes,
            active=True,
            watched=model.now,
        )
        schedule.devices.add(self._pick(model.devices, device))
        schedule.groups |= {self._pick(model.groups, group)} - {0}
        self.call(self._create, schedule)
        note(f"# {next(reversed(model.schedules))}: {schedule}")

    @precondition(lambda self: self._has_schedule)
    @action(schedule=PICK, device=PICK, group=PICK, which=st.sampled_from(["device", "group"]))
    def link_or_unlink(self, schedule, device, group, which):
        self.call(self._link, *self._schedule(schedule), device, group, which)

    @precondition(lambda self: self.model.devices)
    @action(device=PICK, group=PICK)
    def move_device(self, device, group):
        self.call(self._move, self._pick(self.model.devices, device), self._pick(self.model.groups, group))

    @precondition(lambda self: self._has_schedule)
    @action(schedule=PICK)
    def activate_or_deactivate(self, schedule):
        number, found = self._schedule(schedule)
        found.active = not found.active
        if found.active:
            self.model.watch(number)
        else:
            self.model.cancel(number)
        self.call(lambda: self._store(number, cancel=not found.active, watch=found.active))

    @precondition(lambda self: self._has_schedule)
    @action(schedule=PICK, calendar=PICK)
    def take_another_calendar(self, schedule, calendar):
        number, found = self._schedule(schedule)
        chosen = self._pick(self.model.calendars, calendar)
        changed, found.calendar = chosen != found.calendar, chosen
        if changed:
            self.model.watch(number)
        self.call(lambda: self._store(number, watch=changed))

    @action(calendar=PICK, windows=WINDOWS)
    def change_calendar(self, calendar, windows):
        number, events = self._pick(self.model.calendars, calendar), self._events(windows)
        self.call(self._change_calendar, number, events)
        self.model.change_calendar(number, events)

    @precondition(lambda self: self._has_schedule)
    @action(schedule=PICK, steps=MAYBE_STEPS, phase=st.sampled_from(["start", "end"]))
    def edit_steps(self, schedule, steps, phase):
        number, found = self._schedule(schedule)
        found.lists = {**found.lists, phase: self._steps(steps)}
        self.call(self._store, number)

    @precondition(lambda self: self._has_schedule)
    @action(schedule=PICK)
    def delete_schedule(self, schedule):
        number, found = self._schedule(schedule)
        self.call(self._delete_schedule, number)
        found.exists = False
        self.model.cancel(number)

    @precondition(lambda self: len(self.model.devices) > 2)
    @action(device=PICK)
    def delete_device(self, device):
        waited_for = list(self.model.waiting())
        number = self._pick(waited_for if waited_for and device < 8 else self.model.devices, device)
        self.call(self._delete_device, number)
        self.model.delete_device(number)

    @precondition(lambda self: len(self.model.commands) > 3)
    @action(command=PICK)
    def delete_command(self, command):
        number = self._pick(self.model.commands, command)
        self.call(commands.TABLE.delete, self.harness.database, number)
        self.model.delete_command(number)

    @action(number=PICK, what=st.sampled_from(["commands", "devices", "groups"]))
    def give_or_take_a_right(self, number, what):
        pair = {"commands": links.USER_COMMAND, "devices": links.USER_DEVICE, "groups": links.USER_GROUP}[
            what
        ]
        chosen = self._pick(getattr(self.model, what), number)
        if chosen:
            has = chosen in getattr(self.model.owners[self._user_id], what)
            self.call(self._take if has else self._give, what, pair, self._user_id, chosen)

    @action(owner=PICK, how=st.sampled_from(["disabled", "expiration_time"]))
    def bar_or_admit_an_owner(self, owner, how):
        number = self._pick(self.model.owners, owner)
        self.call(self._bar, number, how)

    @precondition(lambda self: self._has_schedule)
    @action(schedule=PICK, which=st.sampled_from(["start", "end"]))
    def run_now(self, schedule, which):
        number, _ = self._schedule(schedule)
        answer = self.call(self._run_now, number, which)
        assert answer is not None, "there was no answer"
        self._look()
        self.model.run_now(number, which)
        fired = self.model.schedules[number].fired
        firsts = {
            key[2]: run.status
            for key, run in self.model.runs.items()
            if key[:2] == (number, fired) and not key[3]
        }
        if answer:
            told = {}
            for each in answer:
                assert (each.scheduled_command_id, each.phase) == (number, "manual")
                told.setdefault(each.device_id, each.status)
            assert told == firsts

    async def _run_now(self, number, which):
        answers = []

        async def ask():
            dispatcher = self.harness.server_run.system.ref(DISPATCHER)
            kill_switch = self.harness.server_run.kill_switch
            with nullcontext() if kill_switch.left is None else suppress(StorageUnavailable):
                answers.append(await dispatcher.ask(RunNow(number, which)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await self.harness.time.settle()
            nursery.cancel_scope.cancel()
        return answers[0] if answers else None

    # What devices do

    @precondition(lambda self: self.model.devices)
    @action(device=PICK)
    def connect(self, device):
        self._come_online(device)

    def _come_online(self, device):
        offline = [number for number, each in self.model.devices.items() if not each.online]
        waited_for = [number for number in offline if number in self.model.waiting()]
        if offline:
            number = self._pick(waited_for or offline, device)
            self.call(self._connect, number)
            self._look()
            self.model.connect(number)

    async def _connect(self, number):
        await self.harness.server_run.connect(number, self.harness.server_run.system)

    @precondition(lambda self: self.model.devices)
    @action(device=PICK)
    def disconnect(self, device):
        online = [number for number, each in self.model.devices.items() if each.online]
        if online:
            number = self._pick(online, device)
            self.call(self.harness.server_run.disconnect, number)
            self.model.devices[number].online = False

    @precondition(lambda self: self.model.devices)
    @action(device=PICK)
    def change_of_heart(self, device):
        number = self._pick(self.model.devices, device)
        self.model.devices[number].declines ^= True
        self.harness.server_run.declining ^= {number}

    @precondition(lambda self: self._has_schedule)
    @rule(schedule=PICK, back=st.integers(1, 3))
    def hear_of_an_edge_again(self, schedule, back):
        """News of an edge may come twice; whoever has it behind him, or is not concerned, takes no notice."""
        self._tell_edges(*self._schedule(schedule), back)

    def _tell_edges(self, number, found, back):
        events, now = self.model.calendars[found.calendar], self.model.now
        for at, phase in edges(events, now - 2 * 86400 * SECOND, now)[-back:]:
            self.call(self._tell_edge, EdgeReached(found.calendar, at, phase, (number,)))

    async def _tell_edge(self, edge):
        await self.harness.server_run.system.ref(DISPATCHER).tell(edge)

    # What time does

    @rule(seconds=SPANS)
    def a_while(self, seconds):
        self._pass(seconds)

    @rule(moments=st.integers(1, 6))
    def some_moments(self, moments):
        self._pass(3 * 86400, moments)

    @rule(moments=st.integers(1, 6))
    def some_more_moments(self, moments):
        self._pass(3 * 86400, moments)

    @rule(seconds=HOURS)
    def hours(self, seconds):
        self._pass(seconds)

    @rule(seconds=st.one_of(SPANS, HOURS))
    def suspend_the_machine(self, seconds):
        self.call(self._move_wall, seconds)
        self.model.jump(self.model.now + seconds * SECOND)
        self._pass(1)

    async def _move_wall(self, seconds):
        self.harness.server_run.clock.move_wall(seconds)

    def _pass(self, seconds, moments=LANDINGS):
        until = self.model.now + seconds * SECOND
        while self.model.now < until and moments:
            moment = self.model.next_moment(until)
            self.call(self.harness.time.passes, (moment - self.model.now).total_seconds())
            self.model.now = moment
            self.compare()
            moments -= 1
        self._is_compared = True

    # What the server does

    @rule(seconds=DOWN, online=st.booleans())
    def restart(self, seconds, online):
        self._restart(seconds, online=online)

    def _restart(self, seconds, *, online):
        model = self.model
        connected = [number for number, each in model.devices.items() if each.online and online]
        declining = self.harness.server_run.declining
        self.call(self._start_again, model.now + seconds * SECOND, connected, declining)
        self._look()
        model.start(model.now + seconds * SECOND, connected)
        for number in connected:
            model.connect(number)

    async def _start_again(self, now, connected, declining):
        before = trio.current_time()
        await self.harness.server_run.stop()
        assert trio.current_time() == before or self.model.cut_off, "the server did not stop at once"
        await self.harness.begin(now, connected, declining)

    @precondition(lambda self: self._has_schedule)
    @rule(
        left=st.one_of(st.none(), st.integers(0, 12)),
        what=st.sampled_from(["time", "run", "connect"]),
        pick=PICK,
        seconds=DOWN,
        online=st.booleans(),
    )
    def crash(self, left, what, pick, seconds, online):
        """Either devices give no answer any more, or the server ends after some statements."""
        server_run, model = self.harness.server_run, self.model
        number, _ = self._schedule(pick)
        offline = [each for each, device in model.devices.items() if not device.online]
        if left is None:
            server_run.is_stalled = True
        else:
            server_run.kill_switch.left = left
        if what == "run":
            self.call(self._run_now, number, "start")
        elif what == "connect" and offline:
            self.call(self._connect, self._pick(offline, pick))
        else:
            moment = model.next_moment(model.now + 86400 * SECOND)
            self.call(self.harness.time.passes, (moment - model.now).total_seconds())
            model.now = moment
        server_run.kill_switch.is_cut = True
        model.cut_off = True
        self._look()
        if what == "run":
            model.run_now(number, "start")
        elif what == "connect" and offline:
            model.connect(self._pick(offline, pick))
        self.compare()
        self._restart(seconds, online=online)

    # What is compared

    def _look(self):
        """See how it is; the model is told, for it may have been this way or that."""
        self._found = self.call(self._read)
        self.model.seen = self._found.records
        return self._found

    async def _read(self):
        await self.harness.time.settle()
        database = self.harness.database
        records = {
            tuple(row[place] for place in range(4)): Seen(
                row[4], row[5], row[6], row[7] if row[6] != "failed" else row[7] and "unknown", row[8]
            )
            for row in await database.fetch(RECORDS)
        }
        waiting = [tuple(row.values()) for row in await database.fetch(WAITING)]
        linked = await scheduled_commands.links_of(database, self.model.schedules)
        return Found(records, waiting, {number: each.last_run for number, each in linked.items()})

    @invariant()
    def compare(self):
        """Records, queues, times of the latest run, and what devices received."""
        if self._is_compared:
            self._is_compared = False
            return
        self._was_right = False
        found, model = self._look(), self.model
        model.settle()
        must = model.records()
        assert set(found.records) == set(must)
        for key, seen in found.records.items():
            run = must[key]
            if run.status in {"sending", "delivering"}:  # of which nobody is told
                assert (seen.phase, seen.command, seen.status) == (run.phase, run.command, run.status), key
            else:
                assert seen == msgspec.structs.replace(run, time=run.time or seen.time), key
        self._compare_received()
        self._compare_last_runs(found.last_runs)
        if not model.cut_off:
            self._compare_waiting(found.waiting)
        self._was_right = True

    def _compare_last_runs(self, last_runs):
        for number, schedule in self.model.schedules.items():
            if schedule.exists:
                if schedule.perhaps_run is not None and last_runs[number] == schedule.perhaps_run:
                    schedule.last_run = schedule.perhaps_run
                schedule.perhaps_run = None
                assert last_runs[number] == schedule.last_run, number

    def _compare_waiting(self, waiting):
        must = self.model.waiting()
        assert {row[0] for row in waiting} == set(must)
        for device_id, keys in must.items():
            mine = [row[1:] for row in waiting if row[0] == device_id]
            assert set(mine) == set(keys)
            # What was queued at one moment has no order but within its firing.
            assert mine == sorted(mine, key=self.model.queued_at), device_id

    def _compare_received(self):
        server_run, model = self.harness.server_run, self.model
        received, server_run.received = server_run.received, []
        for number, device in model.devices.items():
            got = [label for device_id, label in received if device_id == number]
            due, device.received = device.received, []
            perhaps, device.perhaps = device.perhaps, []
            if perhaps:
                must = Counter(self._label(run) for _, run in due)
                may = must + Counter(self._label(run) for run in perhaps)
                assert must <= Counter(got) <= may
                continue
            for _, together in groupby(due, key=lambda each: each[0]):
                some = [run for _, run in together]
                mine, got = got[: len(some)], got[len(some) :]
                labels = [self._label(run) for run in some]
                if len({run.key[:3] for run in some}) > 1:
                    labels, mine = sorted(labels), sorted(mine)
                assert mine == labels, number
            assert got == [], number

    def _label(self, run):
        return self.model.labels[run.command]


def test_run_records_are_those_of_a_plain_model_whatever_people_devices_and_time_do(
    database_url, time, tmp_path
):
    with Harness(database_url, time, tmp_path) as harness:
        run_state_machine_as_test(
            lambda: ScheduledCommands(harness),
            settings=settings(
                max_examples=8,
                stateful_step_count=25,
                deadline=None,
                phases=(Phase.reuse, Phase.generate),  # to find the smallest history takes minutes
                suppress_health_check=list(HealthCheck),
            ),
        )
