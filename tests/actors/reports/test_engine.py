"""Whether the engine runs, and when a device stands meanwhile."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.reports.engine import MAX_GAP, MILLISECOND, Engine, IdlingFinder
from motorpool.storage.reports.engine_rows import Reading

MAY = datetime(2026, 5, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
METRE = 1 / 111_319.49
HOUR_MS = 3_600_000


def reading(minutes, *, metres=0.0, **told):
    when = MAY + minutes * MINUTE
    return Reading(round(minutes * 60), when, 52.0 + metres * METRE, 13.0, **told)


def spans(readings, least=2 * MINUTE):
    """Begin and end of what is found, in minutes."""
    engine, finder = Engine(), IdlingFinder(least)
    found = [finder.add(each, runs=engine.add(each)) for each in readings]
    found.append(finder.end())
    return [
        tuple((end.fix_time - MAY) / MINUTE for end in (each.first, each.last))
        for each in found
        if each is not None
    ]


def running(readings):
    engine = Engine()
    return [engine.add(each) for each in readings]


def test_revolutions_count_more_than_the_ignition_and_both_last_until_the_next():
    assert running(
        [
            reading(0),
            reading(1, ignition=True),
            reading(2, ignition=True, rpm=0.0),
            reading(3),
            reading(4, ignition=False, rpm=700.0),
            reading(5),
            reading(20),
            reading(20 + 15.1),
            reading(36, ignition=True),
            reading(37, ignition=False),
        ]
    ) == [False, True, False, False, True, True, True, False, True, False]


def test_the_voltage_tells_where_nothing_else_does_and_it_is_set():
    told = [reading(0, power=14.0), reading(1, power=12.5), reading(2, power=14.0, ignition=False)]
    assert running(told) == [False, False, False]
    engine = Engine(13.2)
    assert [(engine.add(each), engine.is_told) for each in told] == [
        (True, True),
        (False, True),
        (False, True),
    ]
    engine.add(reading(3))
    assert not engine.is_told


def test_the_engine_is_known_to_have_run_between_readings_that_are_close():
    engine, ran = Engine(), timedelta()
    for minutes, is_on in ((0, True), (5, True), (7, False), (9, True), (40, True), (41, False)):
        engine.add(reading(minutes, ignition=is_on))
        ran += engine.since_last
    assert ran == 8 * MINUTE


def test_a_counter_of_hours_counts_where_it_advances_as_time_does():
    engine, counted = Engine(), []
    told = [
        (0, 5 * HOUR_MS),
        (10, 5 * HOUR_MS + 600_000),
        (20, None),
        (30, 6 * HOUR_MS),
        (40, 900 * HOUR_MS),
        (50, 0),
    ]
    for minutes, hours in told:
        engine.add(reading(minutes, hours=hours))
        counted.append(engine.counted)
    assert counted == [0, 600_000, None, HOUR_MS - 600_000, 0, 0]


def test_a_halt_with_the_engine_on_ends_where_it_is_switched_off_or_drives_away():
    halt = [reading(each, ignition=True) for each in range(5)]
    assert spans(halt) == [(0, 4)]
    assert spans([*halt, reading(5, ignition=False), reading(6, ignition=False)]) == [(0, 5)]
    assert spans([*halt, reading(5, ignition=True, metres=400, speed=30.0)]) == [(0, 4)]
    assert spans([*halt, reading(5, ignition=True, metres=400), reading(9, ignition=True, metres=400)]) == [
        (0, 4),
        (5, 9),
    ]


def test_short_halts_and_engines_that_are_off_are_no_idling():
    assert spans([reading(0, ignition=True), reading(1.9, ignition=True)]) == []
    assert spans([reading(each, ignition=False) for each in range(9)]) == []
    assert spans([reading(each) for each in range(9)]) == []
    assert spans([reading(each, ignition=True, rpm=0.0) for each in range(9)]) == []
    assert spans([reading(each, ignition=True, speed=20.0) for each in range(9)]) == []


def test_a_silence_ends_it_and_a_single_speed_does_not():
    gap = MAX_GAP / MINUTE + 1
    later = [reading(3 + gap, ignition=True), reading(6 + gap, ignition=True)]
    assert spans([reading(0, ignition=True), reading(3, ignition=True), *later]) == [
        (0, 3),
        (3 + gap, 6 + gap),
    ]
    noisy = [
        reading(each, ignition=True, speed=4.0 if each == 3 else 0.0, metres=each % 3) for each in range(7)
    ]
    assert spans(noisy) == [(0, 6)]


def test_a_place_where_the_device_cannot_be_does_not_end_it():
    halt = [reading(each, ignition=True) for each in range(5)]
    halt[2] = reading(2, ignition=True, metres=80_000, is_implausible=True)
    assert spans(halt) == [(0, 4)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.1, 0.5, 1.0, 5.0, 15.0, 15.5, 60.0]),
            st.sampled_from([0.0, 20.0, 49.0, 300.0]),
            st.sampled_from([0.0, 1.7, 1.8, 40.0]),
            st.sampled_from([None, False, True]),
        ),
        max_size=40,
    )
)
def test_spans_are_apart_long_enough_and_at_rest_with_the_engine_on(steps):
    readings, minutes = [], 0.0
    for gap, metres, speed, ignition in steps:
        minutes += gap
        readings.append(reading(minutes, metres=metres, speed=speed, ignition=ignition))
    runs = running(readings)
    found = spans(readings)
    assert all(end - begin >= 2 for begin, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    for begin, end in found:
        inside = [
            (each, on)
            for each, on in zip(readings, runs, strict=True)
            if begin <= (each.fix_time - MAY) / MINUTE <= end
        ]
        first, last = inside[0][0], inside[-1][0]
        assert first.speed < 1.8
        assert last.speed < 1.8
        assert all(on for _, on in inside[:-1])
        assert all(abs(each.latitude - first.latitude) < 51 * METRE for each, _ in inside)
    assert sum(end - begin for begin, end in found) * MINUTE // MILLISECOND <= minutes * MINUTE // MILLISECOND
