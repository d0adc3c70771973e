"""Positions survive a broken line."""

from motorpool.bench.vehicles.logbook import BATCH_BYTES, KEPT_POSITIONS, Logbook


def test_what_is_acknowledged_is_forgotten() -> None:
    book = Logbook()
    book.sent(7, [b"a"])
    book.acknowledged(7)
    book.line_lost()
    assert (book.waiting, book.under_way) == (0, 0)


def test_a_lost_line_puts_back_what_was_under_way_before_what_came_later() -> None:
    book = Logbook()
    book.sent(1, [b"first"])
    book.sent(2, [b"second", b"third"])
    book.keep(b"fourth")
    book.line_lost()
    assert book.take_batch() == [b"first", b"second", b"third", b"fourth"]


def test_a_batch_fits_one_message() -> None:
    book = Logbook()
    for number in range(40):
        book.keep(bytes((number,)) * 60)
    batches = []
    while batch := book.take_batch():
        batches.append(batch)
    assert [location[0] for batch in batches for location in batch] == list(range(40))
    assert all(sum(len(location) + 2 for location in batch) <= BATCH_BYTES for batch in batches)


def test_a_platform_that_never_acknowledges_does_not_fill_the_memory() -> None:
    book = Logbook()
    for serial in range(2 * KEPT_POSITIONS):
        book.sent(serial, [b"x"])
        book.keep(b"y")
    assert book.under_way <= KEPT_POSITIONS
    assert book.waiting == KEPT_POSITIONS
