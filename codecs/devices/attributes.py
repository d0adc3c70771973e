"""The attributes and alarms under which all protocols report the same thing the same way.

`ATTRIBUTES`, `NUMBERED` and `ALARM_DETAILS` are the one table of what codecs and rules make: type, unit and
decimals. What each is called stands in the catalogs of languages (`actors/words/catalogs/`), and
docs/attributes.md shows both. Every codec's test compares the decoded vectors with it.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple


class Attribute(NamedTuple):
    """What the values of an attribute are."""

    kind: type | None
    """`bool`, `str`, `float` for any number that is not a boolean; None: it depends on the protocol."""
    unit: str = ""
    """That of numbers. `m`, `km`, `knots`, `km/h` and `l` are shown in the units of the reader, `ms` and `s`
    as a duration, `m up` (height or accuracy in metres) as altitudes are; `time` is of texts in ISO 8601."""
    decimals: int | None = None
    """Decimals that people read; None: none of a whole number, else two."""
    has_bits: bool = False
    """Whether the bits of a number have separate meanings."""


_FLAGS = """
ignition motion charge archive armed blocked roaming lock door mock gps footBrake string cover future
implausible segmentLate installed odbConnect usbConnected tamper externalBatteryCharge taximeterOn audioOutput
batteryOverheat chargeProtection dischargeProtection
"""
_TEXTS = """
alarm alarmDetail alarmLabel iccid imei vin driverUniqueId result image video audio geofence card phone
command dtcs activity plate model operator ip antenna serial raw network imsi driver container password
lockPassword timezone cvn calid gSensor tilt cardCode cardAgency cardValidity
accessoryMac accessoryName bms connection data dataDetails deviceType driverLicence dtcsCodes
error eventFiles mac manufacturer networkTechnology poi pressureHigh pressureLow registration regions
sensorId tagId tagMac tagName tagUuid taximeterEnd taximeterStart tempData terminalId tid trigger
server backupServer barcode sensorsOutOfRange sensorsPending
"""
_VARYING = "alertData drivingQuality event eventData runtime type versionFw versionHw"
"""Numbers in some protocols, texts in others."""
_NUMBERS: Final[Mapping[tuple[str, int | None], str]] = {
    ("", None): """
        index sat satVisible rssi status flags input output steps priority acceleration
        axisX axisY axisZ sleepMode faultCount sleep
        satGps satBeidou rotation lockCommand lockCard unlockResult lockStatus batteryAlarm uploadMode
        cardStatus cardResult wakeSource
        externalAlarms hardAccelerationCount hardDecelerationCount hardCorneringCount tripNumber idlingCount
        accessoryStatus adasAlarm adasLevel alarmType alertModifier batteryAlert bootReason
        bsdAlarm button channel city clock co2 dataMode dataType dataUsage dmsAlarm dmsLevel doors driverState
        drivingAlarm dtcsNumber engineOverspeed engineStatus externalBatteryCycles fatigueDegree
        illuminance externalIlluminance indicators lightLevel lightSensor lights load loadTrailer loadTruck
        mediaFormat mediaId mediaKind mode obdImpulses oil otherStatus passengersIn passengersOut plateColor
        province reason reportStrategy segment startupStatus storageFault tachographInfo tagMajor tagMinor
        taximeterDistance taximeterFare taximeterTrip taximeterWait totalTrailer totalTruck turnovers
        uptime validity vehicleOverspeed videoAlarm videoCovered videoLost videoCoding abnormalDriving
        warningType audioChannels audioCoding audioSampleBits maxAudioChannels maxVideoChannels
        panic tcpPort udpPort axleWeight sensorsEvaluated
        cycles cycleIndex remainingCapacity fullCapacity current currentChargeInterval maxChargeInterval
        batteryVersion batteryStatus controllerStatus controllerFault faultAlarm dischargeCapacity
        """,
    ("", 1): "hdop vdop pdop",
    ("bpm", 0): "heartRate",
    ("B", 0): "audioFrameBytes",
    ("Hz", 0): "audioSampleRate",
    ("m", None): "odometer serviceOdometer tripOdometer totalDistance distance obdOdometer range",
    ("km", None): "dtcsClearedDistance milDistance",
    ("m up", 0): "verticalAccuracy reportMetres",
    ("ms", None): "hours drivingTime idleHours segmentTime",
    ("s", None): """
        idlingTime heartbeatSeconds sleepReportSeconds reportSeconds overspeedSeconds drivingSeconds
        """,
    ("V", 1): "power power2 chargeVoltage driveVoltage",
    ("V", 2): "battery accessoryVoltage batteryCellMax batteryCellMin sensorVoltage",
    ("A", 1): "driveCurrent batteryCurrent",
    ("Ah", 1): "calibrationCapacity",
    ("%", 0): """
        batteryLevel fuelLevel throttle engineLoad pedal oilLevel liquidLevel ureaLevel adBlueLevel
        hybridBatteryLevel relativeCapacity absoluteCapacity batteryHealth
        externalBattery externalBatteryLevel fatigue bloodOxygen tagBattery
        """,
    ("%", 1): "humidity externalHumidity accessoryHumidity tagHumidity",
    ("l", 1): "fuel fuelUsed tripFuel tripFuelUsed fuelVolume",
    ("l/h", 1): "fuelConsumption idleFuelConsumption",
    ("l/100 km", 1): "fuelEconomy",
    ("rpm", 0): "rpm",
    ("°C", 1): """
        deviceTemp coolantTemp engineTemp intakeTemp fuelTemp oilTemp airTemp driveTemp externalTemp
        accessoryTemp batteryTemp batteryTempMax batteryTempMin tagTemp
        powerTemp equilibriumTemp
        """,
    ("kPa", 0): "intakePressure fuelPressure oilPressure",
    ("kPa", 1): "pressure",
    ("hPa", 0): "airPressure externalAirPressure",
    ("g", 2): "collision",
    ("g/s", 1): "intakeFlow",
    ("km/h", None): "obdSpeed maxSpeed maxSpeedKmh",
    ("knots", None): "speedLimit",
    ("0.1 km", 0): "odometerTenthsKm",
}
_TIMES = "tripStart tripEnd startTime endTime"
_BITS = """
input output sleep externalAlarms videoAlarm videoLost videoCovered storageFault abnormalDriving
indicators lights doors
"""


def _known() -> dict[str, Attribute]:
    known: dict[str, Attribute] = {
        **dict.fromkeys(_FLAGS.split(), Attribute(bool)),
        **dict.fromkeys(_TEXTS.split(), Attribute(str)),
        **dict.fromkeys(_TIMES.split(), Attribute(str, "time")),
        **dict.fromkeys(_VARYING.split(), Attribute(None)),
    }
    for (unit, decimals), keys in _NUMBERS.items():
        known |= dict.fromkeys(keys.split(), Attribute(float, unit, decimals))
    return known | {key: known[key]._replace(has_bits=True) for key in _BITS.split()}


ATTRIBUTES: Final[Mapping[str, Attribute]] = _known()
"""By key."""

NUMBERED: Final[Mapping[str, Attribute]] = {
    "temp#": Attribute(float, "°C", 1),
    "adc#": Attribute(float, "V", 2),
    "count#": Attribute(float),
    "fuel#": Attribute(float, "l", 1),
    "bleTemp#": Attribute(float, "°C", 1),
    "humidity#": Attribute(float, "%", 1),
    "tempProbe#": Attribute(float, "°C", 1),
    "eyeTemp#": Attribute(float, "°C", 1),
    "eyeRoll#": Attribute(float, "°", 0),
    "battery#Level": Attribute(float, "%", 0),
    "batteryCell#": Attribute(float, "V", 3),
    "battery#": Attribute(float, "V", 2),
    "batteryTemp#": Attribute(float, "°C", 0),
    "axle#": Attribute(float),
    "axleWeight#": Attribute(float),
    "tyre#": Attribute(float),
    "alarm#Status": Attribute(float),
    "in#": Attribute(None),
    "out#": Attribute(None),
    "hs#": Attribute(float),
    "ls#": Attribute(float),
    "io#": Attribute(None),
    "assign#": Attribute(str),
    "driver#Card": Attribute(str),
    "driver#Name": Attribute(str),
    "tire#Pressure": Attribute(float, "bar", 1),
    "tire#Temp": Attribute(float, "°C", 0),
    "tire#BatteryLevel": Attribute(float, "%", 0),
    "tire#Status": Attribute(float),
    "tire#SensorId": Attribute(str),
    "tag#Id": Attribute(str),
    "tag#Mac": Attribute(str),
    "tag#Name": Attribute(str),
    "tag#Data": Attribute(str),
    "tag#Rssi": Attribute(float, "dBm", 0),
    "tag#Min": Attribute(float, "dBm", 0),
    "tag#Max": Attribute(float, "dBm", 0),
    "tag#Samples": Attribute(float),
    "tag#Major": Attribute(float),
    "tag#Minor": Attribute(float),
    "tag#Temp": Attribute(float, "°C", 1),
    "tag#Humidity": Attribute(float, "%", 1),
    "tag#Battery": Attribute(float, "V", 2),
    "tag#BatteryLevel": Attribute(float, "%", 0),
    "tag#Voltage": Attribute(float, "mV", 0),
    "tag#LowBattery": Attribute(bool),
    "tag#Status": Attribute(float),
    "tag#Magnet": Attribute(bool),
    "tag#Motion": Attribute(bool),
    "tag#MotionCount": Attribute(float),
    "tag#Pitch": Attribute(float, "°", 0),
    "tag#AngleRoll": Attribute(float, "°", 0),
    "beacon#Uuid": Attribute(str),
    "beacon#Namespace": Attribute(str),
    "beacon#Instance": Attribute(str),
    "beacon#Major": Attribute(float),
    "beacon#Minor": Attribute(float),
    "beacon#Rssi": Attribute(float, "dBm", 0),
    "beacon#Battery": Attribute(float, "V", 2),
    "beacon#Temp": Attribute(float, "°C", 1),
    "lock#Id": Attribute(str),
    "lock#Card": Attribute(str),
    "lock#Battery": Attribute(float),
    "lock#Locked": Attribute(bool),
    "lock#Seal": Attribute(bool),
    "bms#": Attribute(str),
    "parameter#": Attribute(None),
    "item#": Attribute(str),
}
"""By key, where `#` stands for a number of up to five digits; in the last three for hexadecimal digits."""

OF_PROTOCOLS: Final[Mapping[str, Attribute]] = {
    "jt808.status": Attribute(float, has_bits=True),
    "jt808.input": Attribute(float, has_bits=True),
    "gt06.tagBattery": Attribute(float, "V", 2),
}
"""By the name of a protocol and the key: what these are there."""

HIDDEN: Final = frozenset(("raw", "alarmLabel", "alarmDetail", "sensorsPending", "sensorsEvaluated"))
"""Attributes that only programs need, or that another one says already."""

_ALARMS = """
general sos vibration movement lowspeed overspeed fallDown lowPower lowBattery fault powerOff
powerOn door lock unlock geofence geofenceEnter geofenceExit gpsAntennaCut accident tow idle highRpm
hardAcceleration hardBraking hardCornering laneChange fatigueDriving powerCut powerRestored jamming
temperature parking bonnet footBrake fuelLeak tampering removing
"""
ALARMS: Final = frozenset(_ALARMS.split())
"""The names that `alarm` may hold, separated by commas."""

_DETAILS = {
    "general": """
        dangerWarning drivingViolation tireWarning blindSpotWarning routeTime overcrowded abnormalDriving
        forwardCollision followingTooClose pedestrianCollision obstacle assistanceFault solidLineCrossed
        personInAisle
        phoneUse phoneScreen smoking distraction driverNotSeen handsOffWheel monitoringFault noSeatBelt
        eyesCovered driverCameraCovered overtimeDriving
        rearApproach leftApproach rightApproach
        longIdling engineStalled coasting engineOverspeed
        tire#PressureHigh tire#PressureLow tire#TempHigh tire#SensorFault tire#PressureUneven tire#SlowLeak
        tire#BatteryLow
    """,
    "fault": """
        gnssFault gnssAntennaShort displayFault speechFault cameraFault cardReaderFault speedSensorFault
        videoSignalLost videoStorageFault videoUnitFault
    """,
    "tampering": "cameraCovered",
    "overspeed": "overspeedWarning roadSignExceeded",
    "fatigueDriving": "fatigueWarning drivingTimeExceeded",
    "laneChange": "laneDeparture frequentLaneChange",
    "parking": "parkedTooLong",
    "geofence": "areaCrossed routeCrossed",
    "geofenceExit": "routeLeft",
    "fuelLeak": "fuelAbnormal",
    "tow": "vehicleStolen",
    "powerOn": "unauthorizedIgnition",
    "movement": "unauthorizedMovement",
    "accident": "collisionWarning rolloverWarning",
    "door": "unauthorizedDoor",
}
ALARM_DETAILS: Final[Mapping[str, str]] = {
    detail: alarm for alarm, details in _DETAILS.items() for detail in details.split()
}
"""What an alarm may be exactly, and the name that `alarm` has for it; `#` stands for a number."""

_PLAIN_UNITS = {"m up": "m", "time": ""}
_DIGITS = re.compile(r"[0-9]{1,5}")
_HEXADECIMAL = re.compile(r"(bms|parameter|item)(0x[0-9A-F]+|[0-9a-f]+)")


class Found(NamedTuple):
    """An entry of the table."""

    name: str
    """Its key there: `temp#`, or `jt808.status`."""
    number: str
    """What stands for `#`; empty where there is none."""
    attribute: Attribute


@lru_cache(maxsize=4096)
def find_attribute(key: str, protocol: str = "") -> Found | None:
    """Return the entry of an attribute; None for one that is not in the table.

    With a protocol that of the protocol, where it has one of its own.
    """
    if protocol and (known := OF_PROTOCOLS.get(own := f"{protocol}.{key}")) is not None:
        return Found(own, "", known)
    known = ATTRIBUTES.get(key)
    if known is not None:
        return Found(key, "", known)
    digits = _HEXADECIMAL.fullmatch(key)
    if digits is not None:
        name, number = f"{digits[1]}#", digits[2]
    else:
        name, number = with_mark(key)
    known = NUMBERED.get(name)
    return None if known is None else Found(name, number, known)


def with_mark(key: str) -> tuple[str, str]:
    """Return a key with `#` for its first number, and the number; empty where it has none."""
    found = _DIGITS.search(key)
    return (key, "") if found is None else (f"{key[: found.start()]}#{key[found.end() :]}", found[0])


def unit_of(key: str, protocol: str = "") -> str:
    """Return the unit of an attribute; empty where it has none or the key is not in the table."""
    found = find_attribute(key, protocol)
    return "" if found is None else _PLAIN_UNITS.get(found.attribute.unit, found.attribute.unit)


def set_bits(value: int) -> list[int]:
    """Return the numbers, from 0, of the bits that are set."""
    return [bit for bit in range(value.bit_length()) if value >> bit & 1]


def alarm_of(detail: str) -> str:
    """Return the alarm that a detail, with or without a level, belongs to; `general` for an unknown one."""
    name = detail.partition(":")[0]
    if name in ALARMS:
        return name
    return ALARM_DETAILS.get(name) or ALARM_DETAILS.get(with_mark(name)[0], "general")


def add_alarms(attributes: dict[str, Any], names: Iterable[str]) -> None:
    """Add alarms to those that the attributes hold: in order, each once.

    Args:
        attributes: to be completed.
        names: alarms, or what they are exactly (`ALARM_DETAILS`), either of them with the level that the
            device gives them behind a colon: `phoneUse:1`. Details and levels go to `alarmDetail`.
    """
    alarms, details = _split(attributes.get("alarm")), _split(attributes.get("alarmDetail"))
    for name in names:
        if name in ALARMS:
            alarms[name] = None
        else:
            alarms[alarm_of(name)] = None
            details[name] = None
    if alarms:
        attributes["alarm"] = ",".join(alarms)
    if details:
        attributes["alarmDetail"] = ",".join(details)


def _split(text: str | None) -> dict[str, None]:
    return dict.fromkeys(text.split(",")) if text else {}


def put(attributes: dict[str, Any], name: str, value: object) -> None:
    """Add an attribute, unless it has no value."""
    if value is not None:
        attributes[name] = value
