from dataclasses import dataclass
from typing import Any

import pytest
import trio
from tests.runtime.actor_testing import (
    Broken,
    FailsInHandle,
    FailsInRun,
    FailsInStop,
    Probe,
    Staged,
    run_actor,
)
from trio.testing import MockClock

from motorpool.runtime import ActorFailed, ChildSpec, Kind, Request

HELPER: Kind[None, Any] = Kind("other")


@dataclass(frozen=True, slots=True)
class GetName(Request[str]):
    """Prepared."""


@dataclass(frozen=True, slots=True)
class GetAge(Request[int]):
    """Not prepared."""


async def test_a_probe_records_answers_and_can_be_waited_for() -> None:
    async with run_actor(lambda: Probe[Any]({GetName: "van 7"})) as running:
        assert isinstance(running.actor, Probe)
        await running.ref.tell("hello")
        assert await running.ref.ask(GetName()) == "van 7"
        assert await running.actor.receive() == "hello"
        assert await running.actor.receive() == GetName()
        assert running.actor.messages == ["hello", GetName()]


async def test_a_request_for_which_nothing_is_prepared_fails(autojump_clock: MockClock) -> None:
    async with run_actor(Probe[Any]) as running:
        with pytest.raises(ActorFailed) as caught:
            await running.ref.ask(GetAge())
        assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(("factory", "text"), [(FailsInHandle, "in handle, on x"), (FailsInRun, "in run")])
async def test_failing_actors_fail_where_they_say(factory: Any, text: str, autojump_clock: MockClock) -> None:
    async with run_actor(factory, intensity=1) as running:
        await running.ref.tell("x")
        await trio.sleep(1)
        assert running.system.snapshot()[0].children[0].last_error == f"Broken: {text}"
        assert len(running.built) == 2


async def test_the_actor_under_test_may_lean_on_others() -> None:
    stations: list[str] = []
    other = ChildSpec(kind=HELPER, factory=lambda: Staged("other", stations))
    async with run_actor(lambda: Staged("tested", stations), other):
        assert stations == ["other starts", "tested starts"]


async def test_an_actor_that_fails_in_stop_answers_until_then() -> None:
    async with run_actor(FailsInStop) as running:
        assert await running.ref.ask(GetName()) == GetName()
        await running.ref.stop()
        assert running.system.snapshot()[0].children[0].last_error == "Broken: in stop"
    assert issubclass(Broken, Exception)
