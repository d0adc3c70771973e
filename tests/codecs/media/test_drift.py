"""Minutes of sound beside its pictures, for each way in which terminals stamp and send them.

Everything is measured at what was recorded at one true time: a viewer sees lips and hears words.
"""

import random
from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest

from motorpool.codecs.media import adts
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding

SECONDS, SECONDS_AT_LENGTH = 240, 600
"""A clock that is 0.1 % fast is more than twice MAX_APART_MS ahead at the end of either."""
TICKS_PER_MS = 90
MAX_APART_MS = 100
SETTLED_SECONDS = 20
"""Without stamps it takes a while until the pace of arrival is known."""

SETS = b"\0\0\0\1\x67\x42\0\x1f\xe9\0\0\0\1\x68\xce\x38\x80"


class AudioFrame(msgspec.Struct, frozen=True):
    """How a terminal codes its sound."""

    coding: Coding
    rate: int
    samples: int
    """Of a unit."""

    def payload(self, number: int) -> bytes:
        if self.coding is AudioCoding.AAC:
            body = number.to_bytes(4)
            return adts.header(len(body), self.rate) + body
        return number.to_bytes(4).ljust(self.samples, b"\xd5")


class Habit(msgspec.Struct, frozen=True):
    """How it stamps and sends."""

    sound_speed: float = 1.0
    """Of the sound's sampling clock, and of the stamps that count its samples."""
    counts_samples: bool = True
    """AudioFrame is stamped by its samples, else by the clock of the pictures."""
    video_base: int = 1_700_000_000_000
    sound_base: int = 1_700_000_000_000
    constant_video: bool = False
    constant_sound: bool = False
    interval: bool = True
    """Pictures say how long after the last one they were taken."""
    fps: float = 25.0
    read_seconds: float = 0.4
    """The server reads what has gathered so often."""
    jitter_seconds: float = 0.0
    """The link holds things back for up to so long, and never turns them round."""
    burst: bool = False
    """A recording: all at once, in the order in which it was stored."""


SOUNDS = {
    "AAC 8k": AudioFrame(AudioCoding.AAC, 8_000, 1024),
    "AAC 16k": AudioFrame(AudioCoding.AAC, 16_000, 1024),
    "AAC 44k": AudioFrame(AudioCoding.AAC, 44_100, 1024),
    "G.711 20": AudioFrame(AudioCoding.G711A, 8_000, 160),
    "G.711 40": AudioFrame(AudioCoding.G711A, 8_000, 320),
}
HABITS = {
    "exact": Habit(),
    "jittered": Habit(jitter_seconds=1.5),
    "15 pictures": Habit(fps=15.0, jitter_seconds=0.3),
    "stamped by one clock, sampled fast": Habit(sound_speed=1.001, counts_samples=False),
    "stamped by one clock, sampled slow": Habit(sound_speed=0.999, counts_samples=False),
    "sound clock fast": Habit(sound_speed=1.001),
    "sound clock slow": Habit(sound_speed=0.999),
    "sound clock fast, jittered": Habit(sound_speed=1.001, jitter_seconds=0.5),
    "separate bases": Habit(sound_base=77_000),
    "separate bases, fast": Habit(sound_base=77_000, sound_speed=1.001),
    "separate bases, slow, jittered": Habit(sound_base=77_000, sound_speed=0.999, jitter_seconds=0.5),
    "constant": Habit(constant_video=True, constant_sound=True),
    "constant, without intervals": Habit(constant_video=True, constant_sound=True, interval=False),
    "constant pictures": Habit(constant_video=True, sound_base=77_000),
    "constant sound": Habit(constant_sound=True),
    "burst": Habit(burst=True),
    "burst, fast": Habit(burst=True, sound_speed=1.001),
    "burst, slow": Habit(burst=True, sound_speed=0.999),
    "burst, separate bases": Habit(burst=True, sound_base=77_000),
    "burst, separate bases, fast": Habit(burst=True, sound_base=77_000, sound_speed=1.001),
    "burst, constant": Habit(burst=True, constant_video=True, constant_sound=True),
}


LONGEST, *OTHERS = SOUNDS
CASES = [
    (habit, sound)
    for number, habit in enumerate(HABITS)
    for sound in (OTHERS if habit == "sound clock fast, jittered" else [OTHERS[number % len(OTHERS)]])
] + [(habit, LONGEST) for habit in HABITS]
"""The longest units are the hardest to place, so each habit meets them, and one of the others."""


def recorded(sound: AudioFrame, habit: Habit, seconds: int) -> list[tuple[float, AccessUnit]]:
    """What a terminal records: the true milliseconds of each unit, in that order."""
    step = 1000 / habit.fps
    units = []
    for number in range(round(seconds * habit.fps)):
        true = number * step
        keyframe = number % round(habit.fps) == 0
        payload = (SETS + b"\0\0\0\1\x65" if keyframe else b"\0\0\0\1\x41") + number.to_bytes(4)
        stamp = 0 if habit.constant_video else round(true)
        interval = round(step) if habit.interval else 0
        units.append((true, AccessUnit(1, H264, keyframe, habit.video_base + stamp, payload, interval)))
    length = 1000 * sound.samples / sound.rate
    number = 0
    while (true := number * length / habit.sound_speed) < 1000 * seconds:
        stamp = round(number * length if habit.counts_samples else true)
        stamp = habit.sound_base + (0 if habit.constant_sound else stamp)
        # It is sent once its last sample is there.
        units.append((true + length, AccessUnit(1, sound.coding, False, stamp, sound.payload(number))))
        number += 1
    return sorted(units, key=lambda unit: unit[0])


def arriving(habit: Habit, chance: random.Random) -> Callable[[float], float]:
    """When the server reads what was sent at a true time (ms), in seconds."""
    free = 0.0

    def read_at(true: float) -> float:
        nonlocal free
        if habit.burst:
            return 100.0 + true / 1000 / 200
        if habit.jitter_seconds and chance.random() < 0.01:
            free = true / 1000 + chance.uniform(0, habit.jitter_seconds)
        sent = max(true / 1000, free)
        return 100.0 + (int(sent / habit.read_seconds) + 1) * habit.read_seconds

    return read_at


@pytest.mark.parametrize(("habit_name", "sound_name"), CASES)
def test_sound_and_picture_stay_together(habit_name: str, sound_name: str, at_length: bool) -> None:
    seconds = SECONDS_AT_LENGTH if at_length else SECONDS
    habit, sound = HABITS[habit_name], SOUNDS[sound_name]
    segmenter = Segmenter(2.0, live=not habit.burst)
    read_at = arriving(habit, random.Random(1))
    fragments = [segmenter.push(unit, read_at(true)) for true, unit in recorded(sound, habit, seconds)]
    fragments.append(segmenter.flush())
    pictures = [picture for fragment in fragments if fragment is not None for picture in fragment.pictures]
    assert len(pictures) == round(seconds * habit.fps)
    # How much later than in truth each picture is shown, in ms.
    shown = [
        picture.pts / TICKS_PER_MS - 1000 / habit.fps * int.from_bytes(picture.payload[-4:])
        for picture in pictures
    ]
    length = 1000 * sound.samples / sound.rate / habit.sound_speed
    heard, worst = 0, 0.0
    for fragment in fragments:
        for unit in () if fragment is None else fragment.audio_frames:
            number = int.from_bytes(
                unit.payload[-4:] if sound.coding is AudioCoding.AAC else unit.payload[:4]
            )
            true = number * length
            beside = min(round(true / 1000 * habit.fps), len(shown) - 1)
            heard += 1
            if true >= 1000 * SETTLED_SECONDS:
                worst = max(worst, abs(unit.pts / TICKS_PER_MS - true - shown[beside]))
    assert heard >= 1000 * seconds / length - 2 * 1000 / length
    assert worst <= MAX_APART_MS
    times = [unit.pts for fragment in fragments if fragment is not None for unit in fragment.audio_frames]
    assert all(before < after for before, after in pairwise(times))
