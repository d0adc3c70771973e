"""Severities of events: the table, and what attributes change of it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.rules.severity import (
    DEFAULTS,
    PREFIX,
    SEVERITIES,
    UNCONFIGURED,
    grade,
    read_severities,
    severity_fault,
    severity_of,
)
from motorpool.codecs.devices.attributes import ALARM_DETAILS, ALARMS
from motorpool.storage.records import Event, Review

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
PAGE = (Path(__file__).parents[3] / "docs" / "events.md").read_text("utf-8")


def test_the_table_names_types_and_alarms_that_exist():
    known = {*EVENT_TYPES, *(f"alarm.{name}" for name in (*ALARMS, *ALARM_DETAILS))}
    assert DEFAULTS.keys() <= known


def test_the_page_has_the_table():
    section = PAGE[PAGE.index("\n## Severity\n") : PAGE.index("\n## Review\n")]
    shown = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].strip("`") in SEVERITIES:
            for prefix, names in zip(("", "alarm."), cells[1:], strict=True):
                listed = [name.strip(" `") for name in names.split(",") if name.strip().startswith("`")]
                shown |= {f"{prefix}{name}": cells[0].strip("`") for name in listed}
    assert shown == DEFAULTS


@pytest.mark.parametrize(
    ("alarm", "detail", "configured", "expected"),
    [
        ("sos", None, {}, "CRITICAL"),
        ("general", None, {}, "WARNING"),
        ("idle", None, {}, "INFO"),
        ("an alarm of a device alone", None, {}, "WARNING"),
        ("accident", "collisionWarning", {}, "WARNING"),
        ("general", "longIdling,dangerWarning:2", {}, "CRITICAL"),
        ("general", "phoneUse:2", {"alarm.phoneUse:2": "CRITICAL", "alarm.phoneUse": "INFO"}, "CRITICAL"),
        ("general", "phoneUse:1", {"alarm.phoneUse:2": "CRITICAL", "alarm.phoneUse": "INFO"}, "INFO"),
        ("general", "tire3PressureLow", {"alarm.tire#PressureLow": "CRITICAL"}, "CRITICAL"),
        (
            "general",
            "tire3PressureLow",
            {"alarm.tire3PressureLow": "INFO", "alarm.general": "WARNING"},
            "INFO",
        ),
        # What is configured for all goes before what the table says of one.
        ("sos", None, {"alarm": "INFO"}, "INFO"),
        ("general", "dangerWarning", {"alarm.general": "INFO"}, "INFO"),
        ("sos", None, {"alarm": "INFO", "alarm.sos": "CRITICAL"}, "CRITICAL"),
    ],
)
def test_the_most_exact_name_of_an_alarm_counts(alarm, detail, configured, expected):
    attributes = {"alarm": alarm} | ({"alarmDetail": detail} if detail else {})
    assert severity_of("alarm", attributes, configured) == expected


def test_a_type_has_the_severity_that_is_configured_or_that_of_the_table():
    assert severity_of("geofenceExit", {}, UNCONFIGURED) == "INFO"
    assert severity_of("geofenceExit", {}, {"geofenceExit": "CRITICAL"}) == "CRITICAL"
    assert severity_of("deviceOverspeed", {}, {"alarm": "INFO"}) == "WARNING"


_names = st.sampled_from(["geofenceExit", "alarm", "alarm.sos", "alarm.phoneUse"])
_values = st.sampled_from([*SEVERITIES, "warning", "", None, 3, []])
_layers = st.lists(st.dictionaries(_names, _values), min_size=1, max_size=5)


@given(_layers)
def test_of_each_name_the_valid_value_nearest_to_the_device_counts(layers):
    found = read_severities([{f"{PREFIX}{name}": each[name] for name in each} for each in layers])
    for name in ("geofenceExit", "alarm", "alarm.sos", "alarm.phoneUse"):
        valid = [each[name] for each in layers if each.get(name) in SEVERITIES]
        assert found.get(name) == (valid[0] if valid else None)


@given(_layers, st.sampled_from(EVENT_TYPES), st.sampled_from([None, "sos", "idle", "general"]))
def test_what_is_configured_for_one_name_changes_no_other(layers, kind, alarm):
    """Removing what does not name the event leaves its severity."""
    attributes = {"alarm": alarm} if kind == "alarm" and alarm else {}
    configured = read_severities([{f"{PREFIX}{name}": each[name] for name in each} for each in layers])
    own = {kind, f"alarm.{alarm}"} if kind == "alarm" else {kind}
    kept = {name: value for name, value in configured.items() if name in own}
    assert severity_of(kind, attributes, configured) == severity_of(kind, attributes, kept)


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("event.severity.geofenceExit", "WARNING", ""),
        ("event.severity.alarm.sos", "INFO", ""),
        ("event.severity.alarm.phoneUse:2", "INFO", ""),
        ("event.severity.geofenceExit", "warning", "is none of CRITICAL, WARNING, INFO"),
        ("event.severity.alarm.sos", 1, "is none of CRITICAL, WARNING, INFO"),
        ("event.severity.geofenceLeft", "INFO", "there is no such type of events"),
        (
            "event.severity.geofenceExit.sos",
            "INFO",
            "is none of event.severity.<type> and event.severity.alarm.<alarm>",
        ),
        (
            "event.severity.alarm.",
            "INFO",
            "is none of event.severity.<type> and event.severity.alarm.<alarm>",
        ),
        (
            "event.severity.alarm.a b",
            "INFO",
            "is none of event.severity.<type> and event.severity.alarm.<alarm>",
        ),
    ],
)
def test_what_is_wrong_is_said(key, value, fault):
    assert severity_fault(key, value) == fault


def test_warning_and_worse_wait_for_review():
    made = [Event(type=kind, event_time=NOON) for kind in ("ignitionOn", "deviceOverspeed", "alarm")]
    grade(made, {"alarm": "CRITICAL"})
    assert [(each.severity, each.review) for each in made] == [
        ("INFO", None),
        ("WARNING", Review()),
        ("CRITICAL", Review()),
    ]
    assert Event(type="alarm").review is None
