"""Commands by model and by attributes of the device (docs/protocols/jt808-vendors.md#commands)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.frames import Identity, decode_frame, encode_frame
from motorpool.codecs.devices.jt808.sent_commands import TEXT_ANSWER_SECONDS
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    REQUEST_ALARM_FILES,
    CommandResult,
    DeviceCommand,
    DeviceInformation,
    Login,
    MediaAddress,
)

NOW = datetime(2024, 3, 5, 6, 22, 31, tzinfo=UTC)  # 14:22:31 in GMT+8
E7_ID = Identity.from_digits("12345678901234", is_2019=False, is_e7=True)


@pytest.fixture
def terminal():
    return Terminal("13900001234")


@pytest.fixture
def codec(terminal):
    return connected(terminal)


def connected(terminal):
    codec = Jt808()
    codec.utc_now = lambda: NOW
    codec.receive(terminal.heartbeat())
    return codec


def received(codec, terminal, message_id, body):
    reports = codec.receive(terminal.message(message_id, bytes.fromhex(body)))
    return [report for report in reports if not isinstance(report, Login)]


def encoded(codec, command, **attributes):
    return codec.encode(DeviceCommand(command, attributes)).data.hex()


@pytest.mark.parametrize(
    ("model", "command", "data", "expected"),
    [
        ("", "engineStop", "", "7e81050001013900001234000064ff7e"),
        ("VL300", "engineStop", "", "7e81050004013900001234000023303b31877e"),
        ("AL300", "custom", "AT+GMR", "7e8103000c0139000012340000010000f0300641542b474d52317e"),
        ("BSJ", "custom", "STATUS#", "7e8300000801390000123400000153544154555323a37e"),
        ("JC450", "custom", "STATUS", "7e890000070139000012340000f0535441545553747e"),
    ],
)
def test_frames_of_commands(codec, model, command, data, expected):
    codec.configure(model, {})
    assert encoded(codec, command, data=data) == expected


@pytest.mark.parametrize(
    ("model", "attributes", "command", "data", "message_id", "body"),
    [
        ("W15L", {}, "engineResume", {}, 0x8105, b"\x65"),
        ("VL300", {}, "engineResume", {}, 0x8105, b"#0;0"),
        ("", {"jt808.engine": "F0"}, "engineStop", {}, 0x8105, b"\xf0"),
        ("", {"jt808.engine": "f0"}, "engineResume", {}, 0x8105, b"\xf1"),
        ("VL300", {"jt808.engine": "64"}, "engineStop", {}, 0x8105, b"\x64"),
        ("", {"jt808.engine": "HOL"}, "engineStop", {}, 0x8105, b"\x90\x01" + bytes(10)),
        ("", {"jt808.engine": "hol"}, "engineResume", {}, 0x8105, b"\x91\x01" + bytes(10)),
        ("", {"jt808.alternative": True}, "engineStop", {}, 0xA006, b"\x01\x24\x03\x05\x14\x22\x31"),
        ("", {"jt808.alternative": True}, "engineResume", {}, 0xA006, b"\0\x24\x03\x05\x14\x22\x31"),
        ("", {}, "alarmArm", {}, 0x8105, b"\x66"),
        ("G10LS", {}, "alarmDisarm", {}, 0x8105, b"\x67"),
        ("S21L", {}, "alarmArm", {}, 0x8105, b"\x0b"),
        ("S21L", {}, "alarmDisarm", {}, 0x8105, b"\x0c"),
        ("", {"jt808.alternative": True}, "alarmArm", {}, 0x0310, b"\x01\x24\x05\x01user"),
        ("", {"jt808.alternative": True}, "alarmDisarm", {}, 0x0310, b"\x01\x24\x05\0user"),
        ("", {"jt808.alternative": True}, "rebootDevice", {}, 0x0310, b"\x01\x23\x01\x03"),
        ("", {"jt808.alternative": "true"}, "positionPeriodic", {}, 0x0310, b"\x01\x06\x04\0\0\0\x1e"),
        ("", {"jt808.alternative": False}, "rebootDevice", {}, 0x8105, b"\x04"),
        ("", {}, "factoryReset", {}, 0x8105, b"\x05"),
        ("", {}, "powerOff", {}, 0x8105, b"\x03"),
        ("BSJ", {}, "positionSingle", {}, 0x8201, b""),
        ("GL100", {}, "custom", {"data": "AT"}, 0x8103, b"\x01\0\0\xf0\x30\x02AT"),
        ("VL300", {}, "custom", {"data": "AT"}, 0x8103, b"\x01\0\0\xf0\x30\x02AT"),
        ("C5", {}, "custom", {"data": "AT"}, 0x8300, b"\x01AT"),
        ("C5L", {}, "custom", {"data": "\u4e2d"}, 0x8300, b"\x01\xd6\xd0"),
        ("G10LS", {}, "custom", {"data": "AT"}, 0x8300, b"\x02AT"),
        ("BSJ", {"devicePassword": "BSJGPS"}, "custom", {"data": "AT"}, 0x8300, b"\x01<SPBSJ*P:BSJGPS*AT>"),
        ("BSJ", {"devicePassword": "x"}, "custom", {"data": "<AT>"}, 0x8300, b"\x01<AT>"),
        ("JC999", {}, "custom", {"data": "AT"}, 0x8900, b"\xf0AT"),
        ("", {"jt808.custom": "control"}, "custom", {"data": "AT"}, 0x8900, b"\xf0AT"),
        ("BSJ", {"jt808.custom": "hex"}, "custom", {"data": "810504"}, 0x8105, b"\x04"),
        ("", {}, "custom", {"data": "8105 04"}, 0x8105, b"\x04"),
    ],
)
def test_commands_by_model_and_attributes(codec, model, attributes, command, data, message_id, body):
    codec.configure(model, attributes)
    frame = decode_frame(codec.encode(DeviceCommand(command, data)).data.strip(b"~"))
    assert (frame.message_id, frame.body) == (message_id, body)


def test_frames_of_the_old_family():
    codec = connected(Terminal("13900001234"))
    codec.configure("", {"jt808.alternative": True})
    assert encoded(codec, "positionPeriodic", frequency=30) == (
        "7e0310000701390000123400000106040000001e177e"
    )


def test_an_e7_device_gets_its_own_message_in_a_frame_of_its_own():
    codec = Jt808()
    codec.utc_now = lambda: NOW
    codec.receive(encode_frame(E7_ID, 0x0002, 1, b""))
    assert encoded(codec, "engineStop") == "e7a0060007123456789012340000012403051422313be7"


def test_the_time_of_a_command_is_in_the_zone_of_the_device(codec):
    codec.set_timezone(timezone(timedelta(hours=1)))
    codec.configure("", {"jt808.alternative": True})
    assert "01240305072231" in encoded(codec, "engineStop")
    codec.utc_now = None
    with pytest.raises(UnsupportedCommand, match="time"):
        encoded(codec, "engineStop")


def test_whole_frames_are_sent_as_they_are_to_any_model(codec):
    codec.configure("BSJ", {})
    for frame in ("7e0001027e", "e7000102e7"):
        assert encoded(codec, "custom", data=frame) == frame


def test_a_text_of_2019_has_a_kind_behind_its_flags():
    codec = connected(Terminal("13900001234", 2019))
    codec.configure("G10LS", {})
    frame = decode_frame(codec.encode(DeviceCommand("custom", {"data": "AT"})).data.strip(b"~"))
    assert frame.body == b"\x02\x01AT"


@pytest.mark.parametrize(
    ("attributes", "command", "data", "error"),
    [
        ({"jt808.engine": "100"}, "engineStop", "", "jt808.engine must be"),
        ({"jt808.custom": "text"}, "custom", "AT", "jt808.custom must be"),
        ({"jt808.custom": "control"}, "custom", "", "data is required"),
        ({"jt808.custom": "control"}, "custom", "\u4e2d", "ASCII"),
        ({"jt808.custom": "parameter"}, "custom", "A" * 256, "longer than 255"),
        ({"jt808.custom": "message"}, "custom", "A" * 1001, "longer than 1000"),
    ],
)
def test_what_cannot_be_encoded_is_refused_with_a_sentence(codec, attributes, command, data, error):
    codec.configure("", attributes)
    with pytest.raises(UnsupportedCommand, match=error):
        encoded(codec, command, data=data)


def test_a_dashcam_is_asked_by_a_text_for_the_files_of_an_alarm(codec):
    codec.configure("JC371", {})
    label, media = "31323334353637240305142231010400", MediaAddress("203.0.113.5", 1078, 1079, 5015)
    command = DeviceCommand(REQUEST_ALARM_FILES, {"label": label}, media=media)
    frame = decode_frame(codec.encode(command).data.strip(b"~"))
    assert frame.message_id == 0x8900
    assert frame.body == b"\xf0VIDEOUPLOAD,203.0.113.5,5015," + label.encode() + b",1-2-3,2"
    for wrong in (
        DeviceCommand(REQUEST_ALARM_FILES, {"label": "zz"}, media=media),
        DeviceCommand(REQUEST_ALARM_FILES, {"label": label}),
    ):
        with pytest.raises(UnsupportedCommand):
            codec.encode(wrong)


def sent_text(codec, text):
    return codec.encode(DeviceCommand("custom", {"data": text})).reference


def test_texts_are_answered_in_their_order(codec, terminal):
    codec.configure("BSJ", {})
    first, second = sent_text(codec, "STATUS#"), sent_text(codec, "PARAM#")
    assert received(codec, terminal, 0x0001, "0000830000") == [CommandResult(first, ok=True, text="ok")]
    (result,) = received(codec, terminal, 0x6006, "004f4b")
    assert (result.reference, result.ok, result.text) == (first, True, "OK")
    assert received(codec, terminal, 0x1300, "0000004f") == [CommandResult(second, ok=True, text="O")]
    assert received(codec, terminal, 0x1300, "0000004f") == [DeviceInformation({"result": "O"})]


def test_a_text_without_an_answer_is_forgotten(codec, terminal):
    codec.configure("BSJ", {})
    sent_text(codec, "STATUS#")
    codec.tick(100.0)
    codec.tick(100.0 + TEXT_ANSWER_SECONDS)
    assert received(codec, terminal, 0x6006, "004f4b")[0].attributes == {"result": "OK"}
