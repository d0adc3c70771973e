"""Sockets of a service manager, handed to real processes, as sd_listen_fds(3) says."""

import os
import socket
import subprocess
import sys

import pytest

from motorpool.actors.gateway.inherited_sockets import InheritedSockets, inherit_sockets

PROGRAM = """
import os, socket, subprocess, sys
from motorpool.actors.gateway.inherited_sockets import inherit_sockets
os.environ["LISTEN_PID"] = os.environ["LISTEN_PID"].replace("own", str(os.getpid()))
try:
    inherited = inherit_sockets(os.environ)
except ValueError as error:
    sys.exit(f"refused: {error}")
print([name for name in os.environ if name.startswith("LISTEN_")], inherited.unused(), flush=True)
if len(sys.argv) > 1:
    inherited.hand_on(os.environ)
    program = [sys.executable, "-c", os.environ["PROGRAM"]]
    os.environ["LISTEN_PID"] == str(os.getpid()) or sys.exit("not ours")
    os.execv(sys.executable, program)
if inherited.unused():
    found = inherited.find(socket.SOCK_STREAM, "127.0.0.1", int(os.environ["PORT"]))
    assert found.getblocking() is False
    assert not os.get_inheritable(found.fileno()) and not os.get_inheritable(3)
    found.setblocking(True)
    found.accept()[0].sendall(b"hello")
"""


def run(sockets, *words, **environ):
    """Run the program with these descriptors from 3 on; its output and errors."""
    kept = [each.fileno() for each in sockets]

    def place():
        # Above all first, so that none is overwritten before it is moved.
        high = [os.dup(each) for each in kept]
        for number, each in enumerate(high):
            os.dup2(each, 3 + number)

    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, "PROGRAM": PROGRAM, "LISTEN_PID": "own", "LISTEN_FDS": str(len(kept)), **environ},
        preexec_fn=place,  # noqa: PLW1509 - no threads use it
        close_fds=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as opened:
        yield opened


def shown(each):
    return "{}:{}".format(*each.getsockname())


@pytest.mark.parametrize("words", [(), ("again",)])
def test_a_socket_is_accepted_from_also_after_the_program_was_executed_anew(listening, words):
    port = listening.getsockname()[1]
    program = run([listening], *words, PORT=str(port))
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        assert client.recv(10) == b"hello"
    output, errors = program.communicate(timeout=60)
    assert program.returncode == 0, errors
    # Children get nothing of it.
    assert output.splitlines() == [f"[] ['{shown(listening)}']"] * (len(words) + 1)


def test_those_of_another_process_are_not_taken(listening):
    program = run([listening], LISTEN_PID="1")
    output, errors = program.communicate(timeout=60)
    assert (output, errors) == ("[] []\n", "")


def test_what_is_no_socket_is_told(listening, tmp_path):
    with (tmp_path / "file").open("w") as file:
        _, errors = run([listening, file]).communicate(timeout=60)
    assert "refused: descriptor 4 of LISTEN_FDS is not a socket" in errors
    _, errors = run([], LISTEN_FDS="many").communicate(timeout=60)
    assert "refused: LISTEN_FDS=many is not a number of sockets" in errors
    ours, theirs = socket.socketpair()
    with ours, theirs:
        _, errors = run([ours]).communicate(timeout=60)
    assert "refused: descriptor 3 of LISTEN_FDS is not a socket of TCP or UDP" in errors


def test_only_the_socket_of_the_same_address_kind_and_port_is_found(listening):
    port = listening.getsockname()[1]
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        inherited = InheritedSockets([listening, datagrams])
        for kind, host, number in (
            (socket.SOCK_STREAM, "0.0.0.0", port),
            (socket.SOCK_STREAM, "127.0.0.2", port),
            (socket.SOCK_STREAM, "::1", port),
            (socket.SOCK_STREAM, "127.0.0.1", port - 1),
            (socket.SOCK_DGRAM, "127.0.0.1", port),
        ):
            assert inherited.find(kind, host, number) is None
        assert inherited.unused() == [shown(listening), f"UDP {shown(datagrams)}"]
        # As often as an actor begins anew.
        for _ in range(2):
            with inherited.find(socket.SOCK_STREAM, "127.0.0.1", port) as found:
                assert found.getsockname() == listening.getsockname()
        assert inherited.unused() == [f"UDP {shown(datagrams)}"]


def test_there_are_none_without_a_service_manager():
    assert inherit_sockets({}).unused() == []
    assert InheritedSockets().find(socket.SOCK_STREAM, "no.such.host.invalid", 1) is None
