"""Positions survive a broken line."""

from collections.abc import Iterator

from motorpool.bench.vehicles.position_buffer import BATCH_BYTES, KEPT_POSITIONS, PositionBuffer


def test_what_is_acknowledged_is_forgotten() -> None:
    book = PositionBuffer()
    book.mark_sent(7, [b"a"])
    book.acknowledge(7)
    book.requeue_unacknowledged()
    assert (book.waiting, book.unacknowledged) == (0, 0)


def test_a_lost_line_puts_back_what_was_under_way_before_what_came_later() -> None:
    book = PositionBuffer()
    book.mark_sent(1, [b"first"])
    book.mark_sent(2, [b"second", b"third"])
    book.add(b"fourth")
    book.requeue_unacknowledged()
    assert book.take_batch() == [b"first", b"second", b"third", b"fourth"]


def test_a_batch_fits_one_message() -> None:
    book = PositionBuffer()
    for number in range(40):
        book.add(bytes((number,)) * 60)
    batches = []
    while batch := book.take_batch():
        batches.append(batch)
    assert [location[0] for batch in batches for location in batch] == list(range(40))
    assert all(sum(len(location) + 2 for location in batch) <= BATCH_BYTES for batch in batches)


def test_a_platform_that_never_acknowledges_does_not_fill_the_memory() -> None:
    book = PositionBuffer()
    for serial in range(2 * KEPT_POSITIONS):
        book.mark_sent(serial, [b"x"])
        book.add(b"y")
    assert book.unacknowledged <= KEPT_POSITIONS
    assert book.waiting == KEPT_POSITIONS


def test_an_archive_goes_out_before_what_came_since_and_is_made_on_the_way() -> None:
    made: list[int] = []

    def archive() -> Iterator[bytes]:
        for number in range(30):
            made.append(number)
            yield bytes((number,)) * 60

    book = PositionBuffer(archive())
    book.add(b"\xff")
    first = book.take_batch()
    assert len(made) == len(first) + 1
    book.mark_sent(1, first)
    book.requeue_unacknowledged()
    assert book.take_batch() == first
    assert book.has_archive
    rest = []
    while batch := book.take_batch():
        rest += batch
    assert [location[0] for location in [*first, *rest]] == [*range(30), 0xFF]
    assert not book.has_archive
