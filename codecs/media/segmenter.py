"""Access units of one camera into media fragments: what belongs into one HLS segment, with our own times.

A fragment ends where the next one starts, so its length is known to the tick. `segmenter_table` says where
segments and parts end; here the units are parsed, placed in time and gathered.

Audio that comes later than its pictures goes with a later fragment. A picture of which packets were lost has
been dropped before it comes here; the stream goes on, as a decoder does better with a missing picture than a
viewer with a stop until the next key frame.
"""

from motorpool.codecs.media.audio_parser import AudioParser, LeadingAudio, ParsedAudio
from motorpool.codecs.media.fragments import AudioFrame, Keyframe, MediaFragment, TimedPicture
from motorpool.codecs.media.open_segment import Break, OpenSegment
from motorpool.codecs.media.segmenter_table import Row, State, Unit, make_table
from motorpool.codecs.media.timestamps import TICKS_PER_SECOND, Timeline
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.media.video_codec import CodedPicture, PictureParser, VideoCodec

_TRAILING_AUDIO_TICKS = TICKS_PER_SECOND // 2
"""Audio may outlast the last picture by this much without making its segment longer."""
_PRECEDING_AUDIO_MS = 1000
"""Audio that came before the first key frame goes with it when it is stamped at most this long after it."""


# Members as globals: in Python 3.11 access through the class costs a descriptor lookup for each unit.
_WAITING = State.WAITING
_KEYFRAME, _PICTURE, _AUDIO = Unit
_NO_BREAK, _, _DISCONTINUITY = Break


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
        continues the stream of an earlier actor. `part_seconds`: the longest fragment; a fragment that ends
        no segment is not `complete` (Low-Latency HLS). 0 for whole segments.
        """
        self.last_keyframe: Keyframe | None = None
        target, longest, part = (
            round(seconds * TICKS_PER_SECOND) for seconds in (target_seconds, max_seconds, part_seconds)
        )
        self._in_parts = part > 0
        self._table = make_table(target, longest, max_bytes, part)
        self._state = _WAITING
        self._rows = self._table[_WAITING]
        self._segment = OpenSegment(
            start, _DISCONTINUITY if discontinuity else _NO_BREAK, in_parts=self._in_parts
        )
        self._timeline = Timeline(start, live=live)
        self._codec: VideoCodec | None = None
        """Codec of the latest picture; `_parser` is its parser."""
        self._parser: PictureParser
        self._configuration: object = None
        """Codec and configuration of the last key frame."""
        self._audio = AudioParser()
        self._leading_audio = LeadingAudio()
        self._earliest_audio = start
        """Audio before this was recorded before the first key frame of its connection."""
        self._remainder = 0
        """Ticks times the sample rate that did not make a whole tick of audio."""

    def push(self, unit: AccessUnit, now: float) -> MediaFragment | None:
        """Take the next unit, which arrived at `now` (monotonic seconds); return a fragment it completes."""
        coding = unit.coding
        if isinstance(coding, VideoCodec):
            if coding is not self._codec:
                self._codec, self._parser = coding, coding.make_parser()
            picture = self._parser.push(unit.payload)
            return None if picture is None else self._push_picture(coding, picture, unit, now)
        if coding is None:
            return None
        audio = self._audio.push(coding, unit)
        if audio is None:
            return None
        if self._state is _WAITING:
            return self._keep_audio(audio, unit, now)
        return self._push_audio(audio, unit, now, self._in_parts)

    def discontinuity(self) -> MediaFragment | None:
        """Declare that the next unit continues nothing (new connection, seek); return what was open."""
        fragment = self.flush()
        self._segment.pending = _DISCONTINUITY
        return fragment

    def flush(self) -> MediaFragment | None:
        """End the stream or its connection and return what was open; then a key frame is awaited."""
        self._leading_audio.take()
        if self._state is _WAITING:
            return None
        end = self._last_end()
        fragment = self._segment.end(end, last=True)
        self._enter(_WAITING)
        self._timeline.restart(end)
        self._earliest_audio = end
        return fragment

    def peek(self) -> MediaFragment | None:
        """Return what `flush` would; it stays open."""
        return None if self._state is _WAITING else self._segment.build(self._last_end())

    def _push_picture(
        self, codec: VideoCodec, picture: CodedPicture, unit: AccessUnit, now: float
    ) -> MediaFragment | None:
        keyframe, segment = picture.keyframe, self._segment
        row = self._rows.get(_KEYFRAME if keyframe else _PICTURE)
        if row is None or not (keyframe or codec is segment.coding):
            self._leading_audio.take()  # pictures come: this is no stream of audio alone
            return None
        pts, jumped = self._timeline.place_picture(unit.timestamp, unit.frame_interval, now)
        if jumped:
            segment.pending = _DISCONTINUITY
        if keyframe:
            configuration = codec, picture.configuration
            if self._configuration not in (None, configuration):
                segment.pending = _DISCONTINUITY
            self._configuration = configuration
        fragment = None
        if (
            pts - segment.start >= row.length
            or segment.bytes >= row.max_bytes
            or (row.at_break and segment.pending is not _NO_BREAK)
        ):
            fragment = self._end_segment(row, pts, now)
        elif self._in_parts:
            end = pts if keyframe else self._timeline.picture_end
            if end - segment.fragment_start >= row.part_length:
                fragment = segment.end_part(pts, now, independent=keyframe)
        segment.pictures.append(TimedPicture(pts, picture.payload, keyframe))
        segment.bytes += len(picture.payload)
        if keyframe:
            segment.coding = codec
            self.last_keyframe = Keyframe(codec, picture.payload, pts, now)
            for audio, audio_unit, arrived_at in self._leading_audio.take():
                if 0 <= audio_unit.timestamp - unit.timestamp <= _PRECEDING_AUDIO_MS:
                    self._push_audio(audio, audio_unit, arrived_at, self._in_parts)
        return fragment

    def _keep_audio(self, audio: ParsedAudio, unit: AccessUnit, now: float) -> MediaFragment | None:
        """Keep audio until a key frame comes, or until there is enough for a segment of audio alone."""
        row = self._rows[_AUDIO]
        if self._leading_audio.keep(audio, unit, now) < row.length:
            return None
        kept = self._leading_audio.take()
        self._end_segment(row, self._segment.fragment_start, kept[0][2])
        fragment = None
        for each in kept:
            # Not in parts: more than one completes a fragment only where the layout changes among them.
            fragment = self._push_audio(*each, in_parts=False) or fragment
        return fragment

    def _push_audio(
        self, audio: ParsedAudio, unit: AccessUnit, now: float, in_parts: bool
    ) -> MediaFragment | None:
        # What does not go into whole ticks (44.1 kHz) is carried over, or audio would drift from its samples.
        exact = audio.samples * TICKS_PER_SECOND + self._remainder
        duration, self._remainder = divmod(exact, audio.rate)
        pts, jumped = self._timeline.place_audio(unit.timestamp, duration, now)
        if pts < self._earliest_audio:
            return None
        segment, row = self._segment, self._rows[_AUDIO]
        if audio.changed or jumped:
            segment.pending = _DISCONTINUITY
        pictures, frames, fragment = segment.pictures, segment.audio_frames, None
        since = pictures[-1].pts if pictures else segment.start
        if pts - since >= row.length or (row.at_break and frames and segment.pending is not _NO_BREAK):
            fragment = self._end_segment(row, pts, now)
        elif in_parts and frames and pts + duration - segment.fragment_start >= row.part_length:
            fragment = segment.end_part(pts, now, independent=True)
        segment.audio_frames.append(
            AudioFrame(pts, audio.coding, audio.payload, audio.samples, audio.g726_bits)
        )
        segment.bytes += len(audio.payload)
        return fragment

    def _end_segment(self, row: Row, start: int, now: float) -> MediaFragment | None:
        """End the segment that is open, if any, and open the one that begins with a unit of this row."""
        fragment = None if self._state is _WAITING else self._segment.end(start)
        self._segment.begin(start, now, independent=row.independent)
        self._enter(row.next)
        return fragment

    def _enter(self, state: State) -> None:
        self._state = state
        self._rows = self._table[state]

    def _last_end(self) -> int:
        segment, timeline = self._segment, self._timeline
        end = segment.fragment_start + 1
        if not segment.pictures:
            return max(end, timeline.audio_end)
        end = max(end, timeline.picture_end)
        if segment.audio_frames and segment.audio_frames[-1].pts - end > _TRAILING_AUDIO_TICKS:
            end = timeline.audio_end  # the camera stopped before its audio
        return end
