from types import SimpleNamespace

from motorpool.actors.messages.scheduling import (
    TIMETABLE,
    CalendarsChanged,
    SchedulesChanged,
)
from motorpool.api.timetable import tell_calendars_changed, tell_schedule_changed
from motorpool.runtime import ChildSpec
from motorpool.runtime.testing import Probe, open_tree


async def test_the_timetable_is_notified_of_every_change():
    timetable = Probe({SchedulesChanged: None, CalendarsChanged: None})
    async with open_tree(ChildSpec(kind=TIMETABLE, factory=lambda: timetable)) as system:
        context = SimpleNamespace(system=system)
        await tell_schedule_changed(context, 7)
        await tell_schedule_changed(context, 8)
        await tell_calendars_changed(context, 3)
        await tell_calendars_changed(context)
        assert timetable.messages == [
            SchedulesChanged((7,)),
            SchedulesChanged((8,)),
            CalendarsChanged((3,)),
            CalendarsChanged(()),
        ]


async def test_news_that_nobody_takes_costs_who_tells_it_nothing():
    crashing = Probe({})
    async with open_tree(ChildSpec(kind=TIMETABLE, factory=lambda: crashing)) as system:
        context = SimpleNamespace(system=system)
        await tell_schedule_changed(context, 7)
        await tell_calendars_changed(context, 3)
    assert crashing.messages[0] == SchedulesChanged((7,))
