"""What tests of scheduled commands share: a small world to fire in, and its run records as they stand."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from typing import NamedTuple

import pytest
import trio

from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import commands, devices, groups
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
from motorpool.storage.schedules import edge_occurrences, runs, scheduled_commands
from motorpool.storage.schedules.edge_occurrences import EdgeOccurrence, Portion

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
WAITS = """
    select exists (select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock')
"""


class Run(NamedTuple):
    """A row of scheduled_command_runs, all that is stored of it."""

    id: int
    schedule_id: int
    firing: int
    phase: str
    step: int
    device_id: int
    command_id: int
    followed: bool
    time: datetime
    status: str
    reason: str | None
    detail: str | None


class World:
    """Rows to start from, made by the test; names are short because tests are long."""

    def __init__(self, database):
        self.database = database
        self._numbers = count(1)

    async def user(self, **fields):
        return await users.TABLE.insert(
            self.database, User(email=f"{next(self._numbers)}@example.com", **fields)
        )

    async def device(self, group=None):
        row = Device(unique_id=f"d{next(self._numbers)}", group_id=group.id if group else 0)
        return await devices.TABLE.insert(self.database, row)

    async def group(self, above=None):
        row = Group(name=f"g{next(self._numbers)}", group_id=above.id if above else 0)
        return await groups.TABLE.insert(self.database, row)

    async def command(self, **fields):
        return await commands.TABLE.insert(self.database, Command(**{"type": "custom"} | fields))

    async def calendar(self):
        return await plain_tables.CALENDARS.insert(self.database, Calendar(name="c"))

    async def schedule(self, *targets, start=(), end=(), owner=None, watched_from=NOW, **fields):
        """A scheduled command of an administrator's, linked to devices and groups; steps are
        (command, seconds) pairs.
        """
        fields = {"calendar_id": (await self.calendar()).id} | fields
        row = ScheduledCommand(
            name=f"s{next(self._numbers)}",
            on_start=[ScheduledStep(each.id, seconds) for each, seconds in start],
            on_end=[ScheduledStep(each.id, seconds) for each, seconds in end],
            **fields,
        )
        made = await scheduled_commands.TABLE.insert(self.database, row)
        owner = owner or await self.user(administrator=True)
        await scheduled_commands.set_owner(self.database, made.id, owner.id, watched_from)
        for target in targets:
            pair = (
                links.DEVICE_SCHEDULED_COMMAND
                if isinstance(target, Device)
                else links.GROUP_SCHEDULED_COMMAND
            )
            await links.add(self.database, pair, target.id, made.id)
        return made

    async def fire(self, schedule, at, phase="start", *, steps=None, calendar_id=None, now=None):
        """Fire once; the records that this made, each with the index of its step."""
        if calendar_id is None:
            calendar_id = 0 if phase == "manual" else schedule.calendar_id
        steps = steps or ("end" if phase == "end" else "start")
        return await self.fire_many(EdgeOccurrence(schedule.id, calendar_id, at, phase, steps), now=now or at)

    async def fire_many(self, *turns, now, devices=1000):
        """Fire; make the records of `devices` devices at a time."""
        made = []
        async with self.database.transaction() as transaction:
            waiting = await edge_occurrences.fire(transaction, turns) if turns else []
            while waiting:
                portions = [Portion(each, devices) for each in waiting]
                latest = await edge_occurrences.make_runs(transaction, portions, now)
                waiting = [each for each in waiting if each.id in latest.unfinished]
                made += latest.run_ids
            steps = await transaction.fetch(
                "select id, step from scheduled_command_runs where id = any($1::bigint[]) order by id", made
            )
            return list(zip(await runs.fetch(transaction, made), (row["step"] for row in steps), strict=True))

    async def begun(self, schedule, *, device=None, at=NOW, minutes=0, phase="start"):
        """The ids of the runs of a fired schedule, all of whose first steps are `sending`."""
        made = await self.fire(schedule, at, phase)
        first = [record.id for record, number in made if number == 0]
        return [step.run_id for step in await edge_occurrences.start_steps(self.database, first, at)]

    async def runs(self, *schedules):
        """All run records, or those of these scheduled commands, in the order they were made."""
        rows = await self.database.fetch(
            "select id, scheduled_command_id, firing, phase, step, device_id, command_id, followed, time,"
            " status, reason, detail from scheduled_command_runs"
            " where cardinality($1::bigint[]) = 0 or scheduled_command_id = any($1::bigint[]) order by id",
            [each.id for each in schedules],
        )
        return [Run(*row.values()) for row in rows]

    async def put(self, run_ids, status, **columns):
        """Let runs stand so, however they came there."""
        sets = "".join(f", {name} = ${number}" for number, name in enumerate(columns, 3))
        await self.database.execute(
            f"update scheduled_command_runs set status = $2{sets} where id = any($1::bigint[])",
            list(run_ids),
            status,
            *columns.values(),
        )

    async def queue(self, run, *, expires=None):
        """Let a run wait in the queue of its device, whatever it did before."""
        await self.put([run.id], "queued")
        return await commands.enqueue(
            self.database,
            QueuedCommand(device_id=run.device_id, type="custom"),
            expires=expires,
            run_id=run.id,
        )

    async def watched_from(self, schedule):
        return await self.database.fetch_value(
            "select watched_from from scheduled_commands where id = $1", schedule.id
        )

    async def last_run(self, schedule):
        return (await scheduled_commands.links_of(self.database, [schedule.id]))[schedule.id].last_run


@pytest.fixture
def world(database):
    """Users, devices, groups, saved commands and scheduled commands, as the test makes them."""
    return World(database)


@pytest.fixture
def lock_waits(database):
    """`await lock_waits()`: whether a statement waits for the lock of another transaction."""
    return lambda: database.fetch_value(WAITS)


@pytest.fixture
def meanwhile(database):
    """`async with meanwhile(other) as transaction:` what is done in the block is committed while `other` has
    begun and waits for it, or has ended.
    """

    @asynccontextmanager
    async def beside(other):
        ended = trio.Event()

        async def run():
            await other()
            ended.set()

        async with trio.open_nursery() as nursery, database.transaction() as transaction:
            yield transaction
            nursery.start_soon(run)
            while not ended.is_set() and not await database.fetch_value(WAITS):
                await trio.lowlevel.checkpoint()

    return beside
