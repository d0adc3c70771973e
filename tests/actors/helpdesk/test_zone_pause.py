"""The pause of a ticket while its vehicle is outside of its zone."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.actors.helpdesk import ticket_world as world

from motorpool.actors.helpdesk import zone_pause
from motorpool.actors.helpdesk.edit import edit
from motorpool.actors.helpdesk.facts import SYSTEM
from motorpool.actors.helpdesk.transition import transition
from motorpool.actors.helpdesk.zone_follower import follow_zone
from motorpool.actors.helpdesk.zone_pause import is_outside
from motorpool.storage.helpdesk.zone_pauses import Fix

NOW = datetime(2026, 10, 12, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
HOME, AWAY = 0.0, 1.0


def contains(fix):
    return fix.latitude == HOME


def fixes(*told):
    """(seconds ago, latitude), the latest first."""
    return [Fix(NOW - ago * SECOND, place, 0.0, 0.0) for ago, place in told]


FIXES = st.lists(
    st.tuples(st.integers(0, 2400), st.sampled_from([HOME, AWAY])),
    max_size=4,
    unique_by=lambda fix: fix[0],
).map(sorted)


@given(FIXES, st.booleans())
def test_a_vehicle_enters_and_leaves_by_two_fixes_or_three_minutes(told, was_outside):
    given_fixes = fixes(*told[:2])
    # Whatever the two latest are, those of the side it was on leave it there.
    sides = [place == AWAY for _, place in told]
    expected = was_outside
    if told and sides[0] is not was_outside:
        lasting = told[0][0] >= 180 or sides[:2] == [sides[0]] * 2
        too_old = sides[0] and told[0][0] > 1800
        if lasting and not too_old:
            expected = not was_outside
    assert is_outside(given_fixes, contains, NOW, was_outside=was_outside) is expected


def test_an_old_fix_begins_no_pause_but_ends_one():
    assert is_outside(fixes((1800, AWAY)), contains, NOW, was_outside=False)
    assert not is_outside(fixes((1801, AWAY), (1802, AWAY)), contains, NOW, was_outside=False)
    assert not is_outside(fixes((7200, HOME), (7201, HOME)), contains, NOW, was_outside=True)
    assert is_outside([], contains, NOW, was_outside=True)


def leave(desk, **after):
    return desk.do(follow_zone, SYSTEM, is_outside=True, **after)


def come_back(desk, **after):
    return desk.do(follow_zone, SYSTEM, is_outside=False, **after)


def test_the_resolution_stands_and_the_first_response_runs():
    desk = world.Desk(priority_id=world.URGENT)
    responds = desk.ticket.first_response_due
    due = desk.ticket.resolution_due
    outcome = leave(desk, after=10 * MINUTE)
    (paused,) = outcome.entries
    assert (paused.type, paused.actor, paused.attributes) == (
        "slaPaused",
        "system",
        {"reason": "outsideZone"},
    )
    assert not outcome.messages
    assert (desk.ticket.first_response_due, desk.ticket.resolution_due) == (responds, None)
    assert not desk.ticket.sla_paused
    assert not leave(desk, after=MINUTE).entries
    assert come_back(desk, after=4 * MINUTE).entries[0].type == "slaResumed"
    assert not come_back(desk, after=MINUTE).entries
    assert desk.ticket.resolution_due == due + 5 * MINUTE
    assert [(pause.reason, pause.status_id) for pause in desk.facts.pauses] == [("outsideZone", 0)]


def test_it_goes_on_through_a_pending_status_and_ends_when_the_ticket_is_done():
    desk = world.Desk(priority_id=world.SLOW)
    due = desk.ticket.resolution_due
    leave(desk, after=MINUTE)
    desk.do(transition, status_id=world.PENDING, after=MINUTE)
    desk.do(transition, status_id=world.OPEN, after=MINUTE)
    assert desk.ticket.resolution_due is None
    come_back(desk, after=MINUTE)
    assert desk.ticket.resolution_due == due + 3 * MINUTE
    leave(desk)
    outcome = desk.do(transition, status_id=world.RESOLVED, after=MINUTE)
    assert [entry.type for entry in outcome.entries] == ["statusChanged", "firstResponse", "slaResumed"]
    assert not leave(desk).entries
    desk.do(transition, status_id=world.OPEN, after=MINUTE)
    assert desk.ticket.resolution_due == due + 5 * MINUTE


def test_another_vehicle_category_or_branch_ends_it():
    for field in ("device_id", "category_id", "branch_id"):
        desk = world.Desk(priority_id=world.SLOW)
        due = desk.ticket.resolution_due
        leave(desk, after=MINUTE)
        desk.do(edit, fields={"subject": "Wheel"}, after=MINUTE)
        assert desk.ticket.resolution_due is None
        desk.do(edit, fields={field: 5}, after=MINUTE)
        assert desk.ticket.resolution_due == due + 2 * MINUTE


def test_a_breach_before_it_is_a_breach():
    desk = world.Desk(priority_id=world.URGENT)
    leave(desk, after=5 * 60 * MINUTE)
    assert desk.ticket.resolution_breached
    assert "slaPaused" in desk.types()


def test_a_ticket_has_a_number_of_these_pauses_at_most(monkeypatch):
    monkeypatch.setattr(zone_pause, "MAX_ZONE_PAUSES", 2)
    desk = world.Desk(priority_id=world.SLOW)
    for _ in range(2):
        assert leave(desk, after=MINUTE).entries
        assert come_back(desk, after=MINUTE).entries
    assert not leave(desk, after=MINUTE).entries
    assert desk.ticket.resolution_due is not None
