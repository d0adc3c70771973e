"""A server that somebody else started, driven by `--server`: here a stand-in that the tests bring."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.bench import stand_in

from motorpool.bench import main
from motorpool.bench.free_ports import free_port
from motorpool.bench.measured_server import ForeignServer, open_server
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
        ("http://127.0.0.1:1", "x", "refused"),
        ("http://127.0.0.1:1", "", "needs --email and --password"),
    ],
)
def test_servers_that_cannot_be_measured(url: str, password: str, problem: str) -> None:
    options = Options(server=url, email="a@example.org", password=password)
    with pytest.raises(BenchError, match=problem), open_server(options, run_server):
        pass


def test_a_wrong_password_is_told(ports: tuple[int, int]) -> None:
    options = Options(server=f"http://127.0.0.1:{ports[1]}", email=stand_in.EMAIL, password="wrong")
    with (
        pytest.raises(BenchError, match="the login answered 401"),
        open_server(options, run_server),
    ):
        pass


def test_a_port_where_nothing_listens_is_not_there() -> None:
    closed = free_port()
    server = ForeignServer("http://127.0.0.1:1", "", "", {"jt808": closed})
    with pytest.raises(NotThereError, match=f"jt808 at port {closed}"):
        server.port("jt808")
    assert server.cpu_seconds() != server.cpu_seconds()
