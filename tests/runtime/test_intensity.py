from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.actor_testing import STEADY

from motorpool.runtime.intensity import RestartHistory


def permitted(crashes: list[float], intensity: int, period: float) -> list[float]:
    """The model: no restart after a crash that has `intensity` restarts within the period before it."""
    restarts: list[float] = []
    for now in crashes:
        if sum(now - before < period for before in restarts) < intensity:
            restarts.append(now)
    return restarts


@given(
    waits=st.lists(st.integers(0, 40), max_size=40),
    intensity=st.integers(0, 6),
    period=st.integers(1, 100),
)
def test_restarts_are_permitted_as_the_plain_definition_says(
    waits: list[int], intensity: int, period: int
) -> None:
    history = RestartHistory(intensity, period, STEADY)
    now = 0.0
    crashes: list[float] = []
    restarts: list[float] = []
    for wait in waits:
        now += wait
        crashes.append(now)
        if history.next_delay(now) is not None:
            restarts.append(now)
    assert restarts == permitted(crashes, intensity, period)


def test_without_an_intensity_every_restart_is_permitted() -> None:
    history = RestartHistory(None, 60.0, STEADY)
    assert [history.next_delay(0.0) for _ in range(4)] == [0.1, 0.2, 0.4, 0.8]
    assert max(history.next_delay(0.0) or 0.0 for _ in range(100)) == STEADY.max_seconds


def test_the_wait_grows_with_the_restarts_in_the_period_and_shrinks_when_they_are_past() -> None:
    history = RestartHistory(3, 60.0, STEADY)
    assert [history.next_delay(now) for now in (0.0, 10.0, 20.0, 30.0)] == [0.1, 0.2, 0.4, None]
    assert history.next_delay(60.0) == 0.4
    assert history.next_delay(200.0) == 0.1
