"""The base of codecs whose devices send HTTP requests: they read one whole request at a time.

HTTP (RFC 9112) is read by h11. A request is answered once its positions are stored; answers keep the order of
the requests, so that a peer may send the next one earlier.
"""

import abc
import re
from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Final, NamedTuple
from urllib.parse import parse_qs

import h11

from motorpool.codecs.devices.base import DeviceCodec, add_positions
from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.errors import CodecError
from motorpool.codecs.http_heads import REQUEST_LINE, read_headers
from motorpool.codecs.reports import (
    ImmediateReply,
    Login,
    PositionReport,
    Receipt,
    Report,
    Secret,
)

MAX_HEAD_BYTES = 16 * 1024
"""Request line and headers."""
MAX_BODY_BYTES = 256 * 1024
MAX_PLAIN_BYTES = 4 * 1024
"""A longer request is read by h11: of the heads of shorter ones it is remembered what they say."""
MAX_PIPELINED = 16
"""Requests of one peer that wait for answers."""

MAX_PARAMETERS = 256
"""Parameters of one request."""
SECRET: Final = "secret"  # noqa: S105 - the name of a parameter
"""The parameter by which a peer proves that it is the device."""

_SECRET_VALUE = re.compile(rb"(?i)(?<![^?&\s])(secret=)[^&\s]*")
ANSWER_SECONDS = 10.0
"""A request that was not stored this long after a tick has first seen it is answered with 503: its sender
waits no longer, and sends it again."""
RETRY_SECONDS = 5
"""What such an answer says in Retry-After."""

_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    404: b"Not Found",
    413: b"Content Too Large",
    503: b"Service Unavailable",
}
_NOT_STORED = b"the server cannot store this now; send it again"


class HttpRequest(NamedTuple):
    """The head of a request."""

    method: bytes
    target: bytes
    headers: Mapping[bytes, bytes]
    """By name in lower case."""


class Exchange:
    """One request and, later, its answer."""

    __slots__ = ("answer", "content_type", "http", "seen_at", "unknown_status")

    def __init__(self, http: h11.Connection | None, content_type: str) -> None:
        """`http` writes the answer; None: that is an answer to a GET or POST, after which others follow."""
        self.http = http
        self.content_type = content_type
        self.unknown_status = 400
        """Status for an unknown device; `read_request` may set another."""
        self.seen_at: float | None = None
        """When a tick first found it without an answer."""
        self.answer: bytes | None = None

    def write(self, status: int, text: bytes, *, last: bool = False) -> None:
        """Encode the answer; after the last one the connection is closed."""
        content_type = self.content_type if status == 200 else "text/plain; charset=utf-8"
        http = self.http
        if http is None:
            retry = b"retry-after: %d\r\n" % RETRY_SECONDS if status == 503 else b""
            self.answer = b"HTTP/1.1 %d %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n%b\r\n%b" % (
                status,
                _REASONS[status],
                content_type.encode(),
                len(text),
                retry,
                text,
            )
            return
        headers = [("content-type", content_type), ("content-length", str(len(text)))]
        if status == 503:
            headers.append(("retry-after", str(RETRY_SECONDS)))
        if last:
            headers.append(("connection", "close"))
        parts = (
            http.send(h11.Response(status_code=status, headers=headers, reason=_REASONS[status])),
            http.send(h11.Data(data=text)) if text else b"",
            http.send(h11.EndOfMessage()),
        )
        self.answer = b"".join(part for part in parts if part)


class Ignored(Exception):
    """A request that carries nothing for the server; it is answered with 200."""


class HttpCodec(DeviceCodec, abc.ABC):
    """The server's end of one HTTP connection. Commands wait for the next request."""

    transport = "http"
    request_response = True
    carries_secret = True
    content_type: ClassVar[str] = "text/plain; charset=utf-8"
    """Of an answer with 200."""

    @abc.abstractmethod
    def read_request(
        self, request: HttpRequest, body: bytes, exchange: Exchange
    ) -> tuple[str, list[PositionReport]]:
        """Return the unique id of the device and its positions; none: the device is only there.

        Raises:
            CodecError: the request cannot be read; it is answered with 400.
            Ignored: there is nothing in it, not even an identity.
        """

    def read_secret(self, request: HttpRequest, body: bytes) -> Secret | None:
        """Return the parameter `secret` of a request that could be read; None if it has none."""
        del body
        return secret_of(request.target.decode("ascii", "replace").partition("?")[2])

    @abc.abstractmethod
    def answer(self, commands: Sequence[bytes]) -> bytes:
        """Return the body of an answer with the encoded commands that wait, which may be none."""

    def __init__(self) -> None:
        self._http = _new_http()
        self._request: h11.Request | None = None
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._login: Login | None = None
        """That of the last request; None: the next one is identified again."""
        self._exchanges: dict[int, Exchange] = {}
        """By receipt, in the order of the requests."""
        self._request_count = 0
        self._started = False
        """Whether bytes of the next request were received."""
        self._ended = False
        """Whether the last request is complete, or the stream is not HTTP."""
        self._queued_texts: deque[bytes] = deque()

    def receive(self, data: bytes) -> list[Report]:
        """Return the reports of all requests that are complete with these bytes.

        Raises:
            CodecError: too many requests wait for answers, or bytes follow the last answer.
        """
        reports: list[Report] = []
        if self._ended:
            if self.closing:
                raise CodecError("bytes after the last answer")
            return reports
        if not self._started:
            data = data.lstrip(b"\r\n")  # old clients append it to a body (RFC 9112, section 2.2)
        if not data:
            return reports
        if not self._started and (request := _read_plain(data)) is not None:
            self._serve(request, b"", self._new_exchange(None), reports)
            return reports
        self._started = True
        self._http.receive_data(data)
        while self._take_event(reports):
            pass
        return reports

    def acknowledge(self, receipts: Sequence[Receipt]) -> bytes:
        """Answer these requests with 200; the first answer carries the commands that wait."""
        for receipt in receipts:
            text = self.answer(self._queued_texts)
            if self._answer(receipt, 200, text):
                self._queued_texts.clear()
        return self._flush()

    def refuse(self, receipt: Receipt | None) -> bytes:
        """Answer with the status for unknown devices; the next request is identified again."""
        self._login = None
        if receipt is None:
            return b""
        assert isinstance(receipt, int)
        exchange = self._exchanges.get(receipt)
        if exchange is not None:
            self._answer(receipt, exchange.unknown_status, b"the device is not known")
        return self._flush()

    def give_up(self) -> bytes:
        """Answer all requests that wait with 503."""
        for receipt in tuple(self._exchanges):
            self._answer(receipt, 503, _NOT_STORED)
        return self._flush()

    def tick(self, now: float) -> bytes:
        """Answer with 503 what has waited too long."""
        for receipt, exchange in tuple(self._exchanges.items()):
            if exchange.seen_at is None:
                exchange.seen_at = now
            elif now - exchange.seen_at >= ANSWER_SECONDS:
                self._answer(receipt, 503, _NOT_STORED)
        return self._flush()

    def deliver(self, command: str) -> None:
        """Hold the text of a command; the next answer holds all of them."""
        self._queued_texts.append(command.encode(errors="replace"))

    @property
    def closing(self) -> bool:
        """Whether the last answer was returned."""
        return self._ended and not self._exchanges

    @property
    def buffered(self) -> int:
        """At most the head and the body of one request."""
        return len(self._http.trailing_data[0]) + self._body_bytes

    def _take_event(self, reports: list[Report]) -> bool:
        """Process the next event of h11; False where more bytes are needed."""
        try:
            event = self._http.next_event()
        except h11.RemoteProtocolError as error:
            self._reject(reports, str(error), 400)
            return False
        match event:
            case h11.Request():
                self._request = event
                headers = dict(event.headers)
                if b"transfer-encoding" in headers and b"content-length" in headers:
                    # A proxy that went by the other one sees another end (RFC 9112, section 6.3).
                    self._reject(reports, "a length of the body and a transfer coding", 400)
                elif int(headers.get(b"content-length", b"0")) > MAX_BODY_BYTES:
                    self._reject(reports, f"a body of more than {MAX_BODY_BYTES} bytes", 413)
                elif (b"expect", b"100-continue") in list(event.headers) and not self._exchanges:
                    answer = self._http.send(
                        h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
                    )
                    reports.append(ImmediateReply(answer or b""))
            case h11.Data():
                self._body.append(bytes(event.data))
                self._body_bytes += len(event.data)
                if self._body_bytes > MAX_BODY_BYTES:
                    self._reject(reports, f"a body of more than {MAX_BODY_BYTES} bytes", 413)
            case h11.EndOfMessage():
                self._complete(reports)
            case _:
                return False
        return not self._ended

    def _complete(self, reports: list[Report]) -> None:
        request, body = self._request, b"".join(self._body)
        assert request is not None
        exchange = self._new_exchange(self._http)
        rest = self._http.trailing_data[0]
        self._ended = self._http.their_state is h11.MUST_CLOSE
        self._start_next(rest)
        head = HttpRequest(bytes(request.method), bytes(request.target), dict(request.headers))
        self._serve(head, body, exchange, reports)

    def _serve(self, request: HttpRequest, body: bytes, exchange: Exchange, reports: list[Report]) -> None:
        try:
            unique_id, positions = self.read_request(request, body, exchange)
        except Ignored:
            self._answer(self._request_count, 200, self.answer(()))
            self._reply(reports)
            return
        except CodecError as error:
            text = b"" if request.method == b"HEAD" else str(error).encode()
            self._answer(self._request_count, 400, text)
            reports.append(rejected(error, _without_secret(request.target)))
            self._reply(reports)
            return
        # A proxy may send the requests of several peers over one connection.
        login = Login((unique_id,), secret=self.read_secret(request, body))
        if login != self._login:
            self._login = login
            reports.append(login)
        add_positions(positions, self._request_count, reports)

    def _reject(self, reports: list[Report], error: str, status: int) -> None:
        """Answer a request that cannot be read, and end the stream with it."""
        shown = bytes(self._request.target) if self._request else self._http.trailing_data[0]
        error = _without_secret(error.encode()).decode()  # h11 quotes what it cannot read
        reports.append(rejected(error, _without_secret(shown)))
        self._new_exchange(self._http).write(status, error.encode(), last=True)
        self._ended = True
        self._start_next(b"")
        self._reply(reports)

    def _new_exchange(self, http: h11.Connection | None) -> Exchange:
        if len(self._exchanges) >= MAX_PIPELINED:
            raise CodecError(f"more than {MAX_PIPELINED} requests wait for their answers")
        self._request_count += 1
        self._exchanges[self._request_count] = exchange = Exchange(http, self.content_type)
        return exchange

    def _start_next(self, rest: bytes) -> None:
        self._http = _new_http()
        self._request = None
        self._body.clear()
        self._body_bytes = 0
        rest = b"" if self._ended else rest.lstrip(b"\r\n")
        self._started = rest != b""
        if rest:
            self._http.receive_data(rest)

    def _answer(self, receipt: Receipt, status: int, text: bytes) -> bool:
        """Answer one request; False where it was answered before."""
        assert isinstance(receipt, int)
        exchange = self._exchanges.get(receipt)
        if exchange is None or exchange.answer is not None:
            return False
        exchange.write(status, text)
        return True

    def _flush(self) -> bytes:
        """Return the answers up to the first request without one."""
        answers: list[bytes] = []
        for receipt, exchange in tuple(self._exchanges.items()):
            if exchange.answer is None:
                break
            answers.append(exchange.answer)
            del self._exchanges[receipt]
        return b"".join(answers)

    def _reply(self, reports: list[Report]) -> None:
        if answer := self._flush():
            reports.append(ImmediateReply(answer))


def parse_parameters(query: str) -> dict[str, list[str]]:
    """Return the values of the parameters of a query or of a form, in the order of their first ones.

    Raises:
        ValueError: more than `MAX_PARAMETERS`.
    """
    if "%" in query or "+" in query:
        return parse_qs(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    # Without these there is nothing to decode; `parse_qs` takes several times as long.
    parts = query.split("&")
    if len(parts) > MAX_PARAMETERS:
        raise ValueError("too many parameters")
    found: dict[str, list[str]] = {}
    for part in parts:
        if part:
            name, _, value = part.partition("=")
            found.setdefault(name, []).append(value)
    return found


def secret_of(query: str) -> Secret | None:
    """Return the parameter `secret` of a query or of a form."""
    if SECRET not in query:
        return None
    try:
        values = parse_parameters(query).get(SECRET)
    except ValueError:
        return None
    return Secret(values[0]) if values else None


def _without_secret(shown: bytes) -> bytes:
    return _SECRET_VALUE.sub(rb"\1", shown)


def _new_http() -> h11.Connection:
    return h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)


def _read_plain(data: bytes) -> HttpRequest | None:
    """Read bytes that are one request without a body, in the form that most have; None for all others."""
    found = REQUEST_LINE.match(data)
    if found is None or len(data) > MAX_PLAIN_BYTES:
        return None
    headers = _headers_of(data[found.end() :])
    return None if headers is None else HttpRequest(found[1], found[2], headers)


@lru_cache(maxsize=256)
def _headers_of(lines: bytes) -> Mapping[bytes, bytes] | None:
    headers = read_headers(lines)
    if headers is None:
        return None
    found = dict(headers)
    return found if found.get(b"content-length", b"0") == b"0" else None
