"""Writes docs/attributes.md from the table of attributes and the English words for it.

    .venv/bin/python docs/attribute_page.py

tests/actors/words/test_attribute_page.py fails where the page is older than they are.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from motorpool.actors.words.catalog import FALLBACK, read_catalog
from motorpool.codecs.devices.attributes import (
    ALARM_DETAILS,
    ATTRIBUTES,
    HIDDEN,
    NUMBERED,
    OF_PROTOCOLS,
    Attribute,
)
from motorpool.codecs.devices.jt808.items import ALARM_CODES

PAGE = Path(__file__).parent / "attributes.md"
ENGLISH = read_catalog(FALLBACK)
KINDS = {bool: "boolean", str: "text", float: "number", None: "depends on the protocol"}
UNITS = {
    "m": "m (shown in km, miles …)",
    "km": "km (shown in km, miles …)",
    "m up": "m (shown in m or feet)",
    "knots": "knots (shown in km/h …)",
    "km/h": "km/h (shown in km/h …)",
    "l": "l (shown in l or gallons)",
    "l/h": "l/h (shown in l or gallons an hour)",
    "ms": "ms (shown as a duration)",
    "s": "s (shown as a duration)",
}
HEAD = """\
# Attributes of positions

Written by `docs/attribute_page.py` from the table `codecs/devices/attributes.py` and the English catalog
(`actors/words/catalogs/en.toml`), whose other languages name the same. JSON of the API has keys and values
as below, whatever protocol they come from. People read names and words, with the decimals below, in their
own language, units and time zone: in messages, workbooks, tickets and the console
(`actors/words/values.py`, `api/console/src/format/attributes.ts`). What devices of OsmAnd, or [computed
attributes](computed-attributes.md), call otherwise is shown by the words of its key.

Absent values have no key. `#` stands for a number, such as the 3 of `temp3`. "Bits" are numbers whose bits,
from 0, have separate meanings; those without words are shown by their numbers from 1.
"""
ALARMS_HEAD = """\
## Alarms

`alarm` holds one or more of these, separated by commas, in order, each once. They are the words that
clients filter by. `lowPower` and `powerCut` concern the external supply, `lowBattery` the internal one.

`alarmDetail` says what they are exactly where the protocol does, separated by commas, with the level that a
camera gives them behind a colon: `alarm` `general` with `alarmDetail` `phoneUse:1` is shown as "phone in
hand, level 1". It may hold an alarm itself for its level (`fatigueDriving:2`). An event of type `alarm` has
the details of its alarm.

| `alarm` | in words | `alarmDetail` |
| --- | --- | --- |
"""


def write_page() -> str:
    """Return the page."""
    parts = [HEAD, "## Attributes\n", _table(ATTRIBUTES), "## Numbered attributes\n", _table(NUMBERED)]
    parts += ["## Attributes of one protocol\n", _table(OF_PROTOCOLS), ALARMS_HEAD + "".join(_alarms())]
    return "\n".join(parts)


def _table(attributes: Mapping[str, Attribute]) -> str:
    rows = sorted(attributes, key=str.lower)
    head = "| key | name | value | unit | decimals | words |\n| --- | --- | --- | --- | --- | --- |\n"
    return head + "".join(_row(key, attributes[key]) for key in rows)


def _row(key: str, attribute: Attribute) -> str:
    name = ENGLISH.attributes.get(key.partition(".")[2] or key, "for programs only")
    assert name or key in HIDDEN
    kind = "bits" if attribute.has_bits else KINDS[attribute.kind]
    if attribute.unit == "time":
        kind, unit = "time in ISO 8601", ""
    else:
        unit = UNITS.get(attribute.unit, attribute.unit)
    decimals = "" if attribute.decimals is None else attribute.decimals
    cells = (f"`{key}`", name, kind, unit, decimals, ", ".join(_words(key)))
    return _cells(*cells)


def _words(key: str) -> Iterator[str]:
    known = dict(ENGLISH.values.get(key, {}))
    for code, alarm in ALARM_CODES.get(key, {}).items():
        known.setdefault(code, ENGLISH.alarms.get(alarm) or ENGLISH.details[alarm])
    for code in sorted(known, key=lambda code: (len(code), code) if code.isdecimal() else (0, "")):
        yield f"`{code}` {known[code]}"


def _alarms() -> Iterator[str]:
    for alarm, text in ENGLISH.alarms.items():
        details = (
            f"`{detail}` {ENGLISH.details[detail]}" for detail, of in ALARM_DETAILS.items() if of == alarm
        )
        yield _cells(f"`{alarm}`", text, ", ".join(details))


def _cells(*cells: object) -> str:
    return "|" + "".join(f" {cell} |" if cell != "" else " |" for cell in cells) + "\n"


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
