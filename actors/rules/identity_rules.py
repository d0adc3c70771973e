"""Who may report as a device: what is configured for it, and what a login has to show
(docs/devices.md#who-a-device-is).

The keys are looked up on the device, its groups and the server; the first text counts. Unlike settings of the
rules of positions they concern logins, and no report.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from motorpool.codecs.reports import Secret

NONE, PROTOCOL, REGISTRATION = "none", "protocol", "registration"
BINDINGS: Final = (NONE, PROTOCOL, REGISTRATION)
"""By what a device is known."""

BINDING_KEY: Final = "device.binding"
PROTOCOLS_KEY: Final = "device.protocols"
NETWORKS_KEY: Final = "device.networks"
SECRET_KEY: Final = "device.secret"  # noqa: S105 - the name of an attribute
IDENTITY_KEYS: Final = frozenset({BINDING_KEY, PROTOCOLS_KEY, NETWORKS_KEY, SECRET_KEY})
"""The keys of attributes that `read_identity_rules` looks up."""
MAX_NETWORKS: Final = 100

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class IdentityRules(msgspec.Struct, frozen=True, gc=False):
    """Who may report as a device."""

    binding: str = PROTOCOL
    protocols: frozenset[str] = frozenset()
    """The protocols that it may use, whatever it is bound to; empty: only the one that it is bound to."""
    networks: tuple[Network, ...] | None = None
    """The networks that it reports from; None: any."""
    secret: Secret | None = None
    """What it has to know; None: nothing."""

    def permits_host(self, host: str) -> bool:
        """Whether the device may report from an address, as a socket has it."""
        if self.networks is None:
            return True
        try:
            address = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return False
        address = (address.version == 6 and address.ipv4_mapped) or address
        return any(address in network for network in self.networks)


DEFAULTS: Final = IdentityRules()
"""Those of a device for which nothing is configured."""


def parse_protocols(text: str) -> frozenset[str]:
    """Return the protocols of a list that commas separate."""
    return frozenset(name for part in text.split(",") if (name := part.strip().lower()))


def parse_networks(text: str) -> tuple[Network, ...]:
    """Return the networks of a list such as `10.0.0.0/8, 2001:db8::/32`. Raises ValueError."""
    parts = [stripped for part in text.split(",") if (stripped := part.strip())]
    if len(parts) > MAX_NETWORKS:
        raise ValueError(f"more than {MAX_NETWORKS} networks")
    return tuple(ipaddress.ip_network(part, strict=False) for part in parts)


def read_identity_rules(layers: Sequence[Mapping[str, Any]], binding: str = PROTOCOL) -> IdentityRules:
    """Look up all keys in `layers`, which are attributes of the device, its groups and the server.

    `binding` is that of the configuration. Networks that cannot be read contain no address.
    """
    found = {
        key: text
        for layer in reversed(layers)
        for key in layer.keys() & IDENTITY_KEYS
        if isinstance(layer[key], str) and (text := layer[key].strip())
    }
    if not found and binding == PROTOCOL:
        return DEFAULTS
    wanted = found.get(BINDING_KEY, "").lower()
    networks: tuple[Network, ...] | None = None
    if NETWORKS_KEY in found:
        try:
            networks = parse_networks(found[NETWORKS_KEY])
        except ValueError:
            networks = ()
    secret = found.get(SECRET_KEY)
    return IdentityRules(
        binding=wanted if wanted in BINDINGS else binding,
        protocols=parse_protocols(found.get(PROTOCOLS_KEY, "")),
        networks=networks,
        secret=None if secret is None else Secret(secret),
    )


def is_same(presented: Secret | None, expected: Secret) -> bool:
    """Whether a login has presented the secret; takes as long wherever they differ."""
    return presented is not None and hmac.compare_digest(presented.text.encode(), expected.text.encode())


def digest(code: Secret) -> bytes:
    """Return what is stored of an authentication code."""
    return hashlib.sha256(code.text.encode()).digest()
