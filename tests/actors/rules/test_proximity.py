"""Events of devices that travel together."""

import math
from datetime import UTC, datetime
from types import MappingProxyType

import pytest

from motorpool.actors.rules.proximity import proximity_events, unaccompanied_events
from motorpool.storage.records import Event, Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
DEGREE = math.pi / 180 * 6_378_137


def position(metres=0.0, device_id=7, **attributes):
    return Position(device_id=device_id, device_time=NOON, latitude=metres / DEGREE, attributes=attributes)


TRAILER = position(0.0, 8)


def run(distances, near=MappingProxyType({8: False}), *, enter=100.0, leave=200.0):
    found = []
    for metres in distances:
        events, near = proximity_events(
            position(metres), near, [TRAILER], enter_distance=enter, exit_distance=leave
        )
        found += [(metres, event.type) for event in events]
    return found


def test_close_within_one_distance_and_away_beyond_the_other():
    assert run([150, 99, 150, 199, 201, 150, 101, 99]) == [
        (99, "proximityEnter"),
        (201, "proximityExit"),
        (99, "proximityEnter"),
    ]


def test_the_event_names_the_linked_device():
    events, near = proximity_events(
        position(), {8: False}, [TRAILER], enter_distance=100.0, exit_distance=200.0
    )
    assert events == [
        Event(type="proximityEnter", event_time=NOON, device_id=7, attributes={"linkedDeviceId": 8})
    ]
    assert near == {8: True}


def test_only_one_of_the_distances():
    assert run([150, 50, 150], enter=100.0, leave=0.0) == [(50, "proximityEnter")]
    assert run([150, 50, 150], enter=0.0, leave=100.0) == [(150, "proximityExit")]


def test_at_first_it_is_not_known_who_was_close():
    assert run([50, 300], {}) == [(300, "proximityExit")]
    assert run([300, 50], {}) == [(50, "proximityEnter")]


@pytest.mark.parametrize(
    ("before", "now", "metres", "is_event"),
    [
        (False, True, 101, True),
        (False, True, 99, False),
        (True, True, 101, False),
        (False, False, 101, False),
        (None, True, 101, False),
    ],
)
def test_unaccompanied_motion(before, now, metres, is_event):
    last = position() if before is None else position(motion=before)
    events = unaccompanied_events(position(metres, motion=now), last, [TRAILER], distance=100.0)
    expected = Event(type="unaccompaniedMotion", event_time=NOON, device_id=7)
    assert events == ([expected] if is_event else [])


def test_without_linked_devices_all_motion_is_unaccompanied():
    assert len(unaccompanied_events(position(motion=True), position(motion=False), [], distance=1.0)) == 1
    assert unaccompanied_events(position(motion=True), None, [], distance=1.0) == []
