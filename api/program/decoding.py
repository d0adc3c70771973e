"""`motorpool decode`: decodes captured bytes of a device and prints what they mean."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.attributes import unit_of
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import Report, Secret

SHOWN_BYTES = 256
"""Most bytes of a content that are printed."""


class Decoded(msgspec.Struct, frozen=True):
    """A report and the bytes with which the server answers it."""

    report: Report
    answer: bytes = b""


def parse_bytes(text: str, *, is_text: bool = False) -> bytes:
    r"""Return the bytes of an argument: hexadecimal digits, with blanks, colons or `0x`; or text.

    In a text `\r`, `\n`, `\t`, `\0` and `\xhh` are escapes.

    Raises:
        ValueError: it is neither.
    """
    if is_text:
        return text.encode("utf-8").decode("unicode_escape").encode("latin-1")
    return bytes.fromhex("".join(text.replace("0x", "").replace(":", " ").split()))


def decode(
    name: str,
    pieces: Sequence[bytes],
    *,
    udp: bool = False,
    strict: bool = False,
    model: str = "",
    attributes: Mapping[str, Any] | None = None,
) -> Iterator[Decoded | str]:
    """Yield what each piece brings, in order, and remarks.

    Args:
        name: of the protocol.
        pieces: reads of one connection, or datagrams.
        udp: whether they are datagrams.
        strict: whether frames with a wrong check value are dropped.
        model: of the device.
        attributes: of the device, as `DeviceCodec.configure` reads them.

    Raises:
        ValueError: no such protocol, or it has no datagrams.
    """
    codec_type = CODECS.get(name)
    if codec_type is None:
        raise ValueError(f"no such protocol: {name}; there are {', '.join(sorted(CODECS))}")
    if udp and not codec_type.udp:
        raise ValueError(f"{name} is not served over UDP")
    codec = codec_type()
    codec.strict_checksums = strict
    codec.keeps_unknown = True
    codec.configure(model, attributes or {})
    for piece in pieces:
        try:
            reports = codec.receive_datagram(piece) if udp else codec.receive(piece)
        except CodecError as error:
            yield f"the connection would be closed: {error}"
            return
        for report in reports:
            yield Decoded(report, _answer(codec, report))
        if codec.checksum_errors:
            yield f"wrong check values: {codec.checksum_errors}"
            codec.checksum_errors = 0
    if codec.buffered:
        yield f"{codec.buffered} bytes wait for the rest of a message"


def describe(decoded: Decoded | str) -> Iterator[str]:
    """Yield the lines that are printed of a report or a remark."""
    if isinstance(decoded, str):
        yield f"# {decoded}"
        return
    report = decoded.report
    yield type(report).__name__
    for field in msgspec.structs.fields(report):
        value = getattr(report, field.name)
        if field.name == "receipt" or _is_default(value, field):
            continue
        if field.name == "attributes":
            for key, attribute in value.items():
                yield f"  {key}: {_shown(attribute)} {unit_of(key)}".rstrip()
        else:
            yield f"  {field.name}: {_shown(value)} {_UNITS.get(field.name, '')}".rstrip()
    if decoded.answer:
        yield f"  answer: {_shown(decoded.answer)}"


_UNITS = {"altitude": "m", "accuracy": "m", "speed": "kn", "course": "°", "latitude": "°", "longitude": "°"}


def _is_default(value: object, field: msgspec.structs.FieldInfo) -> bool:
    """Whether a field says nothing; coordinates of 0 and flags of positions are shown all the same."""
    if (isinstance(value, bool) and field.name != "wants_code") or field.name in (
        "latitude",
        "longitude",
        "speed",
        "course",
    ):
        return False
    return value is None or value == field.default or value in ((), {}, "", b"")


def _answer(codec: DeviceCodec, report: Report) -> bytes:
    receipt = getattr(report, "receipt", None)
    return codec.acknowledge((receipt,)) if receipt is not None else b""


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        digits = value[:SHOWN_BYTES].hex() + ("…" if len(value) > SHOWN_BYTES else "")
        printable = value[:SHOWN_BYTES].decode("ascii", "replace")
        return f"{digits} {printable!r}" if printable.rstrip("\r\n").isprintable() else digits
    if isinstance(value, str):
        return value
    if isinstance(value, Secret):
        return "not shown"
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False).strip('"')
