"""Values in words: in the language, the units and the time zone of a reader (docs/attributes.md).

`api/console/src/format/attributes.ts` does the same in the console, and `attributeCases.json` beside it has
the cases that both are tested with.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from motorpool.actors.words.cameras import CAMERA, CAMERA_BITS, camera_number, is_camera
from motorpool.actors.words.catalog import catalog_of, read_catalog
from motorpool.actors.words.preferences import Preferences, Unit
from motorpool.codecs.devices.attributes import (
    HIDDEN,
    Attribute,
    Found,
    alarm_of,
    find_attribute,
    set_bits,
    with_mark,
)
from motorpool.codecs.devices.jt808.items import ALARM_CODES
from motorpool.storage.devices.camera_names import NO_NAMES, CameraNames

MILLISECONDS_PER_HOUR: Final = 3_600_000
DISTANCE_KEYS: Final = frozenset(
    {"odometer", "serviceOdometer", "tripOdometer", "obdOdometer", "distance", "totalDistance"}
)
"""Types of maintenance that count metres."""
HOUR_KEYS: Final = frozenset({"hours", "drivingTime"})
"""Types of maintenance that count milliseconds."""
TIME_KEYS: Final = frozenset({"serverTime", "deviceTime", "fixTime"})
"""Types of maintenance that are due at a time, in milliseconds since 1970."""
KNOTS_PER_KMH: Final = 1 / 1.852
_METRES: Final[Mapping[str, float]] = {"m": 1, "km": 1000, "0.1 km": 100}
"""Of the units of distances."""
SHORT_METRES: Final = 100
"""Distances of fewer units than this have a decimal."""
CAMERA_KEYS: Final = frozenset(("adasLevel", "dmsLevel", *ALARM_CODES))
"""What `alarm` says in words where the device named it exactly."""
_NO_WORDS: Final[Mapping[str, str]] = {}
_MOST_BITS: Final = 1 << 64
_WORDS = re.compile(r"[a-z]{3,}([A-Z][a-z]+)*")
_CAPITAL = re.compile(r"[A-Z]")


class Scale(NamedTuple):
    """How numbers of an attribute are written, in the units of a reader."""

    factor: float
    """From the unit of the API to `unit`."""
    decimals: int | None
    """None: as many as there are."""
    unit: str
    """`ms` stands for a duration."""


class ValueWriter:
    """Writes values as a user reads them.

    Values of another type than expected are written as they are, or as an empty text by the methods for one
    quantity.
    """

    def __init__(self, preferences: Preferences) -> None:
        self.language = catalog_of(preferences.language)
        self.preferences = preferences
        self._scales: dict[Attribute, Scale] = {}
        """Of attributes of the table so far."""

    def time(self, instant: datetime) -> str:
        """Return the time in the zone of the reader; in UTC at the ends of the calendar."""
        try:
            instant = instant.astimezone(self.preferences.zone)
        except OverflowError:
            instant = instant.astimezone(UTC)
        return instant.strftime(self.language.time)

    def number(self, value: float, digits: int = 1) -> str:
        """Return a number with this many decimals."""
        text = f"{value:.{digits}f}"
        if text[0] == "-" and not text.strip("-0."):
            text = text[1:]
        return text.replace(".", self.language.decimal)

    def quantity(self, value: object, unit: Unit, digits: int = 1) -> str:
        """Return a number of the API's unit in another unit; empty where it is not a number."""
        number = as_number(value)
        return "" if number is None else f"{self.number(number * unit.per_base, digits)} {unit.symbol}"

    def speed(self, knots: object) -> str:
        """Return a speed given in knots."""
        return self.quantity(knots, self.preferences.speed)

    def volume(self, litres: object) -> str:
        """Return a volume given in litres."""
        return self.quantity(litres, self.preferences.volume)

    def distance(self, metres: object) -> str:
        """Return a distance given in metres."""
        return self.quantity(metres, self.preferences.distance)

    def instant(self, milliseconds: object) -> str:
        """Return a time given in milliseconds since 1970; empty where it is not one."""
        number = as_number(milliseconds)
        try:
            return "" if number is None else self.time(datetime.fromtimestamp(number / 1000, UTC))
        except (OverflowError, OSError, ValueError):
            return ""

    def maintained(self, kind: str, value: object) -> str:
        """Return what maintenance of a type counts; empty where it is not a number."""
        if kind in TIME_KEYS:
            return self.instant(value)
        if kind in DISTANCE_KEYS:
            return self.distance(value)
        number = as_number(value)
        if number is None:
            return ""
        if kind in HOUR_KEYS:
            return f"{self.number(number / MILLISECONDS_PER_HOUR)} h"
        return self.number(number)

    # Alarms

    def alarm(self, keys: object, details: object = None) -> str:
        """Return alarms by name, for the middle of a sentence: `phone in hand, level 1`.

        Args:
            keys: the attribute `alarm`; another type than text is none.
            details: the attribute `alarmDetail`: what they are exactly.
        """
        exact = _split(details)
        words = []
        for key in _split(keys):
            named = [self._alarm_name(detail) for detail in exact if alarm_of(detail) == key]
            words += named or [self._alarm_name(key)]
        return "; ".join(dict.fromkeys(words))

    def _alarm_name(self, detail: str) -> str:
        name, _, level = detail.partition(":")
        text = self.language.alarms.get(name) or self.language.details.get(name)
        if text is None:
            marked, number = with_mark(name)
            text = self.language.details.get(marked, name).replace("#", number)
        return self.language.labels["level"].format(alarm=text, level=level) if level else text

    def with_cameras(self, text: str, numbers: Sequence[int], names: CameraNames) -> str:
        """Return a text that says which cameras it is about: `sent a file, camera 2 (front)`."""
        said = ", ".join(camera_number(number, names) for number in numbers)
        return self.language.labels["camera"].format(text=text, camera=said) if said else text

    # Attributes

    def attribute_name(self, key: str) -> str:
        """Return the name of an attribute; of one that is not in the table its words: `Fuel percent`."""
        return _attribute_name(self.language.name, key)

    def attribute_text(
        self, key: str, value: object, protocol: str = "", cameras: CameraNames = NO_NAMES
    ) -> str:
        """Return the value of an attribute; `cameras` are the names of the device's cameras."""
        if key == CAMERA and is_camera(value):
            return camera_number(value, cameras)
        found = find_attribute(key, protocol) or (_PERCENT if key.endswith("Percent") else _UNKNOWN)
        if isinstance(value, bool):
            code = "true" if value else "false"
            return self._word(found.name, code) or self.language.labels["yes" if value else "no"]
        if isinstance(value, str):
            if found.attribute.unit == "time":
                return self._iso_time(value)
            if key == "sensorsOutOfRange":
                return ", ".join(map(self.attribute_name, _split(value)))
            return self.alarm(value) if key == "alarm" else self._word(found.name, value) or value
        number = as_number(value)
        if number is None:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        attribute = found.attribute
        if attribute.has_bits and 0 <= number < _MOST_BITS:
            return self._bits(found.name, int(number), cameras if key in CAMERA_BITS else NO_NAMES)
        if self._has_words(found.name) and (word := self._word(found.name, f"{number:g}")):
            return word
        return self._measure(number, attribute)

    def scale(self, key: str) -> Scale:
        """Return how the numbers of an attribute are written, for where they stay numbers."""
        found = find_attribute(key) or (_PERCENT if key.endswith("Percent") else _UNKNOWN)
        return self._scale(found.attribute)

    def _scale(self, attribute: Attribute) -> Scale:
        preferences = self.preferences
        distance, volume = preferences.distance, preferences.volume
        match attribute.unit:
            case unit if unit in _METRES:
                return Scale(_METRES[unit] * distance.per_base, 1, distance.symbol)
            case "m up":
                return Scale(preferences.altitude.per_base, 0, preferences.altitude.symbol)
            case "knots" | "km/h":
                knots = 1.0 if attribute.unit == "knots" else KNOTS_PER_KMH
                return Scale(knots * preferences.speed.per_base, 0, preferences.speed.symbol)
            case "l" | "l/h":
                return Scale(volume.per_base, 1, volume.symbol + attribute.unit.removeprefix("l"))
            case "s":
                return Scale(1000.0, None, "ms")
            case _:
                return Scale(1.0, attribute.decimals, attribute.unit)

    def attributes(
        self, attributes: Mapping[str, Any], protocol: str = "", cameras: CameraNames = NO_NAMES
    ) -> Iterator[tuple[str, str]]:
        """Yield names and values of what people read of the attributes: alarms first, then by name."""
        details = attributes.get("alarmDetail")
        if alarm := capitalized(self.alarm(attributes.get("alarm"), details)):
            yield self.attribute_name("alarm"), alarm
        for key, name in _by_name(self.language.name, tuple(attributes)):
            if not (details and key in CAMERA_KEYS):
                yield name, self.attribute_text(key, attributes[key], protocol, cameras)

    def _has_words(self, name: str) -> bool:
        return name in self.language.values or name in ALARM_CODES

    def _word(self, name: str, code: str) -> str:
        """Return the word for a value or bit; empty where it has none."""
        if (word := self.language.values.get(name, _NO_WORDS).get(code)) is not None:
            return word
        alarm = ALARM_CODES.get(name, _NO_WORDS).get(code)
        return "" if alarm is None else self._alarm_name(alarm)

    def _bits(self, name: str, value: int, cameras: CameraNames) -> str:
        """Return the bits that are set: by their words where they have some, else by number, from 1."""
        has_words = self._has_words(name)
        texts = [
            self._word(name, str(bit)) if has_words else camera_number(bit + 1, cameras)
            for bit in set_bits(value)
        ]
        return ", ".join(filter(None, texts)) or self.language.labels["none"]

    def _measure(self, value: float, attribute: Attribute) -> str:
        scale = self._scales.get(attribute)
        if scale is None:
            scale = self._scales[attribute] = self._scale(attribute)
        shown, decimals = value * scale.factor, scale.decimals
        if scale.unit == "ms":
            return self._duration(shown)
        if attribute.unit in _METRES:
            decimals = int(abs(shown) < SHORT_METRES)
        elif decimals is None:
            decimals = 0 if value == int(value) else 2
        return f"{self.number(shown, decimals)} {scale.unit}".rstrip()

    def _duration(self, milliseconds: float) -> str:
        """Return a length by its two largest units: `2 h 10 min`, `45 s`."""
        seconds = max(0, int(milliseconds / 1000))
        minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
        if days:
            return f"{days} d {hours % 24} h".removesuffix(" 0 h")
        if hours:
            return f"{hours} h {minutes % 60} min".removesuffix(" 0 min")
        return f"{minutes} min" if minutes else f"{seconds} s"

    def _iso_time(self, text: str) -> str:
        try:
            instant = datetime.fromisoformat(text)
        except ValueError:
            return text
        return self.time(instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC))


_UNKNOWN: Final = Found("", "", Attribute(None))
_PERCENT: Final = Found("", "", Attribute(None, "%", 0))


@lru_cache(maxsize=4096)
def _attribute_name(language: str, key: str) -> str:
    found = find_attribute(key)
    name = None if found is None else read_catalog(language).attributes.get(found.name)
    return spaced(key) if found is None or name is None else name.replace("#", found.number)


@lru_cache(maxsize=256)
def _by_name(language: str, keys: tuple[str, ...]) -> Sequence[tuple[str, str]]:
    """Return keys and names of those of the attributes that people read, except alarms, by name.

    Most positions of a device have the same.
    """
    named = [(key, _attribute_name(language, key)) for key in keys if key not in HIDDEN and key != "alarm"]
    return sorted(named, key=lambda each: each[1].casefold())


def as_number(value: object) -> float | None:
    """Return a finite number that is not a boolean; None for anything else."""
    if type(value) is not float and type(value) is not int:
        return None
    return value if abs(value) <= MOST else None


MOST: Final = 1e300
"""What is larger is no measurement, and may not be converted."""


def spaced(key: str) -> str:
    """Return the words of a key, `Fuel percent` of `fuelPercent`; one that is not of words as it is."""
    if not _WORDS.fullmatch(key):
        return key
    return capitalized(_CAPITAL.sub(lambda found: f" {found[0].lower()}", key))


def capitalized(text: str) -> str:
    """Return a text with a capital at its beginning, for where it stands alone."""
    return text[:1].upper() + text[1:]


def _split(value: object) -> list[str]:
    return (
        [part for part in (each.strip() for each in value.split(",")) if part]
        if isinstance(value, str)
        else []
    )
