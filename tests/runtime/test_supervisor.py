from typing import Any

import pytest
import trio
import trio.testing
from tests.runtime.actor_testing import (
    STEADY,
    Broken,
    FailsInInit,
    FailsInStart,
    FailsInStop,
    Probe,
    Staged,
    open_tree,
)
from trio.testing import MockClock

from motorpool.runtime import (
    Actor,
    ActorFailed,
    ActorStopped,
    ChildSpec,
    DynamicSpec,
    Kind,
    Request,
    Restart,
    RestartIntensityExceeded,
    Strategy,
    SupervisorSpec,
    System,
)

KINDS: list[Kind[None, Any]] = [Kind(name) for name in "abcd"]
A, B, C, D = KINDS
DEVICE: Kind[int, Any] = Kind("device")


class Echo(Request[Any]):
    """Answered by a Staged with itself."""


def staged(kind: Kind[None, Any], stations: list[str], **more: Any) -> ChildSpec[Any]:
    return ChildSpec(kind=kind, factory=lambda: Staged(kind.name, stations), **more)


async def test_children_start_in_order_and_stop_in_reverse() -> None:
    stations: list[str] = []
    inner = SupervisorSpec(name="inner", children=(staged(B, stations), staged(C, stations)))
    async with open_tree(staged(A, stations), inner, staged(D, stations)):
        assert stations == ["a starts", "b starts", "c starts", "d starts"]
        stations.clear()
    assert stations == ["d stops", "c stops", "b stops", "a stops"]


async def test_paths_name_the_place_in_the_tree() -> None:
    devices = DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Probe())
    inner = SupervisorSpec(name="services", children=(staged(A, []), devices))
    async with open_tree(staged(B, []), inner) as system:
        assert system.ref(A).path == "services/a"
        assert system.ref(B).path == "b"
        assert system.ref(DEVICE, 7).path == "services/devices/7"


@pytest.mark.parametrize(("factory", "text"), [(FailsInInit, "in __init__"), (FailsInStart, "in start")])
async def test_a_child_that_fails_at_the_start_ends_those_before_it_and_is_raised(
    factory: Any, text: str
) -> None:
    stations: list[str] = []
    with pytest.raises(ActorFailed, match="b failed") as caught:
        async with open_tree(staged(A, stations), ChildSpec(kind=B, factory=factory), staged(C, stations)):
            pytest.fail("the body must not run")
    assert str(caught.value.__cause__) == text
    assert stations == ["a starts", "a stops"]


async def test_one_for_one_restarts_the_failed_child_alone(autojump_clock: MockClock) -> None:
    stations: list[str] = []
    async with open_tree(*(staged(kind, stations) for kind in (A, B, C))) as system:
        stations.clear()
        await system.ref(B).tell(Broken("b"))
        await system.ref(B).tell("kept")
        await trio.sleep(1)
        assert stations == ["b starts", "b gets kept"]


async def test_rest_for_one_restarts_those_that_lean_on_it_in_order_and_keeps_their_mailboxes(
    autojump_clock: MockClock,
) -> None:
    stations: list[str] = []
    children = [staged(kind, stations) for kind in KINDS]
    async with open_tree(*children, strategy=Strategy.REST_FOR_ONE) as system:
        stations.clear()
        await system.ref(B).tell(Broken("b"))
        await trio.testing.wait_all_tasks_blocked()
        assert stations == ["d stops", "c stops"]
        await system.ref(D).tell("waits")
        await system.ref(B).tell("waits too")
        await trio.sleep(1)
        restarted = [each for each in stations[2:] if each.endswith("starts")]
        assert restarted == ["b starts", "c starts", "d starts"]
        assert sorted(each for each in stations[2:] if " gets " in each) == [
            "b gets waits too",
            "d gets waits",
        ]
        assert system.snapshot()[0].restarts == 1


async def test_rest_for_one_takes_an_inner_supervisor_and_children_on_demand_with_it(
    autojump_clock: MockClock,
) -> None:
    stations: list[str] = []
    devices = DynamicSpec(kind=DEVICE, name="devices", factory=lambda key: Staged(f"device {key}", stations))
    inner = SupervisorSpec(name="inner", children=(staged(B, stations),))
    async with open_tree(staged(A, stations), devices, inner, strategy=Strategy.REST_FOR_ONE) as system:
        await system.ref(DEVICE, 1).tell("hello")
        await trio.testing.wait_all_tasks_blocked()
        stations.clear()
        await system.ref(A).tell(Broken("a"))
        await trio.testing.wait_all_tasks_blocked()
        assert stations == ["b stops", "device 1 stops"]
        await system.ref(DEVICE, 2).tell("waits for its group")
        await system.ref(B).tell("waits for its supervisor")
        await trio.testing.wait_all_tasks_blocked()
        assert len(stations) == 2
        await trio.sleep(1)
        assert stations[2] == "a starts"
        assert set(stations[3:]) == {
            "device 2 starts",
            "device 2 gets waits for its group",
            "b starts",
            "b gets waits for its supervisor",
        }


async def test_two_that_fail_together_are_restarted_in_one_go_if_one_leans_on_the_other(
    autojump_clock: MockClock,
) -> None:
    stations: list[str] = []
    children = [staged(kind, stations) for kind in KINDS]
    async with open_tree(*children, strategy=Strategy.REST_FOR_ONE) as system:
        stations.clear()
        await system.ref(A).tell(Broken("a"))
        await system.ref(C).tell(Broken("c"))
        await trio.sleep(2)
        assert stations == ["d stops", "b stops", "a starts", "b starts", "c starts", "d starts"]
        assert system.snapshot()[0].restarts == 1


async def test_waits_grow_with_each_restart_and_the_last_straw_ends_the_system(
    autojump_clock: MockClock,
) -> None:
    times: list[float] = []

    class Hopeless(Actor[Any]):
        async def run(self) -> None:
            times.append(trio.current_time())
            raise Broken("as always")

    with pytest.raises(RestartIntensityExceeded, match="more than 3 restarts within 60 s") as caught:
        async with open_tree(ChildSpec(kind=A, factory=Hopeless), intensity=3):
            await trio.sleep_forever()
    assert [round(time - times[0], 3) for time in times] == [0, 0.1, 0.3, 0.7]
    assert (caught.value.path, caught.value.intensity, caught.value.period_seconds) == ("test", 3, 60)
    assert isinstance(caught.value.__cause__, Broken)


async def test_restarts_outside_the_period_do_not_add_up(autojump_clock: MockClock) -> None:
    async with open_tree(staged(A, []), intensity=1) as system:
        for _ in range(5):
            await system.ref(A).tell(Broken("now and then"))
            await trio.sleep(61)
        assert system.snapshot()[0].children[0].restarts == 5


async def test_without_an_intensity_a_supervisor_never_gives_up(autojump_clock: MockClock) -> None:
    stations: list[str] = []
    inner = SupervisorSpec(name="inner", children=(staged(B, stations),), intensity=None)
    async with open_tree(staged(A, stations), inner, intensity=0) as system:
        stations.clear()
        for _ in range(50):
            await system.ref(B).tell(Broken("again"))
            await trio.sleep(1)
        # The pauses grow to 30 s at most, so there are few, but no end of them.
        await trio.sleep(300)
        assert set(stations) == {"b starts"}
        assert len(stations) > 6
        assert system.snapshot()[0].restarts == 0


async def test_a_supervisor_that_gives_up_is_restarted_as_a_whole_by_its_own(
    autojump_clock: MockClock,
) -> None:
    stations: list[str] = []
    inner = SupervisorSpec(
        name="inner", children=(staged(A, stations), staged(B, stations)), intensity=0, back_off=STEADY
    )
    async with open_tree(inner, staged(C, stations)) as system:
        stations.clear()
        await system.ref(B).tell(Broken("too much"))
        await system.ref(B).tell("kept")
        await trio.testing.wait_all_tasks_blocked()
        assert stations == ["a stops"]
        await trio.sleep(1)
        assert stations == ["a stops", "a starts", "b starts", "b gets kept"]
        state = system.snapshot()[0]
        assert state.restarts == 1
        assert state.children[0].last_error == "inner needed more than 0 restarts within 60 s"


async def test_escalation_past_the_root_stops_all_in_order_and_cancels_the_body(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    stations: list[str] = []
    inner = SupervisorSpec(name="inner", children=(staged(B, stations),), intensity=0)

    async def serve() -> None:
        async with open_tree(staged(A, stations), inner, staged(C, stations), intensity=0) as system:
            stations.clear()
            await system.ref(B).tell(Broken("fatal"))
            try:
                await trio.sleep_forever()
            finally:
                stations.append("the body ends")

    with pytest.raises(RestartIntensityExceeded, match="test needed more than 0"):
        await serve()
    assert stations == ["c stops", "a stops", "the body ends"]
    assert caplog.text.count("b crashed") == 1


async def test_a_restart_that_fails_counts_and_is_tried_again(autojump_clock: MockClock) -> None:
    attempts: list[float] = []

    def build() -> Actor[Any]:
        attempts.append(trio.current_time())
        return FailsInStart() if 1 < len(attempts) < 4 else Probe()

    async with open_tree(ChildSpec(kind=A, factory=build)) as system:
        await system.ref(A).tell(Broken("once"))
        await trio.sleep(2)
        assert [round(time - attempts[0], 3) for time in attempts] == [0, 0.1, 0.3, 0.7]
        assert system.ref(A).alive


@pytest.mark.parametrize(
    ("restart", "crashed", "left"),
    [(Restart.PERMANENT, True, True), (Restart.TRANSIENT, True, False), (Restart.TEMPORARY, False, False)],
)
async def test_restart_types_decide_which_actors_are_restarted(
    restart: Restart, crashed: bool, left: bool, autojump_clock: MockClock
) -> None:
    class Leaving(Probe[Any]):
        def handle(self, message: Any) -> None:
            super().handle(message)
            self.context.leave()

    for message, back in ((Broken("x"), crashed), ("leave", left)):
        async with open_tree(ChildSpec(kind=A, factory=Leaving, restart=restart)) as system:
            await system.ref(A).tell(message)
            await trio.sleep(1)
            assert system.ref(A).alive is back
            assert system.snapshot()[0].children[0].state == ("running" if back else "stopped")
            if not back:
                with pytest.raises(ActorStopped):
                    await system.ref(A).tell("too late")


async def test_an_actor_that_was_asked_to_stop_is_not_restarted(autojump_clock: MockClock) -> None:
    async with open_tree(staged(A, [])) as system:
        await system.ref(A).stop()
        await trio.sleep(100)
        assert not system.ref(A).alive


async def test_a_failure_in_stop_is_logged_and_the_others_stop_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stations: list[str] = []
    async with open_tree(staged(A, stations), ChildSpec(kind=B, factory=FailsInStop)):
        pass
    assert stations == ["a starts", "a stops"]
    assert "b crashed: Broken: in stop" in caplog.text


class Stubborn(Actor[Any]):
    """Does not end by itself."""

    async def stop(self) -> None:
        await trio.sleep_forever()


async def test_each_child_has_its_own_time_to_stop(autojump_clock: MockClock) -> None:
    stations: list[str] = []
    async with open_tree(
        staged(A, stations),
        ChildSpec(kind=B, factory=Stubborn, shutdown_seconds=3),
        ChildSpec(kind=C, factory=Stubborn, shutdown_seconds=4),
    ):
        begin = trio.current_time()
    assert trio.current_time() - begin == 7
    assert stations == ["a starts", "a stops"]


async def test_a_supervisors_time_bounds_all_its_children_together(autojump_clock: MockClock) -> None:
    async with open_tree(
        ChildSpec(kind=A, factory=Stubborn),
        ChildSpec(kind=B, factory=Stubborn),
        DynamicSpec(kind=DEVICE, name="devices", factory=lambda _: Stubborn()),
        SupervisorSpec(name="inner", children=(ChildSpec(kind=C, factory=Stubborn),)),
        shutdown_seconds=2,
    ):
        begin = trio.current_time()
    assert trio.current_time() - begin == 2


async def test_stopping_does_not_wait_for_a_restart_that_is_still_to_come(autojump_clock: MockClock) -> None:
    async with open_tree(staged(A, []), staged(B, []), strategy=Strategy.REST_FOR_ONE) as system:
        await system.ref(A).tell(Broken("just before the end"))
        await system.ref(A).tell("never handled")
        await trio.testing.wait_all_tasks_blocked()
        begin = trio.current_time()
    assert trio.current_time() - begin < 0.1
    assert system.dead_letters == 1


async def test_a_start_in_progress_is_not_waited_for_at_the_end(autojump_clock: MockClock) -> None:
    class Loading(Probe[Any]):
        attempts = 0

        async def start(self) -> None:
            Loading.attempts += 1
            if Loading.attempts > 1:
                await trio.sleep(25)

    async with open_tree(ChildSpec(kind=A, factory=Loading)) as system:
        await system.ref(A).tell(Broken("x"))
        await trio.sleep(1)
        begin = trio.current_time()
    assert trio.current_time() - begin < 0.1


async def test_two_children_of_one_kind_or_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two children are of kind a"):
        async with open_tree(staged(A, []), staged(A, [])):
            pass
    twin: Kind[None, Any] = Kind("a")
    with pytest.raises(ValueError, match="two children of test have the same name"):
        async with open_tree(staged(A, []), staged(twin, [])):
            pass


async def test_the_repr_of_a_system_counts_its_actors() -> None:
    async with open_tree(staged(A, []), staged(B, [])) as system:
        assert isinstance(system, System)
        assert repr(system) == "<System test: 2 actors>"
