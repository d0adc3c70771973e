"""Queclink: commands, answers, models, the fix time, datagrams and binary lengths."""

from typing import Any

import pytest

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    FrameRejected,
    Heartbeat,
    Login,
    PositionReport,
    UnknownMessage,
)

IMEI = "135790246811220"
PLACE = "1,4.3,92,70.0,121.354335,31.222073,20240305142231,0460,0000,18D8,6141"
HEARTBEAT = f"+ACK:GTHBD,1A0102,{IMEI},,20240305142231,0012$".encode()


def text(kind: str, fields: str, version: str = "0F0106") -> bytes:
    return f"+RESP:GT{kind},{version},{IMEI},,{fields},20240305142233,11F0$".encode()


FRI = text("FRI", f",00,1,{PLACE},00,2000.0,00012:34:56,,,87,220000,,,")


def connected(model: str = "", **attributes: Any) -> DeviceCodec:
    codec = CODECS["gl200"]()
    codec.receive(HEARTBEAT)
    codec.configure(model, attributes)
    return codec


def position(codec: DeviceCodec, frame: bytes) -> PositionReport:
    (report,) = codec.receive(frame)
    assert isinstance(report, PositionReport)
    return report


@pytest.mark.parametrize(
    ("kind", "attributes", "sent"),
    [
        ("positionSingle", {}, b"AT+GTRTO=gl300,1,,,,,,FFFF$"),
        ("deviceIdentification", {}, b"AT+GTRTO=gl300,8,,,,,,FFFF$"),
        ("rebootDevice", {}, b"AT+GTRTO=gl300,3,,,,,,FFFF$"),
        ("engineStop", {}, b"AT+GTOUT=gl300,1,,,0,0,0,0,0,0,0,,,,,,,FFFF$"),
        ("engineResume", {}, b"AT+GTOUT=gl300,0,,,0,0,0,0,0,0,0,,,,,,,FFFF$"),
        ("custom", {"data": "AT+GTRTO=gl300,2,,,,,,FFFF"}, b"AT+GTRTO=gl300,2,,,,,,FFFF$"),
        ("custom", {"data": "AT+GTRTO=gl300,2,,,,,,FFFF$"}, b"AT+GTRTO=gl300,2,,,,,,FFFF$"),
    ],
)
def test_commands(kind: str, attributes: dict[str, Any], sent: bytes):
    assert connected(devicePassword="gl300").encode(DeviceCommand(kind, attributes)).data == sent


def test_the_password_is_empty_by_default():
    assert connected().encode(DeviceCommand("positionSingle")).data == b"AT+GTRTO=,1,,,,,,FFFF$"


@pytest.mark.parametrize(
    ("kind", "password", "attributes"),
    [
        ("custom", "", {}),
        ("custom", "", {"data": "AT\r\n"}),
        ("custom", "", {"data": "A" * 1001}),
        ("engineStop", "a,b", {}),
        ("engineStop", "a$", {}),
        ("engineStop", "\n", {}),
    ],
)
def test_commands_that_cannot_be_sent(kind: str, password: str, attributes: dict[str, Any]):
    with pytest.raises(UnsupportedCommand):
        connected(devicePassword=password).encode(DeviceCommand(kind, attributes))


def test_a_heartbeat_is_answered():
    (report,) = connected().receive(HEARTBEAT)
    assert isinstance(report, Heartbeat)
    assert report.receipt is not None
    assert connected().acknowledge([report.receipt]) == b"+SACK:GTHBD,1A0102,0012$"


def test_messages_are_answered_where_the_attribute_asks_for_it():
    assert position(connected(), FRI).receipt is None
    assert position(connected(**{"gl200.ack": True}), FRI).receipt == b"+SACK:11F0$"
    (unknown,) = connected(**{"gl200.ack": True}).receive(text("XYZ", "1"))
    assert isinstance(unknown, UnknownMessage)
    assert unknown.receipt == b"+SACK:11F0$"


def test_one_of_several_locations_is_answered():
    frame = text("FRI", f"0,0,2,{PLACE},,{PLACE},,61", "1A0200")
    first, last = connected(**{"gl200.ack": True}).receive(frame)
    assert isinstance(first, PositionReport)
    assert isinstance(last, PositionReport)
    assert (first.receipt, last.receipt) == (None, b"+SACK:11F0$")


def test_the_send_time_in_place_of_the_fix_time():
    frame = text("FRI", f"0,0,2,{PLACE},,{PLACE.replace('31.222073', '32.000000')},,61", "1A0200")
    report = position(connected(**{"gl200.ignoreFixTime": True}), frame)
    assert report.latitude == 32
    assert report.fix_time == report.device_time
    assert f"{report.fix_time:%H%M%S}" == "142233"


ERI = f"00000000,12480,10,1,{PLACE},00,2000.0,00012:34:56,"
GL5 = f"00000000,,10,1,{PLACE},18,0,,97,2,1"


@pytest.mark.parametrize(
    ("model", "version", "fields", "expected"),
    [
        ("", "060106", ERI + "1500,700,87,220000,1", {"adc1": 1.5, "adc2": 0.7, "batteryLevel": 87}),
        ("GV65", "060106", ERI + "1500,87,220000,1", {"adc1": 1.5, "batteryLevel": 87, "ignition": True}),
        ("", "350106", ERI + "1500,700,164,0D,01,0", {"adc3": 0.164, "input": 13, "output": 1}),
        ("", "6E0106", ERI + "1500,700,164,87,220000,1", {"adc3": 0.164, "batteryLevel": 87}),
        ("", "8020050106", ERI + "1500,700,,87,220000,1", {"adc2": 0.7, "batteryLevel": 87}),
        ("gl500", "060106", GL5, {"batteryLevel": 97, "mode": 2, "motion": True}),
        ("", "F10106", ERI + "1500,87,2100020001,1", {"adc1": 1.5, "input": 2, "output": 1, "out1": True}),
    ],
)
def test_the_model_decides_the_layout(model: str, version: str, fields: str, expected: dict[str, Any]):
    report = position(connected(model), text("ERI", fields, version))
    assert report.attributes.items() >= expected.items()
    assert "adc2" not in report.attributes or "adc2" in expected or expected.get("adc3")


def test_a_report_of_a_gl320m_ends_with_its_cell():
    fields = f"00000080,,10,1,{PLACE},2000.0,97,55"
    report = position(connected(), text("ERI", fields, "C30106"))
    assert (
        report.attributes.items() >= {"odometer": 2000000, "batteryLevel": 97, "externalBattery": 55}.items()
    )


def test_a_text_may_lack_its_tail():
    report = position(connected(), text("ERI", ERI[:-1], "060106"))
    assert (report.latitude, report.attributes["hours"]) == (31.222073, 45296000)


@pytest.mark.parametrize("state", [("11", False, False), ("12", False, True), ("21", True, False)])
def test_states(state: tuple[str, bool, bool]):
    attributes = position(connected(), FRI.replace(b"220000", state[0].encode() + b"0000")).attributes
    assert (attributes["ignition"], attributes["motion"]) == state[1:]


def test_a_datagram_may_lack_the_end():
    codec = CODECS["gl200"]()
    login, report = codec.receive_datagram(FRI[:-1])
    assert isinstance(login, Login)
    assert isinstance(report, PositionReport)
    assert codec.buffered == 0


def test_devices_behind_one_connection():
    other = FRI.replace(IMEI.encode(), b"86784400301262")
    logins = [report for report in connected().receive(FRI + other + FRI) if isinstance(report, Login)]
    assert [login.unique_ids for login in logins] == [("86784400301262",), (IMEI,)]


def test_a_report_that_says_a_thousand_locations_gives_those_it_has():
    (report,) = connected().receive(text("FRI", f"0,0,1000,{PLACE},,61", "1A0200"))
    assert isinstance(report, PositionReport)
    assert report.attributes["batteryLevel"] == 61


@pytest.mark.parametrize("length", [b"\xff\xff", b"\0\0", b"\0\x05"])
def test_a_binary_length_that_is_none_is_dropped(length: bytes):
    codec = connected()
    *rejected, report = codec.receive(b"+RSP\x01\0\0\0\0" + length + FRI)
    assert isinstance(report, PositionReport)
    assert all(isinstance(one, FrameRejected) for one in rejected)
    assert codec.buffered == 0


def test_bytes_that_only_resemble_numbered_items_hold_nothing_back():
    *_, report = connected().receive(b"Z\0\x10\0\0\xab\xcd\xef\xab\xcd\xef" + FRI)
    assert isinstance(report, PositionReport)
