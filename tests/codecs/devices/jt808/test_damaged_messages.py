"""Bodies that are too short or wrong, in frames that are right: the check byte keeps none of them away."""

from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808.attachments import UPLOAD_MESSAGES
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.frames import (
    MAX_BODY_BYTES,
    Frame,
    Identity,
    decode_frame,
    encode_frame,
    new_framer,
)
from motorpool.codecs.devices.jt808.terminal_messages import _READERS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import FrameRejected

VECTORS = Path(__file__).parents[3] / "vectors" / "jt808.txt"
MESSAGES = sorted({*_READERS, *UPLOAD_MESSAGES})
IDENTITIES = tuple(Identity.from_digits("13912345678", is_2019=is_2019) for is_2019 in (False, True))


def read_bodies() -> dict[int, list[bytes]]:
    """Bodies by message id, of the frames in the vectors that are right."""
    bodies = defaultdict(list)
    for line in VECTORS.read_text("utf-8").splitlines():
        kind, _, digits = line.partition(" ")
        for escaped in new_framer().receive(bytes.fromhex(digits)) if kind == "hex" else ():
            if isinstance(escaped, bytes) and (frame := right_frame(escaped)) is not None:
                bodies[frame.message_id].append(frame.body)
    return bodies


def right_frame(escaped: bytes) -> Frame | None:
    try:
        return decode_frame(escaped)
    except CodecError:
        return None


BODIES = read_bodies()
ANY_BODY = sorted({body for bodies in BODIES.values() for body in bodies})


def survive(codec: Jt808, message_id: int, body: bytes, identity: Identity) -> None:
    """Feed a message and one more: the first is read or rejected, and the second read as ever."""
    for report in codec.receive(encode_frame(identity, message_id, 7, body)):
        if isinstance(report, FrameRejected):
            assert report.error
        elif (receipt := getattr(report, "receipt", None)) is not None:
            assert codec.acknowledge([receipt])
            assert codec.refuse(receipt)
    assert codec.acknowledge([codec.receive(encode_frame(identity, 0x0002, 8, b""))[-1].receipt])


@pytest.mark.parametrize("message_id", MESSAGES, ids=hex)
def test_a_body_may_end_anywhere(message_id: int):
    """Cut at each length: its own vectors, and zeros where there is no vector of it."""
    for body in BODIES.get(message_id) or [bytes(120)]:
        for identity in IDENTITIES:
            codec = Jt808()
            for size in range(len(body)):
                survive(codec, message_id, body[:size], identity)


@settings(max_examples=300)
@given(draw=st.data())
def test_a_body_may_hold_anything(draw: st.DataObject):
    codec = Jt808()
    identity = draw.draw(st.sampled_from(IDENTITIES))
    for _ in range(draw.draw(st.integers(1, 3))):
        message_id = draw.draw(st.sampled_from(MESSAGES))
        body = bytearray(
            draw.draw(st.sampled_from(BODIES.get(message_id) or ANY_BODY) | st.binary(max_size=200))
        )
        for _ in range(draw.draw(st.integers(0, 4)) if body else 0):
            at = draw.draw(st.integers(0, len(body) - 1))
            body[at] = draw.draw(st.sampled_from([0, 255]) | st.integers(0, 255))
        survive(codec, message_id, bytes(body[:MAX_BODY_BYTES]), identity)
