"""Each entry of the blocks within items of docs/protocols/jt808-vendors.md."""

import pytest
from tests.codecs.devices.jt808.test_vendor_items import ICCID, ascii_hex, network, read
from tests.codecs.devices.jt808_vendor_frames import bsj, entries, item

ICCID_19 = ICCID[:19]
VIN = "LSVAA49J132047371"


@pytest.mark.parametrize(
    ("number", "value", "attributes"),
    [
        (0x0001, "00FF 00", {"fuel1": 25.5}),
        (0x0023, ascii_hex("012.50"), {"fuel2": 12.5}),
        (0x002D, "00003048", {"power": 12.36}),
        (0x002D, "0F3C", {"battery": 3.9}),
        (0x002D, "3048", {"power": 12.36}),
        (0x0030, "15", {"rssi": 21}),
        (0x0031, "0B", {"sat": 11}),
        (0x00A3, ascii_hex("EG01_V1.2;"), {"versionFw": "EG01_V1.2"}),
        (0x0089, "FFFFEFFF", {"alarm": "removing"}),
        (0x0089, "FDFFFEEF", {"alarm": "accident,hardAcceleration,hardCornering"}),
        (0x0089, "7FFFFDFD", {"alarm": "hardBraking,jamming", "sleep": 2}),
        (0x0089, "FFFFFFFE", {}),
        (0x00A8, "55", {"batteryLevel": 85}),
        (0x00E1, "55", {"batteryLevel": 85}),
        (0x00B2, ICCID_19 + "F", {"iccid": ICCID_19}),
        (0x00FB, ascii_hex(ICCID), {"iccid": ICCID}),
        (0x00C5, "FEFFBFBF", {"alarm": "vibration,removing"}),
        (0x00C5, "FE7FFFFF", {"motion": True}),
        (0x00C5, "FEFFFFFF", {"motion": False}),
        (0x00C6, "03", {"batteryAlarm": 3, "alarm": "lowBattery"}),
        (0x00C6, "01", {"batteryAlarm": 1}),
        (0x00CE, "04D4", {"power": 12.36}),
        (0x00D5, ascii_hex("490154203237518"), {"imei": "490154203237518"}),
        (0x00A5, "01", {}),
    ],
)
def test_blocks_of_bsj(number, value, attributes):
    if number == 0x00C5 and "motion" not in attributes:
        attributes = attributes | {"motion": False}
    assert read(item(0xEB, bsj((number, value)))) == attributes


@pytest.mark.parametrize(
    ("number", "value", "found"),
    [
        (
            0x00B9,
            "02" + ascii_hex("00:11:22:33:44:55,-60,00:11:22:33:44:56,-70"),
            ([], [("00:11:22:33:44:55", -60), ("00:11:22:33:44:56", -70)]),
        ),
        (0x00D8, "01CC 01 1234 0A0B0C0D", ([(460, 1, 4660, 168496141, None)], [])),
        (0x00D8, "01CC 0001 01 1234 0A0B0C0D A6", ([(460, 1, 4660, 168496141, -90)], [])),
        (0x0024, ascii_hex("460;1;4660;168496141"), ([(460, 1, 4660, 168496141, None)], [])),
    ],
)
def test_networks_of_bsj(number, value, found):
    assert network(item(0xEB, bsj((number, value)))) == found


def test_supply_is_lost_where_an_alarm_or_the_voltage_confirms_it():
    lost = (0x0089, "FFFFFFFE")
    assert read(item(0xEB, bsj(lost)), alarm=1 << 8) == {"alarm": "powerCut"}
    assert read(item(0xEB, bsj(lost, (0x002D, "00000000")))) == {"alarm": "powerCut", "power": 0}
    assert read(item(0xEB, bsj(lost, (0x002D, "00003048")))) == {"power": 12.36}


def test_the_other_forms_of_eb():
    assert read(item(0xEB, b"UTC+08:00")) == {"timezone": "UTC+08:00"}
    assert read(item(0xEB, "0102FF"), keep=True) == {"item0xEB": "0102ff"}
    # The second entry does not fit: none of it is BSJ's.
    broken = bsj((0x0030, "15")) + b"\0\x09\0\x31\x0b"
    assert read(item(0xEB, broken)) == {}
    assert read(item(0xEB, bsj((0x00A5, "0102"))), keep=True) == {"item0xEB00A5": "0102"}


@pytest.mark.parametrize(
    ("number", "value", "attributes"),
    [
        (0x0002, "0267", {"obdSpeed": 61.5}),
        (0x0002, "64", {"obdSpeed": 10.0}),
        (0x0003, "0834", {"rpm": 2100}),
        (0x0004, "3764", {"power": 14.18}),
        (0x0005, "000004D2", {"obdOdometer": 123400}),
        (0x0007, "0053", {"fuelConsumption": 8.3}),
        (0x0008, "01FE", {"engineLoad": 51.0}),
        (0x0008, "33", {"engineLoad": 20.0}),
        (0x0009, "0081", {"coolantTemp": 89}),
        (0x0009, "81", {"coolantTemp": 89}),
        (0x000B, "64", {"intakePressure": 100}),
        (0x000C, "41", {"intakeTemp": 25}),
        (0x000D, "0141", {"intakeFlow": 3.21}),
        (0x000E, "40", {"throttle": 25.1}),
        (0x0050, ascii_hex(VIN + "00"), {"vin": VIN}),
        (0x0051, "0A0B", {"cvn": "0a0b"}),
        (0x0052, ascii_hex("CAL-77"), {"calid": "CAL-77"}),
        (0x0100, "000C", {"tripOdometer": 1200}),
        (0x0102, "000C", {"tripFuel": 1.2}),
        (0x0112, "02", {"hardAccelerationCount": 2}),
        (0x0113, "0003", {"hardDecelerationCount": 3}),
        (0x0114, "04", {"hardCorneringCount": 4}),
        (0x0101, "0001", {}),
    ],
)
def test_engine_data(number, value, attributes):
    assert read(item(0xF3, entries((number, value)))) == attributes


def test_engine_data_obey_their_lengths():
    block = "0002020267 0003020834 0004023764 00080133 0009020081 000E0140"
    assert read(item(0xF3, block)) == {
        "obdSpeed": 61.5,
        "rpm": 2100,
        "power": 14.18,
        "engineLoad": 20.0,
        "coolantTemp": 89,
        "throttle": 25.1,
    }
    assert read(item(0xF3, "000202026700030208"), keep=True) == {"item0xF3": "000202026700030208"}


def test_engine_data_as_text():
    text = "$OBD-RT,14.2,2100,50,25,40,89,8.0,7.5,12.5,1234,1.5,400,2,3,4,,,\r\n"
    assert read(item(0xE6, text.encode())) == {
        "power": 14.2,
        "rpm": 2100,
        "obdSpeed": 50,
        "throttle": 25,
        "engineLoad": 40,
        "coolantTemp": 89,
        "fuelConsumption": 4.0,
        "fuelEconomy": 7.5,
        "tripOdometer": 12500,
        "obdOdometer": 1234000,
        "tripFuelUsed": 1.5,
        "fuelUsed": 400,
        "faultCount": 2,
        "hardAccelerationCount": 3,
        "hardDecelerationCount": 4,
    }
    assert read(item(0xE6, b"$OBD-RT,,nan,0,x,inf,,1.2,,,,")) == {"obdSpeed": 0, "fuelConsumption": 1.2}


TAG = "001122334455 C4"


@pytest.mark.parametrize(
    ("item_id", "value", "attributes"),
    [
        (0xF3, f"00 {TAG}", {"tag1Mac": "001122334455", "tag1Rssi": -60}),
        (
            0xF3,
            f"FF {TAG} 41420000000000000000 0102 0BB8 FFCC 0265 000100020003 0000 0000",
            {
                "tag1Mac": "001122334455",
                "tag1Rssi": -60,
                "tag1Name": "AB",
                "tag1Battery": 3.0,
                "tag1Temp": -5.2,
                "tag1Humidity": 61.3,
            },
        ),
        (
            0xF3,
            f"08 {TAG} 00FA {TAG} FFCC",
            {f"tag{tag}Mac": "001122334455" for tag in (1, 2)}
            | {f"tag{tag}Rssi": -60 for tag in (1, 2)}
            | {"tag1Temp": 25.0, "tag2Temp": -5.2},
        ),
        (0xF6, "02 06 FFCC 0265", {"event": 2, "motion": True, "temp1": -5.2, "humidity": 61.3}),
        (
            0xF6,
            "00 39 0007 0001FFFF03E8 00000000000000000000 03F5",
            {"event": 0, "lightSensor": 7, "gSensor": "[1,-1,1000]", "airPressure": 1013},
        ),
        (0xF7, "00000F48", {"battery": 3.912}),
        (0xF7, "00000F48 01", {"battery": 3.912, "charge": False}),
        (0xF7, "00000F48 02 40", {"battery": 3.912, "charge": True, "batteryLevel": 64}),
        (
            0xF8,
            "01 0490154203237518" + ICCID_19 + "F" + ascii_hex("AL300"),
            {"mode": 1, "imei": "490154203237518", "iccid": ICCID_19, "model": "AL300"},
        ),
        (0xF9, "0004 000C", {"hdop": 1.2}),
        (
            0xF9,
            "006F 00000001 00000002 000C 240305222231 0000000000000000 FFCC 00000000",
            {"hdop": 1.2, "temp3": -5.2},
        ),
    ],
)
def test_blocks_of_aovx(item_id, value, attributes):
    assert read(item(item_id, value), model="AL300") == attributes


def test_tags_and_identities_of_aovx_show_without_a_model():
    tags = item(0xF3, f"08 {TAG} 00FA {TAG} FFCC")
    identity = item(0xF8, "01 0490154203237518" + ICCID_19 + "F")
    for shown in (tags, identity):
        assert read(shown) == read(shown, model="AL300")
        assert read(shown, alarm=1 << 16)["alarm"] == "movement"
    assert read(item(0xF3, "00 001122334455 3C")) == {}  # a signal that is none
    assert read(item(0xF8, "01 0490154203237519" + ICCID_19 + "F")) == {}  # a wrong Luhn digit


LABEL = "54455240303031" + "240305222231" + "02" + "03" + "00"


@pytest.mark.parametrize(
    ("kind", "value", "attributes"),
    [
        (0x2002, "0101", {"uploadMode": 1, "archive": True}),
        (
            0x2003,
            "01 05 018E 15 04D4",
            {"charge": True, "batteryLevel": 83, "battery": 3.98, "rssi": 21, "power": 12.36},
        ),
        (0x2003, "00 00 018E 15 04D4", {"charge": False, "battery": 3.98, "rssi": 21, "power": 12.36}),
        (
            0x2005,
            entries(
                (0x0001, "018E"),
                (0x0002, "00000400"),
                (0x0003, "55"),
                (0x0004, "00"),
                (0x0005, ICCID_19 + "F"),
                (0x0007, "0C"),
                (0x2001, "007B"),
            ).hex(),
            {
                "battery": 3.98,
                "dataUsage": 1024,
                "batteryLevel": 85,
                "charge": True,
                "iccid": ICCID_19,
                "hdop": 1.2,
                "power": 12.3,
            },
        ),
        (0x0C03, LABEL, {"ignition": True, "alarmLabel": LABEL}),
        (0x0C04, "", {"ignition": False}),
        (0x0777, "", {"alarm": "general"}),
        *(
            (kind, LABEL, {"alarm": alarm, "alarmLabel": LABEL})
            for alarm, kinds in {
                "fault": [0x0001],
                "hardAcceleration": [0x0400, 0x0412],
                "hardBraking": [0x0401, 0x0413],
                "hardCornering": [0x0402, 0x0414],
                "overspeed": [0x0403],
                "accident": [0x0405, 0x0416, 0x0417],
                "vibration": [0x0406],
                "tow": [0x0407],
                "geofenceEnter": [0x0408],
                "geofenceExit": [0x0409],
                "door": [0x040C],
                "laneChange": [0x0415],
                "sos": [0x0C01],
                "lowPower": [0x0C02],
                "general": [0x0C05],
                "powerCut": [0x0C0E],
                "lowBattery": [0x0C0F],
                "powerOff": [0x0C10],
                "tampering": [0x0C12],
            }.items()
            for kind in kinds
        ),
    ],
)
def test_blocks_of_jimi(kind, value, attributes):
    block = item(0xE8, entries((kind, value)))
    expected = attributes if attributes.get("ignition") is not True else {"alarmLabel": LABEL}
    assert read(block, model="JC371") == expected
    # Without a model blocks whose kinds are known are read all the same.
    assert not value or read(block) == expected


def test_a_kind_of_jimi_whose_data_are_no_blocks():
    assert read(item(0xE8, "0400 FF 01"), model="JC371") == {"alarm": "hardAcceleration"}
    assert read(item(0xE8, "0777 FF 01"), model="JC371") == {}
    assert read(item(0xE8, "0400 FF 01")) == {}


STATES = "FFFF0000000000000000 0401 0000000000000000"


@pytest.mark.parametrize(
    ("item_id", "number", "value", "attributes"),
    [
        (0xEA, 0x0003, "01 000004D2", {"odometer": 1234}),
        (0xEA, 0x0004, "01 000004D2", {"fuelUsed": 1.234}),
        (0xEA, 0x0005, "00000E10", {"hours": 3_600_000}),
        (0xEA, 0x0012, "007B", {"power": 12.3}),
        (0xEA, 0x0013, "27", {"battery": 3.9}),
        (0xEA, 0x0014, "15", {"rssi": 21}),
        (0xEA, 0x0018, "0B", {"sat": 11}),
        (0xEA, 0x0019, "0078", {"hdop": 1.2}),
        (0xEA, 0x001B, "01", {"alarm": "gpsAntennaCut"}),
        (0xEA, 0x001F, "02EE", {"fuelEconomy": 7.5}),
        (0xEB, 0x60C0, "0834", {"rpm": 2100}),
        (0xEB, 0x60D0, "3D", {"obdSpeed": 61}),
        (0xEB, 0x62F0, "80FF", {"fuel": 25.5}),
        (0xEB, 0x62F0, "01FE", {"fuelLevel": 51.0}),
        (0xEB, 0x6050, "81", {"coolantTemp": 89}),
        (0xEB, 0x60F0, "41", {"intakeTemp": 25}),
        (0xEB, 0x60B0, "64", {"intakePressure": 100}),
        (0xEB, 0x6490, "19", {"pedal": 25}),
        (0xEB, 0x60A0, "64", {"fuelPressure": 100}),
        (0xEB, 0x6010, "02", {"faultCount": 2}),
        (0xEB, 0x6100, "0021", {"intakeFlow": 3.3}),
        (0xEB, 0x6110, "00FB", {"throttle": 25.1}),
        (0xEB, 0x6040, "33", {"engineLoad": 51}),
        (0xEB, 0x6905, "19 FF 18 17", {"tire1Pressure": 2.5, "tire3Pressure": 2.4, "tire4Pressure": 2.3}),
        (0xEB, 0x6907, "000004D2", {"obdOdometer": 123400}),
        (0xEC, 0x60C0, "0834", {"rpm": 2100}),
        (0xEC, 0x5004, "19", {"throttle": 25}),
        (0xEC, 0x5005, "0064", {"fuelConsumption": 5.0}),
        (0xEC, 0x5110, "0064", {"fuelConsumption": 5.0}),
        (0xEC, 0x5006, "2540", {"fuelTemp": 25.0}),
        (0xEC, 0x5007, "2D40", {"oilTemp": 89.0}),
        (0xEC, 0x5008, "64", {"oilPressure": 400}),
        (0xEC, 0x5105, "64", {"ureaLevel": 40.0}),
        (0xEC, 0x5115, ascii_hex(VIN), {"vin": VIN}),
        (0xEC, 0x511F, "33", {"engineLoad": 51}),
        (0xED, 0x7001, "000004D2", {"odometer": 123400}),
        (0xED, 0x7002, "55", {"batteryLevel": 85}),
        (0xED, 0x7003, "3D", {"obdSpeed": 61}),
        (0xED, 0x7004, "02", {"charge": True}),
        (0xED, 0x7004, "01", {"charge": False}),
        (0xED, 0x700C, "0E74", {"driveVoltage": 370.0}),
        (0xED, 0x700D, "C738", {"driveCurrent": 10.0}),
        (0xED, 0x703F, "41", {"driveTemp": 25}),
        (0xEE, 0x3001, "00", {"rotation": 3}),
        (0xEE, 0x3001, "02", {"rotation": 2}),
        (0xEE, 0x3002, "028A", {"temp1": 25.0}),
        (0xEE, 0x3005, "015C", {"temp4": -5.2}),
        (
            0xEE,
            0x3006,
            "A0000000 0320 41 00 02BC 40 02",
            {
                "tire1Pressure": 8.0,
                "tire1Temp": 25,
                "tire1Status": 0,
                "tire3Pressure": 7.0,
                "tire3Temp": 24,
                "tire3Status": 2,
            },
        ),
        (
            0xEE,
            0x300D,
            "FFCC 0265 0136 00 C4",
            {
                "tag1Temp": -5.2,
                "tag1Humidity": 61.3,
                "tag1Battery": 3.1,
                "tag1Rssi": -60,
                "alarm": "removing",
            },
        ),
        *(
            (0xFA, number, "", {"alarm": alarm})
            for alarm, numbers in {
                "tow": [0x0101],
                "parking": [0x0102],
                "powerCut": [0x0103],
                "powerRestored": [0x0104],
                "lowPower": [0x0105],
                "door": [0x010F],
                "powerOn": [0x0110],
                "hardAcceleration": [0x0111],
                "hardBraking": [0x0112, 0x0401, 0x0402],
                "hardCornering": [0x0113],
                "accident": [0x0114],
                "vibration": [0x0115],
                "fault": [0x0200, 0x02FF],
                "highRpm": [0x0403],
                "tampering": [0x0405, 0x0407, 0x040B, 0x040C, 0x040D, 0x040E],
                "removing": [0x0408],
                "lowBattery": [0x040A],
            }.items()
            for number in numbers
        ),
        *(
            (0xFA, number, "01", {"alarm": alarm})
            for number, alarm in {
                0x0106: "idle",
                0x0107: "overspeed",
                0x0108: "fatigueDriving",
                0x0109: "temperature",
            }.items()
        ),
    ],
)
def test_blocks_of_holloo(item_id, number, value, attributes):
    assert read(item(item_id, entries((number, value)))) == attributes


def test_states_of_holloo_precede_the_status_word():
    found = read(item(0xEA, entries((0x0011, STATES))))
    assert found == {"ignition": False, "armed": False, "footBrake": True, "door": True}


def test_a_block_of_holloo_is_known_by_an_id_with_its_length():
    assert read(item(0xEA, "0013020064"), keep=True) == {"externalIlluminance": 100}
    assert read(item(0xEC, entries((0x5999, "01"))), keep=True) == {"item0xEC": "59990101"}
    assert read(item(0xFC, "00010101"), keep=True) == {"item0xFC": "00010101"}


def test_cells_of_holloo():
    text = bytes.fromhex("240305222231") + b"460,1,2,4660,168496141,23,4660,168496142,9"
    assert network(item(0xFB, text)) == (
        [(460, 1, 4660, 168496141, 23), (460, 1, 4660, 168496142, 9)],
        [],
    )


def test_sensor_hubs():
    block = "01 11 0F 0003 01 00000001 00000002 00000003 13 02 0064 14 02 03F5 15 02 0265 16 02 02EE"
    assert read(item(0xEA, block)) == {
        "externalAlarms": 3,
        "externalIlluminance": 100,
        "externalAirPressure": 1013,
        "externalHumidity": 61.3,
        "externalTemp": 25.0,
    }
