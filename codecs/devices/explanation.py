"""What each byte of a message means, found by changing it (docs/protocols/common.md#explained-messages).

Each byte is replaced by other values, the message is decoded again, and what differs in the reports is what
the byte says. So the explanation cannot disagree with the codec, holds for every protocol, and what no report
depends on is what the codec does not understand. It takes a dozen decodings a byte and more.
"""

import copy
from collections.abc import Iterable, Mapping
from math import inf
from time import process_time
from typing import Any, Literal, NamedTuple

import msgspec

from motorpool.codecs.devices.base import DeviceCodec
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import Report

MAX_EXPLAINED_BYTES = 1024
"""The bytes behind them are one part, `unexamined`."""
UNIDENTIFIED = "unidentified"
"""Identity of a device of which a message is explained without its login."""

Kind = Literal["value", "layout", "check", "answer", "unknown", "unexamined"]

_MAX_LOCAL = 3
"""Most things that a byte changes at once if it is a value; more are a matter of the layout."""
_MAX_TELLING = 16
"""Values of bytes that are tried one by one where they tell something for several bytes at once."""
_STATIONS = ("cellTowers.", "wifiAccessPoints.")
_TEXT = (b"0123456789", b"ABCDEFNOPSWVZ", b"abcdefghinotz")
"""In a text a character is replaced by some of the same kind."""
_WITHIN_NUMBERS = b".-+:"


class Part(msgspec.Struct, frozen=True, gc=False):
    """Bytes of a message that say one thing."""

    offset: int
    """Of the first one in the message, from 0."""
    length: int
    bytes: str
    """In hexadecimal digits."""
    kind: Kind
    """`value`: it says `values`. `layout`: it decides how the rest is read, or that it is a message at all.
    `check`: a check value. `answer`: it returns in the server's answer and says nothing else. `unknown`: no
    value of it makes a difference. `unexamined`: it lies behind the limit of bytes or time."""
    values: Mapping[str, Any]
    """What it says, by the names of the reports' fields and attributes; null for secrets and for what it does
    not say now."""


def explain(codec: DeviceCodec, message: bytes, *, seconds: float = inf) -> list[Part]:
    """Return the parts of a message, in their order, without gaps.

    Args:
        codec: after the messages before this one; it stays as it is. Of a stream that has identified no
            device yet the message counts as one of a device that has.
        message: as it was received: one frame or several.
        seconds: of processor time, after which no further byte is examined.
    """
    examination = _Examination(codec, message, process_time() + seconds)
    found = examination.run()
    examined, known = len(found), examination.original.values
    parts: list[Part] = []
    start = 0
    while start < examined:
        kind, names = found[start]
        end = start + 1
        while end < examined and found[end] == found[start]:
            end += 1
        values = {name: None if name == "secret" else known.get(name) for name in sorted(names)}
        parts.append(Part(start, end - start, message[start:end].hex(), kind, values))
        start = end
    if examined < len(message):
        rest = message[examined:]
        parts.append(Part(examined, len(rest), rest.hex(), "unexamined", {}))
    return parts


class _Said(NamedTuple):
    """What bytes say."""

    kind: Kind
    names: frozenset[str]


_NOTHING = _Said("unknown", frozenset())


class _Outcome(msgspec.Struct):
    """What a message was decoded to."""

    shape: tuple[str, ...]
    """Names of the types of reports."""
    values: dict[str, Any]
    receipts: list[Any]


def _decoded(codec: DeviceCodec, message: bytes) -> _Outcome:
    codec = copy.deepcopy(codec)
    if isinstance(codec, FramedCodec):
        codec.unique_id = codec.unique_id or UNIDENTIFIED
    try:
        reports = codec.receive(message)
    except CodecError:
        return _Outcome(("closed",), {}, [])
    names = [type(report).__name__ for report in reports]
    values: dict[str, Any] = {}
    for at, report in enumerate(reports):
        is_single = names.count(names[at]) == 1
        values |= _flat(report, "" if is_single else f"{names[: at + 1].count(names[at])}.")
    receipts = [receipt for report in reports if (receipt := getattr(report, "receipt", None)) is not None]
    shape = (*names, "incomplete") if codec.buffered else tuple(names)
    return _Outcome(shape, values, receipts)


def _flat(report: Report, prefix: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in report.__struct_fields__:
        value = getattr(report, field)
        if field in ("receipt", "frame", "located"):
            continue
        if field == "network" and value:
            for kind in ("cellTowers", "wifiAccessPoints"):
                for number, station in enumerate(value.get(kind, ()), 1):
                    values |= {f"{prefix}{kind}.{number}.{key}": each for key, each in station.items()}
        elif isinstance(value, Mapping):
            values |= {f"{prefix}{key}": each for key, each in value.items()}
        elif value is not None:
            values[f"{prefix}{field}"] = msgspec.to_builtins(value)
    return values


class _Examination:
    """The search for what the bytes of one message say."""

    def __init__(self, codec: DeviceCodec, message: bytes, end: float) -> None:
        """`end` is the `process_time` after which nothing is examined any more."""
        self._codec = codec
        self._message = message
        self._end = end
        self._sealed = codec.reseal(message)
        self._is_text = sum(0x20 <= byte < 0x7F for byte in message) > len(message) * 0.8
        self.original = _decoded(codec, message)

    def run(self) -> list[_Said]:
        """Return what each of the first `MAX_EXPLAINED_BYTES` bytes says, or of fewer if time runs out."""
        found: list[_Said] = []
        for at, byte in enumerate(self._message[:MAX_EXPLAINED_BYTES]):
            if process_time() > self._end:
                break
            found.append(self._examine(at, self._candidates(byte)))
        size, start = len(found), 0
        while start < size and process_time() <= self._end:
            end = start + 1
            if found[start] == _NOTHING:
                while end < size and found[end] == _NOTHING:
                    end += 1
                found[start:end] = self._examine_further(start, end)
            start = end
        if self._is_text:
            for at in range(1, size - 1):
                if self._message[at] in _WITHIN_NUMBERS and found[at - 1].names == found[at + 1].names:
                    found[at] = found[at - 1]
        return found

    def _candidates(self, byte: int) -> Iterable[int]:
        if self._is_text:
            return next((group for group in _TEXT if byte in group), b"|")
        return (*(byte ^ 1 << bit for bit in range(8)), 0x01, 0x00, 0xFF)

    def _examine_further(self, start: int, end: int) -> list[_Said]:
        """Return what bytes say that seem to say nothing: the values that matter may be few."""
        telling = [
            byte
            for byte in range(256)
            if self._effect(start, bytes((byte,)) * (end - start)).kind not in ("unknown", "layout")
        ]
        return [self._examine(at, telling[:_MAX_TELLING]) for at in range(start, end)]

    def _examine(self, at: int, candidates: Iterable[int]) -> _Said:
        names: set[str] = set()
        kind: Kind = "unknown"
        for byte in candidates:
            effect = self._effect(at, bytes((byte,)))
            if effect.kind == "check":
                return effect
            names |= effect.names
            if kind == "unknown" or effect.kind == "layout":
                kind = effect.kind
        return _Said("value", frozenset(names)) if names else _Said(kind, frozenset())

    def _effect(self, at: int, replacement: bytes) -> _Said:
        """Return what a message with other bytes at an offset says differently."""
        message, original = self._message, self.original
        if message[at : at + len(replacement)] == replacement:
            return _NOTHING
        changed = self._codec.reseal(message[:at] + replacement + message[at + len(replacement) :])
        if changed == self._sealed:
            return _Said("check", frozenset())
        outcome = _decoded(self._codec, changed)
        names = _differing(original.values, outcome.values)
        if outcome.shape != original.shape or len(names) > _MAX_LOCAL:
            return _Said("layout", frozenset())
        if names:
            return _Said("value", frozenset(names))
        return _Said("answer", frozenset()) if outcome.receipts != original.receipts else _NOTHING


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """Return the names whose values differ; of a cell or access point that comes or goes only one."""
    names = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    stations = {name.rpartition(".")[0] for name in names if any(each in name for each in _STATIONS)}
    for station in stations:
        of_it = {name for name in names if name.startswith(f"{station}.")}
        if len(of_it) > 1:
            names = names - of_it | {station}
    return names
