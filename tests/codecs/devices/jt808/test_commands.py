import pytest

from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.commands import custom_bytes, encode_command
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.devices.jt808.video_commands import VideoContext
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, MediaAddress

CONTEXT = VideoContext(TerminalClock(), None)


def encoded(command, *, is_2019=False, **attributes):
    command = DeviceCommand(command, attributes, media=MediaAddress("10.0.0.1", 1078, 1079))
    message_id, body = encode_command(command, CONTEXT, is_2019=is_2019)
    return f"{message_id:04x}", body.hex()


@pytest.mark.parametrize(
    ("command", "attributes", "message_id", "body"),
    [
        ("positionSingle", {}, "8201", ""),
        ("positionPeriodic", {"frequency": 30}, "8103", "0100000029040000001e"),
        ("positionPeriodic", {"frequency": 5, "duration": 600}, "8202", "000500000258"),
        ("positionStop", {}, "8202", "000000000000"),
        ("powerOff", {}, "8105", "03"),
        ("rebootDevice", {}, "8105", "04"),
        ("factoryReset", {}, "8105", "05"),
        ("getDeviceStatus", {}, "8104", ""),
        ("getVersion", {}, "8107", ""),
        ("deviceIdentification", {}, "8107", ""),
        ("setOdometer", {"data": "184460"}, "8103", "01000000800400000734"),
        ("setSpeedLimit", {"data": 80}, "8103", "01000000550400000050"),
        (
            "setConnection",
            {"server": "10.1.1.1", "port": 5015},
            "8103",
            "02000000130831302e312e312e31000000180400001397",
        ),
        ("configuration", {}, "8104", ""),
        ("configuration", {"data": "heartbeatSeconds=60"}, "8103", "0100000001040000003c"),
        ("requestPhoto", {"index": 2}, "8801", "020001000000020580404080"),
        ("message", {"message": "你好"}, "8300", "0cc4e3bac3"),
        ("videoStop", {"channel": 2}, "9102", "02000000"),
        ("videoStart", {}, "9101", "0831302e302e302e3104360000010000"),
    ],
)
def test_commands_as_messages(command, attributes, message_id, body):
    assert encoded(command, **attributes) == (message_id, body)


def test_a_text_of_2019_is_marked_as_a_notice():
    assert encoded("message", is_2019=True, message="hi", flags=4) == ("8300", "04016869")


@pytest.mark.parametrize(
    ("command", "attributes", "error"),
    [
        ("positionPeriodic", {"frequency": 0}, "frequency"),
        ("positionPeriodic", {"frequency": "soon"}, "frequency"),
        ("setConnection", {"port": 1}, "server is required"),
        ("setConnection", {"server": "x"}, "port must be"),
        ("setOdometer", {}, "data must be"),
        ("setSpeedLimit", {"data": 999}, "from 0 to 255"),
        ("message", {}, "message is required"),
        ("message", {"message": "字" * 501}, "longer than 1000 bytes"),
        ("requestPhoto", {"channel": 40}, "from 1 to 31"),
        ("alarmArm", {}, "no message for alarmArm"),
    ],
)
def test_wrong_commands_are_refused_with_a_sentence(command, attributes, error):
    with pytest.raises(UnsupportedCommand, match=error):
        encoded(command, **attributes)


def test_custom_is_message_id_and_body_in_hex():
    assert custom_bytes(DeviceCommand("custom", {"data": "81 05 04"})) == b"\x81\x05\x04"


@pytest.mark.parametrize("data", ["", "8", "81", "hello", None])
def test_custom_without_a_message_id_is_refused(data):
    with pytest.raises(UnsupportedCommand, match="hex digits"):
        custom_bytes(DeviceCommand("custom", {"data": data}))


def test_the_commands_of_the_specification_are_there():
    assert {
        "custom",
        "positionSingle",
        "positionPeriodic",
        "positionStop",
        "engineStop",
        "engineResume",
        "rebootDevice",
        "requestPhoto",
        "message",
        "videoStart",
        "videoStop",
        "videoPlaybackList",
        "videoPlayback",
        "videoPlaybackControl",
    } <= Jt808.commands
