"""TK103: answers, datagrams, device settings and commands."""

from typing import Any

import pytest

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, FrameRejected, Heartbeat, Login, PositionReport, Report

PLACE = "240305A2234.3860N11355.2780E047.0142231092.00"
FRAME = f"(013912345678BR00{PLACE}01000000L00004E20)"


def connected(**attributes: Any) -> DeviceCodec:
    codec = CODECS["tk103"]()
    codec.receive(b"(013912345678BP00353358017784062HSO)")
    codec.configure("", attributes)
    return codec


def position(reports: list[Report]) -> PositionReport:
    (report,) = (report for report in reports if not isinstance(report, Login))
    assert isinstance(report, PositionReport), report
    return report


def test_handshakes_and_logins_are_answered():
    codec = CODECS["tk103"]()
    (login,) = codec.receive(b"(013912345678BP00353358017784062HSO)")
    assert login == Login(("013912345678",), b"(013912345678AP01HSO)")
    report = position(codec.receive(f"(013912345678BP05353358017784062{PLACE})".encode()))
    assert report.receipt is not None
    assert codec.acknowledge((b"(013912345678AP01HSO)", report.receipt)) == (
        b"(013912345678AP01HSO)(013912345678AP05)"
    )


def test_a_refused_device_identifies_itself_again():
    codec = connected()
    assert codec.refuse(b"(013912345678AP01HSO)") == b""
    (login,) = codec.receive(b"(013912345678BP00353358017784062HSO)")
    assert isinstance(login, Login)


@pytest.mark.parametrize(
    "data", [FRAME, FRAME[1:-1], FRAME[1:], FRAME[:-1], f"{FRAME}\r\n", f"{FRAME[1:-1]}\r\n"]
)
def test_a_datagram_may_lack_its_parentheses(data: str):
    codec = CODECS["tk103"]()
    login, report = codec.receive_datagram(data.encode())
    assert login == Login(("013912345678",))
    assert isinstance(report, PositionReport)
    assert report.speed == pytest.approx(25.377979)
    assert report.attributes["odometer"] == 20000
    assert codec.buffered == 0


@pytest.mark.parametrize("data", [b"", b"(", b")", b"$", bytes(40), b"A" * 2000])
def test_datagrams_that_are_no_frames_name_no_device(data: bytes):
    assert not [each for each in CODECS["tk103"]().receive_datagram(data) if isinstance(each, Login)]


def test_low_inputs_are_kept_where_the_device_wants_it():
    names = {"blocked", "hs1", "hs2", "hs3", "door", "ls1", "ls2", "ls3"}
    assert not names & position(connected().receive(FRAME.encode())).attributes.keys()
    attributes = position(connected(**{"tk103.decodeLow": True}).receive(FRAME.encode())).attributes
    assert {name: attributes[name] for name in names} == dict.fromkeys(names, 0)
    assert attributes["blocked"] is attributes["door"] is False


@pytest.mark.parametrize(("unit", "knots"), [("kmh", 25.377979), ("kn", 47.0), ("mph", 40.841872)])
def test_the_unit_of_speeds_is_an_attribute_of_the_device(unit: str, knots: float):
    report = position(connected(**{"tk103.speed": unit}).receive(FRAME.encode()))
    assert report.speed == pytest.approx(knots)


def test_the_stream_goes_on_after_a_frame_without_an_end():
    codec = connected()
    reports = codec.receive(b"(" + b"1" * 2000 + FRAME.encode())
    assert any(isinstance(report, FrameRejected) for report in reports)
    assert isinstance(reports[-1], PositionReport)


def test_a_login_without_a_place_is_answered():
    assert connected().receive(b"(013912345678BP05)") == [Heartbeat(b"(013912345678AP05)")]


@pytest.mark.parametrize(
    ("kind", "attributes", "text"),
    [
        ("positionSingle", {}, "AP00"),
        ("positionPeriodic", {"frequency": 30}, "AR00001E0000"),
        ("positionStop", {}, "AR0000000000"),
        ("getVersion", {}, "AP07"),
        ("rebootDevice", {}, "AT00"),
        ("setOdometer", {}, "AX01"),
        ("engineStop", {}, "AV010"),
        ("engineResume", {}, "AV011"),
        ("outputControl", {"data": "1"}, "AV001"),
        ("outputControl", {"data": 11}, "AV0011"),
        ("custom", {"data": "AP07"}, "AP07"),
    ],
)
def test_commands(kind: str, attributes: dict[str, Any], text: str):
    assert connected().encode(DeviceCommand(kind, attributes)).data == f"(013912345678{text})".encode()


@pytest.mark.parametrize(
    ("kind", "attributes", "text"),
    [
        ("getVersion", {}, "*about*"),
        ("powerOff", {}, "*turnoff*"),
        ("rebootDevice", {}, "88888888"),
        ("positionSingle", {}, "*getposl*"),
        ("positionPeriodic", {"frequency": 30}, "*routetrack*99*"),
        ("positionStop", {}, "*routetrackoff*"),
        ("getDeviceStatus", {}, "*status*"),
        ("deviceIdentification", {}, "999999"),
        ("modeDeepSleep", {"enable": True}, "*sleep*2*"),
        ("modeDeepSleep", {"enable": False}, "*sleepoff*"),
        ("modePowerSaving", {"enable": True}, "*sleepv*"),
        ("modePowerSaving", {"enable": False}, "*sleepoff*"),
        ("alarmSos", {"enable": True}, "*soson*"),
        ("alarmSos", {"enable": False}, "*sosoff*"),
        ("setConnection", {"server": "203.0.113.5", "port": 5002}, "*setip*203*0*113*5*5002*"),
        ("sosNumber", {"phone": "13912345678"}, "*master*123456*13912345678*"),
        ("custom", {"data": "*about*"}, "*about*"),
    ],
)
def test_commands_of_other_devices(kind: str, attributes: dict[str, Any], text: str):
    codec = connected(**{"tk103.alternative": True})
    assert codec.encode(DeviceCommand(kind, attributes)).data == f"[begin]sms2,{text},[end]".encode()


def test_other_devices_get_the_usual_form_of_other_commands():
    codec = connected(**{"tk103.alternative": True})
    assert codec.encode(DeviceCommand("engineStop")).data == b"(013912345678AV010)"


def test_the_password_is_that_of_the_device():
    codec = connected(**{"tk103.alternative": True, "devicePassword": "0000"})
    assert (
        codec.encode(DeviceCommand("sosNumber", {"phone": "1"})).data == b"[begin]sms2,*master*0000*1*,[end]"
    )


@pytest.mark.parametrize(
    ("kind", "attributes", "alternative"),
    [
        ("positionPeriodic", {"frequency": 0}, False),
        ("positionPeriodic", {"frequency": 65536}, False),
        ("positionPeriodic", {}, False),
        ("outputControl", {}, False),
        ("outputControl", {"data": "1)"}, False),
        ("custom", {"data": "\n"}, False),
        ("powerOff", {}, False),
        ("alarmSos", {"enable": True}, False),
        ("alarmSos", {}, True),
        ("setConnection", {"server": "example.com", "port": 1}, True),
        ("setConnection", {"server": "203.0.113.5", "port": 0}, True),
        ("sosNumber", {"phone": "one"}, True),
    ],
)
def test_commands_that_cannot_be_sent(kind: str, attributes: dict[str, Any], alternative: bool):
    with pytest.raises(UnsupportedCommand):
        connected(**{"tk103.alternative": alternative}).encode(DeviceCommand(kind, attributes))
