import pytest

from motorpool.codecs.media.jt1078.pending_unit import PendingUnit

KEY, PLAIN, SOUND = 0x00, 0x10, 0x30
"""Data type and cut mark of whole units."""
LATER_PART = 0x13
TAIL = b"sixteen bytes..."


def believed(units: int = 20) -> PendingUnit:
    """The last unit was number 99, stamped 4000."""
    join = PendingUnit(1, False, sequence=100, timestamp=4_000)
    for _ in range(units):
        join.note_complete()
    return join


@pytest.mark.parametrize(
    ("sequence", "kind", "timestamp", "stale"),
    [
        (99, LATER_PART, 4_000, True),
        (100, LATER_PART, 4_000, False),
        (99, PLAIN, 4_000, True),
        (90, PLAIN, 3_600, True),
        (90, PLAIN, 4_040, False),  # the count began anew
        (90, PLAIN, 4_000 - 10_001, False),  # and so did the clock
        (65_300, PLAIN, 3_600, False),
        (99, KEY, 4_000, False),
        (99, SOUND, 4_000, False),
        (101, PLAIN, 3_600, False),
    ],
)
def test_what_steps_back_is_stale_by_its_number_and_its_stamp(
    sequence: int, kind: int, timestamp: int, stale: bool
) -> None:
    assert believed().is_stale(sequence, kind, timestamp, TAIL) is stale
    assert believed(7).is_stale(sequence, kind, timestamp, TAIL) is False


def test_key_frames_and_sound_are_stale_where_they_are_known() -> None:
    join = believed()
    join.recent.append((90, 3_600, TAIL))
    for kind in (KEY, SOUND):
        assert join.is_stale(90, kind, 3_600, TAIL)
        assert not join.is_stale(90, kind, 3_600, b"another ending..")
        assert not join.is_stale(91, kind, 3_600, TAIL)


def test_a_count_wraps() -> None:
    join = believed()
    join.sequence = 2
    assert join.is_stale(65_535, PLAIN, 3_900, TAIL)


def test_a_hole_breaks_the_unit_of_a_device_that_counts_and_of_no_other() -> None:
    steady, unsteady = believed(64), believed(7)
    for _ in range(4):
        steady.is_damaged = False
        steady.note_gap()
        assert steady.is_damaged
    steady.is_damaged = False
    steady.note_gap()
    unsteady.note_gap()
    assert (steady.is_damaged, unsteady.is_damaged) == (False, False)
    assert steady.has_gap
    assert unsteady.has_gap


def test_belief_has_an_end() -> None:
    join = believed(1000)
    assert join.steady_units == 64
