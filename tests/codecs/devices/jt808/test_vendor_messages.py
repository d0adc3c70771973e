"""The messages of small makers (docs/protocols/jt808-vendors.md#messages)."""

from datetime import UTC, datetime

import pytest

from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.frames import decode_frame
from motorpool.codecs.reports import (
    CommandResult,
    DeviceCommand,
    DeviceInformation,
    FrameRejected,
    Heartbeat,
    ImmediateReply,
    Login,
    PositionReport,
    UnknownMessage,
)

NOW = datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)
BCD_NOW = "240305222231"  # in GMT+8
CARD = "3730303031323334".ljust(40, "0")
VERSION = (
    b"FW 1.2".ljust(14, b"\0")
    + b"2024-03-05"
    + b"CPU".ljust(12, b"\0")
    + b"MODEM".ljust(15, b"\0")
    + b"490154203237518"
    + b"460001234567890"
    + b"8986012345678901234F"
    + b"\0\1"
    + b"LSVAU2A37N2184321"
    + (1234567).to_bytes(4, "big")
    + (8500).to_bytes(4, "big")
).hex()


@pytest.fixture
def terminal():
    return Terminal("13900001234")


@pytest.fixture
def codec():
    codec = Jt808()
    codec.utc_now = lambda: NOW
    return codec


def received(codec, terminal, message_id, body, is_2019=False):
    reports = codec.receive(terminal.message(message_id, bytes.fromhex(body)))
    return [report for report in reports if not isinstance(report, Login)]


def answer_to(codec, report):
    """Id and body of the answer to a report."""
    data = report.data if isinstance(report, ImmediateReply) else codec.acknowledge([report.receipt])
    frame = decode_frame(data[1:-1])
    return frame.message_id, frame.body.hex()


@pytest.mark.parametrize(
    ("message_id", "body", "attributes", "time"),
    [
        (0x0002, "551600", {"batteryLevel": 85, "rssi": 22, "status": 0}, None),
        (0x0002, "55160001", {"batteryLevel": 85, "rssi": 22}, None),
        (0x0105, "0007 00" + "00" * 10, {"result": "ok"}, None),
        (0x0105, "0007 20" + "00" * 10, {"result": "timeout"}, None),
        (0x0105, "0007 7f", {"result": "result 127"}, None),
        (0x0210, "55" + BCD_NOW, {"batteryLevel": 85}, NOW),
        (0x0702, "02" + BCD_NOW, {"cardStatus": 2}, NOW),
        (0x0702, "01" + BCD_NOW + "04", {"cardStatus": 1, "cardResult": 4}, NOW),
        (
            0x0702,
            "01" + BCD_NOW + "00" + "03416e6e" + CARD + "0243 41" + "20301231",
            {
                "cardStatus": 1,
                "cardResult": 0,
                "driver": "Ann",
                "cardCode": "70001234",
                "cardAgency": "CA",
                "cardValidity": "20301231",
                "driverUniqueId": "70001234",
            },
            NOW,
        ),
        # Without a name and an agency, with the number of 2019; a card that was not read names no driver.
        (
            0x0702,
            "01" + BCD_NOW + "02" + "00" + CARD + "00" + "20301231" + "00" * 20,
            {"cardStatus": 1, "cardResult": 2, "cardCode": "70001234", "cardValidity": "20301231"},
            NOW,
        ),
        (0x6006, "00" + "4f4b d6d0", {"result": "OK中"}, None),
        (0x6006, "01" + "004f 004b", {"result": "OK"}, None),
        (0x6006, "00" + "2a414243442a 4f4b", {"result": "OK"}, None),
    ],
)
def test_messages_with_a_general_answer(codec, terminal, message_id, body, attributes, time):
    (report,) = received(codec, terminal, message_id, body)
    assert report.attributes == attributes
    assert answer_to(codec, report) == (0x8001, f"0000{message_id:04x}00")
    if time is None:
        assert isinstance(report, DeviceInformation)
    else:
        assert (report.device_time, report.located) == (time, False)


@pytest.mark.parametrize(
    ("message_id", "body", "result"),
    [
        (0x0701, "00000008 534554204f4b2123", "SET OK!#"),
        (0x1300, "0003 004f004b0021000d", "OK!"),
    ],
)
def test_texts_without_an_answer(codec, terminal, message_id, body, result):
    assert received(codec, terminal, message_id, body) == [DeviceInformation({"result": result})]


def test_accelerations_have_their_sign_in_the_highest_bit(codec, terminal):
    (report,) = received(codec, terminal, 0x2070, "240305222231 000e 802d 03e8" * 2)
    assert report.attributes == {"gSensor": "[[14,-45,1000],[14,-45,1000]]"}
    assert (report.device_time, report.located, report.receipt) == (NOW, False, None)


@pytest.mark.parametrize(
    ("message_id", "body", "answer"),
    [
        (0x0004, "", (0x8004, "240305142231")),
        (0x0109, "", (0x8109, "07e803050e161f00")),
        (0x0F01, "", (0x8F01, "01" + BCD_NOW)),
        (0x0205, VERSION, (0x8205, BCD_NOW + "0000000000")),
    ],
)
def test_requests_for_the_time(codec, terminal, message_id, body, answer):
    assert answer_to(codec, received(codec, terminal, message_id, body)[-1]) == answer
    codec.utc_now = None
    assert answer_to(codec, received(codec, terminal, 0x0109, "")[-1]) == (0x8001, "0001010903")


def test_a_version_tells_of_the_vehicle(codec, terminal):
    information, _ = received(codec, terminal, 0x0205, VERSION)
    assert information.attributes == {
        "versionFw": "FW 1.2",
        "imei": "490154203237518",
        "iccid": "8986012345678901234",
        "vin": "LSVAU2A37N2184321",
        "odometer": 1234567,
        "fuelUsed": 8.5,
    }


def test_locations_behind_lengths_of_one_byte(codec, terminal):
    bodies = [encode_location(1, longitude, NOW, items=b"\x30\x01\x16") for longitude in (2, 3)]
    body = b"".join(bytes((len(body),)) + body for body in bodies)
    first, second = received(codec, terminal, 0x0210, body.hex())
    assert [report.longitude for report in (first, second)] == [2, 3]
    assert first.receipt is None
    assert second.attributes["rssi"] == 22
    assert answer_to(codec, second) == (0x8001, "0000021000")
    assert isinstance(received(codec, terminal, 0x0210, body.hex() + "00")[0], UnknownMessage)


@pytest.mark.parametrize("message_id", [0x0120, 0x020A, 0x0506, 0x1007, 0x8888])
def test_messages_of_unknown_layout_are_answered_and_kept_on_demand(codec, terminal, message_id):
    (report,) = received(codec, terminal, message_id, "01020304")
    assert isinstance(report, UnknownMessage)
    assert report.kind == f"0x{message_id:04x}"
    assert bytes.fromhex("01020304") in report.content
    assert answer_to(codec, report) == (0x8001, f"0000{message_id:04x}00")


def test_other_heartbeats_remain_heartbeats(codec, terminal):
    for body in ("", "5516", "ff1600"):
        (report,) = received(codec, terminal, 0x0002, body)
        assert isinstance(report, Heartbeat)


@pytest.mark.parametrize(("message_id", "body"), [(0x0205, "00" * 127), (0x0702, "01"), (0x2070, "00" * 13)])
def test_truncated_messages_are_refused(codec, terminal, message_id, body):
    rejected, reply = received(codec, terminal, message_id, body)
    assert isinstance(rejected, FrameRejected)
    assert answer_to(codec, reply) == (0x8001, f"0000{message_id:04x}02")


def test_the_answer_of_a_control_command_is_its_result(codec, terminal):
    codec.receive(terminal.heartbeat())
    reference = codec.encode(DeviceCommand("engineStop")).reference
    (result,) = received(codec, terminal, 0x0105, "0000 04")
    assert (result.reference, result.ok, result.text) == (reference, False, "moving")
    assert isinstance(result, CommandResult)


def test_positions_of_a_message_are_of_the_model(codec, terminal):
    codec.receive(terminal.heartbeat())
    codec.configure("G10LS", {})
    body = encode_location(1, 2, NOW, alarm=1 << 17)
    (report,) = received(codec, terminal, 0x0210, (bytes((len(body),)) + body).hex())
    assert isinstance(report, PositionReport)
    assert report.attributes["alarm"] == "removing"


# Registration and authentication of small trackers


def test_a_registration_of_2011_may_lack_the_plate(codec, terminal):
    body = b"\0\x2c\1\x2c" + b"MAKER" + b"MODEL-11" + b"TID0001" + b"\2"
    (login,) = codec.receive(terminal.message(0x0100, body))
    assert (login.attributes["model"], login.attributes["terminalId"]) == ("MODEL-11", "TID0001")
    assert "plate" not in login.attributes
    assert codec.acknowledge([login.receipt])[1:3] == b"\x81\0"


def test_a_registration_of_2019_may_end_with_zeros_and_hold_any_bytes(codec):
    terminal = Terminal("13900001234", 2019)
    body = b"\0\x2c\1\x2c" + b"\xff\xfe".ljust(11, b"\0") + b"M".ljust(30, b"\0") + b"T" * 30 + b"\1"
    (login,) = codec.receive(terminal.message(0x0100, body + b"P1" + bytes(16)))
    assert login.attributes["plate"] == "P1"


@pytest.mark.parametrize("version", [2013, 2019])
@pytest.mark.parametrize("code", [b"", b"13900001234", b"TWpVMk5qWTJOalky" * 20, bytes(range(256))])
def test_any_code_authenticates(codec, code, version):
    terminal = Terminal("13900001234", version)
    (login,) = codec.receive(terminal.message(0x0102, code))
    assert isinstance(login, Login)
    assert answer_of(codec, login) == 0x8001


def answer_of(codec, login):
    return decode_frame(codec.acknowledge([login.receipt])[1:-1]).message_id


def test_attributes_of_2013_hold_the_iccid(codec, terminal):
    body = "0001" + "00" * 32 + "89860012345678901234" + "01" + "48" + "01" + "46" + "0301"
    (report,) = received(codec, terminal, 0x0107, body)
    assert report.attributes == {"iccid": "89860012345678901234", "versionHw": "H", "versionFw": "F"}
    (report,) = received(codec, terminal, 0x0107, body[:88])
    assert report.attributes == {"iccid": "89860012345678901234"}
    assert answer_to(codec, report) == (0x8001, "0001010700")
