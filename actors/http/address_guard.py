"""Checks the addresses of outgoing connections: users must not reach private networks through the server.

A name is resolved once, and the connection goes to the address that was checked, so a second, different
answer of the name server (DNS rebinding) has no effect.
"""

import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeAlias

import trio

from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.http.special_addresses import Address, is_public, reached

Network: TypeAlias = IPv4Network | IPv6Network

MAX_ADDRESSES = 8
"""Most addresses of one name that are tried."""
_NOBODYS = {4: "192.0.2.1", 6: "2001:db8::1"}
"""Addresses for documentation; where these can be bound to, the system lets programs bind to any."""


def is_own(address: Address) -> bool:
    """Return whether an address is one of this machine: only those can be bound to."""
    return _binds(str(address)) and not _binds(_NOBODYS[address.version])


def _binds(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


async def _addresses(host: str, port: int) -> tuple[str, ...]:
    found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


@dataclass(frozen=True)
class OwnServer:
    """Where the server itself is reached from outside, be it through a router that forwards to it."""

    hosts: tuple[str, ...] = ()
    """Names or addresses that users know the server by."""
    ports: frozenset[int] = frozenset()


class AddressGuard:
    """Permits public addresses, and the private networks that the operator allows (`webhook.allow`).

    Public addresses of this machine, and of the server as seen from outside, count as private ones: other
    services may accept requests from the server's addresses that they would refuse from its users.
    """

    def __init__(self, allow: Iterable[str] = (), own: OwnServer | None = None) -> None:
        self._allow: tuple[Network, ...] = tuple(ip_network(network, strict=False) for network in allow)
        self._own = own or OwnServer()

    def permits(self, address: Address) -> bool:
        """Return whether a user may make the server connect to an address."""
        return self._is_allowed(address) or (is_public(address) and not any(map(is_own, reached(address))))

    def _is_allowed(self, address: Address) -> bool:
        return self._is_listed(address) or all(map(self._is_listed, reached(address)))

    def _is_listed(self, address: Address) -> bool:
        return any(address in network for network in self._allow)

    async def _own_addresses(self, port: int) -> set[Address]:
        if port not in self._own.ports:
            return set()
        found: set[Address] = set()
        for host in self._own.hosts:
            with suppress(OSError, UnicodeError):
                for text in await _addresses(host, port):
                    found.update(reached(ip_address(text)))
        return {address for address in found if not self._is_listed(address)}

    def check_host(self, host: str, *, listed_only: bool = False) -> None:
        """Refuse a host that is not permitted whatever its name resolves to; `listed_only` as of `resolve`.

        Raises:
            DeliveryRefused: it is an address that is not permitted, or only `webhook.allow` could permit it.
        """
        try:
            address = ip_address(host)
        except ValueError:
            if listed_only and not self._allow:
                raise _not_listed(host) from None
            return
        if listed_only and not self._is_allowed(address):
            raise _not_listed(host)
        if not self.permits(address):
            raise _private(host)

    async def resolve(
        self, host: str, port: int, *, trusted: bool = False, listed_only: bool = False
    ) -> tuple[str, ...]:
        """Return the addresses of a host that may be connected to, in the resolver's order.

        With `trusted` every address is permitted: for hosts that the operator's settings name. With
        `listed_only` only addresses in `webhook.allow` are.

        Raises:
            Unreachable: the name has no address.
            DeliveryRefused: none of its addresses is permitted.
        """
        try:
            texts = await _addresses(host, port)
        except (OSError, UnicodeError):
            raise Unreachable(f"{host} has no address", cause="dns") from None
        if not trusted:
            own = await self._own_addresses(port)
            texts = tuple(
                text
                for text, address in zip(texts, map(ip_address, texts), strict=True)
                if own.isdisjoint(reached(address))
                and (self._is_allowed(address) if listed_only else self.permits(address))
            )
        if not texts:
            raise _not_listed(host) if listed_only else _private(host)
        return texts[:MAX_ADDRESSES]


def _not_listed(host: str) -> DeliveryRefused:
    return DeliveryRefused(
        f"{host} may be reached by https on port 443, 8443 or 1024 and up only",
        permanent=True,
        cause="blocked",
    )


def _private(host: str) -> DeliveryRefused:
    return DeliveryRefused(
        f"{host} lies in a private network or is this server, which webhook.allow does not name",
        permanent=True,
        cause="blocked",
    )
