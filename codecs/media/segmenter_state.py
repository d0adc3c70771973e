"""States of the segmenter.

What changes them:

    state    event                                          what is emitted                    next state
    -------  ---------------------------------------------  ---------------------------------  ----------
    WAITING  key frame                                      -                                  VIDEO
    WAITING  other picture                                  - (dropped; kept audio as well)    WAITING
    WAITING  audio                                          - (kept until a target of it)      WAITING
    WAITING  audio, a target of it is kept                  a segment, if that ends one        AUDIO
    VIDEO    key frame past the target, or a break pending  the segment                        VIDEO
    VIDEO    other picture, segment too long or too large   the segment                        VIDEO
    VIDEO    picture that makes the part too long           a part                             VIDEO
    VIDEO    audio a target after the last picture          the segment                        AUDIO
    AUDIO    key frame                                      the segment                        VIDEO
    AUDIO    other picture                                  - (dropped)                        AUDIO
    AUDIO    audio past the target, or a break pending      the segment                        AUDIO
    AUDIO    audio that makes the part too long             a part                             AUDIO
    any      `flush`, `discontinuity`                       what is open                       WAITING

A pending break (`Break`) makes the open segment end early: at the next key frame, or at the next unit of
audio where there are no pictures. `discontinuity` sets one for the segment that comes next.
"""

import enum
from dataclasses import dataclass


class State(enum.Enum):
    """What is open; the transitions are in the module's docstring."""

    WAITING = enum.auto()
    """Nothing: a key frame is awaited, or a target of audio alone."""
    VIDEO = enum.auto()
    """A fragment with pictures."""
    AUDIO = enum.auto()
    """A fragment of audio alone."""


class Break(enum.Enum):
    """Whether the open segment ends early, and what the next one is."""

    NONE = enum.auto()
    SEGMENT = enum.auto()
    """It ends early, and the next one continues it: audio began after its first part."""
    DISCONTINUITY = enum.auto()
    """It ends early, and the next one is marked as a discontinuity."""


@dataclass(slots=True)
class SegmenterStatistics:
    """Units that are in no fragment, and irregularities."""

    awaiting_keyframe: int = 0
    """Pictures before the first key frame with parameter sets, and after a stretch of audio alone."""
    unknown_coding: int = 0
    undecodable_audio: int = 0
    awaiting_segment: int = 0
    """Units of audio that began within a segment of which parts have been emitted."""
    jumps: int = 0
    """Of the device's clock, as far as they became discontinuities."""
