"""`motorpool decode`: decodes captured bytes of a device and prints what they mean."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.attributes import unit_of
from motorpool.codecs.devices.explanation import UNIDENTIFIED, Part, explain
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import Report, Secret

SHOWN_BYTES = 256
"""Most bytes of a content that are printed."""
MAX_TABLE_LINES = 8
"""Lines of the bytes of one part in a table."""


class Decoded(msgspec.Struct, frozen=True):
    """A report and the bytes with which the server answers it."""

    report: Report
    answer: bytes = b""


class Explained(msgspec.Struct, frozen=True):
    """The parts of a piece."""

    parts: list[Part]


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
    fields: bool = False,
) -> Iterator[Decoded | Explained | str]:
    """Yield what each piece brings, in order, and remarks.

    Args:
        name: of the protocol.
        pieces: reads of one connection, or datagrams.
        udp: whether they are datagrams.
        strict: whether frames with a wrong check value are dropped.
        model: of the device.
        attributes: of the device, as `DeviceCodec.configure` reads them.
        fields: whether its parts are explained behind each piece.

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
    if isinstance(codec, FramedCodec):
        codec.unique_id = UNIDENTIFIED
    for piece in pieces:
        parts = explain(codec, piece) if fields else []
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
        if parts:
            yield Explained(parts)
    if codec.buffered:
        yield f"{codec.buffered} bytes wait for the rest of a message"


def describe(decoded: Decoded | Explained | str, protocol: str = "") -> Iterator[str]:
    """Yield the lines that are printed of a report, of parts, or of a remark; units are the protocol's."""
    if isinstance(decoded, str):
        yield f"# {decoded}"
        return
    if isinstance(decoded, Explained):
        yield from _table(decoded.parts, protocol)
        return
    report = decoded.report
    yield type(report).__name__
    for field in msgspec.structs.fields(report):
        value = getattr(report, field.name)
        if field.name == "receipt" or _is_default(value, field):
            continue
        if field.name == "attributes":
            for key, attribute in value.items():
                yield f"  {key}: {_shown(attribute)} {unit_of(key, protocol)}".rstrip()
        else:
            yield f"  {field.name}: {_shown(value)} {_UNITS.get(field.name, '')}".rstrip()
    if decoded.answer:
        yield f"  answer: {_shown(decoded.answer)}"


def as_json(decoded: Decoded | Explained | str) -> str:
    """Return a report, parts or a remark as one line of JSON."""
    if isinstance(decoded, str):
        content: dict[str, Any] = {"remark": decoded}
    elif isinstance(decoded, Explained):
        content = {"fields": decoded.parts}
    else:
        report = decoded.report
        fields = {
            field.name: "not shown" if isinstance(value, Secret) else value
            for field in msgspec.structs.fields(report)
            if field.name != "receipt" and not _is_default(value := getattr(report, field.name), field)
        }
        content = {"report": type(report).__name__, **fields, "answer": decoded.answer.hex()}
    return msgspec.json.encode(content, enc_hook=repr).decode()


def _table(parts: Sequence[Part], protocol: str) -> Iterator[str]:
    pieces = [bytes.fromhex(part.bytes) for part in parts]
    whole = b"".join(pieces).rstrip(b"\r\n")
    is_text = whole.isascii() and whole.decode().isprintable()
    yield "offset  length  bytes             meaning"
    for part, piece in zip(parts, pieces, strict=True):
        shown = piece.decode().replace("\r", "\\r").replace("\n", "\\n") if is_text else part.bytes
        lines = [shown[at : at + 16] for at in range(0, len(shown), 16)][:MAX_TABLE_LINES]
        meaning = ", ".join(
            name
            if value is None
            else f"{name} {_shown(value)} {unit_of(name, protocol) or _UNITS.get(name, '')}".rstrip()
            for name, value in part.values.items()
        )
        yield f"{part.offset:>6}  {part.length:>6}  {lines[0]:<16}  {meaning or f'({part.kind})'}"
        for line in lines[1:]:
            yield f"{'':>14}  {line}"


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
