"""Watches: commands, answers in the form of the message, voice messages and their limits."""

from datetime import UTC, datetime
from typing import Any

import pytest

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.watch.codec import MAX_FRAME_BYTES, MAX_VOICE_BYTES
from motorpool.codecs.devices.watch.command_texts import ESCAPES
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, FrameRejected, Heartbeat, MediaFile, PositionReport

ID = "8800000015"
LINK = b"[3G*8800000015*0002*LK]"


def connected(first: bytes = LINK) -> DeviceCodec:
    codec = CODECS["watch"]()
    codec.utc_now = lambda: datetime(2026, 5, 1, 9, 8, 7, tzinfo=UTC)
    codec.receive(first)
    return codec


@pytest.mark.parametrize(
    ("kind", "attributes", "message"),
    [
        ("positionSingle", {}, "0002*CR"),
        ("positionPeriodic", {"frequency": 600}, "000a*UPLOAD,600"),
        ("rebootDevice", {}, "0005*RESET"),
        ("powerOff", {}, "0008*POWEROFF"),
        ("sosNumber", {"index": 2, "phone": "+4930123456"}, "0010*SOS2,+4930123456"),
        ("alarmSos", {"enable": True}, "0008*SOSSMS,1"),
        ("alarmBattery", {"enable": False}, "0008*LOWBAT,0"),
        ("alarmRemove", {"enable": True}, "0008*REMOVE,1"),
        ("silenceTime", {"data": "21:10-7:30"}, "0016*SILENCETIME,21:10-7:30"),
        ("alarmClock", {"data": "8:10-1-1"}, "000f*REMIND,8:10-1-1"),
        ("setPhonebook", {"data": "123,0041"}, "000c*PHB,123,0041"),
        ("setIndicator", {"data": "3"}, "0008*FLOWER,3"),
        ("message", {"message": "Hé"}, "0010*MESSAGE,004800e9"),
        ("setTimezone", {"timezone": "Europe/Berlin"}, "0006*LZ,,+1"),
        ("setTimezone", {"timezone": "Asia/Kathmandu", "language": 0}, "000a*LZ,0,+5.75"),
        ("setTimezone", {"timezone": "America/St_Johns", "language": "1"}, "0009*LZ,1,-3.5"),
        ("setTimezone", {"timezone": "Australia/Sydney"}, "0007*LZ,,+10"),
        ("setTimezone", {"timezone": "UTC"}, "0006*LZ,,+0"),
        ("custom", {"data": "VERNO"}, "0005*VERNO"),
    ],
)
def test_commands(kind: str, attributes: dict[str, Any], message: str):
    assert connected().encode(DeviceCommand(kind, attributes)).data == f"[SG*{ID}*{message}]".encode()


def test_the_length_of_a_voice_message_counts_escaped_bytes():
    command = DeviceCommand("voiceMessage", {"data": "2321414d520a7d5b5d2c2aff"})
    content = b"TK,#!AMR\n}\x01}\x02}\x03}\x04}\x05\xff"
    assert connected().encode(command).data == b"[SG*8800000015*0014*" + content + b"]"


@pytest.mark.parametrize(
    ("first", "beginning"),
    [
        (b"[3G*8800000015*0002*LK]", b"[SG*8800000015*0002*"),
        (b"[ZJ*8800000015*0002*LK]", b"[ZJ*8800000015*0002*"),
        (b"[ZJ*8800000015*00A5*0002*LK]", b"[ZJ*8800000015*0001*0002*"),
        (b"", b"[CS*8800000015*0002*"),
    ],
)
def test_commands_have_the_form_of_the_latest_message(first: bytes, beginning: bytes):
    encoded = connected(first).encode(DeviceCommand("positionSingle", {}, ID))
    assert encoded.data == beginning + b"CR]"


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("positionPeriodic", {"frequency": 0}),
        ("positionPeriodic", {}),
        ("sosNumber", {"index": 0, "phone": "1"}),
        ("sosNumber", {"index": 1, "phone": "1]"}),
        ("alarmSos", {"enable": 1}),
        ("silenceTime", {"data": "[1]"}),
        ("setPhonebook", {"data": "é"}),
        ("message", {"message": ""}),
        ("message", {"message": "\ud800"}),
        ("message", {"message": "x" * 20_000}),
        ("voiceMessage", {"data": "xyz"}),
        ("voiceMessage", {"data": ""}),
        ("setTimezone", {"timezone": "../x"}),
        ("setTimezone", {"timezone": "Mars/Olympus"}),
        ("setTimezone", {"timezone": "UTC", "language": "de"}),
        ("custom", {"data": 5}),
    ],
)
def test_commands_that_cannot_be_sent(kind: str, attributes: dict[str, Any]):
    with pytest.raises(UnsupportedCommand):
        connected().encode(DeviceCommand(kind, attributes))


def test_commands_need_an_identity_and_time_zones_the_time():
    codec = CODECS["watch"]()
    with pytest.raises(UnsupportedCommand, match="identity"):
        codec.encode(DeviceCommand("positionSingle"))
    codec.receive(LINK)
    with pytest.raises(UnsupportedCommand, match="time"):
        codec.encode(DeviceCommand("setTimezone", {"timezone": "UTC"}))


def test_answers_repeat_maker_and_index():
    codec = connected()
    (report,) = codec.receive(b"[YJ*8800000015*00a5*0011*AL,050324,142231,V,,,,,,,,0,0,9,0,0,00000000]")
    assert isinstance(report, PositionReport)
    assert report.attributes == {"sat": 0, "rssi": 0, "batteryLevel": 9, "steps": 0, "alarm": "general"}
    assert report.receipt == b"[YJ*8800000015*00a5*0002*AL]"
    assert codec.acknowledge((report.receipt,)) == report.receipt
    assert codec.refuse(None) == b""


def test_every_byte_survives_escaping():
    content = bytes(range(256)) + b"}\x01}\x05,,"
    assert ESCAPES.decode(ESCAPES.encode(content)) == content
    assert not set(b"[],*") & set(ESCAPES.encode(content))


def part(number: int, total: int, sound: bytes, file: bytes = b"1.amr") -> bytes:
    return b"[3G*8800000015*0000*JXTK,0,%b,%d,%d,%b]" % (file, number, total, sound)


def test_a_voice_message_begins_anew_with_its_first_part():
    codec = connected()
    codec.receive(part(1, 3, b"aaa") + part(2, 3, b"bbb"))
    assert codec.buffered == 6
    *others, voice = codec.receive(part(1, 2, b"cc", b"2.amr") + part(2, 2, b"dd", b"2.amr"))
    assert [type(report) for report in others] == [Heartbeat]
    assert isinstance(voice, MediaFile)
    assert voice.content == b"ccdd"
    assert codec.buffered == 0


@pytest.mark.parametrize("numbers", [(0, 1), (2, 1), (-1, 3)])
def test_parts_with_wrong_numbers_are_rejected(numbers: tuple[int, int]):
    (report,) = connected().receive(part(*numbers, b"a"))
    assert isinstance(report, FrameRejected)


def test_parts_of_another_watch_are_not_joined():
    codec = connected()
    codec.receive(part(1, 2, b"aaa") + b"[3G*8800000016*0002*LK]")
    assert codec.buffered == 0
    assert isinstance(codec.receive(part(2, 2, b"bbb"))[-1], FrameRejected)


def test_a_voice_message_has_a_limit():
    codec = connected()
    sound = bytes(100_000)
    reports = [report for number in range(1, 12) for report in codec.receive(part(number, 99, sound))]
    assert [type(report) for report in reports] == [Heartbeat] * 10 + [FrameRejected]
    assert codec.buffered == 0
    assert 10 * len(sound) < MAX_VOICE_BYTES


def test_a_message_without_an_end_is_dropped():
    codec = connected()
    reports = codec.receive(b"[3G*8800000015*0002*LK," + bytes(MAX_FRAME_BYTES) + LINK)
    assert [type(report) for report in reports[:1]] == [FrameRejected]
    assert isinstance(reports[-1], Heartbeat)
