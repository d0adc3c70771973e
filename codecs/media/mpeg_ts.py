"""Fragments as MPEG transport streams (ISO/IEC 13818-1), as HLS wants them (RFC 8216, section 3.2).

A file is two tables, and a PES packet for each picture and each unit of audio. It is written here because
each of these took several calls of PyAV, which cost more than the work of FFmpeg (docs/performance.md#video).
"""

import functools
from operator import itemgetter
from struct import Struct

import fastcrc

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.codecs.media.video_codec import VideoCodec

_PACKET_BYTES = 188
_BODY_BYTES = 184
"""Of a packet, behind the four of its header."""
_ASSOCIATION_PID, _MAP_PID, _VIDEO_PID, _AUDIO_PID = 0, 0x1000, 0x100, 0x101
_VIDEO_ID, _AUDIO_ID = 0xE0, 0xC0
"""Stream ids in PES headers."""
_ADTS = 0x0F
"""Stream type of AAC with ADTS headers."""
_MAX_PES_BYTES = 0xFFFF
"""Longest length that a PES header can state; for what is longer, as for pictures, it states 0."""
_HEAD = Struct(">4sBBHI4sHBBBBHH")
"""Of the first packet: its header; bytes that follow in the adaptation field, flags, program clock reference;
start code and stream id, length, flags, bytes that follow, PTS between marker bits.
"""
_PES_BYTES = 14
_ROOM = _PACKET_BYTES - _HEAD.size
_ADAPTATION_BYTES = 7
_BYTES_BEHIND_LENGTH = 8
_DISCONTINUITY, _RANDOM_ACCESS, _CLOCK = 0x80, 0x40, 0x10
"""Flags of an adaptation field."""
_CLOCK_LEAD = 63_000
"""Ticks by which the clock is behind the time of the picture, 0.7 s as FFmpeg has it."""
_PAYLOAD, _BOTH = 0x10, 0x30
"""What a packet holds: a payload, or an adaptation field and a payload."""
_MAX_SPLIT = 128
"""Packets that are made in one go; few pictures have more."""
_FILLING = (b"", b"\0", *(bytes((size - 1, 0)) + b"\xff" * (size - 2) for size in range(2, _BODY_BYTES)))
"""Adaptation fields that hold nothing, by their size."""


def write_mpeg_ts(fragment: MediaFragment) -> bytes:
    """Return the file of a fragment, whose audio is AAC; empty if it holds nothing.

    Raises:
        CodecError: a picture does not begin with a NAL unit.
    """
    coding, audio_frames = fragment.coding, fragment.audio_frames
    if not fragment.pictures and not audio_frames:
        return b""
    file = list(_tables(coding, has_audio=bool(audio_frames) or fragment.has_audio))
    audio = _Track(_AUDIO_PID, _AUDIO_ID, file)
    units = [(frame.pts, audio, frame.payload, True) for frame in audio_frames]
    if coding is not None:
        video = _Track(_VIDEO_PID, _VIDEO_ID, file)
        delimiter = coding.delimiter
        delimited = delimiter[:5], delimiter[1:5]
        start_codes = delimiter[:4], delimiter[1:4]
        for picture in fragment.pictures:
            payload = picture.payload
            if not payload.startswith(delimited):
                if not payload.startswith(start_codes):
                    raise CodecError("cannot be muxed: a picture does not begin with a NAL unit")
                payload = delimiter + payload
            units.append((picture.pts, video, payload, picture.keyframe))
    units.sort(key=itemgetter(0))
    for pts, track, payload, is_random_access in units:
        track.add(pts, payload, is_random_access=is_random_access)
    return b"".join(file)


class _Track:
    """Appends the packets of one elementary stream to a file."""

    def __init__(self, pid: int, stream_id: int, file: list[bytes]) -> None:
        self._file = file
        self._first = _headers(pid, _BOTH, begins=True)
        self._middle = _headers(pid, _PAYLOAD)
        self._last = _headers(pid, _BOTH)
        self._start = bytes((0, 0, 1, stream_id))
        self._max_length = 0 if stream_id == _VIDEO_ID else _MAX_PES_BYTES
        self._counter = 0
        self._flags = _CLOCK | _DISCONTINUITY
        """Of the next PES packet: the first says that the counters begin anew."""

    def add(self, pts: int, payload: bytes, *, is_random_access: bool) -> None:
        """Append a PES packet with this payload."""
        file, counter, size, room = self._file, self._counter, len(payload), _ROOM
        missing = room - size if size < room else 0
        length = size + _BYTES_BEHIND_LENGTH
        clock = (pts - _CLOCK_LEAD) << 15 | 0x7E00  # six bits are reserved, the last nine count 27 MHz
        head = _HEAD.pack(
            self._first[counter],
            _ADAPTATION_BYTES + missing,
            self._flags | _RANDOM_ACCESS if is_random_access else self._flags,
            clock >> 32 & 0xFFFF,
            clock & 0xFFFF_FFFF,
            self._start,
            length if length <= self._max_length else 0,
            0x80,
            0x80,
            5,
            pts >> 29 & 0x0E | 0x21,
            pts >> 14 & 0xFFFE | 1,
            pts << 1 & 0xFFFE | 1,
        )
        self._flags = _CLOCK
        counter = (counter + 1) & 15
        if missing:
            file += head[:-_PES_BYTES], b"\xff" * missing, head[-_PES_BYTES:], payload
            self._counter = counter
            return
        file += head, payload[:room]
        whole, tail = divmod(size - room, _BODY_BYTES)
        while whole:
            packets = min(whole, _MAX_SPLIT)
            pieces = [b""] * (2 * packets)
            pieces[::2] = self._middle[counter : counter + packets]
            pieces[1::2] = _splitter(packets).unpack_from(payload, room)
            # Joined while the pieces are in the cache.
            file.append(b"".join(pieces))
            counter = (counter + packets) & 15
            room += packets * _BODY_BYTES
            whole -= packets
        if tail:
            file += self._last[counter], _FILLING[_BODY_BYTES - tail], payload[-tail:]
            counter = (counter + 1) & 15
        self._counter = counter


@functools.cache
def _headers(pid: int, control: int, *, begins: bool = False) -> tuple[bytes, ...]:
    """Return headers of packets whose counters go on from each to the next, for a split from any counter."""
    start = 0x40 if begins else 0
    return tuple(
        bytes((0x47, start | pid >> 8, pid & 0xFF, control | counter & 15))
        for counter in range(16 + _MAX_SPLIT)
    )


@functools.cache
def _splitter(packets: int) -> Struct:
    """Return a struct that splits off this number of bodies, in a tenth of the time of slices."""
    return Struct(f"{_BODY_BYTES}s" * packets)


@functools.cache
def _tables(coding: VideoCodec | None, *, has_audio: bool) -> tuple[bytes, bytes]:
    """Return the packets of the program association table and of the program map."""
    association = bytes((0, 1)) + (0xE000 | _MAP_PID).to_bytes(2)  # program 1
    streams = b""
    if coding is not None:
        streams += _map_entry(coding.stream_type, _VIDEO_PID, coding.stream_descriptors)
    if has_audio:
        streams += _map_entry(_ADTS, _AUDIO_PID)
    clock_pid = _AUDIO_PID if coding is None else _VIDEO_PID
    program = (0xE000 | clock_pid).to_bytes(2) + bytes((0xF0, 0)) + streams
    return _table(_ASSOCIATION_PID, 0, association), _table(_MAP_PID, 2, program)


def _map_entry(stream_type: int, pid: int, descriptors: bytes = b"") -> bytes:
    return (
        bytes((stream_type,))
        + (0xE000 | pid).to_bytes(2)
        + (0xF000 | len(descriptors)).to_bytes(2)
        + descriptors
    )


def _table(pid: int, table_id: int, content: bytes) -> bytes:
    """Return a table, as the one section of the one packet that it takes."""
    # Number 1, version 0, current, section 0 of 0.
    section = (
        bytes((table_id,)) + (0xB000 | 5 + len(content) + 4).to_bytes(2) + bytes((0, 1, 0xC1, 0, 0)) + content
    )
    section += fastcrc.crc32.mpeg_2(section).to_bytes(4)
    # The adaptation field says that the counter begins anew; the section begins right behind the pointer, 0.
    head = bytes((0x47, 0x40 | pid >> 8, pid & 0xFF, _BOTH, 1, _DISCONTINUITY, 0))
    return head + section.ljust(_PACKET_BYTES - len(head), b"\xff")
