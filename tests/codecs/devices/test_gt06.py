"""GT06: what depends on the device's settings, what asks for an answer, and commands."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, ImmediateReply, PositionReport

LOGIN = bytes.fromhex("78780D01035335801778406200015E940D0A")
GPS = "1803050E161FC9026BFD1C0C38F1242F145C"
CELL = "01CC00287D001FB8"


def crc_of(data: bytes) -> int:
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x8408 if value & 1 else value >> 1
    return value ^ 0xFFFF


def frame(kind: int, content: str, serial: int = 1) -> bytes:
    body = bytes.fromhex(content)
    counted = bytes((len(body) + 5, kind)) + body + serial.to_bytes(2, "big")
    return b"\x78\x78" + counted + crc_of(counted).to_bytes(2, "big") + b"\r\n"


def logged_in(model: str = "", **attributes: Any) -> DeviceCodec:
    codec = CODECS["gt06"]()
    codec.receive(LOGIN)
    codec.configure(model, attributes)
    return codec


def position(codec: DeviceCodec, kind: int, content: str) -> PositionReport:
    (report,) = codec.receive(frame(kind, content))
    assert isinstance(report, PositionReport), report
    return report


def test_the_time_is_told_in_utc():
    codec = logged_in()
    codec.utc_now = lambda: datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)
    (reply,) = codec.receive(frame(0x8A, "", 7))
    counted = bytes.fromhex("0B8A1803050E161F0007")
    assert reply == ImmediateReply(b"\x78\x78" + counted + crc_of(counted).to_bytes(2, "big") + b"\r\n")


def test_a_request_for_an_address_is_answered_with_none():
    (reply,) = logged_in().receive(frame(0x2A, GPS + "00" * 23, 7))
    assert isinstance(reply, ImmediateReply)
    assert reply.data[:5] == bytes.fromhex("7979001597")
    assert b"NA&&NA&&0##" in reply.data


def test_the_zone_of_the_server_precedes_that_of_the_login():
    codec = CODECS["gt06"]()
    codec.receive(bytes.fromhex("787811010353358017784062360032000002A8D30D0A"))
    assert position(codec, 0x10, GPS).device_time == datetime(2024, 3, 5, 6, 22, 31, tzinfo=UTC)
    codec.set_timezone(timezone(timedelta(hours=-3)))
    assert position(codec, 0x10, GPS).device_time == datetime(2024, 3, 5, 17, 22, 31, tzinfo=UTC)
    codec.set_timezone(None)
    assert position(codec, 0x10, GPS).device_time == datetime(2024, 3, 5, 6, 22, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("model", "code", "alarm"),
    [
        ("", "09", "vibration"),
        ("vl103", "09", "tow"),
        ("TRX16i", "09", "geofence"),
        ("", "0E", "lowBattery"),
        ("TRX16i", "0E", "lowPower"),
        ("LW4G", "19", "hardAcceleration"),
        ("Seeworld", "29", "accident"),
        ("", "77", None),
    ],
)
def test_alarms_of_models(model: str, code: str, alarm: str | None):
    codec = logged_in(model)
    assert position(codec, 0x26, f"{GPS}09{CELL}020604{code}02").attributes.get("alarm") == alarm


def test_a_model_changes_the_layout_at_once():
    codec = logged_in()
    content = "4604D20302"
    assert position(codec, 0x13, content).attributes["batteryLevel"] == 66
    codec.configure("R11", {})
    assert position(codec, 0x13, content).attributes["power"] == 12.34
    codec.configure("lw01", {})
    assert position(codec, 0x13, content).attributes["power"] == 123.4


def test_an_nt_device_has_a_time_of_its_own():
    codec = logged_in("NT20")
    content = f"01035335801778406218030510000A{GPS[:12]}{GPS[12:]}{CELL}0204D22A04010200303900010F"
    report = position(codec, 0x22, content)
    assert (report.fix_time, report.device_time) == (
        datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC),
        datetime(2024, 3, 5, 16, 0, 10, tzinfo=UTC),
    )
    assert report.attributes["odometer"] == 12345
    assert (report.attributes["power"], report.attributes["battery"]) == (12.34, 4.2)
    assert report.attributes["hours"] == 271 * 60_000


@pytest.mark.parametrize(
    ("model", "attributes", "kind", "text"),
    [
        ("", {}, "engineStop", b"Relay,1#"),
        ("", {}, "engineResume", b"Relay,0#"),
        ("G109", {}, "engineStop", b"DYD#"),
        ("G109", {}, "engineResume", b"HFYD#"),
        ("", {"gt06.alternative": True}, "engineStop", b"DYD,123456#"),
        ("", {"gt06.alternative": True, "devicePassword": "0815"}, "engineResume", b"HFYD,0815#"),
    ],
)
def test_commands_are_texts(model: str, attributes: dict[str, Any], kind: str, text: bytes):
    encoded = logged_in(model, **attributes).encode(DeviceCommand(kind))
    counted = bytes((len(text) + 10, 0x80, len(text) + 4)) + bytes(4) + text + bytes(2)
    assert encoded.data == b"\x78\x78" + counted + crc_of(counted).to_bytes(2, "big") + b"\r\n"


def test_a_language_stands_behind_the_text():
    encoded = logged_in(**{"gt06.language": True}).encode(DeviceCommand("custom", {"data": "WHERE#"}))
    assert b"WHERE#\x00\x02\x00\x00" in encoded.data


@pytest.mark.parametrize("data", [None, "", "é", "x" * 241, 7])
def test_texts_that_cannot_be_sent(data: object):
    with pytest.raises(UnsupportedCommand):
        logged_in().encode(DeviceCommand("custom", {"data": data}))
