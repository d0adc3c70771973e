"""The sockets of many JT/T 808 terminals, connected and logged in."""

import contextlib
import socket
from collections.abc import Sequence

from motorpool.codecs.devices.jt808.frames import Identity, encode_frame

LOGINS_AT_ONCE = 100
TIMEOUT_SECONDS = 30.0
"""For a connection and for a login."""
TERMINALS_PER_ADDRESS = 20_000
"""Terminals of one source address: a server takes as many of one, and it has not many more ports."""
LOGIN_SERIAL = 0xFFFF
"""A serial that no later message has: those count from 0."""


def is_modern(index: int, phone: str) -> bool:
    """Return whether the terminal with this index uses the 2019 version: every second one does.

    Those with twelve digits do not, which fill the field of the 2013 version: there are servers that know a
    terminal by all digits of the field.
    """
    return index % 2 == 1 and len(phone) < 12


def source_of(host: str, index: int) -> tuple[str, int] | None:
    """Return where the terminal with this index connects from; None: from where the system wants.

    A server on loopback is reached from many addresses.
    """
    block = index // TERMINALS_PER_ADDRESS
    return (f"127.0.0.{1 + block}", 0) if block and host == "127.0.0.1" else None


def connect_terminals(
    host: str, port: int, phones: Sequence[str], *, logged_in: bool = True
) -> list[socket.socket]:
    """Connect one terminal for each phone and log it in, many at a time; the sockets still block.

    Raises:
        OSError: the server refuses, closes, or does not answer a login in time.
    """
    with contextlib.ExitStack() as stack:
        sockets: list[socket.socket] = []
        for first in range(0, len(phones), LOGINS_AT_ONCE):
            batch = phones[first : first + LOGINS_AT_ONCE]
            for index, phone in enumerate(batch, first):
                connected = stack.enter_context(
                    socket.create_connection((host, port), TIMEOUT_SECONDS, source_of(host, index))
                )
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sockets.append(connected)
                if logged_in:
                    connected.sendall(authentication(phone, is_2019=is_modern(index, phone)))
            if logged_in:
                for connected, phone in zip(sockets[first:], batch, strict=True):
                    _await_answer(connected, phone)
        # From here on the caller closes them.
        stack.pop_all()
    return sockets


def _await_answer(connected: socket.socket, phone: str) -> None:
    """Read exactly one frame: a command may follow it."""
    delimiters = 0
    while delimiters < 2:
        try:
            piece = connected.recv(1)
        except ConnectionResetError:
            piece = b""
        except TimeoutError as error:
            raise TimeoutError(f"no answer to the login of terminal {phone}") from error
        if not piece:
            raise ConnectionError(
                f"the server closed terminal {phone}: does its limit of open files allow as many?"
            )
        delimiters += piece == b"~"


def authentication(phone: str, *, is_2019: bool) -> bytes:
    """Return the message by which a terminal logs in."""
    code = b"bench"
    body = bytes((len(code),)) + code + bytes(15) + b"1.0".ljust(20, b"\0") if is_2019 else code
    return encode_frame(Identity.from_digits(phone, is_2019=is_2019), 0x0102, LOGIN_SERIAL, body)
