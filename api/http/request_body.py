"""Request bodies that are read only as far, and as fast, as an operation takes them.

Quart collects a body whether or not anybody wants it. Here what is not read stays in the socket: before an
operation has decided to read, at most `AHEAD_BYTES` of it are in memory.
"""

from collections.abc import Callable
from functools import cached_property
from io import BytesIO
from typing import Never
from urllib.parse import parse_qsl

import trio
from hypercorn.typing import HTTPScope
from quart_trio.wrappers import TrioRequest
from werkzeug.datastructures import Headers, MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser
from werkzeug.sansio.request import Request as SansIORequest

from motorpool.api.http.errors import BadRequest, BodyTooLarge, Unavailable
from motorpool.api.http.fast_path import RequestHeaders
from motorpool.runtime import Signal

AHEAD_BYTES = 64 * 1024
"""Bytes that wait for the operation."""
DRAIN_SECONDS = 1.0
"""How long an answer waits for the end of the body that it did not need."""
FORM_BYTES = 64 * 1024
"""Largest form, and largest body of an anonymous client."""
FORM_FIELDS = 50


class RequestBody:
    """The body of one request: fed by the connection, read once by the operation."""

    def __init__(self, expected_bytes: int | None, max_bytes: int | None) -> None:
        """`expected_bytes` is Content-Length, if there is one; None for `max_bytes` is no limit."""
        self._expected = expected_bytes
        self._max = max_bytes
        self._waiting = bytearray()
        self._received = 0
        self._is_complete = False
        self._is_discarded = False
        self._is_cut = False
        """Whether the client has disconnected before the end."""
        self._changed = Signal()

    # Called by the connection

    async def feed(self, data: bytes, *, is_last: bool) -> None:
        """Add bytes, waiting while too many are unread; once discarded they are dropped."""
        self._received += len(data)
        if not self._is_discarded:
            self._waiting += data
        self._is_complete = self._is_complete or is_last
        self._notify()
        while len(self._waiting) > AHEAD_BYTES and not self._is_discarded:
            await self._changed.wait()

    def cut(self) -> None:
        """Note that no more comes."""
        self._is_cut = True
        self._notify()

    async def drain(self) -> bool:
        """Drop what is unread and what follows: the answer begins. Return whether the end has come.

        Where it has not, the connection is of no use after the answer, and a client that sends its next
        request there gets none. So the end of a short body is waited for.
        """
        self._is_discarded = True
        self._waiting.clear()
        self._notify()
        is_short = self._expected is not None and self._expected <= AHEAD_BYTES
        with trio.move_on_after(DRAIN_SECONDS, shield=True):
            while is_short and not (self._is_complete or self._is_cut):
                self._changed.clear()
                await self._changed.wait()
        return self._is_complete

    def set_result(self, data: bytes) -> None:
        """Set the whole body at once, for Quart's test contexts."""
        self._waiting += data
        self._is_complete = True

    def _notify(self) -> None:
        self._changed.set()

    # Called by the operation

    def __aiter__(self) -> "RequestBody":
        return self

    async def __anext__(self) -> bytes:
        """Return the next bytes; raises BodyTooLarge where Content-Length exceeds the limit of all bodies."""
        await self._check(self._max)
        while not self._waiting:
            if self._is_complete or self._is_discarded:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        data = bytes(self._waiting)
        self._waiting.clear()
        self._notify()
        return data

    async def _check(self, max_bytes: int | None) -> None:
        """Raise BodyTooLarge if the client has announced more."""
        if max_bytes is not None and self._expected is not None and self._expected > max_bytes:
            await self.refuse(max_bytes)

    async def refuse(self, max_bytes: int) -> Never:
        """Raise BodyTooLarge, but let a body of at most twice `max_bytes` come to its end before.

        Many clients do not read while they send, and proxies that cannot send all of it may answer 502.
        """
        most = 2 * max_bytes
        if self._expected is None or self._expected <= most:
            while not self._is_complete and self._received <= most:
                self._waiting.clear()
                self._notify()
                self._changed.clear()
                await self._changed.wait()
        raise BodyTooLarge("the body is too large", Connection="close")

    async def read(self, *, max_bytes: int, seconds: float, take: Callable[[int], bool]) -> bytes:
        """Return the whole body.

        `take` is called with the number of bytes about to be held; where it returns False the server holds
        too much already.

        Raises:
            BodyTooLarge: more than `max_bytes`.
            BadRequest: it did not arrive within `seconds`.
            Unavailable: `take` returned False.
        """
        whole = bytearray()
        with trio.move_on_after(seconds) as patience:
            await self._check(max_bytes)
            async for piece in self:
                if len(whole) + len(piece) > max_bytes:
                    await self.refuse(max_bytes)
                if not take(len(piece)):
                    raise Unavailable("too many large requests at once; try again")
                whole += piece
        if patience.cancelled_caught:
            raise BadRequest("the body did not arrive in time", Connection="close")
        return bytes(whole)


class BodyRequest(TrioRequest):
    """A request whose `body` is a `RequestBody`; Quart's own ways to read it are not used."""

    _files = None
    """No files are parsed, so that Quart has none to close."""

    def __init__(
        self,
        method: str,
        scheme: str,
        path: str,
        query_string: bytes,
        headers: Headers,
        root_path: str,
        http_version: str,
        scope: HTTPScope,
        *,
        max_content_length: int | None = None,
        **_others: object,
    ) -> None:
        # Not Quart's constructor: that makes what reads bodies for each request, most of which have none.
        client = scope.get("client")
        SansIORequest.__init__(
            self,
            method,
            scheme,
            scope.get("server"),
            root_path,
            path,
            query_string,
            headers,
            client[0] if client else None,
        )
        self.http_version = http_version
        self.scope = scope
        self._most_bytes = max_content_length

    @cached_property
    def body(self) -> RequestBody:  # type: ignore[override]  # Quart's is an attribute
        """The body as it arrives."""
        return RequestBody(self.content_length, self._most_bytes)

    @cached_property
    def cookies(self) -> MultiDict[str, str]:  # type: ignore[override]  # werkzeug has another type
        """The cookies that it brings."""
        shared = self.headers
        return shared.cookies if isinstance(shared, RequestHeaders) else super().cookies


def parse_form(body: bytes, media_type: str, options: dict[str, str]) -> dict[str, list[str]]:
    """Parse a form, urlencoded or multipart without files; any other media type holds no fields.

    Raises:
        BadRequest: more than `FORM_FIELDS` fields, or not UTF-8.
    """
    if media_type == "multipart/form-data":
        parser = FormDataParser(max_form_memory_size=FORM_BYTES, max_form_parts=FORM_FIELDS)
        try:
            _, fields, _ = parser.parse(BytesIO(body), media_type, len(body), options)
        except RequestEntityTooLarge:
            raise BadRequest(f"the form has more than {FORM_FIELDS} fields") from None
        return dict(fields.to_dict(flat=False))
    found: dict[str, list[str]] = {}
    if media_type == "application/x-www-form-urlencoded":
        if body.count(b"&") >= FORM_FIELDS:
            raise BadRequest(f"the form has more than {FORM_FIELDS} fields")
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True)
        except UnicodeDecodeError:
            raise BadRequest("the form is not UTF-8") from None
        for name, value in pairs:
            found.setdefault(name, []).append(value)
    return found
