"""File chunks between frames in one stream."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles.jt808.attachment_sender import encode_chunk
from motorpool.codecs.checksums import xor8
from motorpool.codecs.devices.jt808.frames import add_framing, new_framer
from motorpool.codecs.devices.jt808.upload_framer import (
    CHUNK_MAGIC,
    CHUNK_PART_BYTES,
    UploadChunk,
    UploadFramer,
    normalized_name,
)
from motorpool.codecs.devices.jt808.vendors.port_framing import is_other_mark_after
from motorpool.codecs.reports import FrameRejected

FRAME = bytes(range(40))
frames = st.binary(min_size=1, max_size=40).filter(
    lambda content: not content.startswith((CHUNK_MAGIC, b"\xe7", b"(", b"\r"))
)
contents = st.one_of(
    st.binary(max_size=80),
    st.just(b"~~01cd~"),
    st.builds(add_framing, st.binary(max_size=9)),
)
chunks = st.builds(
    UploadChunk,
    name=st.binary(min_size=1, max_size=50).map(normalized_name),
    offset=st.integers(0, (1 << 32) - 1),
    content=contents.filter(bool),
)


def encode(item):
    return (
        encode_chunk(item.name, item.offset, item.content)
        if isinstance(item, UploadChunk)
        else add_framing(item)
    )


def unescape(frame):
    content = frame.replace(b"}\x02", b"~").replace(b"}\x01", b"}")
    assert xor8(content) == 0
    return content[:-1]


def divide(stream, positions):
    ends = sorted(position % (len(stream) + 1) for position in positions)
    return [stream[start:end] for start, end in zip([0, *ends], [*ends, len(stream)], strict=True)]


def test_a_chunk_has_name_offset_and_unescaped_bytes():
    stream = (
        bytes.fromhex("30316364") + b"a.jpg".ljust(50, b"\0") + bytes.fromhex("0000000400000003") + b"}~\0"
    )
    assert list(UploadFramer().receive(stream)) == [UploadChunk(b"a.jpg", 4, b"}~\0")]
    assert encode_chunk(b"a.jpg", 4, b"}~\0") == stream


@settings(max_examples=300, deadline=None)
@given(
    items=st.lists(st.one_of(frames, chunks), max_size=6),
    positions=st.lists(st.integers(0, 5000), max_size=12),
)
def test_frames_and_chunks_arrive_as_sent_however_the_stream_is_divided(items, positions):
    framer, found = UploadFramer(), []
    for part in divide(b"".join(map(encode, items)), positions):
        found += framer.receive(part)
    received = [unescape(item) if isinstance(item, bytes) else item for item in found]
    assert received == items
    assert framer.buffered == 0


@settings(max_examples=200, deadline=None)
@given(
    stream=st.lists(
        st.one_of(
            st.binary(max_size=30), st.sampled_from([b"~", b"0", b"01", b"01c", b"}", add_framing(FRAME)])
        ),
        max_size=12,
    ).map(b"".join),
    positions=st.lists(st.integers(0, 400), max_size=8),
)
def test_a_stream_without_chunks_gives_the_frames_of_the_delimiter_framer(stream, positions):
    if CHUNK_MAGIC in stream or stream[:1] not in b"~0" or is_other_mark_after(stream):
        return
    plain, mixed = new_framer(), UploadFramer()
    expected, found = [], []
    for part in [*divide(stream, positions), b"~~"]:
        expected += plain.receive(part)
        found += mixed.receive(part)
    assert [item for item in found if isinstance(item, bytes)] == [
        item for item in expected if isinstance(item, bytes)
    ]


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(st.one_of(st.binary(max_size=70), st.just(CHUNK_MAGIC), st.just(b"~")), max_size=20))
def test_no_bytes_are_an_error_and_little_is_held_back(parts):
    framer = UploadFramer()
    for part in parts:
        framer.receive(part)
        assert framer.buffered <= 4096 + 62 + CHUNK_PART_BYTES


@pytest.mark.parametrize("read_bytes", [1000, 16384, 1 << 20])
def test_long_chunks_are_passed_on_in_parts_of_one_size_whatever_the_reads(read_bytes):
    content = bytes(range(256)) * 600
    stream = encode_chunk(b"film.mp4", 1000, content) + add_framing(FRAME)
    framer, found = UploadFramer(), []
    for at in range(0, len(stream), read_bytes):
        found += framer.receive(stream[at : at + read_bytes])
        assert framer.buffered <= CHUNK_PART_BYTES
    assert [(item.offset, len(item.content)) for item in found[:-1]] == [
        (1000, 65536),
        (66536, 65536),
        (132072, 22528),
    ]
    assert b"".join(item.content for item in found[:-1]) == content
    assert found[-1][:-1] == FRAME


def test_a_chunk_of_absurd_length_is_noise_up_to_the_next_frame():
    stream = CHUNK_MAGIC + bytes(50) + b"\0\0\0\0" + b"\xff\xff\xff\xff" + bytes(300)
    found = UploadFramer().receive(stream + add_framing(FRAME) + encode_chunk(b"x", 0, b"y"))
    assert isinstance(found[0], FrameRejected)
    assert "4294967295 bytes" in found[0].error
    assert [item for item in found if not isinstance(item, FrameRejected)] == [
        add_framing(FRAME)[1:-1],
        UploadChunk(b"x", 0, b"y"),
    ]


def test_an_empty_chunk_is_ignored():
    (frame,) = UploadFramer().receive(encode_chunk(b"x", 0, b"") + add_framing(FRAME))
    assert frame[:-1] == FRAME


def test_names_compare_without_padding_and_cut_to_the_header():
    assert normalized_name(b"a.jpg\0\0\0") == normalized_name(b"a.jpg  ") == b"a.jpg"
    assert normalized_name(b"n" * 60) == b"n" * 50
