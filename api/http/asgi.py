"""Quart on Trio: bodies that are read on demand, answers that are sent completely, and a direct path for
requests that only read (docs/decisions/0301).
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, ASGISendEvent
from quart import Request, Response
from quart.utils import encode_headers
from quart.wrappers.response import DataBody
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection
from werkzeug.exceptions import HTTPException
from werkzeug.routing import IntegerConverter

from motorpool.api.http.common_headers import CommonHeaders
from motorpool.api.http.request_body import BodyRequest
from motorpool.api.http.tcp_server import disconnect_scope

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
        """Serve one request; those of direct routes without Quart's tasks and contexts."""
        matched = self.app.match_direct_route(self.scope["method"], self.scope["path"])
        if matched is None or not _BODY_HEADERS.isdisjoint(name for name, _ in self.scope["headers"]):
            await super().__call__(receive, send)
            return
        answer, path = matched
        with disconnect_scope(self.scope) as connected:
            response = await answer(self._create_request_from_scope(send), path)
            body = response.response
            if not isinstance(body, DataBody):
                await self._send_response(partial(self._send_whole, send), response)
                return
            content = body.data[body.begin : body.end]
        if connected.cancelled_caught:
            return
        headers = self.app.common_headers.add(self.scope, encode_headers(response.headers))
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
            await self._send_whole(send, event)

        await super().handle_request(nursery, request, send_whole)

    async def _send_whole(self, send: ASGISendCallable, event: ASGISendEvent) -> None:
        if event["type"] == "http.response.start":
            event["headers"] = self.app.common_headers.add(self.scope, event["headers"])
        with trio.CancelScope(shield=True):
            await send(event)
        if event["type"] == "http.response.body" and event.get("more_body"):
            # A client may take all pieces without a wait; others have their turn meanwhile.
            await trio.lowlevel.checkpoint()


class Application(QuartTrio):
    """A Quart application with direct routes."""

    asgi_http_class: Any = HttpScope
    """`Any`: Quart and Quart-Trio declare different classes."""
    request_class: Any = BodyRequest

    def __init__(
        self, name: str, *, direct_prefix: str = "/", common_headers: CommonHeaders | None = None
    ) -> None:
        """`direct_prefix` is the common prefix of the paths of all direct routes."""
        super().__init__(name, static_folder=None)
        self.url_map.converters["int"] = WholeNumber
        self.common_headers = common_headers or CommonHeaders()
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
