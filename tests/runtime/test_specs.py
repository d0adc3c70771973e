from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.actor_testing import Probe

from motorpool.runtime import BackOff, ChildSpec, DynamicSpec, Kind, Restart, SupervisorSpec

DEVICE: Kind[int, Any] = Kind("device")
WRITER: Kind[None, Any] = Kind("writer")


def test_the_back_off_doubles_up_to_its_limit() -> None:
    back_off = BackOff(jitter=0.0)
    assert [back_off.delay(attempt) for attempt in range(1, 11)] == [
        0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0,
    ]  # fmt: skip
    assert back_off.delay(10_000) == 30.0


@given(attempt=st.integers(1, 200), jitter=st.floats(0, 1), chance=st.floats(0, 1, exclude_max=True))
def test_jitter_only_shortens_and_by_no_more_than_its_share(
    attempt: int, jitter: float, chance: float
) -> None:
    longest = BackOff(jitter=0.0).delay(attempt)
    delay = BackOff(jitter=jitter, random=lambda: chance).delay(attempt)
    assert longest * (1 - jitter) <= delay <= longest


def test_the_default_jitter_differs_from_call_to_call() -> None:
    back_off = BackOff()
    assert len({back_off.delay(1) for _ in range(20)}) > 1


def test_children_are_permanent_and_those_on_demand_transient_by_default() -> None:
    assert ChildSpec(kind=WRITER, factory=Probe).restart is Restart.PERMANENT
    assert DynamicSpec(kind=DEVICE, name="devices").restart is Restart.TRANSIENT


def test_impossible_numbers_and_names_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one message, not 0"):
        ChildSpec(kind=WRITER, factory=Probe, mailbox_size=0)
    with pytest.raises(ValueError, match="at least one message, not -1"):
        DynamicSpec(kind=DEVICE, name="devices", mailbox_size=-1)
    with pytest.raises(ValueError, match="idle_seconds must be positive, not 0"):
        DynamicSpec(kind=DEVICE, name="devices", idle_seconds=0)
    with pytest.raises(ValueError, match="tick_seconds must be positive, not 0"):
        DynamicSpec(kind=DEVICE, name="devices", tick="tick")
    with pytest.raises(ValueError, match="without a slash, not 'a/b'"):
        DynamicSpec(kind=DEVICE, name="a/b")
    with pytest.raises(ValueError, match="without a slash, not ''"):
        SupervisorSpec(name="", children=())
