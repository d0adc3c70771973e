"""Cookies of logins (docs/authentication.md#cookies)."""

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from quart import Request, Response, Websocket

from motorpool.api.http.addresses import uses_tls
from motorpool.api.server_context import ServerContext

PREFIX = "__Host-"
"""Browsers take a cookie of such a name over TLS from this host alone, for all its paths
(https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-the-__host-prefix)."""


@dataclass(frozen=True, kw_only=True)
class Cookie:
    """A cookie that scripts cannot read, and that pages of other sites send with links only.

    Over TLS its name has the prefix `__Host-`, so that neither another host of the domain nor somebody
    between browser and server can set it.
    """

    name: str
    path: str = "/"
    """Where it is sent without TLS, below the path at which a proxy serves us; with TLS everywhere."""
    for_programs: bool = False
    """Clients that are no browsers look for it by its name, so that they get and may send it without the
    prefix too."""

    def read(self, context: ServerContext, request: Request | Websocket) -> str | None:
        """Return the value that a request brings; None if there is none."""
        if not _is_secure(context, request):
            return request.cookies.get(self.name)
        found = request.cookies.get(PREFIX + self.name)
        if found is None and self.for_programs and not _is_browser(request):
            found = request.cookies.get(self.name)
        return found

    def set(
        self,
        context: ServerContext,
        request: Request,
        response: Response,
        value: str,
        *,
        lifetime: timedelta,
    ) -> None:
        """Have the client keep a value for a time."""
        secure = _is_secure(context, request)
        for name in self._names(request, secure=secure):
            response.set_cookie(
                name,
                value,
                max_age=lifetime,
                path=self._path(context, secure=secure),
                secure=secure,
                httponly=True,
                samesite="Lax",
            )

    def delete(self, context: ServerContext, request: Request, response: Response) -> None:
        """Have the client forget the value."""
        secure = _is_secure(context, request)
        for name in self._names(request, secure=secure):
            response.delete_cookie(
                name,
                path=self._path(context, secure=secure),
                secure=secure,
                httponly=True,
                samesite="Lax",
            )

    def _names(self, request: Request, *, secure: bool) -> list[str]:
        if not secure:
            return [self.name]
        also = [self.name] if self.for_programs and not _is_browser(request) else []
        return [PREFIX + self.name, *also]

    def _path(self, context: ServerContext, *, secure: bool) -> str:
        if secure or self.path == "/":
            return "/"
        return urlsplit(context.settings.public_url).path.rstrip("/") + self.path


def _is_secure(context: ServerContext, request: Request | Websocket) -> bool:
    return context.settings.http.cookie_secure or uses_tls(request, context.trusted_proxies)


def _is_browser(request: Request | Websocket) -> bool:
    """Return whether a request over TLS comes from a browser, each of which says on whose behalf it asks."""
    return "Sec-Fetch-Site" in request.headers
