"""A whole server as a process of its own, and terminals that speak to it over real sockets."""

import contextlib
import shutil
import socket
import time
from collections import deque

import psutil
import pytest

from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse, RegistrationResponse
from motorpool.bench.vehicles.jt808.terminal import Terminal

PATIENCE = 120.0
"""Seconds that a test waits for what the server does on a machine that is busy with much else."""


@pytest.fixture(scope="session")
def server(start_server):
    """One server for all journeys of this process that change no settings; they use devices of their own."""
    with start_server() as running:
        yield running


@pytest.fixture(scope="session")
def playback_server(start_server):
    """One server for all journeys with playbacks whose terminals are waited for briefly, likewise."""
    settings = {
        "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1",
        "MOTORPOOL_VIDEO_PLAYBACK_RETURN_SECONDS": "1",
        "MOTORPOOL_VIDEO_PLAYBACK_SILENCE_SECONDS": "2",
    }
    with start_server(settings) as running:
        yield running


@pytest.fixture
def data_folder(open_folder):
    """A data folder that outlives a killed server."""
    yield open_folder / "data"
    for path in open_folder.rglob("postmaster.pid"):
        # The server that was killed last left it running.
        lines = path.read_text().splitlines()
        postmaster = psutil.Process(int(lines[0]))
        processes = [postmaster, *postmaster.children(recursive=True)]
        postmaster.terminate()
        _, alive = psutil.wait_procs(processes, timeout=20)
        assert not alive
        shutil.rmtree(lines[4])  # the folder of its socket


@pytest.fixture(scope="session")
def connected():
    """`with connected(server, phone) as peer:` a terminal, signed in, at `address` (127.0.0.1).

    `host` and `port` are those of a proxy where it does not connect to the server itself.
    """
    return _connected


@pytest.fixture(scope="session")
def attempts():
    """`for attempt in attempts(): with attempt, …:` until one did not fail, or failed without being late."""
    return _attempts


@pytest.fixture(scope="session")
def eventually():
    """`eventually(probe)`: the first true value of `probe()`, asked again until then."""
    return _eventually


@contextlib.contextmanager
def _connected(server, phone, *, version=2013, host=None, port=None, sign_in=True, address=""):
    peer = Peer(server, Terminal(phone, version=version), host, port, address)
    try:
        if sign_in:
            peer.sign_in()
        yield peer
    finally:
        peer.close()


class Peer:
    """A blocking socket with a terminal's codec on it."""

    def __init__(self, server, terminal, host=None, port=None, address=""):
        self.terminal = terminal
        self.socket = socket.create_connection(
            (host or server.host, port or server.jt808_port), timeout=PATIENCE, source_address=(address, 0)
        )
        self._received = deque()

    def sign_in(self):
        """Register and authenticate, as a terminal does."""
        self.send(self.terminal.register())
        registered = self.messages(lambda message: isinstance(message, RegistrationResponse))[-1]
        assert registered.result == 0
        self.terminal.code = registered.code
        serial = self.terminal.serial
        self.send(self.terminal.authenticate())
        self.messages(
            lambda message: isinstance(message, GeneralResponse) and message.answered_serial == serial
        )

    def send(self, data):
        self.socket.sendall(data)

    def messages(self, wanted, seconds=PATIENCE):
        """What the server says until `wanted(message)` is true, that one last."""
        seen = []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            while self._received:
                seen.append(self._received.popleft())
                if wanted(seen[-1]):
                    return seen
            self.socket.settimeout(max(0.05, deadline - time.monotonic()))
            data = self.socket.recv(65536)
            if not data:
                raise AssertionError(f"closed by the server after {seen}")
            # What came together with the wanted message is for the next call.
            self._received.extend(self.terminal.receive(data))
        raise AssertionError(f"not said within {seconds} s; only {seen}")

    def close(self):
        self.socket.close()


class Attempt:
    """Excuses a failure where a busy machine was later than a time that ends something at the server."""

    def __init__(self, number, is_last):
        self.number = number
        self.is_excused = False
        self._is_last, self._was_late = is_last, False

    @contextlib.contextmanager
    def within(self, seconds, *, must=False):
        """Note whether the block took longer; with `must` that is a failure as well."""
        began = time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - began
            self._was_late |= took > seconds
        assert not must or took <= seconds, f"it took {took:.1f} s"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        failed = isinstance(error, AssertionError | OSError)
        self.is_excused = failed and self._was_late and not self._is_last
        return self.is_excused


def _attempts(most=5):
    for number in range(most):
        attempt = Attempt(number, number == most - 1)
        yield attempt
        if not attempt.is_excused:
            return


def _eventually(probe, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        assert time.monotonic() < deadline, f"still {value!r} after {seconds} s"
        time.sleep(0.05)
