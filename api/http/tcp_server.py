"""Hypercorn's connection with less overhead for each request, which dominates the cost of short answers."""

from collections.abc import Callable
from math import inf
from typing import Any

import trio
from hypercorn.events import Event, RawData
from hypercorn.trio.tcp_server import TCPServer

__all__ = ["HttpConnection"]

_HEAD_START = b"HTTP/1.1 2"
"""First bytes of a head that is always followed by a body or an end of the answer."""


class _IdleTimer:
    """Closes an idle connection; one task for all its life, not one for each idle period."""

    def __init__(self, server: "HttpConnection") -> None:
        self._server = server
        self._scope: trio.CancelScope | None = None
        self._is_over = False

    async def restart(self, task_group: Any, action: Callable[..., Any]) -> None:  # noqa: ANN401 - Hypercorn's form
        """Start the timer: no request is in progress."""
        deadline = trio.current_time() + self._server.config.keep_alive_timeout
        if self._server.context.terminated.is_set():
            deadline = -inf
        if self._scope is None:
            self._scope = trio.CancelScope(deadline=deadline)
            task_group.spawn(self._watch, self._scope)
        else:
            self._scope.deadline = deadline

    async def stop(self) -> None:
        """Stop the timer: a request is in progress, or the connection ends."""
        if self._scope is not None:
            self._scope.deadline = inf

    def end(self) -> None:
        """End the timer's task with the connection."""
        self._is_over = True
        if self._scope is not None:
            self._scope.cancel()

    async def _watch(self, scope: trio.CancelScope) -> None:
        with scope:
            await self._server.context.terminated.wait()
            if scope.deadline == inf:
                await trio.sleep_forever()  # until the request has ended
        if not self._is_over:
            await self._server.close_idle()


class HttpConnection(TCPServer):
    """One HTTP connection."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - as the class above has them
        super().__init__(*arguments)
        self._idle = _IdleTimer(self)
        self.idle_task = self._idle  # type: ignore[assignment]  # of the same two methods
        self._head = b""

    async def protocol_send(self, event: Event) -> None:
        """Send; the head of an answer goes out in one call with the bytes that follow it."""
        if isinstance(event, RawData):
            if event.data.startswith(_HEAD_START):
                self._head += event.data
                return
            data, self._head = self._head + event.data, b""
            if not data:
                return
            event = RawData(data=data)
        await super().protocol_send(event)

    async def _read_data(self) -> None:
        await super()._read_data()
        self._idle.end()

    async def close_idle(self) -> None:
        """Close the connection from the server's side."""
        with trio.CancelScope(shield=True):
            await self._initiate_server_close()
