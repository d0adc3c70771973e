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
        house = SimpleNamespace(system=system)
        await tell_schedule_changed(house, 7)
        await tell_schedule_changed(house, 8)
        await tell_calendars_changed(house, 3)
        await tell_calendars_changed(house)
        assert timetable.messages == [
            SchedulesChanged((7,)),
            SchedulesChanged((8,)),
            CalendarsChanged((3,)),
            CalendarsChanged(()),
        ]


async def test_news_that_nobody_takes_costs_who_tells_it_nothing():
    crashing = Probe({})
    async with open_tree(ChildSpec(kind=TIMETABLE, factory=lambda: crashing)) as system:
        house = SimpleNamespace(system=system)
        await tell_schedule_changed(house, 7)
        await tell_calendars_changed(house, 3)
    assert crashing.messages[0] == SchedulesChanged((7,))
