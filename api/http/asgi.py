"""Quart on Trio: answers that are sent to their end, and a quick way for what players ask every second."""

from collections.abc import Awaitable, Callable
from typing import Any

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, ASGISendEvent
from quart import Request, Response
from quart.utils import encode_headers
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection
from werkzeug.exceptions import HTTPException

__all__ = ["Application", "DirectHandler"]

DirectHandler = Callable[[Request, dict[str, int | str]], Awaitable[Response]]
"""Answers a request with these path parameters, errors included; needs none of Quart's contexts."""
_BODY_HEADERS = frozenset((b"content-length", b"transfer-encoding"))


class Connection(TrioASGIHTTPConnection):
    """Keeps the end of an answer from cancelling itself.

    With the last byte Hypercorn tells the application that the request is over, upon which Quart-Trio cancels
    the task that is still inside that send: the connection then misses its keep-alive timer, or its close.
    Sends end by themselves (listening.py), so shielding them costs nothing.
    """

    app: "Application"

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one request; the quick ones without the tasks and contexts that cost more than the answer.

        A client that leaves meanwhile is noticed when the answer is sent.
        """
        quick = self.app.match_direct_route(self.scope["method"], self.scope["path"])
        if quick is None or not _BODY_HEADERS.isdisjoint(name for name, _ in self.scope["headers"]):
            await super().__call__(receive, send)
            return
        answer, path = quick
        response = await answer(self._create_request_from_scope(send), path)
        content = await response.get_data(as_text=False)
        headers = encode_headers(response.headers)
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": content, "more_body": False})

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

    asgi_http_class: Any = Connection
    """`Any` because Quart and Quart-Trio disagree about the class."""

    def __init__(self, name: str, *, direct_prefix: str = "/") -> None:
        """`direct_prefix`: what the paths of all quick operations begin with."""
        super().__init__(name, static_folder=None)
        self._direct_prefix = direct_prefix
        self._direct_handlers: dict[str, DirectHandler] = {}

    def add_direct_route(self, endpoint: str, answer: DirectHandler) -> None:
        """Answer GET at this endpoint, whose rule is added as any other, by the quick way."""
        self._direct_handlers[endpoint] = answer

    def match_direct_route(self, method: str, path: str) -> tuple[DirectHandler, dict[str, int | str]] | None:
        """What answers this quickly, and the path's parameters."""
        if not self._direct_handlers or method != "GET" or not path.startswith(self._direct_prefix):
            return None
        try:
            endpoint, parameters = self.url_map.bind("").match(path, method)
        except HTTPException:  # a redirect among them
            return None
        answer = self._direct_handlers.get(endpoint)
        return None if answer is None else (answer, dict(parameters))
