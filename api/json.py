"""Conversion of records from JSON and to the structs of answers: names, times, and lenient parsing
(docs/http-api.md#json-conventions). The other direction, `encode` and `format_time`, is in
actors/words/record_json.py.
"""

import math
import re
import types
import typing
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeVar

import msgspec

from motorpool.api.http.errors import BadRequest

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

_LATEST_MILLISECONDS = 253_402_300_799_999
"""The end of the year 9999."""
# The database driver takes the ends of the calendar for infinity, and some clients send them for "any".
_EARLIEST = datetime.min.replace(tzinfo=UTC) + timedelta(milliseconds=1)
_LATEST = datetime.max.replace(tzinfo=UTC, microsecond=999_000)


_DATE_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9}))?(Z|z|[+-]\d\d:?\d\d)(Z|z)?",
    re.ASCII,
)


def parse_time(text: str) -> datetime:
    """Parse an ISO 8601 date-time with `Z` or an offset; ValueError for anything else.

    `+00:00Z`, which a client library makes from an aware datetime, is read as `+00:00`
    (docs/http-api.md#client-quirks).
    """
    found = _DATE_TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError("not an ISO 8601 date-time with Z or an offset")
    day, minute, second, fraction, zone, _ = found.groups()
    micro = (fraction or "0")[:6].ljust(6, "0")
    zone = "+00:00" if zone in "Zz" else zone
    try:
        instant = datetime.fromisoformat(f"{day}T{minute}{second or ':00'}.{micro}{zone}").astimezone(UTC)
    except OverflowError:
        raise ValueError("out of the calendar's range") from None
    return min(max(instant, _EARLIEST), _LATEST)


def extended(shape: type[S], record: msgspec.Struct, **fields: Any) -> S:  # noqa: ANN401 - of any type
    """Return a struct with these fields, and all others of its type that the record has."""
    taken = {name: getattr(record, name) for name in shape.__struct_fields__ if hasattr(record, name)}
    return shape(**{**taken, **fields})


def camel(name: str) -> str:
    """Return the JSON name of a field: `deviceId` for `device_id`."""
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def decode(body: bytes, shape: type[T], *, depth: int = 32, strict: bool = True) -> T:
    """Decode a JSON body as `shape`; BadRequest names the invalid field."""
    return read_fields(parse(body, depth=depth), shape, strict=strict)


def parse(body: bytes, *, depth: int = 32) -> object:
    """Decode JSON of bounded depth into plain values."""
    if not body.strip():
        raise BadRequest("the request needs a JSON body")
    try:
        value = msgspec.json.decode(body)
        # A lone surrogate or a NUL can be neither stored nor encoded, and is always escaped.
        if b"\\u" in body:
            require_storable(value)
    except RecursionError:
        raise BadRequest(f"the JSON body is nested deeper than {depth} levels") from None
    except (msgspec.DecodeError, UnicodeError) as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        raise BadRequest(f"the body is not JSON: {_lower(reason)}") from None
    if _is_deeper_than(value, depth):
        raise BadRequest(f"the JSON body is nested deeper than {depth} levels")
    return value


def read_fields(value: object, shape: type[T], *, strict: bool = True) -> T:
    """Convert plain values to `shape`; null stands for the default if the field takes no null, dates are read
    leniently.
    """
    record = _record(shape)
    if isinstance(value, dict) and record is not None:
        value = _normalize(value, record)
    try:
        found = msgspec.convert(value, shape, strict=strict)
    except msgspec.ValidationError as error:
        raise BadRequest(_explain(str(error))) from None
    if isinstance(found, msgspec.Struct):
        _require_numbers(found)
    return found


def _record(shape: object) -> type[msgspec.Struct] | None:
    return shape if isinstance(shape, type) and issubclass(shape, msgspec.Struct) else None


def _normalize(value: Mapping[str, Any], shape: type[msgspec.Struct]) -> dict[str, Any]:
    changed = dict(value)
    for name, (nullable, dated, inner) in _fields(shape).items():
        if name not in changed:
            continue
        item = changed[name]
        if item is None and not nullable:
            del changed[name]
        elif dated and item is not None:
            changed[name] = _read_date(name, item)
        elif inner is not None and isinstance(item, list):
            changed[name] = [_normalize(each, inner) if isinstance(each, dict) else each for each in item]
    return changed


def _read_date(name: str, item: object) -> datetime | None:
    try:
        if isinstance(item, datetime):
            return item
        if isinstance(item, str):
            return parse_time(item) if item else None
        if isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= _LATEST_MILLISECONDS:
            return datetime.fromtimestamp(item // 1000, UTC).replace(microsecond=item % 1000 * 1000)
    except ValueError as error:
        raise BadRequest(f"{name}: {error}") from None
    raise BadRequest(f"{name}: not an ISO 8601 date-time with Z or an offset")


@cache
def _fields(shape: type[msgspec.Struct]) -> dict[str, tuple[bool, bool, type[msgspec.Struct] | None]]:
    """Return by JSON name whether a field takes null, whether it is a date, and the record type it lists."""
    found = {}
    hints = typing.get_type_hints(shape)
    for field in msgspec.structs.fields(shape):
        kind = hints[field.name]
        options = (
            typing.get_args(kind) if typing.get_origin(kind) in {types.UnionType, typing.Union} else (kind,)
        )
        listed = typing.get_args(kind) if typing.get_origin(kind) is list else ()
        inner = _record(listed[0]) if listed else None
        found[field.encode_name] = (type(None) in options or Any in options, datetime in options, inner)
    return found


def _is_deeper_than(value: object, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


def require_storable(value: object, place: str = "") -> None:
    """Raise BadRequest, which names the place, for a text with a NUL or half a surrogate pair."""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise BadRequest(f"{place or 'the body'}: holds a character that cannot be stored")
    elif isinstance(value, dict):
        for name, item in value.items():
            require_storable(name, place)
            require_storable(item, f"{place}.{name}" if place else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            require_storable(item, f"{place}[{index}]")


_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def _require_numbers(record: msgspec.Struct) -> None:
    """Raise BadRequest for a number that no column takes; most fields have narrower bounds of their own."""
    for field, name in _numeric_fields(type(record)):
        value = getattr(record, field)
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, msgspec.Struct):
                _require_numbers(each)
            elif isinstance(each, float):
                if not math.isfinite(each):
                    raise BadRequest(f"{name}: not a finite number")
            elif isinstance(each, int) and each not in _BIGINT:
                raise BadRequest(f"{name}: out of range")


_BIGINT = range(-(2**63), 2**63)


@cache
def _numeric_fields(shape: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """Return the fields that may hold numbers, or records with such fields, with their names in JSON."""
    found = []
    hints = typing.get_type_hints(shape)
    for field in msgspec.structs.fields(shape):
        kind = hints[field.name]
        options = {kind, *typing.get_args(kind)}
        if any(each in {int, float} or _record(each) is not None for each in options):
            found.append((field.name, field.encode_name))
    return tuple(found)


_PATH = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")


def _explain(text: str) -> str:
    """Rewrite msgspec's error text with the field first."""
    found = _PATH.search(text)
    if found is None:
        return _lower(text)
    sentence = _lower(text[: found.start()])
    return f"{found[1]}: {sentence}" if found[1] else sentence


def _lower(text: str) -> str:
    """Begin a text in lower case, but not an abbreviation such as JSON."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
