"""Addresses of clients, directly connected or behind proxies (docs/decisions/0019)."""

import ipaddress

from quart import Request, Websocket

from motorpool.actors.gateway.limits import parse_address

__all__ = ["client_address", "is_trusted", "peer_address"]


def client_address(request: Request | Websocket, trusted: tuple[str, ...]) -> str:
    """Walk back over trusted proxies to the first address that is not one.

    Some proxies append to the header line, others add a line of their own: all lines are one list (RFC 9110,
    section 5.3).
    """
    address = peer_address(request)
    if not is_trusted(address, trusted):
        return address
    lines = request.headers.getlist("X-Forwarded-For")
    hops = [hop.strip() for line in lines for hop in line.split(",") if hop.strip()]
    while hops and is_trusted(address, trusted):
        address = hops.pop()
    return address


def peer_address(request: Request | Websocket) -> str:
    """The address at the other end of the socket."""
    client = request.scope.get("client")
    return str(client[0]) if client else "127.0.0.1"


def is_trusted(address: str, networks: tuple[str, ...]) -> bool:
    """Whether an address lies in one of the networks; an IPv4 address may have the form of IPv6."""
    if not networks:
        return False
    try:
        found = parse_address(address)
    except ValueError:
        return False
    return any(found in ipaddress.ip_network(network, strict=False) for network in networks)
