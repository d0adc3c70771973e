"""Status and alarm bits by model, and the fixed part of a location (docs/protocols/jt808-vendors.md)."""

from struct import pack

import pytest

from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices.attributes import ALARMS, ATTRIBUTES
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.item_layouts import STANDARD_ITEMS
from motorpool.codecs.devices.jt808.location import decode_location
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.devices.jt808.vendors.models import _MODELS, model_of
from motorpool.codecs.devices.jt808.vendors.record import ItemRecord
from motorpool.codecs.reports import PositionReport

CLOCK = TerminalClock()
HOL_BLOCK = bytes.fromhex("ea08 0012020078 00ff00".replace(" ", ""))


def located(model="", *, alarm=0, status=0, items=b"", is_2019=False):
    body = encode_location(1, 2, None, alarm=alarm, status=status, items=items)
    words = model_of(model).words_of(is_2019)
    return decode_location(body, 0, len(body), CLOCK, words, STANDARD_ITEMS)


@pytest.mark.parametrize(
    ("model", "bit", "expected"),
    [
        ("", 15, "vibration"),
        ("", 16, "tampering"),
        ("", 17, "tampering"),
        ("", 29, "accident"),
        ("G10LS", 15, "lowBattery"),
        ("s21l", 15, "lowBattery"),
        ("AL300", 15, "removing"),
        ("AOVX", 15, "removing"),
        ("G10LS", 16, "vibration"),
        ("S21L", 16, "vibration"),
        ("AOVX", 16, "vibration"),
        ("AL300", 16, "movement"),
        ("gl100 ", 16, "movement"),
        ("G10LS", 17, "removing"),
        ("VL300", 29, None),
        ("VL300", 30, None),
        ("G-360P", 0, "removing"),
        ("G-508P", 4, "removing"),
        ("G-508P", 1, "tampering"),
        ("G-360P", 8, None),
        ("no such model", 15, "vibration"),
    ],
)
def test_alarm_bits_by_model(model, bit, expected):
    assert located(model, alarm=1 << bit).attributes.get("alarm") == expected


@pytest.mark.parametrize(
    ("model", "bit", "name"),
    [
        ("G1C Pro", 4, "motion"),
        ("G10LS", 6, "armed"),
        ("S21L", 6, "armed"),
        ("", 10, "blocked"),
        ("", 11, "blocked"),
        ("S21L", 11, "blocked"),
        ("", 13, "door"),
        ("", 17, "door"),
        ("MV810G", 16, "door"),
        ("MV710G", 16, "door"),
        ("S21L", 26, "charge"),
        ("", 26, "charge"),
    ],
)
def test_status_bits_by_model(model, bit, name):
    assert located(model, status=1 << bit).attributes[name] is True
    assert not located(model).attributes.get(name)


def test_a_model_changes_no_bit_of_the_others():
    assert "motion" not in located(status=1 << 4).attributes
    assert "armed" not in located(status=1 << 6).attributes


def test_aovx_says_by_status_bits_that_it_is_towed_and_what_it_had_stored():
    report = located("AL300", alarm=1, status=1 << 30 | 1 << 31)
    assert report.attributes["alarm"] == "tow,sos"
    assert report.attributes["archive"] is True
    assert report.archived


def test_holloo_uses_the_bits_of_doors_for_other_things():
    doors = 0x1F << 13
    assert located(status=doors, items=HOL_BLOCK).attributes["status"] == doors | 3
    assert "door" not in located(status=doors, items=HOL_BLOCK).attributes
    assert located(status=doors, items=b"\xea\x02\0\x01").attributes["door"] is True


def test_a_setting_of_the_device_moves_the_bits():
    codec = Jt808()
    attributes = {"jt808.alarmBits": "15=door, 16=,17=nonsense,x=sos", "jt808.statusBits": "18=armed,19=sos"}
    codec.configure("G10LS", attributes)
    body = encode_location(1, 2, None, alarm=0b111 << 15, status=0b11 << 18 | 1 << 6)
    (_, report) = codec.receive(Terminal("13912345678").location(body))
    assert isinstance(report, PositionReport)
    assert report.attributes["armed"] is True
    assert report.attributes["alarm"] == "sos,door,removing"


def test_the_names_of_bits_are_names_that_the_api_has():
    for traits in _MODELS.values():
        for name in (*traits.get("alarms", {}).values(), *traits.get("status", {}).values()):
            assert not name or name in ALARMS or ATTRIBUTES[name][0] is bool


def test_a_tail_that_is_no_list_of_items_has_fields_of_its_own():
    report = located(items=bytes.fromhex("00000000000004d2007e0000000016000000"))
    assert report.attributes["odometer"] == 1234000
    assert report.attributes["battery"] == 12.6
    assert report.attributes["rssi"] == 22


def test_items_of_18_bytes_remain_items():
    report = located(items=pack(">BBI", 1, 4, 7) + pack(">BB10s", 0xD9, 10, b""))
    assert report.attributes["odometer"] == 700
    assert "battery" not in report.attributes


@pytest.mark.parametrize(
    ("volts", "key"), [(0.0, "battery"), (5.99, "battery"), (6.0, "power"), (12.6, "power")]
)
def test_volts_below_six_are_those_of_the_battery(volts, key):
    attributes: dict[str, float] = {}
    ItemRecord(attributes).add_volts(volts)
    assert attributes == {key: volts}
