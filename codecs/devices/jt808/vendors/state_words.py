"""Status and alarm words of locations as attributes
(docs/protocols/jt808-vendors.md#status-and-alarm-bits).
"""

from collections.abc import Mapping
from typing import Any, Final

from motorpool.codecs.devices.attributes import ATTRIBUTES

_CACHED_WORDS = 1024
"""Status words, and alarm words, whose attributes are remembered."""

_ALARMS: Final[Mapping[int, str]] = {
    0: "sos",
    1: "overspeed",
    2: "fatigueDriving",
    3: "dangerWarning",
    4: "gnssFault",
    5: "gpsAntennaCut",
    6: "gnssAntennaShort",
    7: "lowPower",
    8: "powerCut",
    9: "displayFault",
    10: "speechFault",
    11: "cameraFault",
    12: "cardReaderFault",
    13: "overspeedWarning",
    14: "fatigueWarning",
    18: "drivingTimeExceeded",
    19: "parkedTooLong",
    20: "areaCrossed",
    21: "routeCrossed",
    22: "routeTime",
    23: "routeLeft",
    24: "speedSensorFault",
    25: "fuelAbnormal",
    26: "vehicleStolen",
    27: "unauthorizedIgnition",
    28: "unauthorizedMovement",
    29: "collisionWarning",
    30: "rolloverWarning",
    31: "unauthorizedDoor",
}
"""Alarms, or what they are exactly, by bit; for both forms."""
_ALARMS_2019 = {15: "drivingViolation", 16: "tireWarning", 17: "blindSpotWarning"}
_LOCKED, _CHARGING, _MOVING_2019 = 12, 26, 22


class StateWords:
    """The meaning of one model's bits, in the 2013 or the 2019 form."""

    __slots__ = ("_alarms", "_status", "_told", "alarms", "statuses")

    def __init__(self, alarms: Mapping[int, str], status: Mapping[int, str], *, is_2019: bool) -> None:
        """Take the meanings that differ from the standard's: by bit; an empty name stands for none.

        Args:
            alarms: names of alarms.
            status: attributes that are true or false, or alarms; bits 0 and 8 to 11 keep their own meaning.
            is_2019: whether the words have the 2019 form.
        """
        self._alarms = {**_ALARMS, **(_ALARMS_2019 if is_2019 else {}), **alarms}
        self._status = {_LOCKED: "lock", _CHARGING: "charge", **dict.fromkeys(range(13, 18), "door")}
        if is_2019:
            self._status[_MOVING_2019] = "motion"
        self._status.update(status)
        # What the model says of a bit holds while it is 0, too; "from memory" is only said where it is.
        self._told = dict.fromkeys(
            (name for name in status.values() if name in ATTRIBUTES and name != "archive"), False
        )
        self.statuses: dict[int, dict[str, Any]] = {}
        """Attributes of status words that were decoded; to be copied."""
        self.alarms: dict[int, tuple[str, ...]] = {}
        """Names of alarm words that were decoded."""

    def decode_status(self, word: int) -> dict[str, Any]:
        """Return the attributes of a status word, and remember them; to be copied."""
        attributes: dict[str, Any] = {
            "status": word,
            "ignition": word & 1 != 0,
            "blocked": word >> 10 & 3 != 0,  # oil line or circuit cut
        }
        attributes.update(self._told)
        if word >> 8 & 3:
            attributes["load"] = word >> 8 & 3
        names = dict.fromkeys(name for bit, name in self._status.items() if name and word >> bit & 1)
        attributes.update((name, True) for name in names if name in ATTRIBUTES)
        if alarms := [name for name in names if name not in ATTRIBUTES]:
            attributes["alarm"] = ",".join(alarms)
        if len(self.statuses) >= _CACHED_WORDS:
            self.statuses.clear()
        self.statuses[word] = attributes
        return attributes

    def decode_alarm(self, word: int) -> tuple[str, ...]:
        """Return the alarms of an alarm word, each once, and remember them."""
        names = tuple(
            dict.fromkeys(name for bit, name in sorted(self._alarms.items()) if name and word >> bit & 1)
        )
        if len(self.alarms) >= _CACHED_WORDS:
            self.alarms.clear()
        self.alarms[word] = names
        return names
