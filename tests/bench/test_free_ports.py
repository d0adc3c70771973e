"""Ports for servers of tests and measurements."""

import socket
import subprocess
import sys

import pytest

from motorpool.bench import free_ports
from motorpool.bench.free_ports import free_port
from motorpool.bench.options import BenchError


def only(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Let no other port come into question."""
    monkeypatch.setattr(free_ports.secrets, "randbelow", lambda _: port - 10_000)


def test_a_port_and_those_at_the_offsets_are_free() -> None:
    port = free_port(1, 2)
    for each in range(port, port + 3):
        socket.create_server(("127.0.0.1", each)).close()


@pytest.mark.parametrize("offset", [0, 5])
def test_a_port_in_use_is_not_returned(monkeypatch: pytest.MonkeyPatch, offset: int) -> None:
    port = free_port(5)
    monkeypatch.setattr(free_ports, "_claims", [])
    only(monkeypatch, port)
    with socket.create_server(("127.0.0.1", port + offset)), pytest.raises(BenchError):
        free_port(5)


@pytest.mark.skipif(sys.platform != "linux", reason="the names of claims are those of Linux")
def test_a_port_that_another_process_was_given_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "from motorpool.bench.free_ports import free_port; print(free_port(7), flush=True); input()"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        port = int(other.stdout.readline())
        only(monkeypatch, port)
        with pytest.raises(BenchError):
            free_port()
        only(monkeypatch, port + 7)
        with pytest.raises(BenchError):
            free_port()
        other.communicate("")
    assert free_port() == port + 7


def test_claims_are_given_back_in_time() -> None:
    for _ in range(3 * free_ports.MAX_CLAIMS):
        free_port()
    assert len(free_ports._claims) == free_ports.MAX_CLAIMS
