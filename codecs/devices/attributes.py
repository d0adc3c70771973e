"""The attributes of positions under which all protocols report the same thing the same way.

They are documented in docs/protocols/common.md#attribute-keys; every codec's test compares the decoded
vectors with them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

_BOOLEANS = "ignition motion charge archive armed blocked roaming lock door mock gps footBrake string cover"
_TEXTS = (
    "alarm iccid imei vin driverUniqueId result image video audio geofence card phone"
    " command dtcs activity plate model operator ip antenna serial raw network imsi driver container password"
    " lockPassword timezone cvn calid gSensor tilt cardCode cardAgency cardValidity"
)
_NUMBERS = {
    "": "index hdop vdop pdop sat satVisible rssi status flags input output steps priority acceleration"
    " axleWeight axisX axisY axisZ sleepMode faultCount sleep"
    " satGps satBeidou rotation lockCommand lockCard unlockResult lockStatus batteryAlarm uploadMode"
    " cardStatus cardResult wakeSource"
    " externalAlarms hardAccelerationCount hardDecelerationCount hardCorneringCount tripNumber idlingCount",
    "bpm": "heartRate",
    "m": "odometer serviceOdometer tripOdometer totalDistance distance obdOdometer",
    "ms": "hours drivingTime",
    "V": "power battery driveVoltage",
    "A": "driveCurrent",
    "%": "batteryLevel fuelLevel humidity pedal oilLevel liquidLevel ureaLevel externalHumidity",
    "l": "fuel fuelUsed tripFuel tripFuelUsed",
    "l/h": "fuelConsumption",
    "l/100 km": "fuelEconomy",
    "rpm": "rpm",
    "°C": "deviceTemp coolantTemp engineTemp intakeTemp fuelTemp oilTemp airTemp driveTemp externalTemp",
    "kPa": "intakePressure fuelPressure oilPressure",
    "hPa": "airPressure",
    "g/s": "intakeFlow",
    "km/h": "obdSpeed",
    "knots": "speedLimit",
}
_NUMBERED = {"temp": "°C", "adc": "V", "count": "", "fuel": "", "bleTemp": "°C", "humidity": "%"}
"""Prefixes of numbered keys, from 1, whose values are numbers, and their units."""
_NUMBERED_WITHIN = {"tirePressure": "bar", "tireTemp": "°C", "tagTemp": "°C", "tagHumidity": "%"}
"""Keys with the number of one of several things, such as `tire1Pressure`, and their units."""

ATTRIBUTES: Final[Mapping[str, tuple[type, str]]] = {
    **dict.fromkeys(_BOOLEANS.split(), (bool, "")),
    **dict.fromkeys(_TEXTS.split(), (str, "")),
    **{name: (float, unit) for unit, names in _NUMBERS.items() for name in names.split()},
}
"""Type and unit of each attribute by its key. `float` stands for any number that is not a boolean."""

_ALARMS = (
    "general sos vibration movement lowspeed overspeed fallDown lowPower lowBattery fault powerOff"
    " powerOn door lock unlock geofence geofenceEnter geofenceExit gpsAntennaCut accident tow idle highRpm"
    " hardAcceleration hardBraking hardCornering laneChange fatigueDriving powerCut powerRestored jamming"
    " temperature parking bonnet footBrake fuelLeak tampering removing"
)
ALARMS: Final = frozenset(_ALARMS.split())
"""The names that `alarm` may hold, separated by commas."""

_NUMBERED_KEY = re.compile(r"([a-zA-Z]+?)([0-9]{1,5})([A-Z][a-zA-Z]*)?")


def unit_of_numbered(key: str) -> str | None:
    """Return the unit of a numbered key; None where the tables have none."""
    found = _NUMBERED_KEY.fullmatch(key)
    if found is None:
        return None
    return _NUMBERED_WITHIN.get(found[1] + found[3]) if found[3] else _NUMBERED.get(found[1])


def add_alarms(attributes: dict[str, Any], names: Iterable[str]) -> None:
    """Add alarms to those that the attributes hold: in order, each once."""
    before = attributes.get("alarm")
    joined = ",".join(dict.fromkeys((*(before.split(",") if before else ()), *names)))
    if joined:
        attributes["alarm"] = joined


def put(attributes: dict[str, Any], name: str, value: object) -> None:
    """Add an attribute, unless it has no value."""
    if value is not None:
        attributes[name] = value


def unit_of(key: str) -> str:
    """Return the unit of an attribute; empty where it has none or the key is not in the table."""
    if key in ATTRIBUTES:
        return ATTRIBUTES[key][1]
    return unit_of_numbered(key) or ""
