"""Properties of the framings that device codecs choose from."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices.framing import MAX_REJECTED_BYTES, DelimiterFramer, rejected
from motorpool.codecs.reports import FrameRejected

MAX_FRAME_BYTES = 40
FRAME = b"frame"

streams = st.lists(
    st.one_of(st.binary(max_size=60), st.sampled_from([b"~", b"~~", b"x" * 39, b"x" * 41])), max_size=12
).map(b"".join)


def new_framer():
    return DelimiterFramer(b"~", MAX_FRAME_BYTES)


def divide(stream, positions):
    ends = sorted(position % (len(stream) + 1) for position in positions)
    return [stream[start:end] for start, end in zip([0, *ends], [*ends, len(stream)], strict=True)]


@settings(max_examples=300, deadline=None)
@given(
    contents=st.lists(st.binary(max_size=40).map(lambda content: content.replace(b"~", b"")), max_size=8),
    shared=st.booleans(),
    positions=st.lists(st.integers(0, 400), max_size=12),
)
def test_frames_arrive_as_sent_however_the_stream_is_divided(contents, shared, positions):
    stream = b"~" + (b"~" if shared else b"~~").join(contents) + b"~"
    framer, frames = new_framer(), []
    for part in divide(stream, positions):
        frames += framer.receive(part)
    assert frames == [content for content in contents if content]
    assert framer.buffered == 0
    assert framer.at_boundary


@settings(max_examples=300, deadline=None)
@given(stream=streams, positions=st.lists(st.integers(0, 800), max_size=12))
def test_any_division_gives_the_same_frames_and_the_buffer_is_bounded(stream, positions):
    whole, divided = new_framer(), new_framer()
    frames = []
    for part in divide(stream, positions):
        frames += divided.receive(part)
        assert divided.buffered <= MAX_FRAME_BYTES
    # How much of an oversized frame is reported depends on the reads; that it is reported does not.
    expected = [type(frame) if isinstance(frame, FrameRejected) else frame for frame in whole.receive(stream)]
    assert [type(frame) if isinstance(frame, FrameRejected) else frame for frame in frames] == expected
    assert (divided.buffered, divided.at_boundary) == (whole.buffered, whole.at_boundary)


def test_frames_may_share_a_delimiter():
    assert new_framer().receive(b"~one~two~") == [b"one", b"two"]


def test_two_delimiters_in_a_row_are_no_frame():
    assert new_framer().receive(b"~~" + b"~frame~" + b"~~~") == [FRAME]


def test_bytes_before_the_first_delimiter_are_rejected_once():
    framer = new_framer()
    assert framer.receive(b"noi") == []
    assert framer.receive(b"se") == []
    assert framer.receive(b"~frame~") == [
        FrameRejected("bytes before the first delimiter", b"noise"),
        FRAME,
    ]


@pytest.mark.parametrize("opening", [b"~", b""])
def test_a_frame_without_end_is_rejected_once(opening):
    framer = new_framer()
    frames = framer.receive(opening)
    for _ in range(1000):
        frames += framer.receive(b"x" * 1000)
        assert framer.buffered <= MAX_FRAME_BYTES
    assert [type(frame) for frame in frames] == [FrameRejected]
    assert frames[0].frame == b"x" * 256
    assert framer.receive(b"~frame~") == [FRAME]


@pytest.mark.parametrize("before", [b"~", b"~frame~"])
def test_an_oversized_frame_is_rejected_also_where_it_comes_at_once(before):
    frames = new_framer().receive(before + b"x" * 50 + b"~frame~")
    (error,) = [frame.error for frame in frames if isinstance(frame, FrameRejected)]
    assert "more than 40 bytes" in error
    assert frames[-1] == FRAME


def test_much_noise_before_the_first_delimiter_is_rejected_as_oversized():
    oversized, frame = new_framer().receive(b"x" * 50 + b"~frame~")
    assert "more than 40 bytes" in oversized.error
    assert frame == FRAME


def test_an_unfinished_frame_is_released_only_where_it_begins_the_prefix():
    framer = new_framer()
    framer.receive(b"~01")
    assert framer.release(b"02cd") == b""
    assert framer.buffered == 2
    assert framer.release(b"01cd") == b"01"
    assert framer.at_boundary
    assert framer.release(b"01cd") == b""


def test_a_rejected_frame_is_cut_for_the_log():
    assert rejected("reason", bytes(1000)) == FrameRejected("reason", bytes(MAX_REJECTED_BYTES))
