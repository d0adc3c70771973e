"""The states of the segmenter, and what each unit does in them.

A segment ends before a unit, or with the stream or its connection. So two questions are asked of each unit:
does the open segment end before it? If not, does the open part? The table answers them; the segmenter
measures and does what the answer says.

Rules that the table follows:

1. What continues nothing is dropped. Pictures continue a key frame of the same coding: where none
   is open they have no row. Audio continues nothing, but it is kept back until it is clear whether pictures
   come.
2. A key frame ends the segment shortly before its target already: timestamps jitter, and the next key frame
   may be far. Another picture ends it only when no key frame came for far too long. Players go on then, and
   one that joins there waits for the next key frame.
3. A break is what players must be told of: another time base, parameter set, coding or layout of audio. It
   pends until the segment can end without loss: at the next key frame, or at the next audio where there are
   no pictures.
4. Audio does not end a segment with pictures, unless the last of them is a target ago.
5. A part ends before the picture or audio that would make it too long; before a key frame when half of it
   is there, since players may join where a part begins.

The unit that ends a segment begins the next one, in the state that the column `next` names; otherwise the
state stays. From each state the end of the stream or its connection leads to WAITING.

    state    unit      segment ends after     break  part ends after    next
    -------  --------  ---------------------  -----  -----------------  -----
    WAITING  KEYFRAME  (none is open)         -      -                  FIRST
    WAITING  AUDIO     a target of it kept    -      -                  AUDIO
    FIRST    KEYFRAME  0.9 of a part          yes    half of it         VIDEO
    VIDEO    KEYFRAME  0.9 of the target      yes    half of it         VIDEO
    VIDEO    PICTURE   longest, or max_bytes  -      too long with it   VIDEO
    VIDEO    AUDIO     target since picture   -      -                  AUDIO
    AUDIO    KEYFRAME  at once                -      -                  VIDEO
    AUDIO    AUDIO     target                 yes    too long with it   AUDIO

FIRST is as VIDEO otherwise, and without parts throughout. With them players begin once there is a whole
segment, so the first one is as short as the key frames allow.
"""

import enum
import sys
from dataclasses import dataclass

EARLY_FRACTION = 0.9
"""Fraction of the target from which on a key frame ends the segment."""
_AT_ONCE, _NEVER = -sys.maxsize, sys.maxsize


class State(enum.Enum):
    """What is open."""

    WAITING = enum.auto()
    """Nothing: a key frame is awaited, or a target of audio alone."""
    FIRST = enum.auto()
    """The first segment with pictures of a connection."""
    VIDEO = enum.auto()
    """A segment with pictures."""
    AUDIO = enum.auto()
    """A segment of audio alone."""


class Unit(enum.Enum):
    """What arrives."""

    KEYFRAME = enum.auto()
    PICTURE = enum.auto()
    """One that continues the pictures of the open segment, or any other that is no key frame."""
    AUDIO = enum.auto()

    __hash__ = object.__hash__  # Enum's own is a Python function, and each unit is looked up


@dataclass(frozen=True, slots=True)
class Row:
    """The effect of a unit in a state; ticks and bytes measure what is open before it."""

    next: State
    """The state of the segment that it begins, if it ends the open one."""
    length: int = _AT_ONCE
    """Ticks from which on it ends the segment; audio counts from the last picture, where there is one."""
    max_bytes: int = _NEVER
    """Bytes from which on it ends the segment."""
    at_break: bool = False
    """Whether it ends the segment when a break pends, however short."""
    part_length: int = _NEVER
    """Ticks from which on it ends the part: without a key frame, with any other unit."""
    independent: bool = True
    """Whether a player can join at the segment that it begins."""


Table = dict[State, dict[Unit, Row]]


def make_table(target: int, longest: int, max_bytes: int, part: int) -> Table:
    """Return the table for these limits, in ticks; no segment has parts where `part` is 0."""
    early = round(target * EARLY_FRACTION)
    half, full = ((part + 1) // 2, part + 1) if part else (_NEVER, _NEVER)
    video, audio = State.VIDEO, State.AUDIO
    with_pictures = {
        Unit.KEYFRAME: Row(video, early, at_break=True, part_length=half),
        Unit.PICTURE: Row(video, longest, max_bytes, part_length=full, independent=False),
        Unit.AUDIO: Row(audio, target),
    }
    soon = round(part * EARLY_FRACTION) if part else early
    first_keyframe = Row(video, soon, at_break=True, part_length=half)
    return {
        State.WAITING: {
            Unit.KEYFRAME: Row(State.FIRST),
            Unit.AUDIO: Row(audio, target),
        },
        State.FIRST: with_pictures | {Unit.KEYFRAME: first_keyframe},
        State.VIDEO: with_pictures,
        State.AUDIO: {
            Unit.KEYFRAME: Row(video),
            Unit.AUDIO: Row(audio, target, at_break=True, part_length=full),
        },
    }
