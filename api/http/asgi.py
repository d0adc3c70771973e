"""Quart on Trio: bodies that are read on demand, answers that are sent completely, and a direct path for
requests that players repeat.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, ASGISendEvent
from quart import Request, Response
from quart.utils import encode_headers
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection
from werkzeug.exceptions import HTTPException
from werkzeug.routing import IntegerConverter

from motorpool.api.http.request_body import BodyRequest

__all__ = ["Application", "DirectHandler"]

DirectHandler = Callable[[Request, dict[str, int | str]], Awaitable[Response]]
"""Answers a request with these path parameters, errors included, without Quart's contexts."""
_BODY_HEADERS = frozenset((b"content-length", b"transfer-encoding"))


class WholeNumber(IntegerConverter):
    """Matches ASCII digits in a path; werkzeug's own converter also takes those of other scripts."""

    regex = "[0-9]+"


class HttpScope(TrioASGIHTTPConnection):
    """One HTTP request; its sends are shielded from cancellation.

    With the last byte Hypercorn reports the end of the request, upon which Quart-Trio cancels the task that
    is still inside that send: the connection would miss its keep-alive timer, or its close. Sends have a
    time limit of their own (listening_sockets.py), so a shielded send cannot hang.
    """

    app: "Application"

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one request; those of direct routes without Quart's tasks and contexts.

        A client that disconnects meanwhile is noticed when the answer is sent.
        """
        matched = self.app.match_direct_route(self.scope["method"], self.scope["path"])
        if matched is None or not _BODY_HEADERS.isdisjoint(name for name, _ in self.scope["headers"]):
            await super().__call__(receive, send)
            return
        answer, path = matched
        response = await answer(self._create_request_from_scope(send), path)
        content = await response.get_data(as_text=False)
        headers = encode_headers(response.headers)
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": content, "more_body": False})

    async def handle_messages(  # type: ignore[override]  # Quart-Trio's own form, which adds the nursery
        self, nursery: trio.Nursery, request: Request, receive: ASGIReceiveCallable
    ) -> None:
        """Pass on the body as fast as it is read, and end the request if the client disconnects."""
        assert isinstance(request, BodyRequest)
        while True:
            message = await receive()
            if message["type"] == "http.request":
                await request.body.feed(message.get("body", b""), is_last=not message.get("more_body", False))
            elif message["type"] == "http.disconnect":
                nursery.cancel_scope.cancel()
                return

    async def handle_request(  # type: ignore[override]  # Quart-Trio's own form, which adds the nursery
        self, nursery: trio.Nursery, request: Request, send: ASGISendCallable
    ) -> None:
        """Serve one request through Quart."""
        assert isinstance(request, BodyRequest)

        async def send_whole(event: ASGISendEvent) -> None:
            if event["type"] == "http.response.start":
                # Hypercorn could not end the request while part of its body waits to be read.
                request.body.discard()
            with trio.CancelScope(shield=True):
                await send(event)

        await super().handle_request(nursery, request, send_whole)


class Application(QuartTrio):
    """A Quart application with direct routes."""

    asgi_http_class: Any = HttpScope
    """`Any`: Quart and Quart-Trio declare different classes."""
    request_class: Any = BodyRequest

    def __init__(self, name: str, *, direct_prefix: str = "/") -> None:
        """`direct_prefix` is the common prefix of the paths of all direct routes."""
        super().__init__(name, static_folder=None)
        self.url_map.converters["int"] = WholeNumber
        self._direct_prefix = direct_prefix
        self._direct_handlers: dict[str, DirectHandler] = {}

    def add_direct_route(self, endpoint: str, answer: DirectHandler) -> None:
        """Serve GET of this endpoint directly; its URL rule is added as any other."""
        self._direct_handlers[endpoint] = answer

    def match_direct_route(self, method: str, path: str) -> tuple[DirectHandler, dict[str, int | str]] | None:
        """Return the direct handler of a path and the path's parameters, or None."""
        if not self._direct_handlers or method != "GET" or not path.startswith(self._direct_prefix):
            return None
        try:
            endpoint, parameters = self.url_map.bind("").match(path, method)
        except HTTPException:  # a redirect among them
            return None
        answer = self._direct_handlers.get(endpoint)
        return None if answer is None else (answer, dict(parameters))
