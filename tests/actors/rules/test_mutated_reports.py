"""Messages of devices that were changed on their way, up to the row of their position: refused, or stored."""

import random
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.bench.load.fuzz_samples import osmand_requests, terminal_messages
from motorpool.bench.load.mutations import mutated, mutated_text
from motorpool.codecs.devices.base import DeviceCodec
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.frames import MAX_BODY_BYTES, Identity, encode_frame
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import PositionReport
from motorpool.storage.devices.position_rows import pack_row

NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""In JSON; behind an escaped backslash it is another text."""
PHONE = "13912345678"
CONTEXT = FoldContext(7, "osmand", datetime(2026, 6, 15, 12, 0, tzinfo=UTC))


def consume(codec: DeviceCodec, pieces: Iterable[bytes]) -> None:
    state = FoldState()
    with suppress(CodecError):
        for piece in pieces:
            for report in codec.receive(piece):
                if isinstance(report, PositionReport):
                    result = fold(report, state, CONTEXT)
                    state = result.state
                    assert not NUL.search(pack_row(result.position))
                if (receipt := getattr(report, "receipt", None)) is not None:
                    codec.acknowledge([receipt])


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32))
def test_mutated_requests_of_osmand(seed: int):
    source = random.Random(seed)
    request = source.choice(osmand_requests())
    if source.random() < 0.5:
        consume(OsmAnd(), [mutated(source, request.encode("localhost"))])
    else:
        consume(OsmAnd(), [request.mutated(source, mutated_text).encode("localhost")])


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("is_2019", [False, True])
def test_mutated_messages_of_terminals(seed: int, is_2019: bool):
    source = random.Random(seed)
    identity = Identity.from_digits(PHONE, is_2019=is_2019)
    messages = source.choices(terminal_messages(PHONE, is_2019=is_2019), k=8)
    consume(
        Jt808(),
        (
            encode_frame(identity, message_id, serial, mutated(source, body)[:MAX_BODY_BYTES])
            for serial, (message_id, _, body) in enumerate(messages)
        ),
    )
