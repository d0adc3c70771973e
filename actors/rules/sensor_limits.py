"""Limits of sensors: what is configured for numeric attributes of positions (docs/events.md#sensors). Pure.

The limits of the sensor `temp1` are the attributes `sensorLimit.temp1.min`, `.max`, `.hysteresis` and
`.minimalDuration` of a device, its groups and the server. The first of these that has a valid value counts,
for each attribute on its own.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from motorpool.actors.rules.position_event import read_finite

PREFIX: Final = "sensorLimit."
MIN, MAX, HYSTERESIS, DURATION = "min", "max", "hysteresis", "minimalDuration"
FIELDS: Final = (MIN, MAX, HYSTERESIS, DURATION)
"""How the keys of attributes end."""
NO_BOUND: Final = "none"
"""The value of a bound where there is to be none, although a group or the server has one."""
MAX_DURATION: Final = 86_400.0
"""Seconds, the longest `minimalDuration`."""
_NAME: Final = re.compile(r"[^\s,@]{1,100}")


class LimitKey(NamedTuple):
    """What the key of an attribute names."""

    sensor: str
    """The attribute of positions."""
    field: str
    """One of FIELDS."""


class SensorLimit(NamedTuple):
    """The range of a sensor, in the unit of its attribute."""

    least: float | None = None
    most: float | None = None
    """None, for one of them: there is no such bound."""
    hysteresis: float = 0.0
    """A value that was out of range is back when it is inside by this much; at most half of the range."""
    seconds: float = 0.0
    """Time out of range after which it is an event."""

    def crossed(self, value: float) -> float | None:
        """Return the bound beyond which a value lies; None if it is in range."""
        if self.most is not None and value > self.most:
            return self.most
        return self.least if self.least is not None and value < self.least else None

    def is_back(self, value: float) -> bool:
        """Whether a value that was out of range is in range again."""
        margin = self.hysteresis
        return (self.most is None or value <= self.most - margin) and (
            self.least is None or value >= self.least + margin
        )


SensorLimits = Mapping[str, SensorLimit]
"""By the attribute of positions, in alphabetical order."""
NO_LIMITS: Final[SensorLimits] = {}


def parse_key(key: str) -> LimitKey | None:
    """Return what the key of an attribute names; None for a key of something else."""
    if not key.startswith(PREFIX):
        return None
    sensor, _, field = key.removeprefix(PREFIX).rpartition(".")
    return LimitKey(sensor, field) if field in FIELDS and _NAME.fullmatch(sensor) else None


def limited_sensors(attributes: Collection[str]) -> set[str]:
    """Return the sensors that the keys of attributes name."""
    return {found.sensor for key in attributes if (found := parse_key(key)) is not None}


def limit_fault(key: str, value: object) -> str:
    """Return what is wrong with an attribute whose key begins with PREFIX; empty if nothing is."""
    found = parse_key(key)
    if found is None:
        return f"is none of sensorLimit.<attribute>.{{{','.join(FIELDS)}}}; no spaces, commas or @"
    if _read(found.field, value) is not None:
        return ""
    match found.field:
        case "hysteresis":
            return "is not a number of 0 or more"
        case "minimalDuration":
            return f"is not a number of seconds from 0 to {MAX_DURATION:.0f}"
        case _:
            return f'is neither a number nor "{NO_BOUND}"'


def range_fault(attributes: Mapping[str, Any], sensor: str) -> str:
    """Return what is wrong with the attributes of a record for a sensor together; empty if nothing is."""
    values = {field: _read(field, attributes.get(f"{PREFIX}{sensor}.{field}")) for field in FIELDS}
    least, most, hysteresis = (
        value if isinstance(value := values[field], float) else None for field in (MIN, MAX, HYSTERESIS)
    )
    if least is None or most is None:
        return ""
    if least > most:
        return f"{least:g} is above the max, {most:g}"
    if hysteresis is not None and 2 * hysteresis > most - least:
        return f"the hysteresis, {hysteresis:g}, is more than half of the range"
    return ""


def read_sensor_limits(layers: Sequence[Mapping[str, Any]]) -> SensorLimits:
    """Look up all limits in `layers`, which are attributes of the device, its groups and the server.

    Values that cannot be read count as absent. A sensor without a bound, or whose `min` is above its `max`,
    which only limits of different layers can be, has no limit.
    """
    found: dict[str, dict[str, float | str]] = {}
    for layer in layers:
        for key in layer:
            if key.startswith(PREFIX) and (name := parse_key(key)) is not None:
                value = _read(name.field, layer[key])
                if value is not None:
                    found.setdefault(name.sensor, {}).setdefault(name.field, value)
    limits = {sensor: _limit(found[sensor]) for sensor in sorted(found)} if found else {}
    return {sensor: limit for sensor, limit in limits.items() if limit is not None} or NO_LIMITS


def _limit(values: Mapping[str, float | str]) -> SensorLimit | None:
    least, most, hysteresis, seconds = (
        value if isinstance(value := values.get(field), float) else None for field in FIELDS
    )
    hysteresis = hysteresis or 0.0
    if least is None and most is None:
        return None
    if least is not None and most is not None:
        if least > most:
            return None
        hysteresis = min(hysteresis, (most - least) / 2)
    return SensorLimit(least, most, hysteresis, seconds or 0.0)


def _read(field: str, value: object) -> float | str | None:
    """Return the value of an attribute: a number, or NO_BOUND; None if it is neither."""
    if isinstance(value, str):
        text = value.strip()
        if field in (MIN, MAX) and text.lower() == NO_BOUND:
            return NO_BOUND
        if not text.isascii():
            return None
        try:
            value = float(text)
        except ValueError:
            return None
    number = read_finite(value)
    if number is None or field in (MIN, MAX):
        return number
    return number if 0 <= number <= (MAX_DURATION if field == DURATION else number) else None
