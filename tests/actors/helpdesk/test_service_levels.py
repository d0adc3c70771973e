"""Service levels: the worked examples step by step, and rules on random tickets."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.actors.helpdesk.test_business_time import VECTORS, hours_from, hours_of, utc

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.business_time import ALWAYS
from motorpool.actors.helpdesk.service_levels import FIRST_RESPONSE, RESOLUTION, Level, TargetClock, clocks_of
from motorpool.storage.helpdesk.helpdesk_records import TicketPause, TicketPriority

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
MILLISECOND = timedelta(milliseconds=1)


class Walk:
    """A ticket of which only the service levels are known: what happens to it, in order."""

    def __init__(self, created, hours, first_response=0, resolution=0, **attributes):
        self.created, self.hours = utc(created), hours
        self.priority = TicketPriority(
            first_response_minutes=first_response, resolution_minutes=resolution, attributes=attributes
        )
        self.pauses, self.occurred = [], []
        self.levels = tuple(service_levels.start(clock, self.created) for clock in self.clocks)

    @property
    def clocks(self):
        return clocks_of(self.created, self.priority, self.pauses, self.hours)

    @property
    def first_response(self):
        return self.levels[0]

    @property
    def resolution(self):
        return self.levels[1]

    def settle(self, now):
        self.levels, occurred = service_levels.settle(self.levels, self.clocks, utc(now))
        self.occurred += occurred
        return [(each.target, each.at) for each in occurred if each.is_breach]

    def _apply(self, now, *functions):
        self.settle(now)
        pairs = zip(functions, self.levels, self.clocks, strict=True)
        self.levels = tuple(function(level, clock, utc(now)) for function, level, clock in pairs)

    def respond(self, now):
        self._apply(now, service_levels.complete, lambda level, *_: level)

    def _resume(self, now):
        last = self.pauses.pop()
        self.pauses.append(TicketPause(last.begins, utc(now), last.status_id, last.reason))

    def pause(self, now, reason="pending"):
        self.settle(now)
        self.pauses.append(TicketPause(utc(now), None, 1, reason))
        self._apply(now, service_levels.move, service_levels.move)

    def resume(self, now):
        self.settle(now)
        self._resume(now)
        self._apply(now, service_levels.move, service_levels.move)

    def resolve(self, now):
        self._apply(now, service_levels.complete, service_levels.complete)
        self.pauses.append(TicketPause(utc(now), None, 1, "resolved"))

    def reopen(self, now):
        self._resume(now)
        self._apply(now, service_levels.move, service_levels.reopen)

    def change(self, now, hours=None, **minutes):
        self.settle(now)
        self.hours = hours or self.hours
        names = {f"{name}_minutes": value for name, value in minutes.items()}
        self.priority = TicketPriority(
            **{"first_response_minutes": 0, "resolution_minutes": 0} | names,
            attributes=self.priority.attributes,
        )
        pairs = zip(self.levels, self.clocks, strict=True)
        self.levels = tuple(service_levels.change_terms(level, clock, utc(now)) for level, clock in pairs)

    def remaining(self, now):
        clock = self.clocks[1]
        return clock.budget(self.resolution.credit) - clock.elapsed(utc(now))


def test_a_pause_of_the_resolution():  # E7
    walk = Walk("2026-10-12T09:00Z", hours_of("A"), 120, 540)
    assert walk.resolution.due == utc("2026-10-13T10:00Z")
    walk.pause("2026-10-12T10:00Z")
    assert (walk.resolution.due, walk.resolution.elapsed) == (None, HOUR)
    assert walk.remaining("2026-10-13T08:00Z") == 480 * MINUTE
    walk.resume("2026-10-13T09:00Z")
    assert walk.resolution.due == utc("2026-10-14T09:00Z")
    assert walk.resolution.elapsed is None
    walk.pause("2026-10-13T17:00Z")
    walk.resume("2026-10-14T07:00Z")
    assert walk.resolution.due == utc("2026-10-14T09:00Z")
    assert walk.first_response.due == utc("2026-10-12T11:00Z")


def test_a_priority_that_is_raised_during_a_pause():  # E8
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=960)
    walk.pause("2026-10-12T10:00Z")
    walk.change("2026-10-13T14:00Z", resolution=480)
    assert (walk.resolution.due, walk.resolution.credit) == (None, timedelta(0))
    assert walk.remaining("2026-10-13T14:00Z") == 360 * MINUTE
    walk.resume("2026-10-14T08:00Z")
    assert walk.resolution.due == utc("2026-10-14T14:00Z")


@pytest.mark.parametrize(
    "vector",
    [each for each in VECTORS if "changedAt" in each and "oldDue" in each],
    ids=lambda each: f"{each['name']} {each['changedAt']}",
)
def test_a_change_of_priority_is_that_of_its_vector(vector):  # E9, E10
    hours, at = hours_of(vector["calendar"]), utc(vector["changedAt"])
    level = Level(target_minutes=2400, due=utc(vector["oldDue"]))
    clock = TargetClock(start=utc(vector["start"]), minutes=vector["targetMinutes"], hours=hours)
    changed = service_levels.change_terms(level, clock, at)
    assert changed.due == utc(vector["due"])
    assert changed.credit.total_seconds() == vector["creditSeconds"]
    assert clock.due(changed.credit, at) == changed.due


def test_a_priority_that_is_lowered():  # E9
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=240)
    walk.change("2026-10-12T10:00Z", resolution=960)
    assert walk.resolution.due == utc("2026-10-13T16:00Z")


def test_calendars_that_change():  # E10
    walk = Walk("2026-10-16T18:00Z", ALWAYS, resolution=1440, warnPercent=0)
    assert walk.resolution.due == utc("2026-10-17T18:00Z")
    walk.change("2026-10-16T20:00Z", hours_of("A"), resolution=1440)
    assert walk.resolution.due == utc("2026-10-21T16:00Z")
    walk.change("2026-10-17T09:00Z", hours_of("A+EXDATE 20261019"), resolution=1440)
    assert walk.resolution.due == utc("2026-10-22T16:00Z")
    walk.change("2026-10-19T11:00Z", ALWAYS, resolution=1440)
    assert walk.resolution.due == utc("2026-10-20T11:00Z")
    assert walk.occurred == []


def test_resolved_and_reopened():  # E11
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=480, warnPercent=0)
    walk.resolve("2026-10-12T13:00Z")
    assert (walk.resolution.verdict, walk.resolution.elapsed) == ("met", 300 * MINUTE)
    assert walk.resolution.due == utc("2026-10-12T16:00Z")
    walk.reopen("2026-10-15T09:00Z")
    assert (walk.resolution.due, walk.resolution.done_at) == (utc("2026-10-15T12:00Z"), None)
    assert walk.settle("2026-10-15T12:00Z") == []
    walk.resolve("2026-10-15T13:00Z")
    assert walk.occurred == [(utc("2026-10-15T12:00Z"), RESOLUTION, True)]
    assert (walk.resolution.breached, walk.resolution.elapsed) == (True, 540 * MINUTE)
    # The first verdict is the one that counts.
    assert (walk.resolution.verdict, walk.resolution.decided_at) == ("met", utc("2026-10-12T13:00Z"))
    walk.reopen("2026-10-16T08:00Z")
    assert (walk.resolution.breached, walk.resolution.due) == (True, utc("2026-10-15T12:00Z"))
    walk.resolve("2026-10-16T09:00Z")
    assert walk.resolution.elapsed == 600 * MINUTE
    assert len(walk.occurred) == 1


def test_a_restart_and_an_escalation():  # E12
    walk = Walk("2026-10-12T08:00Z", ALWAYS, 60, 480, warnPercent=0)
    assert walk.settle("2026-10-12T10:20Z") == [(FIRST_RESPONSE, utc("2026-10-12T09:00Z"))]
    walk.change("2026-10-12T10:20Z", first_response=30, resolution=240)
    assert walk.resolution.due == utc("2026-10-12T12:00Z")
    assert walk.first_response.due == utc("2026-10-12T09:00Z")
    walk.respond("2026-10-12T10:30Z")
    assert (walk.first_response.elapsed, walk.first_response.breached) == (150 * MINUTE, True)
    assert walk.settle("2026-10-12T12:40Z") == [(RESOLUTION, utc("2026-10-12T12:00Z"))]
    assert walk.settle("2026-10-12T12:45Z") == []


def test_a_response_that_was_stored_before_the_restart():  # E12
    walk = Walk("2026-10-12T08:00Z", ALWAYS, 60, 480, warnPercent=0)
    walk.respond("2026-10-12T08:49:59Z")
    assert walk.settle("2026-10-12T10:20Z") == []
    assert walk.settle("2026-10-12T16:00Z") == []
    assert walk.settle("2026-10-12T16:00:00.001Z") == [(RESOLUTION, utc("2026-10-12T16:00Z"))]


def test_without_a_target_nothing_is_due():  # E13
    walk = Walk("2026-10-12T08:00Z", ALWAYS)
    walk.settle("2027-10-12T08:00Z")
    walk.resolve("2027-10-12T08:00Z")
    assert walk.occurred == []
    assert (walk.resolution.due, walk.resolution.verdict) == (None, None)


def test_elapsed_time_of_a_ticket_without_a_priority_leaves_out_pauses():
    pauses = [TicketPause(utc("2026-10-12T09:00Z"), utc("2026-10-12T10:00Z"), 1, "pending")]
    first, resolution = clocks_of(utc("2026-10-12T08:00Z"), None, pauses, ALWAYS)
    assert (first.minutes, resolution.minutes) == (0, 0)
    assert resolution.elapsed(utc("2026-10-12T11:00Z")) == 2 * HOUR


def test_an_act_at_the_due_time_meets_it():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, 60, 60, warnPercent=0)
    walk.respond("2026-10-12T09:00Z")
    assert (walk.first_response.verdict, walk.first_response.decided_at) == ("met", utc("2026-10-12T09:00Z"))
    walk.resolve("2026-10-12T09:00:00.001Z")
    assert (walk.resolution.verdict, walk.resolution.decided_at) == ("breached", utc("2026-10-12T09:00Z"))


def test_of_two_breaches_at_one_instant_the_first_response_comes_first():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, 60, 60, warnPercent=0)
    walk.settle("2026-10-12T10:00Z")
    assert [each.target for each in walk.occurred] == [FIRST_RESPONSE, RESOLUTION]


def test_a_breach_before_a_pause_is_a_breach():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=60, warnPercent=0)
    walk.pause("2026-10-12T09:30Z")
    assert walk.occurred == [(utc("2026-10-12T09:00Z"), RESOLUTION, True)]
    assert walk.resolution.due == utc("2026-10-12T09:00Z")


def test_resolving_during_a_pause_keeps_the_due_time_without_it():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=60)
    walk.pause("2026-10-12T08:30Z")
    walk.resume("2026-10-12T12:00Z")
    walk.resolve("2026-10-12T12:00Z")
    assert (walk.resolution.verdict, walk.resolution.due) == ("met", utc("2026-10-12T12:30Z"))
    assert walk.resolution.elapsed == 30 * MINUTE


def test_a_cancelled_ticket_has_no_verdict_and_goes_on_when_it_is_reopened():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, 60, 120)
    walk.pause("2026-10-12T08:10Z", "cancelled")
    walk.settle("2026-10-13T08:00Z")
    assert [(each.due, each.verdict, each.elapsed) for each in walk.levels] == [(None, None, 10 * MINUTE)] * 2
    walk.reopen("2026-10-13T08:00Z")
    assert walk.first_response.due == utc("2026-10-13T08:50Z")
    assert walk.resolution.due == utc("2026-10-13T09:50Z")


def test_reopening_does_not_breach_by_itself():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=60, warnPercent=0)
    walk.resolve("2026-10-12T09:00Z")
    walk.reopen("2026-10-13T09:00Z")
    assert walk.resolution.due == utc("2026-10-13T09:01Z")
    # Nor with a priority that was raised while it was resolved: an hour is left, as before.
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=240, warnPercent=0)
    walk.resolve("2026-10-12T10:00Z")
    walk.change("2026-10-12T12:00Z", resolution=60)
    assert walk.resolution.target_minutes == 240
    walk.reopen("2026-10-13T09:00Z")
    assert (walk.resolution.target_minutes, walk.resolution.due) == (60, utc("2026-10-13T10:00Z"))
    assert walk.occurred == []


def test_warnings_come_once_for_each_target():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, 60, 100)
    assert walk.settle("2026-10-12T08:47:59Z") == []
    walk.settle("2026-10-12T08:50Z")
    walk.settle("2026-10-12T09:00Z")
    assert walk.occurred == [(utc("2026-10-12T08:48Z"), FIRST_RESPONSE, False)]
    walk.settle("2026-10-12T10:00Z")
    assert walk.occurred[1:] == [
        (utc("2026-10-12T09:00Z"), FIRST_RESPONSE, True),
        (utc("2026-10-12T09:20Z"), RESOLUTION, False),
        (utc("2026-10-12T09:40Z"), RESOLUTION, True),
    ]


@pytest.mark.parametrize("percent", [0, 100, 250, -5, True, "50", None])
def test_no_warning_or_the_usual_one(percent):
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=100, warnPercent=percent)
    usual = percent in {-5, "50", None} or percent is True
    found = service_levels.warning_at(walk.resolution, walk.clocks[1])
    assert found == (utc("2026-10-12T09:20Z") if usual else None)


def test_the_next_look_is_at_the_warning_then_after_the_due_time_and_daily_without_hours():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=100)

    def look(now="2026-10-12T08:00Z"):
        return service_levels.next_look(walk.resolution, walk.clocks[1], utc(now))

    assert look() == utc("2026-10-12T09:20Z") + MILLISECOND
    walk.settle("2026-10-12T09:20Z")
    assert look() == utc("2026-10-12T09:40Z") + MILLISECOND
    walk.pause("2026-10-12T09:30Z")
    assert look() is None
    walk.resolve("2026-10-12T09:30Z")
    assert look() is None
    walk = Walk("2026-10-12T08:00Z", hours_of("U"), resolution=100)
    assert look() == utc("2026-10-13T08:00Z")
    walk = Walk("2026-10-12T08:00Z", ALWAYS)
    assert look() is None


def test_pauses_count_up_to_the_most_that_the_priority_allows():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=120, maxPauseMinutes=90, warnPercent=0)
    walk.pause("2026-10-12T08:30Z")
    # The clock goes on after 90 minutes although the pause lasts.
    assert walk.resolution.due == utc("2026-10-12T11:30Z")
    walk.resume("2026-10-12T09:30Z")
    assert walk.resolution.due == utc("2026-10-12T11:00Z")
    walk.pause("2026-10-12T10:00Z")
    assert walk.resolution.due == utc("2026-10-12T11:30Z")
    assert walk.settle("2026-10-12T12:00Z") == [(RESOLUTION, utc("2026-10-12T11:30Z"))]


def test_the_most_is_business_time_and_does_not_limit_how_long_a_ticket_stays_resolved():
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=480, maxPauseMinutes=60)
    walk.pause("2026-10-12T15:30Z")
    assert walk.resolution.due == utc("2026-10-13T09:00Z")
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=480, maxPauseMinutes=60)
    walk.resolve("2026-10-12T13:00Z")
    walk.reopen("2026-10-15T09:00Z")
    assert walk.resolution.due == utc("2026-10-15T12:00Z")


def test_the_first_response_is_paused_only_if_the_priority_says_so_and_never_by_a_zone():
    for attributes, reason, due in (
        ({}, "pending", "2026-10-12T09:00Z"),
        ({"pauseFirstResponse": "yes"}, "pending", "2026-10-12T09:00Z"),
        ({"pauseFirstResponse": True}, "pending", None),
        ({"pauseFirstResponse": True}, "outsideZone", "2026-10-12T09:00Z"),
    ):
        walk = Walk("2026-10-12T08:00Z", ALWAYS, 60, 60, **attributes)
        walk.pause("2026-10-12T08:10Z", reason)
        assert walk.first_response.due == utc(due)
        assert walk.resolution.due is None


def edit(walk, hours=None, **minutes):
    """Edit the priority or its calendar; the ticket is not computed again yet."""
    names = {f"{name}_minutes": value for name, value in minutes.items()}
    walk.priority = replace(walk.priority, **names)
    walk.hours = hours or walk.hours


def test_terms_that_were_edited_do_not_breach_before_a_ticket_is_computed_again():
    for act in (Walk.settle, Walk.respond, Walk.pause, Walk.resolve):
        walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=960, warnPercent=0)
        edit(walk, resolution=60)
        act(walk, "2026-10-12T12:00Z")
        assert walk.occurred == []
        assert walk.resolution.target_minutes == 60
        assert walk.resolution.credit == 4 * HOUR
        assert walk.resolution.due == (None if act is Walk.pause else utc("2026-10-12T13:00Z"))


def test_a_calendar_that_was_edited_during_a_pause_does_not_breach_when_it_ends():
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=600, warnPercent=0)
    walk.pause("2026-10-13T08:00Z")
    edit(walk, ALWAYS)
    walk.resume("2026-10-13T12:00Z")
    # Used 480 minutes by the old calendar, so 120 were left.
    assert walk.resolution.due == utc("2026-10-13T14:00Z")
    assert walk.occurred == []


def test_what_fell_due_before_an_edit_is_a_breach_by_what_was_promised():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=60, warnPercent=0)
    edit(walk, hours_of("A"), resolution=600)
    assert walk.settle("2026-10-12T10:00Z") == [(RESOLUTION, utc("2026-10-12T09:00Z"))]
    assert walk.resolution.target_minutes == 60


def test_a_clock_that_stopped_at_the_last_instant_has_a_minute_left():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, resolution=60, warnPercent=0)
    walk.pause("2026-10-12T09:00Z")
    assert (walk.resolution.due, walk.occurred) == (None, [])
    walk.resume("2026-10-12T10:00Z")
    assert walk.resolution.due == utc("2026-10-12T10:01Z")


def test_a_target_that_comes_late_leaves_itself():
    walk = Walk("2026-10-12T08:00Z", ALWAYS, warnPercent=0)
    walk.change("2026-10-13T08:00Z", resolution=60)
    assert walk.resolution.due == utc("2026-10-13T09:00Z")
    walk.change("2026-10-13T08:30Z")
    assert (walk.resolution.due, walk.resolution.credit) == (None, timedelta(0))


# Random tickets: hours of a day, what happens to it at random minutes.
MONDAY = datetime(2026, 10, 12, tzinfo=UTC)
windows = st.lists(
    st.tuples(st.integers(0, 1400), st.integers(1, 600)).map(lambda each: (each[0], sum(each))), max_size=5
)
steps = st.lists(
    st.tuples(
        st.integers(1, 200_000), st.sampled_from(["pause", "resume", "change", "hours"]), st.integers(0, 600)
    ),
    max_size=8,
)


@given(windows, windows, st.integers(0, 600), steps, st.sampled_from([0, 45]))
@settings(max_examples=150, deadline=None)
def test_no_change_breaches_and_the_stored_credit_gives_the_due_time_again(first, other, target, steps, most):
    hours = [hours_from(first, []) if first else ALWAYS, hours_from(other, []) if other else ALWAYS]
    walk = Walk("2026-10-12T00:00Z", hours[0], resolution=target, warnPercent=0, maxPauseMinutes=most)
    now, paused = MONDAY, False
    for milliseconds, step, number in steps:
        now += 100 * milliseconds * MILLISECOND
        walk.settle(now.isoformat())
        old = walk.resolution
        if step == "pause" and not paused:
            walk.pause(now.isoformat())
            paused = True
        elif step == "resume" and paused:
            walk.resume(now.isoformat())
            paused = False
        elif step in {"change", "hours"}:
            minutes = number if step == "change" else walk.priority.resolution_minutes
            walk.change(now.isoformat(), hours[number % 2] if step == "hours" else None, resolution=minutes)
            level = walk.resolution
            assert level.breached == old.breached
            assert old.breached or level.due is None or level.due > now
            if level.due is not None or not level.credit:
                # Done again, for whatever reason, it changes nothing.
                assert service_levels.change_terms(level, walk.clocks[1], now) == level
            if level.credit and old.due is not None:
                least = walk.clocks[1].hours.due(now, MINUTE + timedelta(seconds=1), walk.clocks[1].pauses)
                assert least is None or level.due is None or level.due <= max(old.due, least)
        level = walk.resolution
        assert level.breached or level.due == walk.clocks[1].due(level.credit, now)
    breaches = [each for each in walk.occurred if each.is_breach]
    assert len(breaches) <= 1
