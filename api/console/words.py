"""The server's words for the console: events, alarms, attributes and settings (docs/console.md#types).

python -m motorpool.api.console.words kinds       # types of events, alarms, and placeholders of messages
python -m motorpool.api.console.words names en    # their names in a language of the console
python -m motorpool.api.console.words attributes  # what attributes are
python -m motorpool.api.console.words values en   # their names in a language, and words for their values
python -m motorpool.api.console.words meanings     # what settings mean, in English
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Final

from motorpool.actors.events.own_words import PLACEHOLDERS
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.words.catalog import Catalog, read_catalog
from motorpool.actors.words.values import CAMERA_KEYS
from motorpool.api.configuration.keys import sentences
from motorpool.api.configuration.live import changeable
from motorpool.codecs.devices.attributes import (
    ALARM_DETAILS,
    ATTRIBUTES,
    HIDDEN,
    NUMBERED,
    OF_PROTOCOLS,
    Attribute,
)
from motorpool.codecs.devices.jt808.items import ALARM_CODES

HEAD: Final = "// Written by build.py from the words and tables of the server; a change here is lost.\n"


def write_kinds() -> str:
    """Return a module with types of events, alarms and placeholders of messages in the order of lists."""
    english = read_catalog("en")
    return _module(
        EVENT_TYPES=[name for name in english.names if name in EVENT_TYPES],
        ALARMS=list(english.alarms),
        PLACEHOLDERS=PLACEHOLDERS,
    )


def write_names(language: str) -> str:
    """Return a module with the names of events and alarms in a language that has a catalog."""
    words = read_catalog(language)
    return _module(
        names={
            **{f"event.type.{name}": text for name, text in words.names.items()},
            **{f"alarm.{name}": text for name, text in words.alarms.items()},
            "event.alarmLevel": words.labels["level"],
        }
    )


def write_values(language: str) -> str:
    """Return a module with what alarms are exactly, and with attributes and words for their values."""
    words = read_catalog(language)
    return _module(
        values={
            **{f"alarm.{name}": text for name, text in words.details.items()},
            **{f"value.{label}": words.labels[label] for label in ("yes", "no", "none")},
            **{f"value.{key}": text for key, text in words.attributes.items()},
            **{f"word.{key}.{code}": text for key, code, text in _values(words)},
        }
    )


def _values(words: Catalog) -> Iterator[tuple[str, str, str]]:
    for key in sorted(words.values.keys() | ALARM_CODES.keys()):
        known = dict(words.values.get(key, {}))
        for code, alarm in ALARM_CODES.get(key, {}).items():
            known.setdefault(code, words.alarms.get(alarm) or words.details[alarm])
        for code, text in known.items():
            yield key, code, text


def write_meanings() -> str:
    """Return a module with what the settings mean that change while the server runs, and their units.

    The console has other languages of it, and symbols of units in none.
    """
    found, meanings = changeable(), sentences()
    units = (key.unit for key in found.values())
    return _module(
        meanings={
            **{f"meaning.{section}.{name}": meanings[section, name] for section, name in found},
            **{f"unit.{unit}": unit for unit in units if len(unit) > 1},
        }
    )


def write_attributes() -> str:
    """Return a module with units and decimals of attributes, and which have bits, with or without words."""
    english = read_catalog("en")
    return _module(
        ALARM_DETAILS=dict(ALARM_DETAILS),
        MEASURES=list(_measures({**ATTRIBUTES, **NUMBERED, **OF_PROTOCOLS})),
        BITS={
            key: key in english.values or key in ALARM_CODES
            for key, each in {**ATTRIBUTES, **OF_PROTOCOLS}.items()
            if each.has_bits
        },
        PROGRAMS_ONLY=sorted(HIDDEN),
        CAMERA_KEYS=sorted(CAMERA_KEYS),
    )


def _measures(attributes: Mapping[str, Attribute]) -> Iterator[tuple[str, int | None, str]]:
    """Yield unit and decimals, and the keys that have them, between blanks."""

    def measure(key: str) -> tuple[str, int]:
        _, unit, decimals, _ = attributes[key]
        return unit, -1 if decimals is None else decimals

    for (unit, decimals), keys in groupby(sorted(attributes, key=measure), measure):
        yield unit, None if decimals < 0 else decimals, " ".join(keys)


def _module(**constants: object) -> str:
    lines = (
        f"export const {name} = {json.dumps(value, ensure_ascii=False)} as const;\n"
        for name, value in constants.items()
    )
    return HEAD + "".join(lines)


WRITERS: Final[Mapping[str, Callable[..., str]]] = {
    "kinds": write_kinds,
    "names": write_names,
    "attributes": write_attributes,
    "values": write_values,
    "meanings": write_meanings,
}

if __name__ == "__main__":
    sys.stdout.write(WRITERS[sys.argv[1]](*sys.argv[2:]))
