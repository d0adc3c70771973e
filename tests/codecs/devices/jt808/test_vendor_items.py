"""Each item of docs/protocols/jt808-vendors.md, from a frame that is built field by field."""

import pytest
from tests.codecs.devices.jt808_vendor_frames import bsj, entries, item, location

from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import PositionReport

FIXED = {"status": 3, "ignition": True, "blocked": False}


def decode(*items, model="", alarm=0, keep=False):
    codec = Jt808()
    codec.keeps_unknown = keep
    codec.configure(model, {})
    for _ in range(2):  # as walked, and as remembered
        report = codec.receive(location(*items, alarm=alarm))[-1]
    assert isinstance(report, PositionReport)
    return report


def read(*items, model="", alarm=0, keep=False):
    """The attributes without those of the fixed part."""
    report = decode(*items, model=model, alarm=alarm, keep=keep)
    return {key: value for key, value in report.attributes.items() if FIXED.get(key) is not value}


def network(*items):
    report = decode(*items)
    assert report.attributes.keys() == FIXED.keys()
    found = report.network or {}
    cells = [
        (
            cell["mobileCountryCode"],
            cell["mobileNetworkCode"],
            cell["locationAreaCode"],
            cell["cellId"],
            cell.get("signalStrength"),
        )
        for cell in found.get("cellTowers", ())
    ]
    points = [(point["macAddress"], point["signalStrength"]) for point in found.get("wifiAccessPoints", ())]
    return cells, points


@pytest.mark.parametrize(
    ("item_id", "value", "attributes"),
    [
        (0x61, "04D4", {"power": 12.36}),
        (0x82, "007E", {"power": 12.6}),
        (0xF1, "00003048", {"power": 12.36}),
        (0xFE, "007B", {"power": 12.3}),
        (0x69, "018E", {"battery": 3.98}),
        (0xD5, "018E", {"battery": 3.98}),
        (0x62, "0027", {"battery": 3.9}),
        (0xD3, "0027", {"battery": 3.9}),
        (0xD3, "007B", {"power": 12.3}),
        (0xE1, "007B", {"power": 12.3}),
        (0x06, "55", {"batteryLevel": 85}),
        (0xD4, "55", {"batteryLevel": 85}),
        (0xE1, "55", {"batteryLevel": 85}),
        (0xE9, "55", {"batteryLevel": 85}),
        (0xFE, "55", {"batteryLevel": 85}),
        (0xD4, "FF", {"charge": True}),
        (0xE1, "FF", {"charge": True}),
        (0xE9, "FF", {"charge": True}),
        (0x56, "0A00", {"batteryLevel": 100}),
        (0x56, "0855", {"batteryLevel": 85}),
        (0x68, "2134", {"batteryLevel": 85}),
        (0xE3, "00 55 018E 0000", {"batteryLevel": 85, "battery": 3.98}),
        (0xE3, "00 00 04D4 0000", {"power": 12.36}),
        (0xE4, "0055", {"charge": True, "batteryLevel": 85}),
        (0xE4, "0155", {"charge": False, "batteryLevel": 85}),
        (0xEE, "15 3048 0F3C 0B", {"rssi": 21, "power": 12.36, "battery": 3.9, "sat": 11}),
        (0x33, b"*M00,13,A0398XY,0#".hex(), {"battery": 3.98}),
        (0x02, "8032", {"fuelLevel": 50}),
        (0xE2, "000000FF", {"fuel": 25.5}),
        (0xAC, "000004D2", {"odometer": 1234}),
        (0xFE, "000004D2", {"odometer": 1234}),
    ],
)
def test_supply_distance_and_fuel(item_id, value, attributes):
    assert read(item(item_id, value)) == attributes


@pytest.mark.parametrize(
    ("item_id", "value", "cells"),
    [
        (0x53, "01 01CC 01 1234 5678 17", [(460, 1, 4660, 22136, 23)]),
        (0x53, "01 01CC 01 1234 0A0B0C0D A6", [(460, 1, 4660, 168496141, -90)]),
        (0x53, "02 01CC 01 1234 5678 17 01CC 01 0000 5678 17", [(460, 1, 4660, 22136, 23)]),
        (
            0x5D,
            "02 01CC 01 1234 0A0B0C0D 17 01CC 01 1234 0A0B0C0E 09",
            [(460, 1, 4660, 168496141, 23), (460, 1, 4660, 168496142, 9)],
        ),
        (
            0x66,
            "01CC 17 0000 0A0B0C0D 1234 09 0000 0A0B0C0E 1234",
            [(460, 0, 4660, 168496141, 23), (460, 0, 4660, 168496142, 9)],
        ),
        (
            0xE1,
            "01CC 0001 001234 0A0B0C0D 17 FFFFFF 0A0B0C0E 17",
            [(460, 1, 4660, 168496141, 23)],
        ),
        (0xEE, "01CC 01 1234 0A0B0C0D 17", [(460, 1, 4660, 168496141, 23)]),
        (0xFD, "01CC 0001 0A0B0C0D 1234", [(460, 1, 4660, 168496141, None)]),
        (
            0xF0,
            "01CC 0001 0A0B0C0D 00001234 A6 01CC 0001 FFFFFFFF 00001234 A6",
            [(460, 1, 4660, 168496141, -90)],
        ),
        (0xFF, "01CC 0001 00001234 0A0B0C0D", [(460, 1, 4660, 168496141, None)]),
        (0xEB, "01CC 01 1234 5678 17", [(460, 1, 4660, 22136, 23)]),
    ],
)
def test_cells(item_id, value, cells):
    assert network(item(item_id, value)) == (cells, [])


POINT, NO_POINT = "001122334455 C4", "FFFFFFFFFFFF C4"


@pytest.mark.parametrize(
    ("item_id", "value"),
    [
        (0x54, f"02 {POINT} {NO_POINT}"),
        (0xEC, f"{NO_POINT} {POINT}"),
        (0xF4, f"{POINT} 000000000000 C4"),
        (0x50, POINT),
    ],
)
def test_access_points(item_id, value):
    assert network(item(item_id, value)) == ([], [("00:11:22:33:44:55", -60)])


def ascii_hex(text):
    return text.encode().hex()


ICCID = "89860123456789012345"


@pytest.mark.parametrize(
    ("item_id", "value", "attributes"),
    [
        (0xCC, ascii_hex(ICCID), {"iccid": ICCID}),
        (0xD6, ascii_hex(ICCID[:19] + "F"), {"iccid": ICCID[:19]}),
        (0x71, ascii_hex(ICCID), {"iccid": ICCID}),
        (0xF1, ascii_hex(ICCID), {"iccid": ICCID}),
        (0x6C, ascii_hex("460001234567890"), {"imsi": "460001234567890"}),
        (0xF6, "0490154203237518", {"imei": "490154203237518"}),
        (0x94, ascii_hex("LSVAA49J132047371"), {"vin": "LSVAA49J132047371"}),
        (0xF2, ascii_hex("V1.2.3"), {"versionFw": "V1.2.3"}),
        (0xFB, ascii_hex("MSKU1234567"), {"container": "MSKU1234567"}),
        (0xBC, ascii_hex("DOE$JOHN") + "00" * 42, {"driver": "DOE$JOHN"}),
        (0xBD, ascii_hex("123456789012345"), {"driverUniqueId": "123456789012345"}),
        (0xED, ascii_hex("CARD77"), {"card": "CARD77"}),
        (0xD4, "00ABCDEF", {"driverUniqueId": "11259375"}),
        (0xE1, "00ABCDEF", {"driverUniqueId": "11259375"}),
        (0xE9, "00ABCDEF", {"driverUniqueId": "11259375"}),
        (0x0B, "02", {"lockCommand": 2}),
        (0x0B, "0265", {"lockCommand": 2, "unlockResult": 101}),
        (0x0B, "0200ABCDEF", {"lockCommand": 2, "lockCard": 11259375}),
        (0x0B, "0200ABCDEF65", {"lockCommand": 2, "lockCard": 11259375, "unlockResult": 101}),
        (0x0B, "02313233343536", {"lockCommand": 2, "lockPassword": "123456"}),
        (0x0B, "0231323334353665", {"lockCommand": 2, "lockPassword": "123456", "unlockResult": 101}),
        (0x60, "0001 00 3730303031323334", {"event": 1, "driverUniqueId": "70001234"}),
        (0x60, "0065 00 001122334455 3730303031323334", {"event": 101, "driverUniqueId": "70001234"}),
        (
            0x63,
            "001122334455 0F48 31 80 14",
            {"lock1Id": "001122334455", "lock1Battery": 3.912, "lock1Seal": True},
        ),
        (0x67, ascii_hex("88888888"), {"password": "88888888"}),
        (0x6A, "15", {"rssi": 21}),
        (0x6B, "0B", {"sat": 11}),
        (
            0xD5,
            "02 0102030405 060708090A 55 0000 1112131415 161718191A 54 0020",
            {
                "lock1Id": "0102030405",
                "lock1Card": "060708090a",
                "lock1Battery": 85,
                "lock1Locked": True,
                "lock2Id": "1112131415",
                "lock2Card": "161718191a",
                "lock2Battery": 84,
                "lock2Locked": False,
            },
        ),
        (0xDA, "0003 05", {"string": True, "motion": True, "cover": False}),
        (0xDA, "0003 08 00", {"string": False, "motion": False, "cover": True}),
        (0xE8, "000102", {"lockStatus": 258}),
    ],
)
def test_cards_texts_and_locks(item_id, value, attributes):
    assert read(item(item_id, value)) == attributes


@pytest.mark.parametrize(
    ("item_id", "value", "attributes"),
    [
        (0x51, "00FF 8034 FFFF 0001", {"temp1": 25.5, "temp2": -5.2, "temp4": 0.1}),
        (0x58, "0265 0001", {"humidity1": 61.3, "humidity2": 0.1}),
        (0xE6, "02 001122334455 19 80 3C FF", {"temp2": 25.5, "humidity2": 61.0}),
        (0xE6, "01 001122334455 FB 80 3C 00", {"temp1": -5.5, "humidity1": 60.0}),
        (0xF5, "0123", {"illuminance": 291}),
        (0xF5, "0001 FFFF 03E8", {"gSensor": "[1,-1,1000]"}),
        (0xF6, "03F5", {"airPressure": 1013}),
        (0xF7, "0265", {"humidity": 61.3}),
        (0xF8, "02EE", {"temp2": 25.0}),
        (
            0x77,
            "01 ABCDEF 0140 4B 00 02 ABCDE0 0000 00 00",
            {"tire1SensorId": "abcdef", "tire1Pressure": 8.0, "tire1Temp": 25, "tire1Status": 0},
        ),
        (0x57, "0500 0003 00010000", {"alarm": "hardAcceleration,hardCornering", "input": 3}),
        (0xF4, "0052", {"alarm": "hardBraking,accident", "in1": True, "in2": False}),
        (0xD0, "00000008", {"alarm": "vibration"}),
        (0xE7, "0005 000000000000", {"alarm": "vibration,sos"}),
        (0xFE, "7C 01 04 00000005", {"alarm": "hardAcceleration,hardCornering"}),
        (0xE5, "01", {"motion": True}),
        (0xE5, "00", {"motion": False}),
        (0xF3, "01", {"armed": True}),
        (0xF3, "07", {}),
        (0x33, "05", {"satBeidou": 5}),
        (0x32, "06", {"satGps": 6}),
        (0xEA, "0002", {"mode": 2}),
        (0xF6, "02 01 00 03", {"mode": 2, "charge": True}),
        (0x52, "02", {"rotation": 2}),
        (0xFC, "07", {"geofence": "7"}),
        (0xA7, "00FA 0032", {"adc1": 2.5, "adc2": 0.5}),
        (0x2B, "00FA 0032", {"adc1": 50, "adc2": 250}),
        (0x2A, "0002", {"sleep": 2}),
        (
            0x2A,
            "8101",
            {"sleep": 1} | {f"in{number}": number in (1, 8) for number in range(1, 9)},
        ),
        (0x18, "0400000000", {}),
        (
            0x91,
            "008E 0834 3D 40 82 81 0000 0190 0000000000000000 0FA0",
            {
                "battery": 14.2,
                "rpm": 2100,
                "obdSpeed": 61,
                "throttle": 25.1,
                "engineLoad": 51.0,
                "coolantTemp": 89,
                "fuelConsumption": 4.0,
                "fuelUsed": 40.0,
            },
        ),
    ],
)
def test_sensors_driving_and_states(item_id, value, attributes):
    assert read(item(item_id, value)) == attributes


def test_the_altitude_is_that_of_the_position():
    assert decode(item(0xCD, "FFF6")).altitude == -10.0


def test_neighbours_decide_what_an_item_is():
    assert read(item(0x33, "04"), item(0x32, "0001"), keep=True) == {"mode": 4, "item0x32": "0001"}
    assert read(item(0x33, "04"), item(0xEB, bsj((0x30, "15")))) == {"mode": 4, "rssi": 21}
    assert read(item(0xEC, "00FF 0102 0304"), item(0xEF, bytes(13))) == {"fuel2": 25.5}
    assert read(item(0xEC, "00FF 0102 0304"), keep=True) == {"item0xEC": "00ff01020304"}
    assert read(item(0x2A, "0101"), item(0x15, "00000000"))["in1"] is True
    assert read(item(0xF6, "0201 0003"), item(0xF7, "00000F48")) == {
        "event": 2,
        "motion": True,
        "lightSensor": 3,
        "battery": 3.912,
    }
    engine = item(0xEB, entries((0x60D0, "3D")))
    for items in ((item(0xE1, "0834"), engine), (engine, item(0xE1, "0834"))):
        assert read(*items) == {"rpm": 2100, "obdSpeed": 61}
    assert read(item(0xE1, "0083"), item(0xEB, bsj((0x30, "15")))) == {"power": 13.1, "rssi": 21}


@pytest.mark.parametrize(
    ("model", "item_id", "value", "attributes"),
    [
        ("c5l", 0xF8, "02EE", {"steps": 750}),
        ("C5", 0xF8, "02EE", {"steps": 750}),
        ("DT800", 0xE2, "000000FF", {}),
        ("MV810G", 0x57, "0100 0003 00010000", {"alarm": "door,hardAcceleration", "input": 3, "door": True}),
        ("MV710G", 0x57, "0000 0003 00000000", {"input": 3, "door": False, "armed": False}),
    ],
)
def test_models_decide_what_an_item_is(model, item_id, value, attributes):
    assert read(item(item_id, value), model=model) == attributes


def test_a_model_tells_what_its_bits_are_while_they_are_0_too():
    def states(status):
        codec = Jt808()
        codec.configure("MV710G", {})
        attributes = codec.receive(location(status=status))[-1].attributes
        return attributes["armed"], attributes["door"]

    assert states(3) == (False, False)
    assert states(3 | 1 << 6) == (True, False)
    assert states(3 | 1 << 16) == (False, True)


@pytest.mark.parametrize(
    ("item_id", "value", "attributes"),
    [
        (0xBC, "张三".encode("gbk") + b"\0\0", {"driver": "张三"}),
        (0xED, "卡7".encode("gbk"), {"card": "卡7"}),
        (0xFB, b"MSKU1234565", {"container": "MSKU1234565"}),
        (0xBC, b"\xff\xff", {}),
        (0x94, b"WDB9634031L12345", {"vin": "WDB9634031L12345"}),
        (0x60, "0007", {"event": 7}),
        (0x60, "0061 112233445566 3132333435363738", {"event": 0x61, "driverUniqueId": "12345678"}),
        (0x60, "0007 112233445566 3132333435363738 00", {"event": 7}),
        (
            0x64,
            "00000001 01 02 01" + "00" * 29,
            {"adasAlarm": 2, "alarm": "laneChange", "alarmDetail": "laneDeparture"},
        ),
        (0x65, "00000001 02 02 01" + "00" * 29, {"dmsAlarm": 2}),
        (0x70, "00000001 01 02 01" + "00" * 39, {"drivingAlarm": 2, "alarm": "hardBraking"}),
        (0x64, "00000001 03 02 01" + "00" * 29, {}),
        (0x65, "00000001 01 FF 01" + "00" * 29, {}),
    ],
)
def test_items_of_other_sizes_and_scripts(item_id, value, attributes):
    assert read(item(item_id, value)) == attributes


def test_engine_items_follow_their_first():
    items = {
        0x80: "3D",
        0x81: "0834",
        0x82: "008E",
        0x83: "33",
        0x84: "81",
        0x85: "0014",
        0x86: "41",
        0x87: "0021",
        0x88: "64",
        0x89: "19",
        0x8A: "0001",
        0x8B: ascii_hex("LSVAA49J132047371"),
        0x8C: "000004D2",
        0x8D: "000C",
        0x8E: "32",
        0xA0: ascii_hex("P0101,P0204"),
    }
    assert read(*(item(number, value) for number, value in items.items())) == {
        "obdSpeed": 61,
        "rpm": 2100,
        "power": 14.2,
        "engineLoad": 51,
        "coolantTemp": 89,
        "fuelConsumption": 20,
        "intakeTemp": 25,
        "intakeFlow": 33,
        "intakePressure": 100,
        "throttle": 25,
        "vin": "LSVAA49J132047371",
        "obdOdometer": 123400,
        "tripOdometer": 12000,
        "fuelLevel": 50,
        "dtcs": "P0101 P0204",
    }
    assert read(item(0x81, "0834"), item(0x83, "33")) == {}


def test_unknown_items_are_kept_only_where_that_is_configured():
    unknown = [(0x36, "01"), (0xE3, "0102"), (0xE8, "0F48"), (0x64, "00000001"), (0xF9, "0001")]
    items = [item(number, value) for number, value in unknown]
    assert read(*items) == {}
    assert read(*items, keep=True) == {f"item0x{number:02X}": value.lower() for number, value in unknown}
    assert read(item(0xE7, b"\1" * 40), keep=True) == {"item0xE7": "01" * 32}
    codec = Jt808()
    codec.configure("", {"jt808.keepUnknown": True})
    assert codec.receive(location(item(0x36, "01")))[-1].attributes["item0x36"] == "01"


@pytest.mark.parametrize(
    ("item_id", "size"),
    [
        *((number, 13) for number in range(1, 0x20) if number not in (0x11, 0x12, 0x13)),
        (0x36, 1),
        (0x61, 1),
        (0x64, 4),
        (0x65, 1),
        (0x68, 4),
        (0x71, 2),
        (0x8A, 2),
        (0x93, 4),
        (0x9F, 20),
        (0xE5, 2),
        (0xE5, 4),
        (0xE6, 1),
        (0xE7, 2),
        (0xE7, 3),
        (0xE8, 2),
        (0xE3, 1),
        (0xE3, 10),
        (0xEF, 13),
        (0xF4, 1),
        (0xF5, 1),
        (0xF5, 8),
        (0xF9, 2),
        (0xFB, 1),
        (0x20, 3),
    ],
)
def test_lengths_that_are_not_known_say_nothing(item_id, size):
    assert read(item(item_id, b"\x01" * size)) == {}
