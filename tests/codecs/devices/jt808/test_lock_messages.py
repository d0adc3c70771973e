"""Positions of locks (docs/protocols/jt808-vendors.md#positions-of-locks)."""

from datetime import UTC, datetime
from functools import reduce
from operator import xor

import pytest

from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import FrameRejected, ImmediateReply, Login, PositionReport

EXAMPLE = bytes.fromhex(
    "7E5501803079001234567807050324142231223438601135527807122E1809000000125200112233271003002000040A"
    "0301CC000B060200ABCDEF65AA7E"
)
ANSWER = "7e4401000379001234567801550100627e"


def lock_frame(
    *,
    message_id=0x5501,
    properties=0x8000,
    flags="7",
    battery="52",
    product=3,
    status=0,
    alarm=0,
    items="",
    time="050324142231",
):
    """The frame of a lock, written field by field."""
    body = bytes.fromhex(time + "22343860" + "113552780" + flags + "12" + "2e" + "18" + "09" + "00000012")
    body += bytes.fromhex(battery + "00112233" + "2710") + bytes((product,))
    body += status.to_bytes(2, "big") + alarm.to_bytes(2, "big") + bytes.fromhex(items)
    head = message_id.to_bytes(2, "big") + (properties | len(body)).to_bytes(2, "big")
    content = head + bytes.fromhex("790012345678") + b"\x07" + body
    content += bytes((reduce(xor, content),))
    return b"~" + content.replace(b"}", b"}\x01").replace(b"~", b"}\x02") + b"~"


def read(frame, **configured):
    codec = Jt808()
    codec.keeps_unknown = configured.pop("keeps_unknown", False)
    codec.configure("", {})
    login, report = codec.receive(frame)
    assert login == Login(("790012345678",))
    assert isinstance(report, PositionReport)
    return report


def test_the_example_and_its_answer():
    codec = Jt808()
    _, report = codec.receive(EXAMPLE)
    assert report.device_time == datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)
    assert (report.latitude, report.longitude) == (pytest.approx(22.5731), pytest.approx(113.9213))
    assert (report.valid, report.located, report.speed, report.course) == (True, True, 12.0, 92.0)
    assert report.attributes == {
        "status": 0x20,
        "rssi": 24,
        "sat": 9,
        "odometer": 18000,
        "batteryLevel": 82,
        "blocked": True,
        "alarm": "vibration",
        "lockCommand": 2,
        "lockCard": 11259375,
        "unlockResult": 101,
    }
    assert report.network["cellTowers"] == [
        {"mobileCountryCode": 460, "mobileNetworkCode": 0, "locationAreaCode": 10000, "cellId": 1122867}
    ]
    assert codec.acknowledge([report.receipt]).hex() == ANSWER


def test_without_bit_15_no_answer_is_wanted():
    assert read(lock_frame(properties=0)).receipt is None
    # The other bits are neither encryption nor packets.
    assert read(lock_frame(properties=0x3C00)).receipt is None


def test_a_lock_without_a_fix():
    report = read(lock_frame(message_id=0x5502))
    assert (report.valid, report.located) == (False, True)
    assert Jt808().acknowledge([report.receipt]).hex() == "7e4401000379001234567801550200617e"


@pytest.mark.parametrize(
    ("flags", "valid", "north", "east"), [("6", False, 1, 1), ("5", True, -1, 1), ("3", True, 1, -1)]
)
def test_flags_of_the_longitude(flags, valid, north, east):
    report = read(lock_frame(flags=flags))
    assert report.valid is valid
    assert report.latitude == pytest.approx(north * 22.5731)
    assert report.longitude == pytest.approx(east * 113.9213)


@pytest.mark.parametrize(
    ("product", "bit", "alarm"),
    [
        (1, 0, "lowPower"),
        (2, 0, "lowPower"),
        (1, 2, None),
        (3, 0, "overspeed"),
        (3, 1, "lowPower"),
        (3, 2, "vibration"),
        (3, 3, "lowBattery"),
        (3, 4, None),
        (3, 5, "geofenceEnter"),
        (3, 6, "geofenceExit"),
        (9, 0, None),
    ],
)
def test_alarms_by_product(product, bit, alarm):
    attributes = read(lock_frame(product=product, alarm=1 << bit)).attributes
    assert attributes.get("alarm") == alarm
    assert ("blocked" in attributes) == (product == 3)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("0c06 0001 ffff 0003", {"tilt": "[1,-1,3]"}),
        ("1001 04", {"wakeSource": 4}),
        ("fc01 07", {"geofence": "7"}),
        ("0b01 02", {"lockCommand": 2}),
        ("0b08 02 313233343536 65", {"lockCommand": 2, "lockPassword": "123456", "unlockResult": 101}),
        ("f402 0102", {}),
        ("1001 04 f4ff 01", {"wakeSource": 4}),
    ],
)
def test_items(items, expected):
    known = read(lock_frame()).attributes
    assert read(lock_frame(items=items)).attributes == known | expected


def test_unknown_items_are_kept_where_that_is_configured():
    assert read(lock_frame(items="f402 0102"), keeps_unknown=True).attributes["item0xF4"] == "0102"


def test_altitude_and_the_longer_form_of_the_network():
    report = read(lock_frame(items="0202 fff6 0a04 01cc 000b"))
    assert report.altitude == -10
    assert report.network["cellTowers"][0]["mobileNetworkCode"] == 11
    (tower,) = read(lock_frame()).network["cellTowers"]
    assert tower == {"locationAreaCode": 10000, "cellId": 1122867}


@pytest.mark.parametrize(
    ("battery", "expected"), [("aa", {"charge": True}), ("ab", {"charge": True}), ("c8", {})]
)
def test_battery(battery, expected):
    attributes = read(lock_frame(battery=battery)).attributes
    assert {key: attributes[key] for key in ("charge", "batteryLevel") if key in attributes} == expected


def test_digits_that_are_no_time_and_no_place():
    assert read(lock_frame(time="320324142231")).device_time is None
    assert read(lock_frame(time="0503241422ff")).device_time is None
    frame = lock_frame().replace(bytes.fromhex("22343860"), bytes.fromhex("ff343860"))
    check = reduce(xor, frame[1:-2])
    report = read(frame[:-2] + bytes((check,)) + b"~")
    assert (report.located, report.valid) == (False, False)


def test_a_position_that_is_too_short_is_refused():
    body = bytes(10)
    content = bytes.fromhex("5501800a79001234567807") + body
    codec = Jt808()
    _, rejected, reply = codec.receive(b"~" + content + bytes((reduce(xor, content),)) + b"~")
    assert isinstance(rejected, FrameRejected)
    assert isinstance(reply, ImmediateReply)
