"""The headers that answers have in common, added where an answer is sent: as bytes, which are made once."""

from collections.abc import Collection

from hypercorn.typing import HTTPScope

from motorpool.api.http.fast_path import HeaderLines
from motorpool.api.http.origins import Origins, path_of

Headers = list[tuple[bytes, bytes]]

PREFLIGHT_SECONDS = 7200
"""How long browsers may cache a preflight answer, in seconds; they cap it at two hours."""
_SECURITY: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
]
_REFERRER_OF_PAGES = (b"referrer-policy", b"same-origin")
_REFERRER_OF_API = (b"referrer-policy", b"no-referrer")
"""Addresses of the API may hold a token, or the code of a login at an OpenID provider."""
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
_STRICT_TRANSPORT = {
    "host": [(b"strict-transport-security", b"max-age=31536000")],
    "subdomains": [(b"strict-transport-security", b"max-age=31536000; includeSubDomains")],
    "off": [],
}
"""By `[http] hsts` (RFC 6797)."""


class CommonHeaders:
    """Adds them to the headers of an answer."""

    def __init__(
        self, *, is_tls: bool = False, hsts: str | None = None, cors_origin: str | None = None
    ) -> None:
        """`hsts` and `cors_origin` are the settings of these names; `is_tls`: all answers go out over TLS."""
        strict = _STRICT_TRANSPORT[hsts or ("subdomains" if is_tls else "off")]
        self._of_pages = [*_SECURITY, _REFERRER_OF_PAGES]
        self._of_api = [*_SECURITY, _REFERRER_OF_API, *_CORS]
        self._behind_tls: Headers = [] if is_tls else strict
        if is_tls:
            self._of_pages += strict
            self._of_api += strict
        self._origins = Origins(cors_origin)

    def add(self, scope: HTTPScope, headers: Collection[tuple[bytes, bytes]]) -> Headers:
        """Return the headers of an answer, with names in lower case, and those that are added to them."""
        is_api = path_of(scope["path"]).startswith("/api/")
        lines = scope["headers"]
        sent = lines.values if isinstance(lines, HeaderLines) else dict(lines)
        added = [*headers, *(self._of_api if is_api else self._of_pages)]
        # Nobody but the client itself is concerned if it is not a trusted proxy that says so.
        if self._behind_tls and sent.get(b"x-forwarded-proto") == b"https":
            added += self._behind_tls
        if not is_api:
            return added
        if not any(name == b"cache-control" for name, _ in headers):
            added.append(_NOT_STORED)
        if scope["method"] == "OPTIONS":
            added.append(_MAX_AGE)
        origin = sent.get(b"origin")
        if origin is None:
            added.append((_ALLOW_ORIGIN, b"*"))
        elif origin.decode("latin-1") in self._origins:
            added.append((_ALLOW_ORIGIN, origin))
        return added
