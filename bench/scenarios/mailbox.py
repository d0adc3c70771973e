"""CPU of a message between actors, and memory of an idle actor."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Awaitable, Callable

import trio

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import Options, Step
from motorpool.bench.scenarios import pykka_actors
from motorpool.runtime import Actor, DynamicSpec, Kind, Ref, Request, SupervisorSpec, open_system

NAME = "mailbox"
TITLE = "tell, ask and idle memory of actors, beside Trio channels and Pykka"
SERVER = "none"
STEPS = 4
BURST = 100
RUNS = 5
"""Repetitions, of which the median counts."""


class Note:
    """A message without an answer."""

    __slots__ = ()


class Question(Request[int]):
    """A request for a number."""

    __slots__ = ()


Message = Note | Question
NOTE, QUESTION = Note(), Question()
ON_DEMAND: Kind[int, Message] = Kind("bench_on_demand")


class Counter(Actor[Message]):
    """A minimal actor."""

    __slots__ = ("handled",)

    def __init__(self) -> None:
        self.handled = 0

    def handle(self, message: Message) -> object:
        """Count it."""
        self.handled += 1
        return self.handled


TREE = SupervisorSpec(
    name="bench",
    children=(DynamicSpec(kind=ON_DEMAND, factory=lambda _: Counter(), name="demand", idle_seconds=None),),
)


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure idle memory and bursts of tells and asks; then the same with channels and Pykka."""
    seconds = options.span(1.0)
    step(f"{options.actors} idle actors")
    summary.add(
        NAME, "idle on-demand actor", trio.run(_idle_bytes, options.actors), "bytes", goals=(Goal(1024),)
    )
    step("tell")
    summary.add(
        NAME,
        f"tell on demand, bursts of {BURST}",
        trio.run(_tell_us, seconds),
        "µs",
        goals=(Goal(1.0),),
    )
    step("ask")
    channel = trio.run(_channel_us, seconds)
    summary.add(NAME, "one-shot channel", channel, "µs")
    summary.add(
        NAME,
        "ask on demand",
        trio.run(_ask_us, seconds),
        "µs",
        reference="one-shot channel",
        beside=channel,
        goals=(Goal(1.2, of_ratio=True),),
    )
    step("Pykka")
    pykka_actors.run(summary, NAME, seconds, BURST)


async def _median_us(round_of: Callable[[], Awaitable[int]], seconds: float) -> float:
    """Repeat a round, which returns the messages it passed; return the median time for one message."""
    costs = []
    for _ in range(RUNS):
        passed, begin = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begin) < seconds / RUNS or not passed:
            passed += await round_of()
        costs.append(elapsed / passed * 1e6)
    return statistics.median(costs)


async def _tell_us(seconds: float) -> float:
    async with open_system(TREE) as system:
        ref: Ref[Message] = system.ref(ON_DEMAND, 1)
        expected = await ref.ask(QUESTION)

        async def burst() -> int:
            nonlocal expected
            for _ in range(BURST):
                await ref.tell(NOTE)
            await trio.lowlevel.checkpoint()
            expected += BURST
            return BURST

        cost = await _median_us(burst, seconds)
        handled = await ref.ask(QUESTION)
        if handled != expected + 1:
            raise AssertionError(f"{handled} messages were handled, {expected + 1} sent")
        return cost


async def _ask_us(seconds: float) -> float:
    async with open_system(TREE) as system:
        ref: Ref[Message] = system.ref(ON_DEMAND, 1)

        async def ask() -> int:
            await ref.ask(QUESTION)
            return 1

        return await _median_us(ask, seconds)


async def _channel_us(seconds: float) -> float:
    """The reference for an ask: a task reads requests from a channel, each with a channel for its answer."""
    requests, inbox = trio.open_memory_channel[trio.MemorySendChannel[int]](BURST)

    async def answer() -> None:
        async for reply in inbox:
            reply.send_nowait(1)

    async def ask() -> int:
        reply, answered = trio.open_memory_channel[int](1)
        requests.send_nowait(reply)
        await answered.receive()
        return 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        cost = await _median_us(ask, seconds)
        nursery.cancel_scope.cancel()
    return cost


async def _idle_bytes(count: int) -> float:
    async with open_system(TREE) as system:
        system.ref(ON_DEMAND, -1).tell_nowait(NOTE)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for key in range(count):
            system.ref(ON_DEMAND, key).tell_nowait(NOTE)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        # The keys are part of the cost of an actor.
        tracemalloc.stop()
        if system.count(ON_DEMAND) != count + 1:
            raise AssertionError(f"{system.count(ON_DEMAND)} actors live, {count + 1} were called")
        return (after - before) / count
