"""Properties of the shapes of frames, and of the framer that divides streams into them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices.framing import (
    MAX_REJECTED_BYTES,
    ByteStuffing,
    Fixed,
    Framer,
    Framing,
    Line,
    Marked,
    Measured,
    Nested,
    TextLength,
    length_field,
)
from motorpool.codecs.reports import FrameRejected

LONGEST = 60


def chunked(content: bytes) -> bytes:
    return len(content).to_bytes(2, "big") + content + b"##"


def meitrack(content: bytes) -> bytes:
    return b"$$A%d," % (len(content) + 3) + content + b"\r\n"


def gt06(content: bytes) -> bytes:
    return b"xx" + bytes([len(content)]) + content + b"\r\n"


CASES = {
    "line": (Framing(Line(b"\n"), max_frame_bytes=LONGEST), lambda content: content + b"\n", b"\n"),
    "ends": (
        Framing(Line(b";", b"*", b"\n"), max_frame_bytes=LONGEST, ignored=b"\r\n"),
        lambda content: content + b";",
        b";*\r\n",
    ),
    "started": (
        Framing(Line(b"$", start=b"+"), max_frame_bytes=LONGEST),
        lambda content: b"+" + content + b"$",
        b"$",
    ),
    "quoted": (
        Framing(Marked(b"(", b")", quote=b"$"), max_frame_bytes=LONGEST),
        lambda content: b"($" + content + b"$)",
        b"$",
    ),
    "nested": (
        Framing(Nested(b"[", b"]"), max_frame_bytes=LONGEST),
        lambda content: b"[[" + content + b"]]",
        b"[]",
    ),
    "nested, ended by the next": (
        Framing(Nested(b"[", b"]", header=rb"\[a{3}"), max_frame_bytes=LONGEST),
        lambda content: b"[aaa[" + content.replace(b"[", b"") + b"]]",
        b"[]",
    ),
    "fixed": (
        Framing(Fixed(b"X", 22), max_frame_bytes=LONGEST),
        lambda content: b"X" + content.ljust(21, b"."),
        b"",
    ),
    "length": (Framing(length_field(offset=0, size=2, adjustment=2), max_frame_bytes=LONGEST), chunked, b""),
    "ended length": (
        Framing(length_field(b"xx", offset=2, size=1, adjustment=2, end=b"\r\n"), max_frame_bytes=LONGEST),
        gt06,
        b"",
    ),
    "text length": (
        Framing(TextLength(b"$$", offset=3, until=b",", end=b"\r\n"), max_frame_bytes=LONGEST),
        meitrack,
        b"",
    ),
    "measured": (
        Framing(Measured(b"", 1, lambda header: header[0] + 1), max_frame_bytes=LONGEST),
        lambda content: bytes([len(content)]) + content,
        b"",
    ),
    "several": (
        Framing(
            Line(b"#", start=b"*"), Fixed(b"$", 8), Fixed(b"X", 4), max_frame_bytes=LONGEST, ignored=b"\r\n"
        ),
        lambda content: b"*" + content + b"#\r\n",
        b"#",
    ),
}
each = pytest.mark.parametrize("name", CASES)


def divide(stream, positions):
    ends = sorted(position % (len(stream) + 1) for position in positions)
    return [stream[start:end] for start, end in zip([0, *ends], [*ends, len(stream)], strict=True)]


@each
@settings(max_examples=60, deadline=None)
@given(
    contents=st.lists(st.binary(min_size=1, max_size=20), max_size=6),
    positions=st.lists(st.integers(0, 400), max_size=12),
)
def test_frames_arrive_as_sent_however_the_stream_is_divided(name, contents, positions):
    framing, encode, forbidden = CASES[name]
    contents = [content.translate(None, forbidden) or b"-" for content in contents]
    framer, frames = Framer(framing), []
    for part in divide(b"".join(map(encode, contents)), positions):
        frames += framer.receive(part)
        assert framer.buffered < LONGEST
    assert frames + framer.finish() == [
        encode(content).rstrip(framing.ignored or b"") for content in contents
    ]


@each
@settings(max_examples=80, deadline=None)
@given(draw=st.data())
def test_any_division_of_any_stream_gives_the_same_and_the_buffer_is_bounded(name, draw):
    framing, encode, _ = CASES[name]
    pieces = st.one_of(
        st.binary(max_size=90),
        st.binary(max_size=20).map(encode),
        st.sampled_from([b"*", b"$$", b"[", b"x" * 70, b"\r\n", b"*" * 130]),
    )
    stream = b"".join(draw.draw(st.lists(pieces, max_size=10)))
    whole, divided, frames = Framer(framing), Framer(framing), []
    for part in divide(stream, draw.draw(st.lists(st.integers(0, 800), max_size=12))):
        frames += divided.receive(part)
        assert divided.buffered < LONGEST + MAX_REJECTED_BYTES
    assert frames == whole.receive(stream)
    assert divided.finish() == whole.finish()


@each
@settings(max_examples=40, deadline=None)
@given(noise=st.binary(min_size=1, max_size=30))
def test_after_noise_the_stream_is_resumed(name, noise):
    framing, encode, _ = CASES[name]
    if name in ("length", "measured"):
        return  # without a mark noise cannot be told from a length
    framer = Framer(framing)
    frames = framer.receive(noise)
    for _ in range(20):
        frames += framer.receive(encode(b"c" * 20))
    assert frames[-1] == encode(b"c" * 20).rstrip(framing.ignored or b"")


@pytest.mark.parametrize("unit", [b"*", b"(", b"a", b"*" + b"a" * 3000, b"\0", b"$" * 100])
def test_a_stream_without_ends_costs_little_and_leaves_little(unit):
    framing = Framing(
        Line(b"#", start=b"*"),
        Marked(b"(", b")", quote=b"'"),
        length_field(b"$", offset=1, size=4),
        max_frame_bytes=4096,
    )
    framer, rejected = Framer(framing), 0
    for _ in range(16):
        rejected += len(framer.receive((unit * 16384)[:16384]))
        assert framer.buffered < 4096 + MAX_REJECTED_BYTES
    assert 30 <= rejected <= 200


def test_bytes_that_are_no_frame_are_reported_once_before_the_next_frame():
    framer = Framer(Framing(Line(b"#", start=b"*"), max_frame_bytes=LONGEST))
    assert framer.receive(b"noi") == []
    assert framer.receive(b"se") == []
    assert framer.receive(b"*a#") == [FrameRejected("5 bytes that are no frame", b"noise"), b"*a#"]


def test_a_frame_without_an_end_is_dropped_up_to_the_last_mark_in_it():
    framer = Framer(Framing(Line(b"#", start=b"*"), max_frame_bytes=LONGEST))
    frames = framer.receive(b"*" + b"a" * 40 + b"*" + b"b" * 30 + b"#")
    assert frames == [
        FrameRejected("more than 60 bytes without an end", b"*" + b"a" * 40),
        b"*" + b"b" * 30 + b"#",
    ]


def test_a_wrong_length_is_replaced_by_the_next_end():
    framing = CASES["ended length"][0]
    for claimed in (0, 2, 4):
        frame = b"xx" + bytes([claimed]) + b"abc\r\n"
        assert Framer(framing).receive(frame + gt06(b"next")) == [frame, gt06(b"next")]


def test_a_length_that_no_frame_has_is_no_frame():
    framer = Framer(Framing(length_field(b"$", offset=1, size=4), max_frame_bytes=LONGEST))
    assert framer.receive(b"$\xff\xff\xff\xff$\0\0\0\x01a")[-1] == b"$\0\0\0\x01a"


def test_a_frame_that_is_not_accepted_is_none():
    shape = length_field(b"$", offset=1, size=1, accepts=lambda frame: frame[2:].isdigit())
    framing = Framing(shape, max_frame_bytes=LONGEST)
    assert Framer(framing).receive(b"$\x01a$\x0212") == [
        FrameRejected("3 bytes that are no frame", b"$\x01a"),
        b"$\x0212",
    ]


def test_the_order_of_shapes_decides_where_both_begin_alike():
    framing = Framing(
        length_field(b"\0\0\0\0", offset=4, size=4, adjustment=4),
        length_field(b"\0", offset=0, size=2),
        max_frame_bytes=LONGEST,
        ignored=b"\xff",
    )
    stream = b"\xff\0\x03abc\xff" + b"\0\0\0\0\0\0\0\x02hiCRCX"
    assert Framer(framing).receive(stream) == [b"\0\x03abc", b"\0\0\0\0\0\0\0\x02hiCRCX"]
    framer = Framer(framing)
    assert [frame for at in range(len(stream)) for frame in framer.receive(stream[at : at + 1])] == [
        b"\0\x03abc",
        b"\0\0\0\0\0\0\0\x02hiCRCX",
    ]


STUFFING = ByteStuffing({b"}\1": b"}", b"}\2": b"[", b"}\3": b"]"})


@given(data=st.one_of(st.binary(), st.text("}[]\1\2\3").map(str.encode)))
def test_stuffed_bytes_come_back_and_hold_no_mark(data):
    stuffed = STUFFING.encode(data)
    assert STUFFING.decode(stuffed) == data
    assert b"[" not in stuffed
    assert b"]" not in stuffed


def test_a_replaced_byte_does_not_begin_another_sequence():
    assert STUFFING.decode(b"}\1\2") == b"}\2"
    assert STUFFING.decode(b"}\x09") == b"}\x09"
