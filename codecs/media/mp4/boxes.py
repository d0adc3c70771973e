"""Boxes of a fragmented MP4 file (ISO/IEC 14496-12), as far as a capture of one camera needs them."""

from collections.abc import Sequence
from itertools import chain
from struct import pack

import msgspec

FILE_TYPE = b"iso6" + (512).to_bytes(4) + b"iso6" + b"mp41"
_UNITY = pack(">9I", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
"""The identity matrix."""
_UNDETERMINED = 0x55C4
"""Language `und`."""
_HANDLERS = {b"vide": b"Pictures\0", b"soun": b"Sound\0"}
_MEDIA_HEADERS = {b"vide": (b"vmhd", 1, bytes(8)), b"soun": (b"smhd", 0, bytes(4))}

_BASE_IS_FRAGMENT = 0x02_0000
_DEFAULT_FLAGS = 0x20
_RUN_FIELDS = 0x01 | 0x100 | 0x200
"""A run has the offset of its data, and the duration and size of each sample."""
_RUN_FLAGS = 0x400
"""Runs of pictures have the flags of each sample as well."""
SYNC = 0x0200_0000
NO_SYNC = 0x0101_0000


class Track(msgspec.Struct, frozen=True):
    """A track, as the movie box describes it."""

    kind: bytes
    """Handler: `vide` or `soun`."""
    entry: bytes
    """Its sample entry box."""
    width: int = 0
    """Pixels; 0 for audio, and where the first key frame does not decode."""
    height: int = 0


class TrackRun(msgspec.Struct, frozen=True):
    """The samples of one track in a fragment."""

    track: int
    """Its number, from 1."""
    decode_time: int
    durations: Sequence[int]
    sizes: Sequence[int]
    """Bytes."""
    flags: Sequence[int] = ()
    """Empty: each sample can be decoded on its own."""


class SegmentReference(msgspec.Struct, frozen=True):
    """One entry of the index: a stretch of the file that a player can seek to."""

    size: int
    duration: int
    begins_with_keyframe: bool


def box(kind: bytes, *content: bytes) -> bytes:
    """Return a box of this type."""
    size = 8 + sum(map(len, content))
    return b"".join((size.to_bytes(4), kind, *content))


def full_box(kind: bytes, version: int, flags: int, *content: bytes) -> bytes:
    """Return a box with version and flags."""
    return box(kind, (version << 24 | flags).to_bytes(4), *content)


def movie(tracks: Sequence[Track], timescale: int, duration: int = 0) -> bytes:
    """Return the file type and movie boxes; all samples of the tracks are in fragments.

    `duration` in units of `timescale`; 0 while it is not known.
    """
    header = full_box(
        b"mvhd", 1, 0, pack(">QQIQIH10x", 0, 0, timescale, 0, 1 << 16, 1 << 8), _UNITY, bytes(24),
        (len(tracks) + 1).to_bytes(4),
    )  # fmt: skip
    extends = [
        full_box(b"trex", 0, 0, pack(">5I", number, 1, 0, 0, 0)) for number in range(1, len(tracks) + 1)
    ]
    if duration:
        extends.insert(0, full_box(b"mehd", 1, 0, duration.to_bytes(8)))
    described = [_track(number, track, timescale) for number, track in enumerate(tracks, 1)]
    return box(b"ftyp", FILE_TYPE) + box(b"moov", header, *described, box(b"mvex", *extends))


def _track(number: int, track: Track, timescale: int) -> bytes:
    volume = 0 if track.kind == b"vide" else 1 << 8
    header = full_box(
        b"tkhd", 1, 3, pack(">QQI4xQ8xHHHxx", 0, 0, number, 0, 0, int(volume > 0), volume), _UNITY,
        pack(">II", track.width << 16, track.height << 16),
    )  # fmt: skip
    media_kind, flags, fields = _MEDIA_HEADERS[track.kind]
    here = box(b"dinf", full_box(b"dref", 0, 0, pack(">I", 1), full_box(b"url ", 0, 1)))
    none = bytes(4)
    samples = box(
        b"stbl",
        full_box(b"stsd", 0, 0, pack(">I", 1), track.entry),
        full_box(b"stts", 0, 0, none),
        full_box(b"stsc", 0, 0, none),
        full_box(b"stsz", 0, 0, bytes(8)),
        full_box(b"stco", 0, 0, none),
    )
    media = box(
        b"mdia",
        full_box(b"mdhd", 1, 0, pack(">QQIQHxx", 0, 0, timescale, 0, _UNDETERMINED)),
        full_box(b"hdlr", 0, 0, pack(">4x4s12x", track.kind), _HANDLERS[track.kind]),
        box(b"minf", full_box(media_kind, 0, flags, fields), here, samples),
    )
    return box(b"trak", header, media)


def movie_fragment(sequence: int, runs: Sequence[TrackRun], parts: Sequence[bytes]) -> bytes:
    """Return a fragment followed by its media data, run after run."""
    offset = len(_fragment_header(sequence, runs, [0] * len(runs))) + 8
    offsets = []
    for run in runs:
        offsets.append(offset)
        offset += sum(run.sizes)
    content_bytes = 8 + sum(map(len, parts))
    header = _fragment_header(sequence, runs, offsets)
    return b"".join((header, content_bytes.to_bytes(4), b"mdat", *parts))


def _fragment_header(sequence: int, runs: Sequence[TrackRun], offsets: Sequence[int]) -> bytes:
    tracks = [
        box(
            b"traf",
            full_box(b"tfhd", 0, _BASE_IS_FRAGMENT | _DEFAULT_FLAGS, pack(">II", run.track, SYNC)),
            full_box(b"tfdt", 1, 0, run.decode_time.to_bytes(8)),
            _run(run, offset),
        )
        for run, offset in zip(runs, offsets, strict=True)
    ]
    return box(b"moof", full_box(b"mfhd", 0, 0, pack(">I", sequence)), *tracks)


def _run(run: TrackRun, offset: int) -> bytes:
    columns, values = _RUN_FIELDS, [run.durations, run.sizes]
    if run.flags:
        columns |= _RUN_FLAGS
        values.append(run.flags)
    fields = list(chain.from_iterable(zip(*values, strict=True)))
    return full_box(b"trun", 0, columns, pack(f">II{len(fields)}I", len(run.sizes), offset, *fields))


def segment_index(
    track: int, timescale: int, first_time: int, first_offset: int, references: Sequence[SegmentReference]
) -> bytes:
    """Return the index; `first_offset` counts from the end of this box to the first fragment."""
    entries = [
        pack(">III", reference.size, reference.duration, 0x9000_0000 if reference.begins_with_keyframe else 0)
        for reference in references
    ]
    return full_box(
        b"sidx",
        1,
        0,
        pack(">IIQQHH", track, timescale, first_time, first_offset, 0, len(references)),
        *entries,
    )
