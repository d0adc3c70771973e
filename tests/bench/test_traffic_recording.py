"""Recordings as `simulate --replay` reads them."""

import contextlib

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.traffic_recording import (
    MAX_CHUNK_BYTES,
    Closed,
    Entry,
    Opened,
    Received,
    Sent,
    TrafficRecordingReader,
)
from motorpool.codecs.errors import CodecError

number, seconds = st.integers(1, 2**31), st.floats(0, 1e6)
protocol = st.sampled_from(["jt808", "jt1078-live", "osmand"])
entries = st.one_of(
    st.builds(Opened, number, protocol, seconds, st.text(max_size=40)),
    st.builds(Received, number, protocol, seconds, st.binary(max_size=200)),
    st.builds(Sent, number, protocol, seconds, st.binary(max_size=200)),
    st.builds(Closed, number, seconds),
)


def encode(entry: Entry) -> bytes:
    match entry:
        case Opened(connection, protocol, seconds, host):
            return msgpack.packb({"c": connection, "p": protocol, "t": seconds, "o": host})
        case Received(connection, protocol, seconds, content):
            return msgpack.packb({"c": connection, "p": protocol, "t": seconds, "d": content})
        case Sent(connection, protocol, seconds, content):
            return msgpack.packb({"c": connection, "p": protocol, "t": seconds, "s": content})
        case Closed(connection, seconds):
            return msgpack.packb({"c": connection, "t": seconds, "e": True})


@settings(max_examples=100)
@given(st.lists(entries, max_size=10), st.integers(1, 50))
def test_entries_are_read_however_the_recording_is_divided(written: list[Entry], size: int) -> None:
    content = b"".join(encode(entry) for entry in written)
    reader = TrafficRecordingReader()
    read = [
        entry
        for start in range(0, len(content), size)
        for entry in reader.receive(content[start : start + size])
    ]
    assert read == written


def test_a_recording_cut_off_in_the_middle_gives_its_whole_entries() -> None:
    packed = msgpack.packb({"c": 1, "p": "jt808", "t": 0.0, "d": b"abc"})
    assert TrafficRecordingReader().receive(packed + packed[:-1]) == [Received(1, "jt808", 0.0, b"abc")]


@pytest.mark.parametrize(
    "content",
    [
        b"\xc1",
        msgpack.packb(7),
        msgpack.packb([1]),
        msgpack.packb({"c": 1, "p": "jt808"}),
        msgpack.packb({"c": 1, "p": "jt808", "t": 0.0}),
        msgpack.packb({"c": 1, "p": "jt808", "t": 0.0, "d": "text"}),
        msgpack.packb({"c": "1", "t": 0.0, "e": True}),
    ],
)
def test_what_is_no_recording_is_a_codec_error(content: bytes) -> None:
    with pytest.raises(CodecError):
        TrafficRecordingReader().receive(content)


def test_a_string_longer_than_any_chunk_is_refused_before_it_fills_the_memory() -> None:
    reader = TrafficRecordingReader()
    reader.receive(b"\x81\xa1d\xc6\x7f\xff\xff\xff")
    with pytest.raises(CodecError):
        reader.receive(bytes(2 * MAX_CHUNK_BYTES + 1))


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_random_bytes_raise_only_codec_errors(content: bytes) -> None:
    with contextlib.suppress(CodecError):
        TrafficRecordingReader().receive(content)
