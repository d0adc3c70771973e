"""Quart on Trio, with answers that are sent to their end."""

from typing import Any

import trio
from hypercorn.typing import ASGISendCallable, ASGISendEvent
from quart import Request
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection

__all__ = ["Application"]


class WholeAnswers(TrioASGIHTTPConnection):
    """Keeps the end of an answer from cancelling itself.

    With the last byte Hypercorn tells the application that the request is over, upon which Quart-Trio cancels
    the task that is still inside that send: the connection then misses its keep-alive timer, or its close.
    Sends end by themselves (listening.py), so shielding them costs nothing.
    """

    async def handle_request(  # type: ignore[override]  # Quart-Trio's own form, which adds the nursery
        self, nursery: trio.Nursery, request: Request, send: ASGISendCallable
    ) -> None:
        """Answer one request."""

        async def send_whole(event: ASGISendEvent) -> None:
            with trio.CancelScope(shield=True):
                await send(event)

        await super().handle_request(nursery, request, send_whole)


class Application(QuartTrio):
    """What create_app makes."""

    asgi_http_class: Any = WholeAnswers
    """`Any` because Quart and Quart-Trio disagree about the class."""
