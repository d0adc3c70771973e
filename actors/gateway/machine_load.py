"""How many connections each server of a machine has, in a page of memory that all of them share.

Servers that accept from the same sockets would share them out by chance: who is awake takes the next one, and
keeps it for days. So a server with more than the least loaded one is shy: it waits before it accepts, and one
with fewer is quicker. If none is there, the wait is all it costs.
"""

import mmap
import os
import socket
import tempfile
from contextlib import suppress
from typing import Any

import trio

SHY_SECONDS = 0.01
"""How long a server that has more connections than another one waits before it accepts."""
MARGIN = 8
RATIO = 1.02
"""A server is shy with more connections than RATIO times the fewest, plus MARGIN."""
MAX_SERVERS = 128
"""Indexes that the page has room for."""
ABSENT = 0xFFFF_FFFF
"""In place of the number of a server that is not there, or does not accept."""

DEVICES, HTTP = 0, 1
"""The kinds of connections, which are counted apart."""
_KINDS = 2
_COLUMN_BYTES = MAX_SERVERS * 4


class MachineLoad:
    """The page, as one process sees it. Each server writes numbers of its own, which are read whole."""

    def __init__(self, descriptor: int) -> None:
        """Map the page of `new_page`."""
        page = memoryview(mmap.mmap(descriptor, _KINDS * _COLUMN_BYTES))
        self._columns = [
            page[kind * _COLUMN_BYTES : (kind + 1) * _COLUMN_BYTES].cast("I") for kind in range(_KINDS)
        ]

    def set(self, index: int, kind: int, number: int) -> None:
        """Write how many connections of a kind a server has."""
        self._columns[kind][index] = number

    def remove(self, index: int) -> None:
        """Note that a server is not there, or does not accept any more."""
        for column in self._columns:
            column[index] = ABSENT

    def least(self, kind: int, without: int) -> int:
        """Return the smallest number of connections of the servers except one; ABSENT if there are none."""
        numbers = self._columns[kind].tolist()
        numbers[without] = ABSENT
        return min(numbers)


class ServerLoad:
    """Counts the connections of this server of one kind, for the other servers of the machine."""

    def __init__(self, load: MachineLoad, index: int, kind: int) -> None:
        self._load = load
        self._index = index
        self._kind = kind
        self._number = 0
        load.set(index, kind, 0)
        self._has_left = False

    def add(self, number: int) -> None:
        """Count connections that were accepted, or, negative, that have ended."""
        self._number += number
        if not self._has_left:
            self._load.set(self._index, self._kind, self._number)

    def leave(self) -> None:
        """Accept no more: the others need not wait for this server."""
        self._has_left = True
        self._load.set(self._index, self._kind, ABSENT)

    @property
    def is_shy(self) -> bool:
        """Whether another server should accept the next connection."""
        least = self._load.least(self._kind, self._index)
        return least != ABSENT and self._number > least * RATIO + MARGIN

    async def accept(self, listening: socket.socket) -> tuple[trio.socket.SocketType, Any]:
        """Accept a connection, after a moment if another server should. Raises OSError."""
        while True:
            await trio.lowlevel.wait_readable(listening)
            if self.is_shy:
                await trio.sleep(SHY_SECONDS)
            # Another server may have been quicker.
            with suppress(BlockingIOError):
                accepted, address = listening.accept()
                return trio.socket.from_stdlib_socket(accepted), address


def new_page() -> int:
    """Return the descriptor of a page without servers, for the processes that inherit it."""
    descriptor = os.memfd_create("motorpool") if hasattr(os, "memfd_create") else _unnamed_file()
    os.ftruncate(descriptor, _KINDS * _COLUMN_BYTES)
    os.pwrite(descriptor, b"\xff" * _KINDS * _COLUMN_BYTES, 0)
    return descriptor


def _unnamed_file() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
