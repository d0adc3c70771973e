"""H02: answers with the time, datagrams, long identities and commands."""

from datetime import UTC, datetime
from typing import Any

import pytest

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, FrameRejected, Login, PositionReport

LOCATION = "142231,A,2234.3860,N,11355.2780,E,047.00,092,050324,FFFFFFFF#"
PACKED = "1422310503242234386005113552780E047092FFFFFFFF"


def connected(**attributes: Any) -> DeviceCodec:
    codec = CODECS["h02"]()
    codec.utc_now = lambda: datetime(2026, 5, 1, 9, 8, 7, tzinfo=UTC)
    codec.receive(b"*HQ,8612345678,V0#")
    codec.configure("", attributes)
    return codec


def receipt(codec: DeviceCodec, frame: bytes) -> object:
    (report,) = codec.receive(frame)
    assert isinstance(report, PositionReport), report
    return report.receipt


def test_answers_have_the_time():
    codec = connected()
    assert receipt(codec, f"*HQ,8612345678,V1,{LOCATION}".encode()) == b"*HQ,8612345678,V4,V1,20260501090807#"
    assert receipt(codec, f"*HQ,8612345678,V6,{LOCATION}".encode()) is None
    cells = b"*HQ,8612345678,NBR,142231,460,0,0,1,10365,8120,78,050324,FFFFFFFF#"
    assert receipt(codec, cells) == b"*HQ,8612345678,V4,NBR,20260501090807#"


def test_other_locations_are_answered_where_the_device_wants_it():
    codec = connected(**{"h02.ack": True})
    answer = b"*HQ,8612345678,R12,090807#"
    assert receipt(codec, f"*HQ,8612345678,V6,{LOCATION}".encode()) == answer
    assert receipt(codec, bytes.fromhex(f"248612345678{PACKED}000001")) == answer


@pytest.mark.parametrize(
    ("identity", "tail", "expected"),
    [
        ("8612345678", "000001", "8612345678"),
        ("8612345678", "00" * 16, "8612345678"),
        ("3533580177840620", "00" * 10, "353358017784062"),
    ],
)
def test_a_datagram_is_one_frame_of_any_length(identity: str, tail: str, expected: str):
    codec = CODECS["h02"]()
    login, report = codec.receive_datagram(bytes.fromhex(f"24{identity}{PACKED}{tail}"))
    assert login == Login((expected,))
    assert isinstance(report, PositionReport)
    assert (report.latitude, report.longitude) == pytest.approx((22.5731, 113.9213))


def test_a_long_identity_over_tcp_is_told_by_the_place_of_the_date():
    codec = CODECS["h02"]()
    login, report, *rest = codec.receive(bytes.fromhex(f"243533580177840620{PACKED}") + b"*HQ,1,V0#")
    assert login == Login(("353358017784062",))
    assert isinstance(report, PositionReport)
    assert not any(isinstance(each, FrameRejected) for each in rest)


@pytest.mark.parametrize("data", [b"$", b"$" + bytes(31), b"*HQ,8612345678", b"\x00" * 40])
def test_datagrams_that_are_no_frames_name_no_device(data: bytes):
    assert not [each for each in CODECS["h02"]().receive_datagram(data) if isinstance(each, Login)]


@pytest.mark.parametrize(
    ("kind", "attributes", "text"),
    [
        ("alarmArm", {}, "SCF,090807,0,0"),
        ("alarmDisarm", {}, "SCF,090807,1,1"),
        ("engineStop", {}, "S20,090807,1,1"),
        ("engineResume", {}, "S20,090807,1,0"),
        ("positionPeriodic", {"frequency": 30}, "S71,090807,22,30"),
    ],
)
def test_commands(kind: str, attributes: dict[str, Any], text: str):
    assert connected().encode(DeviceCommand(kind, attributes)).data == f"*HQ,8612345678,{text}#".encode()


def test_an_interval_of_other_devices():
    codec = connected(**{"h02.alternative": True})
    encoded = codec.encode(DeviceCommand("positionPeriodic", {"frequency": 30}))
    assert encoded.data == b"*HQ,8612345678,D1,090807,30#"


@pytest.mark.parametrize("frequency", [None, 0, -1, 100_000, "x"])
def test_intervals_that_cannot_be_sent(frequency: object):
    with pytest.raises(UnsupportedCommand):
        connected().encode(DeviceCommand("positionPeriodic", {"frequency": frequency}))
