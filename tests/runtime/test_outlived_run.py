"""Actors that go on without a task after `run`, and the last call to each object."""

import trio
import trio.testing
from tests.runtime.actor_testing import Broken, open_tree

from motorpool.runtime import Actor, ActorFailed, ChildSpec, DynamicSpec, Kind, Restart

WORKER: Kind[int, str] = Kind("worker")
SINGLE: Kind[None, str] = Kind("single")


class Worker(Actor[str]):
    """Works in `run` on what queued, and rests without a task."""

    def __init__(self, journal: list[str]) -> None:
        self.journal = journal
        self.queue: list[str] = []

    @property
    def outlives_run(self) -> bool:
        return True

    def handle(self, message: str) -> str:
        match message:
            case "leave":
                self.context.leave()
            case "break":
                raise Broken("in handle")
            case _:
                self.queue.append(message)
                self.context.begin_run()
        return message

    async def run(self) -> None:
        self.journal.append("begin")
        while self.queue:
            work = self.queue.pop(0)
            if work == "break run":
                raise Broken("in run")
            if work == "sleep":
                await trio.sleep_forever()
            await trio.lowlevel.checkpoint()
            self.journal.append(work)
        self.journal.append("end")

    def release(self) -> None:
        self.journal.append("release")


def workers(journal: list[str]) -> DynamicSpec[int, str]:
    return DynamicSpec(
        kind=WORKER, name="workers", factory=lambda _: Worker(journal), restart=Restart.TEMPORARY
    )


async def test_run_begins_again_on_request_and_never_twice_at_once() -> None:
    journal: list[str] = []
    async with open_tree(workers(journal)) as system:
        ref = system.ref(WORKER, 1)
        await ref.ask("one")
        await trio.testing.wait_all_tasks_blocked()
        assert journal == ["begin", "one", "end"]
        tasks = trio.lowlevel.current_statistics().tasks_living
        for word in ("two", "three", "four"):
            await ref.ask(word)
        await trio.testing.wait_all_tasks_blocked()
        assert journal[3:] == ["begin", "two", "three", "four", "end"]
        # It rests without a task.
        assert trio.lowlevel.current_statistics().tasks_living == tasks
        assert ref.alive
    assert journal[8:] == ["release"]


async def test_it_leaves_by_itself_and_a_begun_run_is_cancelled_by_the_stop() -> None:
    journal: list[str] = []
    async with open_tree(workers(journal)) as system:
        await system.ref(WORKER, 1).ask("leave")
        assert not system.ref(WORKER, 1).alive
        await system.ref(WORKER, 2).ask("sleep")
        await trio.testing.wait_all_tasks_blocked()
    assert journal.count("release") == 2
    assert journal.count("end") == journal.count("begin") - 1


async def test_each_object_is_released_once_also_after_a_crash() -> None:
    journal: list[str] = []
    async with open_tree(workers(journal)) as system:
        for key, word in enumerate(("break", "break run"), 1):
            ref = system.ref(WORKER, key)
            try:
                await ref.ask(word)
            except ActorFailed:
                assert word == "break"
            await trio.testing.wait_all_tasks_blocked()
            assert not ref.alive
            assert journal.count("release") == key
    assert journal.count("release") == 2


async def test_an_actor_is_released_before_the_next_is_built_although_it_breaks_there() -> None:
    journal: list[str] = []
    built_again = trio.Event()

    class Holder(Actor[str]):
        def __init__(self) -> None:
            journal.append("build")
            if journal.count("build") == 2:
                built_again.set()

        def handle(self, message: str) -> None:
            raise Broken(message)

        def release(self) -> None:
            journal.append("release")
            raise Broken("in release")

    async with open_tree(ChildSpec(kind=SINGLE, factory=Holder)) as system:
        await system.ref(SINGLE).tell("now")
        with trio.fail_after(120):
            await built_again.wait()
    assert journal == ["build", "release", "build", "release"]
