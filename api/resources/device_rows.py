"""Devices as a table of text: a header with the names of fields, and a row for each device
(docs/devices.md#import-and-export).

The texts of a file that was exported mean the same devices when they are read again.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from motorpool.actors.words.cells import harmless, is_like_formula
from motorpool.actors.words.masking import MASK, without_secrets
from motorpool.actors.words.record_json import format_time
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import parse, parse_time
from motorpool.storage.records import Device, Group
from motorpool.storage.secret_attributes import HIDDEN

MAX_ROWS = 2000
"""Rows of one file."""
MAX_COLUMNS = 200
MAX_DEPTH = 30
"""Levels of the JSON of an attribute."""
ATTRIBUTE = "attributes."
"""How the names of columns begin that hold one attribute each."""
SEPARATORS = ",;\t"
WRITTEN = ("name", "uniqueId", "group", "phone", "model", "contact", "category", "disabled", "expirationTime")
"""The columns of an exported file, before those that are not read back, and the attributes."""
SHOWN = ("status", "lastUpdate")
"""Columns that are written for people, and ignored where they are read."""
READ = frozenset({*WRITTEN, "groupId", "calendarId"})
IGNORED = frozenset({*SHOWN, "id", "positionId"})
_TEXTS = {"name": "name", "phone": "phone", "model": "model", "contact": "contact", "category": "category"}
_SECRETS = frozenset(f"{ATTRIBUTE}{path[0]}" for path in HIDDEN)
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"", "false", "no", "0"})


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with a row."""

    column: str
    """Name of the column; empty: of no one column."""
    text: str
    """One line for people."""


class Row(msgspec.Struct, frozen=True):
    """A row of a file."""

    number: int
    """Counted from 1, which is the header; as spreadsheets count."""
    cells: dict[str, str]
    """Column -> text."""


class UnreadableRow(Exception):
    """A row cannot be read; `faults` says why, for each column."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("; ".join(f"{each.column}: {each.text}" for each in faults))
        self.faults = faults


def read_table(body: bytes) -> list[Row]:
    """Read a CSV file in UTF-8. Commas, semicolons or tabs separate cells, whichever the header has most of.

    Raises BadRequest where it is no such file, has columns that are unknown, or too many rows.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest("the file is not UTF-8 text") from None
    if "\0" in text:
        raise BadRequest("the file is not text: it holds the character U+0000")
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    lines = _lines(text, separator)
    _, header = next(lines, (1, []))
    names = [name.strip().removeprefix("'") for name in header]
    _check_header(names)
    rows: list[Row] = []
    for number, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(rows) == MAX_ROWS:
            raise BadRequest(f"the file has more than {MAX_ROWS} rows")
        if len(cells) > len(names):
            raise BadRequest(f"row {number}: has {len(cells)} cells, the header {len(names)}")
        padded = [*cells, *[""] * (len(names) - len(cells))]
        rows.append(Row(number, dict(zip(names, map(_plain, padded), strict=True))))
    return rows


def _lines(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number = 0
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadRequest(f"row {number}: {error}") from None
        yield number, cells


def _plain(cell: str) -> str:
    """Return the text of a cell without the apostrophe that keeps it from being a formula."""
    if cell.startswith("'") and is_like_formula(cell[1:]):
        return cell[1:]
    return cell


def _check_header(names: Sequence[str]) -> None:
    if "uniqueId" not in names:
        raise BadRequest("the first row has no column uniqueId; it has the names of the columns")
    if len(names) > MAX_COLUMNS:
        raise BadRequest(f"the file has more than {MAX_COLUMNS} columns")
    for name in names:
        if names.count(name) > 1:
            raise BadRequest(f"the column {name!r} is there twice")
        is_attribute = name.startswith(ATTRIBUTE) and len(name) > len(ATTRIBUTE)
        if name not in READ and name not in IGNORED and not is_attribute:
            raise BadRequest(f"the column {name!r} is unknown")
    if "group" in names and "groupId" in names:
        raise BadRequest("the columns group and groupId say the same; leave one out")


def read_device(row: Row, old: Device | None, groups: "GroupNames") -> Device:
    """Return the device that a row describes; what has no column stays as it is in `old`.

    An empty cell empties the field, or removes the attribute. Raises UnreadableRow.
    """
    faults: list[Fault] = []
    changed: dict[str, Any] = {}
    attributes = dict(old.attributes) if old is not None else {}
    for column, text in row.cells.items():
        try:
            if column in IGNORED:
                continue
            if column.startswith(ATTRIBUTE):
                key = column.removeprefix(ATTRIBUTE)
                if not text.strip():
                    attributes.pop(key, None)
                else:
                    attributes[key] = _attribute(text, attributes.get(key))
            elif column in _TEXTS:
                changed[_TEXTS[column]] = text.strip()
            else:
                name, value = _field(column, text.strip(), groups)
                changed[name] = value
        except ValueError as error:
            faults.append(Fault(column, str(error)))
    if faults:
        raise UnreadableRow(faults)
    return msgspec.structs.replace(old or Device(), **changed, attributes=attributes)


def gives_secret(row: Row) -> bool:
    """Return whether a row sets a secret, be it the one that is stored: that is nothing to be told."""
    return any(row.cells.get(column, "").strip() not in {"", MASK} for column in _SECRETS)


def _field(column: str, text: str, groups: "GroupNames") -> tuple[str, object]:
    match column:
        case "uniqueId":
            return "unique_id", text
        case "group":
            return "group_id", groups.find(text)
        case "groupId":
            return "group_id", _number(text)
        case "calendarId":
            return "calendar_id", _number(text)
        case "disabled":
            if text.lower() not in _YES | _NO:
                raise ValueError("expected true or false")
            return "disabled", text.lower() in _YES
        case _:
            return "expiration_time", parse_time(text) if text else None


def _number(text: str) -> int:
    if text and not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError("expected a number")
    return int(text or 0)


def _attribute(text: str, old: object) -> object:
    """Return the value of an attribute: JSON, else text. A text that stays the same stays a text."""
    if text == old or (isinstance(old, str) and text.strip() == old):
        return old
    plain = text.strip()
    try:
        value = msgspec.json.decode(plain)
    except (msgspec.DecodeError, RecursionError):
        return plain
    try:
        # As the body of a request, in which the value is within the attributes of a device.
        parse(plain.encode(), depth=MAX_DEPTH)
    except BadRequest as error:
        raise ValueError(error.text) from None
    if value is None:
        raise ValueError("null is no value; an empty cell removes the attribute")
    return value


class GroupNames:
    """The groups that a user sees, by name: what names none or several is written as `#` and its id."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._ids: dict[str, list[int]] = {}
        for group in groups:
            self._ids.setdefault(group.name.strip(), []).append(group.id)
        self._names = {group.id: group.name.strip() for group in groups}

    def find(self, text: str) -> int:
        """Return the id of a group, 0 for an empty text. Raises ValueError."""
        if not text:
            return 0
        if text.startswith("#") and text[1:].isascii() and text[1:].isdigit():
            return _number(text[1:])
        found = self._ids.get(text, ())
        if not found:
            raise ValueError(f"there is no group {text!r}")
        if len(found) > 1:
            named = ", ".join(f"#{number}" for number in found[:5])
            raise ValueError(f"{len(found)} groups are named {text!r}: write one of {named}")
        return found[0]

    def write(self, group_id: int) -> str:
        """Return what `find` finds the group by."""
        if not group_id:
            return ""
        name = self._names.get(group_id, "")
        is_plain = len(self._ids.get(name, ())) == 1 and not name.startswith("#")
        return name if name and is_plain else f"#{group_id}"


def header(keys: Sequence[str]) -> list[str]:
    """Return the names of the columns of an exported file with these attributes."""
    return [*WRITTEN, *SHOWN, *(harmless(f"{ATTRIBUTE}{key}") for key in keys)]


def cells_of(device: Device, keys: Sequence[str], groups: GroupNames) -> list[str]:
    """Return the cells of a device, in the order of `header`; secrets within attributes are masked."""
    attributes = without_secrets(device.attributes)
    written = [
        device.name,
        device.unique_id,
        groups.write(device.group_id),
        device.phone or "",
        device.model or "",
        device.contact or "",
        device.category or "",
        "true" if device.disabled else "false",
        _instant(device.expiration_time),
        device.status,
        _instant(device.last_update),
        *[_written(attributes.get(key)) for key in keys],
    ]
    return [harmless(text) for text in written]


def _instant(value: Any) -> str:  # noqa: ANN401 - a datetime or None
    return format_time(value) if value is not None else ""


def _written(value: object) -> str:
    """Return the text of an attribute from which `_attribute` reads the same value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value and _attribute_of_new(value) == value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _attribute_of_new(text: str) -> object:
    try:
        return _attribute(text, None)
    except ValueError:
        return None


def attribute_keys(devices: Sequence[Device]) -> set[str]:
    """Return the attributes that have a column: secrets have none."""
    return {
        key
        for device in devices
        for key, value in without_secrets(device.attributes).items()
        if value is not None and value != MASK
    }
