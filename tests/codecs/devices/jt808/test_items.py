import pytest

from motorpool.codecs.devices.jt808.item_layouts import ItemDecoder
from motorpool.codecs.devices.jt808.vendors.models import STANDARD

DECODER = ItemDecoder(STANDARD, keeps_unknown=True)


def read(*items):
    """Attributes and alarms of items given as id and value in hex."""
    attributes = {}
    content = b"".join(
        bytes((number, len(bytes.fromhex(value)))) + bytes.fromhex(value) for number, value in items
    )
    alarms, _ = DECODER.decode(content, 0, len(content), attributes)
    return attributes, alarms


@pytest.mark.parametrize(
    ("item", "value", "attributes", "alarms"),
    [
        (0x01, "0000480e", {"odometer": 1844600}, []),
        (0x02, "00ff", {"fuel": 25.5}, []),
        (0x02, "8032", {"fuelLevel": 50}, []),
        (0x03, "01d6", {"obdSpeed": 47.0}, []),
        (0x04, "0007", {"event": 7}, []),
        (0x05, "20" + "ff" * 28 + "21", {"tyre1": 32, "tyre30": 33}, []),
        (0x06, "0015", {"temp1": 21}, []),
        (0x06, "8005", {"temp1": -5}, []),
        (0x06, "64", {"batteryLevel": 100}, []),
        (0x11, "00", {}, ["overspeed"]),
        (0x11, "0100000009", {"geofence": "9"}, ["overspeed"]),
        (0x11, "0000000009", {}, ["overspeed"]),
        (0x12, "010000000700", {"geofence": "7"}, ["geofenceEnter"]),
        (0x12, "040000000701", {"geofence": "7"}, ["geofenceExit"]),
        (0x13, "00000003003c01", {"segment": 3, "segmentTime": 60000, "segmentLate": True}, []),
        (0x14, "00000000", {"videoAlarm": 0}, []),
        (0x14, "00000007", {"videoAlarm": 7}, ["videoSignalLost", "cameraCovered", "videoStorageFault"]),
        (0x14, "00000038", {"videoAlarm": 56}, ["videoUnitFault", "overcrowded", "abnormalDriving"]),
        (0x14, "00000040", {"videoAlarm": 64}, []),
        (0x15, "00000005", {"videoLost": 5}, []),
        (0x16, "80000000", {"videoCovered": 1 << 31}, []),
        (0x17, "1001", {"storageFault": 4097}, []),
        (0x18, "0001", {"abnormalDriving": 1}, ["fatigueDriving"]),
        (0x18, "000450", {"abnormalDriving": 4, "fatigue": 80}, ["smoking"]),
        (0x18, "0007", {"abnormalDriving": 7}, ["fatigueDriving", "phoneUse", "smoking"]),
        (0x25, "00000013", {"input": 19}, []),
        (0x2A, "0002", {"sleep": 2}, []),
        (0x2B, "00640032", {"adc1": 50, "adc2": 100}, []),
        (0x30, "18", {"rssi": 24}, []),
        (0x31, "0b", {"sat": 11}, []),
        (0x64, "0000000101" + "02" + "01" + "00" * 40, {"adasAlarm": 2, "adasLevel": 1}, ["laneDeparture:1"]),
        (0x64, "0000000102" + "02" + "01" + "00" * 40, {"adasAlarm": 2, "adasLevel": 1}, []),
        (0x64, "0000000100" + "11" + "00" + "00" * 40, {"adasAlarm": 17, "adasLevel": 0}, []),
        (
            0x64,
            "0000000101" + "01" + "02" + "00" * 64,
            {"adasAlarm": 1, "adasLevel": 2},
            ["forwardCollision:2"],
        ),
        (0x65, "0000000101" + "01" + "02" + "00" * 40, {"dmsAlarm": 1, "dmsLevel": 2}, ["fatigueDriving:2"]),
        (0x65, "0000000101" + "03" + "02" + "00" * 64, {"dmsAlarm": 3, "dmsLevel": 2}, ["smoking:2"]),
        (0x65, "00000001", {"item0x65": "00000001"}, []),
        (0x67, "0102", {"item0x67": "0102"}, []),
        (0x01, "0102", {"item0x01": "0102"}, []),
        (0xE1, "00" * 33, {"item0xE1": "00" * 32}, []),
        (0xE1, "", {}, []),
    ],
)
def test_an_item_is_taken_alike_when_walked_and_when_learned(item, value, attributes, alarms):
    for _ in range(2):
        assert read((item, value)) == (attributes, alarms)


def test_all_items_of_one_location_add_up():
    assert read((0x01, "00000001"), (0x14, "00000001"), (0x11, "00"), (0x31, "05")) == (
        {"odometer": 100, "videoAlarm": 1, "sat": 5},
        ["videoSignalLost", "overspeed"],
    )


def test_types_are_those_that_clients_expect():
    attributes, _ = read((0x01, "00000001"), (0x02, "0001"), (0x03, "0001"), (0x31, "05"))
    assert {name: type(value) for name, value in attributes.items()} == {
        "odometer": int,
        "fuel": float,
        "obdSpeed": float,
        "sat": int,
    }


SU = "5445524d303031" + "260305200000" + "02" + "03" + "00"
YUE = "5445524d303031" + "00" * 23 + "260305200000" + "02" + "03" + "0000"
PLACE = "32" + "0022" + "03200000" + "00cc0000" + "260305200000" + "0001"
"""Speed, altitude, latitude, longitude, time and vehicle status of an active-safety alarm."""
TYRE = "00" + "0004" + "00fa" + "0019" + "0050"
"""The first wheel, its pressure low: 250 kPa, 25 °C, 80 % of the battery."""
TYRE_VALUES = {"tire1Pressure": 2.5, "tire1Temp": 25, "tire1BatteryLevel": 80}


@pytest.mark.parametrize("label", [SU, YUE])
@pytest.mark.parametrize(
    ("item", "head", "tail", "attributes", "alarms"),
    [
        (0x64, "00000001 01 03 01 0000000000", "", {"adasAlarm": 3, "adasLevel": 1}, ["followingTooClose:1"]),
        (0x65, "00000001 01 02 01 0000000000", "", {"dmsAlarm": 2, "dmsLevel": 1}, ["phoneUse:1"]),
        (0x66, "00000001 01", "01" + TYRE, TYRE_VALUES, ["tire1PressureLow"]),
        (0x66, "00000001 01", "01" + TYRE[:2] + "0001" + TYRE[6:], TYRE_VALUES, ["general"]),
        (
            0x66,
            "00000001 01",
            "02" + TYRE + "0a" + "00d0" + "ffff" * 3,
            TYRE_VALUES,
            ["tire1PressureLow", "tire11SensorFault", "tire11SlowLeak", "tire11BatteryLow"],
        ),
        (0x66, "00000001 02", "01" + TYRE, TYRE_VALUES, []),
        (0x67, "00000001 01 02", "", {"bsdAlarm": 2}, ["leftApproach"]),
        (0x70, "00000001 01 06 0005 0028 0000", "", {"drivingAlarm": 6}, ["coasting"]),
        (0x70, "00000001 01 01 0005 0028 0000", "", {"drivingAlarm": 1}, ["hardAcceleration"]),
        (0x70, "00000001 01 02 0005 0028 0000", "", {"drivingAlarm": 2}, ["hardBraking"]),
        (0x70, "00000001 01 03 0005 0028 0000", "", {"drivingAlarm": 3}, ["hardCornering"]),
        (0x70, "00000001 02 07 0005 0028 0000", "", {"drivingAlarm": 7}, []),
    ],
)
def test_an_alarm_with_files_names_its_label(label, item, head, tail, attributes, alarms):
    value = (head + PLACE + label + tail).replace(" ", "")
    for _ in range(2):
        assert read((item, value)) == ({**attributes, "alarmLabel": label}, alarms)


@pytest.mark.parametrize(
    ("item", "label", "kinds"),
    [
        (
            0x64,
            SU,
            "forwardCollision laneDeparture followingTooClose pedestrianCollision frequentLaneChange"
            " roadSignExceeded obstacle assistanceFault",
        ),
        (
            0x65,
            SU,
            "fatigueDriving phoneUse smoking distraction driverNotSeen handsOffWheel monitoringFault general",
        ),
        # Guangdong's list goes on otherwise, and has the longer label.
        (
            0x65,
            YUE,
            "fatigueDriving phoneUse smoking distraction driverNotSeen driverCameraCovered general"
            " overtimeDriving general noSeatBelt eyesCovered handsOffWheel phoneScreen general",
        ),
    ],
)
def test_cameras_say_what_they_see_with_its_level(item, label, kinds):
    for kind, name in enumerate(kinds.split(), 1):
        value = f"0000000101{kind:02x}02" + "00" * 5 + PLACE + label
        assert read((item, value))[1] == [f"{name}:2"]
        assert read((item, value[:12] + "00" + value[14:]))[1] == [name]


def test_an_alarm_without_files_names_none():
    value = "000000010103010000000000" + PLACE + SU[:-4] + "0000"
    assert read((0x64, value)) == ({"adasAlarm": 3, "adasLevel": 1}, ["followingTooClose:1"])


def test_two_alarms_of_one_location_are_both_named():
    adas, dsm = ("00000001010301" + "00" * 5 + PLACE + SU[:-6] + f"0{number}0300" for number in (2, 3))
    attributes, _ = read((0x64, adas), (0x65, dsm))
    assert attributes["alarmLabel"] == f"{SU[:-6]}020300,{SU[:-6]}030300"


@pytest.mark.parametrize(("item", "size"), [(0x67, 41), (0x67, 65), (0x70, 47)])
def test_what_other_makers_keep_at_the_same_length_is_no_alarm(item, size):
    assert read((item, "7f" * size)) == ({}, [])
