"""Addresses of clients, directly connected or behind proxies (docs/decisions/0019)."""

from quart import Request, Websocket

from motorpool.actors.work.networks import Networks

_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "Via")
"""Headers of proxies."""


def client_address(request: Request | Websocket, trusted: Networks) -> str:
    """Walk back over trusted proxies to the first address that is not one.

    Some proxies append to the header line, others add a line of their own: all lines are one list (RFC 9110,
    section 5.3).
    """
    address = peer_address(request)
    if address not in trusted:
        return address
    lines = request.headers.getlist("X-Forwarded-For")
    hops = [hop.strip() for line in lines for hop in line.split(",") if hop.strip()]
    while hops and address in trusted:
        address = hops.pop()
    return address


def is_forwarded(request: Request | Websocket) -> bool:
    """Return whether a proxy says that it passes the request on."""
    return any(name in request.headers for name in _FORWARDED)


def uses_tls(request: Request | Websocket, trusted: Networks) -> bool:
    """Return whether the client uses TLS, towards us or a trusted proxy."""
    scheme = request.scheme
    if peer_address(request) in trusted:
        scheme = request.headers.get("X-Forwarded-Proto", scheme)
    return scheme in {"https", "wss"}


def peer_address(request: Request | Websocket) -> str:
    """The address at the other end of the socket."""
    client = request.scope.get("client")
    return str(client[0]) if client else "127.0.0.1"
