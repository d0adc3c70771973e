"""When a tracker reports and when its reports arrive."""

import random
from itertools import pairwise

import pytest

from motorpool.bench.roads.conditions import CALM, Conditions, with_overrides
from motorpool.bench.roads.driving import Vehicle, drive
from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.road import Piece
from motorpool.bench.roads.track import Sky, Track
from motorpool.bench.roads.tracker import Instant, clock_errors, instants, sendings

PARKED, DRIVEN = 7200, 7200 + 510
"""Seconds at which the vehicle leaves, and at which it is back at rest, about."""


def conditions(**overrides: object) -> Conditions:
    return with_overrides(Conditions(), CALM | overrides)


def tour() -> Track:
    """Two hours parked, 5 km at 10 m/s with a bend in the middle, two hours parked."""
    track = Track(Place(52.52, 13.40))
    track.stand(PARKED, ignition=False, sky=Sky.OPEN)
    drive(track, [Piece(2500.0, 10.0), Piece(78.54, 10.0, 0.02), Piece(2500.0, 10.0)], Vehicle(1.0, 1.0), 0.0)
    track.stand(PARKED, ignition=False, sky=Sky.OPEN)
    return track


def told(**overrides: object) -> list[Instant]:
    return list(instants(tour(), conditions(**overrides), random.Random(1)))


def gaps(found: list[Instant], first: int, last: int) -> set[int]:
    seconds = [each.second for each in found if first <= each.second <= last]
    return {after - before for before, after in pairwise(seconds)}


def test_intervals_of_use_and_of_parking() -> None:
    found = told(interval_seconds=20, parked_seconds=600)
    assert gaps(found, 0, PARKED) == {600}
    assert gaps(found, PARKED + 1, DRIVEN - 20) == {20}
    assert gaps(found, DRIVEN + 30, 10**6) == {600}
    # Where the ignition is wired, its changes are told at once.
    assert PARKED + 1 in [each.second for each in found]
    assert not any(each.is_wake for each in found)


def test_one_that_sleeps_tells_nothing_while_parked_and_wakes() -> None:
    found = told(interval_seconds=20, parked_seconds=None)
    assert found[0] == (PARKED + 1, True)
    assert found[-1].second < DRIVEN + 30
    assert [each.is_wake for each in found[1:]] == [False] * (len(found) - 1)


def test_without_a_wired_ignition_it_is_parked_after_two_minutes_without_motion() -> None:
    found = told(interval_seconds=20, parked_seconds=3600, ignition=False)
    last = max(each.second for each in found if each.second < DRIVEN + 200)
    track = tour()
    arrival = track.halts()[-1][0]
    assert last == pytest.approx(arrival + 120, abs=2)


def test_reports_by_distance_and_by_angle() -> None:
    by_distance = told(change_metres=200.0, parked_seconds=None)
    track = tour()
    metres = [track.metres[each.second] for each in by_distance[1:-1]]
    assert all(200.0 <= after - before < 211.0 for before, after in pairwise(metres))
    by_angle = told(change_metres=200.0, change_degrees=30.0, parked_seconds=None)
    bend = [each for each in by_angle if 2500.0 < track.metres[each.second] < 2590.0]
    assert len(bend) >= 2


def test_reports_of_an_outage_come_afterwards_in_the_order_of_the_tracker() -> None:
    seconds = range(0, 86_400, 30)
    for order, is_sorted in (("oldest", True), ("newest", False), ("shuffled", False)):
        sent = sendings(seconds, conditions(outages=2.0, send_order=order), random.Random(4))
        assert sorted(each.report for each in sent) == list(range(len(seconds)))
        assert all(each.second > seconds[each.report] for each in sent)
        assert [each.second for each in sent] == sorted(each.second for each in sent)
        kept = [each.report for each in sent if each.is_archived]
        assert len(kept) > 5
        runs = {after - before for before, after in pairwise(kept)}
        assert (runs == {1}) == is_sorted or order == "oldest"
        if order == "newest":
            assert -1 in runs
        live = [each.report for each in sent if not each.is_archived]
        assert live == sorted(live)


def test_some_reports_are_sent_twice() -> None:
    seconds = range(0, 86_400, 30)
    sent = sendings(seconds, conditions(repeats=0.1), random.Random(1))
    assert len(sent) / len(seconds) == pytest.approx(1.1, abs=0.02)
    assert {each.report for each in sent} == set(range(len(seconds)))


def test_the_clock_jumps_forwards_and_back_for_some_reports() -> None:
    errors = [
        error
        for seed in range(60)
        for error in clock_errors(1000, conditions(clock_jumps=1.0), random.Random(seed)).values()
    ]
    assert 60 <= len(errors) <= 180
    assert min(errors) < -3600
    assert max(errors) > 3600
    assert min(map(abs, errors)) >= 5
    assert not clock_errors(1000, conditions(), random.Random(1))
