"""What each device protocol gets tested for by being in the folder.

A protocol brings its vectors (`tests/vectors/<name>.txt`: whole connections and the reports they are to give)
and its peer below: the device's end, which reads what `encode` wrote.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.attributes import ALARM_DETAILS, ALARMS, find_attribute, with_mark
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import MAX_REJECTED_BYTES
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reports import (
    DeviceCommand,
    FrameRejected,
    ImmediateReply,
    Login,
    MediaAddress,
    PositionReport,
    Report,
)

VECTORS = Path(__file__).parents[1] / "vectors"
KEPT_BYTES = 2 << 20
"""What any codec may hold back for one connection, with all its half messages."""

Case = tuple[bytes, list[dict[str, Any]]]


def read_vectors(name: str) -> list[Case]:
    cases: list[Case] = []
    for line in (VECTORS / f"{name}.txt").read_text("utf-8").splitlines():
        kind, _, rest = line.partition(" ")
        match kind:
            case "hex":
                cases.append((bytes.fromhex(rest), []))
            case "text":
                cases.append((rest.replace("\\r", "\r").replace("\\n", "\n").encode(), []))
            case "report":
                cases[-1][1].append(json.loads(rest))
            case "" | "#":
                pass
            case _:
                raise AssertionError(line)
    return cases


CASES = {name: read_vectors(name) for name in CODECS}
EACH_CASE = [
    pytest.param(codec, *case, id=f"{name}-{number}")
    for name, codec in CODECS.items()
    for number, case in enumerate(CASES[name], 1)
]
each_codec = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)


def signature(report: Report) -> Report:
    """A report without what depends on how the bytes were cut: serials of answers sent meanwhile."""
    return ImmediateReply(b"") if isinstance(report, ImmediateReply) else report


def feed(codec: DeviceCodec, pieces: list[bytes]) -> list[Report]:
    return [signature(report) for piece in pieces if piece for report in codec.receive(piece)]


@pytest.mark.parametrize(("codec", "stream", "expected"), EACH_CASE)
def test_vectors_give_the_reports_written_beside_them(
    codec: type[DeviceCodec], stream: bytes, expected: list[dict[str, Any]]
):
    reports = codec().receive(stream)

    assert [type(report).__name__ for report in reports] == [fields["type"] for fields in expected]
    for report, fields in zip(reports, expected, strict=True):
        fields_of_report = json.loads(json.dumps(msgspec.to_builtins(report)))
        if isinstance(report, FrameRejected):
            assert report.frame
        for name in fields.keys() - {"type"}:
            expected_value = pytest.approx(fields[name]) if isinstance(fields[name], float) else fields[name]
            assert fields_of_report[name] == expected_value, name


def attribute_fault(key: str, value: object) -> str:
    """Return why a value does not have the type that all protocols give this attribute; empty if it has.

    Keys that are not in the table may have any value but None.
    """
    found = find_attribute(key)
    kind = None if found is None else found.attribute.kind
    if value is None:
        return f"{key} is None: leave it out"
    if kind is float:
        is_right = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        is_right = kind is None or isinstance(value, kind)
    if not is_right:
        return f"{key} is {value!r}, not {'a number' if kind is float else kind.__name__ if kind else ''}"
    unknown = set(value.split(",")) - ALARMS if key == "alarm" and isinstance(value, str) else set()
    if key == "alarmDetail" and isinstance(value, str):
        names = {detail.partition(":")[0] for detail in value.split(",")}
        unknown = {name for name in names - ALARMS if with_mark(name)[0] not in ALARM_DETAILS}
    return f"no such alarm: {', '.join(sorted(unknown))}" if unknown else ""


@pytest.mark.parametrize(("codec", "stream", "expected"), EACH_CASE)
def test_attributes_have_the_types_that_all_protocols_give_them(
    codec: type[DeviceCodec], stream: bytes, expected: list[dict[str, Any]]
):
    faults = [
        fault
        for report in codec().receive(stream)
        if isinstance(report, PositionReport)
        for name, value in report.attributes.items()
        if (fault := attribute_fault(name, value))
    ]
    assert faults == []


@pytest.mark.parametrize(("codec", "stream", "expected"), EACH_CASE)
def test_single_bytes_give_the_same_reports(
    codec: type[DeviceCodec], stream: bytes, expected: list[dict[str, Any]]
):
    whole = feed(codec(), [stream])

    assert len(whole) == len(expected)
    assert feed(codec(), [stream[at : at + 1] for at in range(len(stream))]) == whole


@pytest.mark.parametrize("between", [b"\r", b"\n", b"\r\n", b"\n\r\n"])
@pytest.mark.parametrize(
    "codec", [pytest.param(codec, id=name) for name, codec in CODECS.items() if codec.transport == "tcp"]
)
def test_line_ends_between_frames_lose_none(codec: type[DeviceCodec], between: bytes):
    """Relays and modems add them, and take them away."""
    stream = CASES[codec.name][0][0]
    frames = stream.strip(b"\r\n") if stream.endswith(b"$\r\n") else stream
    alone = feed(codec(), [frames + frames])
    found = feed(codec(), [frames + between + frames])
    assert [report for report in found if not isinstance(report, FrameRejected)] == alone


@each_codec
@settings(max_examples=60, deadline=None)
@given(draw=st.data())
def test_any_split_gives_the_same_reports(codec: type[DeviceCodec], draw: st.DataObject):
    stream = draw.draw(st.sampled_from([case[0] for case in CASES[codec.name]]))
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert feed(codec(), pieces) == feed(codec(), [stream])


@each_codec
@settings(max_examples=150, deadline=None)
@given(draw=st.data())
def test_random_bytes_raise_only_codec_errors(codec: type[DeviceCodec], draw: st.DataObject):
    peer = codec()
    for piece in draw.draw(st.lists(st.binary(max_size=200), max_size=6)):
        try:
            answer_all(peer, peer.receive(piece))
        except CodecError:
            break
    assert peer.buffered <= KEPT_BYTES


@each_codec
@settings(max_examples=200, deadline=None)
@given(draw=st.data())
def test_damaged_streams_raise_only_codec_errors(codec: type[DeviceCodec], draw: st.DataObject):
    """Bytes that are nearly right go deeper than random ones."""
    stream = bytearray(draw.draw(st.sampled_from([case[0] for case in CASES[codec.name]])))
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(stream) - 1))
        stream[at : at + draw.draw(st.integers(0, 3))] = draw.draw(st.binary(max_size=3))
        if not stream:
            return
    peer = codec()
    with suppress(CodecError):
        answer_all(peer, peer.receive(bytes(stream)))


def answer_all(codec: DeviceCodec, reports: list[Report]) -> None:
    """Acknowledge every second receipt and refuse the others."""
    receipts = [receipt for report in reports if (receipt := getattr(report, "receipt", None)) is not None]
    codec.acknowledge(receipts[::2])
    for receipt in receipts[1::2]:
        codec.refuse(receipt)
    codec.refuse(None)


@each_codec
@pytest.mark.parametrize(
    "unit",
    [
        b"\0",
        b"\xff",
        b"A",
        b"~A",
        b"}",
        b"\r\n",
        b"*",
        b"$",
        b"$$",
        b"[",
        b"(",
        b"imei:1,",
        b"GET /?id=1 HTTP/1.1\r\nA: b\r\n",
    ],
)
def test_no_buffer_grows_past_its_limit(codec: type[DeviceCodec], unit: bytes):
    peer = codec()
    limit = KEPT_BYTES
    if issubclass(codec, FramedCodec):
        # Half of a frame and the first bytes of what was none; such a stream begins no photo.
        limit = codec.framing.max_frame_bytes + MAX_REJECTED_BYTES
    chunk = (unit * 16384)[:16384]
    with suppress(CodecError):
        for _ in range(limit // len(chunk) + 2):
            peer.receive(chunk)
            assert peer.buffered <= limit


@each_codec
def test_cut_streams_leave_less_behind_than_they_brought(codec: type[DeviceCodec]):
    for stream, _ in CASES[codec.name]:
        peer = codec()
        peer.receive(stream[:-1])
        assert peer.buffered <= len(stream)


# What we encode we decode


def jt808_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    terminal = Terminal("13912345678")
    codec = CODECS["jt808"]()
    codec.receive(terminal.heartbeat())
    return codec, terminal.receive


def owntracks_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    return CODECS["owntracks"](), json.loads


def osmand_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    return CODECS["osmand"](), bytes.decode


def gps103_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["gps103"]()
    codec.receive(b"##,imei:353358017784062,A;")
    command = re.compile(rb"\*\*,imei:[0-9]{11,15},[ -~]+")
    return codec, command.fullmatch


def gl200_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["gl200"]()
    codec.receive(b"+ACK:GTHBD,1A0102,135790246811220,,20240305142231,0012$")
    return codec, re.compile(rb"AT\+GT(RTO=,[0-9],,,,,,FFFF|OUT=,[01],,,[0,]+FFFF)\$|[ -#%-~]+\$").fullmatch


def gt06_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["gt06"]()
    codec.receive(bytes.fromhex("78780D01035335801778406200015E940D0A"))
    return codec, re.compile(rb"xx.\x80.\0{4}[ -~]+\0\0..\r\n", re.DOTALL).fullmatch


def teltonika_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["teltonika"]()
    codec.receive(b"\x00\x0f353358017784062")
    return codec, re.compile(rb"\0{4}.{4}\x0c\x01\x05.{4}.+\x01\0\0..", re.DOTALL).fullmatch


def h02_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["h02"]()
    codec.utc_now = lambda: datetime(2026, 5, 1, tzinfo=UTC)
    codec.receive(b"*HQ,8612345678,V0#")
    return codec, re.compile(rb"\*HQ,8612345678,[A-Z0-9]+,000000,[ -~]+#|[ -~]+").fullmatch


def watch_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["watch"]()
    codec.receive(b"[3G*8800000015*0002*LK]")

    def decode(data: bytes) -> bool:
        found = re.fullmatch(rb"\[SG\*[0-9]{10,15}\*([0-9a-f]{4})\*([^\[\]]+)\]", data, re.DOTALL)
        return found is not None and int(found[1], 16) == len(found[2])

    return codec, decode


def tk103_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["tk103"]()
    codec.configure("", {"tk103.alternative": True})
    codec.receive(b"(013912345678BP00353358017784062HSO)")
    return codec, re.compile(rb"\([0-9]{11,12}[ -~]+\)|\[begin\]sms2,[ -~]+,\[end\]").fullmatch


def suntech_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["suntech"]()
    codec.receive(b"STT;0850000001;000001\r")
    return codec, re.compile(rb"CMD;[0-9]{10,11};0[34];[01][0-9]\r").fullmatch


def meitrack_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["meitrack"]()
    codec.receive(b"$$z27,353358017784062,AAC,1*38\r\n")
    return codec, re.compile(rb"@@A[0-9]+,[0-9]+,[ -~]+\*[0-9A-F]{2}\r\n").fullmatch


def ruptela_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    codec = CODECS["ruptela"]()
    codec.receive(bytes.fromhex("0009000141609320E8FE10CBAD"))
    return codec, re.compile(rb"\0.[\x66-\x6a\x6c\x75\x89].*..|\x12", re.DOTALL).fullmatch


PEERS = {
    "gps103": gps103_peer,
    "gl200": gl200_peer,
    "gt06": gt06_peer,
    "h02": h02_peer,
    "jt808": jt808_peer,
    "meitrack": meitrack_peer,
    "osmand": osmand_peer,
    "owntracks": owntracks_peer,
    "ruptela": ruptela_peer,
    "suntech": suntech_peer,
    "teltonika": teltonika_peer,
    "tk103": tk103_peer,
    "watch": watch_peer,
}
COMMAND_ATTRIBUTES = {
    "data": "8104",
    "frequency": 30,
    "server": "203.0.113.5",
    "port": 5015,
    "message": "turn back",
    "startTime": "2026-05-01T10:00:00Z",
}
"""Enough for any command."""
PROTOCOL_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "meitrack": {"phone": "15551234"},
    "owntracks": {"data": '{"_type": "cmd", "action": "dump"}'},
    "watch": {"index": 1, "phone": "+4930123456", "enable": True, "timezone": "Europe/Berlin"},
    "tk103": {"enable": True, "phone": "13912345678"},
    "suntech": {"index": 1, "data": "1"},
    "ruptela": {"index": 1, "data": "12"},
}
OTHER_ATTRIBUTES = {
    "setOdometer": {"data": "184460"},
    "setSpeedLimit": {"data": 80},
    "configuration": {"data": ""},
}


@each_codec
def test_each_command_is_encoded_and_understood_by_the_device(codec: type[DeviceCodec]):
    peer, decode = PEERS[codec.name]()
    peer.utc_now = lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)
    for command in sorted(codec.commands):
        attributes = (
            COMMAND_ATTRIBUTES | OTHER_ATTRIBUTES.get(command, {}) | PROTOCOL_ATTRIBUTES.get(codec.name, {})
        )
        encodable = DeviceCommand(command, attributes, "13912345678", MediaAddress("203.0.113.5", 1078, 1079))
        assert decode(peer.encode(encodable).data), command


@each_codec
@settings(max_examples=100, deadline=None)
@given(draw=st.data())
def test_any_attributes_are_encoded_or_refused_with_a_sentence(codec: type[DeviceCodec], draw: st.DataObject):
    values = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=20),
        st.lists(st.integers(), max_size=2),
    )
    names = st.sampled_from(
        [
            "channel",
            "index",
            "data",
            "startTime",
            "endTime",
            "control",
            "speed",
            "time",
            "message",
            "port",
            "flags",
        ]
    )
    peer, decode = PEERS[codec.name]()
    command = draw.draw(st.sampled_from(sorted(codec.commands)))
    attributes = COMMAND_ATTRIBUTES | draw.draw(st.dictionaries(names, values, max_size=4))
    try:
        outgoing = peer.encode(
            DeviceCommand(command, attributes, media=MediaAddress("203.0.113.5", 1078, 1079))
        )
    except UnsupportedCommand as error:
        refusal = str(error)
    else:
        if command != "custom":
            decode(outgoing.data)
        return
    assert refusal


@each_codec
def test_unknown_commands_are_refused(codec: type[DeviceCodec]):
    with pytest.raises(UnsupportedCommand, match="makeCoffee"):
        PEERS[codec.name]()[0].encode(DeviceCommand("makeCoffee"))


@each_codec
def test_a_refused_device_is_answered_without_raising(codec: type[DeviceCodec]):
    for stream, _ in CASES[codec.name]:
        peer = codec()
        for report in peer.receive(stream):
            if isinstance(report, Login):
                peer.refuse(report.receipt)
