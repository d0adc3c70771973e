"""A server that somebody else started, driven by `--server`: here a stand-in that the tests bring."""

import argparse
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.bench import stand_in

from motorpool.bench import main
from motorpool.bench.free_ports import free_port
from motorpool.bench.load.watching_socket import WatchingSocket
from motorpool.bench.measured_server import ForeignServer, log_in, open_server
from motorpool.bench.options import BenchError, NotThereError, Options
from motorpool.bench.scenarios import mixed, names, scenario
from motorpool.bench.server import run_server

Bench = Callable[..., dict[tuple[str, str], dict[str, Any]]]
FOREIGN = ("api", "events", "ingest", "mixed", "registration", "storm", "trips", "websocket")


@pytest.fixture(scope="module")
def ports() -> Iterator[tuple[int, int]]:
    """The ports of a running stand-in for terminals and for HTTP."""
    first = free_port(1)
    command = [sys.executable, "-m", "tests.bench.stand_in", str(first), str(first + 1)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield first, first + 1
        process.kill()


@pytest.fixture
def bench(ports: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """`bench("ingest", …)` runs scenarios against the stand-in and returns the figures of the JSON."""
    monkeypatch.setenv(main.EMAIL, stand_in.EMAIL)
    monkeypatch.setenv(main.PASSWORD, stand_in.PASSWORD)

    def run(*words: str) -> dict[tuple[str, str], dict[str, Any]]:
        parser = argparse.ArgumentParser()
        main.add_arguments(parser)
        server = ("--server", f"http://127.0.0.1:{ports[1]}", "--port", f"jt808={ports[0]}")
        path = tmp_path / "run.json"
        small = ("--terminals", "5", "--vehicles", "5", "--idle-terminals", "5", "--sockets", "2")
        args = parser.parse_args([*words, *server, *small, "--seconds", "0.3", "--json", str(path)])
        assert main.run(args) == 0
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        return {(one["scenario"], one["metric"]): one for one in results}

    return run


def client(ports: tuple[int, int]) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{ports[1]}/api", auth=(stand_in.EMAIL, stand_in.PASSWORD))


def test_positions_are_counted_looked_up_and_removed_again(bench: Bench, ports: tuple[int, int]) -> None:
    found = bench("ingest", "--ramp", "--clients", "2")
    acknowledged = found["ingest", "acknowledged"]["value"]
    assert isinstance(acknowledged, float)
    assert acknowledged > 5
    assert found["ingest", "acknowledged but not stored"]["value"] == 0
    assert found["ingest", "never acknowledged"]["value"] == 0
    # It runs on this machine, so its CPU is known; nobody has said which database is its own.
    cpu = found["ingest", "throughput server CPU"]["value"]
    assert isinstance(cpu, float)
    assert cpu > 0
    assert found["ingest", "throughput database CPU"]["value"] is None
    with client(ports) as asking:
        assert asking.get("/devices").json() == []


def test_what_it_lacks_is_not_there_and_nothing_else_is_missing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that five vehicles report within a moment.
    monkeypatch.setattr(mixed, "DRIVING_SECONDS", 0.02)
    found = bench("mixed", "storm", "websocket", "api", "registration")
    assert found["mixed", "GET /reports/trips"]["absent"] == "the server does not answer it"
    assert found["mixed", "requests failed"]["value"] == 0
    assert found["mixed", "acknowledged but not stored"]["value"] == 0
    assert found["mixed", "positions not on a WebSocket"]["value"] == 0
    assert found["storm", "positions never acknowledged"]["value"] == 0
    assert found["storm", "acknowledged but not stored"]["value"] == 0
    assert ("storm", "outage") not in found
    assert found["websocket", "deliveries that did not come"]["value"] == 0
    assert found["api", f"GET /server, {scenario('api').CONNECTIONS} connections"]["value"]
    assert found["registration", "unknown terminals"]["value"] is None
    assert found["registration", "not registered"]["value"] == 0


def test_a_scenario_of_something_it_does_not_have_at_all(bench: Bench) -> None:
    closed = free_port()
    found = bench("events", "trips", "--days", "1", "--port", f"osmand={closed}")
    assert found["events", "all"]["absent"].startswith("POST /groups answered 404")
    assert found["trips", "all"]["absent"].startswith(f"osmand at port {closed}")


def test_scenarios_that_need_a_server_of_their_own_refuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert tuple(name for name in names() if scenario(name).SERVER == "any") == FOREIGN
    parser = argparse.ArgumentParser()
    main.add_arguments(parser)
    assert main.run(parser.parse_args(["live", "ingest", "--server", "http://127.0.0.1:1"])) == 2
    assert "live cannot measure another server; --server is for api, events" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "password", "problem"),
    [
        ("127.0.0.1:8082", "x", "is no address"),
        ("ftp://127.0.0.1", "x", "is no address"),
        ("http://[::1", "x", "is no address"),
        ("http://127.0.0.1:99999", "x", "is no address"),
        ("http://127.0.0.1:1", "x", "refused"),
        ("http://127.0.0.1:1", "", "needs --email and --password"),
    ],
)
def test_servers_that_cannot_be_measured(url: str, password: str, problem: str) -> None:
    options = Options(server=url, email="a@example.org", password=password)
    with pytest.raises(BenchError, match=problem), open_server(options, run_server):
        pass


def test_processes_that_have_ended_are_told(ports: tuple[int, int]) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    url = f"http://127.0.0.1:{ports[1]}"
    options = Options(email=stand_in.EMAIL, password=stand_in.PASSWORD, database_pid=process.pid)
    with pytest.raises(BenchError, match=f"there is no process {process.pid}"):
        log_in(options, url)


def test_a_wrong_password_is_told(ports: tuple[int, int]) -> None:
    options = Options(server=f"http://127.0.0.1:{ports[1]}", email=stand_in.EMAIL, password="wrong")
    with (
        pytest.raises(BenchError, match="the login answered 401"),
        open_server(options, run_server),
    ):
        pass


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Yield the address of a server that gives the same answer to everything, without an end."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                connected, _ = listening.accept()
                with connected, suppress(OSError):
                    connected.recv(65536)
                    connected.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


OK = b"HTTP/1.1 200 OK\r\nSet-Cookie: JSESSIONID=x\r\nContent-Length: 5\r\n\r\n<html"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"", "disconnected"),
        (b"\x00\xff" * 500, "illegal (status|request) line"),
        (b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", "answered 302: /login"),
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 9000000\r\n\r\n" + b"a" * 70_000, "answered 500: a{200}$"),
        (OK.replace(b"Set-Cookie: JSESSIONID=x\r\n", b""), "answered 200: <html"),
    ],
)
def test_a_login_that_is_answered_by_something_else(answer: bytes, problem: str) -> None:
    options = Options(email=stand_in.EMAIL, password=stand_in.PASSWORD)
    with answering(answer) as url, pytest.raises(BenchError, match=problem):
        log_in(options, url)


def test_a_web_server_that_is_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    main.add_arguments(parser)
    account = ("--email", stand_in.EMAIL, "--password", stand_in.PASSWORD)
    with answering(OK) as url:
        assert main.run(parser.parse_args(["storm", "--vehicles", "2", "--server", url, *account])) == 1
    captured = capsys.readouterr()
    assert "storm: GET /devices answered no list of devices: <html" in captured.out
    # Found before anything is measured.
    assert main.run(parser.parse_args(["mailbox", "--server", "localhost:8082", *account])) == 2
    assert main.run(parser.parse_args(["storm", "--server", "localhost:8082", *account])) == 1
    assert captured.err.count("\n") <= 1
    assert capsys.readouterr().err.endswith("no address such as http://127.0.0.1:8082\n")


def test_clients_that_speak_no_tls_refuse_it() -> None:
    server = ForeignServer("https://127.0.0.1:1", "", "")
    with pytest.raises(BenchError, match="name an http:// address"):
        server.http_port  # noqa: B018


def test_a_websocket_that_is_refused_is_told_at_once(ports: tuple[int, int]) -> None:
    watching = WatchingSocket("127.0.0.1", ports[1], ("Cookie", "JSESSIONID=other"), "positions")
    watching.start()
    assert not watching.await_acceptance(60)
    assert watching.error.startswith("the server answered ")
    watching.close()


def test_a_port_where_nothing_listens_is_not_there() -> None:
    closed = free_port()
    server = ForeignServer("http://127.0.0.1:1", "", "", {"jt808": closed})
    with pytest.raises(NotThereError, match=f"jt808 at port {closed}"):
        server.port("jt808")
    assert server.cpu_seconds() != server.cpu_seconds()
