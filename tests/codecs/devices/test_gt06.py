"""GT06: what depends on the device's settings, what asks for an answer, and commands."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.gt06.models import MODELS
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    FrameRejected,
    Heartbeat,
    ImmediateReply,
    MediaFile,
    PositionReport,
    Report,
)

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
    attributes = position(codec, 0x13, content).attributes
    assert (attributes["power"], attributes["rssi"], attributes["alarm"]) == (12.34, 3, "powerCut")
    codec.configure("lw01", {})
    attributes = position(codec, 0x13, "460403F07B").attributes
    assert (attributes["batteryLevel"], attributes["rssi"], attributes["power"]) == (66, 3, 12.3)
    codec.configure("seeworld", {})
    assert position(codec, 0x13, "4604030C02").attributes["power"] == 12.0


@pytest.mark.parametrize("cell", [CELL, f"09{CELL}"])
def test_an_nt_device_has_a_time_of_its_own(cell: str):
    codec = logged_in("NT20")
    content = f"01035335801778406218030510000A{GPS}{cell}0204D22A04010200303900010F"
    report = position(codec, 0x22, content)
    assert (report.fix_time, report.device_time) == (
        datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC),
        datetime(2024, 3, 5, 16, 0, 10, tzinfo=UTC),
    )
    assert report.network is not None
    assert report.network["cellTowers"][0]["cellId"] == 8120
    assert report.attributes["odometer"] == 12345
    assert (report.attributes["power"], report.attributes["battery"]) == (12.34, 4.2)
    assert report.attributes["hours"] == 271 * 60_000


@pytest.mark.parametrize("model", ["XT40", ""])
def test_an_xt40_names_its_driver(model: str):
    cell = "0A01CC00287D00001FB8"
    content = f"01035335801778406218030510000A{GPS}{cell}0204D22A04010200303900010F050112AB34CD"
    report = position(logged_in(model), 0x25, content)
    assert report.network is not None
    assert report.network["cellTowers"][0]["cellId"] == 8120
    assert report.attributes["driverUniqueId"] == "12ab34cd"
    assert report.attributes["odometer"] == 12345


def test_a_25_of_others_has_a_cell_with_a_number_of_four_bytes():
    report = position(logged_in(), 0x25, f"{GPS}01CC00287D00001FB80001E240")
    assert report.network is not None
    assert report.network["cellTowers"][0]["cellId"] == 8120
    assert (report.latitude, report.attributes["odometer"]) == (22.5731, 123456)


@pytest.mark.parametrize("model", ["QH302R", ""])
def test_a_qh302r_repeats_its_imei(model: str):
    report = position(logged_in(model), 0x12, f"0353358017784062{GPS}{CELL}")
    assert (report.latitude, report.attributes["sat"]) == (22.5731, 9)


def test_a_clock_of_2004_is_no_imei():
    report = position(logged_in(), 0x12, f"04{GPS[2:]}{CELL}")
    assert (report.latitude, report.device_time) == (22.5731, datetime(2004, 3, 5, 14, 22, 31, tzinfo=UTC))


@pytest.mark.parametrize(
    "cell",
    [
        "0981CC0001287D001FB8",
        "0A81CC0001287D001FB8",
        "00" + "00" * 9 + "00" * 36,
        "0001CC00287D001FB800" + "00" * 36,
    ],
)
def test_states_behind_any_cell(cell: str):
    attributes = position(logged_in(), 0x26, f"{GPS}{cell}4604030202").attributes
    assert (attributes["status"], attributes["batteryLevel"], attributes["alarm"]) == (0x46, 66, "powerCut")


def test_alarms_of_jm_vl03_have_an_odometer_and_cells_of_4g():
    found = position(logged_in(), 0x26, f"{GPS}09{CELL}46040302020001E240")
    assert (found.attributes["alarm"], found.attributes["odometer"]) == ("powerCut", 123456)
    found = position(logged_in(), 0xA4, f"{GPS}1181CC00010000287D0000000000001FB84604030202FF0001E240")
    assert found.network is not None
    (tower,) = found.network["cellTowers"]
    assert (tower["locationAreaCode"], tower["cellId"], tower["mobileNetworkCode"]) == (10365, 8120, 1)
    assert (found.attributes["geofence"], found.attributes["odometer"]) == ("255", 123456)


def test_a_request_for_an_address_of_a_cell_has_no_states():
    report = position(logged_in(), 0xA7, "01CC000000287D0000000000001FB8" + "31" * 21 + "0002")
    assert report.attributes == {"type": 0xA7}
    assert report.network is not None
    assert report.network["cellTowers"][0]["cellId"] == 8120


def long_frame(kind: int, content: bytes) -> bytes:
    counted = (len(content) + 5).to_bytes(2, "big") + bytes((kind,)) + content + b"\0\x01"
    return b"yy" + counted + crc_of(counted).to_bytes(2, "big") + b"\r\n"


@pytest.mark.parametrize(
    ("data", "result"),
    [(b"T=27.5\r\nH=51\r\n", "T=27.5\r\nH=51"), (b"\x02\xa1\x03", "02a103"), (b"abc\xe9", "616263e9")],
)
def test_data_of_a_serial_port_are_text_or_digits(data: bytes, result: str):
    (report,) = logged_in().receive(long_frame(0x9B, b"\x01" + data))
    assert isinstance(report, PositionReport)
    assert report.attributes == {"result": result}


def asked(report: Report) -> tuple[int, int, int]:
    assert isinstance(report, ImmediateReply)
    assert report.data[3] == 0x36
    number, offset, size = report.data[4:8], report.data[8:12], report.data[12:14]
    return int.from_bytes(number, "big"), int.from_bytes(offset, "big"), int.from_bytes(size, "big")


@given(content=st.binary(min_size=1, max_size=3000))
def test_an_announced_photo_is_asked_for_part_by_part(content: bytes):
    codec = logged_in()
    head = GPS + len(content).to_bytes(4, "big").hex() + "00000007"
    (report,) = codec.receive(frame(0x35, head))
    offset = 0
    while offset < len(content):
        number, start, size = asked(report)
        assert (number, start) == (7, offset)
        part = content[offset : offset + size]
        offset += size
        packed = b"\0\0\0\x07" + start.to_bytes(4, "big") + len(part).to_bytes(2, "big") + part
        (report,) = codec.receive(long_frame(0x36, packed))
    assert report == MediaFile("image", "jpg", content)
    assert not codec.buffered


def test_parts_that_were_not_asked_for_and_photos_that_are_too_large():
    codec = logged_in()
    rejected, answer = codec.receive(long_frame(0x36, b"\0\0\0\x07" + bytes(4) + b"\0\x01a"))
    assert isinstance(rejected, FrameRejected)
    assert isinstance(answer, Heartbeat)
    rejected, _ = codec.receive(frame(0x35, GPS + "00200000" + "00000007"))
    assert isinstance(rejected, FrameRejected)


def multimedia(part: int, content: bytes, *, kind: int = 0, size: int = 6) -> bytes:
    head = bytes(8) + (1709648551).to_bytes(4, "big") + bytes(22) + b"\0\0\0\x07" + size.to_bytes(4, "big")
    return long_frame(0x41, head + bytes((kind, 0, 1)) + part.to_bytes(2, "big") + content)


def test_a_photo_that_comes_of_itself():
    codec = logged_in()
    for part in (multimedia(0, b"abc"), multimedia(0, b"abc"), multimedia(0, b"x", kind=2)):
        (report,) = codec.receive(part)
        assert isinstance(report, Heartbeat)
        assert report.receipt[:2] == b"yy"
    (photo,) = codec.receive(multimedia(1, b"def"))
    assert isinstance(photo, MediaFile)
    assert (photo.content, photo.receipt) == (b"abcdef", report.receipt)
    assert photo.position is not None
    assert photo.position.device_time == datetime(2024, 3, 5, 14, 22, 31, tzinfo=UTC)
    rejected, _ = codec.receive(multimedia(1, b"def"))
    assert isinstance(rejected, FrameRejected)


def test_an_lw_device_has_alarms_of_the_type_of_access_points():
    report = position(logged_in("LW3G"), 0xA2, f"{GPS}09{CELL}020604{'18'}02")
    assert (report.latitude, report.attributes["alarm"]) == (22.5731, "accident")


@given(
    kind=st.integers(0, 255),
    length=st.integers(0, 255),
    content=st.binary(max_size=130),
    long=st.booleans(),
    model=st.sampled_from(("", *MODELS)),
)
@settings(max_examples=300, deadline=None)
def test_any_type_length_and_content_are_reports(
    kind: int, length: int, content: bytes, long: bool, model: str
):
    codec = logged_in(model)
    counted = bytes((length, kind)) + content + b"\0\x01"
    codec.receive((b"yy\0" if long else b"xx") + counted + crc_of(counted).to_bytes(2, "big") + b"\r\n")


ITEMS = (0x0A, 0x01, 0x04, 0x0B, 0x0C, 0x11, 0x18, 0x27, 0x2A, 0x2E, 0x33, 0x34, 0x3B, 0x6A, 0x7F)


@given(
    kind=st.sampled_from((0x36, 0x37, 0x39, 0x70, 0x94, 0xF1, 0xF2)),
    head=st.sampled_from(("", "4604030202", "65E72AA7", f"{GPS}{CELL}010200")),
    items=st.lists(st.tuples(st.sampled_from(ITEMS), st.integers(0, 40), st.binary(max_size=30))),
    wide=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_items_of_any_length_are_reports(
    kind: int, head: str, items: list[tuple[int, int, bytes]], wide: bool
):
    content = bytes.fromhex(head) + b"".join(
        number.to_bytes(2, "big") + size.to_bytes(2 if wide else 1, "big") + value
        for number, size, value in items
    )
    counted = (len(content) + 5).to_bytes(2, "big") + bytes((kind,)) + content + b"\0\x01"
    logged_in().receive(b"yy" + counted + crc_of(counted).to_bytes(2, "big") + b"\r\n")


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
