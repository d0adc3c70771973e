"""Sockets that a service manager has opened, by the protocol of sd_listen_fds(3) of systemd.

They stay open while the server is replaced: connections wait meanwhile, and none is refused.
"""

import os
import socket
from collections.abc import Iterable, MutableMapping

FIRST = 3
"""The descriptor of the first of them."""
PID, COUNT, NAMES = "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"


class InheritedSockets:
    """The sockets, each for who would bind its address otherwise. They live as long as the process."""

    def __init__(self, sockets: Iterable[socket.socket] = ()) -> None:
        self._sockets = tuple(sockets)
        self._unused = set(self._sockets)

    def find(self, kind: socket.SocketKind, host: str, port: int) -> socket.socket | None:
        """Return a duplicate of the socket of this address, which does not block; None if there is none.

        Raises OSError if the host is unknown.
        """
        if not self._sockets:
            return None
        wanted = {
            (family, address[:2])
            for family, _, _, _, address in socket.getaddrinfo(host, port, type=kind, flags=socket.AI_PASSIVE)
        }
        for each in self._sockets:
            if each.type == kind and (each.family, each.getsockname()[:2]) in wanted:
                self._unused.discard(each)
                found = each.dup()
                found.setblocking(False)
                return found
        return None

    def unused(self) -> list[str]:
        """Return the addresses of the sockets that nobody has asked for."""
        return [_shown(each) for each in self._sockets if each in self._unused]

    def hand_on(self, environ: MutableMapping[str, str]) -> None:
        """Give the sockets to the program that this process is about to execute."""
        if not self._sockets:
            return
        for each in self._sockets:
            each.set_inheritable(True)
        environ[PID], environ[COUNT] = str(os.getpid()), str(len(self._sockets))


def inherit_sockets(environ: MutableMapping[str, str]) -> InheritedSockets:
    """Take the sockets that were opened for this process, and remove them from what its children get.

    Raises:
        ValueError: one of them is not a socket of TCP or UDP.
    """
    pid, count = environ.pop(PID, ""), environ.pop(COUNT, "")
    environ.pop(NAMES, None)
    if pid != str(os.getpid()):
        return InheritedSockets()
    if not (count.isascii() and count.isdecimal()):
        raise ValueError(f"{COUNT}={count} is not a number of sockets")
    return InheritedSockets([_take(FIRST + number) for number in range(int(count))])


def _take(descriptor: int) -> socket.socket:
    try:
        taken = socket.socket(fileno=descriptor)
    except OSError as error:
        raise ValueError(f"descriptor {descriptor} of {COUNT} is not a socket: {error.strerror}") from None
    taken.set_inheritable(False)
    if taken.family not in {socket.AF_INET, socket.AF_INET6} or taken.type not in {
        socket.SOCK_STREAM,
        socket.SOCK_DGRAM,
    }:
        raise ValueError(f"descriptor {descriptor} of {COUNT} is not a socket of TCP or UDP")
    return taken


def _shown(each: socket.socket) -> str:
    host, port = each.getsockname()[:2]
    return f"{'UDP ' if each.type == socket.SOCK_DGRAM else ''}{f'[{host}]' if ':' in host else host}:{port}"
