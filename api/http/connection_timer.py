"""The deadlines of one HTTP connection: until its next request, the end of a head, and the next byte."""

import random
from collections.abc import Awaitable, Callable
from math import inf

import trio
from hypercorn.typing import Event

_JITTER = 0.25
"""Fraction by which deadlines vary, so that connections opened together do not expire together."""


class ConnectionTimer:
    """Closes a connection that is idle, does not finish the head of a request, or whose client sends nothing.

    One task for all its life. It looks at the deadlines when the earliest that it knew of has passed: to move
    a deadline of Trio at each request costs more than to read the request.
    """

    def __init__(
        self,
        *,
        close: Callable[[], Awaitable[None]],
        terminated: Event,
        keep_alive_seconds: float,
        head_seconds: float,
        read_seconds: float,
    ) -> None:
        """`close` is called when no request came in time, or the server stops and none is in progress."""
        self._close = close
        self._terminated = terminated
        jitter = 1 + random.random() * _JITTER  # noqa: S311 - no secret
        self._keep_alive_seconds = keep_alive_seconds * jitter
        self._head_seconds = head_seconds * jitter
        self._read_seconds = read_seconds
        self._deadline = inf
        """When the next request must have come, or its head be complete; inf while one is in progress."""
        self._is_in_head = False
        self._reader: trio.CancelScope | None = None
        self._read_since = 0.0
        self._scope = trio.CancelScope()
        self._is_over = False

    def begin_idle(self) -> None:
        """Note that no request is in progress."""
        self._is_in_head = False
        if self._terminated.is_set():
            self._move(-inf)
        else:
            self._move(trio.current_time() + self._keep_alive_seconds)

    def end_idle(self) -> None:
        """Note that a request is in progress, or the connection ends."""
        self._deadline = inf

    def note_bytes(self) -> None:
        """Note that bytes came: without a request in progress they begin the head of one."""
        if self._deadline == inf or self._is_in_head:
            return
        self._is_in_head = True
        self._move(min(self._deadline, trio.current_time() + self._head_seconds))

    def begin_read(self, scope: trio.CancelScope) -> None:
        """Note that a task waits for bytes; its scope is cancelled if none come in time."""
        self._reader, self._read_since = scope, trio.current_time()

    def end_read(self) -> None:
        """Note that it does not wait any more."""
        self._reader = None

    def end(self) -> None:
        """End `run`: the connection has ended."""
        self._is_over = True
        self._scope.cancel()

    async def run(self) -> None:
        """Wait until a deadline passes, the server stops, or the connection has ended."""
        while not self._is_over:
            now = trio.current_time()
            if now >= self._deadline or (self._terminated.is_set() and self._deadline < inf):
                await self._close()
                return
            read_by = inf if self._reader is None else self._read_since + self._read_seconds
            if now >= read_by:
                assert self._reader is not None
                self._reader.cancel()
                return
            # A read may begin later, but not be due before this.
            earliest = min(self._deadline, read_by, now + self._read_seconds)
            self._scope = trio.CancelScope(deadline=earliest)
            with self._scope:
                if self._terminated.is_set():
                    await trio.sleep_forever()  # until the request has ended
                await self._terminated.wait()

    def _move(self, deadline: float) -> None:
        self._deadline = deadline
        if deadline >= self._scope.deadline:
            return
        self._scope.deadline = deadline
