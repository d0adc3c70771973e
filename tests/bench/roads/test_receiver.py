"""Fixes of a receiver."""

import random
from itertools import pairwise
from statistics import fmean, pstdev

import pytest

from motorpool.bench.roads.conditions import CALM, Conditions, with_overrides
from motorpool.bench.roads.driving import Vehicle, drive
from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.receiver import Fix, Receiver
from motorpool.bench.roads.road import Piece
from motorpool.bench.roads.track import Sky, Track

BERLIN = Place(52.52, 13.40)
HOURS = 200


def conditions(**overrides: object) -> Conditions:
    return with_overrides(Conditions(), CALM | overrides)


def parked(sky: Sky, seconds: int = HOURS * 3600) -> Track:
    track = Track(BERLIN)
    track.stand(seconds, ignition=False, sky=sky)
    return track


def fixes(track: Track, seconds: range, seed: int = 1, **overrides: object) -> list[Fix]:
    receiver = Receiver(track, conditions(**overrides), random.Random(seed))
    found = [receiver.fix(second) for second in seconds]
    return [fix for fix in found if fix is not None]


def offsets(found: list[Fix]) -> tuple[list[float], list[float]]:
    pairs = [BERLIN.offset_to(fix.place) for fix in found]
    return [east for east, _ in pairs], [north for _, north in pairs]


@pytest.mark.parametrize(("sky", "expected"), [(Sky.OPEN, 4.0), (Sky.CAR_PARK, 35.0), (Sky.CANYON, 35.0)])
def test_noise_has_the_standard_deviation_that_was_asked_for(sky: Sky, expected: float) -> None:
    found = fixes(parked(sky), range(0, HOURS * 3600, 60), noise=4.0, drift=35.0, noise_seconds=60.0)
    for axis in offsets(found):
        assert pstdev(axis) == pytest.approx(expected, rel=0.05)
        assert fmean(axis) == pytest.approx(0.0, abs=0.1 * expected)


@pytest.mark.parametrize("time_constant", [20.0, 300.0])
def test_noise_is_correlated_for_its_time_constant(time_constant: float) -> None:
    lag = round(time_constant)
    east, _ = offsets(fixes(parked(Sky.OPEN), range(0, HOURS * 3600, lag), noise_seconds=time_constant))
    products = fmean(before * after for before, after in pairwise(east))
    # After one time constant 1/e of the correlation is left.
    assert products / pstdev(east) ** 2 == pytest.approx(0.368, abs=0.06)


def test_between_high_buildings_a_vehicle_that_moves_drifts_less() -> None:
    track = Track(BERLIN)
    drive(track, [Piece(100_000.0, 10.0, sky=Sky.CANYON)], Vehicle(1.0, 1.0), 0.0)
    receiver = Receiver(track, conditions(drift=60.0, noise_seconds=20.0), random.Random(1))
    errors = [
        track.place(second).offset_to(fix.place)[0]
        for second in range(1, track.last, 20)
        if (fix := receiver.fix(second))
    ]
    assert pstdev(errors) == pytest.approx(15.0, rel=0.15)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("repeat", [(True, True), (False, True), (True, True)]),
        ("zero", [(True, True), (False, False), (True, True)]),
        ("silent", [(True, True), (True, True)]),
    ],
)
def test_without_satellites_it_repeats_tells_zeros_or_is_silent(
    loss: str, expected: list[tuple[bool, bool]]
) -> None:
    track = parked(Sky.OPEN, 100)
    track.stand(100, ignition=False, sky=Sky.COVERED)
    track.stand(100, ignition=False, sky=Sky.OPEN)
    found = fixes(track, range(50, 300, 100), fix_loss=loss)
    assert [(fix.valid, fix.place.metres_to(BERLIN) < 100.0) for fix in found] == expected
    if loss == "repeat":
        assert found[0].place == found[1].place
    if loss == "zero":
        assert found[1].place == (0.0, 0.0)


def test_after_a_long_time_without_satellites_a_fix_takes_a_while_and_may_be_wrong_at_first() -> None:
    track = parked(Sky.COVERED, 3600)
    track.stand(3600, ignition=False, sky=Sky.OPEN)
    waits, wrong = [], []
    for seed in range(40):
        receiver = Receiver(track, conditions(cold_starts=1.0, fix_loss="silent"), random.Random(seed))
        told = [(second, fix) for second in range(3500, 3800) if (fix := receiver.fix(second))]
        waits.append(told[0][0] - 3600)
        wrong.append(BERLIN.metres_to(told[0][1].place))
        assert BERLIN.metres_to(told[1][1].place) < 30.0
    assert 0 <= min(waits) < max(waits) <= 46
    assert min(wrong) > 150.0
    assert max(wrong) < 3100.0


def test_outliers_come_alone_and_are_200_metres_to_5_kilometres_off() -> None:
    found = fixes(parked(Sky.OPEN), range(0, HOURS * 3600, 30), outliers=0.01)
    off = [BERLIN.metres_to(fix.place) for fix in found]
    far = [metres for metres in off if metres > 100.0]
    assert len(far) / len(off) == pytest.approx(0.01, rel=0.3)
    assert min(far) > 180.0
    assert max(far) < 5020.0


@pytest.mark.parametrize(("style", "longest"), [("single", 1), ("scattered", 4), ("lasting", 4)])
def test_jumps_are_further_than_any_vehicle_goes(style: str, longest: int) -> None:
    found = fixes(parked(Sky.OPEN), range(0, HOURS * 3600, 30), jumps=20.0, jump_style=style)
    runs: list[list[Place]] = []
    was_off = False
    for fix in found:
        is_off = BERLIN.metres_to(fix.place) > 15_000.0
        if is_off and not was_off:
            runs.append([])
        if is_off:
            runs[-1].append(fix.place)
        was_off = is_off
    assert len(runs) == 20
    assert max(map(len, runs)) == longest
    steps = [start.metres_to(end) for run in runs for start, end in pairwise(run)]
    if style == "scattered":
        assert min(steps) > 1000.0
    if style == "lasting":
        assert max(steps) < 50.0


def test_speeds_are_told_as_devices_do() -> None:
    track = parked(Sky.OPEN, 1000)
    drive(track, [Piece(20_000.0, 10.0)], Vehicle(1.0, 1.0), 0.0)
    standing, moving = range(0, 1000, 10), range(1100, 2500, 10)
    assert {fix.speed_knots for fix in fixes(track, standing, speeds="held")} == {0.0}
    noisy = [fix.speed_knots for fix in fixes(track, standing, speeds="noisy")]
    assert 0.0 <= min(noisy) < max(noisy) <= 2.0 / 1.852
    assert {fix.speed_knots for fix in fixes(track, moving, speeds="zero")} == {0.0}
    true = [fix.speed_knots for fix in fixes(track, moving, speeds="held")]
    assert fmean(true) == pytest.approx(10.0 * 3600 / 1852, rel=0.02)
