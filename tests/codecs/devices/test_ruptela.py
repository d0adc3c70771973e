"""Ruptela: the bytes of commands and answers, passwords, photos, and frames whose length is wrong."""

from typing import Any

import fastcrc
import pytest

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.ruptela.photos import MAX_PHOTO_BYTES
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    FrameRejected,
    Heartbeat,
    ImmediateReply,
    Login,
    MediaFile,
    PositionReport,
    Report,
)

IMEI = (353358017784062).to_bytes(8, "big")
SAMPLE = bytes.fromhex(
    "0032000141609320E8FE01000165E72AA700000F11604820989AC004B424220B00390807020201FB01011D33C601410002D09300"
    "A83D"
)


def crc(body: bytes) -> bytes:
    return fastcrc.crc16.kermit(body).to_bytes(2, "big")


def frame(command: int, payload: bytes = b"") -> bytes:
    body = IMEI + bytes((command,)) + payload
    return len(body).to_bytes(2, "big") + body + crc(body)


def of_server(command: int, payload: bytes) -> bytes:
    body = bytes((command,)) + payload
    return len(body).to_bytes(2, "big") + body + crc(body)


def connected(**attributes: Any) -> DeviceCodec:
    codec = CODECS["ruptela"]()
    codec.receive(frame(16))
    codec.configure("", attributes)
    return codec


def receipts(reports: list[Report]) -> list[Any]:
    return [getattr(report, "receipt", None) for report in reports]


def test_a_packet_is_answered_once_it_is_stored():
    codec = CODECS["ruptela"]()
    login, position = codec.receive(SAMPLE)
    assert login == Login(("353358017784062",))
    assert isinstance(position, PositionReport)
    assert (position.latitude, position.longitude) == pytest.approx((54.6872, 25.2797))
    assert position.receipt is not None
    assert codec.acknowledge([position.receipt]) == bytes.fromhex("0002640113BC")


def test_identification_and_heartbeat_are_answered():
    codec = connected()
    assert codec.acknowledge(receipts(codec.receive(frame(15)))) == bytes.fromhex("00027301CB25")
    assert codec.acknowledge(receipts(codec.receive(frame(16)))) == of_server(0x74, b"\x01")


def test_a_refused_device_gets_no_answer():
    codec = CODECS["ruptela"]()
    assert codec.refuse(None) == b""
    assert codec.receive(frame(16))[0] == Login(("353358017784062",))


@pytest.mark.parametrize(
    ("kind", "attributes", "command", "payload"),
    [
        ("engineStop", {}, 108, b"pass immobilizer 10"),
        ("engineResume", {}, 108, b"pass resetimmob"),
        ("requestPhoto", {}, 137, bytes.fromhex("0100000000007FFFFFFF")),
        ("configuration", {"data": "@cfg_set#1"}, 102, b"@cfg_set#1\r\n"),
        ("getVersion", {}, 103, b""),
        ("firmwareUpdate", {}, 104, b"|FU_STRT*\r\n"),
        ("setConnection", {"server": "example.com", "port": 5046}, 105, b"example.com,5046,TCP"),
        ("setOdometer", {"data": "184460"}, 106, bytes.fromhex("0002D08C")),
        ("outputControl", {"index": 2, "data": "1"}, 117, bytes.fromhex("0000000200000001")),
        ("custom", {"data": "pass getio 1"}, 108, b"pass getio 1"),
        ("custom", {"data": "abc"}, 108, b"abc"),
    ],
)
def test_commands(kind: str, attributes: dict[str, Any], command: int, payload: bytes):
    assert connected().encode(DeviceCommand(kind, attributes)).data == of_server(command, payload)


def test_the_bytes_of_a_command_to_stop_the_engine():
    expected = bytes.fromhex("00146C7061737320696D6D6F62696C697A6572203130BC22")
    assert connected().encode(DeviceCommand("engineStop")).data == expected


def test_hexadecimal_digits_are_a_whole_frame():
    sent = connected().encode(DeviceCommand("custom", {"data": "00027301cb25"})).data
    assert sent == bytes.fromhex("00027301CB25")


def test_text_messages_have_the_password_of_the_device():
    sent = connected(devicePassword="s3cret").encode(DeviceCommand("engineResume")).data
    assert sent == of_server(108, b"s3cret resetimmob")
    with pytest.raises(UnsupportedCommand):
        connected(devicePassword="ü").encode(DeviceCommand("engineStop"))


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("custom", {}),
        ("custom", {"data": ""}),
        ("custom", {"data": "größer"}),
        ("configuration", {"data": 5}),
        ("configuration", {"data": "x" * 5000}),
        ("setConnection", {"server": "a,b", "port": 1}),
        ("setConnection", {"server": "example.com", "port": 0}),
        ("setConnection", {"server": "example.com", "port": 65536}),
        ("setOdometer", {"data": -1}),
        ("setOdometer", {"data": 1 << 32}),
        ("outputControl", {"data": 1}),
        ("outputControl", {"index": 1}),
    ],
)
def test_commands_that_cannot_be_sent(kind: str, attributes: dict[str, Any]):
    with pytest.raises(UnsupportedCommand):
        connected().encode(DeviceCommand(kind, attributes))


def photo_part(total: int, current: int, content: bytes, name: bytes = b"photo001") -> bytes:
    numbers = total.to_bytes(2, "big") + current.to_bytes(2, "big")
    return frame(37, b"\x02\x01" + name + numbers + content)


def test_each_part_of_a_photo_is_asked_for():
    codec = connected()
    (reply,) = codec.receive(photo_part(2, 0, b"\xff\xd8"))
    assert reply == ImmediateReply(of_server(137, b"\x02\x01photo001\x00\x01"))
    assert codec.buffered == 2
    assert codec.receive(photo_part(2, 1, b"\xff\xd9")) == [MediaFile("image", "jpg", b"\xff\xd8\xff\xd9")]
    assert codec.buffered == 0


def test_another_photo_replaces_one_that_is_not_complete():
    codec = connected()
    codec.receive(photo_part(3, 0, b"a") + photo_part(3, 1, b"b"))
    codec.receive(photo_part(2, 0, b"c", b"photo002"))
    assert codec.receive(photo_part(2, 1, b"d", b"photo002")) == [MediaFile("image", "jpg", b"cd")]


def test_a_photo_that_is_sent_again_begins_anew():
    codec = connected()
    codec.receive(photo_part(3, 0, b"a") + photo_part(3, 1, b"b") + photo_part(3, 0, b"A"))
    codec.receive(photo_part(3, 1, b"B"))
    assert codec.receive(photo_part(3, 2, b"C")) == [MediaFile("image", "jpg", b"ABC")]


def test_photos_are_bounded():
    codec = connected()
    reports: list[Report] = []
    for number in range(30):
        reports += codec.receive(photo_part(100, number, bytes(60_000)))
    assert any(isinstance(report, FrameRejected) for report in reports)
    assert codec.buffered <= MAX_PHOTO_BYTES


def test_a_wrong_crc_is_counted():
    codec = connected()
    (report,) = codec.receive(SAMPLE[:-1] + b"\x00")
    assert isinstance(report, PositionReport)
    assert codec.checksum_errors == 1
    codec.strict_checksums = True
    (rejection,) = codec.receive(SAMPLE[:-1] + b"\x00")
    assert isinstance(rejection, FrameRejected)


@pytest.mark.parametrize("excess", [2, 4])
def test_the_crc_shows_where_a_frame_with_a_wrong_length_ends(excess: int):
    codec = connected()
    length = int.from_bytes(SAMPLE[:2], "big") + excess
    reports = codec.receive(length.to_bytes(2, "big") + SAMPLE[2:] + frame(16))
    assert [type(report) for report in reports] == [PositionReport, Heartbeat]
    assert codec.checksum_errors == 0


def test_a_frame_that_was_cut_off_does_not_take_the_next_one_with_it():
    for size in range(11, len(SAMPLE) - 4):
        codec = connected()
        *_, last = codec.receive(SAMPLE[:size] + SAMPLE + SAMPLE)
        assert isinstance(last, PositionReport), size
        assert last.receipt == bytes.fromhex("0002640113BC")
