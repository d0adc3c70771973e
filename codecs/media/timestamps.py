"""Steady presentation times for media with irregular timestamps (docs/protocols/jt1078.md#timestamps).

Presentation times count 90 kHz ticks, never decrease, and are not wrapped at 33 bits, which the muxer does.
"""

from dataclasses import dataclass

TICKS_PER_SECOND = 90_000
TICKS_PER_MS = 90

_MAX_STEP_MS = 1_000
"""A larger step between timestamps is a jump of the device's clock."""
_MAX_CONFIRMED_STEP_MS = 10_000
"""Limit of steps that the device's interval field confirms: slow cameras and key-frame playback."""
_MIN_STEP_MS = 5
"""A smaller step is not a time of pictures, for instance because timestamps count seconds."""
_RECENT_SECONDS = 2.0
"""Audio older than this is not used to place pictures."""
_OVERDUE_STEPS = 4
"""Picture steps after which a missing picture is overdue."""
_SAME_BASE_MS = 250
"""Audio and picture timestamps that differ from arrival by less are taken to be of one clock."""
_TOLERANCE_TICKS = 20 * TICKS_PER_MS
"""Audio is placed by its sample count while its timestamps deviate by less."""
_SNAP_TICKS = 250 * TICKS_PER_MS
"""Audio that is further off is corrected at once; otherwise in steps."""
_SKEW_TICKS = 40 * TICKS_PER_MS
"""How far audio with its own clock may drift from the pictures it arrives with."""
_BASELINE_TICKS = 20 * TICKS_PER_SECOND
"""Length of audio after which the offset between audio and video timestamps is known."""
_DRIFT_SMOOTHING_TICKS = 15 * TICKS_PER_SECOND
"""Length of audio over which that distance is smoothed, because a stalled link is not a drift."""
_DRIFT_DEAD_BAND_TICKS = 30 * TICKS_PER_MS
"""A smaller change of that distance is not a drift of the audio clock."""
_FASTEST_DRIFT = 200
"""The drift is at most one part in this many."""
_JUMP_REPORT_TICKS = 10 * TICKS_PER_SECOND
"""Jumps that follow one another faster than this are reported only once."""


@dataclass(slots=True)
class _Track:
    timestamp: int = 0
    pts: int = 0
    arrival: float = 0.0
    step: int = 40 * TICKS_PER_MS
    """Estimated ticks from this unit to the next."""
    started: bool = False


@dataclass(slots=True)
class _ClockDrift:
    """How far the audio clock has run ahead of the picture clock since both were first received."""

    drift: int = 0
    """Ticks; negative if the audio clock is behind."""
    smoothed: float = 0.0
    baseline: float | None = None
    received: int = 0

    def follow(self, difference: float, duration: int) -> None:
        """Record how far a unit's timestamp is ahead of the picture it arrived with; all in ticks."""
        self.received += duration
        self.smoothed += (difference - self.smoothed) * duration / min(self.received, _DRIFT_SMOOTHING_TICKS)
        if self.baseline is None:
            if self.received >= _BASELINE_TICKS:
                self.baseline = self.smoothed
            return
        change = self.smoothed - self.baseline - self.drift
        fastest = duration / _FASTEST_DRIFT
        if abs(change) > _DRIFT_DEAD_BAND_TICKS:
            self.drift += round(min(max(change, -fastest), fastest))


class Timeline:
    """The presentation times of one camera's pictures and audio; arrival times are arguments."""

    def __init__(self, start: int = 0, *, live: bool = True) -> None:
        """`start` is the first presentation time. Unless `live`, arrival does not show the picture rate."""
        self._live = live
        self._start = start
        self._video = _Track()
        self._audio = _Track()
        self._stamped = False
        self._anchor = (0, 0.0)
        self._pace = 40.0 * TICKS_PER_MS
        self._paced = 0
        self._base_difference: float | None = None
        self._drift = _ClockDrift()
        self._audio_offset = 0
        self._correction = 0
        """Ticks by which audio is still to be corrected while its timestamps stand still."""
        self._skew = 0.0
        self._last_jump = -_JUMP_REPORT_TICKS

    def restart(self, start: int) -> None:
        """Forget both clocks; the next unit begins at `start`."""
        step = self._video.step
        self._start = start
        self._video = _Track(step=step)
        self._audio = _Track()
        self._base_difference = None
        self._drift = _ClockDrift()
        self._correction = 0
        self._skew = 0.0

    @property
    def picture_end(self) -> int:
        """Estimated end of the last picture."""
        return self._video.pts + self._video.step

    @property
    def audio_end(self) -> int:
        """End of the last unit of audio, by its sample count."""
        return self._audio.pts + self._audio.step

    def place_picture(self, timestamp: int, interval: int, now: float) -> tuple[int, bool]:
        """Return the picture's presentation time, and whether the device's clock jumped before it.

        `timestamp` and `interval` are the device's, in ms; `now` is the time of arrival in seconds.
        """
        video = self._video
        jumped = False
        if not video.started:
            pts = self._start
            if self._audio.started:
                pts = self._audio_position(now)
            video.started = True
            self._stamped = True  # until the next timestamp shows otherwise
            self._anchor = (pts, now)
        else:
            difference = timestamp - video.timestamp
            if _MIN_STEP_MS <= difference <= _MAX_STEP_MS or (
                0 < difference <= _MAX_CONFIRMED_STEP_MS and 10 * abs(difference - interval) <= difference
            ):
                video.step = difference * TICKS_PER_MS
                self._stamped = True
            else:
                jumped = not 0 <= difference <= _MAX_STEP_MS
                if self._stamped:
                    self._anchor = (video.pts, video.arrival)
                if 1 <= interval <= _MAX_STEP_MS:
                    video.step = interval * TICKS_PER_MS
                elif not (jumped and self._stamped):
                    video.step = self._paced_step(now)
                self._stamped = False
            pts = video.pts + video.step
            if not self._stamped and self._audio.started and now - self._audio.arrival < _RECENT_SECONDS:
                received = self._audio_position(now)
                if received - pts > _SNAP_TICKS:
                    pts = received  # the camera paused while its audio continued
        video.timestamp = timestamp
        video.pts = pts
        video.arrival = now
        return pts, jumped and self._worth_reporting(pts)

    def place_audio(self, timestamp: int, duration: int, now: float) -> tuple[int, bool]:
        """Return the presentation time of a unit of audio, and whether a clock jumped (not beside pictures).

        `duration` in ticks, from its count of samples; the other arguments as for `place_picture`.
        """
        audio, video = self._audio, self._video
        # An overdue picture no longer shows the time, because the camera may have stopped. A first unit has
        # no other reference, and pictures arrive in batches, so it is placed beside one all the same.
        overdue = (now - video.arrival) * TICKS_PER_SECOND > _OVERDUE_STEPS * video.step
        beside = video.started and not (overdue and audio.started)
        stamp = timestamp * TICKS_PER_MS
        jumped = False
        if audio.started:
            expected = audio.pts + audio.step
            difference = timestamp - audio.timestamp
            regular = 0 < difference <= _MAX_STEP_MS
            jumped = difference != 0 and not regular
        else:
            expected = self._picture_position(now) - duration if video.started else self._start
            regular = False
        if beside and self._same_base(timestamp, duration, now):
            self._audio_offset = video.pts - video.timestamp * TICKS_PER_MS - self._drift.drift
        elif not regular:
            # A jump beside pictures is bridged by their time; otherwise audio continues without a gap.
            by_pictures = beside and jumped
            position = self._picture_position(now) - duration if by_pictures else expected + self._correction
            self._audio_offset = position - stamp
            if beside:
                self._follow_pictures(position, duration, now)
        elif beside:
            self._follow_pictures(self._audio_offset + stamp, duration, now)
        error = self._audio_offset + stamp - expected
        if not audio.started or abs(error) > _SNAP_TICKS:
            pts = expected + error
        elif abs(error) > _TOLERANCE_TICKS:
            pts = expected + error // 8
        else:
            pts = expected
        self._correction = error - (pts - expected)
        if audio.started:
            pts = max(pts, audio.pts + (audio.step >> 1))  # audio that is ahead is slowed, but never stopped
        audio.started = True
        audio.timestamp = timestamp
        audio.pts = pts
        audio.step = duration
        audio.arrival = now
        return pts, jumped and not beside and self._worth_reporting(pts)

    def _worth_reporting(self, pts: int) -> bool:
        before, self._last_jump = self._last_jump, pts
        return pts - before >= _JUMP_REPORT_TICKS

    def _paced_step(self, now: float) -> int:
        """Return the step while timestamps stand still: the mean arrival rate, or a playback's last step."""
        if not self._live:
            return self._video.step
        arrived = min(now - self._video.arrival, _MAX_STEP_MS / 1000) * TICKS_PER_SECOND
        self._paced += 1
        self._pace += max(0.05, 1 / self._paced) * (arrived - self._pace)
        pts, since = self._anchor
        behind = pts + (now - since) * TICKS_PER_SECOND - self._video.pts - self._pace
        if abs(behind) > TICKS_PER_SECOND:
            self._anchor = (self._video.pts + round(self._pace), now)
            behind = 0.0
        return max(TICKS_PER_MS, round(min(max(self._pace + 0.1 * behind, self._pace / 4), self._pace * 4)))

    def _audio_position(self, now: float) -> int:
        """Return the presentation time of a picture arriving now, by the audio."""
        audio = self._audio
        return self.audio_end + min(max(round((now - audio.arrival) * TICKS_PER_SECOND), 0), audio.step)

    def _picture_position(self, now: float) -> int:
        """Return the presentation time at which audio arriving now ends, by the pictures.

        A unit is not sent before its last sample exists. Arrival order counts more than time, because behind
        a stalled link everything arrives at once.
        """
        video = self._video
        return video.pts + min(max(round((now - video.arrival) * TICKS_PER_SECOND), 0), video.step)

    def _same_base(self, timestamp: int, duration: int, now: float) -> bool:
        """Whether audio and pictures have timestamps of one clock, the best measure of their distance.

        Timestamps that count samples start on the pictures' clock and drift away from it steadily.
        """
        video, smoothed = self._video, self._base_difference
        since_picture = min(1000 * (now - video.arrival), video.step / TICKS_PER_MS)
        difference = timestamp - video.timestamp - since_picture
        if smoothed is None or not -_MAX_STEP_MS <= difference - smoothed <= _MAX_STEP_MS:
            smoothed = difference
        self._base_difference = smoothed = smoothed + (difference - smoothed) / 16
        if not self._stamped or abs(smoothed - self._drift.drift / TICKS_PER_MS) > _SAME_BASE_MS:
            return False
        self._drift.follow(difference * TICKS_PER_MS, duration)
        return True

    def _follow_pictures(self, pts: int, duration: int, now: float) -> None:
        """Keep audio that has its own clock aligned with the pictures it arrives with."""
        skew = pts + duration - self._picture_position(now)
        self._skew += (skew - self._skew) / 32
        if abs(self._skew) > _SKEW_TICKS:
            self._audio_offset -= round(skew if abs(skew) > 2 * _SNAP_TICKS else self._skew)
            self._skew = 0.0
