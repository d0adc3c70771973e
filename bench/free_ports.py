"""Ports of the loopback address that a server can be started on."""

import atexit
import secrets
import socket
import sys
from contextlib import ExitStack, suppress

from motorpool.bench.options import BenchError
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.media.jt1078 import MEDIA_PORTS

ATTEMPTS = 1000

MAX_CLAIMS = 500

_claims: list[socket.socket] = []
"""The last ones; a port whose server runs needs none."""


def free_port(*offsets: int) -> int:
    """Return a port that is free for TCP and UDP, as are the ports at these offsets from it.

    They lie below the range of ephemeral ports, so that no outgoing connection takes one before it is bound.
    For some time no other call returns one of them, in whatever process on this machine: two test runs may go
    on at the same time.
    Raises BenchError if none is found.
    """
    for _ in range(ATTEMPTS):
        # Not the module `random`, which Hypothesis sets to the same state in all processes of a test run.
        port = 10_000 + secrets.randbelow(16_000)
        with ExitStack() as claims, suppress(OSError):
            claimed = [claims.enter_context(_claim(port + offset)) for offset in (0, *offsets)]
            for offset in (0, *offsets):
                socket.create_server(("127.0.0.1", port + offset)).close()
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
                    datagrams.bind(("127.0.0.1", port + offset))
            claims.pop_all()
            _claims.extend(claimed)
            _release(len(_claims) - MAX_CLAIMS)
            return port
    raise BenchError("no free ports for a server")


def free_server_port(nodes: int = 1) -> int:
    """Return a port that is free for a server's HTTP and that, as its `[port] offset`, leaves all its device
    ports free, also those of `nodes` processes and of one that replaces another.

    Raises BenchError if none is found.
    """
    ports = {codec.port for codec in CODECS.values()} | {*MEDIA_PORTS.values()}
    if nodes > 1:
        media = (*MEDIA_PORTS.values(), Jt808.files_port)
        ports |= {port + index for port in media for index in range(nodes + 1)}
    return free_port(*ports)


def _release(count: int) -> None:
    """Give up the oldest claims."""
    for claim in _claims[: max(0, count)]:
        claim.close()
    del _claims[: max(0, count)]


@atexit.register
def _release_all() -> None:
    _release(len(_claims))


def _claim(port: int) -> socket.socket:
    """Take a name that one process can have at a time. Raises OSError if another has it."""
    claim = socket.socket(socket.AF_UNIX)
    if sys.platform == "linux":
        # In the abstract namespace (unix(7)), which leaves no file and has the scope that ports have.
        try:
            claim.bind(f"\0motorpool-port-{port}")
        except OSError:
            claim.close()
            raise
    return claim
