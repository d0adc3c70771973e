"""What is of NATS alone: logins, TLS, and a server that is away, frozen or refuses."""

import os
import signal
from contextlib import asynccontextmanager

import pytest
import trio
from cryptography.hazmat.primitives.serialization import Encoding
from tests.actors.http.conftest import Authority
from tests.cluster.conftest import until

from motorpool.bench.nats_server import NatsServer, run_nats
from motorpool.runtime import nats_pipe
from motorpool.runtime.nats_pipe import NatsAddress, open_nats, shown
from motorpool.storage.database.driver import open_loop


@asynccontextmanager
async def opened(address):
    async with open_loop(), open_nats(address) as pipe:
        yield pipe


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(nats_pipe, "RETRY_SECONDS", 0.05)


def secret(tmp_path, text):
    path = tmp_path / "secret"
    path.write_text(text)
    return path


async def carried(address):
    """What one pipe sends to another arrives there."""
    got = []
    async with opened(address) as one, opened(address) as other:
        other.listen("a.b", got.append)
        await until(lambda: one.is_connected and other.is_connected)
        await until(lambda: one.send("a.b", b"hello") and got)
    return got[0]


@pytest.mark.parametrize(
    ("arguments", "text"), [(("--user", "u", "--pass", "p:q"), "u:p:q\n"), (("--auth", "t0ken"), "t0ken")]
)
async def test_it_logs_in_by_a_file(tmp_path, arguments, text):
    with run_nats(*arguments) as server:
        assert await carried(NatsAddress((server.url,), secret(tmp_path, text))) == b"hello"


async def test_it_logs_in_by_its_url():
    with run_nats("--user", "u", "--pass", "p") as server:
        assert await carried(NatsAddress((server.url.replace("//", "//u:p@"),))) == b"hello"


async def test_a_refused_login_is_said_once_and_tried_again(tmp_path, caplog):
    with run_nats("--user", "u", "--pass", "p") as server:
        file = secret(tmp_path, "u:wrong")
        async with opened(NatsAddress((server.url,), file)) as pipe:
            await until(lambda: "Authorization Violation" in caplog.text)
            assert not pipe.is_connected
            assert not pipe.send("a", b"x")
            await trio.sleep(0.5)
            assert caplog.text.count("Authorization Violation") == 1
            file.write_text("u:p")
            await until(lambda: pipe.is_connected)
        assert "wrong" not in caplog.text


async def test_its_certificate_is_checked(tmp_path, caplog):
    authority = Authority(tmp_path)
    authority.server("localhost")
    ca = tmp_path / "ca.pem"
    ca.write_bytes(authority.certificate.public_bytes(Encoding.PEM))
    pem = str(tmp_path / "localhost.pem")
    with run_nats("--tls", "--tlscert", pem, "--tlskey", pem) as server:
        url = f"tls://localhost:{server.port}"
        assert await carried(NatsAddress((url,), ca=ca)) == b"hello"
        async with opened(NatsAddress((url,))) as pipe:
            await until(lambda: "certificate" in caplog.text.lower())
            assert not pipe.is_connected


async def test_files_that_are_not_there_are_told_at_once(tmp_path):
    for address in (
        NatsAddress(("nats://a:1",), tmp_path / "none"),
        NatsAddress(("tls://a:1",), ca=tmp_path / "none"),
    ):
        with pytest.raises(OSError, match="No such file"):
            async with open_nats(address):
                pass


async def test_a_server_that_starts_later_or_ends_is_waited_for(caplog):
    with run_nats() as server:
        server.kill()
        changes = []
        async with opened(NatsAddress((server.url,))) as pipe:
            pipe.follow(undelivered=print, changed=changes.append, lost=print)
            await until(lambda: "NATS" in caplog.text)
            assert not pipe.send("a", b"x")
            await trio.to_thread.run_sync(server.start)
            await until(lambda: pipe.is_connected)
            await trio.to_thread.run_sync(server.kill)
            await until(lambda: not pipe.is_connected)
            await trio.to_thread.run_sync(server.start)
            await until(lambda: pipe.is_connected)
        assert changes[:3] == [True, False, True]


async def test_a_server_that_is_frozen_is_found_out(monkeypatch):
    monkeypatch.setattr(nats_pipe, "PING_SECONDS", 0.1)
    monkeypatch.setattr(nats_pipe, "CONNECT_SECONDS", 0.2)
    with run_nats() as server:
        async with opened(NatsAddress((server.url,))) as pipe:
            await until(lambda: pipe.is_connected)
            os.kill(server.pid, signal.SIGSTOP)
            await until(lambda: not pipe.is_connected)
            os.kill(server.pid, signal.SIGCONT)
            await until(lambda: pipe.is_connected)


async def test_what_was_sent_before_a_loss_is_not_sent_after_it(nats_server: NatsServer):
    """The client would keep it."""
    got = []
    address = NatsAddress((nats_server.url,))
    async with opened(address) as one, opened(address) as other:
        other.listen("a", got.append)
        await until(lambda: one.is_connected and other.is_connected)
        await until(lambda: one.send("a", b"before") and got)
        await trio.to_thread.run_sync(nats_server.kill)
        one.send("a", b"lost")
        await until(lambda: not one.is_connected)
        assert not one.send("a", b"refused")
        await trio.to_thread.run_sync(nats_server.start)
        await until(lambda: one.is_connected and other.is_connected)
        await until(lambda: one.send("a", b"after") and b"after" in got)
        assert set(got) == {b"before", b"after"}


async def test_nothing_more_is_taken_than_may_wait(nats_server: NatsServer, monkeypatch):
    monkeypatch.setattr(nats_pipe, "MAX_UNSENT_BYTES", 1000)
    async with opened(NatsAddress((nats_server.url,))) as pipe:
        await until(lambda: pipe.is_connected)
        assert pipe.send("a", bytes(600))
        assert not pipe.send("a", bytes(600))
        await until(lambda: pipe.send("a", bytes(600)))


def test_a_shown_url_has_no_password():
    assert shown("nats://u:p@host") == "nats://host:4222"
    assert "secret" not in repr(NatsAddress(("nats://u:secret@host:1",)))
