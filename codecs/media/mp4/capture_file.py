"""A capture as one fragmented MP4 file (ISO/IEC 14496-12) that plays while it grows and after any crash.

Each media fragment becomes one of the file, written at once: a file that ends within one is complete up to
there. The header has spare room, so that a track which comes late (audio that begins after the pictures,
another coding) can be added to it, and at the end the duration and an index for seeking.

Not written by PyAV: its streams for ready packets take no decoder configuration (so AAC cannot be muxed into
MP4), its header is final, and it costs three times the CPU.
"""

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from motorpool.codecs.media import adts
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment, TimedPicture
from motorpool.codecs.media.mp4 import boxes
from motorpool.codecs.media.mp4.tracks import audio_track, video_track
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec

HEADER_BYTES = 16 * 1024
"""The header with its spare room; the first fragment begins behind it."""
_UNFINISHED = b"growing!"
"""The last bytes of the header while the file is being written; zeros once it is finished."""
_MAX_TRACKS = 8
_MAX_REFERENCES = 1000
"""Entries of the index: a longer file is indexed in longer steps."""

TrackKey = bytes
"""Samples with the same key are of one track: "video/" with the name of the coding of pictures, or the
configuration of AAC."""


@dataclass(slots=True)
class _Samples:
    """A track's samples in the fragment that is being encoded."""

    times: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)
    """Their bytes, in one or more pieces each."""
    end: int = 0
    """Where the last one ends if none follows in this fragment."""


class _IndexedFragment(msgspec.Struct, frozen=True):
    """The index entry of a fragment."""

    size: int
    start: int
    begins_with_keyframe: bool


class CaptureState(msgspec.Struct, frozen=True):
    """What another CaptureFile needs to go on with a file."""

    size: int
    """Bytes."""
    sequence: int
    """Fragments so far."""
    tracks: tuple[boxes.Track, ...]
    keys: tuple[TrackKey, ...]
    """Of each track."""
    ends: tuple[int, ...]
    """Where each track ends."""
    index: tuple[_IndexedFragment, ...]
    """Entries of the index, each of several fragments where there are many."""


class EncodedFragment(msgspec.Struct, frozen=True, gc=False):
    """The bytes that one fragment adds to a file, ready to be written."""

    header: bytes
    """In the place of the one before, if not empty."""
    content: bytes


class CaptureFile:
    """Encodes and writes one file; `write` and `finish` are blocking and raise OSError as the disk does.

    After an OSError the file ends with the last whole fragment, and nothing more is to be written.
    """

    def __init__(
        self,
        file: BinaryIO,
        formats: Mapping[VideoCodec, PictureFormat],
        state: CaptureState | None = None,
    ) -> None:
        """`file` is empty, or that of the `state`, and open for writing and seeking.

        `formats` are of the first key frame of each coding; the file plays without them.
        """
        self.size = 0
        """Bytes written so far."""
        self._sequence = 0
        self._goes_on_at = 0
        """Where the first fragment begins in the file."""
        self._file = file
        self._formats = formats
        self._track_numbers: dict[TrackKey, int] = {}
        self._tracks: list[boxes.Track] = []
        self._track_ends: list[int] = []
        self._start: int | None = None
        self._fragments: list[_IndexedFragment] = []
        if state is not None:
            self.size, self._sequence = state.size, state.sequence
            self._tracks, self._track_ends = list(state.tracks), list(state.ends)
            self._track_numbers = {key: number for number, key in enumerate(state.keys, start=1)}
            self._fragments = list(state.index)
            self._goes_on_at = max(self._track_ends, default=0)

    def state(self) -> CaptureState:
        """Return what another one needs to go on with the file as it is."""
        step = max(1, -(-len(self._fragments) // _MAX_REFERENCES))
        groups = [self._fragments[first : first + step] for first in range(0, len(self._fragments), step)]
        return CaptureState(
            self.size,
            self._sequence,
            tuple(self._tracks),
            tuple(self._track_numbers),
            tuple(self._track_ends),
            tuple(
                _IndexedFragment(
                    sum(each.size for each in group), group[0].start, group[0].begins_with_keyframe
                )
                for group in groups
            ),
        )

    @property
    def duration(self) -> float:
        """Seconds, of the longest track."""
        return max(self._track_ends, default=0) / TICKS_PER_SECOND

    def encode(self, fragment: MediaFragment) -> EncodedFragment | None:
        """Return what a fragment adds, to be passed to `write` before the next one. Not blocking.

        Its audio is AAC. None where it holds nothing.
        """
        if not fragment.pictures and not fragment.audio_frames:
            return None
        if self._start is None:
            # An encoder's first frame lies before its first sample.
            begin = min([fragment.start, *(frame.pts for frame in fragment.audio_frames[:1])])
            self._start = begin - self._goes_on_at
        known_tracks = len(self._tracks)
        samples: dict[int, _Samples] = {}
        self._add_pictures(fragment, samples)
        self._add_audio(fragment.audio_frames, samples)
        if not samples:
            return None
        header = self._header() if len(self._tracks) > known_tracks else b""
        runs, parts = self._runs(samples)
        self._sequence += 1
        content = boxes.movie_fragment(self._sequence, runs, parts)
        # A player can start at any unit of audio.
        begins_with_keyframe = not runs[0].flags or runs[0].flags[0] == boxes.SYNC
        start = min(run.decode_time for run in runs)
        self._fragments.append(_IndexedFragment(len(content), start, begins_with_keyframe))
        return EncodedFragment(header, content)

    def write(self, encoded: EncodedFragment) -> None:
        """Write what `encode` returned."""
        if self.size:
            self._write_at(0, encoded.header)
            self._append(encoded.content)
        else:
            self._append(encoded.header + encoded.content)

    def finish(self) -> None:
        """Write the duration and the index into the header; the file is playable without them."""
        if self._fragments:
            self._write_at(0, self._header(max(self._track_ends), self._index_entries()))

    # Samples

    def _add_pictures(self, fragment: MediaFragment, samples: dict[int, _Samples]) -> None:
        if fragment.coding is None or not fragment.pictures:
            return
        number = self._video_track_number(fragment.coding, fragment.pictures)
        if number is None:
            return
        to_sample = fragment.coding.to_mp4_sample
        track_samples = samples[number] = _Samples()
        track_samples.parts = [to_sample(picture.payload) for picture in fragment.pictures]
        track_samples.sizes = [len(part) for part in track_samples.parts]
        track_samples.times = [picture.pts for picture in fragment.pictures]
        track_samples.flags = [
            boxes.SYNC if picture.keyframe else boxes.NO_SYNC for picture in fragment.pictures
        ]
        track_samples.end = fragment.end

    def _add_audio(self, audio_frames: Sequence[AudioFrame], samples: dict[int, _Samples]) -> None:
        previous, repeated, ticks = b"", _Samples(), 0
        for unit in audio_frames:
            payload = unit.payload
            if previous and adts.is_single_frame_without_checksum(payload, previous):  # nearly always
                repeated.times.append(unit.pts)
                repeated.sizes.append(len(payload) - adts.HEADER_BYTES)
                repeated.parts.append(payload[adts.HEADER_BYTES :])
                repeated.end = unit.pts + ticks
                continue
            frames = adts.frames(payload)
            for position, (config, frame) in enumerate(frames):
                number = self._track_numbers.get(config) or self._audio_track_number(config)
                if number is None:
                    continue
                track_samples = samples.get(number)
                if track_samples is None:
                    track_samples = samples[number] = _Samples()
                rate = adts.SAMPLE_RATES[int.from_bytes(config) >> 7 & 15]
                unit_ticks = unit.samples * TICKS_PER_SECOND // rate
                track_samples.times.append(unit.pts + unit_ticks * position // len(frames))
                track_samples.sizes.append(len(frame))
                track_samples.parts.append(frame)
                track_samples.end = unit.pts + unit_ticks * (position + 1) // len(frames)
                if len(frames) == 1:
                    previous, repeated, ticks = payload, track_samples, unit_ticks

    def _runs(self, samples: dict[int, _Samples]) -> tuple[list[boxes.TrackRun], list[bytes]]:
        """Return the runs, video first, and their bytes; times never go back in a track."""
        assert self._start is not None
        runs: list[boxes.TrackRun] = []
        parts: list[bytes] = []
        for number, track_samples in sorted(
            samples.items(), key=lambda entry: self._tracks[entry[0] - 1].kind != b"vide"
        ):
            earliest = self._track_ends[number - 1]
            times = []
            for time in (*track_samples.times, track_samples.end):
                earliest = max(earliest, time - self._start)
                times.append(earliest)
            self._track_ends[number - 1] = times[-1]
            durations = [after - before for before, after in itertools.pairwise(times)]
            runs.append(boxes.TrackRun(number, times[0], durations, track_samples.sizes, track_samples.flags))
            parts += track_samples.parts
        return runs, parts

    # The header

    def _video_track_number(self, coding: VideoCodec, pictures: Sequence[TimedPicture]) -> int | None:
        key = f"video/{coding.ffmpeg_name}".encode()
        number = self._track_numbers.get(key)
        if number is None and pictures[0].keyframe:
            picture_format = self._formats.get(coding, PictureFormat())
            number = self._add_track(key, video_track(coding, pictures[0].payload, picture_format))
        return number

    def _audio_track_number(self, config: bytes) -> int | None:
        number = self._track_numbers.get(config)
        return self._add_track(config, audio_track(config)) if number is None else number

    def _add_track(self, key: TrackKey, track: boxes.Track) -> int | None:
        """Return the track's number; None where the header has no room: there are more than a camera has."""
        room = HEADER_BYTES // 2  # the other half is for the index
        if (
            len(self._tracks) == _MAX_TRACKS
            or len(boxes.movie([*self._tracks, track], TICKS_PER_SECOND)) > room
        ):
            return None
        self._tracks.append(track)
        self._track_ends.append(0)
        self._track_numbers[key] = len(self._tracks)
        return len(self._tracks)

    def _header(self, duration: int = 0, references: Sequence[boxes.SegmentReference] = ()) -> bytes:
        header = boxes.movie(self._tracks, TICKS_PER_SECOND, duration)
        index_bytes = len(boxes.segment_index(1, TICKS_PER_SECOND, 0, 0, references)) if references else 0
        marker = bytes(len(_UNFINISHED)) if references else _UNFINISHED
        spare = boxes.box(b"free", bytes(HEADER_BYTES - len(header) - index_bytes - 8 - len(marker)), marker)
        if references:
            first_time = self._fragments[0].start
            header += boxes.segment_index(1, TICKS_PER_SECOND, first_time, len(spare), references)
        return header + spare

    def _index_entries(self) -> list[boxes.SegmentReference]:
        """Return the entries of the index; one covers several fragments where there are many."""
        room = HEADER_BYTES - len(boxes.movie(self._tracks, TICKS_PER_SECOND, 1)) - 8 - len(_UNFINISHED)
        max_entries = min(_MAX_REFERENCES, (room - len(boxes.segment_index(1, 1, 0, 0, ()))) // 12)
        step = -(-len(self._fragments) // max_entries)
        first = self._fragments[::step]
        starts = [entry.start for entry in first] + [max(self._track_ends)]
        return [
            boxes.SegmentReference(
                sum(entry.size for entry in self._fragments[position * step : (position + 1) * step]),
                max(0, starts[position + 1] - starts[position]),
                entry.begins_with_keyframe,
            )
            for position, entry in enumerate(first)
        ]

    # The disk

    def _append(self, content: bytes) -> None:
        try:
            self._write_at(self.size, content)
        except OSError:
            self._file.truncate(self.size)
            raise
        self.size += len(content)

    def _write_at(self, offset: int, content: bytes) -> None:
        if not content:
            return
        self._file.seek(offset)
        remaining = memoryview(content)
        while remaining:
            remaining = remaining[self._file.write(remaining) :]


def repair(file: BinaryIO) -> bool:
    """Truncate a file that a crash has left within a fragment to its last complete one.

    Players read a file without its last samples, but not one that ends within a fragment's header. Return
    whether anything was cut off. Blocking; raises OSError as the disk does.
    """
    file.seek(HEADER_BYTES - len(_UNFINISHED))
    if file.read(len(_UNFINISHED)) != _UNFINISHED:
        return False
    end = file.seek(0, os.SEEK_END)
    position = complete_end = HEADER_BYTES
    while position + 8 <= end:
        file.seek(position)
        header = file.read(8)
        size = int.from_bytes(header[:4])
        if size < 8 or position + size > end:
            break
        position += size
        if header[4:] == b"mdat":
            complete_end = position
    if complete_end == end:
        return False
    file.truncate(complete_end)
    return True
