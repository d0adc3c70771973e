"""Each kind of 0x0900 of docs/protocols/jt808-vendors.md."""

import json
from datetime import UTC, datetime
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codecs.devices.jt808.test_vendor_items import ascii_hex
from tests.codecs.devices.jt808_vendor_frames import TIME, entries, frame, octets, place

from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import (
    CommandResult,
    DeviceCommand,
    Heartbeat,
    ImmediateReply,
    PositionReport,
    UnknownMessage,
)

AT = datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)
PLACE = (22.5731, 113.9213)
FIXED = {"status": 3, "ignition": True, "blocked": False}
DEGREES = "0158702C 06CA4D14"


def read(kind, content, *, codec=None):
    """The report of a passed message, and its answer."""
    codec = codec or Jt808()
    value = octets(content) if isinstance(content, str) else content
    report = codec.receive(frame(0x0900, bytes((kind,)) + value, serial=7))[-1]
    answer = codec.acknowledge([report.receipt])
    assert answer[1:3] == b"\x80\x01"
    assert answer[13:18] == octets("0007 0900 00")
    return report


def attributes(kind, content):
    """The attributes of a message without a place."""
    report = read(kind, content)
    assert isinstance(report, PositionReport)
    assert not report.located
    return report.attributes


def placed(kind, content):
    """The attributes of a message with the usual place and time."""
    report = read(kind, content)
    assert report.located
    assert (report.latitude, report.longitude) == PLACE
    assert report.device_time == AT
    return {key: value for key, value in report.attributes.items() if FIXED.get(key) is not value}


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (0x40, "0005" + ascii_hex("HELLO"), {"data": "HELLO"}),
        (0x40, "0011" + ascii_hex("GTSL|1|2|3|70001|"), {"driverUniqueId": "70001"}),
        (0x41, ascii_hex("HELLO"), {"data": "HELLO"}),
        (0x42, "0102FF", {"data": "0102ff"}),
        (0x41, ascii_hex("GTSL|1|2|3|70001|6"), {"driverUniqueId": "70001"}),
        (0x42, ascii_hex("$OBD-RT,14.2,2100"), {"power": 14.2, "rpm": 2100}),
        (0xF1, ascii_hex("$OBD-RT,14.2,2100"), {"power": 14.2, "rpm": 2100}),
        (
            0xF1,
            entries(
                (0x0009, "000004D2"),
                (0x000A, "000004D2"),
                (0x000B, "0000003C"),
                (0x000F, "7B"),
                (0x0010, "001E"),
            ).hex(),
            {
                "tripOdometer": 1234,
                "tripFuelUsed": 1.234,
                "drivingTime": 60000,
                "maxSpeed": 123,
                "idlingTime": 30,
            },
        ),
        (0xF3, TIME, {"sleep": 2}),
        (
            0xF3,
            entries((0x0002, "6400"), (0x0006, TIME), length_bytes=2).hex(),
            {"collision": 1.0},
        ),
        (0xF4, f"{TIME} 03 0000 0001", {"wakeSource": 3}),
    ],
)
def test_messages_without_a_place(kind, content, expected):
    assert attributes(kind, content) == expected
    report = read(kind, content)
    assert report.device_time == (AT if TIME in content else None)


@pytest.mark.parametrize("kind", [0xA1, 0xF6])
def test_messages_that_are_noted(kind):
    assert isinstance(read(kind, "0102"), Heartbeat)


@pytest.mark.parametrize(("kind", "content"), [(0x00, "01"), (0xF5, "01"), (0xF1, "FF"), (0xF3, "0001")])
def test_messages_that_are_not_known(kind, content):
    assert isinstance(read(kind, content), UnknownMessage)


def test_tags():
    content = place()[4:] + octets("02 00 001122334455 C4 02 0A0B 01 001122334456 C5 00")
    assert placed(0x53, content) == {
        "tag1Mac": "001122334455",
        "tag1Rssi": -60,
        "tag1Data": "0a0b",
        "tag2Mac": "001122334456",
        "tag2Rssi": -59,
    }


def test_of_sensors_the_last_values_count():
    entry = f"001F {TIME} 0007 00FA 0265 FFCC 0001FFFF03E8 03F5"
    content = place()[4:] + octets(entry) + octets(f"0001 {TIME} 0008")
    assert placed(0x54, content) == {
        "lightSensor": 8,
        "deviceTemp": 25.0,
        "humidity": 61.3,
        "temp3": -5.2,
        "gSensor": "[1,-1,1000]",
        "airPressure": 1013,
    }


@pytest.mark.parametrize(("state", "is_old"), [(0, False), (1, True), (2, False), (3, True)])
def test_video_recorders(state, is_old):
    names = b"Driver".ljust(32, b"\0") + b"L-77".ljust(24, b"\0") + b"C-99".ljust(8, b"\0")
    content = bytes((state,)) + place() + octets("000004D2 00FF 00000013 15 0B 01") + names
    expected = {
        "odometer": 123400,
        "fuel": 25.5,
        "input": 19,
        "rssi": 21,
        "sat": 11,
        "driverState": 1,
        "driver": "Driver",
        "driverLicence": "L-77",
        "card": "C-99",
    }
    assert placed(0xF0, content) == expected | ({"archive": True} if is_old else {})
    assert read(0xF0, content).archived is is_old
    binary = bytes((state,)) + place()[:-6] + bytes((24, 3, 5, 22, 22, 31)) + content[29:]
    assert placed(0xF0, binary) == expected | ({"archive": True} if is_old else {})


def obd(kind, data, *, archived=0):
    return octets(TIME) + bytes((archived, 2, kind)) + octets(data)


END = "00000003" + DEGREES


@pytest.mark.parametrize(
    ("number", "value", "expected"),
    [
        ("0102", "000004D2", {"odometer": 123400}),
        ("0528", "000004D2", {"odometer": 123400}),
        ("0546", "000004D2", {"odometer": 123400}),
        ("0103", "000009F6", {"fuel": 25.5}),
        ("052A", "09F6", {"fuel": 25.5}),
        ("052B", "32", {"fuelLevel": 50}),
        ("0105", "000009F6", {"fuelUsed": 25.5}),
        ("052C", "000009F6", {"fuelUsed": 25.5}),
        ("0111", "41", {"fuelTemp": 25}),
        ("012E", "0265", {"oilLevel": 61.3}),
        ("014A", "0190", {"fuelConsumption": 4.0}),
        ("0537", "0190", {"fuelConsumption": 4.0}),
        ("0538", "0190", {"fuelConsumption": 4.0}),
        ("0539", "0190", {"fuelConsumption": 4.0}),
        ("052D", "0081", {"coolantTemp": 89}),
        ("052E", "41", {"airTemp": 25}),
        ("0530", "361A", {"power": 13.85}),
        ("0535", "0278", {"obdSpeed": 63.2}),
        ("0536", "073A", {"rpm": 1850}),
        ("053D", "03E9", {"intakePressure": 100.1}),
        ("0544", "32", {"liquidLevel": 50}),
        ("0547", "19", {"throttle": 25}),
        ("0548", "19", {"throttle": 25}),
        ("FEEC", ascii_hex("LSVAA49J132047371"), {"vin": "LSVAA49J132047371"}),
        ("0777", "0102", {"io1911": 258}),
        ("0777", "010203", {}),
    ],
)
def test_engine_quantities(number, value, expected):
    block = f"01 {number} {len(octets(value)):02X} {value}"
    assert placed(0xF0, obd(0x01, block + END)) == expected
    assert placed(0xF0, obd(0x01, block + END + TIME)) == expected
    assert attributes(0xF0, obd(0x01, block)) == expected


def test_engine_reports_from_memory_are_archived():
    report = read(0xF0, obd(0x01, "01 0547 01 19" + END, archived=1))
    assert report.archived
    assert report.attributes["archive"] is True
    report = read(0xF0, obd(0x0B, "01" + ascii_hex("LSVAA49J132047371"), archived=1))
    assert report.attributes == {"vin": "LSVAA49J132047371", "archive": True}
    assert report.device_time == AT


def test_fault_codes():
    codes = f"00000101 00000001 0005 {ascii_hex('P0101')} 00000204 00000001 0000"
    assert placed(0xF0, obd(0x02, f"0001 00000007 0002 {codes}" + END)) == {"dtcs": "P0101 00000204"}


@pytest.mark.parametrize("id_bytes", [1, 2])
def test_events(id_bytes):
    names = {
        "powerRestored": [0x01],
        "powerCut": [0x02],
        "idle": [0x0E],
        "hardAcceleration": [0x1A],
        "hardBraking": [0x1B],
        "hardCornering": [0x1C],
        "laneChange": [0x1D, 0x1E, 0x1F],
        "fatigueDriving": [0x23],
        "overspeed": [0x25],
        "accident": [0x26, 0x27, 0x28],
        "door": [0x31, 0x32],
    }
    for name, numbers in names.items():
        for number in numbers:
            block = pack(">B", 1) + number.to_bytes(id_bytes, "big") + b"\x01\x05"
            assert placed(0xF0, obd(0x03, block.hex() + END)) == {"alarm": name}


def test_trips():
    head = f"00000007 {TIME}"
    begun = {"tripNumber": 7, "tripStart": "2024-03-05T14:22:31+00:00"}
    assert attributes(0xF0, obd(0x04, "01" + head)) == begun
    ended = f"02 {head} {TIME} {'00' * 17} 0003 003C 007B 009F"
    assert attributes(0xF0, obd(0x04, ended)) == begun | {
        "tripEnd": "2024-03-05T14:22:31+00:00",
        "idlingCount": 3,
        "idlingTime": 60,
        "tripOdometer": 12300,
        "tripFuel": 1.59,
    }


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (51, {"alarm": "hardAcceleration"}),
        (52, {"alarm": "hardBraking"}),
        (53, {"alarm": "hardCornering"}),
        (54, {"alarm": "laneChange"}),
        (56, {"alarm": "accident"}),
        (0x51, {"alarm": "hardAcceleration"}),
        (57, {"event": 57}),
    ],
)
def test_harsh_driving(code, expected):
    assert attributes(0xF0, obd(0x15, f"{code:08X}")) == expected


def test_places_without_a_status():
    report = read(0xF2, f"{TIME} 8158702C 86CA4D14 02 0A0B0C0D 00000102")
    assert (report.latitude, report.longitude, report.device_time) == (-22.5731, -113.9213, AT)
    assert report.attributes == {"dtcs": "0a0b0c0d 00000102"}
    assert placed(0xF7, f"{TIME} {DEGREES} 00000064 02 000100020003 3D") == {"alarm": "accident"}
    report = read(0xFF, octets(TIME) + pack(">iihHH", -22573100, -113921300, -12, 470, 92))
    assert (report.latitude, report.longitude, report.altitude) == (-22.5731, -113.9213, -12.0)
    assert (round(report.speed, 3), report.course, report.attributes) == (25.378, 92.0, {})


def test_a_text_answers_the_text_command_that_waits():
    codec = Jt808()
    codec.configure("BSJ", {})
    codec.receive(frame(0x0002, b""))
    sent = codec.encode(DeviceCommand("custom", {"data": "STATUS#"}))
    assert read(0x41, ascii_hex("OK!"), codec=codec) == CommandResult(
        sent.reference, ok=True, text="OK!", receipt=read(0x41, "00").receipt
    )
    assert read(0x41, ascii_hex("OK!"), codec=codec).attributes == {"data": "OK!"}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([0x40, 0x41, 0x53, 0x54, *range(0xF0, 0xF8), 0xFF]), st.binary(max_size=80))
def test_whatever_is_passed_through_is_read_or_refused(kind, content):
    for head in (b"", octets(TIME) + b"\0\2"):
        last = Jt808().receive(frame(0x0900, bytes((kind,)) + head + content))[-1]
        assert isinstance(last, PositionReport | Heartbeat | UnknownMessage | ImmediateReply)
        if isinstance(last, PositionReport):
            json.dumps(last.attributes, allow_nan=False)
