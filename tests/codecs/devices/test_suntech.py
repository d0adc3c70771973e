"""Suntech: commands, additions of configured devices, attributes that change layouts, line ends in data."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, FrameRejected, Heartbeat, Login, PositionReport

PLACE = "20240305;14:22:31;2f1a;+22.573100;+113.921300;047.000;092.00;9;1;18446;12.50;100000"
STATUS = f"ST300STT;205174410;14;564;{PLACE};1;0042"
PACKED = "2051744100 0e0234 1803050e161f 287db8 16573100 71921300 002f00 005c00 80 0000480e 0c50 03 01"
PACKED_ADDITION = "00000e10 0419 00"


def connected(first: str = STATUS, **attributes: Any) -> DeviceCodec:
    codec = CODECS["suntech"]()
    codec.receive(f"{first}\r".encode())
    codec.configure("", {f"suntech.{name}": value for name, value in attributes.items()})
    return codec


def read(codec: DeviceCodec, text: str) -> PositionReport:
    (report,) = codec.receive(f"{text}\r".encode())
    assert isinstance(report, PositionReport), report
    return report


def encoded(codec: DeviceCodec, kind: str, **attributes: Any) -> bytes:
    return codec.encode(DeviceCommand(kind, attributes)).data


@pytest.mark.parametrize(
    ("kind", "attributes", "universal", "legacy"),
    [
        ("rebootDevice", {}, "03;03", "Reboot"),
        ("positionSingle", {}, "03;01", "StatusReq"),
        ("engineStop", {}, "04;01", "Enable1"),
        ("engineResume", {}, "04;02", "Disable1"),
        ("alarmArm", {}, "04;03", "Enable2"),
        ("alarmDisarm", {}, "04;04", "Disable2"),
        ("outputControl", {"index": 1, "data": "1"}, "04;01", "Enable1"),
        ("outputControl", {"index": 2, "data": 1}, "04;03", "Enable2"),
        ("outputControl", {"index": "3", "data": True}, "04;09", "Enable3"),
        ("outputControl", {"index": 1, "data": "0"}, "04;02", "Disable1"),
        ("outputControl", {"index": 2, "data": 0}, "04;04", "Disable2"),
        ("outputControl", {"index": 3, "data": False}, "04;10", "Disable3"),
    ],
)
def test_commands(kind: str, attributes: dict[str, Any], universal: str, legacy: str):
    codec = connected("STT;0850000001;000001")
    assert encoded(codec, kind, **attributes) == f"CMD;0850000001;{universal}\r".encode()
    assert encoded(connected(), kind, **attributes) == f"ST300CMD;205174410;02;{legacy}\r".encode()


def test_before_any_message_a_command_is_that_of_an_sa200():
    command = DeviceCommand("engineStop", {}, "205174410")
    assert CODECS["suntech"]().encode(command).data == b"SA200CMD;205174410;02;Enable1\r"


def test_an_st910_names_its_family():
    codec = connected("ST910;Location;205174410;564;20240305;14:22:31;+22.5;+113.9;000.000;000.00;1")
    assert encoded(codec, "rebootDevice") == b"ST910CMD;205174410;02;Reboot\r"


@pytest.mark.parametrize(
    "attributes",
    [{}, {"index": 4, "data": 1}, {"index": 1}, {"index": 1, "data": "x"}, {"index": 0, "data": 1}],
)
def test_outputs_that_a_universal_device_does_not_have(attributes: dict[str, Any]):
    with pytest.raises(UnsupportedCommand):
        encoded(connected("STT;0850000001;000001"), "outputControl", **attributes)


def test_additions_are_read_where_the_device_is_configured_to_send_them():
    text = f"{STATUS};60;4.1;0"
    assert "hours" not in read(connected(hbm=0), text).attributes
    report = read(connected(hbm=1), text)
    assert report.attributes["hours"] == 3_600_000
    assert report.attributes["battery"] == 4.1
    assert report.attributes["archive"] is True
    assert report.archived
    live = read(connected(hbm="1"), f"{STATUS};60;4.1;1")
    assert "archive" not in live.attributes
    assert not live.archived


def test_all_additions():
    codec = connected(hbm=1, includeAdc=True, includeRpm=True, includeTemp=True)
    report = read(codec, f"{STATUS};60;4.1;1;1.5;;2.5;1800;16008901;1;28:21.5;:;2A:-3")
    expected = {
        "adc1": 1.5,
        "adc3": 2.5,
        "rpm": 1800,
        "driverUniqueId": "16008901",
        "temp1": 21.5,
        "temp3": -3.0,
    }
    assert expected.items() <= report.attributes.items()
    assert not {"adc2", "temp2"} & report.attributes.keys()


@pytest.mark.parametrize("driver", ["", "16008901;1;"])
def test_a_cell_follows_the_additions(driver: str):
    report = read(connected(hbm=2), f"{STATUS};60;4.1;1;{driver}1FB8;460;0;24;287D")
    assert report.attributes.get("driverUniqueId", "") == driver[:8]
    assert report.network is not None
    assert report.network["cellTowers"] == [
        {
            "mobileCountryCode": 460,
            "mobileNetworkCode": 0,
            "locationAreaCode": 10365,
            "cellId": 8120,
            "signalStrength": 24,
        }
    ]


@pytest.mark.parametrize("addition", ["60", "60;4.1;1;1.5", "60;4.1;1;;;;1800;x;1;28:1;2"])
def test_additions_that_are_cut_off_leave_the_location(addition: str):
    codec = connected(hbm=2, includeAdc=True, includeRpm=True, includeTemp=True)
    report = read(codec, f"{STATUS};{addition}")
    assert report.latitude == 22.5731
    assert report.attributes["hours"] == 3_600_000


def test_an_st910_with_a_cell_and_an_odometer():
    codec = connected()
    alert = read(
        codec, "ST910;Alert;205174410;20240305;14:22:31;2f1a;+22.573100;+113.921300;047.000;092.00;1;18446"
    )
    assert alert.attributes == {"type": "Alert", "alarm": "general", "odometer": 18446}
    assert (alert.latitude, alert.valid) == (22.5731, True)
    location = (
        "ST910;Location;205174410;564;20240305;14:22:31;2f1a;+22.573100;+113.921300;047.000;092.00;1;18446"
    )
    assert read(codec, location).attributes == {"type": "Location", "versionFw": "564", "odometer": 18446}


def test_packed_messages_have_additions_too():
    content = bytes.fromhex(f"10 {PACKED} {PACKED_ADDITION}")
    frame = b"\x02" + len(content).to_bytes(2, "big") + content + b"\x03"
    (report,) = connected(hbm=1).receive(frame)
    assert isinstance(report, PositionReport)
    expected = {"hours": 3600, "battery": 4.19, "archive": True, "power": 12.5, "odometer": 18446}
    assert expected.items() <= report.attributes.items()
    assert (report.latitude, report.longitude) == (22.5731, 113.9213)


def test_a_line_end_within_the_data_of_a_serial_port_waits_for_the_rest():
    codec = connected()
    head = f"ST300UEX;205174410;14;564;{PLACE};8;ab\r".encode()
    assert codec.receive(head) == []
    (report,) = codec.receive(b"\nc\r\nd;7B\r")
    assert isinstance(report, PositionReport)
    assert report.attributes["serial"] == "ab\r\nc\r\nd"
    assert codec.buffered == 0


def test_data_of_a_serial_port_that_are_cut_off_end_at_a_line_end():
    rejected, report = connected().receive(
        f"ST300UEX;205174410;14;564;{PLACE};999;ab\r{STATUS}\r".encode(),
    )
    assert isinstance(rejected, FrameRejected)
    assert isinstance(report, PositionReport)


def test_each_device_of_a_gateway_is_identified():
    codec = connected()
    login, _ = codec.receive(STATUS.replace("205174410", "205174411").encode() + b"\r")
    assert login == Login(("205174411",))


def crash_part(number: int, total: int, data: bytes, identity: str = "0850000001") -> bytes:
    return f"CRR;{identity};{number:03};{total:03};".encode() + data + b";7B\r"


def test_parts_of_a_crash_are_bounded_and_dropped_with_the_device():
    codec = connected()
    codec.receive(crash_part(1, 9, bytes(2500)) + crash_part(2, 9, bytes(2000)))
    assert codec.buffered == 4500
    assert isinstance(codec.receive(crash_part(3, 9, bytes(2000)))[-1], FrameRejected)
    assert codec.buffered == 0
    codec.receive(crash_part(1, 2, bytes(100)))
    codec.refuse(None)
    assert codec.buffered == 0


def test_parts_of_the_crash_of_another_device_are_not_joined():
    codec = connected()
    codec.receive(crash_part(1, 2, bytes(1200)))
    assert isinstance(codec.receive(crash_part(2, 2, bytes(1300), "0850000002"))[-1], FrameRejected)


def test_a_crash_without_its_check_value_ends_where_the_next_message_begins():
    codec = connected()
    part = b"CRR;0850000001;001;002;" + b"a\rb" * 100 + b"\r"
    assert [type(report) for report in codec.receive(part + STATUS.encode() + b"\r")] == [
        Login,
        Heartbeat,
        Login,
        PositionReport,
    ]


ADDED = ["", "1", "60", "4.1", "0", ":", "28:1.5", "1.5", "x", "460", "1FB8"]


@given(st.lists(st.sampled_from(ADDED), max_size=16))
def test_any_additions_leave_the_location(values: list[str]):
    report = read(connected(), ";".join([STATUS, *values]))
    assert (report.latitude, report.attributes["index"]) == (22.5731, 42)
