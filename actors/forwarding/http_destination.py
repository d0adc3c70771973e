"""Sends messages to an HTTP URL, each in its own POST request."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import trio

from motorpool.actors.forwarding.delivery_log import DeliveryLog
from motorpool.actors.forwarding.queue import ForwardMessage, ForwardQueue
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.runtime import BackOff

if TYPE_CHECKING:
    from motorpool.actors.http.http_session import HttpSession

BACK_OFF = BackOff(first_seconds=0.5, max_seconds=60.0)
"""Delay before the next attempt at a message."""
UNAVAILABLE = frozenset({408, 425, 429, 502, 503, 504})
"""Answers that would be the same for any message: it is repeated until it expires."""
MAX_RESPONSE_BYTES = 64 * 1024
"""A longer response closes the connection: its content is not needed."""
REFUSED_ATTEMPTS = 3
"""Attempts at a message that is answered by any other error."""


class HttpDestination:
    """One task and one connection for each part of the queue; a device's messages are sent one by one."""

    def __init__(
        self,
        session: "HttpSession",
        url: str,
        headers: Mapping[str, str],
        queue: ForwardQueue,
        log: DeliveryLog,
        monotonic: Callable[[], float],
        *,
        seconds: float,
    ) -> None:
        """`session` is entered and left by `run`; `seconds` limits one attempt."""
        self._session = session
        self._url = url
        self._headers = headers
        self._queue = queue
        self._log = log
        self._monotonic = monotonic
        self._seconds = seconds

    async def run(self) -> None:
        """Send until cancelled."""
        async with self._session, trio.open_nursery() as nursery:
            for part in range(self._queue.parts):
                nursery.start_soon(self._send_part, part)

    async def _send_part(self, part: int) -> None:
        while True:
            await self._queue.wait(part)
            message = self._queue.take(part)
            if message is not None:
                await self._deliver(message)
                self._queue.settled()

    async def _deliver(self, message: ForwardMessage) -> None:
        attempts = 0
        while True:
            attempts += 1
            error: object
            try:
                response = await self._session.request(
                    "POST",
                    self._url,
                    headers=self._headers,
                    content=message.content,
                    seconds=self._seconds,
                    max_bytes=MAX_RESPONSE_BYTES,
                    truncate=True,
                )
            except Unreachable as unreachable:
                error = unreachable
            except DeliveryRefused as refused:
                # The URL cannot be requested, or leads to a network that is not permitted.
                self._log.dropped("refused", error=refused)
                return
            else:
                if response.ok:
                    self._log.delivered()
                    return
                error = f"it answers {response.status}"
                if response.status not in UNAVAILABLE and attempts >= REFUSED_ATTEMPTS:
                    self._log.dropped("refused", error=error)
                    return
            delay = BACK_OFF.delay(attempts)
            if self._monotonic() + delay >= message.expires:
                self._log.dropped("expired", error=error)
                return
            self._log.failed(error)
            await trio.sleep(delay)
