"""Cuts into one MP4 file on disk that plays from its first byte, while it grows and after any crash.

Each cut becomes a fragment, written at once: what ends in the middle of one is whole up to there. The head
has room to spare, so that a track which comes late (sound that begins after the pictures, another coding)
is written into it, and in the end the length and an index for seeking.

Written here and not by PyAV: its streams for ready packets take no description of their coding (AAC cannot be
muxed into MP4 so), its head is final, and it costs three times the CPU.
"""

import itertools
import os
from collections.abc import Sequence
from typing import BinaryIO

import msgspec

from motorpool.codecs.media import adts, annexb
from motorpool.codecs.media.audio_transcoding import SoundCarrier
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment, PlacedPicture
from motorpool.codecs.media.mp4.boxes import (
    NO_SYNC,
    SYNC,
    Reference,
    Run,
    box,
    fragment,
    movie,
    segment_index,
)
from motorpool.codecs.media.mp4.tracks import Track, picture_track, sound_track
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND
from motorpool.codecs.media.units import Coding

__all__ = ["HEAD_BYTES", "CaptureFile", "Composed", "mend"]

HEAD_BYTES = 16 * 1024
"""Of the head with its spare room; the first fragment begins behind it."""
_GROWING = b"growing!"
"""The last bytes of the head while the file is being written; zeros in the end."""
_MAX_TRACKS = 8
_MAX_REFERENCES = 1000
"""Of the index: a longer film is sought in longer steps."""

TrackKey = Coding | bytes
"""What makes two samples of one track: the pictures' coding, or the configuration of AAC."""


class _Samples:
    """A track's samples in the fragment that is being made."""

    __slots__ = ("end", "flags", "parts", "sizes", "times")

    def __init__(self) -> None:
        self.times: list[int] = []
        self.sizes: list[int] = []
        self.flags: list[int] = []
        self.parts: list[bytes] = []
        """Their bytes, in as many pieces as it takes."""
        self.end = 0
        """Where the last one ends if none follows in this fragment."""


class _Fragment(msgspec.Struct, frozen=True):
    """What the index needs to know of one."""

    size: int
    start: int
    begins_with_keyframe: bool


class Composed(msgspec.Struct, frozen=True, gc=False):
    """What one cut adds to a film, ready for the disk."""

    head: bytes
    """In the place of the one before, if not empty."""
    content: bytes


class CaptureFile:
    """Writes one film; `write`, `put` and `finish` are blocking and raise OSError as the disk does.

    After an OSError the file ends with the last whole fragment, and nothing more is to be written.
    """

    def __init__(self, file: BinaryIO) -> None:
        """`file` is empty, and open for writing and seeking."""
        self.size = 0
        """Bytes written so far."""
        self.left_out = 0
        """Units for which there was no room in the head: more tracks than a camera has."""
        self._file = file
        self._carrier = SoundCarrier()
        self._numbers: dict[TrackKey, int] = {}
        self._tracks: list[Track] = []
        self._ends: list[int] = []
        self._base: int | None = None
        self._fragments: list[_Fragment] = []

    @property
    def duration(self) -> float:
        """Seconds, of the longest track."""
        return max(self._ends, default=0) / TICKS_PER_SECOND

    def write(self, cut: MediaFragment) -> None:
        """Append the cut; nothing where it holds nothing whole (the first sound of an encoder)."""
        composed = self.compose(cut)
        if composed is not None:
            self.put(composed)

    def is_quick(self, cut: MediaFragment) -> bool:
        """Whether `compose` takes no longer than making a segment of it does."""
        return (cut.coding is None or cut.coding in self._numbers) and not cut.needs_transcoding

    def compose(self, cut: MediaFragment) -> Composed | None:
        """What the cut adds, to be `put` before the next one is; without the disk.

        Raises:
            CodecError: FFmpeg does not take its sound.
        """
        cut = self._carrier.carry(cut)
        if not cut.pictures and not cut.sounds:
            return None
        if self._base is None:
            # An encoder's first frame lies before its first sample.
            self._base = min([cut.start, *(sound.pts for sound in cut.sounds[:1])])
        known = len(self._tracks)
        samples: dict[int, _Samples] = {}
        self._place_pictures(cut, samples)
        self._place_sounds(cut.sounds, samples)
        if not samples:
            return None
        head = self._head() if len(self._tracks) > known else b""
        runs, parts = self._runs(samples)
        content = fragment(len(self._fragments) + 1, runs, parts)
        # Sound can be joined anywhere.
        begins_with_keyframe = not runs[0].flags or runs[0].flags[0] == SYNC
        start = min(run.decode_time for run in runs)
        self._fragments.append(_Fragment(len(content), start, begins_with_keyframe))
        return Composed(head, content)

    def put(self, composed: Composed) -> None:
        """Write what was composed."""
        if self.size:
            self._put(0, composed.head)
            self._append(composed.content)
        else:
            self._append(composed.head + composed.content)

    def finish(self) -> None:
        """Write the length and the index into the head; the film is complete without them."""
        if self._fragments:
            self._put(0, self._head(max(self._ends), self._references()))

    # Samples

    def _place_pictures(self, cut: MediaFragment, samples: dict[int, _Samples]) -> None:
        if cut.coding is None or not cut.pictures:
            return
        number = self._track_of_pictures(cut.coding, cut.pictures)
        if number is None:
            self.left_out += len(cut.pictures)
            return
        found = samples[number] = _Samples()
        found.parts = [annexb.with_lengths(picture.payload) for picture in cut.pictures]
        found.sizes = [len(part) for part in found.parts]
        found.times = [picture.pts for picture in cut.pictures]
        found.flags = [SYNC if picture.keyframe else NO_SYNC for picture in cut.pictures]
        found.end = cut.end

    def _place_sounds(self, sounds: Sequence[AudioFrame], samples: dict[int, _Samples]) -> None:
        like, alike, ticks = b"", _Samples(), 0
        for sound in sounds:
            payload = sound.payload
            if like and adts.is_bare_frame(payload, like):  # all but the first, as a rule
                alike.times.append(sound.pts)
                alike.sizes.append(len(payload) - adts.HEAD_BYTES)
                alike.parts.append(payload[adts.HEAD_BYTES :])
                alike.end = sound.pts + ticks
                continue
            frames = adts.frames(payload)
            for place, (config, frame) in enumerate(frames):
                number = self._numbers.get(config) or self._track_of_sound(config)
                if number is None:
                    self.left_out += 1
                    continue
                found = samples.get(number)
                if found is None:
                    found = samples[number] = _Samples()
                rate = adts.SAMPLE_RATES[int.from_bytes(config) >> 7 & 15]
                lasting = sound.samples * TICKS_PER_SECOND // rate
                found.times.append(sound.pts + lasting * place // len(frames))
                found.sizes.append(len(frame))
                found.parts.append(frame)
                found.end = sound.pts + lasting * (place + 1) // len(frames)
                if len(frames) == 1:
                    like, alike, ticks = payload, found, lasting

    def _runs(self, samples: dict[int, _Samples]) -> tuple[list[Run], list[bytes]]:
        """Pictures first; times never go back in a track."""
        assert self._base is not None
        runs: list[Run] = []
        parts: list[bytes] = []
        for number, found in sorted(
            samples.items(), key=lambda each: self._tracks[each[0] - 1].kind != b"vide"
        ):
            least = self._ends[number - 1]
            times = []
            for time in (*found.times, found.end):
                least = max(least, time - self._base)
                times.append(least)
            self._ends[number - 1] = times[-1]
            durations = [after - before for before, after in itertools.pairwise(times)]
            runs.append(Run(number, times[0], durations, found.sizes, found.flags))
            parts += found.parts
        return runs, parts

    # The head

    def _track_of_pictures(self, coding: Coding, pictures: Sequence[PlacedPicture]) -> int | None:
        number = self._numbers.get(coding)
        if number is None and pictures[0].keyframe:
            number = self._add(coding, picture_track(coding, pictures[0].payload))
        return number

    def _track_of_sound(self, config: bytes) -> int | None:
        number = self._numbers.get(config)
        return self._add(config, sound_track(config)) if number is None else number

    def _add(self, key: TrackKey, track: Track) -> int | None:
        room = HEAD_BYTES // 2  # the other half is for the index
        if len(self._tracks) == _MAX_TRACKS or len(movie([*self._tracks, track], TICKS_PER_SECOND)) > room:
            return None
        self._tracks.append(track)
        self._ends.append(0)
        self._numbers[key] = len(self._tracks)
        return len(self._tracks)

    def _head(self, duration: int = 0, references: Sequence[Reference] = ()) -> bytes:
        head = movie(self._tracks, TICKS_PER_SECOND, duration)
        index_bytes = len(segment_index(1, TICKS_PER_SECOND, 0, 0, references)) if references else 0
        mark = bytes(len(_GROWING)) if references else _GROWING
        spare = box(b"free", bytes(HEAD_BYTES - len(head) - index_bytes - 8 - len(mark)), mark)
        if references:
            first_time = self._fragments[0].start
            head += segment_index(1, TICKS_PER_SECOND, first_time, len(spare), references)
        return head + spare

    def _references(self) -> list[Reference]:
        """The fragments, several to a step where they are many."""
        room = HEAD_BYTES - len(movie(self._tracks, TICKS_PER_SECOND, 1)) - 8 - len(_GROWING)
        most = min(_MAX_REFERENCES, (room - len(segment_index(1, 1, 0, 0, ()))) // 12)
        step = -(-len(self._fragments) // most)
        first = self._fragments[::step]
        starts = [each.start for each in first] + [max(self._ends)]
        return [
            Reference(
                sum(each.size for each in self._fragments[place * step : (place + 1) * step]),
                max(0, starts[place + 1] - starts[place]),
                each.begins_with_keyframe,
            )
            for place, each in enumerate(first)
        ]

    # The disk

    def _append(self, content: bytes) -> None:
        try:
            self._put(self.size, content)
        except OSError:
            self._file.truncate(self.size)
            raise
        self.size += len(content)

    def _put(self, offset: int, content: bytes) -> None:
        if not content:
            return
        self._file.seek(offset)
        left = memoryview(content)
        while left:
            left = left[self._file.write(left) :]


def mend(file: BinaryIO) -> bool:
    """Cut a file that a crash has left in the middle of a fragment back to what is whole.

    Players read a file whose last samples lack, but not one that ends within a fragment's head. Whether
    anything had to be cut off. Blocking; raises OSError as the disk does.
    """
    file.seek(HEAD_BYTES - len(_GROWING))
    if file.read(len(_GROWING)) != _GROWING:
        return False
    end = file.seek(0, os.SEEK_END)
    place = whole = HEAD_BYTES
    while place + 8 <= end:
        file.seek(place)
        head = file.read(8)
        size = int.from_bytes(head[:4])
        if size < 8 or place + size > end:
            break
        place += size
        if head[4:] == b"mdat":
            whole = place
    if whole == end:
        return False
    file.truncate(whole)
    return True
