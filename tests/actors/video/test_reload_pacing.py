"""Players that poll as RFC 8216, section 6.3.4, says, against segments that come with jitter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.video.reload_pacing import ReloadPacing

SEGMENTS = 60


class Unpaced(ReloadPacing):
    """Answers at once whatever is listed."""

    def start_hold(self, now):
        return 0.0

    def reload_hold(self, now):
        return 0.0


def play(pacing, length, jitters, asked_at):
    """Play segments of `length` seconds that are listed late by `jitters`; the seconds that it lacks each.

    The first request comes before the first segment is listed.
    """
    listed = [(number + 1) * length + late for number, late in enumerate(jitters)]
    noted = 0

    def note(now):
        nonlocal noted
        while noted < len(listed) and listed[noted] <= now:
            pacing.note_listed(length, listed[noted], first=noted == 0)
            noted += 1

    note(listed[0])
    at = listed[0]
    while pacing.start_hold(at) > 0 and noted < 2:
        at = min(at + pacing.start_hold(at), listed[1])
        note(at)
    begun, known, scheduled = at, noted, asked_at
    lacks = []
    while known < len(listed):
        scheduled = max(scheduled, at)
        note(scheduled)
        at = scheduled
        hold = pacing.reload_hold(at)
        if hold > 0:
            at = min(at + hold, *listed[noted : noted + 1])
            note(at)
        lacks += [at - (begun + number * length) for number in range(known, noted)]
        scheduled += length if noted > known else length / 2
        known = noted
    return lacks


@given(
    st.sampled_from([0.6, 1.0, 2.0, 3.2, 4.0, 8.0]),
    st.lists(st.floats(0, 0.4), min_size=SEGMENTS, max_size=SEGMENTS),
    st.floats(0, 1),
)
def test_a_player_that_began_with_the_first_playlist_always_has_the_next_segment(length, jitters, asked):
    late = [jitter * min(1, length) for jitter in jitters]
    lacks = play(ReloadPacing(), length, late, asked * length)
    assert max(lacks) <= 0.0


def test_without_pacing_it_runs_dry():
    lacks = play(Unpaced(), 2.0, [0.02 * (number % 10) for number in range(SEGMENTS)], 0.1)
    assert max(lacks) > 0.5


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 20)), min_size=1, max_size=20), st.floats(0, 60))
def test_every_wait_is_bounded_and_none_follows_an_end(listings, later):
    pacing = ReloadPacing()
    now = 1000.0
    for number, (gap, seconds) in enumerate(listings):
        now += gap
        pacing.note_listed(seconds, now, first=number == 0)
        assert 0 <= pacing.start_hold(now) <= max(0.5, seconds / 2) + 1e-9
    assert 0 <= pacing.reload_hold(now + later) <= 1.25 + 1e-9
    assert pacing.reload_hold(now + listings[-1][1] + 0.51 + later) == 0.0


def test_a_second_segment_ends_the_wait_for_the_first_playlist():
    pacing = ReloadPacing()
    assert pacing.start_hold(5.0) == float("inf")
    pacing.note_listed(4.0, 5.0, first=True)
    assert pacing.start_hold(5.5) == pytest.approx(1.5)
    pacing.note_listed(0.5, 6.0, first=False)
    assert pacing.start_hold(6.0) == 0.0
