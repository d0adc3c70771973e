"""Encodes records as the JSON of the API, for responses, WebSockets and forwarding to other servers
(docs/http-api.md#json-conventions, docs/decisions/0008).
"""

import typing
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec

from motorpool.actors.words.masking import mask_secrets
from motorpool.storage.records import OptionalText

_encoder = msgspec.json.Encoder()
_WHOLE_SECONDS = len(b'"2000-01-01T00:00:00Z"')


def format_time(instant: datetime) -> str:
    """Format as ISO 8601 in UTC with `Z`; with milliseconds if they are not zero."""
    return quoted_time(instant)[1:-1].decode()


def quoted_time(instant: datetime) -> bytes:
    """Return the JSON of an instant: what `format_time` returns, in quotes."""
    # msgspec writes six digits of a second or none, and is ten times as fast as isoformat.
    text = _encoder.encode(instant if instant.tzinfo is UTC else instant.astimezone(UTC))
    if len(text) == _WHOLE_SECONDS:
        return text
    return text[:20] + b'Z"' if text[21:24] == b"000" else text[:24] + b'Z"'


def encode(value: object) -> bytes:
    """Encode records, lists of them, or mappings to either; secrets in attributes are masked."""
    return msgspec.json.encode(_to_wire(value))


def _to_wire(value: object) -> object:
    convert = _converter_for(type(value))  # type: ignore[arg-type]  # classes are hashable
    return value if convert is None else convert(value)


def _list_to_wire(values: Sequence[Any]) -> object:
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return [_to_wire(value) for value in values]
    # Records of one type, as long lists have them.
    convert = _converter_for(kinds.pop())
    return values if convert is None else [convert(value) for value in values]


@cache
def _converter_for(kind: type) -> Callable[[Any], object] | None:
    """Return the conversion of a type for encoding; None where msgspec encodes it as it should be."""
    if issubclass(kind, list | tuple):
        return _list_to_wire
    if issubclass(kind, dict):
        return lambda value: {name: _to_wire(item) for name, item in value.items()}
    if issubclass(kind, datetime):
        return format_time
    return _record_converter(kind) if issubclass(kind, msgspec.Struct) else None


@cache
def optional_texts(shape: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the names in JSON of the fields that are written as null where they are empty."""
    hints = typing.get_type_hints(shape, include_extras=True)
    return tuple(
        field.encode_name for field in msgspec.structs.fields(shape) if hints[field.name] == OptionalText
    )


def _record_converter(shape: type[msgspec.Struct]) -> Callable[[Any], object]:
    """Return the conversion of a record type for encoding: dates as text, absent texts as null, all else as
    msgspec encodes it.

    msgspec writes six digits of a second, or none. A struct with the same fields and encoded dates costs less
    than a dictionary; record types without dates, texts that may be absent, and nested records need no
    conversion, and records of others that have whole seconds and all texts do not either.
    """
    hints = typing.get_type_hints(shape)
    fields = msgspec.structs.fields(shape)
    absent = optional_texts(shape)
    texts = [index for index, field in enumerate(fields) if field.encode_name in absent]
    dates = []
    nested = False
    for index, field in enumerate(fields):
        options = typing.get_args(hints[field.name]) or (hints[field.name],)
        if datetime in options:
            dates.append(index)
        nested = nested or any(
            isinstance(option, type) and issubclass(option, msgspec.Struct) for option in options
        )
    if not dates and not texts and not nested:
        return mask_secrets
    has_attributes = any(field.name == "attributes" for field in fields)
    date_names = [fields[index].name for index in dates]
    text_names = [fields[index].name for index in texts]
    is_plain = not nested and not shape.__struct_config__.omit_defaults
    wire_struct = msgspec.defstruct(
        f"{shape.__name__}Wire",
        [(field.encode_name, Any) for field in fields],
        gc=False,
    )

    def is_ready(record: msgspec.Struct) -> bool:
        for name in date_names:
            instant = getattr(record, name)
            if isinstance(instant, datetime) and (instant.microsecond or instant.tzinfo is not UTC):
                return False
        return not text_names or all(getattr(record, name) != "" for name in text_names)

    def convert(record: msgspec.Struct) -> object:
        if has_attributes:
            record = mask_secrets(record)
        if is_plain and is_ready(record):
            return record
        values = list(msgspec.structs.astuple(record))
        if nested:
            values = [
                _to_wire(item) if isinstance(item, msgspec.Struct | list | tuple) else item for item in values
            ]
        for index in dates:
            instant = values[index]
            if isinstance(instant, datetime):
                values[index] = msgspec.Raw(quoted_time(instant))
        for index in texts:
            if values[index] == "":
                values[index] = None
        return wire_struct(*values)

    return convert
