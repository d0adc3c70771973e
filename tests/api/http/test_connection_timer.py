"""The deadlines of a connection, on a clock that moves by itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from hypercorn.trio.worker_context import EventWrapper
from trio.testing import MockClock

from motorpool.api.http import connection_timer
from motorpool.api.http.connection_timer import ConnectionTimer

KEEP_ALIVE, HEAD, READ = 75.0, 20.0, 300.0


class Connection:
    """When it was closed, and what runs its timer."""

    def __init__(self) -> None:
        self.terminated = EventWrapper()
        self.closed_at: float | None = None
        self.timer = ConnectionTimer(
            close=self._close,
            terminated=self.terminated,
            keep_alive_seconds=KEEP_ALIVE,
            head_seconds=HEAD,
            read_seconds=READ,
        )

    async def _close(self) -> None:
        self.closed_at = trio.current_time()
        self.timer.end()


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_timer, "_JITTER", 0.0)


@asynccontextmanager
async def opened() -> AsyncIterator[Connection]:
    connection = Connection()
    connection.timer.begin_idle()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection.timer.run)
        yield connection
        connection.timer.end()


async def test_it_is_closed_when_no_request_comes(autojump_clock: MockClock) -> None:
    async with opened() as connection:
        await trio.sleep(KEEP_ALIVE - 1)
        assert connection.closed_at is None
        await trio.sleep(2)
        assert connection.closed_at == KEEP_ALIVE


async def test_each_request_begins_the_time_anew(autojump_clock: MockClock) -> None:
    async with opened() as connection:
        for _ in range(10):
            await trio.sleep(KEEP_ALIVE - 1)
            connection.timer.end_idle()
            await trio.sleep(200)
            connection.timer.begin_idle()
        ended = trio.current_time()
        await trio.sleep(KEEP_ALIVE - 1)
        assert connection.closed_at is None
        await trio.sleep(2)
        assert connection.closed_at == ended + KEEP_ALIVE


async def test_a_head_has_its_own_time_which_later_bytes_do_not_move(autojump_clock: MockClock) -> None:
    async with opened() as connection:
        await trio.sleep(10)
        for _ in range(30):
            connection.timer.note_bytes()
            await trio.sleep(1)
        assert connection.closed_at == 10 + HEAD


async def test_a_head_that_comes_late_has_no_more_time_than_an_idle_connection(
    autojump_clock: MockClock,
) -> None:
    async with opened() as connection:
        await trio.sleep(KEEP_ALIVE - 5)
        connection.timer.note_bytes()
        await trio.sleep(10)
        assert connection.closed_at == KEEP_ALIVE


async def test_bytes_of_a_request_in_progress_begin_no_head(autojump_clock: MockClock) -> None:
    async with opened() as connection:
        connection.timer.end_idle()
        connection.timer.note_bytes()
        await trio.sleep(10 * KEEP_ALIVE)
        assert connection.closed_at is None


@pytest.mark.parametrize("pauses", [0, 5])
async def test_who_waits_too_long_for_bytes_is_cancelled(autojump_clock: MockClock, pauses: int) -> None:
    async with opened() as connection:
        connection.timer.end_idle()
        with trio.CancelScope() as scope:
            for _ in range(pauses):
                connection.timer.begin_read(scope)
                await trio.sleep(READ - 1)
                connection.timer.end_read()
                await trio.sleep(2 * READ)  # while it handles what came
            connection.timer.begin_read(scope)
            began = trio.current_time()
            await trio.sleep_forever()
        assert scope.cancelled_caught
        assert trio.current_time() == began + READ


@pytest.mark.parametrize("seconds", [0.0, 10.0])
async def test_the_stop_of_the_server_closes_it_once_it_is_idle(
    autojump_clock: MockClock, seconds: float
) -> None:
    async with opened() as connection:
        connection.timer.end_idle()
        await trio.sleep(seconds)
        await connection.terminated.set()
        await trio.sleep(100)
        assert connection.closed_at is None
        connection.timer.begin_idle()
        await trio.sleep(1)
        assert connection.closed_at == seconds + 100


async def test_an_idle_one_is_closed_with_the_stop(autojump_clock: MockClock) -> None:
    async with opened() as connection:
        await trio.sleep(5)
        await connection.terminated.set()
        await trio.sleep(1)
        assert connection.closed_at == 5


async def test_it_ends_with_the_connection(autojump_clock: MockClock) -> None:
    async with opened() as connection:
        connection.timer.end()
    assert connection.closed_at is None
    assert trio.current_time() == 0
