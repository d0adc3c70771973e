"""The headers that answers have in common, added where an answer is sent: as bytes, which are made once."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from hypercorn.typing import HTTPScope

Headers = list[tuple[bytes, bytes]]

PREFLIGHT_SECONDS = 7200
"""How long browsers may cache a preflight answer, in seconds; they cap it at two hours."""
_SECURITY: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"referrer-policy", b"same-origin"),
]
_CORS: Headers = [
    (b"access-control-allow-headers", b"origin, content-type, accept, authorization, if-match"),
    (b"access-control-expose-headers", b"ETag, X-Warning"),
    (b"access-control-allow-credentials", b"true"),
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE, OPTIONS"),
    # Also without an Origin: a cached segment must not be used for a page of another origin later.
    (b"vary", b"Origin"),
]
_MAX_AGE = (b"access-control-max-age", str(PREFLIGHT_SECONDS).encode())
_ALLOW_ORIGIN = b"access-control-allow-origin"
_NOT_STORED = (b"cache-control", b"no-store")


class CommonHeaders:
    """Adds them to the headers of an answer."""

    def __init__(self, *, is_tls: bool = False, cors_origin: str | None = None) -> None:
        """`cors_origin` are the origins whose pages may use the API, with commas between them, or `*`."""
        security = list(_SECURITY)
        if is_tls:
            security.append((b"strict-transport-security", b"max-age=31536000"))
        self._of_all = security
        self._of_api = security + _CORS
        self._origins = frozenset(word.strip().encode() for word in (cors_origin or "").split(","))

    def add(self, scope: HTTPScope, headers: Iterable[tuple[bytes, bytes]]) -> Headers:
        """Return the headers of an answer, with names in lower case, and those that are added to them."""
        path = scope["path"]
        if not path.startswith("/"):
            path = urlsplit(path).path
        if not path.startswith("/api/"):
            return [*headers, *self._of_all]
        added = [*headers, *self._of_api]
        if b"cache-control" not in dict(added):
            added.append(_NOT_STORED)
        if scope["method"] == "OPTIONS":
            added.append(_MAX_AGE)
        origin = dict(scope["headers"]).get(b"origin")
        if origin is None:
            added.append((_ALLOW_ORIGIN, b"*"))
        elif origin and (b"*" in self._origins or origin in self._origins):
            added.append((_ALLOW_ORIGIN, origin))
        return added
