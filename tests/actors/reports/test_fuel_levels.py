"""Fills and losses in levels that are noisy, slosh and are missing at times."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.reports.fuel_levels import FuelWatch, least_change
from motorpool.storage.reports.engine_rows import Reading

MAY = datetime(2026, 5, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TANK = 400.0
ALWAYS = [(MAY, MAY + timedelta(days=30))]


def at(number, seconds=60.0):
    return MAY + timedelta(seconds=number * seconds)


def watch(levels, *, seconds=60.0, stops=(), ignition=None, capacity=TANK, least=20.0, key="fuel"):
    """What is found in levels that come every `seconds`, and the smoothed levels."""
    found = FuelWatch(capacity, least, least, stops)
    smooth = []
    for number, level in enumerate(levels):
        told = {key: level, "ignition": ignition}
        smooth += found.add(Reading(number, at(number, seconds), 52.0, 13.0, **told))
    smooth += found.end()
    return found, [each.litres for each in smooth]


def changes(found):
    return [(each.reading.position_id, each.before, each.after) for each in found]


def test_a_fill_is_where_the_level_rises_and_a_loss_where_it_drops_at_rest():
    levels = [100.0] * 10 + [300.0] * 10 + [250.0] * 10
    found, smooth = watch(levels, stops=ALWAYS)
    assert changes(found.fills) == [(10, 100, 300)]
    assert changes(found.losses) == [(20, 300, 250)]
    assert smooth == levels


def test_what_drops_on_a_trip_is_used():
    levels = [300.0] * 10 + [250.0] * 10
    assert watch(levels, stops=[(at(0), at(5)), (at(15), at(40))])[0].losses == []
    # It was seen when the trip began.
    assert changes(watch(levels, stops=[(at(0), at(10)), (at(15), at(40))])[0].losses) == [(10, 300, 250)]


def test_a_loss_while_the_device_slept_is_seen_when_it_wakes():
    found = FuelWatch(TANK, 20, 20, [(MAY, at(605))])
    for number in (*range(5), *range(600, 610)):
        found.add(Reading(number, at(number), 52.0, 13.0, fuel_level=75.0 if number < 100 else 50.0))
    found.end()
    assert changes(found.losses) == [(600, 300, 200)]


@pytest.mark.parametrize(("metres", "lost"), [(0, [(600, 300, 200)]), (900, [(600, 300, 200)]), (1100, [])])
def test_a_loss_while_the_device_slept_is_seen_when_it_wakes_on_the_way(metres, lost):
    """It reports nothing at rest, so the stop ends with what was told before it slept."""
    found = FuelWatch(TANK, 20, 20, [(MAY, at(4))])
    for number in (*range(5), *range(600, 610)):
        way = 0 if number < 5 else metres + 1000 * (number - 600)
        level = 300.0 if number < 5 else 200.0
        found.add(Reading(number, at(number), 52.0 + way / 111_195, 13.0, speed=20.0, fuel=level))
    found.end()
    assert changes(found.losses) == lost


def test_an_engine_at_rest_may_use_as_much_as_it_can():
    # An excavator uses 30 l an hour for three hours.
    levels = [300 - number / 2 for number in range(180)]
    assert watch(levels, stops=ALWAYS, ignition=True)[0].losses == []
    (loss,) = watch(levels, stops=ALWAYS, ignition=False)[0].losses
    assert loss.litres > 85
    # What is taken at once is seen, although the engine runs.
    (loss,) = watch([*levels, *(each - 90 - 60 for each in levels[:100])], stops=ALWAYS, ignition=True)[
        0
    ].losses
    assert loss.reading.position_id in range(178, 183)


@pytest.mark.parametrize("wrong", [None, 0.0, -1.0, 5000.0])
def test_levels_that_are_missing_or_cannot_be_are_left_out(wrong):
    levels = [wrong if number % 4 == 1 or 12 <= number < 30 else 200.0 for number in range(50)]
    found, smooth = watch(levels, stops=ALWAYS)
    assert not found.fills
    assert not found.losses
    assert set(smooth) == {200.0}


def test_without_the_size_of_the_tank_a_share_of_it_is_no_level():
    assert watch([50.0] * 9, key="fuel_level", capacity=0.0)[1] == []
    assert set(watch([50.0] * 9, key="fuel_level", capacity=80.0)[1]) == {40.0}
    assert set(watch([50.0] * 9, capacity=0.0)[1]) == {50.0}


def test_volume_and_share_are_not_mixed():
    found = FuelWatch(TANK, 20, 20, ALWAYS)
    for number in range(20):
        told = {"fuel": 100.0} if number % 2 == 0 else {"fuel_level": 90.0}
        found.add(Reading(number, at(number), 52.0, 13.0, **told))
    assert {each.litres for each in found.end()} == {100.0}
    assert not found.fills


@pytest.mark.parametrize(
    ("setting", "capacity", "least"),
    [(30, 400, 30), (0, 0, 10), (0, 600, 30), (0, 60, 10), (0, 12, 3)],
)
def test_the_least_change_is_set_or_a_share_of_the_tank(setting, capacity, least):
    assert least_change(setting, capacity) == pytest.approx(least)


@given(
    st.integers(0, 2**32),
    st.sampled_from([1.0, 10.0, 30.0, 60.0, 900.0]),
    st.floats(0.0, 0.45),
    st.booleans(),
)
def test_slosh_and_use_alone_are_neither_a_fill_nor_a_loss(seed, seconds, share, stands):
    chance = random.Random(seed)
    noise = share * 20
    levels = [300 - number * 0.1 + chance.uniform(-noise, noise) for number in range(300)]
    for number in chance.sample(range(0, 300, 8), 20):
        levels[number] = chance.choice([0.0, 5.0, 390.0])  # a value that does not hold
    found, _ = watch(levels, seconds=seconds, stops=ALWAYS if stands else (), ignition=True)
    assert not found.fills
    if not stands:
        assert not found.losses


@given(
    st.integers(0, 2**32),
    st.sampled_from([20.0, 60.0, 300.0]),
    st.floats(0.0, 8.0),
    st.floats(50.0, 250.0),
    st.integers(1, 6),
)
def test_a_fill_is_found_whatever_sloshes(seed, seconds, noise, litres, steps):
    """Also one that takes some reports, while the device creeps from pump to pump."""
    chance = random.Random(seed)
    begin = chance.randrange(30, 60)
    levels = []
    for number in range(120):
        filled = min(1.0, max(0.0, (number - begin + 1) / steps))
        levels.append(120 - number * 0.05 + filled * litres + chance.uniform(-noise, noise))
        if chance.random() < 0.2:
            levels[-1] = None
    found, smooth = watch(levels, seconds=seconds)
    (fill,) = found.fills
    assert fill.litres == pytest.approx(litres, abs=2 * noise + 3)
    assert begin - 3 <= fill.reading.position_id <= begin + steps + 3
    assert not found.losses
    # What is used is what is missing in the end.
    assert smooth[0] - smooth[-1] + fill.litres == pytest.approx(6, abs=4 * noise + 4)


@given(
    st.integers(0, 2**32),
    st.sampled_from([60.0, 300.0, 900.0]),
    st.floats(0.0, 8.0),
    st.floats(50.0, 150.0),
    st.integers(0, 600),
    st.booleans(),
)
def test_a_loss_at_rest_is_found_whatever_the_noise(seed, seconds, noise, litres, sleep, parks):
    """Also after a gap, or where the device tells levels on trips only."""
    chance = random.Random(seed)
    begin = chance.randrange(30, 60)
    stop = (at(20, seconds), at(90 + sleep, seconds) if parks else at(begin - 1, seconds))
    watched = FuelWatch(TANK, 20, 20, [stop])
    smooth = []
    for number in range(120):
        level = 280 - litres * (number >= begin) + chance.uniform(-noise, noise)
        when = at(number + sleep * (number >= begin), seconds)
        smooth += watched.add(Reading(number, when, 52.0, 13.0, fuel=level, ignition=False))
    smooth += watched.end()
    (loss,) = watched.losses
    assert loss.litres == pytest.approx(litres, abs=2 * noise + 1)
    assert begin - 2 <= loss.reading.position_id <= begin + 2
    assert not watched.fills
    assert smooth[0].litres - smooth[-1].litres - loss.litres == pytest.approx(0, abs=4 * noise + 1)


@given(st.lists(st.one_of(st.none(), st.floats(0.5, TANK)), max_size=60), st.sampled_from([5.0, 60.0]))
def test_all_levels_come_out_once_and_no_change_is_small(levels, seconds):
    found, smooth = watch(levels, seconds=seconds, stops=ALWAYS)
    known = [each for each in levels if each is not None]
    assert len(smooth) <= len(known)
    if seconds >= 30:
        assert len(smooth) == len(known)
    if known:
        assert min(known) <= min(smooth)
        assert max(smooth) <= max(known)
    assert all(each.after - each.before >= 20 for each in found.fills)
    assert all(each.before - each.after >= 20 for each in found.losses)
