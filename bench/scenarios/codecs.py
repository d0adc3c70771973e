"""CPU of decoding device bytes, without a server."""

import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from motorpool.bench.figures import Summary
from motorpool.bench.load.messages import LocationMessages
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.vehicles import media_loop
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.route import Drive
from motorpool.bench.vehicles.trackers import TRACKERS, Tracker
from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit
from motorpool.codecs.reports import PositionReport

NAME = "codecs"
TITLE = "bytes to reports and access units, in one thread"
SERVER = "none"
STEPS = 4
RUNS = 5
"""Repetitions, of which the median counts."""
MESSAGES = 1000
READ_BYTES = 16 * 1024
"""Bytes that a busy media socket returns at once."""
FIRST = datetime(2026, 3, 1, tzinfo=UTC)


def run(options: Options, summary: Summary, step: Step) -> None:
    """Decode positions of JT/T 808, OsmAnd and trackers, and media packets."""
    seconds = options.span(1.0)
    step("JT/T 808")
    frames = _frames(modern=False)
    read, receipts = _positions(Jt808(), frames)
    if read != MESSAGES:
        raise BenchError(f"{read} of {MESSAGES} positions were read")
    metric = "JT/T 808 location of 7 items"
    summary.add(NAME, metric, _cost_us(lambda: _positions(Jt808(), frames), seconds), "µs")
    summary.add(NAME, f"{metric}, 2019", _cost_us(lambda: _positions(Jt808(), _MODERN), seconds), "µs")
    codec = Jt808()
    _positions(codec, frames)
    summary.add(
        NAME, "JT/T 808 acknowledgement", _cost_us(lambda: codec.acknowledge(receipts), seconds), "µs"
    )
    step("OsmAnd")
    requests = [_OSMAND] * MESSAGES
    summary.add(NAME, "OsmAnd query", _cost_us(lambda: _requests(requests), seconds), "µs")
    step("trackers")
    for name, tracker in sorted(TRACKERS.items()):
        messages = _tracker_messages(tracker)
        count = _read(CODECS[name](), messages)
        if count != MESSAGES:
            raise BenchError(f"{count} of {MESSAGES} positions of {name} were read")
        cost = _cost_us(partial(_decode, CODECS[name], messages), seconds)
        summary.add(NAME, f"{name} position", cost, "µs")
    step("JT/T 1078")
    pieces = _media_pieces()
    stream_us = _cost_us(lambda: _units(pieces), seconds) * MESSAGES
    summary.add(NAME, "JT/T 1078 second of 1 Mbit/s", stream_us / media_loop.LOOP_SECONDS / 1000, "ms")


def _frames(*, modern: bool) -> list[bytes]:
    messages = LocationMessages(FIRST)
    head = messages.head("13900000001", modern=modern)
    return [messages.frame(head, number) for number in range(MESSAGES)]


_MODERN = _frames(modern=True)
_OSMAND = (
    b"GET /?id=phone-1&lat=52.516280&lon=13.377700&timestamp=1772323200&speed=8.21&bearing=38.0&altitude=34.0"
    b"&accuracy=6.0&batt=81 HTTP/1.1\r\nHost: 127.0.0.1:5055\r\nUser-Agent: OsmAnd\r\n\r\n"
)


def _positions(codec: Jt808, frames: Sequence[bytes]) -> tuple[int, list[int | bytes | str]]:
    """Decode frame by frame, as from a terminal with one message outstanding."""
    receipts = [
        report.receipt
        for frame in frames
        for report in codec.receive(frame)
        if isinstance(report, PositionReport) and report.receipt is not None
    ]
    return len(receipts), receipts


def _tracker_messages(tracker_type: type[Tracker]) -> list[bytes]:
    """Return the login and the positions of a drive."""
    tracker = tracker_type("356001000000018"[: tracker_type.digits])
    drive = Drive(ROUND_TRIPS[0], 1)
    positions = (
        tracker.position(FIRST + timedelta(seconds=number), drive.at(number)) for number in range(MESSAGES)
    )
    return [tracker.login(), *positions]


def _read(codec: DeviceCodec, messages: Sequence[bytes]) -> int:
    return sum(
        isinstance(report, PositionReport) for message in messages for report in codec.receive(message)
    )


def _decode(codec_type: type[DeviceCodec], messages: Sequence[bytes]) -> None:
    codec = codec_type()
    for message in messages:
        codec.receive(message)


def _requests(requests: Sequence[bytes]) -> None:
    codec = OsmAnd()
    for request in requests:
        receipts = [
            report.receipt
            for report in codec.receive(request)
            if isinstance(report, PositionReport) and report.receipt is not None
        ]
        codec.acknowledge(receipts)


def _media_pieces() -> list[bytes]:
    sender = Jt1078Sender("13900000001")
    content = b"".join(sender.encode(unit.access_unit(1, 0, 0)) for unit in media_loop.make_loop())
    return [content[start : start + READ_BYTES] for start in range(0, len(content), READ_BYTES)]


def _units(pieces: Sequence[bytes]) -> int:
    codec = Jt1078Parser()
    return sum(isinstance(unit, AccessUnit) for piece in pieces for unit in codec.receive(piece))


def _cost_us(act: Callable[[], object], seconds: float) -> float:
    """Return the median time of some runs over MESSAGES messages, for one message."""
    costs = []
    for _ in range(RUNS):
        rounds, begun = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < seconds / RUNS or not rounds:
            act()
            rounds += 1
        costs.append(elapsed / rounds / MESSAGES * 1e6)
    return statistics.median(costs)
