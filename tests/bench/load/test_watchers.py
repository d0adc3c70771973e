"""When positions came at WebSockets, and those that a later one of their device stands for."""

import pytest

from motorpool.bench.load.plan import WatchedSpan
from motorpool.bench.load.watchers import _Arriving

SPAN = WatchedSpan(
    start=100.0,
    rate=10.0,
    device_ids=(7, 8),
    # The second one's turn was first: 8 at 100.0, 7 at 100.1, 8 at 100.2, 7 at 100.3.
    first_place=1,
    first_numbers=(4, 6),
    numbers=(6, 8),
    first_epoch=1000.0,
)


def test_latencies_count_from_when_a_position_was_due() -> None:
    arriving = _Arriving(SPAN)
    arriving.add(100.5, 1, 8, 1006.0)
    arriving.add(100.5, 1, 7, 1004.0)
    assert arriving.waits == pytest.approx([0.5, 0.4])
    assert arriving.missing(sockets=1) == 2
    arriving.add(100.5, 1, 8, 1007.0)
    arriving.add(101.0, 1, 7, 1005.0)
    assert arriving.waits == pytest.approx([0.5, 0.4, 0.3, 0.7])
    assert (arriving.missing(sockets=1), arriving.missing(sockets=2), arriving.passed_over) == (0, 4, 0)


def test_a_position_that_was_passed_over_waits_for_the_next_one() -> None:
    arriving = _Arriving(SPAN)
    arriving.add(100.5, 1, 8, 1007.0)
    assert arriving.waits == pytest.approx([0.5, 0.3])
    assert arriving.passed_over == 1
    # It comes nevertheless, and at another WebSocket.
    arriving.add(100.6, 1, 8, 1006.0)
    assert len(arriving.waits) == 2
    arriving.add(100.6, 2, 8, 1006.0)
    assert arriving.waits[2:] == pytest.approx([0.6])


def test_other_devices_and_spans_are_ignored() -> None:
    arriving = _Arriving(SPAN)
    for device_id, number in ((9, 4), (7, 3), (7, 6)):
        arriving.add(100.5, 1, device_id, 1000.0 + number)
    assert arriving.waits == []
