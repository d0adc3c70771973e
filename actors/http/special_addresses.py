"""Addresses that belong to nobody on the internet, or to whoever is nearest (RFC 6890 and its registries).

A table of our own, as `ipaddress.is_global` differs between versions of Python and follows the registries
late. Entries that the registries call globally reachable are in it: anycast addresses of protocols lead to
a server in the network of whoever asks.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_IPV4 = (
    # https://www.iana.org/assignments/iana-ipv4-special-registry as of 2025, without entries within others.
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # shared by customers of a carrier; settings of machines at Alibaba (100.100.100.200)
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local; settings of machines at most clouds (169.254.169.254)
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # assigned to protocols; settings of machines at Oracle (192.0.0.192)
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112, anycast
    "192.52.193.0/24",  # AMT, anycast
    "192.88.99.0/24",  # relays of 6to4, deprecated
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112, anycast
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and the limited broadcast
    # In no registry.
    "168.63.129.16/32",  # the host of a machine at Azure
)
_IPV6 = (
    # https://www.iana.org/assignments/iana-ipv6-special-registry as of 2025, so far as it is within 2000::/3.
    "2001::/23",  # assigned to protocols: Teredo, benchmarks, AMT, AS112, ORCHID, DRIP, anycast
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4, of which relays are gone
    "2620:4f:8000::/48",  # AS112, anycast
    "3fff::/20",  # documentation
)
_SPECIAL_IPV4 = tuple(map(IPv4Network, _IPV4))
_SPECIAL_IPV6 = tuple(map(IPv6Network, _IPV6))
_GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All that IANA gives to anybody; loopback, private, link-local and other addresses lie outside."""
_NAT64 = IPv6Network("64:ff9b::/96")
"""Translated into IPv4 by the network, for any address of the internet (RFC 6052)."""
_ISATAP = 0x5EFE
"""Second 16 bits of an interface identifier that ends with an IPv4 address (RFC 5214, section 6.1)."""
_UNIVERSAL_OR_GROUP = 0x0300
"""The bits that may be set in the first 16."""


def is_public(address: Address) -> bool:
    """Return whether an address, with any IPv4 address in it, belongs to somebody on the internet."""
    return all(map(_is_ordinary, reached(address)))


def reached(address: Address) -> tuple[Address, ...]:
    """Return the addresses that a connection to an address may reach: itself, or what it is translated to.

    Both for ISATAP. Of other tunnels (6to4, Teredo) no address is public.
    """
    if isinstance(address, IPv4Address):
        return (address,)
    inner = IPv4Address(int(address) & 0xFFFF_FFFF)
    if address.ipv4_mapped is not None or address in _NAT64:
        return (inner,)
    if (int(address) >> 32) & 0xFFFF_FFFF & ~(_UNIVERSAL_OR_GROUP << 16) == _ISATAP:
        return (address, inner)
    return (address,)


def _is_ordinary(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_IPV4)
    return address in _GLOBAL_UNICAST and not any(address in network for network in _SPECIAL_IPV6)
