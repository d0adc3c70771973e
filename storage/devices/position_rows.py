"""Encodes positions as rows of a binary COPY, at the cost of one `struct.pack` and one JSON encoding each
(docs/performance.md#device-sockets).
"""

import struct
from collections.abc import Iterable
from datetime import UTC, datetime

from motorpool.storage.database.cleaning import json_bytes, text_bytes
from motorpool.storage.records import Position

COLUMNS = (
    "id",
    "device_id",
    "server_time",
    "device_time",
    "fix_time",
    "latitude",
    "longitude",
    "altitude",
    "speed",
    "course",
    "accuracy",
    "outdated",
    "valid",
    "protocol",
    "address",
    "network",
    "geofence_ids",
    "attributes",
)
"""The column order of a packed row: columns of fixed width first."""

# The column count, then length and value of five int64, six doubles and two Booleans.
_FIXED = struct.Struct(">h" + "iq" * 5 + "id" * 6 + "i?" * 2)
_LENGTH = struct.Struct(">i")
_JSONB = struct.Struct(">iB")
"""The length of a jsonb value, and the version of its format, which counts as a byte of it."""
_JSONB_VERSION = 1
_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_NO_LOCATION = _NULL * 3
"""The address, network and geofence columns of most rows."""
_INT8_OID = 20
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""PostgreSQL stores timestamps as microseconds since 2000."""
_DAY_MICROSECONDS = 86_400_000_000

_protocols: dict[str, bytes] = {}
"""Length and bytes of protocol names; there are a few hundred."""


def pack_row(position: Position, attributes: bytes | None = None) -> bytes:
    """Return the position as a row of a binary COPY in the order of COLUMNS.

    `attributes`: the position's attributes if `json_bytes` has encoded them already. Characters that
    PostgreSQL cannot store in text or JSON (NUL, lone surrogates) are replaced.
    """
    p = position
    server = p.server_time - _EPOCH
    fix = p.fix_time - _EPOCH
    fix_micros = fix.days * _DAY_MICROSECONDS + fix.seconds * 1_000_000 + fix.microseconds
    if p.device_time is p.fix_time:
        device_micros = fix_micros
    else:
        device = p.device_time - _EPOCH
        device_micros = device.days * _DAY_MICROSECONDS + device.seconds * 1_000_000 + device.microseconds
    protocol = _protocols.get(p.protocol) or _pack_protocol(p.protocol)
    if attributes is None:
        attributes = json_bytes(p.attributes)
    if p.address is None and p.network is None and p.geofence_ids is None:
        location = _NO_LOCATION
    else:
        location = _pack_location(p)
    return (
        _FIXED.pack(
            18,
            8,
            p.id,
            8,
            p.device_id,
            8,
            server.days * _DAY_MICROSECONDS + server.seconds * 1_000_000 + server.microseconds,
            8,
            device_micros,
            8,
            fix_micros,
            8,
            p.latitude,
            8,
            p.longitude,
            8,
            p.altitude,
            8,
            p.speed,
            8,
            p.course,
            8,
            p.accuracy,
            1,
            p.outdated,
            1,
            p.valid,
        )
        + protocol
        + location
        + _JSONB.pack(len(attributes) + 1, _JSONB_VERSION)
        + attributes
    )


def _pack_protocol(name: str) -> bytes:
    text = text_bytes(name)
    packed = _LENGTH.pack(len(text)) + text
    if len(_protocols) < 1000:
        _protocols[name] = packed
    return packed


def _pack_location(position: Position) -> bytes:
    parts = []
    if position.address is None:
        parts.append(_NULL)
    else:
        address = text_bytes(position.address)
        parts += [_LENGTH.pack(len(address)), address]
    if position.network is None:
        parts.append(_NULL)
    else:
        network = json_bytes(position.network)
        parts += [_JSONB.pack(len(network) + 1, _JSONB_VERSION), network]
    ids = position.geofence_ids
    if ids is None:
        parts.append(_NULL)
    elif not ids:
        parts.append(struct.pack(">iiii", 12, 0, 0, _INT8_OID))
    else:
        array = struct.pack(">iiiii", 1, 0, _INT8_OID, len(ids), 1)
        array += b"".join(struct.pack(">iq", 8, geofence_id) for geofence_id in ids)
        parts += [_LENGTH.pack(len(array)), array]
    return b"".join(parts)


def copy_data(rows: Iterable[bytes]) -> bytes:
    """Return the complete input of a COPY: header, packed rows and trailer."""
    return b"".join((_HEADER, *rows, _TRAILER))
