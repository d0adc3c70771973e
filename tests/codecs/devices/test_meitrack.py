"""Meitrack: commands, models, check values, datagrams, photos and lengths."""

from typing import Any

import pytest

from motorpool.codecs.checksums import sum8
from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    FrameRejected,
    Heartbeat,
    Login,
    MediaFile,
    PositionReport,
    Report,
)

IMEI = "353358017784062"
RECORD = (
    b"AAA,35,22.573100,113.921300,240305142231,A,9,24,47,92,0.9,35,18446,38250,460|0|287D|1FB8,0421,"
    b"0008|0000|0000|019E|04E2,00000001,,3,,,12,34"
)


def framed(content: bytes, start: bytes = b"$$F") -> bytes:
    counted = b"," + IMEI.encode() + b"," + content + b"*"
    frame = start + b"%d" % (len(counted) + 4) + counted
    return frame + b"%02X\r\n" % sum8(frame)


def connected(model: str = "", **attributes: Any) -> DeviceCodec:
    codec = CODECS["meitrack"]()
    codec.receive(framed(b"AAC,1"))
    codec.configure(model, attributes)
    return codec


def encoded(codec: DeviceCodec, kind: str, **attributes: Any) -> bytes:
    return codec.encode(DeviceCommand(kind, attributes)).data


def answers(codec: DeviceCodec, reports: list[Report]) -> bytes:
    receipts = [getattr(report, "receipt", None) for report in reports]
    return codec.acknowledge([receipt for receipt in receipts if receipt is not None])


def test_published_commands():
    assert encoded(connected(), "engineStop") == b"@@A33,353358017784062,C01,0,12222*DC\r\n"
    assert framed(b"A14,1000", b"@@D") == b"@@D30,353358017784062,A14,1000*4A\r\n"


@pytest.mark.parametrize(
    ("kind", "attributes", "text"),
    [
        ("positionSingle", {}, b"A10"),
        ("engineResume", {}, b"C01,0,02222"),
        ("alarmArm", {}, b"C01,0,22122"),
        ("alarmDisarm", {}, b"C01,0,22022"),
        ("requestPhoto", {}, b"D03,1,camera_picture.jpg"),
        ("requestPhoto", {"index": 2}, b"D03,2,camera_picture.jpg"),
        ("sendSms", {"phone": "+15551234", "message": "stop, please"}, b"C02,0,+15551234,stop, please"),
        ("custom", {"data": "A12,6"}, b"A12,6"),
    ],
)
def test_commands(kind: str, attributes: dict[str, Any], text: bytes):
    assert encoded(connected(), kind, **attributes) == framed(text, b"@@A")


def test_arming_of_other_devices():
    codec = connected(**{"meitrack.alternative": True})
    assert encoded(codec, "alarmArm") == framed(b"B21,1", b"@@A")
    assert encoded(codec, "alarmDisarm") == framed(b"B21,0", b"@@A")
    assert encoded(codec, "engineResume") == framed(b"C01,0,02222", b"@@A")


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("requestPhoto", {"index": "x"}),
        ("requestPhoto", {"index": 100}),
        ("sendSms", {"phone": "1"}),
        ("sendSms", {"phone": "1,2", "message": "x"}),
        ("custom", {"data": "A12\r\n"}),
        ("custom", {}),
    ],
)
def test_commands_that_cannot_be_sent(kind: str, attributes: dict[str, Any]):
    with pytest.raises(UnsupportedCommand):
        encoded(connected(), kind, **attributes)


@pytest.mark.parametrize(
    ("model", "battery", "power"),
    [
        ("", 4.14, 12.5),
        ("mvt380", 414 * 6 / 1024, 1250 * 48 / 1024),
        ("MT90", 414 * 6.6 / 4096, 1250),
        ("MT90G", 414 * 6 / 4096, 1250),
        ("T1", 414 * 6.6 / 4096, 1250 * 52.8 / 4096),
    ],
)
def test_the_model_decides_the_scale_of_voltages(model: str, battery: float, power: float):
    (report,) = connected(model).receive(framed(RECORD))
    assert isinstance(report, PositionReport)
    assert report.attributes["battery"] == pytest.approx(battery, abs=1e-6)
    assert report.attributes["power"] == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize("event", [1, 17, 18, 19, 20, 21, 22, 23, 36, 44, 78, 90, 91, 129, 130, 135])
def test_events_with_alarms(event: int):
    (report,) = connected().receive(framed(RECORD.replace(b"35", b"%d" % event, 1)))
    assert isinstance(report, PositionReport)
    assert report.attributes["event"] == event
    assert report.attributes["alarm"]


def test_wrong_check_values_are_counted_or_dropped():
    wrong = framed(RECORD)[:-4] + b"00\r\n"
    codec = connected()
    assert isinstance(codec.receive(wrong)[0], PositionReport)
    assert codec.checksum_errors == 1
    codec.strict_checksums = True
    assert [type(report) for report in codec.receive(wrong)] == [FrameRejected]


@pytest.mark.parametrize("end", [0, 2])
def test_a_datagram_may_lack_the_line_end(end: int):
    frame = framed(RECORD)
    login, report = CODECS["meitrack"]().receive_datagram(frame[: len(frame) - end])
    assert login == Login((IMEI,))
    assert isinstance(report, PositionReport)


def test_a_cut_off_datagram_is_rejected():
    codec = CODECS["meitrack"]()
    assert [type(report) for report in codec.receive_datagram(framed(RECORD)[:50])] == [FrameRejected]


@pytest.mark.parametrize(("count", "answer"), [(1, b"27"), (9, b"27"), (10, b"28"), (20, b"28")])
def test_the_number_of_records_is_answered(count: int, answer: bytes):
    codec = connected()
    reports = codec.receive(framed(b"CCC," + bytes(8) + bytes(52 * count)))
    assert answers(codec, reports) == framed(b"CCC,%d" % count, b"@@F")
    assert answers(codec, reports).startswith(b"@@F" + answer)


def test_a_file_name_with_a_year_of_two_digits():
    value = b"\x02\x0a240305142231_CH1_DMS.jpg\0\0"
    record = bytes((0, 0, 0, 1, 0xFE, 0x31, len(value))) + value
    content = b"CCE," + bytes(4) + b"\x01\x00" + (len(record) + 2).to_bytes(2, "little")
    (report,) = connected().receive(framed(content + b"\x01\x00" + record))
    assert isinstance(report, PositionReport)
    assert report.attributes == {"alarmType": 10, "image": "2024-03-05/240305142231_CH1_DMS.jpg"}


def test_a_photo_is_requested_packet_by_packet():
    codec = connected()
    photo = bytes(range(256)) * 40
    packets = [photo[at : at + 1024] for at in range(0, len(photo), 1024)]
    reports = codec.receive(framed(b"D03,OK"))
    assert answers(codec, reports) == framed(b"D00,camera_picture.jpg,0", b"@@O")
    asked = []
    for number, packet in enumerate(packets):
        head = b"D00,camera_picture.jpg,%d,%d," % (len(packets), number)
        reports = codec.receive(framed(head + packet))
        asked.append(answers(codec, reports))
        assert codec.buffered <= len(photo)
    assert [number for number, answer in enumerate(asked) if answer] == [7]
    assert asked[7] == framed(b"D00,camera_picture.jpg,8", b"@@O")
    assert reports == [MediaFile("image", "jpg", photo)]
    assert codec.buffered == 0


def test_a_photo_without_an_end_is_dropped():
    codec = connected()
    kinds = set()
    for number in range(40):
        reports = codec.receive(framed(b"D00,a.jpg,999999,%d," % number + bytes(60_000)))
        kinds |= {type(report) for report in reports}
        assert codec.buffered <= 1 << 20
    assert kinds == {Heartbeat, FrameRejected}


def test_a_packet_that_comes_again_is_left_out():
    codec = connected()
    for number in (0, 1, 1):
        assert codec.receive(framed(b"D00,a.jpg,3,%d,x" % number)) == [Heartbeat()]
    assert codec.receive(framed(b"D00,a.jpg,3,2,y")) == [MediaFile("image", "jpg", b"xxy")]


@pytest.mark.parametrize("wrong", [-2, -1, 1, 2])
def test_wrong_lengths_of_binary_frames(wrong: int):
    right = framed(b"CCC," + bytes(8) + b"\r\n" + bytes(50))
    size = int(right[3:5])
    frame = right.replace(b"%d" % size, b"%d" % (size + wrong), 1)
    reports = connected().receive(frame + framed(b"AAC,1"))
    assert [type(report) for report in reports] == [PositionReport, Heartbeat, Heartbeat]
