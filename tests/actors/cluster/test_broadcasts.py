import logging
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import trio

from motorpool.actors.cluster import broadcasts
from motorpool.actors.cluster.broadcasts import NotifyBroadcasts
from motorpool.runtime import ActorStopped
from motorpool.storage.cluster import broadcast
from motorpool.storage.cluster.broadcast import open_broadcast
from motorpool.storage.database.database import open_database
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.settings import DatabaseSettings

LOG = logging.LoggerAdapter(logging.getLogger(__name__), {})


class Broken(Exception):
    """Anything that nobody expects."""


async def test_a_lost_channel_is_opened_again_and_any_other_error_ends_the_loop(
    database, monkeypatch, caplog
):
    monkeypatch.setattr(broadcasts, "RETRY_SECONDS", 0.01)
    served = []

    async def serve(channel):
        served.append(channel)
        async with open_broadcast(database, "test") as other:
            await other.send([f"text {len(served)}"])
        assert await channel.receive() == f"text {len(served)}"
        match len(served):
            case 1:
                raise StorageUnavailable("the connection is lost")
            case 2:
                async with trio.open_nursery():
                    raise ActorStopped("directory")
            case _:
                raise Broken

    with trio.fail_after(120), pytest.RaisesGroup(Broken, allow_unwrapped=True):
        await NotifyBroadcasts(database, "test").serve(serve, LOG)
    assert len(set(served)) == 3
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [
        "no connection to other servers, trying again"
    ] * 2


class Firewall:
    """Stands between a database and its clients; connections that it drops stay open, and silent."""

    def __init__(self, url, folder):
        parts = urlsplit(url)
        self._server = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._address = str(folder / ".s.PGSQL.5432")
        self.url = f"postgresql://motorpool@{parts.path}?host={quote(str(folder), safe='')}"
        self._passing, self._dropped = set(), set()

    def drop(self):
        # What has arrived by now, and is to be passed on next, is lost as well.
        for passing in self._passing:
            passing.cancel()
        self._dropped |= self._passing

    async def run(self, task_status):
        with trio.socket.socket(trio.socket.AF_UNIX) as listener:
            await listener.bind(self._address)
            listener.listen()
            async with trio.open_nursery() as nursery:
                await nursery.start(self._accept, listener, nursery)
                task_status.started()

    async def _accept(self, listener, nursery, task_status):
        task_status.started()
        while True:
            client, _ = await listener.accept()
            nursery.start_soon(self._forward, trio.SocketStream(client))

    async def _forward(self, client):
        async with client, await trio.open_unix_socket(self._server) as server:
            with trio.CancelScope() as passing:
                self._passing.add(passing)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._pass_on, client, server, passing)
                    nursery.start_soon(self._pass_on, server, client, passing)
            self._passing.remove(passing)
            if passing in self._dropped:
                await trio.sleep_forever()

    async def _pass_on(self, source, sink, passing):
        with suppress(trio.BrokenResourceError):
            async for data in source:
                await sink.send_all(data)
        passing.cancel()


async def test_a_connection_that_a_firewall_drops_without_a_word_is_found_out(
    database, database_url, tmp_path, monkeypatch, nursery
):
    for name in ("CHECK_SECONDS", "ANSWER_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(broadcasts, name, 0.2)
    firewall = Firewall(database_url, tmp_path)
    await nursery.start(firewall.run)
    opened, received = [], []

    async def serve(channel):
        opened.append(channel)
        while True:
            received.append(await channel.receive())

    async def until_received(text):
        with trio.fail_after(120):
            while text not in received:
                await database.execute("select pg_notify('test', $1)", text)
                await trio.sleep(0.05)

    settings = DatabaseSettings(url=firewall.url, pool_size=1)
    async with open_database(settings, clock_now=lambda: datetime(2026, 6, 15, tzinfo=UTC)) as far:
        nursery.start_soon(NotifyBroadcasts(far, "test").serve, serve, LOG)
        await until_received("before")
        firewall.drop()
        await until_received("after")
    assert len(opened) > 1
    nursery.cancel_scope.cancel()


async def test_a_session_that_listens_and_has_long_been_silent_is_ended(database, monkeypatch, caplog):
    # PostgreSQL keeps for it what others send: a process that is frozen fills the queue for all.
    async with open_broadcast(database, "test") as frozen, open_broadcast(database, "test") as other:
        await other.check(30)
        await other.send(["within a minute"])
        assert await frozen.receive() == "within a minute"
        monkeypatch.setattr(broadcast, "SILENT_SECONDS", 0.0)
        await other.check(30)
        with trio.fail_after(120), pytest.raises(StorageUnavailable, match="the connection is lost"):
            await frozen.receive()
        await other.check(30)
    (record,) = caplog.records
    assert record.getMessage().startswith("a server is frozen: 1 of its sessions that listen are ended")
