"""Checks the addresses of outgoing connections: users must not reach private networks through the server.

A name is resolved once, and the connection goes to the address that was checked, so a second, different
answer of the name server (DNS rebinding) has no effect.
"""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

import trio

from motorpool.actors.outgoing.errors import DeliveryRefused, Unreachable

__all__ = ["AddressGuard", "is_public"]

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

MAX_ADDRESSES = 8
"""Of one name, the most that are tried."""
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")


def is_public(address: Address) -> bool:
    """Return whether an address is globally reachable; IPv4 embedded in IPv6 counts as IPv4."""
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local or address in _LOCAL_NAT64:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address embedded in an IPv6 address, if there is one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


class AddressGuard:
    """Permits public addresses, and the private networks that the operator allows (`webhook.allow`)."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allow: tuple[Network, ...] = tuple(ip_network(network, strict=False) for network in allow)

    def permits(self, address: Address) -> bool:
        """Return whether a user may make the server connect to an address."""
        if is_public(address):
            return True
        inner = _inner(address) if isinstance(address, IPv6Address) else None
        return any(address in network or (inner is not None and inner in network) for network in self._allow)

    async def resolve(self, host: str, port: int, *, trusted: bool = False) -> tuple[str, ...]:
        """Return the addresses of a host that may be connected to, in the resolver's order.

        With `trusted` every address is permitted: for hosts that the operator's settings name.

        Raises:
            Unreachable: the name has no address.
            DeliveryRefused: none of its addresses is permitted.
        """
        try:
            found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise Unreachable(f"{host} has no address") from None
        texts = tuple(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
        if not trusted:
            texts = tuple(text for text in texts if self.permits(ip_address(text)))
        if not texts:
            raise DeliveryRefused(
                f"{host} lies in a private network, which webhook.allow does not name", permanent=True
            )
        return texts[:MAX_ADDRESSES]
