"""Actors without a mailbox: tasks that are supervised as others are."""

from collections.abc import Callable
from typing import Never

import pytest
import trio
from prometheus_client import CollectorRegistry
from tests.runtime.actor_testing import Broken, open_tree
from trio.testing import MockClock, wait_all_tasks_blocked

from motorpool.runtime import Actor, Kind, SupervisorSpec, TaskSpec, UnknownKind, open_system
from motorpool.runtime.metrics import SystemCollector


class Task(Actor[Never]):
    """Notes its life; `work` is what it does."""

    def __init__(self, life: list[str], name: str, work: Callable[[], object]) -> None:
        self._life, self._name, self._work = life, name, work

    async def start(self) -> None:
        self._life.append(f"{self._name} starts")

    async def run(self) -> None:
        self._life.append(f"{self._name} runs")
        self._work()
        await trio.sleep_forever()

    async def stop(self) -> None:
        self._life.append(f"{self._name} stops")


def spec(name: str, life: list[str], work: Callable[[], object] = lambda: None) -> TaskSpec:
    return TaskSpec(name=name, factory=lambda: Task(life, name, work))


async def test_tasks_start_in_order_and_stop_in_reverse() -> None:
    life: list[str] = []
    async with open_tree(spec("first", life), spec("second", life)):
        await wait_all_tasks_blocked()
        assert sorted(life) == ["first runs", "first starts", "second runs", "second starts"]
        assert life.index("first starts") < life.index("second starts")
        life.clear()
    assert life == ["second stops", "first stops"]


async def test_a_crash_restarts_it_alone(autojump_clock: MockClock) -> None:
    life: list[str] = []
    failures = [Broken("once")]

    def fail_once() -> None:
        if failures:
            raise failures.pop()

    async with open_tree(spec("weak", life, fail_once), spec("other", life)) as system:
        await trio.sleep(60)
        weak, other = system.snapshot()[0].children
        assert (weak.restarts, weak.last_error, weak.alive) == (1, "Broken: once", 1)
        assert (other.restarts, other.alive) == (0, 1)
    assert life.count("weak runs") == 2
    assert life.count("other runs") == 1


async def test_the_snapshot_and_the_metrics_show_it_by_its_name() -> None:
    async with open_system(SupervisorSpec(name="tree", children=(spec("pump", []),))) as system:
        (pump,) = system.snapshot()[0].children
        assert (pump.path, pump.kind, pump.state, pump.size) == ("pump", "pump", "running", 0)
        registry = CollectorRegistry()
        registry.register(SystemCollector(system))
        assert registry.get_sample_value("actors_alive", {"kind": "pump"}) == 1


async def test_nobody_can_address_it() -> None:
    async with open_tree(spec("pump", [])) as system:
        named: Kind[None, str] = Kind("pump")
        with pytest.raises(UnknownKind):
            system.ref(named)


@pytest.mark.parametrize("name", ["", "a/b"])
def test_it_needs_a_name_without_a_slash(name: str) -> None:
    with pytest.raises(ValueError, match="a kind needs a name without a slash"):
        spec(name, [])


async def test_two_children_of_a_supervisor_have_different_names() -> None:
    with pytest.raises(ValueError, match="two children of tree have the same name"):
        async with open_system(SupervisorSpec(name="tree", children=(spec("pump", []), spec("pump", [])))):
            pytest.fail("it was opened")
