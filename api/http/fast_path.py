"""What clients send most, read and answered without h11: one GET of HTTP/1.1, without a body.

h11 and Hypercorn take a third of the time of a short answer. They read what does not have this form, and
write answers in pieces. Both ways accept the same, and write the same bytes.
"""

import re
from collections.abc import Callable, Coroutine, Generator, Iterable
from functools import cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from werkzeug.datastructures import Headers, ImmutableMultiDict, MultiDict
from werkzeug.sansio.http import parse_cookie

from motorpool.codecs.http_heads import REQUEST_LINE, read_headers

T = TypeVar("T")

KEPT_HEADS = 512
"""Different headers of requests of which it is remembered what they say, as clients send the same ones again,
and heads of answers, which repeat within the second of their date."""
KEPT_BYTES = 4096
"""Longer ones are not remembered."""
_NAME = re.compile(rb"[-!#$%&'*+.^_`|~0-9a-z]+")
_PRINTABLE = bytes(range(0x20, 0x7F))
_FRAMING = frozenset((b"connection", b"transfer-encoding"))
_WITHOUT_BODY = frozenset((204, 304))


class RequestHeaders(Headers):
    """Headers of a request, checked when it was read; not to be changed, as requests share them."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        # Without the checks of each one that werkzeug makes where an application adds it.
        self._list = [(name.decode("latin-1").title(), value.decode("latin-1")) for name, value in headers]
        self._first = {name.lower(): value for name, value in reversed(self._list)}

    def get(self, key: str, default: Any = None, type: Any = None) -> Any:  # type: ignore[override]  # noqa: A002, ANN401
        """Return the first header of a name."""
        if type is not None:
            return super().get(key, default, type)
        return self._first.get(key.lower(), default)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._first

    @cached_property
    def cookies(self) -> MultiDict[str, str]:
        """The cookies that they bring."""
        return parse_cookie("; ".join(self.getlist("Cookie")), cls=ImmutableMultiDict)


class HeaderLines(list[tuple[bytes, bytes]]):
    """Headers of a request as ASGI has them, and as they are for the application."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        super().__init__(headers)
        self.shared = RequestHeaders(self)
        """The same for all requests that have them."""
        self.values = dict(self)
        """By name; where one is repeated, the last."""


class Head(NamedTuple):
    """The head of a request."""

    target: bytes
    headers: HeaderLines


def read_head(data: bytes) -> Head | None:
    """Read bytes that are one GET of HTTP/1.1 without a body; None where they are anything else."""
    found = REQUEST_LINE.match(data)
    if found is None or found[1] != b"GET":
        return None
    lines = data[found.end() :]
    headers = (_read_lines if len(lines) <= KEPT_BYTES else _read_lines.__wrapped__)(lines)
    return None if headers is None else Head(found[2], headers)


@lru_cache(maxsize=KEPT_HEADS)
def _read_lines(lines: bytes) -> HeaderLines | None:
    headers = read_headers(lines)
    if headers is None or any(name == b"content-length" for name, _ in headers):
        return None
    return HeaderLines(headers)


@lru_cache(maxsize=KEPT_HEADS)
def write_head(status: int, headers: tuple[tuple[bytes, bytes], ...], body_bytes: int) -> bytes | None:
    """Return the head of an answer to a GET, with a body of this length; None where h11 has to decide.

    That is where the connection ends with it, the length of the body is another one, or a header is invalid.
    """
    if status < 200 or status in _WITHOUT_BODY:
        return None
    lines, lengths = [], 0
    for name, value in headers:
        if name == b"content-length":
            lengths += 1
            if value != b"%d" % body_bytes:
                return None
        elif not _may_send(name) or value != value.strip():
            return None
        lines.append(b"%b: %b\r\n" % (name, value))
    head = b"".join(lines)
    # Nothing but printable characters and the ends of these lines.
    if lengths != 1 or head.translate(None, _PRINTABLE) != b"\r\n" * len(lines):
        return None
    return b"HTTP/1.1 %d \r\n%b\r\n" % (status, head)


@lru_cache(maxsize=256)
def _may_send(name: bytes) -> bool:
    return name not in _FRAMING and _NAME.fullmatch(name) is not None


class FirstWait(Generic[T]):
    """Awaits a coroutine, and calls a function before its first wait, if it has to wait at all."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], begins: Callable[[], None]) -> None:
        self._coroutine = coroutine
        self._begins = begins

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._coroutine
        try:
            trap = steps.send(None)
            self._begins()
            while True:
                try:
                    outcome = yield trap
                except BaseException as error:
                    trap = steps.throw(error)
                else:
                    trap = steps.send(outcome)
        except StopIteration as end:
            result: T = end.value
            return result
