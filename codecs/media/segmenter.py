"""Access units of one camera into cuts: what belongs into one HLS segment, with our own times.

A cut begins with a key frame and ends before the first key frame past the target, so its length is known to
the tick and the next cut starts where it ends. Where that cannot be:

* Without a key frame for `max_seconds`, or past `max_bytes`, the cut is made before any picture: who plays
  goes on, who joins there waits for the next key frame.
* Sound alone, because there is no camera or its picture stopped, is cut at the target. Pictures that come
  back after that begin with a key frame.
* A picture of which packets were lost has been dropped before it comes here; the stream goes on, as a decoder
  does better with a hole than a viewer with a stop until the next key frame.

With `part_seconds` (Low-Latency HLS) a cut is but a part of a segment, made before the picture that would
make it too long; `MediaFragment.complete` says that the segment ends with it. Sound that comes later than its
pictures goes with a later part.
"""

from collections import deque
from dataclasses import dataclass

from motorpool.codecs.media.audio_frames import Sounding, Sounds
from motorpool.codecs.media.fragments import AudioFrame, Keyframe, MediaFragment, PlacedPicture
from motorpool.codecs.media.pictures import Picture, Pictures
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND, Timeline
from motorpool.codecs.media.units import AccessUnit, Coding

_EARLY = 0.9
"""A key frame this near the target ends the segment: stamps jitter, and the next key frame may be far."""
_MAX_WAITING_SOUNDS = 500
"""Units of sound kept while nobody knows yet whether pictures come: 10 s of the shortest."""
_TRAILING_SOUND_TICKS = TICKS_PER_SECOND // 2
"""Sound may outlast the last picture by this much without making its segment longer."""
_BESIDE_MS = 1000
"""Sound that came before the first key frame is taken along when it is stamped this shortly after it."""


@dataclass(slots=True)
class SegmenterStatistics:
    """Units that no cut holds, and what was odd."""

    awaiting_keyframe: int = 0
    """Pictures before the first key frame with parameter sets, and after a stretch of sound alone."""
    unknown_coding: int = 0
    undecodable_sound: int = 0
    awaiting_segment: int = 0
    """Units of sound that began within a segment of which parts have been cut."""
    jumps: int = 0
    """Of the device's clock, as far as they were told to players."""


class Segmenter:
    """Push the access units of one camera in the order of their arrival; a cut whenever one is complete."""

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
        """`start` in ticks; above 0, as an encoder's first frame of sound lies before its first sample.

        Not `live`: the device sends a recording, as fast as it likes. `discontinuity`: the first cut follows
        those of an earlier life of the stream. `part_seconds`: cuts of this length at most, 0 for segments.
        """
        self.statistics = SegmenterStatistics()
        self.last_keyframe: Keyframe | None = None
        self._target = round(target_seconds * TICKS_PER_SECOND)
        self._least = round(target_seconds * TICKS_PER_SECOND * _EARLY)
        self._longest = round(max_seconds * TICKS_PER_SECOND)
        self._max_bytes = max_bytes
        self._part = round(part_seconds * TICKS_PER_SECOND)
        self._timeline = Timeline(start, live=live)
        self._video = Pictures()
        self._audio = Sounds()
        self._waiting: deque[tuple[AccessUnit, Sounding, float]] = deque(maxlen=_MAX_WAITING_SOUNDS)
        self._waiting_ticks = 0
        self._remainder = 0
        self._broken = discontinuity
        self._cut_soon = False
        self._tracks: tuple[Coding | None, bool] | None = None

        self._floor = self._start = self._segment_start = start
        self._is_open = False
        self._has_video = False
        self._arrived = 0.0
        self._independent = True
        self._discontinuity = False
        self._coding: Coding | None = None
        """Of the open pictures."""
        self._pictures: list[PlacedPicture] = []
        self._sounds: list[AudioFrame] = []
        self._bytes = 0
        self._goes_on = False
        """What is open belongs to a segment of which parts have been cut."""
        self._heard = False
        """The segment, as far as it has been cut, holds sound."""

    def push(self, unit: AccessUnit, now: float) -> MediaFragment | None:
        """Take the next unit, which arrived at `now` (monotonic seconds); a cut when it completes one."""
        coding = unit.coding
        if coding is Coding.H264 or coding is Coding.H265:
            picture = self._video.take(unit)
            return None if picture is None else self._push_picture(picture, unit, now)
        if coding is Coding.OTHER:
            self.statistics.unknown_coding += 1
            return None
        sounding = self._audio.take(unit)
        if sounding is None:
            self.statistics.undecodable_sound += 1
            return None
        if self._is_open:
            return self._push_sound(sounding, unit, now)
        return self._await_picture(sounding, unit, now)

    def discontinuity(self) -> MediaFragment | None:
        """The next unit continues nothing (new connection, seek): a last cut of what is open."""
        cut = self.flush()
        self._broken = True
        return cut

    def flush(self) -> MediaFragment | None:
        """End of the stream or of its connection: a last cut of what is open. Then a key frame is awaited."""
        self._waiting.clear()
        self._waiting_ticks = 0
        return self._cut(self._last_end(), last=True) if self._is_open else None

    def rest(self) -> MediaFragment | None:
        """What `flush` would cut now; it stays open."""
        if not self._is_open:
            return None
        return self._make_cut(self._last_end(), self._discontinuity, last=True)

    def _push_picture(self, picture: Picture, unit: AccessUnit, now: float) -> MediaFragment | None:
        if not self._is_open and picture.keyframe:
            self._begin(picture, unit, now)
            return None
        goes_on = self._has_video and unit.coding is self._coding
        if not self._is_open or not (goes_on or picture.keyframe):
            self.statistics.awaiting_keyframe += 1
            if not self._is_open:
                self._waiting.clear()  # pictures come: this is no stream of sound
                self._waiting_ticks = 0
            return None
        pts, jumped = self._timeline.picture(unit.timestamp, unit.frame_interval, now)
        if jumped:
            self.statistics.jumps += 1
            self._broken = self._cut_soon = True
        cut = None
        length = pts - self._segment_start
        if picture.keyframe and picture.changed:
            self._broken = self._cut_soon = True
        if picture.keyframe and (length >= self._least or self._cut_soon or not self._has_video):
            cut = self._cut(pts)
            self._open(pts, now, has_video=True)
        elif not picture.keyframe and (length >= self._longest or self._bytes >= self._max_bytes):
            cut = self._cut(pts)
            self._open(pts, now, has_video=True, independent=False)
        elif self._part and self._ends_part(pts, picture.keyframe):
            cut = self._cut(pts, complete=False)
            self._go_on(now, independent=picture.keyframe)
        if picture.keyframe:
            self.last_keyframe = Keyframe(unit.coding, picture.payload, pts, now)
        self._coding = unit.coding
        self._pictures.append(PlacedPicture(pts, picture.payload, picture.keyframe))
        self._bytes += len(picture.payload)
        return cut

    def _begin(self, picture: Picture, unit: AccessUnit, now: float) -> None:
        """Open the first segment of a connection with its first key frame."""
        self._timeline.restart(self._start)
        pts, _ = self._timeline.picture(unit.timestamp, unit.frame_interval, now)
        self._broken = self._broken or picture.changed
        self._open(pts, now, has_video=True)
        self._floor = pts
        self._coding = unit.coding
        self._pictures.append(PlacedPicture(pts, picture.payload, keyframe=True))
        self._bytes += len(picture.payload)
        self.last_keyframe = Keyframe(unit.coding, picture.payload, pts, now)
        for sound_unit, sounding, arrived in self._take_waiting():
            if 0 <= sound_unit.timestamp - unit.timestamp <= _BESIDE_MS:
                self._push_sound(sounding, sound_unit, arrived)

    def _await_picture(self, sounding: Sounding, unit: AccessUnit, now: float) -> MediaFragment | None:
        """Keep sound until a key frame comes, or until a whole segment of it says that none will."""
        self._waiting.append((unit, sounding, now))
        self._waiting_ticks += sounding.samples * TICKS_PER_SECOND // sounding.rate
        if self._waiting_ticks < self._target:
            return None
        waiting = self._take_waiting()
        self._timeline.restart(self._start)
        self._floor = self._start
        self._open(self._start, waiting[0][2], has_video=False)
        cut = None
        for sound_unit, sound, arrived in waiting:
            cut = self._push_sound(sound, sound_unit, arrived, in_parts=False) or cut  # one at most
        return cut

    def _take_waiting(self) -> list[tuple[AccessUnit, Sounding, float]]:
        waiting = list(self._waiting)
        self._waiting.clear()
        self._waiting_ticks = 0
        return waiting

    def _push_sound(
        self, sounding: Sounding, unit: AccessUnit, now: float, *, in_parts: bool = True
    ) -> MediaFragment | None:
        # What does not go into whole ticks (44.1 kHz) is carried, or sound would drift from its samples.
        exact = sounding.samples * TICKS_PER_SECOND + self._remainder
        duration, self._remainder = divmod(exact, sounding.rate)
        pts, jumped = self._timeline.sound(unit.timestamp, duration, now)
        if pts < self._floor:
            return None  # recorded before the first key frame
        if sounding.changed or jumped:
            self.statistics.jumps += jumped
            self._broken = self._cut_soon = True
        cut = None
        if not self._has_video:
            if pts - self._segment_start >= self._target or (self._cut_soon and self._sounds):
                cut = self._cut(pts)
                self._open(pts, now, has_video=False)
            elif in_parts and self._part and self._sounds and pts + duration - self._start > self._part:
                cut = self._cut(pts, complete=False)
                self._go_on(now, independent=True)
        elif pts - self._pictures[-1].pts >= self._target:
            cut = self._cut(pts)
            self._open(pts, now, has_video=False)
        self._sounds.append(
            AudioFrame(pts, unit.coding, sounding.payload, sounding.samples, sounding.g726_bits)
        )
        self._bytes += len(sounding.payload)
        return cut

    def _open(self, start: int, now: float, *, has_video: bool, independent: bool = True) -> None:
        self._is_open = True
        self._has_video = has_video
        self._start = self._segment_start = start
        self._arrived = now
        self._independent = independent
        self._discontinuity = self._broken
        self._broken = self._cut_soon = self._goes_on = False

    def _ends_part(self, pts: int, keyframe: bool) -> bool:
        """Whether to cut before the picture: with it the part is too long, or who joins could begin there."""
        if keyframe:
            return 2 * (pts - self._start) >= self._part
        return self._timeline.picture_end - self._start > self._part

    def _go_on(self, now: float, *, independent: bool) -> None:
        """Open the next part of the segment."""
        self._is_open = self._goes_on = True
        self._arrived = now
        self._independent = independent
        self._discontinuity = False

    def _last_end(self) -> int:
        end = self._start + 1
        if not self._pictures:
            return max(end, self._timeline.sound_end)
        end = max(end, self._timeline.picture_end)
        if self._sounds and self._sounds[-1].pts - end > _TRAILING_SOUND_TICKS:
            end = self._timeline.sound_end  # the camera stopped before its sound
        return end

    def _cut(self, end: int, *, last: bool = False, complete: bool = True) -> MediaFragment:
        """Close what is open. Sound from `end` on goes to the next cut, unless this is the last."""
        later: list[AudioFrame] = []
        if not last and self._sounds and self._sounds[-1].pts >= end:
            later = [sound for sound in self._sounds if sound.pts >= end]
            del self._sounds[-len(later) :]  # they are in the order of their times
        changed = False
        if self._goes_on:
            self._keep_tracks()
        else:
            changed = self._settle_tracks()
        cut = self._make_cut(end, self._discontinuity or changed, last=last, complete=complete)
        self._is_open = False
        self._pictures = []
        self._sounds = later
        if complete:
            self._bytes = sum(len(sound.payload) for sound in later)
        self._start = end
        return cut

    def _settle_tracks(self) -> bool:
        """Say which tracks the segment has that is cut first here; whether they are others than before."""
        has_sound = bool(self._sounds)
        if self._part and self._tracks is not None:
            has_sound = has_sound or (self._tracks[1] and self._heard)  # a part may lie between two sounds
        tracks = self._coding if self._pictures else None, has_sound
        changed = self._tracks is not None and self._tracks != tracks
        self._tracks = tracks
        self._heard = bool(self._sounds)
        return changed

    def _keep_tracks(self) -> None:
        """All parts of a segment have the same tracks: sound that begins within waits for the next one."""
        assert self._tracks is not None
        if self._sounds and not self._tracks[1]:
            self.statistics.awaiting_segment += len(self._sounds)
            self._sounds = []
            self._cut_soon = True
        self._heard = self._heard or bool(self._sounds)

    def _make_cut(self, end: int, discontinuity: bool, *, last: bool, complete: bool = True) -> MediaFragment:
        return MediaFragment(
            self._start,
            end,
            self._coding if self._pictures else None,
            tuple(self._pictures),
            tuple(self._sounds),
            discontinuity,
            self._independent,
            self._arrived,
            last,
            bool(self._part and self._tracks and self._tracks[1]),
            complete,
        )
