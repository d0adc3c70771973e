"""Quart on Trio: bodies that are read on demand, answers that are sent completely, and operations that are
answered without Quart's tasks and contexts (docs/decisions/0301).
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, ASGISendEvent
from quart import Request, Response
from quart.typing import ResponseTypes
from quart.utils import encode_headers
from quart.wrappers.response import DataBody
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter, IntegerConverter

from motorpool.api.http.common_headers import CommonHeaders
from motorpool.api.http.fast_path import HeaderLines, RequestHeaders
from motorpool.api.http.request_body import BodyRequest, RequestBody
from motorpool.api.http.tcp_server import disconnect_scope

Answer = Callable[[Request, dict[str, int | str]], Awaitable[Response]]
"""Answers a request with these path parameters, errors included."""
_READS = frozenset(("GET", "HEAD"))
_MATCHES, _MATCHED_LENGTH = 1024, 200
"""Paths, up to that length, of which it is remembered what they match."""
_BODY_HEADERS = frozenset((b"content-length", b"transfer-encoding"))


class WholeNumber(IntegerConverter):
    """Matches ASCII digits in a path; werkzeug's own converter also takes digits of other scripts."""

    regex = "[0-9]+"


class Text(BaseConverter):
    """Matches one segment of a path, unless it holds a NUL, which nothing that is looked up has."""

    regex = r"[^/\0]+"
    part_isolating = True


class HttpScope(TrioASGIHTTPConnection):
    """One HTTP request, served in one task; a second one takes in the body that it may have.

    A client that disconnects ends the request, but not while the end of its answer is sent: with the last
    byte Hypercorn reports the end of the request as a disconnection, and the connection would miss its
    keep-alive timer, or its close, if the task that is still inside that send were cancelled. Sends have a
    time limit of their own (listening_sockets.py), so none can hang.
    """

    app: "Application"

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve the request until it is answered, or the client disconnects."""
        request = self._create_request_from_scope(send)
        if self.scope["method"] in _READS and _BODY_HEADERS.isdisjoint(
            name for name, _ in self.scope["headers"]
        ):
            await self._serve(request, send, disconnect_scope(self.scope), has_body=False)
            return
        # Cancelled by the disconnection behind the body: a client may send a change and leave at once.
        connected = trio.CancelScope()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._take_body, request.body, receive, connected)
            await self._serve(request, send, connected, has_body=True)
            nursery.cancel_scope.cancel()

    def _create_request_from_scope(self, send: ASGISendCallable) -> BodyRequest:
        scope, lines = self.scope, self.scope["headers"]
        if scope["http_version"] < "1.1" or not scope["path"].startswith("/"):
            request = super()._create_request_from_scope(send)
            assert isinstance(request, BodyRequest)
            return request
        return BodyRequest(
            scope["method"],
            scope["scheme"],
            scope["path"],
            scope["query_string"],
            lines.shared if isinstance(lines, HeaderLines) else RequestHeaders(lines),
            scope["root_path"],
            scope["http_version"],
            scope,
            max_content_length=self.app.config["MAX_CONTENT_LENGTH"],
        )

    async def _take_body(
        self, body: RequestBody, receive: ASGIReceiveCallable, connected: trio.CancelScope
    ) -> None:
        """Pass on the body as fast as it is read, and end the request if the client disconnects."""
        while True:
            message = await receive()
            if message["type"] == "http.request":
                await body.feed(message.get("body", b""), is_last=not message.get("more_body", False))
            elif message["type"] == "http.disconnect":
                connected.cancel()
                body.cut()
                return

    async def _serve(
        self, request: BodyRequest, send: ASGISendCallable, connected: trio.CancelScope, *, has_body: bool
    ) -> None:
        with connected:
            response = await self.app.answer(request)
            # Hypercorn could not end the request while part of its body waits to be read.
            if has_body and not await request.body.drain():
                response.headers["Connection"] = "close"
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

    async def _send_whole(self, send: ASGISendCallable, event: ASGISendEvent) -> None:
        if event["type"] == "http.response.start":
            event["headers"] = self.app.common_headers.add(self.scope, list(event["headers"]))
        with trio.CancelScope(shield=True):
            await send(event)
        if event["type"] == "http.response.body" and event.get("more_body"):
            # A client may take all pieces without a wait; others have their turn meanwhile.
            await trio.lowlevel.checkpoint()


class Application(QuartTrio):
    """A Quart application whose operations are answered without Quart's contexts and signals.

    They share its routes; Quart answers what is none of them, and serves WebSockets.
    """

    asgi_http_class: Any = HttpScope
    """`Any`: Quart and Quart-Trio declare different classes."""
    request_class: Any = BodyRequest

    def __init__(self, name: str, *, prefix: str = "/", common_headers: CommonHeaders | None = None) -> None:
        """`prefix` is the common prefix of the paths of all operations."""
        super().__init__(name, static_folder=None)
        self.url_map.converters |= {"int": WholeNumber, "default": Text}
        self.common_headers = common_headers or CommonHeaders()
        self._prefix = prefix
        self._operations: dict[tuple[str, str], Answer] = {}
        self._match_again = lru_cache(maxsize=_MATCHES)(self._match)

    def add_operation(self, method: str, rule: str, name: str, answer: Answer) -> None:
        """Have a method of the paths of a URL rule answered by a function."""
        self.add_url_rule(rule, endpoint=name, methods=[method])
        self._operations[name, method] = answer
        if method == "GET":
            self._operations[name, "HEAD"] = answer

    async def answer(self, request: Request) -> ResponseTypes:
        """Answer a request."""
        found = None
        # As Quart matches it: the target may be a whole URL, or begin with several slashes.
        if request.path.startswith(self._prefix):
            match = self._match_again if len(request.path) <= _MATCHED_LENGTH else self._match
            with suppress(HTTPException):  # a redirect among them, which Quart answers
                found, parameters = match(request.path, request.method)
        if found is None:
            return await self.handle_request(request)
        return await found(request, dict(parameters))

    def _match(self, path: str, method: str) -> tuple[Answer | None, Mapping[str, int | str]]:
        endpoint, parameters = self.url_map.bind("").match(path, method)
        return self._operations.get((endpoint, method)), parameters
