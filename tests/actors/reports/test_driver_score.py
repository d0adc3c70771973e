"""The score of drivers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.reports.driver_score import KINDS, Counts, ScoreWeights, score

WAY = 100_000.0


def test_each_thing_costs_its_weight_for_each_100_km():
    noted = Counts(trips=3, distance=2 * WAY, duration=7_200_000, brakings=3, phone_alarms=1, speeding=72_000)
    found = score([(noted, ScoreWeights(brakings=2, phone_alarms=5, speeding=4))])
    assert (found.counts["brakings"].count, found.counts["brakings"].per_100_km) == (3, 1.5)
    assert found.counts["brakings"].points == 3.0
    assert found.counts["phone_alarms"].points == 2.5
    assert (found.speeding.duration, found.speeding.percent, found.speeding.points) == (72_000, 1.0, 4.0)
    assert found.score == 90.5
    assert found.formula == "max(0, 100 - 2 * 1.5 - 5 * 0.5 - 4 * 1) = 90.5"
    assert {name for name in KINDS if found.counts[name].points} == {"brakings", "phone_alarms"}


def test_nobody_has_less_than_0_and_who_did_nothing_wrong_has_100():
    worst = score([(Counts(distance=WAY, brakings=1000), ScoreWeights())])
    assert (worst.score, worst.formula) == (0.0, "max(0, 100 - 2 * 1000) = 0")
    best = score([(Counts(distance=WAY), ScoreWeights())])
    assert (best.score, best.formula) == (100.0, "100")


def test_without_a_distance_there_is_no_score():
    found = score([(Counts(trips=1, brakings=2, speeding=5), ScoreWeights())])
    assert (found.score, found.formula) == (None, "")
    assert (found.counts["brakings"].count, found.counts["brakings"].per_100_km) == (2, None)
    assert (found.speeding.percent, found.speeding.points) == (None, None)


def test_of_devices_with_different_weights_the_distance_in_each_counts():
    far = Counts(distance=3 * WAY, brakings=2), ScoreWeights(brakings=1)
    near = Counts(distance=WAY, brakings=2), ScoreWeights(brakings=5)
    found = score([far, near])
    assert found.counts["brakings"].weight == 2.0
    assert found.counts["brakings"].per_100_km == 1.0
    assert found.score == 98.0


counts = st.builds(
    Counts,
    trips=st.integers(0, 50),
    distance=st.floats(0, 1e7),
    duration=st.floats(0, 1e9),
    speeding=st.floats(0, 1e9),
    **{name: st.integers(0, 500) for name in KINDS},
)
weights = st.builds(ScoreWeights, **{name: st.floats(0, 1e6) for name in (*KINDS, "speeding")})


@given(st.lists(st.tuples(counts, weights), min_size=1, max_size=4))
def test_the_formula_says_what_the_score_is(parts):
    found = score(parts)
    if found.score is None:
        assert sum(each.distance for each, _ in parts) < 1
        return
    assert 0 <= found.score <= 100
    formula, _, said = found.formula.partition(" = ")
    assert eval(formula) == pytest.approx(found.score, rel=1e-3, abs=0.2)
    assert float(said or 100) == pytest.approx(found.score)
