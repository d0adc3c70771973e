"""Whether a ticket rule is about an event, compared with a model that reads the JSON of the rule."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.helpdesk.ticket_rules import matches, read_rules, validate_change
from motorpool.actors.rules.severity import SEVERITIES
from motorpool.storage.records import Event

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
TYPES = ("alarm", "geofenceEnter", "maintenance")
WORDS = ("sos", "lowBattery", "powerCut")
ids = st.lists(st.integers(1, 4), max_size=2)


@given(
    when=st.fixed_dictionaries(
        {
            "eventTypes": st.lists(st.sampled_from(TYPES), min_size=1, max_size=2),
            "alarms": st.lists(st.sampled_from(WORDS), max_size=2),
            "deviceIds": ids,
            "groupIds": ids,
            "geofenceIds": ids,
            "maintenanceIds": ids,
            "severity": st.sampled_from((None, *SEVERITIES)),
        }
    ),
    kind=st.sampled_from(TYPES),
    alarm=st.one_of(st.none(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)),
    device=st.integers(1, 4),
    groups=st.lists(st.integers(1, 4), max_size=3),
    geofence=st.integers(0, 4),
    maintenance=st.integers(0, 4),
    severity=st.sampled_from((None, *SEVERITIES)),
)
def test_a_rule_is_about_the_events_of_its_lists(
    when, kind, alarm, device, groups, geofence, maintenance, severity
):
    stored = validate_change({}, {"ticketRules": [{"name": "x", "when": when}]}, 7)
    (rule,) = read_rules(stored)
    event = Event(
        type=kind,
        event_time=NOW,
        device_id=device,
        geofence_id=geofence,
        maintenance_id=maintenance,
        severity=severity,
        attributes={} if alarm is None else {"alarm": ",".join(alarm)},
    )
    expected = kind in when["eventTypes"]
    if when["alarms"]:
        expected &= any(word in when["alarms"] for word in alarm or [])
    if when["deviceIds"] + when["groupIds"]:
        expected &= device in when["deviceIds"] or any(group in when["groupIds"] for group in groups)
    if when["geofenceIds"]:
        expected &= geofence in when["geofenceIds"]
    if when["maintenanceIds"]:
        expected &= maintenance in when["maintenanceIds"]
    rank = {"CRITICAL": 2, "WARNING": 1, "INFO": 0, None: 0}
    expected &= rank[severity] >= rank[when["severity"]]
    assert matches(rule, event, groups) == expected


def test_a_rule_keeps_its_id_and_its_editor_until_it_is_edited():
    first = validate_change({}, {"ticketRules": [{"name": "x", "when": {"eventTypes": ["alarm"]}}]}, 7)
    (rule,) = first["ticketRules"]
    assert rule["userId"] == 7
    # What clients send as the user does not count.
    again = validate_change(first, {"ticketRules": [{**rule, "userId": 9}]}, 8)
    assert again == first
    edited = validate_change(first, {"ticketRules": [{**rule, "name": "y"}, rule]}, 8)
    assert [(each["id"] == rule["id"], each["userId"]) for each in edited["ticketRules"]] == [
        (True, 8),
        (False, 8),
    ]
