"""Framings: how a stream of bytes is divided into frames.

A codec chooses and does not write its own: a `Framing` of one or more shapes (`shapes.py`), or the
`DelimiterFramer` where frames are what stands between two delimiters (JT/T 808). HTTP is the exception: h11
reads it (see `osmand`). What a framer holds back is bounded, and any division of the stream into reads gives
the same frames; `tests/codecs/devices/test_framing.py` and `test_shapes.py` verify both.
"""

from motorpool.codecs.devices.framing.delimited import DelimiterFramer
from motorpool.codecs.devices.framing.framer import Framer, Framing
from motorpool.codecs.devices.framing.rejection import MAX_REJECTED_BYTES, rejected
from motorpool.codecs.devices.framing.shapes import (
    Fixed,
    Line,
    Marked,
    Measured,
    Nested,
    Shape,
    TextLength,
    length_field,
)
from motorpool.codecs.devices.framing.stuffing import ByteStuffing

__all__ = [
    "MAX_REJECTED_BYTES",
    "ByteStuffing",
    "DelimiterFramer",
    "Fixed",
    "Framer",
    "Framing",
    "Line",
    "Marked",
    "Measured",
    "Nested",
    "Shape",
    "TextLength",
    "length_field",
    "rejected",
]
