"""Access units of one camera into media fragments: what belongs into one HLS segment, with our own times.

A fragment begins with a key frame and ends before the first key frame past the target, so its length is known
to the tick and the next one starts where it ends. Where that cannot be:

* Without a key frame for `max_seconds`, or past `max_bytes`, the fragment ends before any picture: players go
  on, and one that joins there waits for the next key frame.
* Audio alone, because there is no camera or its pictures stopped, is split at the target. Pictures that
  resume after that begin with a key frame.
* A picture of which packets were lost has been dropped before it comes here; the stream goes on, as a decoder
  does better with a missing picture than a viewer with a stop until the next key frame.

With `part_seconds` (Low-Latency HLS) a fragment is but a part of a segment, which ends before the picture
that would make it too long; `MediaFragment.complete` says that the segment ends with it. Audio that comes
later than its pictures goes with a later part.

Its states and transitions are in `segmenter_state`.
"""

from collections import deque

from motorpool.codecs.media.audio_parser import AudioParser, ParsedAudio
from motorpool.codecs.media.fragments import AudioFrame, Keyframe, MediaFragment, TimedPicture
from motorpool.codecs.media.picture_assembler import CodedPicture, PictureAssembler
from motorpool.codecs.media.segmenter_state import Break, SegmenterStatistics, State
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND, Timeline
from motorpool.codecs.media.units import AccessUnit, Coding
from motorpool.codecs.media.video_codecs import VIDEO_CODECS

_EARLY_FRACTION = 0.9
"""A key frame past this part of the target ends the segment: stamps jitter, and the next may be far."""
_MAX_KEPT_AUDIO_UNITS = 500
"""Kept while it is not known whether pictures come: 10 s of the shortest."""
_TRAILING_AUDIO_TICKS = TICKS_PER_SECOND // 2
"""Audio may outlast the last picture by this much without making its segment longer."""
_PRECEDING_AUDIO_MS = 1000
"""Audio that came before the first key frame is kept when it is stamped at most this long after it."""


# Members as globals: in Python 3.11 access through the class costs a descriptor lookup for each unit.
_WAITING, _VIDEO, _AUDIO = State
_NO_BREAK, _SEGMENT_BREAK, _DISCONTINUITY = Break


class Segmenter:
    """Push the access units of one camera in the order of their arrival; get fragments as they complete."""

    def __init__(
        self,
        target_seconds: float = 2.0,
        *,
        max_seconds: float = 20.0,
        max_bytes: int = 16 << 20,
        part_seconds: float = 0.0,
        live: bool = True,
        start: int = 10 * TICKS_PER_SECOND,
        discontinuity: bool = False,
    ) -> None:
        """`start` in ticks; above 0, as an encoder's first audio frame is stamped before its first sample.

        Not `live`: the device sends a recording, as fast as it likes. `discontinuity`: the first fragment
        follows those of an earlier actor of the stream. `part_seconds`: no fragment is longer; 0 for whole
        segments.
        """
        self.statistics = SegmenterStatistics()
        self.last_keyframe: Keyframe | None = None
        self._target = round(target_seconds * TICKS_PER_SECOND)
        self._min_length = round(target_seconds * TICKS_PER_SECOND * _EARLY_FRACTION)
        self._max_length = round(max_seconds * TICKS_PER_SECOND)
        self._max_bytes = max_bytes
        self._part_length = round(part_seconds * TICKS_PER_SECOND)
        self._timeline = Timeline(start, live=live)
        self._video = PictureAssembler()
        self._audio = AudioParser()
        self._kept_audio: deque[tuple[AccessUnit, ParsedAudio, float]] = deque(maxlen=_MAX_KEPT_AUDIO_UNITS)
        self._kept_ticks = 0
        self._remainder = 0
        """Ticks times the sample rate that did not make a whole tick of audio."""

        self._state = _WAITING
        self._break = _DISCONTINUITY if discontinuity else _NO_BREAK
        # The open fragment.
        self._start = start
        self._arrived_at = 0.0
        self._independent = True
        self._discontinuity = False
        self._coding: Coding | None = None
        """Of the open pictures."""
        self._pictures: list[TimedPicture] = []
        self._audio_frames: list[AudioFrame] = []
        # Its segment.
        self._segment_start = start
        self._earliest_audio = start
        """Audio before this was recorded before the first key frame."""
        self._bytes = 0
        self._parts = 0
        """Of the segment that have been emitted."""
        self._tracks: tuple[Coding | None, bool] | None = None
        """Coding of the pictures and whether there is audio; of the last segment until the first part."""
        self._segment_has_audio = False
        """In what has been emitted of it."""

    def push(self, unit: AccessUnit, now: float) -> MediaFragment | None:
        """Take the next unit, which arrived at `now` (monotonic seconds); return a fragment it completes."""
        coding = unit.coding
        if coding is self._video.coding or coding in VIDEO_CODECS:
            picture = self._video.push(unit)
            return None if picture is None else self._push_picture(picture, unit, now)
        if coding is Coding.OTHER:
            self.statistics.unknown_coding += 1
            return None
        audio = self._audio.push(unit)
        if audio is None:
            self.statistics.undecodable_audio += 1
            return None
        if self._state is _WAITING:
            return self._keep_audio(audio, unit, now)
        return self._push_audio(audio, unit, now)

    def discontinuity(self) -> MediaFragment | None:
        """Declare that the next unit continues nothing (new connection, seek); return what was open."""
        fragment = self.flush()
        self._break = _DISCONTINUITY
        return fragment

    def flush(self) -> MediaFragment | None:
        """End the stream or its connection and return what was open; then a key frame is awaited."""
        self._kept_audio.clear()
        self._kept_ticks = 0
        return None if self._state is _WAITING else self._emit(self._last_end(), last=True)

    def peek(self) -> MediaFragment | None:
        """Return what `flush` would; it stays open."""
        if self._state is _WAITING:
            return None
        return self._build(self._last_end(), self._discontinuity, last=True)

    def _push_picture(self, picture: CodedPicture, unit: AccessUnit, now: float) -> MediaFragment | None:
        state = self._state
        if state is _WAITING and picture.keyframe:
            self._begin(picture, unit, now)
            return None
        if not picture.keyframe and not (state is _VIDEO and unit.coding is self._coding):
            self.statistics.awaiting_keyframe += 1
            if state is _WAITING:
                self._kept_audio.clear()  # pictures come: this is no stream of audio alone
                self._kept_ticks = 0
            return None
        pts, jumped = self._timeline.place_picture(unit.timestamp, unit.frame_interval, now)
        if jumped:
            self.statistics.jumps += 1
            self._break = _DISCONTINUITY
        fragment = None
        length = pts - self._segment_start
        if picture.keyframe:
            if picture.changed:
                self._break = _DISCONTINUITY
            if length >= self._min_length or self._break is not _NO_BREAK or state is _AUDIO:
                fragment = self._emit(pts)
                self._open_segment(pts, now, _VIDEO)
        elif length >= self._max_length or self._bytes >= self._max_bytes:
            fragment = self._emit(pts)
            self._open_segment(pts, now, _VIDEO, independent=False)
        if fragment is None and self._part_length and self._ends_part(pts, picture.keyframe):
            fragment = self._emit(pts, complete=False)
            self._open_part(now, state, independent=picture.keyframe)
        self._add_picture(picture, unit.coding, pts, now)
        return fragment

    def _begin(self, picture: CodedPicture, unit: AccessUnit, now: float) -> None:
        """Open the first segment of a connection with its first key frame."""
        self._timeline.restart(self._start)
        pts, _ = self._timeline.place_picture(unit.timestamp, unit.frame_interval, now)
        if picture.changed:
            self._break = _DISCONTINUITY
        self._open_segment(pts, now, _VIDEO)
        self._earliest_audio = pts
        self._add_picture(picture, unit.coding, pts, now)
        for audio_unit, audio, arrived_at in self._take_kept_audio():
            if 0 <= audio_unit.timestamp - unit.timestamp <= _PRECEDING_AUDIO_MS:
                self._push_audio(audio, audio_unit, arrived_at)

    def _add_picture(self, picture: CodedPicture, coding: Coding, pts: int, now: float) -> None:
        if picture.keyframe:
            self.last_keyframe = Keyframe(coding, picture.payload, pts, now)
        self._coding = coding
        self._pictures.append(TimedPicture(pts, picture.payload, picture.keyframe))
        self._bytes += len(picture.payload)

    def _keep_audio(self, audio: ParsedAudio, unit: AccessUnit, now: float) -> MediaFragment | None:
        """Keep audio until a key frame comes, or until a target of it says that none will."""
        self._kept_audio.append((unit, audio, now))
        self._kept_ticks += audio.samples * TICKS_PER_SECOND // audio.rate
        if self._kept_ticks < self._target:
            return None
        kept = self._take_kept_audio()
        self._timeline.restart(self._start)
        self._earliest_audio = self._start
        self._open_segment(self._start, kept[0][2], _AUDIO)
        fragment = None
        for kept_unit, kept_audio, arrived_at in kept:
            # At most one of them completes a segment.
            fragment = self._push_audio(kept_audio, kept_unit, arrived_at, in_parts=False) or fragment
        return fragment

    def _take_kept_audio(self) -> list[tuple[AccessUnit, ParsedAudio, float]]:
        kept = list(self._kept_audio)
        self._kept_audio.clear()
        self._kept_ticks = 0
        return kept

    def _push_audio(
        self, audio: ParsedAudio, unit: AccessUnit, now: float, *, in_parts: bool = True
    ) -> MediaFragment | None:
        # What does not go into whole ticks (44.1 kHz) is carried over, or audio would drift from its samples.
        exact = audio.samples * TICKS_PER_SECOND + self._remainder
        duration, self._remainder = divmod(exact, audio.rate)
        pts, jumped = self._timeline.place_audio(unit.timestamp, duration, now)
        if pts < self._earliest_audio:
            return None
        if audio.changed or jumped:
            self.statistics.jumps += jumped
            self._break = _DISCONTINUITY
        fragment = None
        if self._state is _AUDIO:
            has_audio = bool(self._audio_frames)
            if pts - self._segment_start >= self._target or (self._break is not _NO_BREAK and has_audio):
                fragment = self._emit(pts)
                self._open_segment(pts, now, _AUDIO)
            elif (
                in_parts
                and has_audio
                and self._part_length
                and pts + duration - self._start > self._part_length
            ):
                fragment = self._emit(pts, complete=False)
                self._open_part(now, _AUDIO, independent=True)
        elif pts - self._pictures[-1].pts >= self._target:
            fragment = self._emit(pts)
            self._open_segment(pts, now, _AUDIO)
        self._audio_frames.append(AudioFrame(pts, unit.coding, audio.payload, audio.samples, audio.g726_bits))
        self._bytes += len(audio.payload)
        return fragment

    def _open_segment(self, start: int, now: float, state: State, *, independent: bool = True) -> None:
        self._state = state
        self._start = self._segment_start = start
        self._arrived_at = now
        self._independent = independent
        self._discontinuity = self._break is _DISCONTINUITY
        self._break = _NO_BREAK
        self._parts = 0

    def _open_part(self, now: float, state: State, *, independent: bool) -> None:
        """Open the next part of the segment."""
        self._state = state
        self._parts += 1
        self._arrived_at = now
        self._independent = independent
        self._discontinuity = False

    def _ends_part(self, pts: int, keyframe: bool) -> bool:
        """Whether the part ends before the picture: it would be too long, or players could join there."""
        if keyframe:
            return 2 * (pts - self._start) >= self._part_length
        return self._timeline.picture_end - self._start > self._part_length

    def _last_end(self) -> int:
        end = self._start + 1
        if not self._pictures:
            return max(end, self._timeline.audio_end)
        end = max(end, self._timeline.picture_end)
        if self._audio_frames and self._audio_frames[-1].pts - end > _TRAILING_AUDIO_TICKS:
            end = self._timeline.audio_end  # the camera stopped before its audio
        return end

    def _emit(self, end: int, *, last: bool = False, complete: bool = True) -> MediaFragment:
        """Close the open fragment. Audio from `end` on goes to the next one, unless this is the last."""
        later: list[AudioFrame] = []
        if not last and self._audio_frames and self._audio_frames[-1].pts >= end:
            later = [frame for frame in self._audio_frames if frame.pts >= end]
            del self._audio_frames[-len(later) :]  # they are in the order of their times
        changed = False
        if self._parts:
            self._keep_tracks()
        else:
            changed = self._settle_tracks()
        fragment = self._build(end, self._discontinuity or changed, last=last, complete=complete)
        self._state = _WAITING
        self._pictures = []
        self._audio_frames = later
        if complete:
            self._bytes = sum(len(frame.payload) for frame in later)
            self._parts = 0
        self._start = end
        return fragment

    def _settle_tracks(self) -> bool:
        """Decide which tracks a segment has, at its first fragment; return whether they changed."""
        has_audio = bool(self._audio_frames)
        if self._part_length and self._tracks is not None:
            # A part may lie between two units of audio.
            has_audio = has_audio or (self._tracks[1] and self._segment_has_audio)
        tracks = self._coding if self._pictures else None, has_audio
        changed = self._tracks is not None and self._tracks != tracks
        self._tracks = tracks
        self._segment_has_audio = bool(self._audio_frames)
        return changed

    def _keep_tracks(self) -> None:
        """Give a later part its segment's tracks: audio that begins within waits for the next one."""
        assert self._tracks is not None
        if self._audio_frames and not self._tracks[1]:
            self.statistics.awaiting_segment += len(self._audio_frames)
            self._audio_frames = []
            if self._break is _NO_BREAK:
                self._break = _SEGMENT_BREAK
        self._segment_has_audio = self._segment_has_audio or bool(self._audio_frames)

    def _build(self, end: int, discontinuity: bool, *, last: bool, complete: bool = True) -> MediaFragment:
        return MediaFragment(
            self._start,
            end,
            self._coding if self._pictures else None,
            tuple(self._pictures),
            tuple(self._audio_frames),
            discontinuity,
            self._independent,
            self._arrived_at,
            last,
            bool(self._part_length and self._tracks and self._tracks[1]),
            complete,
        )
