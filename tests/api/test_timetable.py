from types import SimpleNamespace

from motorpool.actors.messages.scheduling import (
    SCHEDULED_COMMAND,
    TIMETABLE,
    CalendarsChanged,
    ScheduleEdited,
    SchedulesChanged,
)
from motorpool.api.timetable import tell_calendars_changed, tell_schedule_changed
from motorpool.runtime import ChildSpec, DynamicSpec
from motorpool.runtime.testing import Probe, open_tree


async def test_the_timetable_hears_of_every_change_and_a_schedule_of_what_is_not_new():
    timetable = Probe({SchedulesChanged: None, CalendarsChanged: None})
    schedules = {}
    tree = open_tree(
        ChildSpec(kind=TIMETABLE, factory=lambda: timetable),
        DynamicSpec(
            kind=SCHEDULED_COMMAND,
            name="schedules",
            factory=lambda number: schedules.setdefault(number, Probe()),
        ),
    )
    async with tree as system:
        house = SimpleNamespace(system=system)
        await tell_schedule_changed(house, 7, is_new=True)
        await tell_schedule_changed(house, 8, is_new=False)
        await tell_calendars_changed(house, 3)
        await tell_calendars_changed(house)
        assert timetable.messages == [
            SchedulesChanged((7,)),
            SchedulesChanged((8,)),
            CalendarsChanged((3,)),
            CalendarsChanged(()),
        ]
        assert {number: probe.messages for number, probe in schedules.items()} == {8: [ScheduleEdited()]}


async def test_news_that_nobody_takes_costs_who_tells_it_nothing():
    crashing = Probe({})
    async with open_tree(ChildSpec(kind=TIMETABLE, factory=lambda: crashing)) as system:
        house = SimpleNamespace(system=system)
        await tell_schedule_changed(house, 7, is_new=False)
        await tell_calendars_changed(house, 3)
    assert crashing.messages[0] == SchedulesChanged((7,))
