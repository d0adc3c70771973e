"""The items of a JT/T 808 location as attributes (docs/protocols/jt808.md#location-items)."""

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

from motorpool.codecs.devices.jt808.alarm_labels import AlarmLabel
from motorpool.codecs.reports import ALARM_LABEL

Attributes = dict[str, Any]
Alarms = list[str]
Reader = Callable[[Any, Attributes, Alarms], None]

NUMERIC_ITEMS: dict[int, tuple[str, float]] = {
    0x01_04: ("odometer", 100),  # 0.1 km -> metres
    0x03_02: ("obdSpeed", -10),  # 0.1 km/h
    0x04_02: ("event", 1),
    0x06_01: ("batteryLevel", 1),
    0x15_04: ("videoLost", 1),  # bit n: channel n + 1
    0x16_04: ("videoCovered", 1),
    0x17_02: ("storageFault", 1),  # bits 0-11 main stores, 12-15 backup stores
    0x25_04: ("input", 1),  # lamps, horn, brake, clutch ... as a bit mask
    0x2A_02: ("sleep", 1),  # bit 0 deep sleep, bit 1 sleep
    0x30_01: ("rssi", 1),
    0x31_01: ("sat", 1),
}
"""Items that are one number, by id << 8 | length, because small trackers reuse ids with other lengths: the
attribute, and the factor of its value, or the divisor where negative."""


def _by_code(alarms: Mapping[int, str]) -> Mapping[str, str]:
    return {str(code): alarm for code, alarm in alarms.items() if alarm}


_VIDEO_ALARMS = (
    "videoSignalLost",
    "cameraCovered",
    "videoStorageFault",
    "videoUnitFault",
    "overcrowded",
    "abnormalDriving",
)
"""Alarms of item 0x14 by bit."""
_ABNORMAL_DRIVING = ("fatigueDriving", "phoneUse", "smoking")
"""Alarms of item 0x18 by bit."""

_ADAS_ALARMS = {
    1: "forwardCollision",
    2: "laneDeparture",
    3: "followingTooClose",
    4: "pedestrianCollision",
    5: "frequentLaneChange",
    6: "roadSignExceeded",
    7: "obstacle",
    8: "assistanceFault",
    18: "solidLineCrossed",
    19: "personInAisle",
}
_DRIVER_ALARMS = {
    1: "fatigueDriving",
    2: "phoneUse",
    3: "smoking",
    4: "distraction",
    5: "driverNotSeen",
    6: "handsOffWheel",
    7: "monitoringFault",
}
_DRIVER_ALARMS_OF_GUANGDONG = {
    1: "fatigueDriving",
    2: "phoneUse",
    3: "smoking",
    4: "distraction",
    5: "driverNotSeen",
    6: "driverCameraCovered",
    8: "overtimeDriving",
    10: "noSeatBelt",
    11: "eyesCovered",
    12: "handsOffWheel",
    13: "phoneScreen",
}
_BLIND_SPOT_ALARMS = {1: "rearApproach", 2: "leftApproach", 3: "rightApproach"}
_DRIVING_ALARMS = {
    1: "hardAcceleration",
    2: "hardBraking",
    3: "hardCornering",
    4: "longIdling",
    5: "engineStalled",
    6: "coasting",
    7: "engineOverspeed",
    0x16: "accident",
}
ALARM_CODES: Mapping[str, Mapping[str, str]] = {
    "adasAlarm": _by_code(_ADAS_ALARMS),
    # 6 is something else in Guangdong.
    "dmsAlarm": _by_code({**_DRIVER_ALARMS_OF_GUANGDONG, **_DRIVER_ALARMS, 6: ""}),
    "bsdAlarm": _by_code(_BLIND_SPOT_ALARMS),
    "drivingAlarm": _by_code(_DRIVING_ALARMS),
    "videoAlarm": _by_code(dict(enumerate(_VIDEO_ALARMS))),
    "abnormalDriving": _by_code(dict(enumerate(_ABNORMAL_DRIVING))),
}
"""What values, or bits, of attributes stand for: alarms, or what they are exactly, by code in digits."""

_CAMERA_EVENTS = frozenset((16, 17))
"""Events that raise no alarm: a sign or a driver recognized, a snapshot taken."""
_ALARM_ENDED = 2
_LAST_KIND = 0x20
_TYRE_LABEL_OFFSET = 24
_TYRE = Struct(">BHHhH")
"""A tyre's entry in item 0x66, after the label and the number of tyres: place from 0, alarms, kPa, °C, % of
the sensor's battery."""
_TYRE_ALARMS = {
    1: "PressureHigh",
    2: "PressureLow",
    3: "TempHigh",
    4: "SensorFault",
    5: "PressureUneven",
    6: "SlowLeak",
    7: "BatteryLow",
}
"""By bit; bit 0 is a report at regular times."""
_TYRE_VALUE_ABSENT = 0xFFFF


def _fuel(value: int, attributes: Attributes, _: Alarms) -> None:
    if value & 0x8000:
        attributes["fuelLevel"] = value & 0x7FFF
    else:
        attributes["fuel"] = value / 10


def _cabin_temperature(value: int, attributes: Attributes, _: Alarms) -> None:
    attributes["temp1"] = -(value & 0x7FFF) if value & 0x8000 else value


def _overspeed(_: int, __: Attributes, alarms: Alarms) -> None:
    alarms.append("overspeed")


def _video_alarm(value: int, attributes: Attributes, alarms: Alarms) -> None:
    attributes["videoAlarm"] = value
    if value:
        alarms.extend(alarm for place, alarm in enumerate(_VIDEO_ALARMS) if value >> place & 1)


def _abnormal_driving(value: int, attributes: Attributes, alarms: Alarms) -> None:
    attributes["abnormalDriving"] = value
    if value:
        alarms.extend(alarm for place, alarm in enumerate(_ABNORMAL_DRIVING) if value >> place & 1)


def _analogue(value: int, attributes: Attributes, _: Alarms) -> None:
    attributes["adc1"], attributes["adc2"] = value & 0xFFFF, value >> 16


def _tyres(value: bytes, attributes: Attributes, _: Alarms) -> None:
    for place, pressure in enumerate(value, 1):
        if pressure != 0xFF:  # no such tyre
            attributes[f"tyre{place}"] = pressure


def _overspeed_place(value: bytes, attributes: Attributes, alarms: Alarms) -> None:
    if value[0]:
        attributes["geofence"] = str(int.from_bytes(value[1:], "big"))
    alarms.append("overspeed")


def _area(value: bytes, attributes: Attributes, alarms: Alarms) -> None:
    attributes["geofence"] = str(int.from_bytes(value[1:5], "big"))
    alarms.append("geofenceExit" if value[5] else "geofenceEnter")


def _segment_time(value: bytes, attributes: Attributes, _: Alarms) -> None:
    attributes["segment"] = int.from_bytes(value[:4], "big")
    attributes["segmentTime"] = int.from_bytes(value[4:6], "big") * 1000
    attributes["segmentLate"] = value[6] == 1


def _fatigue(value: bytes, attributes: Attributes, alarms: Alarms) -> None:
    _abnormal_driving(int.from_bytes(value[:2], "big"), attributes, alarms)
    attributes["fatigue"] = value[2]


def _camera_alarm(name: str, names: dict[int, str]) -> Reader:
    """Return the reader of what a camera sees: `<name>Alarm`, `<name>Level` and one of these alarms."""

    def read(value: bytes, attributes: Attributes, alarms: Alarms) -> None:
        kind = attributes[f"{name}Alarm"] = value[5]
        level = attributes[f"{name}Level"] = value[6]
        if value[4] != _ALARM_ENDED and kind not in _CAMERA_EVENTS:
            alarm = names.get(kind, "general")
            alarms.append(f"{alarm}:{level}" if level else alarm)
        add_alarm_label(AlarmLabel.parse(value[31:]), attributes)

    return read


def _unlabelled_alarm(key: str, names: dict[int, str]) -> Reader:
    """Return the reader of an alarm whose label has another size, where its state and kind are plausible."""

    def read(value: bytes, attributes: Attributes, alarms: Alarms) -> None:
        if value[4] > _ALARM_ENDED or not 0 < value[5] <= _LAST_KIND:
            return
        attributes[key] = value[5]
        if value[4] != _ALARM_ENDED and value[5] not in _CAMERA_EVENTS:
            alarms.append(names.get(value[5], "general"))

    return read


def _labelled_alarm(key: str, label_start: int, names: dict[int, str]) -> Reader:
    """Return the reader of an item that is another maker's where no label stands in its place."""

    def read(value: bytes, attributes: Attributes, alarms: Alarms) -> None:
        label = AlarmLabel.parse(value[label_start:])
        if label is None:
            return
        attributes[key] = value[5]
        if value[4] != _ALARM_ENDED:
            alarms.append(names.get(value[5], "general"))
        add_alarm_label(label, attributes)

    return read


def tyre_alarm(value: bytes, attributes: Attributes, alarms: Alarms) -> bool:
    """Read an item of `TYRE_ALARM_ITEMS` if it is an alarm of tyres, and return whether it is."""
    size = 16 if (len(value) - _TYRE_LABEL_OFFSET - 17) % _TYRE.size == 0 else 40
    entries = _TYRE_LABEL_OFFSET + size + 1
    label = AlarmLabel.parse(value[_TYRE_LABEL_OFFSET : entries - 1])
    if label is None:
        return False
    raised = [
        name
        for place, bits, *measured in _TYRE.iter_unpack(value[entries:])
        for name in _tyre(f"tire{place + 1}", bits, measured, attributes)
    ]
    if value[4] != _ALARM_ENDED:
        alarms.extend(raised or ("general",))
    add_alarm_label(label, attributes)
    return True


def _tyre(wheel: str, bits: int, measured: list[int], attributes: Attributes) -> list[str]:
    """Add pressure, temperature and battery of a sensor; return its alarms."""
    pressure, degrees, level = measured
    if pressure != _TYRE_VALUE_ABSENT:
        attributes[f"{wheel}Pressure"] = pressure / 100
    if degrees & 0xFFFF != _TYRE_VALUE_ABSENT:
        attributes[f"{wheel}Temp"] = degrees
    if level != _TYRE_VALUE_ABSENT:
        attributes[f"{wheel}BatteryLevel"] = level
    return [f"{wheel}{alarm}" for bit, alarm in _TYRE_ALARMS.items() if bits >> bit & 1]


def add_alarm_label(label: AlarmLabel | None, attributes: Attributes) -> None:
    """Add the label of an alarm with files; a location may hold several."""
    if label is not None and label.files:
        earlier = attributes.get(ALARM_LABEL)
        added = label.content.hex()
        attributes[ALARM_LABEL] = f"{earlier},{added}" if earlier else added


BIT_FIELD_ITEMS: dict[int, Callable[[int, Attributes, Alarms], None]] = {
    0x02_02: _fuel,
    0x06_02: _cabin_temperature,
    0x11_01: _overspeed,
    0x14_04: _video_alarm,
    0x18_02: _abnormal_driving,
    0x2B_04: _analogue,
}
"""Items of 1, 2 or 4 bytes whose bits have separate meanings; keyed as `NUMERIC_ITEMS`."""

STRUCTURED_ITEMS: dict[int, Callable[[bytes, Attributes, Alarms], None]] = {
    **dict.fromkeys(range(0x64_20, 0x65_00), _unlabelled_alarm("adasAlarm", _ADAS_ALARMS)),
    **dict.fromkeys(range(0x65_20, 0x66_00), _unlabelled_alarm("dmsAlarm", _DRIVER_ALARMS)),
    **dict.fromkeys(range(0x70_20, 0x71_00), _unlabelled_alarm("drivingAlarm", _DRIVING_ALARMS)),
    0x05_1E: _tyres,
    0x11_05: _overspeed_place,
    0x12_06: _area,
    0x13_07: _segment_time,
    0x18_03: _fatigue,
    # With the short and the long (Guangdong) alarm label.
    **dict.fromkeys((0x64_2F, 0x64_47), _camera_alarm("adas", _ADAS_ALARMS)),
    0x65_2F: _camera_alarm("dms", _DRIVER_ALARMS),
    0x65_47: _camera_alarm("dms", _DRIVER_ALARMS_OF_GUANGDONG),
    **dict.fromkeys((0x67_29, 0x67_41), _labelled_alarm("bsdAlarm", 25, _BLIND_SPOT_ALARMS)),
    **dict.fromkeys((0x70_2F, 0x70_47), _labelled_alarm("drivingAlarm", 31, _DRIVING_ALARMS)),
}
"""Longer items; keyed as `NUMERIC_ITEMS`."""

TYRE_ALARM_ITEMS = frozenset(
    0x66_00 | _TYRE_LABEL_OFFSET + label + 1 + tyres * _TYRE.size
    for label in (16, 40)
    for tyres in range(1, 21)
    if _TYRE_LABEL_OFFSET + label + 1 + tyres * _TYRE.size < 256
)
"""Items that may be a tyre alarm or another maker's cells."""
