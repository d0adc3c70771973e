"""Links between nodes of one process, over each pipe."""

import os
import signal
from _asyncio import _get_running_loop, _set_running_loop
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from tests.cluster.fake_pipe import FakeNetwork

from motorpool.bench.nats_server import NatsServer, run_nats
from motorpool.runtime.nats_pipe import NatsAddress, open_nats
from motorpool.storage.database.driver import open_loop


class FakeWorld:
    """The pipes of a test, and what may befall them."""

    def __init__(self, nursery):
        self.network = FakeNetwork(nursery)

    @asynccontextmanager
    async def pipe(self):
        yield self.network.pipe()

    async def cut(self, pipe):
        """Let one node lose its connection."""
        pipe.cut()

    async def mend(self, pipe):
        pipe.mend()

    @asynccontextmanager
    async def frozen(self, pipe):
        """Let what is sent to the node wait until the end of the body."""
        pipe.is_frozen = True
        try:
            yield
        finally:
            pipe.thaw()


class NatsWorld:
    """As FakeWorld, with a server: all nodes are cut off together."""

    def __init__(self, server: NatsServer):
        self.server = server

    @asynccontextmanager
    async def pipe(self):
        async with open_nats(NatsAddress((self.server.url,))) as pipe:
            await until(lambda: pipe.is_connected)
            yield pipe

    async def cut(self, pipe):
        await trio.to_thread.run_sync(self.server.kill)
        await until(lambda: not pipe.is_connected)

    async def mend(self, pipe):
        await trio.to_thread.run_sync(self.server.start)
        await until(lambda: pipe.is_connected)

    @asynccontextmanager
    async def frozen(self, pipe):
        del pipe
        os.kill(self.server.pid, signal.SIGSTOP)
        threads = Path(f"/proc/{self.server.pid}/task")
        # One after the other stops.
        await until(lambda: all(") T" in (each / "stat").read_text() for each in threads.iterdir()))
        try:
            yield
        finally:
            os.kill(self.server.pid, signal.SIGCONT)


async def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    with trio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - of other tasks and programs
            await trio.sleep(0.005)


@pytest.fixture(autouse=True)
def loop_of_nobody() -> Iterator[None]:
    """The client of NATS takes the loop that runs, and Playwright leaves its own after browser tests."""
    of_playwright = _get_running_loop()
    _set_running_loop(None)
    yield
    _set_running_loop(of_playwright)


@pytest.fixture
def nats_server() -> Iterator[NatsServer]:
    with run_nats() as server:
        yield server


@pytest.fixture(params=["fake", "nats"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[FakeWorld | NatsWorld]:
    if request.param == "fake":
        async with trio.open_nursery() as nursery:
            yield FakeWorld(nursery)
            nursery.cancel_scope.cancel()
    else:
        server = request.getfixturevalue("nats_server")
        async with open_loop():
            yield NatsWorld(server)
