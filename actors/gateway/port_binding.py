"""Binding the ports of devices."""

import socket

from motorpool.actors.work.bind_errors import bind_problem

BACKLOG = 4096
"""Connections that wait in the kernel to be accepted: after an outage a whole fleet reconnects at once."""
RECEIVE_BUFFER_BYTES = 4 << 20
"""Asked of the system for datagrams, which may grant less: what a fleet sends at once after an outage."""


def bind_port(
    name: str, host: str, number: int, kind: socket.SocketKind, *, is_shared: bool = False
) -> socket.socket:
    """Return a socket that is bound to a port of the protocol `name`, and does not block.

    With `is_shared` other processes may bind the port as well, and the system chooses one of the sockets by
    the address of the sender.

    Raises:
        OSError: the port cannot be bound; the message names it.
    """
    is_stream = kind is socket.SOCK_STREAM
    option = (socket.SO_REUSEADDR, 1) if is_stream else (socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
    try:
        bound.setblocking(False)
        bound.setsockopt(socket.SOL_SOCKET, *option)
        if is_shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((host, number))
    except OSError as error:
        bound.close()
        raise _cannot_listen(error, name, f"{host if is_stream else f'UDP {host}'}:{number}") from error
    return bound


def listen(bound: socket.socket, name: str, host: str, number: int) -> None:
    """Let connections to a bound port wait until they are accepted.

    Raises:
        OSError: the port cannot be listened on; the message names it.
    """
    try:
        bound.listen(BACKLOG)
    except OSError as error:
        raise _cannot_listen(error, name, f"{host}:{number}") from error


def _cannot_listen(error: OSError, name: str, address: str) -> OSError:
    """Return the error of a port that cannot be listened on, for the operator."""
    problem = bind_problem(error, "[device] host and [port] offset")
    return OSError(error.errno, f"cannot listen for {name} on {address}: {problem}")
