"""For the checker of scheduled commands: what people do, done to the rows as the API does it, then told."""

from datetime import timedelta

import msgspec
from tests.actors.schedules.icalendar import encode_calendar
from tests.actors.schedules.scheduling_harness import NOW
from tests.actors.schedules.scheduling_model import Command as ModelCommand
from tests.actors.schedules.scheduling_model import Device as ModelDevice
from tests.actors.schedules.scheduling_model import Event, Model, Owner, Step

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import CalendarChanged, DeviceChanged, ScheduleChanged
from motorpool.actors.messages.uplink import DEVICE
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import commands, devices, groups
from motorpool.storage.records import (
    Calendar,
    Command,
    Device,
    Group,
    ScheduledCommand,
    ScheduledStep,
    User,
)
from motorpool.storage.schedules import runs, scheduled_commands

MINUTE = timedelta(minutes=1)


def encode_events(events):
    """A calendar of the model's events."""
    return encode_calendar(
        *(
            (event.start, event.start + event.length, *(["RRULE:FREQ=DAILY"] * event.daily))
            for event in events
        )
    )


class ModelActions:
    """What is done to the rows, and to the model where both need the same."""

    def __init__(self, harness):
        self.harness = harness
        self.model = Model(NOW)

    async def _begin(self, calendars, device_groups):
        database, model = self.harness.database, self.model
        await self.harness.empty()
        for windows in calendars:
            events = self._events(windows)
            row = await plain_tables.CALENDARS.insert(
                database, Calendar(name="c", data=encode_events(events))
            )
            model.calendars[row.id] = events
        above = 0
        for name in ("top", "middle", "bottom"):
            row = await groups.TABLE.insert(database, Group(name=name, group_id=above))
            model.groups[row.id] = above
            above = row.id
        for number, group in enumerate(device_groups):
            group_id = self._pick(model.groups, group)
            row = Device(name=f"d{number}", unique_id=f"1391234567{number}", group_id=group_id)
            row = await devices.TABLE.insert(database, row)
            model.devices[row.id] = ModelDevice(group_id)
        for label, more, text in (
            ("lock", {}, False),
            ("open", {}, False),
            ("stop", {}, False),
            ("now", {"noQueue": True}, False),
            ("text", {}, True),
        ):
            command = Command(type="custom", text_channel=text, attributes={"data": label, **more})
            row = await commands.TABLE.insert(database, command)
            model.commands[row.id] = ModelCommand(label, never_queued=bool(more), by_text=text)
            model.labels[row.id] = label
        for email in ("administrator@example.com", "user@example.com"):
            user = User(email=email, administrator=email.startswith("admin"))
            row = await users.TABLE.insert(database, user)
            model.owners[row.id] = Owner(user.administrator)
        user_id = self._user_id
        # One of those that steps are mostly made of is not his.
        for number in list(model.commands)[1:]:
            await self._give("commands", links.USER_COMMAND, user_id, number)
        for number in filter(None, model.groups):
            await self._give("groups", links.USER_GROUP, user_id, number)
        await self.harness.begin(model.now)

    def _events(self, windows):
        noon = self.model.now.replace(second=0, microsecond=0)
        events = []
        for offset, length, daily in windows:
            start = (
                noon + offset * MINUTE
                if offset is not None
                else events[-1].start + events[-1].length
                if events
                else noon
            )
            events.append(Event(start, length * MINUTE, daily))
        return tuple(events)

    @staticmethod
    def _pick(things, number):
        return list(things)[number % len(things)]

    @property
    def _user_id(self):
        return max(self.model.owners)

    def _steps(self, steps):
        known = sorted(
            set(self.model.commands)
            | {
                s.command
                for each in self.model.schedules.values()
                for lists in each.lists.values()
                for s in lists
            }
        )
        return tuple(Step(self._pick(known, number), delay) for number, delay in steps)

    async def _give(self, what, pair, user_id, number):
        await links.add(self.harness.database, pair, user_id, number)
        getattr(self.model.owners[user_id], what).add(number)

    async def _take(self, what, pair, user_id, number):
        await links.remove_many(self.harness.database, pair, [(user_id, number)])
        getattr(self.model.owners[user_id], what).discard(number)

    def _row(self, number):
        schedule = self.model.schedules[number]
        on_start, on_end = (
            [ScheduledStep(step.command, step.delay) for step in schedule.lists[phase]]
            for phase in ("start", "end")
        )
        attributes = {"queueMaxMinutes": schedule.minutes} if schedule.minutes != 0 else {}
        return ScheduledCommand(
            id=number,
            name="s",
            calendar_id=schedule.calendar,
            active=schedule.active,
            on_start=on_start,
            on_end=on_end,
            attributes=attributes,
        )

    async def _store(self, number, *, cancel=False, watch=False):
        async with self.harness.database.transaction() as transaction:
            await scheduled_commands.TABLE.update(transaction, self._row(number))
            if cancel:
                await runs.cancel(transaction, number, self.model.now)
            if watch:
                await scheduled_commands.WATCHED.watch_from(transaction, number, self.model.now)
        await self._tell(number)

    async def _tell(self, number):
        system = self.harness.server_run.system
        await publish_changes(system, ScheduleChanged(number, "updated"))

    async def _create(self, schedule):
        database = self.harness.database
        self.model.schedules[0] = schedule
        async with database.transaction() as transaction:
            row = await scheduled_commands.TABLE.insert(transaction, self._row(0))
            await scheduled_commands.set_owner(transaction, row.id, schedule.owner, self.model.now)
            for number in schedule.devices:
                await links.add(transaction, links.DEVICE_SCHEDULED_COMMAND, number, row.id)
            for number in schedule.groups:
                await links.add(transaction, links.GROUP_SCHEDULED_COMMAND, number, row.id)
        del self.model.schedules[0]
        self.model.schedules[row.id] = schedule
        await publish_changes(self.harness.server_run.system, ScheduleChanged(row.id, "updated"))

    async def _link(self, number, schedule, device, group, which):
        if which == "device" and self.model.devices:
            linked, pair = schedule.devices, links.DEVICE_SCHEDULED_COMMAND
            chosen = self._pick(self.model.devices, device)
        else:
            linked, pair = schedule.groups, links.GROUP_SCHEDULED_COMMAND
            chosen = self._pick([each for each in self.model.groups if each], group)
        change = links.remove_many if chosen in linked else links.add_many
        await change(self.harness.database, pair, [(chosen, number)])
        linked ^= {chosen}

    async def _move(self, number, group):
        row = await devices.TABLE.fetch(self.harness.database, number)
        await devices.TABLE.update(self.harness.database, msgspec.structs.replace(row, group_id=group))
        self.model.devices[number].group = group
        await self.harness.server_run.system.ref(DEVICE, number).tell(DeviceChanged(number, "updated"))

    async def _change_calendar(self, number, events):
        async with self.harness.database.transaction() as transaction:
            row = Calendar(id=number, name="c", data=encode_events(events))
            await plain_tables.CALENDARS.update(transaction, row)
            await scheduled_commands.WATCHED.restart_calendar(transaction, number, self.model.now)
        await publish_changes(self.harness.server_run.system, CalendarChanged(number, "updated", ("data",)))

    async def _delete_schedule(self, number):
        async with self.harness.database.transaction() as transaction:
            await scheduled_commands.TABLE.delete(transaction, number)
            await runs.cancel(transaction, number, self.model.now)
        await self._tell(number)

    async def _delete_device(self, number):
        async with self.harness.database.transaction() as transaction:
            await runs.cancel_for_device(transaction, number, self.model.now)
            await devices.TABLE.delete(transaction, number)
        await self.harness.server_run.system.ref(DEVICE, number).tell(DeviceChanged(number, "updated"))

    async def _bar(self, number, how):
        owner = self.model.owners[number]
        row = await users.TABLE.fetch(self.harness.database, number)
        barred = {"disabled": False, "expiration_time": None}
        if owner.valid:
            barred[how] = True if how == "disabled" else self.model.now
        await users.TABLE.update(self.harness.database, msgspec.structs.replace(row, **barred))
        owner.valid = not owner.valid
