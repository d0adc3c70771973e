"""Which pages may have a browser send a request (docs/authentication.md#pages-of-other-sites).

Browsers send cookies, and the passwords they keep for Basic, with requests of any page, and say whose page it
is: in `Sec-Fetch-Site` where the server is reached by TLS or on the same machine, and in `Origin` with what
may change something. Other clients send neither.
"""

from quart import Request, Websocket

from motorpool.api.http.addresses import peer_address
from motorpool.api.http.errors import Forbidden
from motorpool.api.http.origins import host_of, is_of_host
from motorpool.api.server_context import ServerContext


def refuse_foreign_page(context: ServerContext, request: Request | Websocket) -> None:
    """Refuse a request that a page of another site, or of another host of this one, made a browser send.

    A bearer token is sent by who has it, never by a browser on its own.

    Raises:
        Forbidden: the request is such a one.
    """
    headers = request.headers
    origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
    if (origin is None and site is None) or (origin is not None and origin in context.cors_origins):
        return
    if headers.get("Authorization", "").lower().startswith("bearer "):
        return
    match site:
        case "same-origin":
            # Also where a proxy changes `Host` and is not named in the settings.
            return
        case "cross-site" | "same-site":
            is_foreign = True
        case _:  # none, or typed into the address bar
            is_foreign = origin is not None and not _is_own(context, request, origin)
    if is_foreign:
        raise Forbidden("a page of another site may not do this")


def is_origin_of_session(
    context: ServerContext, request: Request | Websocket, session_origin: str | None
) -> bool:
    """Return whether a request with a session's cookie comes from the origin from which the session began."""
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    if session_origin is not None:
        return origin == session_origin
    return _is_own(context, request, origin)


def _is_own(context: ServerContext, request: Request | Websocket, origin: str) -> bool:
    """Return whether an origin is this server, as the request or the settings name it."""
    hosts = [request.headers.get("Host", "")]
    if peer_address(request) in context.trusted_proxies:
        hosts.append(request.headers.get("X-Forwarded-Host", ""))
    if context.settings.public.url:
        hosts.append(host_of(context.settings.public.url))
    return is_of_host(origin, hosts)
