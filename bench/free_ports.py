"""Ports of the loopback address that a server can be started on."""

import secrets
import socket
from contextlib import ExitStack, suppress

from motorpool.bench.options import BenchError

__all__ = ["free_port"]

ATTEMPTS = 1000


def free_port(*offsets: int) -> int:
    """Return a port that is free, as are the ports at these offsets from it.

    They lie below the range of ephemeral ports, so that no outgoing connection takes one before it is bound.
    Raises BenchError if none is found.
    """
    for _ in range(ATTEMPTS):
        # Not the module `random`, which Hypothesis sets to the same state in all processes of a test run.
        port = 10_000 + secrets.randbelow(16_000)
        with ExitStack() as stack, suppress(OSError):
            for offset in (0, *offsets):
                stack.enter_context(socket.create_server(("127.0.0.1", port + offset)))
            return port
    raise BenchError("no free ports for a server")
