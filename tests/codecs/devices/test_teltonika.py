"""Teltonika: datagrams, what depends on the model, refusal and commands."""

from typing import Any

import pytest

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, FrameRejected, Heartbeat, Login, PositionReport

IMEI = "356307042441013"
DATAGRAM = bytes.fromhex(
    "0038CAFE0105000F33353633303730343234343130313308010000018E0EFE9C58000DEE2AD9F8423DC1"
    "00000000000000000101EF0000000001"
)
RECORD = "0000018E0EFE9D52000DEE2AD9F8423DC1032C010F0E003F"


def crc_of(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0xA001 if value & 1 else value >> 1
    return value


def packet(content: str) -> bytes:
    data = bytes.fromhex(content)
    return bytes(4) + len(data).to_bytes(4, "big") + data + crc_of(data).to_bytes(4, "big")


def identified(model: str = "", **attributes: Any) -> DeviceCodec:
    codec = CODECS["teltonika"]()
    codec.receive(b"\x00\x0f" + IMEI.encode())
    codec.configure(model, attributes)
    return codec


def attributes_of(codec: DeviceCodec, elements: str, codec_number: str = "08") -> dict[str, Any]:
    (report,) = codec.receive(packet(f"{codec_number}01{RECORD}{elements}01"))
    assert isinstance(report, PositionReport), report
    return report.attributes


def test_a_datagram_names_its_device_and_is_answered_with_its_numbers():
    login, report = CODECS["teltonika"]().receive_datagram(DATAGRAM)
    assert login == Login((IMEI,))
    assert isinstance(report, PositionReport)
    assert (report.valid, report.latitude, report.longitude) == (False, -12.9876543, 23.3712345)
    assert report.receipt == bytes.fromhex("0005CAFE010501")


def test_datagrams_of_several_devices_from_one_address():
    codec = CODECS["teltonika"]()
    other = DATAGRAM.replace(b"013", b"014", 1)
    kinds = [type(each) for one in (DATAGRAM, DATAGRAM, other) for each in codec.receive_datagram(one)]
    assert kinds == [Login, PositionReport, PositionReport, Login, PositionReport]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 22])
def test_a_datagram_without_an_identity_is_rejected(size: int):
    (report,) = CODECS["teltonika"]().receive_datagram(DATAGRAM[:size])
    assert isinstance(report, FrameRejected)


def test_a_datagram_that_is_cut_off_is_answered_in_full():
    *_, rejected, answer = CODECS["teltonika"]().receive_datagram(DATAGRAM[:-12])
    assert isinstance(rejected, FrameRejected)
    assert answer == Heartbeat(bytes.fromhex("0005CAFE010501"))


def test_a_device_that_is_not_served_is_told_so():
    codec = CODECS["teltonika"]()
    (login,) = codec.receive(b"\x00\x0f" + IMEI.encode())
    assert isinstance(login, Login)
    assert codec.acknowledge((b"\x01",)) == b"\x01"
    assert codec.refuse(login.receipt) == b"\x00"
    (rejected,) = codec.receive(packet(f"0801{RECORD}00000000000001"))
    assert isinstance(rejected, FrameRejected)


def test_the_model_decides_what_elements_mean_from_the_next_packet_on():
    codec = identified()
    elements = "00 04 02 71 50 51 3C 02 CD 1FB8 CE 287D 00 00".replace(" ", "")
    assert attributes_of(codec, elements)["io113"] == 80
    codec.configure("FMB120", {})
    found = attributes_of(codec, elements)
    assert (found["batteryLevel"], found["obdSpeed"]) == (80, 60)
    codec.configure("fmb640", {})
    found = attributes_of(codec, elements)
    assert (found["batteryLevel"], found["io81"]) == (80, 60)


def test_cells_of_a_tat100_are_its_network():
    codec = identified("TAT100")
    elements = (
        "0000 000A 0003 0071 50 0050 01 0121 3C 0002 0120 1FB8 0123 1FB9 0004 011F 0000287D 0122 0000287E"
        "04B0 00000002 04B1 00000002 0000 0000"
    )
    (report,) = codec.receive(packet(f"8E01{RECORD}{elements.replace(' ', '')}01"))
    assert isinstance(report, PositionReport), report
    assert report.network is not None
    assert report.network["cellTowers"] == [
        {"locationAreaCode": 10365, "cellId": 8120, "signalStrength": 60},
        {"locationAreaCode": 10366, "cellId": 8121},
    ]
    assert (report.attributes["batteryLevel"], report.attributes["dataMode"]) == (80, 1)
    assert not [name for name in report.attributes if name.startswith("io")]


def test_the_cell_of_an_fmb_is_its_network():
    codec = identified("FMB120")
    elements = "00 03 00 03 CD 1FB8 CE 287D F1 5A12 00 00".replace(" ", "")
    (report,) = codec.receive(packet(f"0801{RECORD}{elements}01"))
    assert isinstance(report, PositionReport)
    tower = {"locationAreaCode": 10365, "cellId": 8120, "mobileCountryCode": 230, "mobileNetworkCode": 58}
    assert report.network == {"radioType": "gsm", "considerIp": False, "cellTowers": [tower]}
    assert not [key for key in report.attributes if key.startswith("io")]


@pytest.mark.parametrize(
    ("element", "value", "alarm"),
    [
        ("F6", "01", "tow"),
        ("F7", "01", "accident"),
        ("F9", "01", "jamming"),
        ("FB", "01", "idle"),
        ("FC", "01", "powerCut"),
        ("FC", "00", None),
        ("AF", "01", "geofenceEnter"),
        ("AF", "00", "geofenceExit"),
    ],
)
def test_alarms_of_an_fmb(element: str, value: str, alarm: str | None):
    elements = f"000101{element}{value}000000"
    assert attributes_of(identified("FMC130"), elements).get("alarm") == alarm
    assert attributes_of(identified(), elements).get(f"io{int(element, 16)}") == int(value, 16)


def test_a_card_of_two_halves():
    elements = "00020000000 2C3 4142434445464748 C4 4900000000000000".replace(" ", "")
    assert attributes_of(identified("FMB640"), elements)["driverUniqueId"] == "ABCDEFGHI"


def test_values_of_16_bytes_are_read_where_the_device_says_so():
    elements = "00010000000001" + "A0" + "0102030405060708090A0B0C0D0E0F10"
    found = attributes_of(identified(**{"teltonika.extended": True}), elements)
    assert found["io160"] == "0102030405060708090a0b0c0d0e0f10"


def test_elements_with_a_length_are_digits_however_short():
    elements = "0000 0001 0000 0000 0000 0000 0001 0EE8 0002 01A4".replace(" ", "")
    found = attributes_of(identified("FMB120"), elements, "8E")
    assert found["io3816"] == "01a4"


@pytest.mark.parametrize(
    ("data", "result"), [(b"INI:2024\r\nRST:1\r\n", "INI:2024\r\nRST:1"), (b"\x02\xa1", "02a1")]
)
def test_answers_of_several_lines_are_texts(data: bytes, result: str):
    content = "0C0106" + len(data).to_bytes(4, "big").hex() + data.hex() + "01"
    (report,) = identified().receive(packet(content))
    assert isinstance(report, PositionReport)
    assert report.attributes == {"type": 6, "result": result}


def test_commands_are_the_manufacturers_frames():
    codec = identified()
    assert codec.encode(DeviceCommand("engineStop")).data == bytes.fromhex(
        "00000000000000130C01050000000B7365746469676F7574203101000087A2"
    )
    assert codec.encode(DeviceCommand("custom", {"data": "getinfo"})).data == bytes.fromhex(
        "000000000000000F0C010500000007676574696E666F0100004312"
    )
    assert (
        bytes.fromhex("0C010500000002ABCD01") in codec.encode(DeviceCommand("custom", {"data": "abCD"})).data
    )


@pytest.mark.parametrize("data", [None, "", "é", "x" * 4097, 7])
def test_texts_that_cannot_be_sent(data: object):
    with pytest.raises(UnsupportedCommand):
        identified().encode(DeviceCommand("custom", {"data": data}))
