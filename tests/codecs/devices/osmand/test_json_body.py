import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.devices.osmand.json_body import read_json
from motorpool.codecs.errors import CodecError

PLACE = {"latitude": 1.5, "longitude": 2.5}


def reports_of(location):
    return read_json(json.dumps({"device_id": "1", "location": location}).encode())[1]


def test_negative_speed_and_heading_are_unknown():
    (report,) = reports_of({"coords": {**PLACE, "speed": -1, "heading": -1, "accuracy": -1, "altitude": -5}})
    assert (report.speed, report.course, report.accuracy, report.altitude) == (0.0, 0.0, 0.0, -5.0)


def test_speed_is_in_knots():
    (report,) = reports_of({"coords": {**PLACE, "speed": 10, "heading": 90}})
    assert report.speed == pytest.approx(19.4384)
    assert report.course == 90.0


def test_each_attribute_has_its_name_and_type():
    (report,) = reports_of(
        {
            "coords": PLACE,
            "event": "motionchange",
            "is_moving": False,
            "odometer": 1234.9,
            "mock": True,
            "activity": {"type": "in_vehicle", "confidence": 90},
            "battery": {"level": 0.29, "is_charging": False},
            "extras": {"i": 1, "f": 1.5, "b": False, "s": "x", "deep": {}, "none": None, "alarm": "door"},
        }
    )
    assert report.attributes == {
        "event": "motionchange",
        "motion": False,
        "odometer": 1234,
        "mock": True,
        "activity": "in_vehicle",
        "batteryLevel": 29,
        "i": 1,
        "f": 1.5,
        "b": False,
        "s": "x",
        "alarm": "door",
    }


def test_an_unknown_charge_is_left_out():
    (report,) = reports_of({"battery": {"level": -1, "is_charging": None}, "activity": {}, "odometer": None})
    assert report.attributes == {}
    assert not report.located


def test_a_number_may_be_the_id():
    assert read_json(b'{"device_id": 7, "location": {}}')[0] == "7"


def test_an_empty_batch_is_no_report():
    assert reports_of([]) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"location": {}}',
        b'{"device_id": "", "location": {}}',
        b'{"device_id": "1"}',
        b'{"device_id": "1", "location": {"coords": {"latitude": 91, "longitude": 0}}}',
        b'{"device_id": "1", "location": {"coords": {"latitude": 1}}}',
        b'{"device_id": "1", "location": {"timestamp": "soon"}}',
        b'{"device_id": "1", "location": {"odometer": "far"}}',
        b'{"device_id": "\xff", "location": {}}',
        b'{"device_id": "1", "location": [' + b"{}," * 1000 + b"{}]}",
        b'{"device_id": "1", "location": {"extras": {"a": ' + b"[" * 100_000 + b"}}}",
    ],
)
def test_what_is_no_such_json_is_a_codec_error(body):
    with pytest.raises(CodecError):
        read_json(body)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_location_is_read_or_a_codec_error(location):
    with suppress(CodecError):
        reports_of(location)
