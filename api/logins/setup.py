"""Who may register as the first user, and so become the administrator: a client on this machine, or one with
the set-up token that the server prints at its start (docs/users.md#the-first-user).
"""

import hmac
import ipaddress
import secrets
from urllib.parse import urlsplit

from quart import Request

from motorpool.actors.work.networks import Networks
from motorpool.api.engine.call import Call
from motorpool.api.http.addresses import client_address, peer_address
from motorpool.storage.accounts import tokens
from motorpool.storage.database.queries import Queries

HEADER = "X-Setup-Token"
REFUSAL = "the first user registers on the server's own machine, or with the set-up token that it prints"
_FORWARDING_HEADERS = (
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Real-IP",
    "Forwarded",
    "Via",
)
_KEY = "set-up"
"""Name of the token in the table of keys."""


async def fetch_setup_token(database: Queries) -> str:
    """Return the set-up token: the same for all servers on the database, and after a restart."""
    stored = await tokens.signing_key(database, _KEY, lambda: secrets.token_urlsafe(16).encode())
    return stored.decode()


def may_set_up(call: Call, token: str | None = None) -> bool:
    """Return whether the client may become the administrator of a new server.

    `token` is the set-up token that was sent, if not in the header.
    """
    sent = token or call.request.headers.get(HEADER, "")
    expected = call.context.logins.setup_token
    if hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), expected.encode()):
        return True
    return _is_local(call.request, call.context.trusted_proxies)


def _is_local(request: Request, trusted: Networks) -> bool:
    """Return whether a request comes from this machine and from no proxy on it, and not from a foreign page
    in a browser on it.
    """
    if not _is_loopback(peer_address(request)):
        return False
    proxied = any(name in request.headers for name in _FORWARDING_HEADERS)
    if proxied and peer_address(request) not in trusted:
        return False
    # HTTP/1.0 is what a proxy speaks that has not been configured.
    if not _is_loopback(client_address(request, trusted)) or request.http_version == "1.0":
        return False
    # A name that resolves to this machine may be anybody's: browsers send it here for a page of theirs.
    if not _is_loopback(urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""):
        return False
    origin = request.headers.get("Origin")
    return origin is None or _is_loopback(urlsplit(origin).hostname or "")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
