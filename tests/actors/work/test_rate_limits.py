from math import inf

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.work.rate_limits import RateLimit


class Time:
    now = 100.0

    def __call__(self):
        return self.now


def test_each_key_may_so_often_within_the_window_and_is_told_how_long_to_wait():
    time = Time()
    rate = RateLimit(2, 60, time)
    assert rate.hit("a") == 0
    time.now += 10
    assert rate.hit("a") == 0
    time.now += 5
    assert rate.hit("a") == 45
    assert rate.hit("b") == 0
    time.now += 45
    assert rate.hit("a") == 0
    assert rate.hit("a") == 10


def test_what_is_refused_does_not_count():
    time = Time()
    rate = RateLimit(1, 60, time)
    assert rate.hit("a") == 0
    for _ in range(10):
        assert rate.hit("a") == 60
    time.now += 60
    assert rate.hit("a") == 0


def test_the_latest_events_can_be_taken_back():
    time = Time()
    rate = RateLimit(3, 60, time)
    assert rate.hit("a") == 0
    time.now += 10
    assert rate.hit("a", 2) == 0
    rate.uncount("a", 2)
    rate.uncount("b")
    time.now += 20
    assert rate.hit("a", 2) == 0
    assert rate.hit("a") == 30
    rate.uncount("a", 9)
    assert rate.hit("a", 3) == 0


def test_several_events_count_together_or_not_at_all():
    time = Time()
    rate = RateLimit(5, 60, time)
    assert rate.hit("a", 2) == 0
    time.now += 10
    assert rate.hit("a", 3) == 0
    assert rate.wait("a", 2) == rate.hit("a", 2) == 50
    assert rate.wait("a", 3) == 60
    assert rate.wait("a", 6) == rate.hit("a", 6) == inf
    assert rate.wait("b", 5) == 0
    time.now += 50
    assert rate.hit("a", 2) == 0


def test_keys_without_end_do_not_fill_the_memory():
    rate = RateLimit(1, 60, Time())
    for number in range(50_100):
        rate.hit(str(number))
    assert len(rate) == 50_000


@given(st.integers(1, 4), st.lists(st.floats(0, 30), max_size=60))
def test_no_window_ever_holds_more_than_the_limit(limit, steps):
    time = Time()
    rate = RateLimit(limit, 60, time)
    taken = []
    for step in steps:
        time.now += step
        if rate.hit("a") == 0:
            taken.append(time.now)
    assert all(sum(later - 60 < earlier <= later for earlier in taken) <= limit for later in taken)
