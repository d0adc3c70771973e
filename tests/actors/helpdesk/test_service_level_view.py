"""What GET /tickets/{id}/sla answers."""

import msgspec
import pytest
from tests.actors.helpdesk.test_business_time import hours_of, utc
from tests.actors.helpdesk.test_service_levels import Walk

from motorpool.actors.helpdesk.business_time import ALWAYS
from motorpool.actors.helpdesk.service_level_view import EscalationView, view
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketPriority


def shown(walk, now, kind="open", **ticket):
    row = Ticket(id=118, priority_id=3, status_kind=kind, **ticket)
    priority = TicketPriority(id=3, calendar_id=9)
    found = view(row, priority, walk.levels, walk.clocks, walk.pauses, utc(now))
    return msgspec.json.decode(msgspec.json.encode(found))


def test_a_ticket_that_was_answered_and_is_paused():  # E7
    walk = Walk("2026-10-12T09:00Z", hours_of("A"), 120, 540)
    walk.respond("2026-10-12T09:40Z")
    walk.pause("2026-10-12T10:00Z")
    found = shown(walk, "2026-10-13T08:00:00.999Z", "pending")
    assert found == {
        "ticketId": 118,
        "priorityId": 3,
        "calendarId": 9,
        "statusKind": "pending",
        "computedAt": "2026-10-13T08:00:00Z",
        "inBusinessHours": True,
        "windowEnd": "2026-10-13T16:00:00Z",
        "nextWindowStart": None,
        "firstResponse": {
            "targetMinutes": 120,
            "state": "met",
            "due": "2026-10-12T11:00:00Z",
            "doneAt": "2026-10-12T09:40:00Z",
            "elapsedMinutes": 40,
            "remainingMinutes": 80,
            "percent": 33.3,
            "breached": False,
            "breachedAt": None,
            "creditSeconds": 0,
        },
        "resolution": {
            "targetMinutes": 540,
            "state": "paused",
            "due": None,
            "doneAt": None,
            "elapsedMinutes": 60,
            "remainingMinutes": 480,
            "percent": 11.1,
            "breached": False,
            "breachedAt": None,
            "creditSeconds": 0,
        },
        "pauses": [
            {
                "from": "2026-10-12T10:00:00Z",
                "to": None,
                "statusId": 1,
                "reason": "pending",
                "businessMinutes": 360,
            }
        ],
        "escalation": {"escalatedAt": None, "teamId": 0, "priorityId": 0},
    }


def resolution(walk, now, kind="open"):
    found = shown(walk, now, kind)["resolution"]
    return found["state"], found["elapsedMinutes"], found["remainingMinutes"], found["breachedAt"]


def test_states_of_a_target():
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=60)
    assert resolution(walk, "2026-10-12T08:30:59Z") == ("running", 30, 29, None)
    assert resolution(walk, "2026-10-12T09:00:00Z") == ("running", 60, 0, None)
    # Also while the clock has not recorded it yet.
    late = "overdue", 60, -1, "2026-10-12T09:00:00Z"
    assert resolution(walk, "2026-10-12T09:00:01Z") == late
    walk.settle("2026-10-12T09:00:01Z")
    assert resolution(walk, "2026-10-12T09:00:01Z") == late
    walk.resolve("2026-10-12T09:30:00Z")
    missed = "missed", 90, -30, "2026-10-12T09:00:00Z"
    assert resolution(walk, "2026-10-13T09:30:00Z", "resolved") == missed
    walk = Walk("2026-10-11T08:00Z", hours_of("A"), resolution=60)
    assert resolution(walk, "2026-10-11T09:00Z") == ("waiting", 0, 60, None)
    walk.pause("2026-10-12T08:20Z", "cancelled")
    assert resolution(walk, "2026-10-13T08:20Z", "cancelled") == ("cancelled", 20, 40, None)
    assert shown(walk, "2026-10-13T08:20Z", "cancelled")["pauses"] == []
    walk = Walk("2026-10-11T08:00Z", hours_of("U"), resolution=60)
    assert resolution(walk, "2026-10-11T09:00Z") == ("noCalendarTime", 0, 60, None)
    walk = Walk("2026-10-11T08:00Z", ALWAYS)
    assert resolution(walk, "2026-10-11T09:00Z") == ("none", 60, 0, None)


@pytest.mark.parametrize(("minutes", "percent"), [(49, 12.3), (48, 12.0), (600, 150.0)])
def test_percent_has_one_decimal_half_up(minutes, percent):
    walk = Walk("2026-10-12T00:00Z", ALWAYS, resolution=400)
    found = shown(walk, f"2026-10-12T{minutes // 60:02}:{minutes % 60:02}Z")
    assert found["resolution"]["percent"] == percent


def test_business_hours_outside_and_without_end():
    walk = Walk("2026-10-12T08:00Z", hours_of("A"), resolution=60)
    found = shown(walk, "2026-10-17T12:00Z")
    window = found["inBusinessHours"], found["windowEnd"], found["nextWindowStart"]
    assert window == (False, None, "2026-10-19T08:00:00Z")
    found = shown(Walk("2026-10-12T08:00Z", ALWAYS), "2026-10-17T12:00Z")
    assert (found["inBusinessHours"], found["windowEnd"], found["nextWindowStart"]) == (True, None, None)


def test_where_a_ticket_was_escalated_to():
    walk, at = Walk("2026-10-12T08:00Z", ALWAYS), utc("2026-10-12T10:20:00.5Z")
    found = view(Ticket(escalated_at=at), None, walk.levels, walk.clocks, (), at, EscalationView(None, 7, 4))
    assert found.escalation == EscalationView(utc("2026-10-12T10:20:00Z"), 7, 4)
    assert (found.priority_id, found.calendar_id) == (0, 0)
